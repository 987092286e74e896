//! Pull requests: opened or adopted, marked ready, closed.

use crate::{
    engine::{
        job::{Done, Undone},
        perform::{Scene, records},
    },
    github::{NewPull, OpenedPull, PullChange, PullFilter, model::OpenState},
    messages,
};
use domain::{
    effect::ClosedWhy,
    feature::event::Event,
    ids::{IssueNumber, PullNumber},
    task,
    task::Task,
};

/// Opens the pull request of a task into the integration branch, as a draft where drafts exist.
pub(super) async fn open_pull(scene: &Scene<'_>, task: &Task, run: u64) -> Result<Done, Undone> {
    if task.opening != Some(run) {
        // The task was started again meanwhile, on another branch.
        return Ok(Done::Nothing);
    }
    let text = messages::task_pull(&scene.feature, task);
    let base = scene.key().integration_branch();
    let new = NewPull {
        title: &text.title,
        body: &text.body,
        head: &task.branch,
        base: &base,
        ready: false,
    };
    let pull = open(scene, new).await?;
    Ok(scene.task_event(
        task.id,
        task::Event::PullOpened {
            pull,
            branch: task.branch.clone(),
        },
    ))
}

/// Opens the pull request of the Feature into the default branch.
pub(super) async fn open_feature_pull(scene: &Scene<'_>, run: u64) -> Result<Done, Undone> {
    let default = scene.repo().repository().await?.default_branch;
    let opened = Some(records::settle(scene).await?);
    let spending = scene.spending().await?;
    let text = messages::feature_pull(&scene.feature, &spending, &scene.links().await?);
    let head = scene.key().integration_branch();
    let new = NewPull {
        title: &text.title,
        body: &text.body,
        head: &head,
        base: &default,
        ready: true,
    };
    if let Some(pull) = scene.feature.pull
        && scene.repo().pull(pull).await?.state == OpenState::Open
    {
        // It went back to building and comes again: the same pull request, which says what is so now.
        scene.may_write()?;
        let change = PullChange {
            title: Some(new.title),
            body: Some(new.body),
            ..PullChange::default()
        };
        scene.repo().update_pull(pull, change).await?;
        return Ok(scene.event(Event::PullOpened { run, pull, opened }));
    }
    let pull = open(scene, new).await?;
    Ok(scene.event(Event::PullOpened { run, pull, opened }))
}

async fn open(scene: &Scene<'_>, new: NewPull<'_>) -> Result<PullNumber, Undone> {
    scene.may_write()?;
    if !scene.job.is_fresh()
        && let Some(found) = scene.repo().find_pull(new.head, PullFilter::Open).await?
    {
        return Ok(found.number);
    }
    match scene.repo().create_pull(new).await? {
        OpenedPull::Opened(pull) | OpenedPull::Adopted(pull) => Ok(pull.number),
        OpenedPull::NoCommits => Err(Undone::repository(format!(
            "{} holds nothing that {} does not hold",
            new.head, new.base
        ))),
    }
}

/// Takes the draft mark off.
pub(super) async fn mark_ready(scene: &Scene<'_>, task: &Task) -> Result<Done, Undone> {
    if let Some(pull) = task.pull {
        scene.may_write()?;
        scene.repo().mark_ready(pull).await?;
    }
    Ok(Done::Nothing)
}

/// Closes a task's pull request and says why.
pub(super) async fn close_pull(
    scene: &Scene<'_>,
    task: &Task,
    pull: PullNumber,
    why: &ClosedWhy,
) -> Result<Done, Undone> {
    let text = messages::closed_pull(&scene.feature, task, why, &scene.links().await?);
    close(scene, pull, &text).await
}

/// Closes the pull request of a cancelled Feature.
pub(super) async fn close_feature_pull(scene: &Scene<'_>, pull: PullNumber) -> Result<Done, Undone> {
    let text = messages::closed_feature_pull(&scene.feature);
    close(scene, pull, &text).await
}

async fn close(scene: &Scene<'_>, pull: PullNumber, text: &str) -> Result<Done, Undone> {
    let repo = scene.repo();
    scene.may_write()?;
    if repo.pull(pull).await?.state == OpenState::Closed {
        return Ok(Done::Nothing);
    }
    // Two writes: an earlier run may have made the first and been put off before the second, which counts as no try.
    let (thread, marker) = (IssueNumber(pull.0), scene.marker());
    if repo.find_comment(thread, &marker, None).await?.is_none() {
        repo.create_comment(thread, &format!("{text}\n\n{marker}")).await?;
        scene.may_write_again().await?;
    }
    let change = PullChange {
        state: Some(OpenState::Closed),
        ..PullChange::default()
    };
    repo.update_pull(pull, change).await?;
    Ok(Done::Nothing)
}
