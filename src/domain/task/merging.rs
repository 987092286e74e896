//! What becomes of a task's pull request when AutoBuild opens or merges it.

use crate::domain::effect::TaskWork;
use crate::domain::ids::Millis;
use crate::domain::ids::PullNumber;
use crate::domain::ids::Sha;
use crate::domain::task::Conflict;
use crate::domain::task::MergeState;
use crate::domain::task::MergedBy;
use crate::domain::task::State;
use crate::domain::task::Step;
use crate::domain::task::Stop;
use crate::domain::task::Task;
use crate::domain::task::TurnKind;
use crate::domain::task::step::ask;
use crate::domain::task::step::start_turn;
use crate::domain::task::step::unchanged;

pub(super) fn pull_opened(mut task: Task, pull: PullNumber, branch: &str) -> Step {
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

pub(super) fn merged(mut task: Task, run: u64, commit: Sha) -> Step {
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

pub(super) fn merge_refused(mut task: Task, run: u64, rule: String) -> Step {
    match &mut task.state {
        State::Approved { merge, .. } if *merge == (MergeState::Due { run }) => {
            *merge = MergeState::Refused { rule };
            unchanged(task)
        }
        _ => unchanged(task),
    }
}

pub(super) fn merge_conflict(mut task: Task, run: u64, files: Vec<String>, at: Millis) -> Step {
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
