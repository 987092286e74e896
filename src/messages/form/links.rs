//! Links to the things that sentences mention.

use crate::messages::form::untrusted;
use domain::ids::{CommentId, IssueNumber, PullNumber, RepoName, Sha};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Links {
    /// The repository's page, for example `https://github.com/acme/shop`; `None` where a link cannot be followed.
    repo_url: Option<String>,
}

impl Links {
    /// Makes links for a repository on the forge with this web address.
    pub fn new(web_url: &str, repo: &RepoName) -> Self {
        Self { repo_url: Some(format!("{}/{repo}", web_url.trim_end_matches('/'))) }
    }

    /// Names things without links, for a terminal.
    pub(crate) const NONE: Self = Self { repo_url: None };

    fn link(&self, shown: &str, path: &str) -> String {
        match &self.repo_url {
            Some(url) => format!("[{shown}]({url}/{path})"),
            None => shown.to_owned(),
        }
    }

    pub fn issue(&self, number: IssueNumber) -> String {
        self.link(&format!("#{number}"), &format!("issues/{number}"))
    }

    pub fn pull(&self, number: PullNumber) -> String {
        self.link(&format!("#{number}"), &format!("pull/{number}"))
    }

    /// Returns a link to a pull request, or these words if there is none.
    pub(crate) fn pull_or(&self, pull: Option<PullNumber>, words: &str) -> String {
        pull.map_or_else(|| words.to_owned(), |pull| self.pull(pull))
    }

    /// Returns a link to a comment on an issue, shown as `words`.
    pub fn comment(&self, issue: IssueNumber, comment: CommentId, words: &str) -> String {
        self.link(words, &format!("issues/{issue}#issuecomment-{comment}"))
    }

    /// Returns a link to a commit, shown by its first digits.
    pub fn commit(&self, sha: &Sha) -> String {
        self.link(&format!("`{}`", sha.short()), &format!("commit/{sha}"))
    }

    /// Returns a link to a branch that AutoBuild named.
    pub fn branch(&self, name: &str) -> String {
        let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"/-_.".contains(&b));
        let shown = untrusted::code(name, 200);
        if plain { self.link(&shown, &format!("tree/{name}")) } else { shown }
    }
}
