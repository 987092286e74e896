//! A small disk for one machine, which can be filled up.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::Command,
};

/// Its size, as `mount` takes it.
const SIZE: &str = "size=96m";

/// A file system in memory, until it is dropped.
pub struct Disk(PathBuf);

impl Disk {
    /// Mounts it on a new folder; `None` if this process may not mount.
    pub fn mount(folder: &Path) -> Option<Self> {
        std::fs::create_dir_all(folder).unwrap();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", SIZE, "tmpfs"]).arg(folder).output();
        mounted.is_ok_and(|output| output.status.success()).then(|| Self(folder.to_owned()))
    }

    /// Uses up all free space.
    pub fn fill(&self) {
        let mut file = File::create(self.filling()).unwrap();
        let filled = std::io::copy(&mut std::io::repeat(0), &mut file);
        assert!(filled.is_err(), "the disk ends");
    }

    /// Frees the space that [`Disk::fill`] used.
    pub fn empty(&self) {
        let _ = std::fs::remove_file(self.filling());
    }

    fn filling(&self) -> PathBuf {
        self.0.join("filling")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // A program of a lost machine may still have files open there.
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).output();
    }
}
