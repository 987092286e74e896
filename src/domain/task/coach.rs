//! What happens when Gates and Coach end: approval, the next turn, or a block.

use crate::domain::blocked::AgentFailure;
use crate::domain::blocked::BlockReason;
use crate::domain::blocked::same_issues_three_turns;
use crate::domain::contract::Judgement;
use crate::domain::decision::Issue;
use crate::domain::decision::Outcome;
use crate::domain::effect::TaskWork;
use crate::domain::evidence::GateReport;
use crate::domain::evidence::Profile;
use crate::domain::evidence::profile;
use crate::domain::ids::Millis;
use crate::domain::ids::Sha;
use crate::domain::ids::TurnNumber;
use crate::domain::task::Approval;
use crate::domain::task::Asked;
use crate::domain::task::MergePolicy;
use crate::domain::task::MergeState;
use crate::domain::task::Rules;
use crate::domain::task::Stage;
use crate::domain::task::State;
use crate::domain::task::Step;
use crate::domain::task::Stop;
use crate::domain::task::Task;
use crate::domain::task::TurnKind;
use crate::domain::task::step::ask;
use crate::domain::task::step::block;
use crate::domain::task::step::start_turn;
use crate::domain::task::step::unchanged;

pub(super) fn gated(mut task: Task, run: u64, head: &Sha, report: GateReport) -> Step {
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

pub(super) fn judged(mut task: Task, run: u64, head: &Sha, judgement: Judgement, at: Millis, rules: &Rules) -> Step {
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
    let effects = announce(&mut task);
    match outcome {
        Outcome::Approve => approved(task, turn, at, rules, effects),
        Outcome::Feedback => next_or_blocked(task, at, effects),
    }
}

/// An approval holds for one commit and not over a person's open request for changes.
pub(super) fn approved(mut task: Task, turn: TurnNumber, at: Millis, rules: &Rules, mut effects: Vec<Asked>) -> Step {
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
pub(super) fn announce(task: &mut Task) -> Vec<Asked> {
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

pub(super) fn next_or_blocked(task: Task, at: Millis, effects: Vec<Asked>) -> Step {
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

pub(super) fn coach_failed(task: Task, run: u64, failure: AgentFailure) -> Step {
    match task.state {
        State::CoachTurn {
            stage: Stage::Coach,
            run: waits_for,
            ..
        } if waits_for == run => block(task, BlockReason::AgentFailed { failure }, Vec::new()),
        _ => unchanged(task),
    }
}
