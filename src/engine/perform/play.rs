//! The Player's part of a turn: it gets a fresh checkout; its work is taken out, checked, recorded and pushed.
//!
//! The commit is kept in the mirror and recorded before it is pushed, so that after a crash no run must be paid for
//! again.

use crate::{
    agents::prompt::Left,
    config::{RepositorySettings, Role},
    engine::{
        Engine,
        job::{Done, EffectError, Job},
        perform::{
            ask::Question,
            context::EffectContext,
            finished,
            finished::{Finished, InquiredRun, Recorded},
            ground::{Ground, StartOutcome, ground},
            inspect, left_out,
            push::{Landed, push},
            sync::fork_of,
            turn,
        },
    },
    messages,
    messages::CommitKind,
};
use domain::{
    blocked::{BlockReason, Defect, FailureClass, StopCause},
    decision::Issue,
    ids::{Emission, Sha},
    inquiry::Inquiries,
    report,
    report::PlayerReport,
    task,
    task::{Played, Task, Turn},
};
use git::{Changes, CommitRequest, Prepared, RepoPath, TakeOutLimits};
use std::{collections::BTreeSet, time::Duration};

/// The trailer of a commit with the unfinished work of a failed run.
pub(super) const PARTIAL: &str = "AutoBuild-Partial";

/// How often keeping a run's result is tried again. With the default waits this takes five minutes.
const KEEPING: u32 = 5;

pub(super) async fn play(context: &EffectContext<'_>, task: &Task, emission: Emission) -> Result<Done, EffectError> {
    if let Some(finished) = Finished::of(context, &context.job.effect).await? {
        return publish(context, task, emission, finished).await;
    }
    if let Some(run) = InquiredRun::of(&context.job.effect) {
        return publish_inquiries(context, task, emission, run).await;
    }
    let turn = task
        .last_turn()
        .ok_or_else(|| EffectError::defect(Defect::NoOpenTurn { task: task.id }))?;
    let mut ground = match recovered(context, task, turn).await? {
        StartOutcome::Ground(ground) => *ground,
        StartOutcome::Overtaken(head) => return Ok(ended(context, task, emission, Played::Overtaken { head })),
    };
    if let Some(finished) = Finished::unpushed(context, task, turn, &ground).await? {
        finished.write_down(context).await?;
        return publish(context, task, emission, finished).await;
    }
    // Asked before the run and cached, so that a failure of GitHub cannot keep a finished run from being committed.
    turn::author(context).await?;
    let settings = context.settings();
    if ground.other.is_none() {
        ground.checkout.keep_as(&checkout_name(context, task)).await?;
    }
    let asked = ask(context, task, turn, &ground, &settings).await;
    ended_with(context, task, emission, (turn, &mut ground), asked).await
}

/// Takes out the work of a run that ended. The checkout of a run that was stopped stays for the next one.
async fn ended_with(
    context: &EffectContext<'_>,
    task: &Task,
    emission: Emission,
    (turn, ground): (&Turn, &mut Ground),
    asked: Result<PlayerReport, EffectError>,
) -> Result<Done, EffectError> {
    match asked {
        Ok(report) if is_inquiry(context, task, &report) => {
            let run = inquired(context, task, turn, ground, report.inquiries).await?;
            ground.checkout.settle();
            publish_inquiries(context, task, emission, run).await
        }
        Ok(report) => {
            let kept = keep_patiently(context, task, turn, ground, report).await?;
            ground.checkout.settle();
            match kept {
                Kept::Finished(finished) => publish(context, task, emission, finished).await,
                Kept::Ended(outcome) => Ok(ended(context, task, emission, outcome)),
            }
        }
        Err(EffectError::Stopped) => Err(EffectError::Stopped),
        Err(error) if error.left_work() => match save_patiently(context, task, turn, ground).await {
            Ok(saved) => {
                ground.checkout.settle();
                Err(after_saving(saved, error))
            }
            Err(unsaved) => {
                tracing::warn!(id = %context.job.effect.id, error = %unsaved, "what a failed Player left could not be saved");
                Err(error)
            }
        },
        Err(error) => {
            ground.checkout.settle();
            Err(error)
        }
    }
}

/// The unfinished work of a failed Player.
enum Saved {
    /// It is on the task's branch.
    Work,
    /// There was none, or none that may be pushed.
    Nothing,
}

/// Returns the error of a failed run. Work that the run left is judged before anybody pays for another run: it may be
/// finished, and if it is not, the next run learns what is missing.
fn after_saving(saved: Saved, error: EffectError) -> EffectError {
    match (saved, error) {
        (Saved::Work, EffectError::Agent(failed)) => EffectError::Hopeless(failed),
        (Saved::Work | Saved::Nothing, error) => error,
    }
}

/// Returns the name under which the Player's checkout is kept until its work is taken out.
fn checkout_name(context: &EffectContext<'_>, task: &Task) -> String {
    format!("{}-{}", context.key().repo.0, task.branch)
}

/// Returns the starting point of a Player. If an earlier run was stopped before its work was taken out, as when the
/// process died, it is the checkout of that run.
async fn recovered(context: &EffectContext<'_>, task: &Task, turn: &Turn) -> Result<StartOutcome, EffectError> {
    let mut found = ground(context, task, turn).await?;
    let StartOutcome::Ground(ground) = &mut found else {
        return Ok(found);
    };
    let Some(mut kept) = ground.mirror.unsettled(&checkout_name(context, task)).await else {
        return Ok(found);
    };
    if kept.head() != &ground.start || ground.other.is_some() {
        kept.settle();
        return Ok(found);
    }
    if kept.changed_paths().await.is_ok_and(|changed| !changed.is_empty()) {
        ground.left = Left::Changes;
        ground.checkout = kept;
    }
    Ok(found)
}

fn ended(context: &EffectContext<'_>, task: &Task, emission: Emission, outcome: Played) -> Done {
    let outcome = Box::new(outcome);
    context.task_event(task.id, task::Event::Played { emission, outcome })
}

async fn ask(
    context: &EffectContext<'_>,
    task: &Task,
    turn: &Turn,
    ground: &Ground,
    settings: &RepositorySettings,
) -> Result<PlayerReport, EffectError> {
    let mut prompt = ground.prompt(context, task, turn, settings);
    if let Some((cut, left)) = before(context, task, ground).await? {
        prompt = prompt.continued(cut, left);
    }
    let question = Question {
        role: Role::Player,
        task: Some(task.id),
        turn: turn.number,
        checkout: ground.checkout.path(),
        part: "",
        prompt,
        schema: report::schema(),
    };
    let read = |answer: &serde_json::Value| report::parse_report(answer).map_err(|mistakes| mistakes.to_string());
    context.ask(settings, question, read).await
}

/// Returns what cut an earlier run of this turn short and what that run left, if this run continues it. If a person
/// resumed the turn, only the commit shows that there is unfinished work.
async fn before(
    context: &EffectContext<'_>,
    task: &Task,
    ground: &Ground,
) -> Result<Option<(StopCause, Left)>, EffectError> {
    let cut = match task.cut_runs {
        0 => context.cuts(Some(task.id)).await?.pop(),
        // The run belongs to the effect before, after which the Gates failed.
        _ => context.last_cut(task.id).await?,
    };
    Ok(match ground.left {
        Left::Changes => Some((cut.unwrap_or(StopCause::Other), Left::Changes)),
        // A run that waited for its model or failed before it changed anything starts again.
        Left::Nothing => cut.filter(|cut| cut.is_limit()).map(|cut| (cut, Left::Nothing)),
    })
}

/// `true` if the Player's answer is an inquiry, on which the work goes on later.
fn is_inquiry(context: &EffectContext<'_>, task: &Task, report: &PlayerReport) -> bool {
    let hearing = task.hearing(&context.feature.task_rules());
    hearing.takes(&report.inquiries, || report.ready_for_validation)
}

/// Keeps and records the work and the questions of a Player that asks. From then on the run is not repeated.
async fn inquired(
    context: &EffectContext<'_>,
    task: &Task,
    turn: &Turn,
    ground: &Ground,
    inquiries: Inquiries,
) -> Result<InquiredRun, EffectError> {
    let mut tries = 0;
    let partial = loop {
        let kept = unfinished(context, task, turn, ground, CommitKind::Inquiry).await;
        if let Some(partial) = unless_later(context, kept, &mut tries).await? {
            break partial;
        }
    };
    let run = InquiredRun {
        inquiries,
        partial: partial.map(|prepared| prepared.sha().clone()),
        stood: ground.stood.clone(),
    };
    finished::write_down(context, &Recorded::Inquired(Box::new(run.clone()))).await?;
    Ok(run)
}

/// Pushes the work of a Player that asks, and passes its questions on. If a person pushed meanwhile, their commit
/// counts.
async fn publish_inquiries(
    context: &EffectContext<'_>,
    task: &Task,
    emission: Emission,
    run: InquiredRun,
) -> Result<Done, EffectError> {
    let partial = match &run.partial {
        None => None,
        Some(head) => match push(context, task, head, run.stood).await? {
            Landed::There(head) | Landed::Overtaken(head) => Some(head),
            Landed::Rejected(rule) => {
                let reason = BlockReason::BranchRule { rule };
                return Ok(context.task_event(task.id, task::Event::Stuck { emission, reason }));
            }
        },
    };
    let inquired = task::Event::Inquired {
        emission,
        inquiries: run.inquiries,
        partial,
    };
    Ok(context.task_event(task.id, inquired))
}

/// The result of keeping the work in a checkout.
enum Kept {
    /// It is kept and recorded, and may be pushed.
    Finished(Finished),
    /// Nothing may be pushed.
    Ended(Played),
}

async fn keep_patiently(
    context: &EffectContext<'_>,
    task: &Task,
    turn: &Turn,
    ground: &Ground,
    report: PlayerReport,
) -> Result<Kept, EffectError> {
    let mut tries = 0;
    loop {
        let kept = keep(context, task, turn, ground, &report).await;
        if let Some(kept) = unless_later(context, kept, &mut tries).await? {
            return Ok(kept);
        }
    }
}

/// Returns what was made of a run. If that failed and may work later, waits and returns `None`, so that the caller
/// tries again within this effect, because a new run would have to be paid for.
async fn unless_later<T>(
    context: &EffectContext<'_>,
    made: Result<T, EffectError>,
    tries: &mut u32,
) -> Result<Option<T>, EffectError> {
    match made {
        Err(EffectError::Failed { failure, .. }) if *tries < KEEPING && failure.row().class != FailureClass::Lasts => {
            tracing::warn!(id = %context.job.effect.id, %failure, "what a run made is not kept yet, and is tried again");
            let wait = context.engine.settings.backoff.after(*tries, 0.0);
            let wait = Duration::from_millis(u64::try_from(wait).unwrap_or(0));
            context.job.sleep(wait).await?;
            *tries = tries.saturating_add(1);
            Ok(None)
        }
        made => made.map(Some),
    }
}

/// Commits what the Player left in its checkout, and records it if nothing forbids pushing it.
async fn keep(
    context: &EffectContext<'_>,
    task: &Task,
    turn: &Turn,
    ground: &Ground,
    report: &PlayerReport,
) -> Result<Kept, EffectError> {
    let (base, report) = (since(context, task, ground).await?, report.clone());
    let changes = take_out(ground, left_out::named(task, Some(&report))).await?;
    let (prepared, mut items) = commit(context, task, turn, ground, (&changes, CommitKind::Whole)).await?;
    let Some(prepared) = prepared else {
        let left_out = left_out::to_report(changes.left_out(), &BTreeSet::new(), ground.made());
        return Ok(Kept::Ended(if items.is_empty() {
            Played::NoChange {
                base,
                head: ground.stood.clone().or_else(|| task.head.clone()),
                report,
                left_out,
            }
        } else {
            Played::Held {
                base,
                report,
                left_out,
                items,
            }
        }));
    };
    let head = prepared.sha().clone();
    prepared.keep(&held_id(context.job)).await?;
    items.extend(inspect::findings(context, &context.settings(), &prepared, ground).await?);
    let words = left_out::words(&ground.mirror, &prepared).await?;
    let left_out = left_out::to_report(changes.left_out(), &words, ground.made());
    if !items.is_empty() {
        return Ok(Kept::Ended(Played::Held {
            base,
            report,
            left_out,
            items,
        }));
    }
    let finished = Finished {
        base,
        head,
        branch: task.branch.clone(),
        stood: ground.stood.clone(),
        report,
        left_out,
    };
    finished.write_down(context).await?;
    Ok(Kept::Finished(finished))
}

/// Returns the commit that the turn's work is compared with. If an earlier run left unfinished work, this is the last
/// commit that was judged, or the commit where the branch starts.
async fn since(context: &EffectContext<'_>, task: &Task, ground: &Ground) -> Result<Sha, EffectError> {
    match (ground.left, task.judged_head()) {
        (Left::Nothing, _) => Ok(ground.start.clone()),
        (Left::Changes, Some(judged)) => Ok(judged.clone()),
        (Left::Changes, None) => fork_of(context, &ground.mirror, task, &ground.start).await,
    }
}

async fn take_out(ground: &Ground, named: Vec<RepoPath>) -> Result<Changes, EffectError> {
    Ok(ground.checkout.take_out_with(&TakeOutLimits::default(), named).await?)
}

/// Returns a commit of the checkout's changes, and the reasons not to take it as it is. There is no commit if nothing changed or
/// the checkout is refused. A merge alone is a change, but not unfinished work.
async fn commit(
    context: &EffectContext<'_>,
    task: &Task,
    turn: &Turn,
    ground: &Ground,
    (changes, kind): (&Changes, CommitKind),
) -> Result<(Option<Prepared>, Vec<Issue>), EffectError> {
    let items: Vec<Issue> = inspect::refused(changes.findings(), &context.engine.secrets);
    let is_partial = kind != CommitKind::Whole;
    let is_untouched = is_partial && changes.is_empty();
    if changes.rejected() || is_untouched {
        return Ok((None, items));
    }
    let mut more = vec![
        ("AutoBuild-Task", task.id.to_string()),
        ("AutoBuild-Turn", turn.number.to_string()),
    ];
    if is_partial {
        more.push((PARTIAL, "true".to_owned()));
    }
    let message = messages::turn_commit(&context.feature, task, turn.number, kind);
    let request = CommitRequest {
        parents: ground.parents(),
        message: context.engine.secrets.mask(&message),
        trailers: turn::trailers(context, &more),
        author: turn::author(context).await?,
        at: context.engine.now(),
    };
    match ground.mirror.commit_changes(&ground.checkout, changes, &request).await {
        Ok(prepared) => Ok((prepared, items)),
        Err(git::CommitError::TakeOut(error)) => Err(error.into()),
        Err(git::CommitError::Git(error)) => Err(error.into()),
        Err(git::CommitError::NotEncoded(files)) => Ok((None, files.iter().map(inspect::not_encoded).collect())),
    }
}

fn held_id(job: &Job) -> String {
    job.effect.id.replace('/', "-")
}

/// Pushes a recorded commit, provided that the branch still has its earlier head.
async fn publish(
    context: &EffectContext<'_>,
    task: &Task,
    emission: Emission,
    finished: Finished,
) -> Result<Done, EffectError> {
    let outcome = match push(context, task, &finished.head, finished.stood).await? {
        Landed::There(head) => Played::Pushed {
            base: finished.base,
            head,
            report: finished.report,
            left_out: finished.left_out,
        },
        Landed::Overtaken(head) => Played::Overtaken { head },
        Landed::Rejected(rule) => {
            let reason = BlockReason::BranchRule { rule };
            return Ok(context.task_event(task.id, task::Event::Stuck { emission, reason }));
        }
    };
    Ok(ended(context, task, emission, outcome))
}

/// Commits and pushes the unfinished work of a failed Player. If that fails, tries again.
async fn save_patiently(
    context: &EffectContext<'_>,
    task: &Task,
    turn: &Turn,
    ground: &Ground,
) -> Result<Saved, EffectError> {
    let mut tries = 0;
    loop {
        let saved = save_partial(context, task, turn, ground).await;
        if let Some(saved) = unless_later(context, saved, &mut tries).await? {
            return Ok(saved);
        }
    }
}

async fn save_partial(
    context: &EffectContext<'_>,
    task: &Task,
    turn: &Turn,
    ground: &Ground,
) -> Result<Saved, EffectError> {
    let Some(prepared) = unfinished(context, task, turn, ground, CommitKind::Partial).await? else {
        return Ok(Saved::Nothing);
    };
    let Landed::There(head) = push(context, task, prepared.sha(), ground.stood.clone()).await? else {
        return Ok(Saved::Nothing);
    };
    finished::write_down(context, &Recorded::Partial { head }).await?;
    Ok(Saved::Work)
}

/// Commits the unfinished work in a checkout and keeps it in the mirror. Returns `None` if there is none, or none that
/// may be pushed.
async fn unfinished(
    context: &EffectContext<'_>,
    task: &Task,
    turn: &Turn,
    ground: &Ground,
    kind: CommitKind,
) -> Result<Option<Prepared>, EffectError> {
    let changes = take_out(ground, left_out::named(task, None)).await?;
    let (Some(prepared), items) = commit(context, task, turn, ground, (&changes, kind)).await? else {
        return Ok(None);
    };
    let held = format!("{}-partial-{}", held_id(context.job), context.job.effect.fence);
    prepared.keep(&held).await?;
    // A half-resolved conflict is useless, so the next try starts from both sides again.
    if !ground.conflicts.is_empty() {
        return Ok(None);
    }
    let is_forbidden = !items.is_empty()
        || !inspect::findings(context, &context.settings(), &prepared, ground)
            .await?
            .is_empty();
    Ok((!is_forbidden).then_some(prepared))
}

/// Returns the event for a Player effect that is given up, with the commit that its last try left.
pub(super) async fn failed(engine: &Engine, job: &Job, emission: Emission, reason: BlockReason) -> task::Event {
    let is_budget = matches!(reason, BlockReason::BudgetSpent(_));
    if reason.agent_failure().is_none() && !is_budget {
        return task::Event::Stuck { emission, reason };
    }
    let stored = engine.store.effect(&job.effect.id).await.ok().flatten();
    let text = stored.and_then(|effect| effect.external_id);
    let partial = match text.and_then(|text| serde_json::from_str(&text).ok()) {
        Some(Recorded::Partial { head }) => Some(head),
        Some(Recorded::Finished(_) | Recorded::Inquired(_)) | None => None,
    };
    let outcome = if let BlockReason::Failed { failure, printed, .. } = reason {
        Played::Failed {
            failure,
            printed,
            partial,
        }
    } else {
        Played::Stopped { reason, partial }
    };
    let outcome = Box::new(outcome);
    task::Event::Played { emission, outcome }
}
