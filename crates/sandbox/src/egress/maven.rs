//! Maven's settings for the proxy, in the home of a program.

use crate::egress::environment::USER;
use rustix::{
    fs::{CWD, Mode, OFlags, mkdirat, openat, renameat},
    io::Errno,
};
use std::{
    fs::File,
    io,
    io::{Read, Write},
    net::SocketAddr,
    os::fd::{AsFd, OwnedFd},
    path::Path,
};

const FOLDER: &str = ".m2";
const FILE: &str = "settings.xml";
/// The name under which the file is written, before it replaces the one of an earlier run.
const FRESH: &str = "settings.xml.autobuild";
/// The first line of the file. A file without it belongs to the repository's own set-up.
const FIRST_LINE: &str = "<!-- The proxy of this run, written by AutoBuild. -->\n";

/// Writes the settings. Programs of earlier commands may have changed the home, so no link is followed, and their own
/// files stay.
pub(super) fn leave_settings(home: &Path, proxy: SocketAddr, token: &str) -> io::Result<()> {
    let place = match folder(home) {
        Ok(folder) if is_ours(&folder) => folder,
        Ok(_) | Err(Errno::LOOP | Errno::NOTDIR) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let _ = rustix::fs::unlinkat(&place, FRESH, rustix::fs::AtFlags::empty());
    let file = openat(&place, FRESH, flags, Mode::RUSR | Mode::WUSR)?;
    File::from(file).write_all(settings(proxy, token).as_bytes())?;
    Ok(renameat(&place, FRESH, &place, FILE)?)
}

fn folder(home: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let home = openat(CWD, home, flags, Mode::empty())?;
    match mkdirat(&home, FOLDER, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error),
    }
    openat(&home, FOLDER, flags, Mode::empty())
}

/// `true` if there is no such file, or one of an earlier run, whose token is not valid any more.
fn is_ours(folder: &OwnedFd) -> bool {
    // Non-blocking, because a planted pipe without a writer must not block us.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match openat(folder.as_fd(), FILE, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(error) => return error == Errno::NOENT,
    };
    let mut start = Vec::new();
    let length = u64::try_from(FIRST_LINE.len()).unwrap_or(u64::MAX);
    let read = file.take(length).read_to_end(&mut start);
    read.is_ok() && start == FIRST_LINE.as_bytes()
}

/// Returns the file's text. Maven takes the proxy of `http` if there is none for the protocol of an address.
fn settings(proxy: SocketAddr, token: &str) -> String {
    let (host, port) = (proxy.ip(), proxy.port());
    let proxies: String = ["https", "http"]
        .map(|protocol| {
            format!(
                "<proxy><id>{protocol}</id><active>true</active><protocol>{protocol}</protocol><host>{host}</host>\
                 <port>{port}</port><username>{USER}</username><password>{token}</password>\
                 <nonProxyHosts>localhost|127.0.0.1</nonProxyHosts></proxy>\n"
            )
        })
        .concat();
    format!("{FIRST_LINE}<settings><proxies>\n{proxies}</proxies></settings>\n")
}

#[cfg(test)]
mod tests {
    use super::{FIRST_LINE, leave_settings};
    use std::{fs, net::SocketAddr, os::unix::fs::symlink, path::Path};

    fn leave(home: &Path, token: &str) {
        let proxy: SocketAddr = "127.0.0.1:17443".parse().unwrap();
        leave_settings(home, proxy, token).unwrap();
    }

    #[test]
    fn settings_of_an_earlier_run_are_replaced_and_those_of_the_repository_stay() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(".m2/settings.xml");
        leave(home.path(), "first");
        leave(home.path(), "second");
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.starts_with(FIRST_LINE) && text.contains("<port>17443</port>"));
        assert!(text.contains("<username>run</username><password>second</password>"));
        fs::write(&file, "<settings/>").unwrap();
        leave(home.path(), "third");
        assert_eq!(fs::read_to_string(&file).unwrap(), "<settings/>");
        assert_eq!(fs::read_dir(home.path().join(".m2")).unwrap().count(), 1);
    }

    #[test]
    fn no_link_and_no_special_file_is_written_through() {
        let (home, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        symlink(other.path(), home.path().join(".m2")).unwrap();
        leave(home.path(), "token");
        assert_eq!(fs::read_dir(other.path()).unwrap().count(), 0);
        fs::remove_file(home.path().join(".m2")).unwrap();
        fs::create_dir(home.path().join(".m2")).unwrap();
        let file = home.path().join(".m2/settings.xml");
        symlink(other.path().join("settings.xml"), &file).unwrap();
        leave(home.path(), "token");
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        leave(home.path(), "token");
        assert!(file.is_dir());
        assert_eq!(fs::read_dir(other.path()).unwrap().count(), 0);
    }
}
