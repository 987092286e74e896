//! The result of an event: the Feature after it, the step of building that it enters, and its effects.

use crate::{
    blocked::BlockReason,
    ci::CiTreatment,
    effect::{Effect, Reply, ReplyTo, Thread, answer},
    feature::{
        feature::Feature,
        planning,
        state::{AfterPreFlight, Continuation, Phase, State},
    },
    ids::{Emission, Millis, Sha, TaskId},
    task,
};

/// A Feature after an event, and the effects that it asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The Feature after the event.
    pub feature: Feature,
    /// The effects that it asks for, in this order.
    pub effects: Vec<Effect>,
    /// The stored work that is stopped before the new effects are added.
    pub stop: Vec<StopScope>,
}

/// The stored work to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopScope {
    /// Agents, Gates and merges of one task.
    Task(TaskId),
    Feature,
}

impl Step {
    pub(super) fn ask(&mut self, effect: impl FnOnce(Emission) -> Effect) {
        let emission = emit(&mut self.feature);
        self.effects.push(effect(emission));
    }

    /// Enters the step of building that waits for an effect, and asks for this effect.
    fn wait(mut self, step: impl FnOnce(Emission) -> (Phase, Effect)) -> Self {
        let (phase, effect) = step(emit(&mut self.feature));
        enter(&mut self.feature, phase);
        self.effects.push(effect);
        self
    }
}

pub(super) fn unchanged(feature: Feature) -> Step {
    Step { feature, effects: Vec::new(), stop: Vec::new() }
}

pub(super) fn emit(feature: &mut Feature) -> Emission {
    feature.emitted = feature.emitted.next();
    feature.emitted
}

/// Blocks the Feature, and says on the issue that it waits for a person.
pub(super) fn blocked(mut step: Step, reason: BlockReason, phase: Phase) -> Step {
    step.feature.state = State::Blocked { reason, phase };
    step.ask(|emission| Effect::PostFeatureBlocked { emission });
    step
}

/// Moves to `phase`. A paused Feature stays paused.
pub(super) fn enter(feature: &mut Feature, phase: Phase) {
    if let State::Paused { phase: at, .. } = &mut feature.state {
        *at = phase;
    } else {
        feature.state = State::Building { phase };
    }
}

/// Remembers the integration branch's head.
pub(super) fn head_is(feature: &mut Feature, head: Sha) {
    if let Some(integration) = &mut feature.integration {
        integration.head = head;
    }
}

/// Applies an event to one task, and nothing else.
pub(super) fn apply_to_task(step: &mut Step, id: TaskId, event: task::Event, at: Millis) {
    let rules = step.feature.task_rules();
    let Some(slot) = step.feature.tasks.iter_mut().find(|task| task.id == id) else {
        return;
    };
    let done = task::step::step(slot.clone(), event, at, &rules);
    *slot = done.task;
    if done.stop == task::Stop::Work {
        step.stop.push(StopScope::Task(id));
    }
    step.effects.extend(done.effects);
}

pub(super) fn answered(feature: Feature, thread: Thread, to: ReplyTo, reply: Reply) -> Step {
    let mut step = unchanged(feature);
    step.effects = answer(thread, to, reply);
    step
}

/// Makes the plan again from the Feature's request.
pub(super) fn plan_again(mut step: Step) -> Step {
    let emission = emit(&mut step.feature);
    step.feature.state = State::Planning { emission };
    step.effects.push(planning::first_effect(&step.feature, emission));
    step
}

/// Checks the commit of the default branch that was just merged in, or the branch's head if `commit` is `None`.
pub(super) fn pre_flight(step: Step, commit: Option<Sha>, then: AfterPreFlight) -> Step {
    step.wait(|emission| (Phase::PreFlight { emission, then }, Effect::PreFlight { emission, commit }))
}

/// Makes the integration branch, which is the first step after pre-flight.
pub(super) fn open_branch(step: Step) -> Step {
    step.wait(|emission| (Phase::OpeningBranch { emission }, Effect::OpenIntegration { emission }))
}

pub(super) fn has_later_wave(feature: &Feature) -> bool {
    feature.wave < feature.last_wave()
}

/// Starts the next wave: first merges the default branch, then opens the wave.
pub(super) fn next_wave(mut step: Step) -> Step {
    step.feature.wave = step.feature.wave.saturating_add(1);
    step.feature.more_fixes = 0;
    merge_default(step, Continuation::Wave)
}

pub(super) fn merge_default(step: Step, then: Continuation) -> Step {
    step.wait(|emission| (Phase::MergingDefault { emission, then }, Effect::MergeDefault { emission }))
}

/// Opens the feature pull request, once a person let CI run if it is held.
pub(super) fn open_pull(mut step: Step) -> Step {
    if step.feature.ci_treatment() == CiTreatment::Hold {
        enter(&mut step.feature, Phase::HeldCi);
        return publish(step, None);
    }
    step.wait(|emission| (Phase::OpeningPull { emission }, Effect::OpenFeaturePull { emission }))
}

/// Runs the Gates on the integration branch.
pub(super) fn gate(step: Step, then: Continuation) -> Step {
    step.wait(|emission| (Phase::Gate { emission, then }, Effect::WaveGate { emission }))
}

/// Publishes a wave gate as a check run on the commit `on`, else the last gate on the newest commit that it holds for.
pub(super) fn publish(mut step: Step, on: Option<Sha>) -> Step {
    step.ask(|emission| Effect::PublishWaveCheck { emission, on });
    step
}

/// Runs the wave gate in review, on a head that no gate has checked. Older runs stop: only the newest head counts.
pub(super) fn check_again(mut step: Step) -> Step {
    step.stop.push(StopScope::Feature);
    step.ask(|emission| Effect::WaveGate { emission });
    step.feature.checking = Some(step.feature.emitted);
    step
}

/// Stops the wave gate that runs during the review.
pub(super) fn check_ends(mut feature: Feature) -> Step {
    feature.checking = None;
    let mut step = unchanged(feature);
    step.stop.push(StopScope::Feature);
    step
}
