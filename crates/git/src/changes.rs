//! What an agent did in a checkout, found by walking the tree and comparing it with what stood there before.

use crate::{
    checkout::TreeRecord,
    ignores::{Attention, Ignores},
    names::{RepoPath, disguises_dot_git},
    walk::{Kind, Odd, Stamp, WalkError, Walked, walk},
};
use rustix::fd::OwnedFd;

/// The longest target of a link; the kernel's own limit is about the same.
const LINK_CAP: u64 = 4_096;

/// How much work may be taken out of one checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakeOutLimits {
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Bytes of all changed files together.
    pub total_bytes: u64,
    /// Number of changed files.
    pub files: usize,
}

impl Default for TakeOutLimits {
    fn default() -> Self {
        Self {
            file_bytes: 10 << 20,
            total_bytes: 100 << 20,
            files: 20_000,
        }
    }
}

/// Something in the tree that is not taken out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeFinding {
    /// A fifo, a device or a socket; left out.
    #[error("{path} is neither a file nor a link and was left out")]
    Special {
        /// The path.
        path: RepoPath,
    },
    /// A file or folder that its own rights close to us.
    #[error("{path} cannot be read")]
    Unreadable {
        /// The path.
        path: RepoPath,
    },
    /// A name that some systems read as `.git`.
    #[error("{path} has a name that some systems read as .git")]
    RefusedName {
        /// The path.
        path: RepoPath,
    },
    /// A folder too deep to enter.
    #[error("{path} is nested too deeply")]
    TooDeep {
        /// The path.
        path: RepoPath,
    },
    /// A file over the limit.
    #[error("{path} has {size} bytes, more than {limit}")]
    FileTooLarge {
        /// The path.
        path: RepoPath,
        /// Its size.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// All changed files together are over the limit.
    #[error("the changed files have {size} bytes, more than {limit}")]
    TotalTooLarge {
        /// Their size.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// More changed files than the limit.
    #[error("more than {limit} files changed")]
    TooManyFiles {
        /// The limit.
        limit: usize,
    },
    /// The checkout's own folder is not there any more.
    #[error("the checkout's folder was removed or replaced")]
    CheckoutGone,
}

impl TreeFinding {
    /// Whether the turn's work cannot be committed as it is. Otherwise the thing is merely left out.
    #[must_use]
    pub fn rejects(&self) -> bool {
        match self {
            Self::Special { .. } => false,
            Self::Unreadable { .. }
            | Self::RefusedName { .. }
            | Self::TooDeep { .. }
            | Self::FileTooLarge { .. }
            | Self::TotalTooLarge { .. }
            | Self::TooManyFiles { .. }
            | Self::CheckoutGone => true,
        }
    }
}

/// Why the work could not be taken out.
#[derive(Debug, thiserror::Error)]
pub enum TakeOutError {
    /// Someone still writes in the checkout: take out again once that has ended.
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

/// The work found in a checkout; the bytes are read when it is committed.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    pub(crate) written: Vec<(RepoPath, Stamp)>,
    pub(crate) deleted: Vec<RepoPath>,
    findings: Vec<TreeFinding>,
}

impl Changes {
    /// What was found that cannot be part of a commit.
    #[must_use]
    pub fn findings(&self) -> &[TreeFinding] {
        &self.findings
    }

    /// Whether nothing was written or deleted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.written.is_empty() && self.deleted.is_empty()
    }

    /// Whether a finding forbids to commit this work.
    #[must_use]
    pub fn rejected(&self) -> bool {
        self.findings.iter().any(TreeFinding::rejects)
    }

    pub(crate) fn checkout_gone() -> Self {
        Self {
            findings: vec![TreeFinding::CheckoutGone],
            ..Self::default()
        }
    }
}

/// Compares the tree with its record.
pub(crate) fn take_out(root: &OwnedFd, record: &TreeRecord, limits: &TakeOutLimits) -> Result<Changes, TakeOutError> {
    let walked = match walk(root, Attention::Obey(Ignores::new(record))) {
        Err(WalkError::TooMany) => {
            let findings = vec![TreeFinding::TooManyFiles { limit: limits.files }];
            return Ok(Changes {
                findings,
                ..Changes::default()
            });
        }
        walked => walked?,
    };
    let deleted = deleted(record, &walked);
    let mut taken = Changes {
        deleted,
        findings: odd_findings(&walked),
        written: Vec::new(),
    };
    for (path, stamp) in walked.files {
        if record.files.get(&path) != Some(&stamp) {
            taken.consider(path, stamp, limits);
        }
    }
    taken.consider_total(limits);
    Ok(taken)
}

/// Files of the base that are not there any more. Of a folder that cannot be read nothing is known.
fn deleted(record: &TreeRecord, walked: &Walked) -> Vec<RepoPath> {
    let closed: Vec<&RepoPath> = walked
        .odd
        .iter()
        .filter(|(_, odd)| *odd != Odd::Special)
        .map(|(path, _)| path)
        .collect();
    let hidden = |path: &RepoPath| !closed.is_empty() && path.folders().any(|folder| closed.contains(&&folder));
    let gone = record
        .files
        .keys()
        .filter(|path| !walked.files.contains_key(*path) && !hidden(path));
    gone.cloned().collect()
}

fn odd_findings(walked: &Walked) -> Vec<TreeFinding> {
    let finding = |(path, odd): &(RepoPath, Odd)| match odd {
        Odd::Special => TreeFinding::Special { path: path.clone() },
        Odd::Unreadable => TreeFinding::Unreadable { path: path.clone() },
        Odd::TooDeep => TreeFinding::TooDeep { path: path.clone() },
    };
    walked.odd.iter().map(finding).collect()
}

impl Changes {
    fn consider(&mut self, path: RepoPath, stamp: Stamp, limits: &TakeOutLimits) {
        let limit = match stamp.kind {
            Kind::Plain | Kind::Executable => limits.file_bytes,
            Kind::Link => LINK_CAP,
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
        let size = self
            .written
            .iter()
            .fold(0_u64, |sum, (_, stamp)| sum.saturating_add(stamp.size));
        if size > limits.total_bytes {
            self.findings.push(TreeFinding::TotalTooLarge {
                size,
                limit: limits.total_bytes,
            });
        }
        if self.written.len().saturating_add(self.deleted.len()) > limits.files {
            self.findings.push(TreeFinding::TooManyFiles { limit: limits.files });
        }
    }
}
