//! What follows from people's hands on a task's branch and pull request: pushes, reviews, closing, merging.

use crate::domain::blocked::BlockReason;
use crate::domain::decision::Outcome;
use crate::domain::ids::Millis;
use crate::domain::ids::PullNumber;
use crate::domain::ids::Sha;
use crate::domain::ids::User;
use crate::domain::task::Approval;
use crate::domain::task::HumanReview;
use crate::domain::task::MergedBy;
use crate::domain::task::Rules;
use crate::domain::task::State;
use crate::domain::task::Step;
use crate::domain::task::Stop;
use crate::domain::task::Task;
use crate::domain::task::TurnKind;
use crate::domain::task::coach::approve;
use crate::domain::task::people::dismiss;
use crate::domain::task::people::go_on_from_block;
use crate::domain::task::player::overtaken;
use crate::domain::task::step::block;
use crate::domain::task::step::start_turn;
use crate::domain::task::step::take_back_turn;
use crate::domain::task::step::unchanged;

pub(super) fn pull_closed(mut task: Task, by: User, pull: PullNumber) -> Step {
    if task.is_over() || task.pull != Some(pull) {
        return unchanged(task);
    }
    let effects = dismiss(&mut task, &by);
    task.state = State::Cancelled;
    Step {
        task,
        effects,
        stop: Stop::Work,
    }
}

pub(super) fn reopened(mut task: Task, pull: PullNumber, turns: u32, at: Millis) -> Step {
    if task.state != State::Cancelled || task.pull != Some(pull) {
        return unchanged(task);
    }
    task.limit = task.limit.max(task.last_number());
    go_on_from_block(task, true, turns, at)
}

pub(super) fn merged_by_hand(mut task: Task, by: User, commit: Option<Sha>) -> Step {
    if task.is_over() {
        return unchanged(task);
    }
    let by = match task.state {
        State::Approved { .. } => MergedBy::Person(by),
        State::Pending
        | State::PreLoop { .. }
        | State::PlayerTurn { .. }
        | State::CoachTurn { .. }
        | State::Blocked { .. }
        | State::Completed { .. }
        | State::Skipped { .. }
        | State::Cancelled => MergedBy::PersonWithoutApproval(by),
    };
    task.state = State::Completed { commit, by };
    Step {
        task,
        effects: Vec::new(),
        stop: Stop::Work,
    }
}

/// The next turn starts from a person's commit; what is approved is verified again; a running Player starts over.
pub(super) fn pushed(mut task: Task, head: Sha, at: Millis) -> Step {
    if task.head.as_ref() == Some(&head) {
        return unchanged(task);
    }
    match task.state {
        State::PlayerTurn { turn, .. } => overtaken(task, turn, head),
        State::Approved { .. } => {
            task.head = Some(head);
            start_turn(task, TurnKind::VerifyOnly, at, Vec::new())
        }
        State::CoachTurn { .. } | State::Blocked { .. } => {
            task.head = Some(head);
            unchanged(task)
        }
        State::Pending | State::PreLoop { .. } | State::Completed { .. } | State::Skipped { .. } | State::Cancelled => {
            unchanged(task)
        }
    }
}

pub(super) fn force_pushed(mut task: Task, by: User, head: Sha) -> Step {
    if task.is_over() || task.state == State::Pending {
        return unchanged(task);
    }
    take_back_turn(&mut task);
    task.head = Some(head);
    block(task, BlockReason::ForcePushed { by }, Vec::new())
}

/// A person's request for changes starts a turn, or waits for the next one, and grants one turn beyond the limit.
pub(super) fn changes_requested(mut task: Task, review: HumanReview, at: Millis) -> Step {
    if task.is_over() || task.next.reviews.iter().any(|known| known.id == review.id) {
        return unchanged(task);
    }
    task.next.reviews.push(review);
    task.limit = task.limit.saturating_add(1);
    match task.state {
        State::Approved { .. } | State::Blocked { .. } => {
            task.limit = task.limit.max(task.last_number().saturating_add(1));
            take_back_turn(&mut task);
            start_turn(task, TurnKind::Full, at, Vec::new())
        }
        State::Pending
        | State::PreLoop { .. }
        | State::PlayerTurn { .. }
        | State::CoachTurn { .. }
        | State::Completed { .. }
        | State::Skipped { .. }
        | State::Cancelled => unchanged(task),
    }
}

pub(super) fn changes_withdrawn(mut task: Task, by: &User, rules: &Rules) -> Step {
    task.next.reviews.retain(|review| review.by.id != by.id);
    let last = task
        .last_turn()
        .map(|turn| (turn.number, turn.verdict.as_ref().map(|verdict| verdict.outcome)));
    match (&task.state, last) {
        (
            State::Blocked {
                reason: BlockReason::OpenReview { .. },
            },
            Some((turn, Some(Outcome::Approve))),
        ) if task.next.reviews.is_empty() => {
            let effects = approve(&mut task, turn, Approval::Coach, rules);
            Step {
                task,
                effects,
                stop: Stop::Nothing,
            }
        }
        _ => unchanged(task),
    }
}
