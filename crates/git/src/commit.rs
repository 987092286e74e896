//! Makes commits: from an agent's work, in a quarantine repository, and from files of our own.

use crate::{
    attributes::is_attributes_file,
    changes::{Changes, TakeOutError},
    checkout::{Checkout, TreeRecord},
    convert::{Conversion, NotEncoded, store, touched_by_attributes},
    diff::{RawChange, raw_between},
    error::GitError,
    fast_import::{Source, import},
    mirror::{Mirror, QUIETLY, held_ref, make_bare},
    names::RepoPath,
    process::GitCall,
};
use domain::ids::{Millis, Sha};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

/// The ref of a commit in its quarantine.
const TURN_REF: &str = "refs/turns/1";
/// The ref of a commit of our own files in the mirror until it is pushed.
const MADE_REF: &str = "refs/autobuild/made";

/// Author and committer of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    pub name: String,
    /// The e-mail address.
    pub email: String,
}

/// The metadata of a commit to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitRequest {
    /// The parents. The work started from the first one.
    pub parents: Vec<Sha>,
    /// The subject and body.
    pub message: String,
    /// The trailers, in order.
    pub trailers: Vec<(String, String)>,
    /// The author, who is also the committer.
    pub author: Author,
    /// The commit time. The same request at the same time makes the same commit.
    pub at: Millis,
}

impl CommitRequest {
    pub fn full_message(&self) -> String {
        let mut text = self.message.replace('\0', "").trim().to_owned();
        text.push('\n');
        if !self.trailers.is_empty() {
            text.push('\n');
        }
        for (key, value) in &self.trailers {
            text.push_str(&format!("{key}: {}\n", value.replace(['\n', '\r', '\0'], " ").trim()));
        }
        text
    }
}

/// Why an agent's work could not be committed.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// The checkout could not be read, or changed while it was read.
    #[error(transparent)]
    TakeOut(#[from] TakeOutError),
    #[error(transparent)]
    Git(#[from] GitError),
    /// Files cannot be converted as their attributes ask.
    #[error("{} files are not valid in their encoding", .0.len())]
    NotEncoded(Vec<NotEncoded>),
}

/// A commit in quarantine, which is a repository of its own that borrows the mirror's objects. Dropping this value
/// deletes the commit unless [`Prepared::keep`] copied it.
pub struct Prepared {
    sha: Sha,
    changes: Vec<RawChange>,
    record: Arc<TreeRecord>,
    quarantine: PathBuf,
    mirror: Mirror,
}

impl Prepared {
    /// Returns the commit's id.
    pub fn sha(&self) -> &Sha {
        &self.sha
    }

    /// Returns the differences from the first parent.
    pub fn changes(&self) -> &[RawChange] {
        &self.changes
    }

    /// `true` if the commit may have a file with attributes.
    pub(crate) fn has_attributes(&self) -> bool {
        let mut before = self.record.files.keys();
        before.any(is_attributes_file) || self.changes.iter().any(|change| is_attributes_file(&change.path))
    }

    /// Replaces the bytes of a work tree by those that git stores. Returns `true` if any differ.
    async fn convert(&mut self, checkout: &Checkout, request: &CommitRequest) -> Result<bool, CommitError> {
        let base = checkout.tree().unwrap_or(checkout.head());
        let mut changes = raw_between(&self.quarantine, base.as_str(), self.sha.as_str()).await?;
        if changes.iter().any(|change| is_attributes_file(&change.path)) {
            let touched = touched_by_attributes(&self.quarantine, base, &self.sha, &changes).await?;
            changes.extend(touched);
        }
        let files = match store(&self.quarantine, &self.sha, changes).await? {
            Conversion::Converted(files) => files,
            Conversion::Refused(files) => return Err(CommitError::NotEncoded(files)),
        };
        if files.is_empty() {
            return Ok(false);
        }
        let tree = tree_of(&self.quarantine, &self.sha).await?;
        self.sha = import(&self.quarantine, TURN_REF, request, Some(&tree), Source::Objects(files)).await?;
        Ok(true)
    }

    pub(crate) fn repository(&self) -> &Path {
        &self.quarantine
    }

    /// Returns the file's size in bytes before the work; `None` if it did not exist.
    pub(crate) fn size_before(&self, path: &RepoPath) -> Option<u64> {
        self.record.files.get(path).map(|stamp| stamp.size)
    }

    /// Copies the commit into the mirror, where it stays under `refs/autobuild/held/<id>` until it is released. Only a
    /// kept commit can be pushed or checked out.
    pub async fn keep(&self, id: &str) -> Result<(), GitError> {
        let held = held_ref(id)?;
        let _writing = self.mirror.writing.lock().await;
        // The commit is ours and its names are checked. A file that git's fsck would refuse, such as a hostile
        // `.gitmodules`, is a finding of the policy, so such a commit is kept like any other.
        let call = GitCall::new(&self.mirror.dir, "fetch").talking_to_disk();
        let call = call.config("fetch.fsckObjects", "false").args(QUIETLY);
        let call = call.arg("--").arg(&self.quarantine).arg(format!("+{TURN_REF}:{held}"));
        call.ok().await.map(drop)
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        self.mirror.shared.trash.take(&self.quarantine);
    }
}

async fn tree_of(repository: &Path, commit: &Sha) -> Result<Sha, GitError> {
    let call = GitCall::new(repository, "rev-parse").args(["--verify", "--end-of-options"]);
    let output = call.arg(format!("{commit}^{{tree}}")).ok().await?;
    output.text().parse().map_err(|_| GitError::unexpected("rev-parse", "a tree"))
}

impl Mirror {
    /// Commits the changes taken out of `checkout`. Returns `None` if the result equals the only parent.
    pub async fn commit_changes(
        &self,
        checkout: &Checkout,
        changes: &Changes,
        request: &CommitRequest,
    ) -> Result<Option<Prepared>, CommitError> {
        if changes.is_empty() && request.parents.len() < 2 {
            return Ok(None);
        }
        self.ready()?;
        let Some(root) = checkout.open() else {
            return Err(TakeOutError::Changing(RepoPath::from(".")).into());
        };
        let mut prepared = self.quarantine(checkout)?;
        let source = Source::Tree { root, changes: changes.clone() };
        prepared.sha = import(&prepared.quarantine, TURN_REF, request, checkout.tree(), source).await?;
        let base = request.parents.first().unwrap_or(checkout.head());
        prepared.changes = raw_between(&prepared.quarantine, base.as_str(), prepared.sha.as_str()).await?;
        if prepared.has_attributes() && prepared.convert(checkout, request).await? {
            prepared.changes = raw_between(&prepared.quarantine, base.as_str(), prepared.sha.as_str()).await?;
        }
        let empty = prepared.changes.is_empty() && request.parents.len() < 2;
        Ok((!empty).then_some(prepared))
    }

    /// Commits files of our own on top of the first parent, in the mirror, without naming a branch. The map goes from
    /// path to content; `None` removes the file.
    pub async fn commit_files(
        &self,
        files: BTreeMap<String, Option<Vec<u8>>>,
        request: &CommitRequest,
    ) -> Result<Sha, GitError> {
        self.ready()?;
        let _writing = self.writing.lock().await;
        match import(&self.dir, MADE_REF, request, None, Source::Files(files)).await {
            Ok(sha) => Ok(sha),
            Err(CommitError::Git(error)) => Err(error),
            Err(error @ (CommitError::TakeOut(_) | CommitError::NotEncoded(_))) => {
                Err(GitError::io("writing a commit")(std::io::Error::other(error)))
            }
        }
    }

    /// Makes the quarantine repository for one commit. The caller fills in the commit.
    fn quarantine(&self, checkout: &Checkout) -> Result<Prepared, GitError> {
        let making = || GitError::io("making a quarantine");
        let made = self.shared.new_quarantine("q-");
        let quarantine = made.map_err(making())?.keep();
        let prepared = Prepared {
            sha: checkout.head().clone(),
            changes: Vec::new(),
            record: Arc::clone(&checkout.record),
            quarantine,
            mirror: self.clone(),
        };
        make_bare(&prepared.quarantine, Some(&self.dir.join("objects"))).map_err(making())?;
        Ok(prepared)
    }
}
