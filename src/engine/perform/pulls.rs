//! Opens or adopts pull requests, marks them ready, and closes them.

use crate::{
    engine::{
        job::{Done, EffectError},
        perform::{
            branches::{branch_name, push},
            context::EffectContext,
            held_ci, merge, records,
            sync::fork_of,
        },
        repository::DefaultBranch,
    },
    github::{NewPull, OpenedPull, PullChange, model::OpenState},
    messages,
};
use domain::{
    blocked::{Defect, RepositoryFault},
    effect::ClosedWhy,
    feature::event::{Event, OpenedOn},
    ids::{Emission, IssueNumber, PullNumber, Sha},
    obeyed::{ObeyedFile, obeyed_files},
    task,
    task::Task,
};
use git::Mirror;

/// Opens the pull request of a task into the integration branch, as a draft if the repository has drafts.
pub(super) async fn open_pull(
    context: &EffectContext<'_>,
    task: &Task,
    emission: Emission,
) -> Result<Done, EffectError> {
    if task.opening != Some(emission) {
        // The task was restarted meanwhile, on another branch.
        return Ok(Done::Nothing);
    }
    let obeyed = obeyed_by_task(context, task, task.head.as_ref()).await?;
    let text = messages::task_pull(&context.feature, task, &obeyed);
    let base = context.feature.integration_branch();
    let new = NewPull { title: &text.title, body: &text.body, head: &task.branch, base: &base, ready: false };
    let Some(head) = &task.head else {
        return Err(EffectError::defect(Defect::NoCommit { task: task.id }));
    };
    let pull = open(context, new, head).await?;
    let branch = task.branch.clone();
    Ok(context.task_event(task.id, task::Event::PullOpened { pull, branch }))
}

pub(super) async fn open_feature_pull(context: &EffectContext<'_>, emission: Emission) -> Result<Done, EffectError> {
    let default = context.fetch_with_default().await?;
    let settled = records::settle(context, &default).await?;
    let opened = with_ci(context, &default, settled).await?;
    let spending = context.spending().await?;
    let obeyed = obeyed_by_feature(context, &default).await?;
    let text = messages::feature_pull(&context.feature, &spending, &context.links().await?, &obeyed);
    let known = context.feature.integration_branch();
    let head = opened.branch.clone().unwrap_or(known);
    let new = NewPull { title: &text.title, body: &text.body, head: &head, base: &default.name, ready: true };
    if let Some(pull) = context.feature.pull
        && context.repo().pull(pull).await?.state == OpenState::Open
    {
        // The Feature went back to building and is ready again. The same pull request gets the current text.
        context.may_write().await?;
        let change = PullChange { title: Some(new.title), body: Some(new.body), ..PullChange::default() };
        context.repo().update_pull(pull, change).await?;
        return Ok(context.event(Event::PullOpened { emission, pull, opened }));
    }
    let pull = open(context, new, &opened.head).await?;
    Ok(context.event(Event::PullOpened { emission, pull, opened }))
}

/// Makes the commits of the integration branch again without skip instructions, if CI was held on any. They go to a
/// branch of their own, or, if the pull request is open already, to its branch.
async fn with_ci(
    context: &EffectContext<'_>,
    default: &DefaultBranch,
    opened: OpenedOn,
) -> Result<OpenedOn, EffectError> {
    let feature = &context.feature;
    let clean = held_ci::released(&default.mirror, &default.head, &opened.head).await?;
    if clean == opened.head {
        return Ok(opened);
    }
    let (name, expected_head) = match feature.pull {
        Some(_) => (feature.integration_branch(), Some(opened.head.clone())),
        None => {
            let name = feature.key.released_branch();
            let expected_head = default.mirror.rev_parse(&branch_name(&name)?).await?;
            (name, expected_head)
        }
    };
    let branch = branch_name(&name)?;
    Ok(OpenedOn { head: push(context, &branch, &clean, expected_head).await?, branch: Some(name), ..opened })
}

async fn open(context: &EffectContext<'_>, new: NewPull<'_>, head: &Sha) -> Result<PullNumber, EffectError> {
    context.may_write().await?;
    if !context.is_fresh
        && let Some(found) = context.repo().find_pull_of(new.head, head).await?
    {
        return Ok(found.number);
    }
    match context.repo().create_pull(new).await? {
        OpenedPull::Opened(pull) => {
            if pull.draft && !pull.node_id.is_empty() {
                let draft = (context.feature.key.repo, pull.number);
                context.engine.drafts.remember(draft, pull.node_id);
            }
            Ok(pull.number)
        }
        OpenedPull::Adopted(pull) => Ok(pull.number),
        OpenedPull::NoCommits => Err(EffectError::repository(RepositoryFault::NothingToMerge {
            head: new.head.to_owned(),
            base: new.base.to_owned(),
        })),
    }
}

/// Marks the pull request as ready for review. Its text names waivers, and new files that programs obey.
pub(super) async fn mark_ready(context: &EffectContext<'_>, task: &Task) -> Result<Done, EffectError> {
    if let Some(pull) = task.pull {
        let first = task.turns_of_attempt().find_map(|turn| turn.head.as_ref());
        let opened = obeyed_by_task(context, task, first).await?;
        let obeyed = obeyed_by_task(context, task, task.head.as_ref()).await?;
        if messages::waived_of(task).is_some() || obeyed != opened {
            let text = messages::task_pull(&context.feature, task, &obeyed);
            context.may_write().await?;
            let change = PullChange { body: Some(&text.body), ..PullChange::default() };
            context.repo().update_pull(pull, change).await?;
        }
        mark_pull_ready(context, pull).await?;
    }
    Ok(Done::Nothing)
}

/// Marks the pull request as ready. The first try needs no lookup of a draft that this process opened, unless GitHub
/// refuses because a person already marked it.
async fn mark_pull_ready(context: &EffectContext<'_>, pull: PullNumber) -> Result<(), EffectError> {
    context.may_write().await?;
    let opened = context.engine.drafts.take(&(context.feature.key.repo, pull)).filter(|_| context.is_fresh);
    if let Some(node_id) = opened {
        match context.repo().mark_draft_ready(&node_id).await {
            Err(error) if context.is_final(&error) => context.may_write().await?,
            marked => return Ok(marked?),
        }
    }
    Ok(context.repo().mark_ready(pull).await?)
}

/// Closes a task's pull request and says why.
pub(super) async fn close_pull(
    context: &EffectContext<'_>,
    task: &Task,
    pull: PullNumber,
    why: &ClosedWhy,
) -> Result<Done, EffectError> {
    if let Some(merged) = merge::find_unheard(context, task, Some(pull)).await? {
        return Ok(merged);
    }
    let text = messages::closed_pull(&context.feature, task, why, &context.links().await?);
    close(context, pull, &text).await
}

pub(super) async fn close_feature_pull(context: &EffectContext<'_>, pull: PullNumber) -> Result<Done, EffectError> {
    let text = messages::closed_feature_pull(&context.feature);
    close(context, pull, &text).await
}

async fn close(context: &EffectContext<'_>, pull: PullNumber, text: &str) -> Result<Done, EffectError> {
    let repo = context.repo();
    context.may_write().await?;
    if repo.pull(pull).await?.state == OpenState::Closed {
        return Ok(Done::Nothing);
    }
    // Always looked up: an earlier run may have posted the comment and then been put off, which counts as no try.
    let (thread, marker) = (IssueNumber(pull.0), context.job.marker());
    if repo.find_comment(thread, &marker).await?.is_none() {
        repo.create_comment(thread, &format!("{text}\n\n{marker}")).await?;
        context.may_write().await?;
    }
    let change = PullChange { state: Some(OpenState::Closed), ..PullChange::default() };
    repo.update_pull(pull, change).await?;
    Ok(Done::Nothing)
}

/// Returns the changed files that programs on a person's machine run or obey, of a task's branch at `head`; none
/// without a head, or if nobody has this commit any more.
async fn obeyed_by_task(
    context: &EffectContext<'_>,
    task: &Task,
    head: Option<&Sha>,
) -> Result<Vec<ObeyedFile>, EffectError> {
    let Some(head) = head else {
        return Ok(Vec::new());
    };
    let mut mirror = context.engine.mirrors.mirror(context.feature.key.repo);
    if !mirror.has_commit(head).await? {
        mirror = context.fetch_own().await?;
        if !mirror.has_commit(head).await? {
            return Ok(Vec::new());
        }
    }
    let base = fork_of(context, &mirror, task, head).await?;
    obeyed_between(&mirror, &base, head).await
}

/// Returns the same for the integration branch. `default` was fetched with the Feature's own branches.
async fn obeyed_by_feature(
    context: &EffectContext<'_>,
    default: &DefaultBranch,
) -> Result<Vec<ObeyedFile>, EffectError> {
    let Some(integration) = &context.feature.integration else {
        return Ok(Vec::new());
    };
    let (mirror, head) = (&default.mirror, &integration.head);
    match mirror.merge_base(&default.head, head).await? {
        Some(base) => obeyed_between(mirror, &base, head).await,
        None => obeyed_between(mirror, &integration.base, head).await,
    }
}

async fn obeyed_between(mirror: &Mirror, base: &Sha, head: &Sha) -> Result<Vec<ObeyedFile>, EffectError> {
    let changed = mirror.changed_files(base, head).await?;
    let paths: Vec<String> = changed.iter().map(|file| file.path.to_string()).collect();
    Ok(obeyed_files(paths.iter().map(String::as_str), &mirror.links(head).await?))
}
