//! Reading and moving refs, and what commits say of themselves.

use super::{BareError, BareRepo, process::finish};
use std::collections::BTreeMap;

/// The value of a ref that does not exist.
const NOTHING: &str = "0000000000000000000000000000000000000000";

/// What a commit says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitFacts {
    /// Its id.
    pub sha: String,
    /// Its tree.
    pub tree: String,
    /// Its parents, first parent first.
    pub parents: Vec<String>,
    /// The author's name.
    pub author_name: String,
    /// The author's address.
    pub author_email: String,
    /// When it was written, seconds since the epoch.
    pub authored: i64,
    /// The committer's name.
    pub committer_name: String,
    /// The committer's address.
    pub committer_email: String,
    /// When it was committed, seconds since the epoch.
    pub committed: i64,
    /// The whole message.
    pub message: String,
}

impl BareRepo {
    /// The id of the commit that `name` (a ref, an id) stands for, if there is one.
    pub async fn commit_id(&self, name: &str) -> Result<Option<String>, BareError> {
        self.object_id(&format!("{name}^{{commit}}")).await
    }

    /// The id of the commit that the first of these names stands for that stands for one.
    pub async fn first_commit_id(&self, names: &[&str]) -> Result<Option<String>, BareError> {
        let asked: String = names.iter().map(|name| format!("{name}^{{commit}}\0")).collect();
        let args = ["cat-file", "--batch-check=%(objectname)", "-z"];
        let answered = self.line(&args, asked.as_bytes()).await?;
        // What stands for nothing is answered with a sentence.
        let is_id = |line: &&str| line.len() == NOTHING.len() && line.bytes().all(|byte| byte.is_ascii_hexdigit());
        Ok(answered.lines().find(is_id).map(str::to_owned))
    }

    /// The id of the object that an expression stands for, if there is one.
    pub async fn object_id(&self, expression: &str) -> Result<Option<String>, BareError> {
        let args = ["rev-parse", "--verify", "--quiet", "--end-of-options", expression];
        let done = finish(self.command(&args), b"").await?;
        let id = String::from_utf8_lossy(&done.stdout).trim().to_owned();
        Ok((done.code == Some(0) && !id.is_empty()).then_some(id))
    }

    /// All refs below `prefix` (`refs/heads/`) with the ids they point to.
    pub async fn refs(&self, prefix: &str) -> Result<BTreeMap<String, String>, BareError> {
        let out = self
            .line(
                &["for-each-ref", "--format=%(objectname) %(refname)", "--", prefix],
                b"",
            )
            .await?;
        Ok(out
            .lines()
            .filter_map(|line| line.split_once(' '))
            .map(|(id, name)| (name.to_owned(), id.to_owned()))
            .collect())
    }

    /// Moves or creates `name`. With `expected` the ref must have that value now; `Some(None)` means it must not exist.
    pub async fn update_ref(&self, name: &str, to: &str, expected: Option<Option<&str>>) -> Result<(), BareError> {
        let mut args = vec!["update-ref", "--", name, to];
        if let Some(old) = expected {
            args.push(old.unwrap_or(NOTHING));
        }
        let done = finish(self.command(&args), b"").await?;
        match done.code {
            Some(0) => Ok(()),
            _ if done.stderr.contains("but expected") || done.stderr.contains("reference already exists") => {
                Err(BareError::Moved(name.to_owned()))
            }
            _ => Err(done.failure("update-ref")),
        }
    }

    /// Removes `name`; a ref that is not there is no error.
    pub async fn delete_ref(&self, name: &str) -> Result<(), BareError> {
        self.run(&["update-ref", "-d", "--", name], b"").await.map(|_| ())
    }

    /// Whether `name` may be the full name of a ref.
    pub async fn is_ref_name(&self, name: &str) -> Result<bool, BareError> {
        let done = finish(self.command(&["check-ref-format", name]), b"").await?;
        Ok(done.code == Some(0) && !name.starts_with('-'))
    }

    /// The best common ancestor of two commits, if they have one.
    pub async fn merge_base(&self, a: &str, b: &str) -> Result<Option<String>, BareError> {
        let done = finish(self.command(&["merge-base", "--end-of-options", a, b]), b"").await?;
        match done.code {
            Some(0) => Ok(String::from_utf8_lossy(&done.stdout).lines().next().map(str::to_owned)),
            Some(1) => Ok(None),
            _ => Err(done.failure("merge-base")),
        }
    }

    /// Whether `ancestor` is `descendant` or one of its ancestors.
    pub async fn is_ancestor(&self, ancestor: &str, descendant: &str) -> Result<bool, BareError> {
        let args = ["merge-base", "--is-ancestor", "--end-of-options", ancestor, descendant];
        let done = finish(self.command(&args), b"").await?;
        match done.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(done.failure("merge-base")),
        }
    }

    /// The commits that `head` has and `base` has not, oldest first, at most `most`; the newest are kept.
    pub async fn commits(&self, base: Option<&str>, head: &str, most: usize) -> Result<Vec<CommitFacts>, BareError> {
        let most = format!("--max-count={most}");
        let excluded = base.map(|base| format!("^{base}"));
        let format = "--format=%H%x00%T%x00%P%x00%an%x00%ae%x00%at%x00%cn%x00%ce%x00%ct%x00%B%x00";
        let mut args = vec![
            "log",
            "-z",
            "--topo-order",
            "--no-color",
            &most,
            format,
            "--end-of-options",
            head,
        ];
        if let Some(base) = excluded.as_deref() {
            args.push(base);
        }
        let out = self.run(&args, b"").await?;
        let text = String::from_utf8_lossy(&out);
        let fields: Vec<&str> = text.split('\0').collect();
        let mut commits: Vec<CommitFacts> = fields.chunks(11).filter_map(facts).collect();
        commits.reverse();
        Ok(commits)
    }

    /// What the commit `id` says of itself.
    pub async fn commit(&self, id: &str) -> Result<Option<CommitFacts>, BareError> {
        match self.commit_id(id).await? {
            Some(id) => Ok(self.commits(None, &id, 1).await?.pop()),
            None => Ok(None),
        }
    }
}

/// One commit out of the eleven fields that the format above prints; the last is the record's end.
fn facts(fields: &[&str]) -> Option<CommitFacts> {
    let [sha, tree, parents, an, ae, at, cn, ce, ct, message, ..] = fields else {
        return None;
    };
    Some(CommitFacts {
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
