//! What happens to a Task when an effect of its turn ends. One function per event.

use crate::domain::blocked::AgentFailure;
use crate::domain::blocked::BlockReason;
use crate::domain::blocked::same_issues_three_turns;
use crate::domain::contract::Judgement;
use crate::domain::contract::feedback_without_coach;
use crate::domain::decision::Issue;
use crate::domain::decision::Outcome;
use crate::domain::decision::Severity;
use crate::domain::decision::Verdict;
use crate::domain::effect::TaskWork;
use crate::domain::evidence::GateReport;
use crate::domain::evidence::Profile;
use crate::domain::evidence::profile;
use crate::domain::ids::Millis;
use crate::domain::ids::PullNumber;
use crate::domain::ids::Sha;
use crate::domain::ids::TaskId;
use crate::domain::ids::TurnNumber;
use crate::domain::report::Discrepancy;
use crate::domain::report::PlayerReport;
use crate::domain::task::Approval;
use crate::domain::task::Asked;
use crate::domain::task::Conflict;
use crate::domain::task::Event;
use crate::domain::task::MergePolicy;
use crate::domain::task::MergeState;
use crate::domain::task::MergedBy;
use crate::domain::task::NextTurn;
use crate::domain::task::Played;
use crate::domain::task::Rules;
use crate::domain::task::Stage;
use crate::domain::task::State;
use crate::domain::task::Step;
use crate::domain::task::Stop;
use crate::domain::task::Task;
use crate::domain::task::Turn;
use crate::domain::task::TurnKind;
use crate::domain::task::Work;
use crate::domain::task::people;

/// Applies `event`; a late or repeated event leaves the task as it was.
#[must_use]
pub fn step(task: Task, event: Event, at: Millis, rules: &Rules) -> Step {
    let before = task.state.clone();
    paused(before, moved(task, event, at, rules))
}

/// A task that someone paused stops where the next agent or Gate would start.
fn paused(before: State, mut after: Step) -> Step {
    let starts = matches!(
        after.task.state,
        State::PlayerTurn { .. } | State::CoachTurn { .. } | State::PreLoop { .. }
    );
    let Some(by) = after.task.pause.take_if(|_| after.task.state != before) else {
        return after;
    };
    if !starts {
        return after;
    }
    if matches!(after.task.state, State::PlayerTurn { .. }) {
        take_back_turn(&mut after.task);
    }
    after
        .effects
        .retain(|asked| !matches!(asked.work, TaskWork::Play | TaskWork::Gates | TaskWork::Coach));
    block(after.task, BlockReason::Paused { by }, after.effects)
}

fn moved(task: Task, event: Event, at: Millis, rules: &Rules) -> Step {
    match event {
        Event::Begin => begin(task, at),
        Event::Designed { run } => designed(task, run, at),
        Event::Played { run, outcome } => played(task, run, *outcome, at),
        Event::PullOpened { pull, branch } => pull_opened(task, pull, &branch),
        Event::Gated { run, head, report } => gated(task, run, &head, *report),
        Event::Judged { run, head, judgement } => judged(task, run, &head, *judgement, at, rules),
        Event::CoachFailed { run, failure } => coach_failed(task, run, failure),
        Event::Merged { run, commit } => merged(task, run, commit),
        Event::MergeRefused { run, rule } => merge_refused(task, run, rule),
        Event::MergeConflict { run, files } => merge_conflict(task, run, files, at),
        Event::Stuck { run, reason } => stuck(task, run, reason),
        Event::NeedGone { task: need } => need_gone(task, need),
        Event::Person { by, did } => people::did(task, by, did, at, rules),
        Event::FeatureCancelled => people::cancelled_with_feature(task),
    }
}

pub(super) fn unchanged(task: Task) -> Step {
    Step {
        task,
        effects: Vec::new(),
        stop: Stop::Nothing,
    }
}

pub(super) fn ask(task: &mut Task, work: TaskWork) -> Asked {
    task.emitted = task.emitted.saturating_add(1);
    Asked {
        run: task.emitted,
        work,
    }
}

fn begin(task: Task, at: Millis) -> Step {
    match task.state {
        State::Pending => start_turn(task, TurnKind::Full, at, Vec::new()),
        State::PreLoop { .. }
        | State::PlayerTurn { .. }
        | State::CoachTurn { .. }
        | State::Approved { .. }
        | State::Blocked { .. }
        | State::Completed { .. }
        | State::Skipped { .. }
        | State::Cancelled => unchanged(task),
    }
}

fn designed(task: Task, run: u64, at: Millis) -> Step {
    match task.state {
        State::PreLoop { run: waits_for } if waits_for == run => start_turn(task, TurnKind::Full, at, Vec::new()),
        _ => unchanged(task),
    }
}

/// Opens the next turn. What the turn is told moves from the task into it; open reviews stay with the task as well, for
/// no approval is given over them.
pub(super) fn start_turn(mut task: Task, kind: TurnKind, at: Millis, mut effects: Vec<Asked>) -> Step {
    let number = TurnNumber(task.last_number().saturating_add(1));
    let told = NextTurn {
        reviews: task.next.reviews.clone(),
        ..std::mem::take(&mut task.next)
    };
    task.next.reviews.clone_from(&told.reviews);
    task.limit = task.limit.max(if kind == TurnKind::Full { 0 } else { number.0 });
    task.turns.push(Turn {
        number,
        attempt: task.attempt,
        kind,
        told,
        started_at: at,
        ended_at: None,
        base: task.head.clone(),
        head: if kind == TurnKind::VerifyOnly {
            task.head.clone()
        } else {
            None
        },
        work: Work::Open,
        report: None,
        discrepancies: Vec::new(),
        gates: None,
        verdict: None,
    });
    match kind {
        TurnKind::Full | TurnKind::Conflict => {
            let asked = ask(&mut task, TaskWork::Play);
            task.state = State::PlayerTurn {
                turn: number,
                run: asked.run,
            };
            effects.push(asked);
        }
        TurnKind::VerifyOnly => effects.push(verify(&mut task, number)),
    }
    Step {
        task,
        effects,
        stop: Stop::Work,
    }
}

/// Sends the turn's commit to the Gates.
pub(super) fn verify(task: &mut Task, turn: TurnNumber) -> Asked {
    let asked = ask(task, TaskWork::Gates);
    task.state = State::CoachTurn {
        turn,
        stage: Stage::Gates,
        run: asked.run,
    };
    asked
}

fn played(task: Task, run: u64, outcome: Played, at: Millis) -> Step {
    let State::PlayerTurn { turn, run: waits_for } = task.state else {
        return unchanged(task);
    };
    if waits_for != run {
        return unchanged(task);
    }
    match outcome {
        Played::Pushed {
            base,
            head,
            report,
            discrepancies,
        } => pushed(task, turn, base, head, report, discrepancies),
        Played::NoChange { base, report } => no_change(task, base, report, at),
        Played::Held { base, report, items } => held(task, base, report, items, at),
        Played::Overtaken { head } => overtaken(task, turn, head),
        Played::Failed { failure, partial } => player_failed(task, failure, partial),
    }
}

fn pushed(
    mut task: Task,
    turn: TurnNumber,
    base: Sha,
    head: Sha,
    report: PlayerReport,
    discrepancies: Vec<Discrepancy>,
) -> Step {
    task.head = Some(head.clone());
    if let Some(open) = task.turns.last_mut() {
        open.base = Some(base);
        open.head = Some(head);
        open.work = Work::Pushed;
        open.report = Some(report);
        open.discrepancies = discrepancies;
    }
    let mut effects = Vec::new();
    if task.pull.is_none() {
        effects.push(ask(&mut task, TaskWork::OpenPull));
    }
    effects.push(verify(&mut task, turn));
    Step {
        task,
        effects,
        stop: Stop::Nothing,
    }
}

fn no_change(mut task: Task, base: Sha, report: PlayerReport, at: Millis) -> Step {
    let twice = task
        .turns_now()
        .rev()
        .nth(1)
        .is_some_and(|before| before.work == Work::NoChange);
    let verdict = feedback_without_coach(vec![Issue {
        severity: Severity::MustFix,
        category: "no_change".to_owned(),
        description: "The turn ended without any change to the repository.".to_owned(),
        file: None,
        line: None,
        suggestion: None,
    }]);
    close_turn(&mut task, Work::NoChange, Some(base), Some(report), verdict, at);
    let effects = announce(&mut task);
    if twice {
        block(task, BlockReason::NoChangeTwice, effects)
    } else {
        next_or_blocked(task, at, effects)
    }
}

fn held(mut task: Task, base: Sha, report: PlayerReport, items: Vec<Issue>, at: Millis) -> Step {
    close_turn(
        &mut task,
        Work::Held,
        Some(base),
        Some(report),
        feedback_without_coach(items),
        at,
    );
    let effects = announce(&mut task);
    next_or_blocked(task, at, effects)
}

fn close_turn(
    task: &mut Task,
    work: Work,
    base: Option<Sha>,
    report: Option<PlayerReport>,
    verdict: Verdict,
    at: Millis,
) {
    if let Some(open) = task.turns.last_mut() {
        open.work = work;
        open.base = base;
        open.report = report;
        open.verdict = Some(verdict);
        open.ended_at = Some(at);
    }
}

/// A person pushed while the Player ran: its work is dropped and the same turn is done again from their commit.
pub(super) fn overtaken(mut task: Task, turn: TurnNumber, head: Sha) -> Step {
    if let Some(open) = task.turns.last_mut() {
        open.base = Some(head.clone());
    }
    task.head = Some(head);
    let asked = ask(&mut task, TaskWork::Play);
    task.state = State::PlayerTurn { turn, run: asked.run };
    Step {
        task,
        effects: vec![asked],
        stop: Stop::Work,
    }
}

/// A failure that is not the agents' verdict uses up no turn: the open turn is taken back, with what it was told.
fn player_failed(mut task: Task, failure: AgentFailure, partial: Option<Sha>) -> Step {
    take_back_turn(&mut task);
    if partial.is_some() {
        task.head = partial;
    }
    let mut effects = Vec::new();
    if task.pull.is_none() && task.head.is_some() {
        effects.push(ask(&mut task, TaskWork::OpenPull));
    }
    block(task, BlockReason::AgentFailed { failure }, effects)
}

/// Removes the open turn and gives what it was told back to the next one.
pub(super) fn take_back_turn(task: &mut Task) {
    if task.turns.last().is_some_and(|turn| turn.verdict.is_none())
        && let Some(open) = task.turns.pop()
    {
        let mut guidance = open.told.guidance;
        guidance.append(&mut task.next.guidance);
        task.next.guidance = guidance;
        task.next.conflict = task.next.conflict.take().or(open.told.conflict);
    }
}

fn pull_opened(mut task: Task, pull: PullNumber, branch: &str) -> Step {
    if task.pull.is_some() || task.branch != branch || task.is_over() {
        return unchanged(task);
    }
    task.pull = Some(pull);
    // What a verdict or a block wanted to say while there was no pull request is said now.
    let effects = if task.is_blocked() {
        vec![ask(&mut task, TaskWork::PostBlocked)]
    } else {
        Vec::new()
    };
    Step {
        task,
        effects,
        stop: Stop::Nothing,
    }
}

fn gated(mut task: Task, run: u64, head: &Sha, report: GateReport) -> Step {
    let State::CoachTurn {
        turn,
        stage: Stage::Gates,
        run: waits_for,
    } = task.state
    else {
        return unchanged(task);
    };
    if waits_for != run || task.last_turn().and_then(|open| open.head.as_ref()) != Some(head) {
        return unchanged(task);
    }
    let found = profile(task.plan.kind, &report);
    if let Some(open) = task.turns.last_mut() {
        open.gates = Some(report);
    }
    match found {
        Profile::Absent(reasons) => block(task, BlockReason::GatesAbsent { reasons }, Vec::new()),
        Profile::Passed | Profile::Failed(_) => {
            let asked = ask(&mut task, TaskWork::Coach);
            task.state = State::CoachTurn {
                turn,
                stage: Stage::Coach,
                run: asked.run,
            };
            Step {
                task,
                effects: vec![asked],
                stop: Stop::Nothing,
            }
        }
    }
}

fn judged(mut task: Task, run: u64, head: &Sha, judgement: Judgement, at: Millis, rules: &Rules) -> Step {
    let State::CoachTurn {
        turn,
        stage: Stage::Coach,
        run: waits_for,
    } = task.state
    else {
        return unchanged(task);
    };
    if waits_for != run || task.last_turn().and_then(|open| open.head.as_ref()) != Some(head) {
        return unchanged(task);
    }
    let verdict = match judgement {
        Judgement::Verdict(verdict) => verdict,
        Judgement::EvidenceAbsent { reasons } => {
            return block(task, BlockReason::GatesAbsent { reasons }, Vec::new());
        }
    };
    let outcome = verdict.outcome;
    if let Some(open) = task.turns.last_mut() {
        open.verdict = Some(verdict);
        open.ended_at = Some(at);
    }
    let effects = announce(&mut task);
    match outcome {
        Outcome::Approve => approved(task, turn, at, rules, effects),
        Outcome::Feedback => next_or_blocked(task, at, effects),
    }
}

/// An approval holds for one commit and not over a person's open request for changes.
fn approved(mut task: Task, turn: TurnNumber, at: Millis, rules: &Rules, mut effects: Vec<Asked>) -> Step {
    let told = task
        .turn(turn)
        .map(|turn| turn.told.reviews.clone())
        .unwrap_or_default();
    if task.next.reviews.iter().any(|review| !told.contains(review)) {
        return start_turn(task, TurnKind::Full, at, effects);
    }
    if let Some(review) = task.next.reviews.first() {
        let by = review.by.clone();
        return block(task, BlockReason::OpenReview { by }, effects);
    }
    if task.turn(turn).and_then(|turn| turn.head.clone()) != task.head {
        return start_turn(task, TurnKind::VerifyOnly, at, effects);
    }
    effects.append(&mut approve(&mut task, turn, Approval::Coach, rules));
    Step {
        task,
        effects,
        stop: Stop::Nothing,
    }
}

/// Puts the task into `approved` and asks for what leads to its merge.
pub(super) fn approve(task: &mut Task, turn: TurnNumber, by: Approval, rules: &Rules) -> Vec<Asked> {
    let mut effects = vec![ask(task, TaskWork::MarkReady)];
    let merge = match rules.merge {
        MergePolicy::Human => MergeState::Person,
        MergePolicy::Auto => {
            let asked = ask(task, TaskWork::Merge);
            let run = asked.run;
            effects.push(asked);
            MergeState::Due { run }
        }
    };
    task.state = State::Approved { turn, by, merge };
    effects
}

/// Says a verdict where people read it, from its row alone.
fn announce(task: &mut Task) -> Vec<Asked> {
    let Some(turn) = task.last_turn().map(|turn| (turn.number, turn.head.is_some())) else {
        return Vec::new();
    };
    match turn {
        (turn, true) => vec![
            ask(task, TaskWork::PostReview { turn }),
            ask(task, TaskWork::PublishCheck { turn }),
        ],
        (turn, false) if task.pull.is_some() => vec![ask(task, TaskWork::PostReview { turn })],
        (_, false) => Vec::new(),
    }
}

fn next_or_blocked(task: Task, at: Millis, effects: Vec<Asked>) -> Step {
    let items: Vec<&[Issue]> = task
        .turns_now()
        .filter_map(|turn| turn.verdict.as_ref())
        .map(|verdict| verdict.items.as_slice())
        .collect();
    if same_issues_three_turns(&items) {
        return block(task, BlockReason::SameIssues, effects);
    }
    if task.last_number() >= task.limit {
        let turns = task.limit;
        return block(task, BlockReason::OutOfTurns { turns }, effects);
    }
    start_turn(task, TurnKind::Full, at, effects)
}

/// Stops the task until a person decides.
pub(super) fn block(mut task: Task, reason: BlockReason, mut effects: Vec<Asked>) -> Step {
    task.state = State::Blocked { reason };
    // Before there is a pull request the report stands on the issue; while it is being opened, the report waits for it.
    if task.pull.is_some() || task.head.is_none() {
        effects.push(ask(&mut task, TaskWork::PostBlocked));
    }
    Step {
        task,
        effects,
        stop: Stop::Work,
    }
}

fn coach_failed(task: Task, run: u64, failure: AgentFailure) -> Step {
    match task.state {
        State::CoachTurn {
            stage: Stage::Coach,
            run: waits_for,
            ..
        } if waits_for == run => block(task, BlockReason::AgentFailed { failure }, Vec::new()),
        _ => unchanged(task),
    }
}

fn merged(mut task: Task, run: u64, commit: Sha) -> Step {
    match task.state {
        State::Approved {
            merge: MergeState::Due { run: waits_for },
            ..
        } if waits_for == run => {
            task.state = State::Completed {
                commit: Some(commit),
                by: MergedBy::AutoBuild,
            };
            Step {
                task,
                effects: Vec::new(),
                stop: Stop::Nothing,
            }
        }
        _ => unchanged(task),
    }
}

fn merge_refused(mut task: Task, run: u64, rule: String) -> Step {
    match &mut task.state {
        State::Approved { merge, .. } if *merge == (MergeState::Due { run }) => {
            *merge = MergeState::Refused { rule };
            unchanged(task)
        }
        _ => unchanged(task),
    }
}

fn merge_conflict(mut task: Task, run: u64, files: Vec<String>, at: Millis) -> Step {
    match task.state {
        State::Approved {
            merge: MergeState::Due { run: waits_for },
            ..
        } if waits_for == run => {
            task.next.conflict = Some(Conflict { files });
            start_turn(task, TurnKind::Conflict, at, Vec::new())
        }
        _ => unchanged(task),
    }
}

fn stuck(mut task: Task, run: u64, reason: BlockReason) -> Step {
    let waits = match &task.state {
        State::PreLoop { run: waits_for }
        | State::PlayerTurn { run: waits_for, .. }
        | State::CoachTurn { run: waits_for, .. } => *waits_for == run || task.pull.is_none(),
        State::Approved {
            merge: MergeState::Due { run: waits_for },
            ..
        } => *waits_for == run,
        State::Blocked { .. } => {
            // The pull request that the report waited for will not come: the report stands on the issue.
            let effects = if task.pull.is_none() {
                vec![ask(&mut task, TaskWork::PostBlocked)]
            } else {
                Vec::new()
            };
            return Step {
                task,
                effects,
                stop: Stop::Nothing,
            };
        }
        State::Pending
        | State::Approved { .. }
        | State::Completed { .. }
        | State::Skipped { .. }
        | State::Cancelled => false,
    };
    if !waits {
        return unchanged(task);
    }
    if matches!(task.state, State::PlayerTurn { .. }) {
        take_back_turn(&mut task);
    }
    block_saying_now(task, reason)
}

fn block_saying_now(mut task: Task, reason: BlockReason) -> Step {
    task.state = State::Blocked { reason };
    let effects = vec![ask(&mut task, TaskWork::PostBlocked)];
    Step {
        task,
        effects,
        stop: Stop::Work,
    }
}

fn need_gone(task: Task, need: TaskId) -> Step {
    match task.state {
        State::Pending if task.plan.dependencies.contains(&need) && !task.without.contains(&need) => {
            block(task, BlockReason::NeedGone { task: need }, Vec::new())
        }
        _ => unchanged(task),
    }
}
