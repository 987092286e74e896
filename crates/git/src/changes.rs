//! The changes that an agent made in a checkout, found by comparing the tree with the record of its first state.

use crate::{
    checkout::TreeRecord,
    ignores::{AlwaysIncluded, IgnoreFiles, Ignores},
    names::{RepoPath, disguises_dot_git},
    walk::{FileKind, LeftOut, Stamp, UntakenEntry, WalkError, WalkedTree, walk},
};
use rustix::fd::OwnedFd;

/// The longest target of a symbolic link, in bytes; the kernel's limit is about the same.
const LINK_CAP: u64 = 4_096;

/// The limits on the work taken out of one checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakeOutLimits {
    /// The size limit of one file, in bytes.
    pub file_bytes: u64,
    /// The size limit of all changed files together, in bytes.
    pub total_bytes: u64,
    /// The most changed files.
    pub files: usize,
}

impl Default for TakeOutLimits {
    fn default() -> Self {
        Self { file_bytes: 10 << 20, total_bytes: 100 << 20, files: 20_000 }
    }
}

/// Something in the tree that cannot be committed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeFinding {
    /// A fifo, a device or a socket. It is left out.
    #[error("{path} is neither a file nor a link and was left out")]
    Special { path: RepoPath },
    /// A folder whose permissions do not let us read it.
    #[error("{path} cannot be read")]
    Unreadable { path: RepoPath },
    /// A name that some systems treat as `.git`.
    #[error("{path} has a name that some systems read as .git")]
    RefusedName { path: RepoPath },
    /// A folder too deep to enter.
    #[error("{path} is nested too deeply")]
    TooDeep { path: RepoPath },
    /// A file over the limit.
    #[error("{path} has {size} bytes, more than {limit}")]
    FileTooLarge {
        path: RepoPath,
        /// The file's size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// All changed files together are over the limit.
    #[error("the changed files have {size} bytes, more than {limit}")]
    TotalTooLarge {
        /// The size of all changed files in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// More changed files than the limit.
    #[error("more than {limit} files changed")]
    TooManyFiles { limit: usize },
    /// The checkout's folder was removed or replaced.
    #[error("the checkout's folder was removed or replaced")]
    CheckoutGone,
}

impl TreeFinding {
    /// `true` if the work cannot be committed because of this finding. Otherwise only the entry is left out.
    pub fn rejects(&self) -> bool {
        !matches!(self, Self::Special { .. })
    }
}

/// Why the work could not be taken out.
#[derive(Debug, thiserror::Error)]
pub enum TakeOutError {
    /// Something still writes in the checkout. Take the work out again once it has ended.
    #[error("{0} changed while it was read")]
    Changing(RepoPath),
    /// The disk failed.
    #[error("reading the checkout: {0}")]
    Io(#[source] std::io::Error),
}

impl From<WalkError> for TakeOutError {
    fn from(error: WalkError) -> Self {
        match error {
            WalkError::Changing(path) => Self::Changing(path),
            WalkError::TooMany => Self::Io(std::io::Error::other(error)),
            WalkError::Io(_, cause) => Self::Io(cause),
        }
    }
}

/// The work found in a checkout. The bytes are read when it is committed.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    pub(crate) written: Vec<(RepoPath, Stamp)>,
    pub(crate) deleted: Vec<RepoPath>,
    /// The entries that cannot be part of a commit.
    pub findings: Vec<TreeFinding>,
    /// New files that ignore rules keep out of the work, in the order of the walk. There may be more in large folders.
    pub left_out: Vec<LeftOut>,
}

impl Changes {
    /// `true` if nothing was written or deleted.
    pub fn is_empty(&self) -> bool {
        self.written.is_empty() && self.deleted.is_empty()
    }

    /// `true` if a finding forbids committing this work.
    pub fn rejected(&self) -> bool {
        self.findings.iter().any(TreeFinding::rejects)
    }
}

/// Compares the tree with the record of its first state.
pub(crate) fn take_out(
    root: &OwnedFd,
    record: &TreeRecord,
    limits: &TakeOutLimits,
    named: &AlwaysIncluded,
) -> Result<Changes, TakeOutError> {
    let mut walked = match walk(root, IgnoreFiles::Obey(Ignores::new(record, named))) {
        Err(WalkError::TooMany) => {
            let findings = vec![TreeFinding::TooManyFiles { limit: limits.files }];
            return Ok(Changes { findings, ..Changes::default() });
        }
        walked => walked?,
    };
    let deleted = deleted(record, &walked);
    let mut taken = Changes {
        deleted,
        findings: odd_findings(&walked),
        written: Vec::new(),
        left_out: std::mem::take(&mut walked.left_out),
    };
    for (path, stamp) in walked.files {
        if record.files.get(&path) != Some(&stamp) {
            taken.consider(path, stamp, limits);
        }
    }
    taken.consider_total(limits);
    Ok(taken)
}

/// Returns the recorded files that no longer exist. Files in a folder that cannot be read do not count as deleted.
fn deleted(record: &TreeRecord, walked: &WalkedTree) -> Vec<RepoPath> {
    let closed: Vec<&RepoPath> =
        walked.odd.iter().filter(|(_, odd)| *odd != UntakenEntry::Special).map(|(path, _)| path).collect();
    let hidden = |path: &RepoPath| !closed.is_empty() && path.folders().any(|folder| closed.contains(&&folder));
    let gone = record.files.keys().filter(|path| !walked.files.contains_key(*path) && !hidden(path));
    gone.cloned().collect()
}

fn odd_findings(walked: &WalkedTree) -> Vec<TreeFinding> {
    let finding = |(path, odd): &(RepoPath, UntakenEntry)| match odd {
        UntakenEntry::Special => TreeFinding::Special { path: path.clone() },
        UntakenEntry::Unreadable => TreeFinding::Unreadable { path: path.clone() },
        UntakenEntry::TooDeep => TreeFinding::TooDeep { path: path.clone() },
    };
    walked.odd.iter().map(finding).collect()
}

impl Changes {
    fn consider(&mut self, path: RepoPath, stamp: Stamp, limits: &TakeOutLimits) {
        let limit = match stamp.kind {
            FileKind::Plain | FileKind::Executable => limits.file_bytes,
            FileKind::Link => LINK_CAP,
        };
        let size = stamp.size;
        if path.as_bytes().split(|byte| *byte == b'/').any(disguises_dot_git) {
            self.findings.push(TreeFinding::RefusedName { path });
        } else if size > limit {
            self.findings.push(TreeFinding::FileTooLarge { path, size, limit });
        } else {
            self.written.push((path, stamp));
        }
    }

    fn consider_total(&mut self, limits: &TakeOutLimits) {
        let size = self.written.iter().fold(0_u64, |sum, (_, stamp)| sum.saturating_add(stamp.size));
        if size > limits.total_bytes {
            self.findings.push(TreeFinding::TotalTooLarge { size, limit: limits.total_bytes });
        }
        if self.written.len().saturating_add(self.deleted.len()) > limits.files {
            self.findings.push(TreeFinding::TooManyFiles { limit: limits.files });
        }
    }
}
