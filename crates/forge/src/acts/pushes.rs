//! The consequences of moved branches: push events, and pull requests that grow, close or turn out merged.

use crate::{
    feed::{EventOutcome, FeedEvent},
    json,
    refusal::{OrNotFound, Refusal, Result},
    site::Site,
    state::{Access, Activity, Merge, Moment, Pull, TimelineChange},
};
use git::bare::{BareRepo, ChangeKind, CommitRecord};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const NOTHING: &str = "0000000000000000000000000000000000000000";
/// The most commits in a push event, as on GitHub.
const LISTED: usize = 2_048;
/// The most commits that a feed event names: the newest ones.
const TOLD: usize = 20;

struct MovedBranch {
    branch: String,
    before: Option<String>,
    after: Option<String>,
    forced: bool,
    commits: Vec<CommitRecord>,
    /// The paths that each commit changes, by commit id.
    touched: BTreeMap<String, Vec<(ChangeKind, String)>>,
}

impl MovedBranch {
    fn activity(&self, id: u64, by: u64, at: Moment) -> Activity {
        Activity {
            id,
            branch: self.branch.clone(),
            before: self.before.clone(),
            after: self.after.clone(),
            forced: self.forced,
            by,
            at,
        }
    }
}

/// Returns the branches of a repository: commit ids by short names.
pub(crate) async fn branches(bare: &BareRepo) -> Result<BTreeMap<String, String>> {
    let all = bare.refs("refs/heads/").await?.into_iter();
    Ok(all.filter_map(|(name, id)| Some((name.strip_prefix("refs/heads/")?.to_owned(), id))).collect())
}

impl Site {
    /// Compares git's branches with the last known ones, and records each move with its consequences. The caller holds
    /// the repository's gate.
    pub(crate) async fn branches_moved(&self, at: Access) -> Result {
        let now = branches(&self.bare(at.repo)).await?;
        let before = self.change(|state| {
            let stamp = state.clock.stamp();
            let repo = state.repo_mut(at.repo)?;
            repo.pushed_at = stamp;
            Ok::<_, Refusal>(std::mem::replace(&mut repo.branches, now.clone()))
        })?;
        let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
        for name in names {
            let (old, new) = (before.get(name), now.get(name));
            if old != new {
                let moved = self.describe(at.repo, name, old, new).await?;
                self.branch_moved(at, &moved).await?;
            }
        }
        Ok(())
    }

    async fn branch_moved(&self, at: Access, moved: &MovedBranch) -> Result {
        self.change(|state| {
            let page = state.repo_page(state.repo(at.repo)?);
            let fields = push_payload(moved, &page, state.login(at.by.user));
            state.emit(at, "push", None, fields);
            state.record_event(at.by, Some(at.repo), push_event(moved));
            let (id, now) = (state.next_id(), state.clock.stamp());
            state.repo_mut(at.repo)?.activities.push(moved.activity(id, at.by.user, now));
            let Some(head) = &moved.after else { return Ok(()) };
            let facts = moved.commits.last().filter(|facts| facts.sha == *head);
            let known = &mut state.repo_mut(at.repo)?.head_commits;
            known.extend(facts.map(|facts| (head.clone(), json::head_commit(facts))));
            state.suites_requested(at, moved.before.as_deref(), head)
        })?;
        self.pulls_from(at, moved).await?;
        self.pulls_into(at, moved).await?;
        match &moved.after {
            Some(head) => self.change(|state| state.ci_reports(at, &moved.branch, head)),
            None => Ok(()),
        }
    }

    async fn describe(&self, repo: u64, name: &str, old: Option<&String>, new: Option<&String>) -> Result<MovedBranch> {
        let bare = self.bare(repo);
        let (mut forced, mut touched) = (false, BTreeMap::new());
        let commits = match (old, new) {
            (Some(old), Some(new)) => {
                forced = !bare.is_ancestor(old, new).await?;
                bare.commits(Some(old), new, LISTED).await?
            }
            (None, Some(new)) => bare.commits(None, new, 1).await?,
            (_, None) => Vec::new(),
        };
        if old.is_some() && !commits.is_empty() {
            let listed: Vec<&str> = commits.iter().map(|commit| commit.sha.as_str()).collect();
            touched = bare.touched(&listed).await?;
        }
        Ok(MovedBranch { branch: name.to_owned(), before: old.cloned(), after: new.cloned(), forced, commits, touched })
    }

    /// Updates open pull requests whose head branch moved, and closes those whose head branch is gone.
    async fn pulls_from(&self, at: Access, moved: &MovedBranch) -> Result {
        for (number, before) in self.open_pulls(at.repo, |pull| pull.head == moved.branch)? {
            match &moved.after {
                None => self.change(|state| state.close_issue(at, number))?,
                Some(head) if before == *head => {}
                Some(head) => {
                    self.move_pull(at.repo, number, head).await?;
                    let fields = json!({"before": before, "after": head});
                    self.change(|state| state.issue_event(at, number, "synchronize", fields))?;
                }
            }
        }
        Ok(())
    }

    /// Marks open pull requests as merged if the push brought their head into their base; computes the others' size
    /// again. Closes them if the base is gone.
    async fn pulls_into(&self, at: Access, moved: &MovedBranch) -> Result {
        for (number, head) in self.open_pulls(at.repo, |pull| pull.base == moved.branch)? {
            match &moved.after {
                None => self.change(|state| state.close_issue(at, number))?,
                Some(after) if self.bare(at.repo).is_ancestor(&head, after).await? => {
                    self.record_merge(at, number, after)?;
                }
                Some(_) => self.move_pull(at.repo, number, &head).await?,
            }
        }
        Ok(())
    }

    /// Returns the numbers and heads of the open pull requests that fit.
    fn open_pulls(&self, repo: u64, fits: impl Fn(&Pull) -> bool) -> Result<Vec<(u64, String)>> {
        self.read(|state| {
            let open = state.repo(repo)?.open_pulls();
            let fitting = open.filter(|(_, pull)| fits(pull));
            Ok(fitting.map(|(issue, pull)| (issue.number, pull.head_sha.clone())).collect())
        })
    }

    /// Marks a pull request as merged. If it went into the default branch, closes the issues that its text names with a
    /// closing keyword.
    pub(crate) fn record_merge(&self, at: Access, number: u64, sha: &str) -> Result {
        self.change(|state| {
            let now = state.clock.stamp();
            let issue = state.issue_mut(at.repo, number)?;
            issue.open = false;
            (issue.closed_at, issue.closed_by, issue.updated_at) = (Some(now), Some(at.by.user), now);
            issue.changed(now, at.by.user, TimelineChange::Closed);
            let (title, body) = (issue.title.clone(), issue.body.clone().unwrap_or_default());
            let pull = issue.pull.as_mut().or_not_found()?;
            pull.merged = Some(Merge { at: now, by: at.by.user, sha: sha.to_owned() });
            let base = pull.base.clone();
            state.issue_event(at, number, "closed", json!({}))?;
            let mut news = FeedEvent::new("pull_request.merged", "merged pull request", title);
            news.outcome = EventOutcome::Good;
            state.record_on(at, number, news);
            if base != state.repo(at.repo)?.default_branch {
                return Ok(());
            }
            for closed in closed_numbers(&body) {
                let issue = state.issue(at.repo, closed);
                if issue.is_ok_and(|issue| issue.open && !issue.is_pull()) {
                    state.close_issue(at, closed)?;
                }
            }
            Ok(())
        })
    }
}

/// Returns the numbers of the issues that a text closes by keyword.
fn closed_numbers(text: &str) -> Vec<u64> {
    const WORDS: [&str; 9] = ["close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved"];
    let number = |word: &str| {
        let digits = word.strip_prefix('#')?;
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        digits.get(..end)?.parse().ok()
    };
    let closes = |word: &str| WORDS.contains(&word.trim_end_matches(':').to_lowercase().as_str());
    let words = text.split_whitespace();
    let pairs = words.clone().zip(words.skip(1));
    pairs.filter(|(word, _)| closes(word)).filter_map(|(_, next)| number(next)).collect()
}

fn push_event(moved: &MovedBranch) -> FeedEvent {
    let verb = match (&moved.before, &moved.after) {
        (None, _) => "created branch",
        (_, None) => "deleted branch",
        _ if moved.forced => "force-pushed to",
        _ => "pushed to",
    };
    let newest = moved.commits.iter().skip(moved.commits.len().saturating_sub(TOLD));
    let subjects: Vec<&str> = newest.filter_map(|commit| commit.message.lines().next()).collect();
    let kind = if moved.after.is_some() { "push" } else { "branch.deleted" };
    let mut news = FeedEvent::new(kind, format!("{verb} {}", moved.branch), subjects.join("\n"));
    if let Some(sha) = &moved.after {
        news.url = format!("/commit/{sha}");
    }
    news
}

fn push_payload(moved: &MovedBranch, page: &str, pusher: &str) -> Value {
    let before = moved.before.as_deref().unwrap_or(NOTHING);
    let after = moved.after.as_deref().unwrap_or(NOTHING);
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

fn push_commit(moved: &MovedBranch, commit: &CommitRecord, page: &str) -> Value {
    let paths = |kind: ChangeKind| -> Vec<&str> {
        let touched = moved.touched.get(&commit.sha).into_iter().flatten();
        let of_kind = touched.filter(|(found, _)| *found == kind);
        of_kind.map(|(_, path)| path.as_str()).collect()
    };
    let mut shown = json::head_commit(commit);
    json::extend(
        &mut shown,
        json!({
            "distinct": true,
            "url": format!("{page}/commit/{}", commit.sha),
            "added": paths(ChangeKind::Added),
            "removed": paths(ChangeKind::Removed),
            "modified": paths(ChangeKind::Modified),
        }),
    );
    shown
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
