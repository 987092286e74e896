//! The only place where `git` is spawned: one bare mirror per repository, throw-away checkouts that borrow its objects,
//! work taken out of them, commits, merges, pushes and reading.
//!
//! Git never reads a directory that an agent could write. Git fills a checkout before an agent starts ([`Checkout`]);
//! afterwards our own code walks the tree ([`Checkout::take_out`]) and streams what changed into a repository of our own
//! ([`Mirror::commit_changes`]), where it is checked ([`Policy`]) before it is pushed ([`Mirror::push`]). An agent's own
//! `.git` is never read. Tokens reach git only through its environment.

pub mod bare;

mod blocking;
mod changes;
mod checkout;
mod commit;
mod diff;
mod error;
mod failure;
mod fast_import;
mod hunks;
mod ignores;
mod line;
mod memory;
mod merge;
mod mirror;
mod names;
mod pointers;
mod policy;
mod process;
mod push;
mod put;
mod quote;
mod read;
mod remote;
mod safe;
mod talk;
mod trash;
mod uncommitted;
mod version;
mod walk;

pub use blocking::blocking;
pub use changes::Change;
pub use changes::Changes;
pub use changes::TakeOutError;
pub use changes::TakeOutLimits;
pub use changes::TreeFinding;
pub use checkout::Checkout;
pub use checkout::TreeRecord;
pub use commit::Author;
pub use commit::CommitError;
pub use commit::CommitRequest;
pub use commit::Prepared;
pub use diff::ChangedFile;
pub use diff::FileStatus;
pub use diff::RawChange;
pub use diff::Text;
pub use error::GitError;
pub use error::Over;
pub use hunks::AddedLines;
pub use hunks::VisibleLines;
pub use merge::MergeOutcome;
pub use mirror::Mirror;
pub use mirror::Mirrors;
pub use names::BranchName;
pub use names::NotABranchName;
pub use names::RepoPath;
pub use policy::NotAPattern;
pub use policy::Policy;
pub use policy::PolicyFinding;
pub use push::Lease;
pub use push::PushError;
pub use push::Pushed;
pub use put::folder_in_the_way;
pub use put::put;
pub use read::Blob;
pub use read::CommitInfo;
pub use read::FileContent;
pub use read::FileList;
pub use read::TreeEntry;
pub use remote::ForgeAccess;
pub use remote::NotAForgeUrl;
pub use remote::Remote;
pub use trash::delete;
pub use uncommitted::uncommitted;
pub use version::InstalledGit;
pub use version::UnusableGit;
