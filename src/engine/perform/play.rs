//! The Player's part of a turn: a fresh checkout, its work taken out, checked, recorded, and pushed.
//!
//! What a Player made is kept in the mirror and written down before it is pushed, so that no crash costs a run twice.

use crate::{
    agents::prompt::Left,
    config::{RepositorySettings, Role},
    engine::{
        Engine,
        job::{Done, Job, Undone},
        perform::{
            Scene,
            ask::Question,
            finished,
            finished::{Finished, Recorded},
            ground::{Found, Ground, ground},
            inspect,
            push::{Landed, push},
            turn,
        },
    },
    messages,
    messages::CommitKind,
};
use domain::{
    blocked::{BlockReason, Cut},
    decision::Issue,
    report,
    report::PlayerReport,
    task,
    task::{Played, Task, Turn},
};
use git::{CommitRequest, Prepared};
use std::time::Duration;

/// The trailer of a commit that holds what a run left that was not done.
pub(super) const PARTIAL: &str = "AutoBuild-Partial";

/// How often a finished run is tried to be kept, beside the first: with the usual waits for five minutes.
const KEEPING: u32 = 5;

pub(super) async fn play(scene: &Scene<'_>, task: &Task, run: u64) -> Result<Done, Undone> {
    if let Some(finished) = Finished::of(scene, &scene.job.effect).await? {
        return publish(scene, task, run, finished).await;
    }
    let turn = task
        .last_turn()
        .ok_or_else(|| Undone::defect(format!("{} has no open turn", task.id)))?;
    let ground = match ground(scene, task, turn).await? {
        Found::Ground(ground) => *ground,
        Found::Overtaken(head) => return Ok(ended(scene, task, run, Played::Overtaken { head })),
    };
    if let Some(finished) = Finished::unpushed(scene, task, turn, &ground).await? {
        finished.write_down(scene).await?;
        return publish(scene, task, run, finished).await;
    }
    // What the commit needs of GitHub is asked before the run, so that nothing of it can keep the run from being kept.
    turn::author(scene).await?;
    let settings = scene.settings();
    match ask(scene, task, turn, &ground, &settings).await {
        Ok(report) => take(scene, task, run, turn, &ground, report).await,
        Err(undone) if undone.left_work() => {
            if let Err(error) = save_partial(scene, task, turn, ground, &settings).await {
                tracing::warn!(id = %scene.job.effect.id, %error, "what a failed Player left could not be saved");
            }
            Err(undone)
        }
        Err(undone) => Err(undone),
    }
}

fn ended(scene: &Scene<'_>, task: &Task, run: u64, outcome: Played) -> Done {
    scene.task_event(
        task.id,
        task::Event::Played {
            run,
            outcome: Box::new(outcome),
        },
    )
}

async fn ask(
    scene: &Scene<'_>,
    task: &Task,
    turn: &Turn,
    ground: &Ground,
    settings: &RepositorySettings,
) -> Result<PlayerReport, Undone> {
    let schema = report::schema();
    let mut prompt = ground.prompt(scene, task, turn, settings);
    if let Some((cut, left)) = before(scene, task, ground).await? {
        prompt = prompt.continued(cut, left);
    }
    let question = Question {
        role: Role::Player,
        task: Some(task.id),
        turn: turn.number,
        checkout: ground.checkout.path(),
        part: "",
        prompt,
        schema,
    };
    let read = |answer: &serde_json::Value| report::parse_report(answer).map_err(|mistakes| mistakes.to_string());
    scene.ask(settings, question, read).await
}

/// What cut an earlier run of this turn short, if this one goes on from there, and what that one left. A turn that a
/// person resumed is another effect: its commit alone tells.
async fn before(scene: &Scene<'_>, task: &Task, ground: &Ground) -> Result<Option<(Cut, Left)>, Undone> {
    let cut = scene.cuts(Some(task.id)).await?.pop();
    Ok(match ground.left {
        Left::Changes => Some((cut.unwrap_or(Cut::Other), Left::Changes)),
        // Who waited for its model, or failed, before it changed anything begins anew.
        Left::Nothing => cut.filter(|cut| cut.is_limit()).map(|cut| (cut, Left::Nothing)),
    })
}

/// What became of the work in a checkout.
enum Kept {
    /// It is kept, written down, and may be pushed.
    Finished(Finished),
    /// There is nothing that may be pushed.
    Ended(Played),
}

/// Keeps a finished run, and publishes it if nothing forbids that. What fails on our own machine is tried again while the
/// run is still in hand: another run would be paid again.
async fn take(
    scene: &Scene<'_>,
    task: &Task,
    run: u64,
    turn: &Turn,
    ground: &Ground,
    report: PlayerReport,
) -> Result<Done, Undone> {
    let mut tries = 0;
    let kept = loop {
        match keep(scene, task, turn, ground, &report).await {
            Err(Undone::Later { fault, .. }) if tries < KEEPING => {
                tracing::warn!(id = %scene.job.effect.id, %fault, "a finished run is not kept yet, and is tried again");
                let wait = scene.engine.settings.backoff.after(tries, 0.0);
                scene
                    .job
                    .sleep(Duration::from_millis(u64::try_from(wait).unwrap_or(0)))
                    .await?;
                tries += 1;
            }
            kept => break kept?,
        }
    };
    match kept {
        Kept::Finished(finished) => publish(scene, task, run, finished).await,
        Kept::Ended(outcome) => Ok(ended(scene, task, run, outcome)),
    }
}

/// Commits what the Player left in its checkout, and writes it down if nothing forbids to push it.
async fn keep(
    scene: &Scene<'_>,
    task: &Task,
    turn: &Turn,
    ground: &Ground,
    report: &PlayerReport,
) -> Result<Kept, Undone> {
    let (base, report) = (ground.start.clone(), report.clone());
    let (prepared, mut items) = commit(scene, task, turn, ground, CommitKind::Whole).await?;
    let Some(prepared) = prepared else {
        return Ok(Kept::Ended(match items.is_empty() {
            true => Played::NoChange { base, report },
            false => Played::Held { base, report, items },
        }));
    };
    let head = prepared.sha().clone();
    prepared.keep(&held_id(scene.job)).await?;
    items.extend(inspect::findings(scene, &scene.settings(), &prepared, ground).await?);
    if !items.is_empty() {
        return Ok(Kept::Ended(Played::Held { base, report, items }));
    }
    let finished = Finished {
        base,
        head,
        branch: task.branch.clone(),
        stood: ground.stood.clone(),
        report,
    };
    finished.write_down(scene).await?;
    Ok(Kept::Finished(finished))
}

/// The commit of what is in the checkout, and what forbids to take it as it is.
async fn commit(
    scene: &Scene<'_>,
    task: &Task,
    turn: &Turn,
    ground: &Ground,
    kind: CommitKind,
) -> Result<(Option<Prepared>, Vec<Issue>), Undone> {
    let changes = ground.checkout.take_out(&git::TakeOutLimits::default()).await?;
    let items: Vec<Issue> = inspect::refused(changes.findings(), &scene.engine.secrets);
    if changes.rejected() {
        return Ok((None, items));
    }
    let mut more = vec![
        ("AutoBuild-Task", task.id.to_string()),
        ("AutoBuild-Turn", turn.number.to_string()),
    ];
    if kind == CommitKind::Partial {
        more.push((PARTIAL, "true".to_owned()));
    }
    let request = CommitRequest {
        parents: ground.parents(),
        message: scene
            .engine
            .secrets
            .mask(&messages::turn_commit(&scene.feature, task, turn.number, kind)),
        trailers: turn::trailers(scene, &more),
        author: turn::author(scene).await?,
        at: scene.engine.now(),
    };
    match ground.mirror.commit_changes(&ground.checkout, &changes, &request).await {
        Ok(prepared) => Ok((prepared, items)),
        Err(git::CommitError::TakeOut(error)) => Err(error.into()),
        Err(git::CommitError::Git(error)) => Err(error.into()),
    }
}

fn held_id(job: &Job) -> String {
    job.effect.id.replace('/', "-")
}

/// Pushes a recorded commit with a lease on where the branch stood.
async fn publish(scene: &Scene<'_>, task: &Task, run: u64, finished: Finished) -> Result<Done, Undone> {
    let Finished {
        base,
        head,
        branch: _,
        stood,
        report,
    } = finished;
    let outcome = match push(scene, task, &head, stood).await? {
        Landed::There => Played::Pushed { base, head, report },
        Landed::Overtaken(head) => Played::Overtaken { head },
        Landed::Rejected(rule) => {
            let reason = BlockReason::BranchRule { rule };
            return Ok(scene.task_event(task.id, task::Event::Stuck { run, reason }));
        }
    };
    Ok(ended(scene, task, run, outcome))
}

/// A Player that ended badly leaves what it did for the next try.
async fn save_partial(
    scene: &Scene<'_>,
    task: &Task,
    turn: &Turn,
    ground: Ground,
    settings: &RepositorySettings,
) -> Result<(), Undone> {
    let (Some(prepared), items) = commit(scene, task, turn, &ground, CommitKind::Partial).await? else {
        return Ok(());
    };
    prepared
        .keep(&format!("{}-partial-{}", held_id(scene.job), scene.job.effect.fence))
        .await?;
    let forbidden = !items.is_empty() || !inspect::findings(scene, settings, &prepared, &ground).await?.is_empty();
    // Half a resolution is no resolution: a conflict starts over from both of its sides.
    if forbidden || ground.other.is_some() {
        return Ok(());
    }
    let head = prepared.sha().clone();
    if let Landed::There = push(scene, task, &head, ground.stood).await? {
        finished::write_down(scene, &Recorded::Partial { head }).await?;
    }
    Ok(())
}

/// The event of a Player effect that is given up, with the commit that its last try left.
pub(super) async fn failed(engine: &Engine, job: &Job, run: u64, reason: BlockReason) -> task::Event {
    if !matches!(
        reason,
        BlockReason::AgentFailed { .. } | BlockReason::BudgetSpent { .. }
    ) {
        return task::Event::Stuck { run, reason };
    }
    let stored = engine.store.effect(&job.effect.id).await.ok().flatten();
    let text = stored.and_then(|effect| effect.external_id);
    let partial = match text.and_then(|text| serde_json::from_str(&text).ok()) {
        Some(Recorded::Partial { head }) => Some(head),
        Some(Recorded::Finished { .. }) | None => None,
    };
    let outcome = if let BlockReason::AgentFailed { failure, printed } = reason {
        Played::Failed {
            failure,
            printed,
            partial,
        }
    } else {
        Played::Stopped { reason, partial }
    };
    let outcome = Box::new(outcome);
    task::Event::Played { run, outcome }
}
