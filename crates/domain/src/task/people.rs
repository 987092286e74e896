//! What people say to a Task: its commands.

use crate::{
    blocked::BlockReason,
    effect::{ClosedWhy, TaskWork},
    ids::{Millis, User},
    task::{
        blocking::{block, take_back_turn},
        branch::branch_name,
        coach::{approve, dismiss},
        event::PersonDid,
        hands,
        moves::{Asked, Step, Stop, ask, unchanged},
        overriding, rerun,
        resuming::go_on,
        reviews,
        rules::Rules,
        state::State,
        task::Task,
        turn::Guidance,
    },
};

pub(super) fn did(task: Task, by: User, did: PersonDid, at: Millis, rules: &Rules) -> Step {
    match did {
        PersonDid::Resume { guidance, turns } => resume(task, by, guidance, turns, at, rules),
        PersonDid::Override => overriding::overridden(task, by, at, rules),
        PersonDid::Retry { turns } => retry(task, by, turns, rules),
        PersonDid::Skip => skip(task, by),
        PersonDid::Pause => pause(task, by),
        PersonDid::Cancel => cancel(task, &by),
        PersonDid::ClosePull { pull } => hands::pull_closed(task, &by, pull),
        PersonDid::ReopenPull { pull, turns } => hands::reopened(task, pull, turns, at, rules),
        PersonDid::MergePull { commit } => hands::merged_by_hand(task, by, commit),
        PersonDid::Push { head } => hands::pushed(task, head, at),
        PersonDid::Rerun { head } => rerun::rerun(task, &head, at),
        PersonDid::ForcePush { head } => hands::force_pushed(task, by, head),
        PersonDid::RequestChanges(review) => reviews::changes_requested(task, review, at),
        PersonDid::Approve { review, commit } => reviews::approved(task, by, review, commit.as_ref(), at, rules),
        PersonDid::WithdrawChanges { until } => reviews::changes_withdrawn(task, &by, until, at, rules),
        PersonDid::Remark(review) => reviews::remarked(task, review),
    }
}

fn resume(mut task: Task, by: User, guidance: Option<String>, turns: u32, at: Millis, rules: &Rules) -> Step {
    if !task.can_resume() {
        return unchanged(task);
    }
    task.pause = None;
    let words = guidance.is_some();
    if let Some(text) = guidance {
        task.next.guidance.push(Guidance { by, text });
    }
    match task.state.clone() {
        State::Blocked {
            reason: BlockReason::NeedGone { task: need },
        } => {
            task.without.push(need);
            go_on(task, turns, at, rules)
        }
        State::Blocked { .. } => go_on(task, turns, at, rules),
        State::Approved { .. } if words => go_on(task, turns, at, rules),
        // The rule that refused the merge may be gone.
        State::Approved { turn, by, .. } => {
            let effects = approve(&mut task, turn, by, rules);
            Step {
                task,
                effects,
                stop: Stop::Nothing,
            }
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

fn retry(mut task: Task, by: User, turns: u32, rules: &Rules) -> Step {
    if task.is_completed() {
        return unchanged(task);
    }
    take_back_turn(&mut task);
    let attempt = task.attempt.saturating_add(1);
    let branch = branch_name(&rules.branch_prefix, &task.plan, attempt);
    let closes = task.pull.take().map(|pull| TaskWork::ClosePull {
        pull,
        why: ClosedWhy::Retried {
            by,
            branch: branch.clone(),
        },
    });
    let effects = closes.map(|work| ask(&mut task, work)).into_iter().collect();
    task.attempt = attempt;
    task.branch = branch;
    task.head = None;
    task.opening = None;
    task.next.conflict = None;
    task.next.reviews.clear();
    task.next.remarks.clear();
    task.limit = task.last_number().saturating_add(turns.max(1));
    task.state = State::Pending;
    Step {
        task,
        effects,
        stop: Stop::Work,
    }
}

fn skip(task: Task, by: User) -> Step {
    let why = ClosedWhy::Skipped { by: by.clone() };
    give_up(task, Some(&by), why, State::Skipped { by: by.clone() })
}

fn cancel(task: Task, by: &User) -> Step {
    give_up(task, Some(by), ClosedWhy::Cancelled, State::Cancelled)
}

pub(super) fn cancelled_with_feature(task: Task, by: Option<&User>) -> Step {
    give_up(task, by, ClosedWhy::Cancelled, State::Cancelled)
}

/// Ends a task that is not over: its request for changes is dismissed, its pull request closed, its branch stays.
fn give_up(mut task: Task, by: Option<&User>, why: ClosedWhy, ended: State) -> Step {
    if task.is_over() {
        return unchanged(task);
    }
    let mut effects: Vec<Asked> = by.and_then(|by| dismiss(&mut task, by)).into_iter().collect();
    if let Some(pull) = task.pull {
        effects.push(ask(&mut task, TaskWork::ClosePull { pull, why }));
    }
    task.pause = None;
    task.state = ended;
    Step {
        task,
        effects,
        stop: Stop::Work,
    }
}

/// The running agent ends; what would follow it does not start.
fn pause(mut task: Task, by: User) -> Step {
    match task.state {
        State::Pending | State::Approved { .. } => block(task, BlockReason::Paused { by }, Vec::new()),
        State::PreLoop { .. } | State::PlayerTurn { .. } | State::CoachTurn { .. } => {
            task.pause = Some(by);
            unchanged(task)
        }
        State::Blocked { .. } | State::Completed { .. } | State::Skipped { .. } | State::Cancelled => unchanged(task),
    }
}
