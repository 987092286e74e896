//! What follows from people's reviews of a task's pull request.

use crate::{
    blocked::BlockReason,
    ids::{Millis, ReviewId, Sha, User},
    task::{
        blocking::take_back_turn,
        coach::approve,
        moves::{Step, Stop, unchanged},
        overriding::overridden,
        resuming::{Left, approve_again, left, next_kind},
        rules::Rules,
        starting::start_turn,
        state::{MergeState, Stage, State},
        task::Task,
        turn::{HumanReview, TurnKind},
    },
};

/// The most remarks that wait for the next Coach: anyone may write them.
const MOST_REMARKS: usize = 20;

/// A person's request for changes starts a turn, or waits for the next one, and grants one turn beyond the limit.
pub(super) fn changes_requested(mut task: Task, review: HumanReview, at: Millis) -> Step {
    if task.is_over() || task.next.reviews.iter().any(|known| known.id == review.id) {
        return unchanged(task);
    }
    task.next.reviews.push(review);
    task.limit = task.limit.saturating_add(1);
    match task.state {
        // These wait for another decision of a person first.
        State::Blocked {
            reason: BlockReason::Paused { .. } | BlockReason::NeedGone { .. },
        } => unchanged(task),
        State::Approved { .. } | State::Blocked { .. } => {
            take_back_turn(&mut task);
            task.limit = task.limit.max(task.last_number().saturating_add(1));
            let kind = next_kind(&task);
            start_turn(task, kind, at, Vec::new())
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

/// Takes back what one person asked for up to a review. When the last open request for changes is gone, an approval
/// that only waited for that holds.
pub(super) fn changes_withdrawn(mut task: Task, by: &User, until: ReviewId, at: Millis, rules: &Rules) -> Step {
    let is_open = |review: &HumanReview| review.by.id != by.id || review.id > until;
    task.next.reviews.retain(is_open);
    let State::Blocked {
        reason: BlockReason::OpenReview { .. },
    } = task.state
    else {
        return unchanged(task);
    };
    if let Some(open) = task.next.reviews.first() {
        let by = open.by.clone();
        task.state = State::Blocked {
            reason: BlockReason::OpenReview { by },
        };
        return unchanged(task);
    }
    match left(&task) {
        Left::Merge(turn) => {
            let effects = approve_again(&mut task, turn, rules);
            Step {
                task,
                effects,
                stop: Stop::Nothing,
            }
        }
        Left::Verify(_) | Left::NextTurn => start_turn(task, TurnKind::VerifyOnly, at, Vec::new()),
    }
}

/// An approval takes the same person's requests for changes back. Where the task stays blocked it overrides, if they saw
/// the very commit; and where a rule refused the merge, it may be what the rule asked for.
pub(super) fn approved(
    task: Task,
    by: User,
    review: ReviewId,
    commit: Option<&Sha>,
    at: Millis,
    rules: &Rules,
) -> Step {
    let Step {
        mut task,
        mut effects,
        stop,
    } = changes_withdrawn(task, &by, review, at, rules);
    if task.head.as_ref() != commit {
        return Step { task, effects, stop };
    }
    if task.is_blocked() {
        let mut step = overridden(task, by, at, rules);
        effects.append(&mut step.effects);
        return Step { effects, ..step };
    }
    if let State::Approved {
        turn,
        by: approval,
        merge: MergeState::Refused { .. },
    } = task.state.clone()
    {
        effects.append(&mut approve(&mut task, turn, approval, rules));
    }
    Step { task, effects, stop }
}

/// A review that decides nothing is shown to one Coach: the next one that looks.
pub(super) fn remarked(mut task: Task, review: HumanReview) -> Step {
    let told = task.turns.iter().flat_map(|turn| &turn.told.remarks);
    let is_known = told.chain(&task.next.remarks).any(|known| known.id == review.id);
    if task.is_over() || is_known {
        return unchanged(task);
    }
    let coach_comes = match task.state {
        State::PlayerTurn { .. } => true,
        State::CoachTurn { stage, .. } => match stage {
            Stage::Gates | Stage::Ci => true,
            Stage::Coach => false,
        },
        State::Pending
        | State::PreLoop { .. }
        | State::Approved { .. }
        | State::Blocked { .. }
        | State::Completed { .. }
        | State::Skipped { .. }
        | State::Cancelled => false,
    };
    let open = task.turns.last_mut().filter(|_| coach_comes);
    let told = open.map_or(&mut task.next.remarks, |turn| &mut turn.told.remarks);
    if told.len() < MOST_REMARKS {
        told.push(review);
    }
    unchanged(task)
}
