//! The end of the Gates, CI and the Coach: approval, the next turn, or a block.

use crate::{
    blocked::BlockReason,
    ci,
    ci::CiTreatment,
    contract::Judgement,
    decision::Outcome,
    effect::{DismissedWhy, Effect, TaskWork},
    evidence::{GateReport, GateResult, Profile, profile},
    ids::{Emission, Millis, Sha, TurnNumber, User},
    problem::ReviewItem,
    question::arrange,
    recurring::same_issues_three_turns,
    report::Discrepancy,
    task::{
        moves::{Step, adds, ask, block, start_turn, unchanged},
        player::go_on_or_blocked,
        task::{Approval, MergePolicy, MergeState, Origin, Rules, Stage, State, Task, TurnKind},
    },
};

pub(super) fn gated(
    mut task: Task,
    emission: Emission,
    head: &Sha,
    mut report: GateReport,
    discrepancies: Vec<Discrepancy>,
    at: Millis,
    rules: &Rules,
) -> Step {
    let Some(turn) = looked_at(&task, Stage::Gates, emission, head) else {
        return unchanged(task);
    };
    report.questions = arrange(report.questions);
    let found = profile(task.plan.kind, &report);
    let next = match (&found, rules.ci) {
        (Profile::Passed, CiTreatment::Wait) => Stage::Ci,
        // The Gates failed, so the work is sent back without waiting for CI.
        (Profile::Failed(_), CiTreatment::Wait) => {
            report.more.push(ci::not_reached());
            Stage::Coach
        }
        (Profile::Passed | Profile::Failed(_), CiTreatment::Hold) => {
            report.more.push(ci::result_while_held());
            Stage::Coach
        }
        (Profile::Passed | Profile::Failed(_), CiTreatment::Ignore) | (Profile::Absent(_), _) => Stage::Coach,
    };
    if let Some(open) = task.turns.last_mut() {
        open.gates = Some(report);
        open.discrepancies = discrepancies;
    }
    match (found, task.cut.clone()) {
        (Profile::Absent(reasons), _) => block(task, BlockReason::GatesAbsent { reasons }, Vec::new()),
        // No Coach is paid for work that a failed Player left unfinished.
        (Profile::Failed(_), Some(reason)) => go_on_or_blocked(task, reason, at),
        (Profile::Failed(_), None) | (Profile::Passed, _) => look(task, turn, next),
    }
}

/// Handles the end of CI. The Coach sees its result, also a failure. If required evidence could not be had, the task is
/// blocked, because that is not the Player's fault.
pub(super) fn ci_read(mut task: Task, emission: Emission, head: &Sha, result: GateResult) -> Step {
    let Some(turn) = looked_at(&task, Stage::Ci, emission, head) else {
        return unchanged(task);
    };
    let kind = task.plan.kind;
    let gates = task.turns.last_mut().and_then(|open| open.gates.as_mut());
    let found = gates.map(|gates| {
        gates.more.push(result);
        profile(kind, gates)
    });
    match found {
        Some(Profile::Absent(reasons)) => block(task, BlockReason::GatesAbsent { reasons }, Vec::new()),
        Some(Profile::Passed | Profile::Failed(_)) | None => look(task, turn, Stage::Coach),
    }
}

/// Starts the next stage on the turn's commit.
fn look(mut task: Task, turn: TurnNumber, stage: Stage) -> Step {
    let work = match stage {
        Stage::Gates => TaskWork::Gates,
        Stage::Ci => TaskWork::Ci,
        Stage::Coach => TaskWork::Coach,
    };
    let effect = ask(&mut task, work);
    let emission = task.emitted;
    task.state = State::CoachTurn { turn, stage, emission };
    adds(task, [effect])
}

pub(super) fn judged(
    mut task: Task,
    emission: Emission,
    head: &Sha,
    judgement: Judgement,
    probes: Vec<GateResult>,
    at: Millis,
    rules: &Rules,
) -> Step {
    let Some(turn) = looked_at(&task, Stage::Coach, emission, head) else {
        return unchanged(task);
    };
    if let Some(gates) = task.turns.last_mut().and_then(|open| open.gates.as_mut()) {
        gates.more.extend(probes);
    }
    let verdict = match judgement {
        Judgement::Verdict(verdict) => *verdict,
        Judgement::EvidenceAbsent { reasons } => {
            return block(task, BlockReason::GatesAbsent { reasons }, Vec::new());
        }
    };
    let outcome = verdict.outcome;
    if let Some(open) = task.turns.last_mut() {
        open.verdict = Some(verdict);
        open.ended_at = Some(at);
    }
    match outcome {
        Outcome::Approve => approved(task, turn, at, rules),
        Outcome::Feedback => {
            let effects = announce(&mut task);
            next_or_blocked(task, at, effects)
        }
    }
}

/// Returns the turn that is being examined, if the task waits for exactly this result: its stage, emission and commit.
fn looked_at(task: &Task, stage: Stage, emission: Emission, head: &Sha) -> Option<TurnNumber> {
    let open = task.last_turn()?;
    let waits_for = State::CoachTurn { turn: open.number, stage, emission };
    (task.state == waits_for && open.head.as_ref() == Some(head)).then_some(open.number)
}

pub(super) fn coach_failed(task: Task, emission: Emission, reason: BlockReason) -> Step {
    let stage = Stage::Coach;
    let is_waited_for = |turn: TurnNumber| task.state == (State::CoachTurn { turn, stage, emission });
    match task.last_turn() {
        Some(open) if is_waited_for(open.number) => block(task, reason, Vec::new()),
        Some(_) | None => unchanged(task),
    }
}

/// Handles an approval by the Coach. It counts for one commit only, and not while a person's request for changes is
/// open. An approval that does not count is not posted as a review.
fn approved(mut task: Task, turn: TurnNumber, at: Millis, rules: &Rules) -> Step {
    let judged = task.turn(turn);
    let known = judged.map(|turn| turn.input.reviews.as_slice()).unwrap_or_default();
    let is_head = judged.is_some_and(|turn| turn.head == task.head);
    if task.next.reviews.iter().any(|review| !known.contains(review)) {
        return start_turn(task, TurnKind::Full, at, Vec::new());
    }
    if let Some(review) = task.next.reviews.first() {
        let by = review.by.clone();
        return block(task, BlockReason::OpenReview { by }, Vec::new());
    }
    if !is_head {
        let effects = vec![ask(&mut task, TaskWork::PublishCheck { turn })];
        return start_turn(task, TurnKind::VerifyOnly, at, effects);
    }
    let mut effects = announce(&mut task);
    effects.extend(approve(&mut task, turn, Approval::Coach, rules));
    adds(task, effects)
}

/// Puts the task into `approved`, and returns the effects that lead to its merge.
pub(super) fn approve(task: &mut Task, turn: TurnNumber, by: Approval, rules: &Rules) -> Vec<Effect> {
    let mut effects = vec![ask(task, TaskWork::MarkReady)];
    // Only AutoBuild can merge the default branch so that both parents are kept, even with `merge: human`.
    let lands = matches!(task.origin, Origin::Sync { .. });
    let merge = match rules.merge {
        MergePolicy::Human if !lands => MergeState::Person,
        MergePolicy::Human | MergePolicy::Auto => {
            effects.push(ask(task, TaskWork::Merge));
            let emission = task.emitted;
            MergeState::Due { emission }
        }
    };
    task.state = State::Approved { turn, by, merge };
    effects
}

/// Asks for the newest verdict to be posted; the texts come from the stored verdict alone. A turn without a commit gets
/// no check run, and before there is a pull request only the living comment shows its verdict.
pub(super) fn announce(task: &mut Task) -> Vec<Effect> {
    let Some((turn, head)) = task.last_turn().map(|turn| (turn.number, turn.head.clone())) else {
        return Vec::new();
    };
    match head {
        Some(_) => vec![ask(task, TaskWork::PostReview { turn }), ask(task, TaskWork::PublishCheck { turn })],
        None if task.pull.is_some() => vec![ask(task, TaskWork::PostReview { turn })],
        None => Vec::new(),
    }
}

/// Starts the next turn after feedback, unless the last three turns ended with the same issues or no turn is left.
pub(super) fn next_or_blocked(task: Task, at: Millis, effects: Vec<Effect>) -> Step {
    let verdicts = task.turns_of_attempt().filter_map(|turn| turn.verdict.as_ref());
    let items: Vec<&[ReviewItem]> = verdicts.map(|verdict| verdict.items.as_slice()).collect();
    if same_issues_three_turns(&items) {
        return block(task, BlockReason::SameIssues, effects);
    }
    if task.last_number() >= task.limit {
        let turns = u32::try_from(task.turns_of_attempt().count()).unwrap_or(u32::MAX);
        return block(task, BlockReason::OutOfTurns { turns }, effects);
    }
    start_turn(task, TurnKind::Full, at, effects)
}

/// Dismisses the Coach's request for changes, if the task is blocked or its last verdict was feedback.
pub(super) fn dismiss(task: &mut Task, by: &User) -> Option<Effect> {
    let verdict = task.turns_of_attempt().rev().find_map(|turn| turn.verdict.as_ref());
    let feedback = verdict.is_some_and(|verdict| verdict.outcome == Outcome::Feedback);
    if task.pull.is_none() || !(task.is_blocked() || feedback) {
        return None;
    }
    let work = TaskWork::DismissReview { by: by.clone(), why: DismissedWhy::Cancelled };
    Some(ask(task, work))
}
