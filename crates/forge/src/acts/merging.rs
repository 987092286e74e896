//! Merging pull requests, and all the reasons not to.

use super::super::{
    refusal::Refusal,
    site::Site,
    state::{Actor, ReviewState, Role, RuleKind, State},
};
use crate::acts::limits::check_writable;
use git::bare::{Ident, Merged, Replayed};
use std::collections::BTreeMap;

/// How a pull request is to be merged.
#[derive(Clone, Debug, Default)]
pub(crate) struct MergeOrder {
    /// The head that was looked at; another one is refused.
    pub(crate) sha: Option<String>,
    /// `merge` (also when absent), `squash` or `rebase`.
    pub(crate) method: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) message: Option<String>,
}

/// What merging needs to know.
struct Candidate {
    head: String,
    head_sha: String,
    base: String,
    base_sha: String,
    title: String,
    owner: String,
    delete_branch: bool,
}

fn refused(text: impl Into<String>) -> Refusal {
    Refusal::new(405, text)
}

impl Site {
    /// Merges; gives the id of the resulting commit.
    pub(crate) async fn merge(&self, by: Actor, repo: u64, number: u64, order: &MergeOrder) -> Result<String, Refusal> {
        let _gate = self.gate(repo).await;
        let method = order.method.as_deref().unwrap_or("merge");
        let candidate = self.read(|state| candidate(state, repo, number, order, method))?;
        let sha = self.merged_commit(by, number, repo, &candidate, order, method).await?;
        let bare = self.bare(repo);
        let base = format!("refs/heads/{}", candidate.base);
        if bare
            .update_ref(&base, &sha, Some(Some(&candidate.base_sha)))
            .await
            .is_err()
        {
            return Err(refused("Base branch was modified. Review and try the merge again."));
        }
        self.record_merge(by, repo, number, &sha)?;
        if candidate.delete_branch {
            bare.delete_ref(&format!("refs/heads/{}", candidate.head)).await?;
        }
        self.branches_moved(by, repo).await?;
        Ok(sha)
    }

    async fn merged_commit(
        &self,
        by: Actor,
        number: u64,
        repo: u64,
        one: &Candidate,
        order: &MergeOrder,
        method: &str,
    ) -> Result<String, Refusal> {
        let bare = self.bare(repo);
        let seconds = self.change(|state| state.clock.stamp()).timestamp();
        let author = self.read(|state| ident(state, by.user, seconds));
        let web = Ident::new("GitHub", "noreply@github.com", seconds);
        let conflict = || refused("Pull Request is not mergeable");
        if method == "rebase" {
            return match bare.replay(&one.base_sha, &one.head_sha, &web).await? {
                Replayed::Clean(sha) => Ok(sha),
                Replayed::Conflict(_) => Err(conflict()),
            };
        }
        let Merged::Clean(tree) = bare.merge_tree(None, &one.base_sha, &one.head_sha).await? else {
            return Err(conflict());
        };
        let (subject, body, parents) = match method {
            "squash" => {
                let commits = bare.commits(Some(&one.base_sha), &one.head_sha, 250).await?;
                let list: Vec<String> = commits.iter().map(|commit| format!("* {}", commit.message)).collect();
                (
                    format!("{} (#{number})", one.title),
                    list.join("\n\n"),
                    vec![one.base_sha.as_str()],
                )
            }
            _ => (
                format!("Merge pull request #{number} from {}/{}", one.owner, one.head),
                one.title.clone(),
                vec![one.base_sha.as_str(), one.head_sha.as_str()],
            ),
        };
        let subject = order.title.clone().unwrap_or(subject);
        let body = order.message.clone().unwrap_or(body);
        let message = format!("{subject}\n\n{body}");
        Ok(bare
            .commit_tree(&tree, &parents, &author, &web, message.trim_end())
            .await?)
    }
}

/// The name and address under which an account's commits made on the forge stand.
pub(super) fn ident(state: &State, user: u64, seconds: i64) -> Ident {
    let login = state.login(user);
    Ident::new(login, &format!("{user}+{login}@users.noreply.github.com"), seconds)
}

fn candidate(state: &State, repo: u64, number: u64, order: &MergeOrder, method: &str) -> Result<Candidate, Refusal> {
    let known = state.repo(repo)?;
    check_writable(known)?;
    let (issue, pull) = state.pull(repo, number)?;
    if pull.merged.is_some() || !issue.open {
        return Err(refused("Pull Request is not mergeable"));
    }
    if order.sha.as_ref().is_some_and(|sha| *sha != pull.head_sha) {
        return Err(Refusal::new(
            409,
            "Head branch was modified. Review and try the merge again.",
        ));
    }
    if pull.draft {
        return Err(refused("Pull Request is still a draft"));
    }
    let (allowed, refusal) = match method {
        "merge" => (
            known.settings.allow_merge_commit,
            "Merge commits are not allowed on this repository.",
        ),
        "squash" => (
            known.settings.allow_squash_merge,
            "Squash merges are not allowed on this repository.",
        ),
        "rebase" => (
            known.settings.allow_rebase_merge,
            "Rebase merges are not allowed on this repository.",
        ),
        _ => return Err(Refusal::invalid("PullRequest", "merge_method", "invalid")),
    };
    if !allowed {
        return Err(refused(refusal));
    }
    check_rules(state, repo, number, method)?;
    let base_sha = known
        .branches
        .get(&pull.base)
        .cloned()
        .ok_or_else(|| refused("Pull Request is not mergeable"))?;
    Ok(Candidate {
        head: pull.head.clone(),
        head_sha: pull.head_sha.clone(),
        base: pull.base.clone(),
        base_sha,
        title: issue.title.clone(),
        owner: state.login(known.owner).to_owned(),
        delete_branch: known.settings.delete_branch_on_merge,
    })
}

fn check_rules(state: &State, repo: u64, number: u64, method: &str) -> Result<(), Refusal> {
    let known = state.repo(repo)?;
    let (_, pull) = state.pull(repo, number)?;
    for rule in known.rules_for(&pull.base) {
        match rule {
            RuleKind::MergeQueue => return Err(refused("Changes must be made through the merge queue")),
            RuleKind::RequiredChecks(names) => {
                if let Some(name) = names.iter().find(|name| !is_green(known, &pull.head_sha, name)) {
                    return Err(refused(format!("Required status check \"{name}\" is expected.")));
                }
            }
            RuleKind::PullRequest { approvals } if approvals_of(state, repo, number)? < *approvals => {
                let noun = if *approvals == 1 {
                    "approving review is"
                } else {
                    "approving reviews are"
                };
                return Err(refused(format!(
                    "At least {approvals} {noun} required by reviewers with write access."
                )));
            }
            RuleKind::LinearHistory if method == "merge" => {
                return Err(refused("Merge commits are not allowed on this branch."));
            }
            RuleKind::Creation
            | RuleKind::Deletion
            | RuleKind::PullRequest { .. }
            | RuleKind::NonFastForward
            | RuleKind::RequiredSignatures
            | RuleKind::LinearHistory => {}
        }
    }
    Ok(())
}

fn is_green(repo: &super::super::state::Repo, sha: &str, name: &str) -> bool {
    let runs = repo
        .checks
        .values()
        .filter(|run| run.head_sha == sha && run.name == name);
    let by_run = runs
        .max_by_key(|run| run.id)
        .is_some_and(|run| matches!(run.conclusion.as_deref(), Some("success" | "neutral" | "skipped")));
    let statuses = repo.statuses.iter().filter(|one| one.sha == sha && one.context == name);
    by_run
        || statuses
            .max_by_key(|one| one.id)
            .is_some_and(|one| one.state == "success")
}

/// How many approve whose approval counts: those who may write, Apps by their right to write contents.
fn approvals_of(state: &State, repo: u64, number: u64) -> Result<u64, Refusal> {
    let known = state.repo(repo)?;
    let (_, pull) = state.pull(repo, number)?;
    let mut latest: BTreeMap<u64, ReviewState> = BTreeMap::new();
    for review in &pull.reviews {
        if !matches!(review.state, ReviewState::Pending | ReviewState::Commented) {
            latest.insert(review.user, review.state);
        }
    }
    let counts = |user: u64| {
        state.role(known, user) >= Role::Write
            || state.installations.values().any(|one| {
                state.apps.get(&one.app).is_some_and(|app| app.bot == user)
                    && state.covers(one, repo)
                    && one.permissions.get("contents").is_some_and(|level| level == "write")
            })
    };
    let approving = latest
        .iter()
        .filter(|(user, review)| **review == ReviewState::Approved && counts(**user));
    Ok(u64::try_from(approving.count()).unwrap_or(u64::MAX))
}
