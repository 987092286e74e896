//! What follows when branches move: push events, pull requests that grow, close or turn out merged.

use super::super::{
    feed::{EventOutcome, Telling},
    hooks::Occasion,
    refusal::Refusal,
    site::Site,
    state::{Actor, Merge},
};
use git::bare::{ChangeKind, CommitFacts};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const NOTHING: &str = "0000000000000000000000000000000000000000";
/// GitHub lists at most this many commits in a push event.
const LISTED: usize = 2_048;
/// The transcript names the newest of them.
const TOLD: usize = 20;

/// A branch that moved.
struct Moved {
    branch: String,
    before: Option<String>,
    after: Option<String>,
    forced: bool,
    commits: Vec<CommitFacts>,
    /// The paths that each commit touches.
    touched: BTreeMap<String, Vec<(ChangeKind, String)>>,
}

impl Site {
    /// Compares the branches with what was last seen and lets everything follow. The caller holds the repository's gate.
    pub(crate) async fn branches_moved(&self, by: Actor, repo: u64) -> Result<(), Refusal> {
        let bare = self.bare(repo);
        let now = strip(bare.refs("refs/heads/").await?, "refs/heads/");
        let tags = strip(bare.refs("refs/tags/").await?, "refs/tags/");
        let before = self.read(|state| state.repo(repo).map(|repo| repo.branches.clone()))?;
        self.change(|state| {
            let at = state.clock.stamp();
            let known = state.repo_mut(repo)?;
            known.branches.clone_from(&now);
            known.tags = tags;
            known.pushed_at = at;
            Ok::<_, Refusal>(())
        })?;
        let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
        for name in names {
            let (old, new) = (before.get(name), now.get(name));
            if old == new {
                continue;
            }
            let moved = self.describe(repo, name, old, new).await?;
            self.change(|state| {
                let known = state.repo(repo)?;
                let page = state.repo_page(known);
                let pusher = state.login(by.user).to_owned();
                let fields = push_payload(&moved, &page, &pusher);
                state.emit(&Occasion::of_repo("push", None, repo, by.user, fields));
                state.tell(by, Some(repo), push_told(&moved));
                let Some(head) = &moved.after else { return Ok(()) };
                let facts = moved.commits.last().filter(|facts| facts.sha == *head);
                let known = &mut state.repo_mut(repo)?.head_commits;
                known.extend(facts.map(|facts| (head.clone(), super::super::json::head_commit(facts))));
                state.suites_requested(by, repo, moved.before.as_deref(), head)
            })?;
            self.pulls_from(by, repo, &moved).await?;
            self.pulls_into(by, repo, &moved).await?;
            if let Some(head) = &moved.after {
                self.change(|state| state.ci_reports(by, repo, &moved.branch, head))?;
            }
        }
        Ok(())
    }

    async fn describe(
        &self,
        repo: u64,
        name: &str,
        old: Option<&String>,
        new: Option<&String>,
    ) -> Result<Moved, Refusal> {
        let bare = self.bare(repo);
        let (forced, commits) = match (old, new) {
            (Some(old), Some(new)) => {
                let forced = !bare.is_ancestor(old, new).await?;
                (forced, bare.commits(Some(old), new, LISTED).await?)
            }
            (None, Some(new)) => (false, bare.commits(None, new, 1).await?),
            _ => (false, Vec::new()),
        };
        let listed: Vec<&str> = match old {
            Some(_) => commits.iter().map(|commit| commit.sha.as_str()).collect(),
            None => Vec::new(),
        };
        let touched = match listed.is_empty() {
            true => BTreeMap::new(),
            false => bare.touched(&listed).await?,
        };
        Ok(Moved {
            branch: name.to_owned(),
            before: old.cloned(),
            after: new.cloned(),
            forced,
            commits,
            touched,
        })
    }

    /// Open pull requests whose head moved grow; those whose head is gone close.
    async fn pulls_from(&self, by: Actor, repo: u64, moved: &Moved) -> Result<(), Refusal> {
        let numbers = self.open_pulls(repo, |pull| pull.head == moved.branch)?;
        for number in numbers {
            match &moved.after {
                None => self.change(|state| state.close_issue(by, repo, number, "completed"))?,
                Some(head) => {
                    let before = self.read(|state| state.pull(repo, number).map(|(_, pull)| pull.head_sha.clone()))?;
                    if before == *head {
                        continue;
                    }
                    self.move_pull(repo, number, head).await?;
                    let fields = json!({"before": before, "after": head});
                    self.change(|state| state.issue_event(by, repo, number, "synchronize", fields))?;
                }
            }
        }
        Ok(())
    }

    /// Open pull requests whose head arrived in their base by a push are merged; the others are measured again.
    async fn pulls_into(&self, by: Actor, repo: u64, moved: &Moved) -> Result<(), Refusal> {
        for number in self.open_pulls(repo, |pull| pull.base == moved.branch)? {
            let Some(after) = &moved.after else {
                self.change(|state| state.close_issue(by, repo, number, "completed"))?;
                continue;
            };
            let head = self.read(|state| state.pull(repo, number).map(|(_, pull)| pull.head_sha.clone()))?;
            if self.bare(repo).is_ancestor(&head, after).await? {
                self.record_merge(by, repo, number, after)?;
            } else {
                self.move_pull(repo, number, &head).await?;
            }
        }
        Ok(())
    }

    fn open_pulls(&self, repo: u64, fits: impl Fn(&super::super::state::Pull) -> bool) -> Result<Vec<u64>, Refusal> {
        self.read(|state| {
            let open = state.repo(repo)?.issues.values().filter(|issue| issue.open);
            Ok(open
                .filter(|issue| issue.pull.as_ref().is_some_and(&fits))
                .map(|issue| issue.number)
                .collect())
        })
    }

    /// Marks a pull request as merged, and closes what it says it closes.
    pub(super) fn record_merge(&self, by: Actor, repo: u64, number: u64, sha: &str) -> Result<(), Refusal> {
        self.change(|state| {
            let at = state.clock.stamp();
            let issue = state.issue_mut(repo, number)?;
            issue.open = false;
            (issue.closed_at, issue.closed_by, issue.updated_at) = (Some(at), Some(by.user), at);
            let (title, body) = (issue.title.clone(), issue.body.clone().unwrap_or_default());
            let pull = issue.pull.as_mut().ok_or_else(Refusal::not_found)?;
            pull.merged = Some(Merge {
                at,
                by: by.user,
                sha: sha.to_owned(),
            });
            let base = pull.base.clone();
            state.issue_event(by, repo, number, "closed", json!({}))?;
            let telling = Telling {
                kind: "pull_request.merged",
                what: "merged pull request".to_owned(),
                number: Some(number),
                page: format!("/pull/{number}"),
                text: title,
                outcome: EventOutcome::Good,
            };
            state.tell(by, Some(repo), telling);
            if base != state.repo(repo)?.default_branch {
                return Ok(());
            }
            for closed in closed_numbers(&body) {
                if state
                    .issue(repo, closed)
                    .is_ok_and(|issue| issue.open && !issue.is_pull())
                {
                    state.close_issue(by, repo, closed, "completed")?;
                }
            }
            Ok(())
        })
    }
}

fn strip(refs: std::collections::BTreeMap<String, String>, prefix: &str) -> std::collections::BTreeMap<String, String> {
    refs.into_iter()
        .map(|(name, id)| (name.strip_prefix(prefix).unwrap_or(&name).to_owned(), id))
        .collect()
}

/// Numbers of the issues that a text closes by keyword.
fn closed_numbers(text: &str) -> Vec<u64> {
    const WORDS: [&str; 9] = [
        "close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved",
    ];
    let words: Vec<&str> = text.split_whitespace().collect();
    let pairs = words.windows(2).filter_map(|pair| match pair {
        [word, number] => Some((word.trim_end_matches(':').to_lowercase(), number)),
        _ => None,
    });
    pairs
        .filter(|(word, _)| WORDS.contains(&word.as_str()))
        .filter_map(|(_, number)| {
            let digits: String = number
                .strip_prefix('#')?
                .chars()
                .take_while(char::is_ascii_digit)
                .collect();
            digits.parse().ok()
        })
        .collect()
}

fn push_told(moved: &Moved) -> Telling<'static> {
    let what = match (&moved.before, &moved.after, moved.forced) {
        (None, _, _) => format!("created branch {}", moved.branch),
        (_, None, _) => format!("deleted branch {}", moved.branch),
        (_, _, true) => format!("force-pushed to {}", moved.branch),
        _ => format!("pushed to {}", moved.branch),
    };
    let newest = moved.commits.len().saturating_sub(TOLD);
    let subjects: Vec<&str> = moved
        .commits
        .iter()
        .skip(newest)
        .filter_map(|commit| commit.message.lines().next())
        .collect();
    let page = moved
        .after
        .as_ref()
        .map_or_else(String::new, |sha| format!("/commit/{sha}"));
    Telling {
        kind: if moved.after.is_some() {
            "push"
        } else {
            "branch.deleted"
        },
        what,
        number: None,
        page,
        text: subjects.join("\n"),
        outcome: EventOutcome::Neutral,
    }
}

fn push_payload(moved: &Moved, page: &str, pusher: &str) -> Value {
    let (before, after) = (
        moved.before.as_deref().unwrap_or(NOTHING),
        moved.after.as_deref().unwrap_or(NOTHING),
    );
    let listed = moved.commits.iter();
    let commits: Vec<Value> = listed.map(|commit| push_commit(moved, commit, page)).collect();
    json!({
        "ref": format!("refs/heads/{}", moved.branch),
        "before": before,
        "after": after,
        "created": moved.before.is_none(),
        "deleted": moved.after.is_none(),
        "forced": moved.forced,
        "base_ref": null,
        "compare": format!("{page}/compare/{before}...{after}"),
        "head_commit": commits.last(),
        "commits": if moved.before.is_some() { commits } else { Vec::new() },
        "pusher": {"name": pusher, "email": format!("{pusher}@users.noreply.github.com")},
    })
}

fn push_commit(moved: &Moved, commit: &CommitFacts, page: &str) -> Value {
    let paths = |kind: ChangeKind| -> Vec<&str> {
        let touched = moved.touched.get(&commit.sha).into_iter().flatten();
        touched
            .filter(|(found, _)| *found == kind)
            .map(|(_, path)| path.as_str())
            .collect()
    };
    let written = chrono::DateTime::from_timestamp(commit.committed, 0).map(super::super::json::time);
    json!({
        "id": commit.sha,
        "tree_id": commit.tree,
        "distinct": true,
        "message": commit.message,
        "timestamp": written,
        "url": format!("{page}/commit/{}", commit.sha),
        "author": {"name": commit.author_name, "email": commit.author_email},
        "committer": {"name": commit.committer_name, "email": commit.committer_email},
        "added": paths(ChangeKind::Added),
        "removed": paths(ChangeKind::Removed),
        "modified": paths(ChangeKind::Modified),
    })
}

#[cfg(test)]
mod tests {
    use super::closed_numbers;

    #[test]
    fn closing_keywords_name_issues_and_other_words_do_not() {
        assert_eq!(closed_numbers("Closes #7, fixes: #8.\n\nPart of #9"), [7, 8]);
        assert_eq!(closed_numbers("closes nothing; see #3"), Vec::<u64>::new());
    }
}
