//! The Player's part of a turn: its changes in a fresh checkout are committed, checked, recorded and pushed.
//!
//! The commit is stored with the end of the run, before it is pushed, so that no run must be paid for again.

use crate::{
    agents::prompt::Leftovers,
    config::{RepositorySettings, Role},
    engine::{
        job::{Done, EffectError},
        perform::{
            ask::{AgentRequest, LastRun, RunOutcome},
            context::EffectContext,
            give_up,
            ground::{Ground, StartOutcome, ground},
            inspect, left_out, merge,
            run_result::{FinishedPlayer, MadeCommit, RunResult, left_behind},
            sync::fork_of,
            turn,
            turn::PARTIAL,
        },
    },
    messages,
    messages::CommitKind,
    store::NewPack,
};
use domain::{
    blocked::{BlockReason, Defect, StopReason, WorkStep},
    ci::without_instructions,
    ids::{Emission, Sha},
    problem::ReviewItem,
    report,
    report::PlayerReport,
    task,
    task::{PlayerOutcome, Task, Turn},
};
use git::{Changes, CommitRequest, PackOutcome, Prepared, RepoPath, TakeOutLimits};
use std::collections::BTreeSet;

pub(super) async fn play(context: &EffectContext<'_>, task: &Task, emission: Emission) -> Result<Done, EffectError> {
    if let Some(merged) = merge::find_unheard(context, task, task.pull).await? {
        return Ok(merged);
    }
    if let Some(result) = RunResult::of(&context.job.effect)
        && let Some(done) = result.publish(context, task, emission).await?
    {
        return Ok(done);
    }
    let turn = task.last_turn().ok_or_else(|| EffectError::defect(Defect::NoOpenTurn { task: task.id }))?;
    let mut ground = match recovered(context, task, turn).await? {
        StartOutcome::Ground(ground) => *ground,
        StartOutcome::Overtaken(head) => {
            let outcome = Box::new(PlayerOutcome::Overtaken { head });
            return Ok(context.task_event(task.id, task::Event::Played { emission, outcome }));
        }
    };
    if let Some(result) = left_behind(context, task, turn, &ground).await?
        && let Some(done) = result.take_over(context, task, turn, emission).await?
    {
        return Ok(done);
    }
    // Asked before the run and cached, so that a failure of GitHub cannot keep a finished run from being committed.
    turn::author(context).await?;
    let settings = context.settings();
    if ground.other.is_none() {
        ground.checkout.keep_as(&checkout_name(context, task)).await?;
    }
    let run = ask(context, task, turn, &ground, &settings).await?;
    record_end(context, task, emission, turn, &mut ground, run).await
}

/// Records the end of a run with its commit, then publishes the commit. If the changes could not be committed, the
/// checkout stays for the next run.
async fn record_end(
    context: &EffectContext<'_>,
    task: &Task,
    emission: Emission,
    turn: &Turn,
    ground: &mut Ground,
    RunOutcome { last, answer }: RunOutcome<PlayerReport>,
) -> Result<Done, EffectError> {
    if matches!(last, LastRun::None) {
        return Err(answer.err().unwrap_or(EffectError::Stopped));
    }
    let made = {
        let (ground, answer) = (&*ground, &answer);
        context.patiently(|| take_result(context, task, turn, ground, answer)).await
    };
    let Some(PlayOutcome { result, pack }) = made.as_ref().ok().and_then(Option::as_ref) else {
        if let Some(end) = last.unrecorded() {
            context.close_run(end).await?;
        }
        let nothing = made.map(drop);
        if let Err(lost) = &nothing {
            tracing::warn!(id = %context.job.effect.id, error = %lost, "what a Player made could not be kept");
        } else if !matches!(answer, Err(EffectError::Stopped)) {
            ground.checkout.settle();
        }
        return Err(answer.err().or(nothing.err()).unwrap_or(EffectError::Stopped));
    };
    let text = result.to_json(&context.engine.secrets)?;
    context.store_result(&text, pack.as_ref(), last.unrecorded()).await?;
    ground.checkout.settle();
    if matches!(answer, Err(EffectError::Stopped)) {
        // This process ends. The next holder of the effect pushes the work and continues from it.
        return Err(EffectError::Stopped);
    }
    match (result.clone().publish(context, task, emission).await, answer) {
        (Ok(Some(done)), _) => Ok(done),
        (Ok(None), answer) => Err(answer.err().unwrap_or(EffectError::Stopped)),
        // The unfinished work is pushed when the effect continues.
        (Err(_), Err(error)) if !ends_turn(&error) => Err(error),
        (Err(error), _) => Err(error),
    }
}

/// The result of a run, and its commit for the database.
struct PlayOutcome {
    result: RunResult,
    pack: Option<NewPack>,
}

/// Commits the changes of a run. Returns `None` if a failed run left nothing.
async fn take_result(
    context: &EffectContext<'_>,
    task: &Task,
    turn: &Turn,
    ground: &Ground,
    answer: &Result<PlayerReport, EffectError>,
) -> Result<Option<PlayOutcome>, EffectError> {
    ground.restore_start(context, task).await?;
    match answer {
        Ok(report) if is_inquiry(context, task, report) => {
            let (commit, pack) = unfinished(context, task, turn, ground, CommitKind::Inquiry).await?.unzip();
            let inquiries = report.inquiries.clone();
            let result = RunResult::Inquired { inquiries, commit };
            let pack = pack.flatten();
            Ok(Some(PlayOutcome { result, pack }))
        }
        Ok(report) => keep(context, task, turn, ground, report).await.map(Some),
        Err(EffectError::Stopped) if !context.is_wanted().await? => Ok(None),
        Err(error) => left_by_failed(context, task, turn, ground, error).await,
    }
}

/// Returns `true` if the failure of a run ends the Player's turn. Then the work that it left is judged: it may be
/// finished, and if it is not, the next run learns the missing parts. Otherwise the same turn continues later.
fn ends_turn(error: &EffectError) -> bool {
    match error {
        EffectError::Agent(_) | EffectError::Permanent(_) | EffectError::Spent(_) => true,
        EffectError::Failed { .. }
        | EffectError::Limited { .. }
        | EffectError::Waiting { .. }
        | EffectError::Suspended
        | EffectError::Parked { .. }
        | EffectError::Stopped => false,
    }
}

/// Returns the work of a Player whose run failed: its changes now, or the head of the branch if that was not judged.
async fn left_by_failed(
    context: &EffectContext<'_>,
    task: &Task,
    turn: &Turn,
    ground: &Ground,
    error: &EffectError,
) -> Result<Option<PlayOutcome>, EffectError> {
    let changed = unfinished(context, task, turn, ground, CommitKind::Partial).await?;
    if !ends_turn(error) {
        return Ok(changed.map(|(commit, pack)| PlayOutcome { result: RunResult::Interrupted { commit }, pack }));
    }
    let there = || {
        let head = ground.expected_head.as_ref().filter(|head| !task.has_verdict_on(head))?;
        Some((made_commit(context, task, ground, head.clone()), None))
    };
    Ok(changed.or_else(there).map(|(commit, pack)| {
        let reason = Box::new(give_up::reason(WorkStep::Play, error));
        let result = RunResult::Failed { commit, reason };
        PlayOutcome { result, pack }
    }))
}

fn made_commit(context: &EffectContext<'_>, task: &Task, ground: &Ground, head: Sha) -> MadeCommit {
    MadeCommit {
        head,
        branch: task.branch.clone(),
        expected_head: ground.expected_head.clone(),
        effect: context.job.effect.id.clone(),
    }
}

/// Packs a commit that the mirror holds as `held`, unless it is too large for the database.
async fn packed(
    context: &EffectContext<'_>,
    ground: &Ground,
    held: &str,
    head: &Sha,
) -> Result<Option<NewPack>, EffectError> {
    let (folder, known) = (context.feature.key.branch_prefix(), ground.other.as_slice());
    let most = context.engine.settings.pack_size;
    match ground.mirror.pack(held, &folder, known, most).await? {
        PackOutcome::Bytes(bytes) => {
            Ok(Some(NewPack { feature: context.feature.key, commit: head.clone(), bytes, at: context.engine.now() }))
        }
        PackOutcome::Needless => Ok(None),
        PackOutcome::TooLarge => {
            let id = &context.job.effect.id;
            tracing::warn!(
                %id, commit = %head,
                "the commit of {id} is larger than AUTOBUILD_PACK_SIZE ({most} bytes): until it is pushed, it is in this data folder alone"
            );
            Ok(None)
        }
    }
}

/// Returns the name under which the Player's checkout is kept until its changes are committed.
fn checkout_name(context: &EffectContext<'_>, task: &Task) -> String {
    format!("{}-{}", context.feature.key.repo.0, task.branch)
}

/// Returns the starting point of a Player. If an earlier run was stopped before its changes were committed, for example
/// by a crash, this is the checkout of that run.
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
        ground.left = Leftovers::Changes;
        ground.checkout = kept;
    }
    Ok(found)
}

async fn ask(
    context: &EffectContext<'_>,
    task: &Task,
    turn: &Turn,
    ground: &Ground,
    settings: &RepositorySettings,
) -> Result<RunOutcome<PlayerReport>, EffectError> {
    let mut prompt = ground.prompt(context, task, turn, settings);
    if let Some((cut, left)) = before(context, task, ground).await? {
        prompt = prompt.continued(cut, left);
    }
    let question = AgentRequest {
        role: Role::Player,
        task: Some(task.id),
        turn: turn.number,
        checkout: ground.checkout.path(),
        part: "",
        prompt,
        schema: report::schema(),
    };
    let read = |answer: &serde_json::Value| report::parse_report(answer).map_err(|mistakes| mistakes.to_string());
    Ok(context.ask_unrecorded(settings, question, read).await)
}

/// Returns the cause that cut an earlier run of this turn short, and its leftovers, if this run continues it. If a
/// person resumed the turn, only the commit shows that there is unfinished work.
async fn before(
    context: &EffectContext<'_>,
    task: &Task,
    ground: &Ground,
) -> Result<Option<(StopReason, Leftovers)>, EffectError> {
    let cut = match task.cut_runs {
        0 => context.cuts(Some(task.id)).await?.pop(),
        // The run belongs to the previous effect, whose work the Gates refused.
        _ => context.last_cut(task.id).await?,
    };
    Ok(match ground.left {
        Leftovers::Changes => Some((cut.unwrap_or(StopReason::Other), Leftovers::Changes)),
        // A run that waited for its model or failed before it changed anything starts again.
        Leftovers::Nothing => cut.filter(|cut| cut.is_limit()).map(|cut| (cut, Leftovers::Nothing)),
    })
}

/// `true` if the Player's answer is an inquiry, after which the work continues later.
fn is_inquiry(context: &EffectContext<'_>, task: &Task, report: &PlayerReport) -> bool {
    let hearing = task.hearing(&context.feature.task_rules());
    hearing.takes(&report.inquiries, || report.ready_for_validation)
}

/// Commits the Player's changes in its checkout, for a push unless something forbids it.
async fn keep(
    context: &EffectContext<'_>,
    task: &Task,
    turn: &Turn,
    ground: &Ground,
    report: &PlayerReport,
) -> Result<PlayOutcome, EffectError> {
    let (base, report) = (since(context, task, ground).await?, report.clone());
    let ended = |outcome: PlayerOutcome| PlayOutcome { result: RunResult::Ended(Box::new(outcome)), pack: None };
    let changes = take_out(ground, left_out::named_files(task, Some(&report))).await?;
    let (prepared, mut items) = commit(context, task, turn, ground, &changes, CommitKind::Whole).await?;
    let Some(prepared) = prepared else {
        let left_out = left_out::to_report(&changes.left_out, &BTreeSet::new(), ground.made_folders());
        return Ok(ended(if items.is_empty() {
            PlayerOutcome::NoChange {
                base,
                head: ground.expected_head.clone().or_else(|| task.head.clone()),
                report,
                left_out,
            }
        } else {
            PlayerOutcome::Held { base, report, left_out, items }
        }));
    };
    let (held, head) = (context.held_id(), prepared.sha().clone());
    prepared.keep(&held).await?;
    items.extend(inspect::findings(context, &context.settings(), &prepared, ground).await?);
    let words = left_out::words(&ground.mirror, &prepared).await?;
    let left_out = left_out::to_report(&changes.left_out, &words, ground.made_folders());
    if !items.is_empty() {
        return Ok(ended(PlayerOutcome::Held { base, report, left_out, items }));
    }
    let pack = packed(context, ground, &held, &head).await?;
    let commit = made_commit(context, task, ground, head);
    let result = RunResult::Finished(Box::new(FinishedPlayer { commit, base, report, left_out }));
    Ok(PlayOutcome { result, pack })
}

/// Returns the commit that the turn's work is compared with. If an earlier run left unfinished work, this is the last
/// commit that was judged, or the commit where the branch starts.
async fn since(context: &EffectContext<'_>, task: &Task, ground: &Ground) -> Result<Sha, EffectError> {
    match (ground.left, task.judged_head()) {
        (Leftovers::Nothing, _) => Ok(ground.start.clone()),
        (Leftovers::Changes, Some(judged)) => Ok(judged.clone()),
        (Leftovers::Changes, None) => fork_of(context, &ground.mirror, task, &ground.start).await,
    }
}

async fn take_out(ground: &Ground, named: Vec<RepoPath>) -> Result<Changes, EffectError> {
    Ok(ground.checkout.take_out(&TakeOutLimits::default(), named).await?)
}

/// Returns a commit of the checkout's changes, and the reasons not to take it as it is. There is no commit if nothing changed or
/// the checkout is refused. A merge alone is a change, but not unfinished work.
async fn commit(
    context: &EffectContext<'_>,
    task: &Task,
    turn: &Turn,
    ground: &Ground,
    changes: &Changes,
    kind: CommitKind,
) -> Result<(Option<Prepared>, Vec<ReviewItem>), EffectError> {
    let items: Vec<ReviewItem> = inspect::refused(&changes.findings, &context.engine.secrets);
    let is_partial = kind != CommitKind::Whole;
    let is_untouched = is_partial && changes.is_empty();
    if changes.rejected() || is_untouched {
        return Ok((None, items));
    }
    let mut more = vec![("AutoBuild-Task", task.id.to_string()), ("AutoBuild-Turn", turn.number.to_string())];
    if is_partial {
        more.push((PARTIAL, "true".to_owned()));
    }
    let message = messages::turn_commit(&context.feature, task, turn.number, kind);
    let request = CommitRequest {
        parents: ground.parents(),
        message: without_instructions(&context.engine.secrets.mask(&message)),
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

/// Commits and packs the unfinished work in a checkout. Returns `None` if there is none, or none that may be pushed.
async fn unfinished(
    context: &EffectContext<'_>,
    task: &Task,
    turn: &Turn,
    ground: &Ground,
    kind: CommitKind,
) -> Result<Option<(MadeCommit, Option<NewPack>)>, EffectError> {
    let changes = take_out(ground, left_out::named_files(task, None)).await?;
    let (Some(prepared), items) = commit(context, task, turn, ground, &changes, kind).await? else {
        return Ok(None);
    };
    let held = format!("{}-partial-{}", context.held_id(), context.job.effect.fence);
    prepared.keep(&held).await?;
    // A half-resolved conflict is useless, so the next try starts from both sides again.
    if !ground.conflicts.is_empty() {
        return Ok(None);
    }
    let is_forbidden =
        !items.is_empty() || !inspect::findings(context, &context.settings(), &prepared, ground).await?.is_empty();
    if is_forbidden {
        return Ok(None);
    }
    let head = prepared.sha().clone();
    let pack = packed(context, ground, &held, &head).await?;
    Ok(Some((made_commit(context, task, ground, head), pack)))
}

/// Returns the event for a Player effect that is given up.
pub(super) fn failed(emission: Emission, reason: BlockReason) -> task::Event {
    let is_budget = matches!(reason, BlockReason::BudgetSpent(_));
    if reason.agent_failure().is_none() && !is_budget {
        return task::Event::Stuck { emission, reason };
    }
    let outcome = Box::new(ended_badly(reason, None));
    task::Event::Played { emission, outcome }
}

/// Returns the outcome of a failed run, with the commit that it left on the branch.
pub(super) fn ended_badly(reason: BlockReason, partial: Option<Sha>) -> PlayerOutcome {
    if let BlockReason::Failed { failure, printed, .. } = reason {
        PlayerOutcome::Failed { failure, printed, partial }
    } else {
        PlayerOutcome::Stopped { reason, partial }
    }
}
