//! The acts of people on a Feature without a command: labels, closing, merging, reopening, pushing and _Re-run_.

use crate::{
    effect::{Effect, Reply, ReplyTo, Thread},
    feature::{
        added,
        event::NewerRun,
        feature::Feature,
        moves,
        moves::{Step, StopScope, apply_to_task, emit, head_is, unchanged},
        refusal::Refusal,
        state::{CancelledWhy, Continuation, Phase, Reach, State},
        waves,
    },
    ids::{Millis, PullNumber, Sha, TaskId, User},
    task,
    task::{HumanReview, Origin, PersonDid, Task},
};

/// Completes a Feature whose pull request a person merged, in any state. A cancelled one completes too: GitHub merges
/// only open pull requests, so someone reopened it first. If the Feature is still opening its pull request and does not
/// know its number, the merged one is taken for it.
pub(super) fn pull_merged(mut feature: Feature, pull: PullNumber, at: Millis) -> Step {
    let is_opening = matches!(feature.state.phase(), Some(Phase::OpeningPull { .. }));
    let is_ours = feature.pull.map_or(is_opening, |known| known == pull);
    if !is_ours || feature.state == State::Completed {
        return unchanged(feature);
    }
    feature.pull = Some(pull);
    let mut step = end_tasks(unchanged(feature), None, at);
    step.feature.state = State::Completed;
    step.ask(|emission| Effect::CleanUp { emission });
    step
}

/// Handles the reopening of the pull request, which is the only way out of `cancelled`. It counts only if the issue has
/// no newer run. The gate runs again, because commits pushed in the meantime are not tested.
pub(super) fn pull_reopened(mut feature: Feature, pull: PullNumber, newer: NewerRun) -> Step {
    let is_cancelled = matches!(feature.state, State::Cancelled { .. });
    if !is_cancelled || feature.pull != Some(pull) {
        return unchanged(feature);
    }
    match newer {
        NewerRun::None => {
            feature.state = State::InReview;
            moves::check_again(unchanged(feature))
        }
        NewerRun::Exists(run) => {
            let fact = emit(&mut feature);
            let mut step = unchanged(feature);
            step.effects.push(Effect::Reply {
                thread: Thread::Pull(pull),
                to: ReplyTo::Fact(format!("reopened/{pull}/{fact}")),
                reply: Reply::Refused(Refusal::NewerRun { run }),
            });
            step
        }
    }
}

/// Turns a request for changes into one task in its own wave. A Feature in review returns to building. If it is being
/// built already, the new wave comes after the others.
pub(super) fn review_requested(mut feature: Feature, review: &HumanReview, at: Millis) -> Step {
    let known = |task: &Task| matches!(&task.origin, Origin::Review { id, .. } if *id == review.id);
    if !feature.is_unfinished() || feature.pull.is_none() || feature.tasks.iter().any(known) {
        return unchanged(feature);
    }
    feature.tasks.push(added::review(&feature, review));
    if feature.state != State::InReview {
        return waves::settle(unchanged(feature), at);
    }
    moves::next_wave(moves::check_ends(feature))
}

/// Handles a person's push, which nothing has verified together with the rest. While tasks are built, the gate of their
/// wave will do that. In review, or if the Feature is blocked at a gate, the gate runs again.
pub(super) fn integration_pushed(mut feature: Feature, head: Sha) -> Step {
    let integration = feature.integration.as_ref();
    if integration.is_none_or(|integration| integration.head == head) {
        return unchanged(feature);
    }
    let is_opening = matches!(feature.phase(), Some(Phase::OpeningPull { .. }));
    let waiting = feature.waiting_gate();
    if is_opening || waiting.is_some() {
        head_is(&mut feature, head);
    }
    match waiting {
        Some(gate) => gate_once_more(unchanged(feature), gate),
        None => unchanged(feature),
    }
}

/// Runs the gate again for a task that was merged after its wave: the gate that runs or passed does not include it.
pub(super) fn merged_late(mut step: Step) -> Step {
    let gate = if let Some(Phase::Gate { then, .. }) = step.feature.state.phase() {
        Some(WaitingGate::Before(*then))
    } else {
        step.feature.waiting_gate()
    };
    match gate {
        Some(gate) => {
            step.stop.push(StopScope::Feature);
            gate_once_more(step, gate)
        }
        None => step,
    }
}

/// The wave gate that runs once more if a person asks for it or pushes.
enum WaitingGate {
    OfReview,
    /// The gate before this step.
    Before(Continuation),
}

fn gate_once_more(step: Step, gate: WaitingGate) -> Step {
    match gate {
        WaitingGate::OfReview => moves::check_again(step),
        WaitingGate::Before(then) => moves::gate(step, then),
    }
}

/// Cancels an unfinished Feature and all its tasks. Removing the label does nothing in review, nor does closing a pull
/// request before the Feature has one. If AutoBuild has lost its access, nothing more is posted.
pub(super) fn cancelled(mut step: Step, why: CancelledWhy, at: Millis) -> Step {
    let pull_closed = matches!(why, CancelledWhy::PullClosed(_));
    let spared = pull_closed && step.feature.pull.is_none()
        || matches!(why, CancelledWhy::LabelRemoved(_)) && step.feature.state == State::InReview;
    if !step.feature.is_unfinished() || spared {
        return step;
    }
    step = end_tasks(step, why.by().cloned(), at);
    if let Some(pull) = step.feature.pull.filter(|_| !pull_closed) {
        step = close_pull(step, pull);
    }
    if why.reach() == Reach::Nothing {
        step.effects.clear();
    }
    step.feature.state = State::Cancelled { why };
    step
}

pub(super) fn close_pull(mut step: Step, pull: PullNumber) -> Step {
    step.ask(|emission| Effect::CloseFeaturePull { emission, pull });
    step
}

/// Stops all work and ends every task that is not over.
pub(super) fn end_tasks(mut step: Step, by: Option<User>, at: Millis) -> Step {
    step.feature.checking = None;
    step.stop = vec![StopScope::Feature];
    let tasks: Vec<TaskId> = step.feature.tasks.iter().map(|task| task.id).collect();
    for id in tasks {
        apply_to_task(&mut step, id, task::Event::FeatureCancelled { by: by.clone() }, at);
    }
    step.stop = vec![StopScope::Feature];
    step
}

impl Feature {
    /// `true` if a check run of AutoBuild is, or will be, on this commit.
    pub fn checks(&self, commit: &Sha) -> bool {
        self.is_gated(commit) || self.tasks.iter().any(|task| is_of(task, commit))
    }

    /// Returns the task whose head this commit is, or that had a turn with it.
    pub fn task_at(&self, commit: &Sha) -> Option<&Task> {
        self.tasks.iter().find(|task| is_of(task, commit))
    }

    fn is_gated(&self, commit: &Sha) -> bool {
        let is_next = self.waiting_gate().is_some() && self.is_head(commit);
        self.gates.iter().any(|gate| gate.holds_for(commit)) || is_next
    }

    fn is_head(&self, commit: &Sha) -> bool {
        self.integration.as_ref().map(|integration| &integration.head) == Some(commit)
    }

    fn waiting_gate(&self) -> Option<WaitingGate> {
        match &self.state {
            State::InReview => Some(WaitingGate::OfReview),
            State::Blocked { phase: Phase::Gate { then, .. }, .. } => Some(WaitingGate::Before(*then)),
            State::Building { phase: Phase::HeldCi } => Some(WaitingGate::Before(Continuation::Pull)),
            State::Planning { .. }
            | State::AwaitingApproval
            | State::Building { .. }
            | State::Paused { .. }
            | State::Blocked { .. }
            | State::Completed
            | State::Cancelled { .. }
            | State::Failed { .. } => None,
        }
    }
}

fn is_of(task: &Task, commit: &Sha) -> bool {
    let known = |head: Option<&Sha>| head == Some(commit);
    known(task.head.as_ref()) || task.turns.iter().any(|turn| known(turn.head.as_ref()))
}

/// Handles GitHub's _Re-run_ of a commit: checks it again if that can change something, or else publishes its result
/// again. A run that has ended does nothing.
pub(super) fn rerun(feature: Feature, head: &Sha, by: &User, at: Millis) -> Step {
    if !feature.is_unfinished() {
        return unchanged(feature);
    }
    if feature.is_gated(head) {
        return gate_again(feature, head);
    }
    let tasks = feature.tasks.iter().filter(|task| is_of(task, head));
    let ids: Vec<TaskId> = tasks.map(|task| task.id).collect();
    let before = feature.tasks.clone();
    let mut step = unchanged(feature);
    for id in ids {
        let event = task::Event::Person { by: by.clone(), did: PersonDid::Rerun { head: head.clone() } };
        apply_to_task(&mut step, id, event, at);
    }
    let states = |tasks: &[Task]| tasks.iter().map(|task| task.state.clone()).collect::<Vec<_>>();
    if states(&step.feature.tasks) == states(&before) { step } else { waves::settle(step, at) }
}

/// Runs the wave gate again if the commit is the head and waits for a person. Otherwise publishes the result again, if
/// it is the last gate's commit.
fn gate_again(feature: Feature, head: &Sha) -> Step {
    let is_newest = feature.is_head(head);
    let is_checked = is_newest && feature.checking.is_some();
    let waiting = feature.waiting_gate().filter(|_| is_newest && !is_checked);
    let has_result = feature.gates.iter().any(|gate| gate.holds_for(head));
    let step = unchanged(feature);
    match waiting {
        Some(gate) => gate_once_more(step, gate),
        None if has_result && !is_checked => moves::publish(step, Some(head.clone())),
        None => step,
    }
}
