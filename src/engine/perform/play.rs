//! The Player's part of a turn: a fresh checkout, its work taken out, checked, recorded, and pushed.
//!
//! What a Player made is kept in the mirror and written down before it is pushed, so that no crash costs a run twice.

use crate::agents::prompt::Left;
use crate::config::RepositorySettings;
use crate::config::Role;
use crate::domain::blocked::BlockReason;
use crate::domain::blocked::Cut;
use crate::domain::decision::Issue;
use crate::domain::ids::Sha;
use crate::domain::report;
use crate::domain::report::PlayerReport;
use crate::domain::task;
use crate::domain::task::Played;
use crate::domain::task::Task;
use crate::domain::task::Turn;
use crate::engine::Engine;
use crate::engine::job::Done;
use crate::engine::job::Job;
use crate::engine::job::Undone;
use crate::engine::perform::Scene;
use crate::engine::perform::ask::Question;
use crate::engine::perform::ground::Found;
use crate::engine::perform::ground::Ground;
use crate::engine::perform::ground::ground;
use crate::engine::perform::inspect;
use crate::engine::perform::push::Landed;
use crate::engine::perform::push::push;
use crate::engine::perform::turn;
use crate::git::CommitRequest;
use crate::git::Prepared;
use crate::messages;
use crate::messages::CommitKind;
use serde::Deserialize;
use serde::Serialize;

/// The trailer of a commit that holds what a run left that was not done.
pub(super) const PARTIAL: &str = "AutoBuild-Partial";

/// What is written down of a run before it is pushed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Recorded {
    /// A finished run, its commit kept in the mirror.
    Finished {
        /// The commit it started from.
        base: Sha,
        /// Its commit.
        head: Sha,
        /// Where the branch stood; none if it did not exist.
        stood: Option<Sha>,
        /// What the Player says.
        report: Box<PlayerReport>,
    },
    /// A run that ended badly with a changed tree, pushed for the next try.
    Partial {
        /// The commit.
        head: Sha,
    },
}

pub(super) async fn play(scene: &Scene<'_>, task: &Task, run: u64) -> Result<Done, Undone> {
    if let Some(Recorded::Finished {
        base,
        head,
        stood,
        report,
    }) = recorded(scene.job)
    {
        return publish(scene, task, run, base, head, stood, *report).await;
    }
    let turn = task.last_turn().ok_or_else(|| Undone::Refused {
        why: format!("{} has no open turn", task.id),
    })?;
    let ground = match ground(scene, task, turn).await? {
        Found::Ground(ground) => *ground,
        Found::Overtaken(head) => return Ok(ended(scene, task, run, Played::Overtaken { head })),
    };
    let settings = scene.settings();
    match ask(scene, task, turn, &ground, &settings).await {
        Ok(report) => take(scene, task, run, turn, ground, &settings, report).await,
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

fn recorded(job: &Job) -> Option<Recorded> {
    job.effect
        .external_id
        .as_deref()
        .and_then(|text| serde_json::from_str(text).ok())
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

/// Commits what the Player left in its checkout, and publishes it if nothing forbids that.
async fn take(
    scene: &Scene<'_>,
    task: &Task,
    run: u64,
    turn: &Turn,
    ground: Ground,
    settings: &RepositorySettings,
    report: PlayerReport,
) -> Result<Done, Undone> {
    let base = ground.start.clone();
    let (prepared, mut items) = commit(scene, task, turn, &ground, CommitKind::Whole).await?;
    let Some(prepared) = prepared else {
        let outcome = match items.is_empty() {
            true => Played::NoChange { base, report },
            false => Played::Held { base, report, items },
        };
        return Ok(ended(scene, task, run, outcome));
    };
    let head = prepared.sha().clone();
    prepared.keep(&held_id(scene.job)).await?;
    items.extend(inspect::findings(scene, settings, &prepared, &ground).await?);
    if !items.is_empty() {
        return Ok(ended(scene, task, run, Played::Held { base, report, items }));
    }
    let recorded = Recorded::Finished {
        base: base.clone(),
        head: head.clone(),
        stood: ground.stood.clone(),
        report: Box::new(report.clone()),
    };
    record(scene, &recorded).await?;
    publish(scene, task, run, base, head, ground.stood, report).await
}

/// The commit of what is in the checkout, and what forbids to take it as it is.
async fn commit(
    scene: &Scene<'_>,
    task: &Task,
    turn: &Turn,
    ground: &Ground,
    kind: CommitKind,
) -> Result<(Option<Prepared>, Vec<Issue>), Undone> {
    let changes = ground.checkout.take_out(&crate::git::TakeOutLimits::default()).await?;
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
        Err(crate::git::CommitError::TakeOut(error)) => Err(error.into()),
        Err(crate::git::CommitError::Git(error)) => Err(error.into()),
    }
}

fn held_id(job: &Job) -> String {
    job.effect.id.replace('/', "-")
}

async fn record(scene: &Scene<'_>, recorded: &Recorded) -> Result<(), Undone> {
    let text = serde_json::to_string(recorded).map_err(|error| Undone::Refused {
        why: format!("the run cannot be written down: {error}"),
    })?;
    match scene.engine.store.record_external(&scene.job.hold, &text).await? {
        crate::store::Fenced::Written => Ok(()),
        crate::store::Fenced::Lost => Err(Undone::Stopped),
    }
}

/// Pushes a recorded commit with a lease on where the branch stood.
async fn publish(
    scene: &Scene<'_>,
    task: &Task,
    run: u64,
    base: Sha,
    head: Sha,
    stood: Option<Sha>,
    report: PlayerReport,
) -> Result<Done, Undone> {
    let pushed = push(scene, task, &head, stood).await?;
    let outcome = match pushed {
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
        record(scene, &Recorded::Partial { head }).await?;
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
    let outcome = Box::new(match reason {
        BlockReason::AgentFailed { failure, printed } => Played::Failed {
            failure,
            printed,
            partial,
        },
        reason => Played::Stopped { reason, partial },
    });
    task::Event::Played { run, outcome }
}
