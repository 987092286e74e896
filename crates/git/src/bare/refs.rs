//! Reads and moves refs, and reads commits.

use super::{BareError, BareRepo, process::finish};
use std::collections::BTreeMap;

/// The all-zero id, which stands for a ref that does not exist.
const ZERO_ID: &str = "0000000000000000000000000000000000000000";

/// The parsed fields of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitRecord {
    pub sha: String,
    pub tree: String,
    /// The parents, first parent first.
    pub parents: Vec<String>,
    pub author_name: String,
    pub author_email: String,
    /// The author date, in seconds since the epoch.
    pub authored: i64,
    pub committer_name: String,
    pub committer_email: String,
    /// The commit date, in seconds since the epoch.
    pub committed: i64,
    /// The whole message.
    pub message: String,
}

/// The value that a ref must have before it is moved.
#[derive(Clone, Copy, Debug)]
pub enum ExpectedRef<'a> {
    /// Whatever it is.
    Any,
    /// It must not exist.
    Missing,
    /// This id.
    At(&'a str),
}

impl BareRepo {
    /// Returns the id of the commit that `name` (a ref or an id) resolves to, if there is one.
    pub async fn commit_id(&self, name: &str) -> Result<Option<String>, BareError> {
        self.object_id(&format!("{name}^{{commit}}")).await
    }

    /// Returns the id of the commit for the first of these names that resolves to one.
    pub async fn first_commit_id(&self, names: &[&str]) -> Result<Option<String>, BareError> {
        let asked: String = names.iter().map(|name| format!("{name}^{{commit}}\0")).collect();
        let args = ["cat-file", "--batch-check=%(objectname)", "-z"];
        let answered = self.line(&args, asked.as_bytes()).await?;
        // For a name without a commit, git prints a message instead of an id.
        let is_id = |line: &&str| line.len() == ZERO_ID.len() && line.bytes().all(|byte| byte.is_ascii_hexdigit());
        Ok(answered.lines().find(is_id).map(str::to_owned))
    }

    /// Returns the id of the object that an expression resolves to, if there is one.
    pub async fn object_id(&self, expression: &str) -> Result<Option<String>, BareError> {
        let args = ["rev-parse", "--verify", "--quiet", "--end-of-options", expression];
        let done = finish(self.command(&args), b"").await?;
        let id = String::from_utf8_lossy(&done.stdout).trim().to_owned();
        Ok((done.code == Some(0) && !id.is_empty()).then_some(id))
    }

    /// Returns all refs below `prefix` (such as `refs/heads/`) with the ids that they point to.
    pub async fn refs(&self, prefix: &str) -> Result<BTreeMap<String, String>, BareError> {
        let args = ["for-each-ref", "--format=%(objectname) %(refname)", "--", prefix];
        let out = self.line(&args, b"").await?;
        let refs = out.lines().filter_map(|line| line.split_once(' '));
        Ok(refs.map(|(id, name)| (name.to_owned(), id.to_owned())).collect())
    }

    /// Moves or creates the ref `name`, if its value is now the expected one.
    pub async fn update_ref(&self, name: &str, to: &str, expected: ExpectedRef<'_>) -> Result<(), BareError> {
        let mut args = vec!["update-ref", "--", name, to];
        args.extend(match expected {
            ExpectedRef::Any => None,
            ExpectedRef::Missing => Some(ZERO_ID),
            ExpectedRef::At(id) => Some(id),
        });
        let done = finish(self.command(&args), b"").await?;
        match done.code {
            Some(0) => Ok(()),
            // The exit code is 128 for every failure, so only the message shows that the ref has moved.
            _ if done.stderr.contains("but expected") || done.stderr.contains("reference already exists") => {
                Err(BareError::Moved(name.to_owned()))
            }
            _ => Err(done.failure("update-ref")),
        }
    }

    /// Removes the ref `name`. It is no error if the ref does not exist.
    pub async fn delete_ref(&self, name: &str) -> Result<(), BareError> {
        self.run(&["update-ref", "-d", "--", name], b"").await.map(|_| ())
    }

    /// Returns `true` if `name` is a valid full name of a ref.
    pub async fn is_ref_name(&self, name: &str) -> Result<bool, BareError> {
        let done = finish(self.command(&["check-ref-format", name]), b"").await?;
        Ok(done.code == Some(0) && !name.starts_with('-'))
    }

    /// Returns the best common ancestor of two commits, if they have one.
    pub async fn merge_base(&self, a: &str, b: &str) -> Result<Option<String>, BareError> {
        let done = finish(self.command(&["merge-base", "--end-of-options", a, b]), b"").await?;
        match done.code {
            Some(0) => Ok(String::from_utf8_lossy(&done.stdout).lines().next().map(str::to_owned)),
            Some(1) => Ok(None),
            _ => Err(done.failure("merge-base")),
        }
    }

    /// Returns `true` if `ancestor` is `descendant` or one of its ancestors.
    pub async fn is_ancestor(&self, ancestor: &str, descendant: &str) -> Result<bool, BareError> {
        let args = ["merge-base", "--is-ancestor", "--end-of-options", ancestor, descendant];
        let done = finish(self.command(&args), b"").await?;
        match done.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(done.failure("merge-base")),
        }
    }

    /// Returns the commits that `head` has and `base` does not: oldest first, the newest `most` of them.
    pub async fn commits(&self, base: Option<&str>, head: &str, most: usize) -> Result<Vec<CommitRecord>, BareError> {
        let most = format!("--max-count={most}");
        let excluded = base.map(|base| format!("^{base}"));
        let format = "--format=%H%x00%T%x00%P%x00%an%x00%ae%x00%at%x00%cn%x00%ce%x00%ct%x00%B%x00";
        let mut args = vec!["log", "-z", "--topo-order", "--no-color", &most, format];
        args.extend(["--end-of-options", head]);
        args.extend(excluded.as_deref());
        let out = self.run(&args, b"").await?;
        let text = String::from_utf8_lossy(&out);
        let fields: Vec<&str> = text.split('\0').collect();
        let mut commits: Vec<CommitRecord> = fields.chunks(11).filter_map(parse_commit).collect();
        commits.reverse();
        Ok(commits)
    }

    /// Returns the fields of the commit `id`; `None` if there is no such commit.
    pub async fn commit(&self, id: &str) -> Result<Option<CommitRecord>, BareError> {
        match self.commit_id(id).await? {
            Some(id) => Ok(self.commits(None, &id, 1).await?.pop()),
            None => Ok(None),
        }
    }
}

/// Reads one commit from the eleven fields of its record. The last field is the end of the record.
fn parse_commit(fields: &[&str]) -> Option<CommitRecord> {
    let [sha, tree, parents, an, ae, at, cn, ce, ct, message, ..] = fields else {
        return None;
    };
    Some(CommitRecord {
        sha: (*sha).to_owned(),
        tree: (*tree).to_owned(),
        parents: parents.split_whitespace().map(str::to_owned).collect(),
        author_name: (*an).to_owned(),
        author_email: (*ae).to_owned(),
        authored: at.parse().ok()?,
        committer_name: (*cn).to_owned(),
        committer_email: (*ce).to_owned(),
        committed: ct.parse().ok()?,
        message: message.trim_end_matches('\n').to_owned(),
    })
}
