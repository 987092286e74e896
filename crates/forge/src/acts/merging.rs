//! Merges pull requests, or refuses for the same reasons as GitHub.

use crate::{
    refusal::{Refusal, Result},
    site::Site,
    state::{Access, Pull, Repo, ReviewState, Role, RuleKind, State},
};
use git::bare::{BareMerge, ExpectedRef, Ident};
use std::collections::BTreeMap;

/// The way to merge a pull request.
#[derive(Clone, Debug, Default)]
pub(crate) struct MergeOrder {
    /// The expected head; another head is refused.
    pub(crate) sha: Option<String>,
    /// `merge` (the default), `squash` or `rebase`.
    pub(crate) method: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) message: Option<String>,
}

/// The facts that a merge needs.
struct Candidate {
    head: String,
    head_sha: String,
    base: String,
    base_sha: String,
    title: String,
    owner: String,
    delete_branch: bool,
}

/// A fake signature in place of GitHub's. Nobody checks it: the repository's record lists the commits that the forge
/// signed.
const SIGNATURE: &str = "-----BEGIN PGP SIGNATURE-----\n\nlocal forge\n-----END PGP SIGNATURE-----";

const NOT_MERGEABLE: &str = "Pull Request is not mergeable";

fn refused(text: impl Into<String>) -> Refusal {
    Refusal::new(405, text)
}

impl Site {
    /// Merges a pull request; returns the id of the resulting commit.
    pub(crate) async fn merge(&self, at: Access, number: u64, order: &MergeOrder) -> Result<String> {
        let _gate = self.gate(at.repo).await;
        let method = order.method.as_deref().unwrap_or("merge");
        let candidate = self.read(|state| candidate(state, at.repo, number, order, method))?;
        let sha = self.merged_commit(at, number, &candidate, order, method).await?;
        let bare = self.bare(at.repo);
        let base = format!("refs/heads/{}", candidate.base);
        self.will_move(at, Some((number, candidate.base.clone())))?;
        let updated = bare.update_ref(&base, &sha, ExpectedRef::At(&candidate.base_sha)).await;
        updated.map_err(|_| refused("Base branch was modified. Review and try the merge again."))?;
        self.record_merge(at, number, &sha)?;
        if candidate.delete_branch {
            bare.delete_ref(&format!("refs/heads/{}", candidate.head)).await?;
        }
        self.branches_moved(at).await?;
        Ok(sha)
    }

    async fn merged_commit(
        &self,
        at: Access,
        number: u64,
        one: &Candidate,
        order: &MergeOrder,
        method: &str,
    ) -> Result<String> {
        let bare = self.bare(at.repo);
        if method == "rebase" {
            let seconds = self.change(|state| state.clock.stamp()).timestamp();
            return match bare.replay(&one.base_sha, &one.head_sha, &web_flow(seconds)).await? {
                BareMerge::Clean(sha) => Ok(sha),
                BareMerge::Conflict(_) => Err(refused(NOT_MERGEABLE)),
            };
        }
        let BareMerge::Clean(tree) = bare.merge_tree(None, &one.base_sha, &one.head_sha).await? else {
            return Err(refused(NOT_MERGEABLE));
        };
        let mut parents = vec![one.base_sha.as_str()];
        let (subject, body) = if method == "squash" {
            let commits = bare.commits(Some(&one.base_sha), &one.head_sha, 250).await?;
            let list: Vec<String> = commits.iter().map(|commit| format!("* {}", commit.message)).collect();
            (format!("{} (#{number})", one.title), list.join("\n\n"))
        } else {
            parents.push(&one.head_sha);
            let subject = format!("Merge pull request #{number} from {}/{}", one.owner, one.head);
            (subject, one.title.clone())
        };
        let subject = order.title.as_ref().unwrap_or(&subject);
        let body = order.message.as_ref().unwrap_or(&body);
        let message = format!("{subject}\n\n{body}");
        let message = message.trim_end();
        self.signed_commit(at, &tree, &parents, message).await
    }
}

/// Returns the name and address of an account in commits made on the forge.
pub(super) fn ident(state: &State, user: u64, seconds: i64) -> Ident {
    let login = state.login(user);
    Ident::new(login, &format!("{user}+{login}@{}", state.noreply_host()), seconds)
}

fn candidate(state: &State, repo: u64, number: u64, order: &MergeOrder, method: &str) -> Result<Candidate> {
    let known = state.repo(repo)?;
    let (issue, pull) = state.pull(repo, number)?;
    if pull.merged.is_some() || !issue.open {
        return Err(refused(NOT_MERGEABLE));
    }
    if order.sha.as_ref().is_some_and(|sha| *sha != pull.head_sha) {
        let text = "Head branch was modified. Review and try the merge again.";
        return Err(Refusal::new(409, text));
    }
    if pull.draft {
        return Err(refused("Pull Request is still a draft"));
    }
    let (allowed, noun) = match method {
        "merge" => (known.settings.allow_merge_commit, "Merge commits"),
        "squash" => (known.settings.allow_squash_merge, "Squash merges"),
        "rebase" => (known.settings.allow_rebase_merge, "Rebase merges"),
        _ => return Err(Refusal::invalid("PullRequest", "merge_method", "invalid")),
    };
    if !allowed {
        return Err(refused(format!("{noun} are not allowed on this repository.")));
    }
    check_rules(state, known, pull)?;
    let base_sha = known.branches.get(&pull.base).cloned();
    Ok(Candidate {
        head: pull.head.clone(),
        head_sha: pull.head_sha.clone(),
        base: pull.base.clone(),
        base_sha: base_sha.ok_or_else(|| refused(NOT_MERGEABLE))?,
        title: issue.title.clone(),
        owner: state.login(known.owner).to_owned(),
        delete_branch: known.settings.delete_branch_on_merge,
    })
}

fn check_rules(state: &State, repo: &Repo, pull: &Pull) -> Result {
    for rule in repo.rules_for(&pull.base) {
        match rule {
            RuleKind::RequiredChecks(names) => {
                if let Some(name) = names.iter().find(|name| !is_green(repo, &pull.head_sha, name)) {
                    return Err(refused(format!("Required status check \"{name}\" is expected.")));
                }
            }
            RuleKind::PullRequest { approvals } if approvals_of(state, repo, pull) < *approvals => {
                let reviews = if *approvals == 1 { "review is" } else { "reviews are" };
                return Err(refused(format!(
                    "At least {approvals} approving {reviews} required by reviewers with write access."
                )));
            }
            RuleKind::Creation | RuleKind::PullRequest { .. } | RuleKind::RequiredSignatures => {}
        }
    }
    Ok(())
}

fn is_green(repo: &Repo, sha: &str, name: &str) -> bool {
    let mut runs = repo.checks.values().rev();
    let run = runs.find(|run| run.head_sha == sha && run.name == name);
    let conclusion = run.and_then(|run| run.conclusion.as_deref());
    let statuses = repo.statuses.iter().filter(|one| one.sha == sha && one.context == name);
    let status = statuses.max_by_key(|one| one.id);
    matches!(conclusion, Some("success" | "neutral" | "skipped")) || status.is_some_and(|one| one.state == "success")
}

/// Counts the approvals by those who may write: people by their role, Apps by write access to contents.
fn approvals_of(state: &State, repo: &Repo, pull: &Pull) -> u64 {
    let mut latest: BTreeMap<u64, ReviewState> = BTreeMap::new();
    for review in &pull.reviews {
        if review.state != ReviewState::Commented {
            latest.insert(review.user, review.state);
        }
    }
    let is_bot = |app: u64, user: u64| state.apps.get(&app).is_some_and(|app| app.bot == user);
    let writes = |user: u64| {
        let mut installations = state.installations.values();
        installations.any(|one| is_bot(one.app, user) && state.covers(one, repo.id) && one.writes("contents"))
    };
    let counts = |user: u64| state.role(repo, user) >= Role::Write || writes(user);
    latest.retain(|user, review| *review == ReviewState::Approved && counts(*user));
    u64::try_from(latest.len()).unwrap_or(u64::MAX)
}

impl Site {
    /// Returns the name and address of the actor, with the current time.
    pub(crate) fn own_ident(&self, at: Access) -> Ident {
        let seconds = self.change(|state| state.clock.stamp()).timestamp();
        self.read(|state| ident(state, at.by.user, seconds))
    }

    /// Creates a signed commit of `tree` that is on no branch.
    pub(crate) async fn signed_commit(
        &self,
        at: Access,
        tree: &str,
        parents: &[&str],
        message: &str,
    ) -> Result<String> {
        let (bare, author) = (self.bare(at.repo), self.own_ident(at));
        let plain = bare.commit_tree(tree, parents, &author, &web_flow(author.seconds), message).await?;
        let sha = bare.sign(&plain, SIGNATURE).await?;
        self.change(|state| Ok::<_, Refusal>(state.repo_mut(at.repo)?.signed.insert(sha.clone())))?;
        Ok(sha)
    }
}

/// Returns the committer of commits that the forge creates, as on GitHub.
fn web_flow(seconds: i64) -> Ident {
    Ident::new("GitHub", "noreply@github.com", seconds)
}
