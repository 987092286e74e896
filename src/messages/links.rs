//! Links to the things that sentences mention.

use crate::messages::untrusted;
use domain::ids::{CommentId, IssueNumber, PullNumber, RepoName, Sha};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Links {
    /// The repository's page, for example `https://github.com/acme/shop`.
    repo_url: String,
}

impl Links {
    /// Makes links for a repository on the forge with this web address.
    pub fn new(web_url: &str, repo: &RepoName) -> Self {
        Self {
            repo_url: format!("{}/{repo}", web_url.trim_end_matches('/')),
        }
    }

    pub fn issue(&self, number: IssueNumber) -> String {
        format!("[#{number}]({}/issues/{number})", self.repo_url)
    }

    pub fn pull(&self, number: PullNumber) -> String {
        format!("[#{number}]({}/pull/{number})", self.repo_url)
    }

    /// Returns a link to a pull request, or these words if there is none.
    pub(super) fn pull_or(&self, pull: Option<PullNumber>, words: &str) -> String {
        pull.map_or_else(|| words.to_owned(), |pull| self.pull(pull))
    }

    /// Returns a link to a comment on an issue, shown as `words`.
    pub fn comment(&self, issue: IssueNumber, comment: CommentId, words: &str) -> String {
        format!("[{words}]({}/issues/{issue}#issuecomment-{comment})", self.repo_url)
    }

    /// Returns a link to a commit, shown by its first digits.
    pub fn commit(&self, sha: &Sha) -> String {
        format!("[`{}`]({}/commit/{sha})", sha.short(), self.repo_url)
    }

    /// Returns a link to a branch that AutoBuild named.
    pub fn branch(&self, name: &str) -> String {
        let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"/-_.".contains(&b));
        let shown = untrusted::code(name, 200);
        if plain {
            format!("[{shown}]({}/tree/{name})", self.repo_url)
        } else {
            shown
        }
    }
}
