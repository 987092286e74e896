//! Writes files into a working copy that nobody uses at the moment, and removes anything in their place or in the way.

use std::{
    fs, io,
    io::ErrorKind,
    os::unix::{
        ffi::OsStrExt,
        fs::{OpenOptionsExt, PermissionsExt, symlink},
    },
    path::{Path, PathBuf},
};

/// Git's mode for a symbolic link.
const LINK: u32 = 0o120_000;

/// Returns the first existing part of the path that is no folder. A symbolic link there would lead elsewhere.
pub fn folder_in_the_way(root: &Path, path: &Path) -> Option<PathBuf> {
    let mut folders: Vec<&Path> = path.ancestors().skip(1).filter(|part| !part.as_os_str().is_empty()).collect();
    folders.reverse();
    folders
        .into_iter()
        .map(|folder| root.join(folder))
        .find(|folder| fs::symlink_metadata(folder).is_ok_and(|meta| !meta.is_dir()))
}

/// Writes `content` (bytes and mode) at `path`, or removes what is there if it is `None`. Replaces anything in the way by
/// folders, also for a removal: a caller that then writes at `path` must not follow a symbolic link to elsewhere.
pub fn write_or_remove(root: &Path, path: &Path, content: Option<&(Vec<u8>, u32)>) -> io::Result<()> {
    let whole = root.join(path);
    match folder_in_the_way(root, path) {
        Some(obstacle) => fs::remove_file(obstacle)?,
        None if content.is_none() && is_missing(&whole) => return Ok(()),
        None => {}
    }
    if let Some(folder) = path.parent() {
        let mut above = root.to_path_buf();
        make_accessible(&above)?;
        for part in folder {
            above.push(part);
            match fs::create_dir(&above) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
                Ok(()) | Err(_) => make_accessible(&above)?,
            }
        }
    }
    match fs::symlink_metadata(&whole) {
        Ok(found) if found.is_dir() => remove_folder(&whole)?,
        Ok(_) => fs::remove_file(&whole)?,
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let Some((bytes, mode)) = content else { return Ok(()) };
    if *mode == LINK {
        return symlink(std::ffi::OsStr::from_bytes(bytes), &whole);
    }
    let rights = if mode & 0o100 == 0 { 0o644 } else { 0o755 };
    let mut options = fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(rights).open(&whole)?;
    io::Write::write_all(&mut file, bytes)
}

fn is_missing(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

/// Gives us all permissions on a folder of ours.
fn make_accessible(folder: &Path) -> io::Result<()> {
    let rights = fs::symlink_metadata(folder)?.permissions();
    match rights.mode() & 0o700 {
        0o700 => Ok(()),
        _ => fs::set_permissions(folder, fs::Permissions::from_mode(rights.mode() | 0o700)),
    }
}

/// Removes a folder with everything in it, even if its permissions forbid it.
fn remove_folder(folder: &Path) -> io::Result<()> {
    make_accessible(folder)?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() { remove_folder(&entry.path())? } else { fs::remove_file(entry.path())? }
    }
    fs::remove_dir(folder)
}
