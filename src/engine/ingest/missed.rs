//! Builds the missed delivery for a difference that a sweep found, with the current objects from GitHub.

use crate::{
    engine::{Engine, apply::Fact, ingest::context::fact, job::EffectError},
    github::{
        BranchMove, BranchMoveKind, GithubError, Repo,
        model::{AccountType, Actor, OpenState},
        webhook::{
            EventOrigin, Inbound, IssueEvent, PullEvent, Push, PushKind, RepoEvent, RepositoryEvent, ReviewChange,
        },
    },
};
use domain::{
    feature::{
        CancelledWhy, Feature,
        event::Event,
        sweep::{Difference, RemoteAccount, RemoteFact},
    },
    ids::{IssueNumber, PullNumber, ReviewId, Sha, User, UserId},
    task,
};

/// The delivery or fact that is made from a difference.
pub enum MissedDelivery {
    Delivery(Box<Inbound>),
    /// A fact for which GitHub no longer has the objects of a delivery.
    Fact(Box<Fact>),
    /// GitHub has changed since, or AutoBuild itself caused the difference.
    Nothing,
}

/// Returns the content of the missed delivery for a difference.
pub async fn inbound(
    engine: &Engine,
    feature: &Feature,
    difference: &Difference,
) -> Result<MissedDelivery, EffectError> {
    let repo = engine.autobuild.repo(feature.installation, feature.key.repo);
    let origin = Box::new(EventOrigin {
        installation: feature.installation,
        repo: repo.repository().await?,
        sender: sender(difference.by.as_ref()),
    });
    let issue = feature.key.issue;
    let event = match &difference.fact {
        RemoteFact::BranchMoved(branch) => return find_push(&repo, origin, feature, branch).await,
        RemoteFact::BranchDeleted => return deleted(&repo, origin, feature).await,
        RemoteFact::DefaultMoved(head) => return Ok(default_moved(origin, head)),
        RemoteFact::PullClosed(number) => return closed(engine, &repo, origin, feature, *number).await,
        RemoteFact::PullReopened(number) => return reopened(&repo, origin, *number).await,
        RemoteFact::Commented(on, id) => {
            let comment = repo.comment(*id).await?;
            let issue = repo.issue(on.map_or(issue, |pull| IssueNumber(pull.0))).await?;
            return Ok(delivery(origin, RepoEvent::CommentCreated { issue, comment }));
        }
        RemoteFact::Reviewed(pull, id) => return review(&repo, origin, *pull, *id, ReviewChange::Submitted).await,
        RemoteFact::Dismissed(pull, id) => return review(&repo, origin, *pull, *id, ReviewChange::Dismissed).await,
        RemoteFact::IssueGone => return find_deletion(engine, &repo, feature).await,
        RemoteFact::Archived => {
            let event = RepositoryEvent::Archived;
            return Ok(delivery(origin, RepoEvent::Repository(event)));
        }
        RemoteFact::Unlabeled(label) => IssueEvent::Unlabeled(Some(label.clone())),
        RemoteFact::IssueClosed => IssueEvent::Closed,
    };
    let issue = repo.issue(issue).await?;
    if event == IssueEvent::Closed && issue.state == OpenState::Open {
        return Ok(MissedDelivery::Nothing);
    }
    Ok(delivery(origin, RepoEvent::Issue { issue, event }))
}

fn delivery(origin: Box<EventOrigin>, event: RepoEvent) -> MissedDelivery {
    MissedDelivery::Delivery(Box::new(Inbound::Repo(origin, event)))
}

/// Returns the account as deliveries name it; GitHub's account for deleted ones if there is none.
fn sender(by: Option<&RemoteAccount>) -> Actor {
    let Some(by) = by else {
        let login = "ghost".to_owned();
        return Actor { user: User { id: UserId(10_137), login }, kind: AccountType::Person };
    };
    Actor { user: by.user.clone(), kind: by.kind }
}

/// Returns the push of a branch whose head differs. GitHub's activity list names who pushed. This distinguishes
/// people's pushes from those of AutoBuild that are not recorded yet.
async fn find_push(
    repo: &Repo<'_>,
    mut origin: Box<EventOrigin>,
    feature: &Feature,
    branch: &str,
) -> Result<MissedDelivery, EffectError> {
    let moves = repo.moves(branch).await?;
    let of_task = feature.tasks.iter().find(|task| task.branch == branch);
    let known = match of_task {
        Some(task) => task.head.as_ref(),
        None => feature.integration.as_ref().map(|integration| &integration.head),
    };
    let unknown: Vec<&BranchMove> = moves.iter().take_while(|one| one.after.as_ref() != known).collect();
    let Some(newest) = unknown.first() else {
        return Ok(MissedDelivery::Nothing);
    };
    let is_forced = unknown.iter().any(|one| one.kind == BranchMoveKind::ForcePush);
    if let Some(actor) = &newest.actor {
        origin.sender = actor.clone();
    }
    let push = Push {
        branch: branch.to_owned(),
        before: newest.before.clone(),
        after: newest.after.clone(),
        kind: if is_forced { PushKind::Forced } else { PushKind::FastForward },
        paths: None,
    };
    Ok(delivery(origin, RepoEvent::Push(push)))
}

async fn deleted(
    repo: &Repo<'_>,
    mut origin: Box<EventOrigin>,
    feature: &Feature,
) -> Result<MissedDelivery, EffectError> {
    let branch = feature.integration_branch();
    if repo.branch_head(&branch).await?.is_some() {
        return Ok(MissedDelivery::Nothing);
    }
    let last = repo.moves(&branch).await?.into_iter().next();
    if let Some(actor) = last.as_ref().and_then(|one| one.actor.as_ref()) {
        origin.sender = actor.clone();
    }
    let push =
        Push { before: last.and_then(|one| one.before), after: None, kind: PushKind::Deleted, paths: None, branch };
    Ok(delivery(origin, RepoEvent::Push(push)))
}

fn default_moved(origin: Box<EventOrigin>, head: &Sha) -> MissedDelivery {
    let push = Push {
        branch: origin.repo.default_branch.clone(),
        before: None,
        after: Some(head.clone()),
        kind: PushKind::FastForward,
        paths: None,
    };
    delivery(origin, RepoEvent::Push(push))
}

async fn closed(
    engine: &Engine,
    repo: &Repo<'_>,
    origin: Box<EventOrigin>,
    feature: &Feature,
    number: PullNumber,
) -> Result<MissedDelivery, EffectError> {
    let pull = Box::new(repo.pull(number).await?);
    let event = PullEvent::Closed;
    if pull.state == OpenState::Open {
        return Ok(MissedDelivery::Nothing);
    }
    let task = feature.tasks.iter().find(|task| task.pull == Some(number));
    if let (Some(task), true, Some(commit)) = (task, pull.is_merged(), &pull.merge_commit_sha)
        && origin.sender.kind == AccountType::Bot
        && origin.sender.is(engine.autobuild.bot(origin.installation).await?)
    {
        // The end of the merge's effect was lost, and deliveries about our own acts are ignored.
        let event = task::Event::Merged { emission: task.emitted, commit: commit.clone() };
        let event = Event::Task { task: task.id, event };
        let cause = format!("pull/{number}/merged");
        return Ok(MissedDelivery::Fact(Box::new(fact(engine, event, cause, &origin.sender.user))));
    }
    Ok(delivery(origin, RepoEvent::Pull { pull, event }))
}

async fn reopened(
    repo: &Repo<'_>,
    origin: Box<EventOrigin>,
    number: PullNumber,
) -> Result<MissedDelivery, EffectError> {
    let pull = Box::new(repo.pull(number).await?);
    let event = PullEvent::Reopened;
    Ok(match pull.state {
        OpenState::Open => delivery(origin, RepoEvent::Pull { pull, event }),
        OpenState::Closed => MissedDelivery::Nothing,
    })
}

async fn review(
    repo: &Repo<'_>,
    origin: Box<EventOrigin>,
    number: PullNumber,
    id: ReviewId,
    event: ReviewChange,
) -> Result<MissedDelivery, EffectError> {
    let (pull, review) = (Box::new(repo.pull(number).await?), repo.review_of(number, id).await?);
    Ok(delivery(origin, RepoEvent::Review { pull, review, event }))
}

/// Asks for the issue once more: a transferred one is answered with a redirect.
async fn find_deletion(engine: &Engine, repo: &Repo<'_>, feature: &Feature) -> Result<MissedDelivery, EffectError> {
    match repo.issue(feature.key.issue).await {
        Ok(_) => Ok(MissedDelivery::Nothing),
        Err(GithubError::Gone | GithubError::NotFound | GithubError::Refused { status: 300..=399, .. }) => {
            let event = Event::Cancelled(CancelledWhy::IssueGone);
            let by = sender(None).user;
            Ok(MissedDelivery::Fact(Box::new(fact(engine, event, "issue/deleted".to_owned(), &by))))
        }
        Err(error) => Err(error.into()),
    }
}
