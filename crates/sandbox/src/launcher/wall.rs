//! The root file system that a foreign program sees at L2 and L3: bubblewrap's namespaces with an empty file system, to
//! which the allowed paths are added.

use crate::{
    launcher::{
        INNER, LAUNCHER_COMMAND, identity,
        identity::{HOST, Ids},
    },
    protocol::{Confinement, LaunchRequest},
};
use domain::isolation::Level;
use rustix::{
    fs::{MemfdFlags, Mode, OFlags},
    io::FdFlags,
};
use std::{
    ffi::OsString,
    fs,
    fs::File,
    io,
    io::{Seek, Write},
    os::{
        fd::{AsRawFd, OwnedFd, RawFd},
        unix::{ffi::OsStringExt, net::UnixStream, process::CommandExt},
    },
    path::{Path, PathBuf},
    process::Command,
};

/// The size limit of `/tmp` and of `/dev/shm`, in bytes each.
const SCRATCH: &str = "1073741824";
/// Top-level folders that are symbolic links on most machines.
const LINKED: &[&str] = &["bin", "sbin", "lib", "lib32", "lib64", "libx32"];

/// Starts the inner launcher, inside bubblewrap at L2 and L3. Returns the id of the process to wait for, and the socket
/// for the inner launcher's reports.
pub(super) fn start(request: &LaunchRequest, input: File) -> io::Result<(i32, UnixStream)> {
    let (ours, theirs) = UnixStream::pair()?;
    let request_file = memory(&request.bytes()?)?;
    rustix::io::fcntl_setfd(&input, FdFlags::empty())?;
    let inner = [
        LAUNCHER_COMMAND.to_owned(),
        INNER.to_owned(),
        request_file.as_raw_fd().to_string(),
        input.as_raw_fd().to_string(),
    ];
    let confinement = &request.confinement;
    let (mut command, held) = match confinement.level {
        Level::L0 | Level::L1 => (Command::new("/proc/self/exe"), Vec::new()),
        Level::L2 | Level::L3 => {
            // The running binary is passed as a handle. Its file may have moved, and need not be visible inside.
            let own = rustix::fs::open("/proc/self/exe", OFlags::RDONLY, Mode::empty())?;
            let program = own.as_raw_fd();
            let ids = identity::ids();
            let mut held = vec![own];
            let mut etc = Vec::new();
            for (path, text) in identity::files(request, ids) {
                let file = OwnedFd::from(memory(text.as_bytes())?);
                etc.push((path, file.as_raw_fd()));
                held.push(file);
            }
            let arguments = memory(&joined(arguments(confinement, ids, &etc)))?;
            let mut command = Command::new(&confinement.bubblewrap);
            command.arg("--args").arg(arguments.as_raw_fd().to_string()).arg("--");
            command.arg(format!("/proc/self/fd/{program}"));
            held.push(OwnedFd::from(arguments));
            (command, held)
        }
    };
    command.args(inner).env_clear().current_dir("/");
    if confinement.level >= Level::L2 {
        command.process_group(0);
    }
    let child = command.stdin(OwnedFd::from(theirs)).spawn()?;
    drop((held, request_file, input));
    let pid = i32::try_from(child.id()).map_err(io::Error::other)?;
    Ok((pid, ours))
}

/// Makes a file in memory that the next program inherits.
fn memory(bytes: &[u8]) -> io::Result<File> {
    let mut file = File::from(rustix::fs::memfd_create("request", MemfdFlags::empty())?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

fn joined(arguments: Vec<OsString>) -> Vec<u8> {
    let parts: Vec<Vec<u8>> = arguments.into_iter().map(OsString::into_vec).collect();
    parts.join(&0)
}

/// Returns bubblewrap's arguments. A parent comes before the paths in it, and the root becomes read-only last.
fn arguments(confinement: &Confinement, ids: Ids, etc: &[(&'static str, RawFd)]) -> Vec<OsString> {
    let Ids { user, group } = ids;
    let mut all = words(&format!(
        "--unshare-user --unshare-all --die-with-parent --new-session --cap-drop ALL --clearenv \
         --hostname {HOST} --uid {user} --gid {group} --ro-bind /usr /usr"
    ));
    for name in LINKED {
        let path = PathBuf::from("/").join(name);
        match fs::read_link(&path) {
            Ok(target) => all.extend(["--symlink".into(), target.into_os_string(), path.into_os_string()]),
            Err(_) => bind(&mut all, "--ro-bind-try", &path),
        }
    }
    all.extend(words(match confinement.level {
        Level::L3 => "--proc /proc",
        Level::L0 | Level::L1 | Level::L2 => "--ro-bind /proc /proc",
    }));
    all.extend(words("--dev /dev"));
    for folder in ["/dev/shm", "/tmp"] {
        all.extend(words(&format!("--size {SCRATCH} --tmpfs {folder}")));
    }
    all.extend(words("--dir /run --symlink ../tmp /var/tmp"));
    for path in confinement.masked.iter().map(PathBuf::from) {
        if path.is_dir() {
            all.extend(["--tmpfs".into(), path.into_os_string()]);
        } else if path.exists() {
            all.extend(["--ro-bind".into(), "/dev/null".into(), path.into_os_string()]);
        }
    }
    for (path, way) in placed(confinement, etc) {
        bind(&mut all, way, &path);
    }
    for (path, file) in etc {
        all.extend(words(&format!("--perms 0644 --ro-bind-data {file} {path}")));
    }
    for (folder, seen) in &confinement.mounts {
        all.extend(["--bind".into(), folder.clone(), seen.clone()]);
    }
    all.extend(words("--remount-ro /dev --remount-ro /"));
    all
}

fn words(text: &str) -> Vec<OsString> {
    text.split_whitespace().map(OsString::from).collect()
}

fn bind(all: &mut Vec<OsString>, way: &str, path: &Path) {
    all.extend([way.into(), path.into(), path.into()]);
}

/// Replaces a link to a system folder in the path by its target, because bubblewrap (0.12) mounts onto no link.
fn beyond_link(path: PathBuf) -> PathBuf {
    let root = Path::new("/");
    for link in LINKED.iter().map(|name| root.join(name)) {
        if let (Ok(rest), Ok(target)) = (path.strip_prefix(&link), fs::read_link(&link)) {
            return root.join(target).join(rest);
        }
    }
    path
}

/// Returns every path to show, parents first. Leaves out a path that a parent already shows in the same way.
fn placed(confinement: &Confinement, etc: &[(&'static str, RawFd)]) -> Vec<(PathBuf, &'static str)> {
    let door = confinement.way.socket();
    let is_replaced = |path: &&OsString| etc.iter().any(|(own, _)| **path == *own);
    let read = confinement.read.iter().filter(|path| !is_replaced(path)).chain(door);
    let read = read.map(|path| (beyond_link(path.into()), "--ro-bind-try"));
    let write = confinement.write.iter().map(|path| (beyond_link(path.into()), "--bind-try"));
    let mut all: Vec<(PathBuf, &'static str)> = read.chain(write).collect();
    all.sort_by_key(|(path, _)| path.components().count());
    let mut placed: Vec<(PathBuf, &'static str)> = vec![("/usr".into(), "--ro-bind-try")];
    for (path, way) in all {
        let nearest = placed.iter().rev().find(|(above, _)| path.starts_with(above));
        if nearest.is_none_or(|(above, known)| *known != way || (*above == path && way == "--bind-try")) {
            placed.push((path, way));
        }
    }
    placed.remove(0);
    placed
}

#[cfg(test)]
mod tests {
    use super::{LINKED, beyond_link};
    use std::path::Path;

    #[test]
    fn nothing_is_mounted_onto_or_below_a_link() {
        for link in LINKED.iter().map(|name| Path::new("/").join(name)) {
            assert_eq!(beyond_link(link.join("sh")).starts_with(&link), !link.is_symlink());
        }
        assert_eq!(beyond_link("/etc/passwd".into()), Path::new("/etc/passwd"));
    }
}
