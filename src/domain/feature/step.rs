//! What happens to a Feature. One function per event.

use crate::domain::blocked::BlockReason;
use crate::domain::effect::Effect;
use crate::domain::effect::ReactOn;
use crate::domain::effect::Reaction;
use crate::domain::effect::Reply;
use crate::domain::effect::ReplyTo;
use crate::domain::effect::Thread;
use crate::domain::feature::Feature;
use crate::domain::feature::Phase;
use crate::domain::feature::State;
use crate::domain::feature::Step;
use crate::domain::feature::StopScope;
use crate::domain::feature::Suspension;
use crate::domain::feature::command;
use crate::domain::feature::event::Event;
use crate::domain::feature::flow;
use crate::domain::feature::people;
pub use crate::domain::feature::planning::labelled;
use crate::domain::feature::planning::living_shown;
use crate::domain::feature::planning::plan_refused;
use crate::domain::feature::planning::planned_as;
use crate::domain::feature::waves::settle;
use crate::domain::ids::Millis;
use crate::domain::ids::TaskId;
use crate::domain::task;

/// Applies `event`; a late or repeated event leaves the Feature as it was.
#[must_use]
pub fn step(feature: Feature, event: Event, at: Millis) -> Step {
    match event {
        Event::Planned { run, planned } => planned_as(feature, run, *planned, at),
        Event::PlanRefused { run, message } => plan_refused(feature, run, message),
        Event::LivingShown {
            comment,
            version,
            at: shown,
        } => living_shown(feature, comment, version, shown),
        Event::IntegrationOpened { run, base, head } => flow::integration_opened(feature, run, base, head, at),
        Event::DefaultMerged { run, outcome } => flow::default_merged(feature, run, outcome, at),
        Event::WaveGated { run, head, report } => flow::wave_gated(feature, run, head, *report),
        Event::PullOpened { run, pull } => flow::pull_opened(feature, run, pull),
        Event::Stuck { run, reason } => stuck(feature, run, reason),
        Event::Task { task, event } => on_task(feature, task, event, at),
        Event::Commanded(commanded) => command::commanded(feature, *commanded, at),
        Event::Answered { thread, to, reply } => answered(feature, thread, to, reply),
        Event::Cancelled(why) => people::cancelled(feature, why),
        Event::PullMerged { pull } => people::pull_merged(feature, pull),
        Event::PullReopened { pull, newer } => people::pull_reopened(feature, pull, newer),
        Event::IntegrationPushed { head } => people::integration_pushed(feature, head),
        Event::Suspended => suspension(feature, Suspension::Suspended),
        Event::Unsuspended => suspension(feature, Suspension::None),
    }
}

pub(super) fn unchanged(feature: Feature) -> Step {
    Step {
        feature,
        effects: Vec::new(),
        stop: Vec::new(),
    }
}

pub(super) fn emit(feature: &mut Feature) -> u64 {
    feature.emitted = feature.emitted.saturating_add(1);
    feature.emitted
}

/// Adds an edit of the living comment: everything that people can see of a change.
pub(super) fn shown(mut step: Step) -> Step {
    let run = emit(&mut step.feature);
    step.effects.push(Effect::Living { run });
    step
}

fn stuck(mut feature: Feature, run: u64, reason: BlockReason) -> Step {
    let phase = match &feature.state {
        State::Planning { run } => Phase::Planning { run: *run },
        State::Building { phase } | State::Paused { phase, .. } => phase.clone(),
        _ => return unchanged(feature),
    };
    match phase {
        Phase::Planning { run: waits_for }
        | Phase::OpeningBranch { run: waits_for }
        | Phase::MergingDefault { run: waits_for, .. }
        | Phase::Gate { run: waits_for, .. }
        | Phase::OpeningPull { run: waits_for }
            if waits_for == run =>
        {
            feature.state = State::Blocked { reason, phase };
            blocked(feature)
        }
        Phase::Planning { .. }
        | Phase::OpeningBranch { .. }
        | Phase::MergingDefault { .. }
        | Phase::Tasks
        | Phase::Gate { .. }
        | Phase::OpeningPull { .. } => unchanged(feature),
    }
}

/// Says on the issue that the Feature waits for a person.
pub(super) fn blocked(mut feature: Feature) -> Step {
    let run = emit(&mut feature);
    let mut step = unchanged(feature);
    step.effects.push(Effect::PostFeatureBlocked { run });
    shown(step)
}

/// Applies an event to one task, and then opens whatever the task was the last to keep closed.
pub(super) fn on_task(mut feature: Feature, id: TaskId, event: task::Event, at: Millis) -> Step {
    if !feature.is_unfinished() {
        return unchanged(feature);
    }
    let rules = feature.task_rules();
    let Some(slot) = feature.tasks.iter_mut().find(|task| task.id == id) else {
        return unchanged(feature);
    };
    let before = slot.clone();
    let done = task::step::step(before.clone(), event, at, &rules);
    if done.task == before && done.effects.is_empty() {
        return unchanged(feature);
    }
    *slot = done.task;
    let mut step = unchanged(feature);
    if done.stop == task::Stop::Work {
        step.stop.push(StopScope::Task(id));
    }
    step.effects.extend(done.effects.into_iter().map(|asked| Effect::Task {
        task: id,
        run: asked.run,
        work: asked.work,
    }));
    shown(settle(step, at))
}

fn answered(feature: Feature, thread: Thread, to: ReplyTo, reply: Reply) -> Step {
    let mut step = unchanged(feature);
    if let ReplyTo::Comment(comment) = &to {
        step.effects.push(Effect::React {
            on: ReactOn::Comment(*comment),
            reaction: Reaction::Confused,
        });
    }
    step.effects.push(Effect::Reply { thread, to, reply });
    step
}

fn suspension(mut feature: Feature, now: Suspension) -> Step {
    if feature.is_unfinished() {
        feature.suspension = now;
    }
    unchanged(feature)
}
