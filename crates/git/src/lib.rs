//! The only place where `git` is spawned. Keeps one bare mirror per repository, fills throw-away checkouts that borrow
//! its objects, takes work out of them, commits, merges, pushes and reads.
//!
//! Git never reads a directory that an agent could write. Git fills a checkout before an agent starts ([`Checkout`]).
//! Afterwards our own code walks the tree ([`Checkout::take_out`]) and streams the changes into a repository of our own
//! ([`Mirror::commit_changes`]). There the commit is checked ([`Policy`]) before it is pushed ([`Mirror::push`]). An
//! agent's own `.git` is never read. Tokens reach git only through its environment.

#![allow(missing_docs, reason = "a name and a type that say what an item is need no comment")]
#![warn(clippy::wildcard_enum_match_arm)]

pub mod bare;

mod aside;
mod attributes;
mod blocking;
mod changes;
mod checkout;
mod clone_refs;
mod commit;
mod convert;
mod diff;
mod error;
mod failure;
mod fast_import;
mod filters;
mod hunks;
mod ignores;
mod memory;
mod merge;
mod mirror;
mod names;
mod odd_file;
mod own;
mod pack;
mod pointers;
mod policy;
mod process;
mod push;
mod put;
mod quote;
mod read;
mod remote;
mod retention;
mod reword;
mod safe;
mod talk;
mod trash;
mod uncommitted;
mod unsettled;
mod version;
mod walk;

pub use attributes::{AttributeRule, rule_or_file};
pub use blocking::blocking;
pub use changes::{Changes, TakeOutError, TakeOutLimits, TreeFinding};
pub use checkout::{Checkout, TreeRecord};
pub use commit::{Author, CommitError, CommitRequest, Prepared};
pub use convert::{NotEncoded, WorkFile};
pub use diff::{ChangedFile, FileStatus, RawChange, Text};
pub use error::{CallReach, GitError};
pub use filters::FilterUse;
pub use hunks::{AddedLines, VisibleLines};
pub use ignores::IgnoreRule;
pub use merge::MergeOutcome;
pub use mirror::{HandOver, Mirror, Mirrors};
pub use names::{BranchName, NotABranchName, RepoPath};
pub use odd_file::OddFile;
pub use own::{GiveOutcome, NameIs, NoRepository, OwnHead, OwnRepository};
pub use pack::{PackOutcome, Unpacked};
pub use policy::{ForbiddenChange, Policy};
pub use push::{Lease, PushError, PushOutcome};
pub use put::{folder_in_the_way, write_or_remove};
pub use read::{Blob, CommitInfo, FileContent, FileList, TreeEntry};
pub use remote::{ForgeAccess, NotAForgeUrl, Remote};
pub use retention::ForgetOutcome;
pub use trash::delete;
pub use uncommitted::uncommitted;
pub use version::{InstalledGit, UnusableGit};
pub use walk::LeftOut;
