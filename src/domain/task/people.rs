//! What people do to a Task: commands, pushes, reviews, and hands on its pull request.

use crate::domain::blocked::BlockReason;
use crate::domain::decision::Outcome;
use crate::domain::effect::ClosedWhy;
use crate::domain::effect::DismissedWhy;
use crate::domain::effect::TaskWork;
use crate::domain::evidence::Profile;
use crate::domain::evidence::profile;
use crate::domain::ids::Millis;
use crate::domain::ids::User;
use crate::domain::task::Approval;
use crate::domain::task::Asked;
use crate::domain::task::Guidance;
use crate::domain::task::PersonDid;
use crate::domain::task::Rules;
use crate::domain::task::State;
use crate::domain::task::Step;
use crate::domain::task::Stop;
use crate::domain::task::Task;
use crate::domain::task::TurnKind;
use crate::domain::task::Waiver;
use crate::domain::task::branch_name;
use crate::domain::task::coach::approve;
use crate::domain::task::hands::changes_requested;
use crate::domain::task::hands::changes_withdrawn;
use crate::domain::task::hands::force_pushed;
use crate::domain::task::hands::merged_by_hand;
use crate::domain::task::hands::pull_closed;
use crate::domain::task::hands::pushed;
use crate::domain::task::hands::reopened;
use crate::domain::task::step::ask;
use crate::domain::task::step::block;
use crate::domain::task::step::start_turn;
use crate::domain::task::step::take_back_turn;
use crate::domain::task::step::unchanged;
use crate::domain::task::step::verify;

pub(super) fn did(task: Task, by: User, did: PersonDid, at: Millis, rules: &Rules) -> Step {
    match did {
        PersonDid::Resume { guidance, turns } => resume(task, by, guidance, turns, at),
        PersonDid::Override => overridden(task, by, rules),
        PersonDid::Retry { turns } => retry(task, by, turns, rules),
        PersonDid::Skip => skip(task, by),
        PersonDid::Pause => pause(task, by),
        PersonDid::Cancel => cancel(task, by),
        PersonDid::ClosePull { pull } => pull_closed(task, by, pull),
        PersonDid::ReopenPull { pull, turns } => reopened(task, pull, turns, at),
        PersonDid::MergePull { commit } => merged_by_hand(task, by, commit),
        PersonDid::Push { head } => pushed(task, head, at),
        PersonDid::ForcePush { head } => force_pushed(task, by, head),
        PersonDid::RequestChanges(review) => changes_requested(task, review, at),
        PersonDid::WithdrawChanges => changes_withdrawn(task, &by, rules),
    }
}

pub(super) fn resume(mut task: Task, by: User, guidance: Option<String>, turns: u32, at: Millis) -> Step {
    let State::Blocked { reason } = &task.state else {
        return unchanged(task);
    };
    if let BlockReason::NeedGone { task: need } = reason {
        task.without.push(*need);
    }
    let verify_again = guidance.is_none();
    if let Some(text) = guidance {
        task.next.guidance.push(Guidance { by, text });
    }
    go_on_from_block(task, verify_again, turns, at)
}

/// A commit that nobody judged yet is verified; everything else is a new turn. A task without any turn waits for its
/// wave, which may be open already.
pub(super) fn go_on_from_block(mut task: Task, verify_again: bool, turns: u32, at: Millis) -> Step {
    let unjudged = task
        .last_turn()
        .filter(|turn| turn.verdict.is_none() && turn.head.is_some() && turn.head == task.head)
        .map(|turn| turn.number);
    match unjudged {
        Some(turn) if verify_again => {
            task.limit = task.limit.max(turn.0);
            let asked = verify(&mut task, turn);
            return Step {
                task,
                effects: vec![asked],
                stop: Stop::Work,
            };
        }
        Some(_) | None => take_back_turn(&mut task),
    }
    task.limit = task.last_number().saturating_add(turns);
    if task.turns_now().next().is_none() && task.head.is_none() {
        task.state = State::Pending;
        return unchanged(task);
    }
    let kind = if task.next.conflict.is_some() {
        TurnKind::Conflict
    } else {
        TurnKind::Full
    };
    start_turn(task, kind, at, Vec::new())
}

pub(super) fn overridden(mut task: Task, by: User, rules: &Rules) -> Step {
    let (State::Blocked { .. }, Some(turn), Some(_)) = (&task.state, task.last_turn().map(|t| t.number), task.pull)
    else {
        return unchanged(task);
    };
    task.waived.push(Waiver {
        by: by.clone(),
        what: waived(&task),
    });
    let why = DismissedWhy::Overridden;
    let mut effects = vec![
        ask(&mut task, TaskWork::DismissReview { by: by.clone(), why }),
        ask(&mut task, TaskWork::PublishCheck { turn }),
    ];
    effects.append(&mut approve(&mut task, turn, Approval::Override(by), rules));
    Step {
        task,
        effects,
        stop: Stop::Work,
    }
}

/// Everything that stood against the task when a person overrode the Coach.
pub(super) fn waived(task: &Task) -> Vec<String> {
    let Some(turn) = task.last_turn() else {
        return Vec::new();
    };
    let gates = turn.gates.as_ref().map(|gates| profile(task.plan.kind, gates));
    let mut what = match gates {
        Some(Profile::Failed(reasons) | Profile::Absent(reasons)) => reasons,
        Some(Profile::Passed) => Vec::new(),
        None => vec!["no Gate ran on this commit".to_owned()],
    };
    match &turn.verdict {
        Some(verdict) => {
            what.extend(verdict.broken_contracts.iter().cloned());
            what.extend(verdict.items.iter().map(|item| item.description.clone()));
        }
        None => what.push("no Coach judged this commit".to_owned()),
    }
    what
}

pub(super) fn retry(mut task: Task, by: User, turns: u32, rules: &Rules) -> Step {
    if task.is_completed() {
        return unchanged(task);
    }
    take_back_turn(&mut task);
    let attempt = task.attempt.saturating_add(1);
    let branch = branch_name(&rules.branch_prefix, &task.plan, attempt);
    let old = task.pull.take();
    let effects = old
        .map(|pull| {
            ask(
                &mut task,
                TaskWork::ClosePull {
                    pull,
                    why: ClosedWhy::Retried {
                        by,
                        branch: branch.clone(),
                    },
                },
            )
        })
        .into_iter()
        .collect();
    task.attempt = attempt;
    task.branch = branch;
    task.head = None;
    task.next.conflict = None;
    task.next.reviews.clear();
    task.limit = task.last_number().saturating_add(turns);
    task.state = State::Pending;
    Step {
        task,
        effects,
        stop: Stop::Work,
    }
}

pub(super) fn skip(mut task: Task, by: User) -> Step {
    if task.is_over() {
        return unchanged(task);
    }
    let why = ClosedWhy::Skipped { by: by.clone() };
    let effects = leave_pull(&mut task, &by, why);
    task.state = State::Skipped { by };
    Step {
        task,
        effects,
        stop: Stop::Work,
    }
}

/// The running agent ends; what would follow it does not start.
pub(super) fn pause(mut task: Task, by: User) -> Step {
    if task.is_over() || task.is_blocked() {
        return unchanged(task);
    }
    if task.state == State::Pending {
        return block(task, BlockReason::Paused { by }, Vec::new());
    }
    task.pause = Some(by);
    unchanged(task)
}

pub(super) fn cancel(mut task: Task, by: User) -> Step {
    if task.is_over() {
        return unchanged(task);
    }
    let effects = leave_pull(&mut task, &by, ClosedWhy::Cancelled);
    task.state = State::Cancelled;
    Step {
        task,
        effects,
        stop: Stop::Work,
    }
}

/// Dismisses the Coach's request for changes, if the last word was one, and closes the pull request.
pub(super) fn leave_pull(task: &mut Task, by: &User, why: ClosedWhy) -> Vec<Asked> {
    let Some(pull) = task.pull else { return Vec::new() };
    let mut effects = dismiss(task, by);
    effects.push(ask(task, TaskWork::ClosePull { pull, why }));
    effects
}

pub(super) fn dismiss(task: &mut Task, by: &User) -> Vec<Asked> {
    let asked_for_changes = task.is_blocked()
        || task
            .last_verdict()
            .is_some_and(|verdict| verdict.outcome == Outcome::Feedback);
    match task.pull {
        Some(_) if asked_for_changes => {
            let work = TaskWork::DismissReview {
                by: by.clone(),
                why: DismissedWhy::Cancelled,
            };
            vec![ask(task, work)]
        }
        Some(_) | None => Vec::new(),
    }
}

pub(super) fn cancelled_with_feature(mut task: Task) -> Step {
    if task.is_over() {
        return unchanged(task);
    }
    let effects = match task.pull {
        Some(pull) => vec![ask(
            &mut task,
            TaskWork::ClosePull {
                pull,
                why: ClosedWhy::Cancelled,
            },
        )],
        None => Vec::new(),
    };
    task.state = State::Cancelled;
    Step {
        task,
        effects,
        stop: Stop::Work,
    }
}
