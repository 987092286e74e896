//! A lock that lets one process at a time work on a repository. Others can read its holder.

use crate::cli::local_repository::own_file;
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::{
    fs::{File, TryLockError},
    io::{Read, Seek, Write},
    path::Path,
};

/// The longest description of the holder that is read, in bytes.
const LONGEST: u64 = 1 << 16;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub process: u32,
    pub command: String,
    pub agent: String,
}

/// Proof that no other process works on the repository; the operating system releases the lock when the process ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

#[derive(Debug)]
pub enum LockOutcome {
    Taken(Lock),
    Held(Holder),
}

impl Lock {
    /// Tries to take the lock in an existing folder, for a command that uses this agent.
    pub fn ask(folder: &Path, command: &str, agent: &str) -> anyhow::Result<LockOutcome> {
        let path = folder.join("lock");
        let shown = path.display();
        let failed = || format!("{shown} cannot be locked: it must be a file that you can write, or missing");
        let mut options = own_file();
        let options = options.create(true).truncate(false).read(true).write(true);
        let mut file = options.open(&path).with_context(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(LockOutcome::Held(read(&mut file))),
            Err(TryLockError::Error(error)) => return Err(error).with_context(failed),
        }
        let holder = Holder { process: std::process::id(), command: command.to_owned(), agent: agent.to_owned() };
        file.set_len(0).with_context(failed)?;
        file.write_all(&serde_json::to_vec(&holder)?).with_context(failed)?;
        Ok(LockOutcome::Taken(Self { _file: file }))
    }

    pub fn holder(folder: &Path) -> Option<Holder> {
        let mut file = own_file().read(true).open(folder.join("lock")).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Some(read(&mut file)),
            Ok(()) | Err(TryLockError::Error(_)) => None,
        }
    }
}

/// Reads the holder from the file. Just after the lock was taken, the file is still empty and the holder has no values.
fn read(file: &mut File) -> Holder {
    let mut text = String::new();
    let _ = file.rewind().and_then(|()| file.take(LONGEST).read_to_string(&mut text));
    serde_json::from_str(&text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = folder.path().join("elsewhere");
        std::fs::write(&elsewhere, "mine").unwrap();
        std::os::unix::fs::symlink(&elsewhere, folder.path().join("lock")).unwrap();
        assert!(Lock::ask(folder.path(), "run", "claude").is_err());
        assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "mine");
    }

    #[test]
    fn one_holds_it_and_the_others_read_who() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Lock::holder(folder.path()), None);
        let LockOutcome::Taken(lock) = Lock::ask(folder.path(), "run", "claude").unwrap() else {
            panic!("it was free")
        };
        let LockOutcome::Held(holder) = Lock::ask(folder.path(), "run", "codex").unwrap() else { panic!("it is held") };
        assert_eq!((holder.process, holder.agent.as_str()), (std::process::id(), "claude"));
        assert_eq!(Lock::holder(folder.path()), Some(holder));
        drop(lock);
        assert_eq!(Lock::holder(folder.path()), None);
    }
}
