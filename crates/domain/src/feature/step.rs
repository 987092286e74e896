//! What happens to a Feature. One function per event.

pub use crate::feature::planning::labelled;
use crate::{
    blocked::BlockReason,
    effect::{Effect, Reply, ReplyTo, Thread, answer},
    feature::{
        Feature, Phase, State, Step, StopScope, Suspension, command, event::Event, flow, gate, people, planning,
        preflight, rerun, state::Reach, syncing, unsaid, waits, waves,
    },
    ids::{Millis, TaskId},
    task,
};

/// Applies `event`; a late or repeated event leaves the Feature as it was. Whatever people can see of a change becomes
/// one edit of the living comment, and whatever it now waits for a person for is asked of the person.
#[must_use]
pub fn step(feature: Feature, event: Event, at: Millis) -> Step {
    let (before, waited) = (visible(&feature), feature.waits());
    let mut step = moved(feature, event, at);
    let heard = match &step.feature.state {
        State::Cancelled { why } => why.reach() == Reach::Everything,
        State::Planning { .. }
        | State::AwaitingApproval
        | State::Building { .. }
        | State::Paused { .. }
        | State::Blocked { .. }
        | State::InReview
        | State::Completed
        | State::Failed { .. } => true,
    };
    if heard && visible(&step.feature) != before {
        let run = emit(&mut step.feature);
        step.effects.push(Effect::Living { run });
    }
    waits::ask(&mut step, &waited);
    step
}

/// The Feature without what no comment shows.
fn visible(feature: &Feature) -> Feature {
    let mut seen = feature.clone();
    seen.living = None;
    seen.suspension = Suspension::None;
    seen.checking = None;
    seen.integration = None;
    seen.emitted = 0;
    if let Some(plan) = &mut seen.plan {
        plan.shown_at = None;
    }
    for task in &mut seen.tasks {
        task.emitted = 0;
        task.opening = None;
        task.head = None;
        task.next.remarks.clear();
        for turn in &mut task.turns {
            turn.told.remarks.clear();
        }
    }
    seen
}

fn moved(feature: Feature, event: Event, at: Millis) -> Step {
    match event {
        Event::Planned { run, planned } => planning::planned_as(feature, run, *planned, at),
        Event::PlanRefused { run, message } => planning::plan_refused(feature, run, message),
        Event::LivingShown {
            comment,
            version,
            at: shown,
        } => planning::living_shown(feature, comment, version, shown),
        Event::PreFlown { run, outcome } => preflight::pre_flown(feature, run, *outcome, at),
        Event::IntegrationOpened { run, base, head } => flow::integration_opened(feature, run, base, head, at),
        Event::DefaultMerged { run, outcome } => flow::default_merged(feature, run, outcome, at),
        Event::WaveGated {
            run,
            head,
            report,
            broke,
        } => gate::wave_gated(feature, run, head, *report, broke, at),
        Event::DefaultPushed { .. } => syncing::default_pushed(feature),
        Event::DefaultConflicts { files, other } => syncing::default_conflicts(feature, files, other, at),
        Event::ReviewRequested(review) => people::review_requested(feature, &review, at),
        Event::PullOpened { run, pull, opened } => flow::pull_opened(feature, run, pull, opened, at),
        Event::Unsaid(unsaid) => unsaid::unsaid(feature, unsaid, at),
        Event::Stuck { run, reason } => flow::stuck(feature, run, reason, at),
        Event::Task { task, event } => on_task(feature, task, event, at),
        Event::Commanded(commanded) => command::commanded(feature, *commanded, at),
        Event::Answered { thread, to, reply } => answered(feature, thread, to, reply),
        Event::Cancelled(why) => people::cancelled(unchanged(feature), why, at),
        Event::PullMerged { pull } => people::pull_merged(feature, pull, at),
        Event::PullReopened { pull, newer } => people::pull_reopened(feature, pull, newer),
        Event::IntegrationPushed { head } => people::integration_pushed(feature, head),
        Event::Rerun { head, by } => rerun::rerun(feature, &head, &by, at),
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

/// Says on the issue that the Feature waits for a person.
pub(super) fn blocked(mut step: Step, reason: BlockReason, phase: Phase) -> Step {
    step.feature.state = State::Blocked { reason, phase };
    let run = emit(&mut step.feature);
    step.effects.push(Effect::PostFeatureBlocked { run });
    step
}

/// Applies an event to one task, and then opens whatever the task was the last to keep closed.
pub(super) fn on_task(feature: Feature, id: TaskId, event: task::Event, at: Millis) -> Step {
    // A pull request that came too late to be cancelled with the rest is closed all the same.
    let closes_late_pull = match (&feature.state, &event) {
        (State::Cancelled { why }, task::Event::PullOpened { .. }) => why.reach() != Reach::Nothing,
        _ => false,
    };
    if !feature.is_unfinished() && !closes_late_pull {
        return unchanged(feature);
    }
    let before = feature.task(id).cloned();
    let mut step = unchanged(feature);
    tell(&mut step, id, event, at);
    if step.feature.task(id) == before.as_ref() {
        return step;
    }
    waves::settle(step, at)
}

/// Applies an event to one task, and nothing else.
pub(super) fn tell(step: &mut Step, id: TaskId, event: task::Event, at: Millis) {
    let rules = step.feature.task_rules();
    let Some(slot) = step.feature.tasks.iter_mut().find(|task| task.id == id) else {
        return;
    };
    let done = task::step::step(slot.clone(), event, at, &rules);
    *slot = done.task;
    if done.stop == task::Stop::Work {
        step.stop.push(StopScope::Task(id));
    }
    step.effects.extend(done.effects.into_iter().map(|asked| Effect::Task {
        task: id,
        run: asked.run,
        work: asked.work,
    }));
}

pub(super) fn answered(feature: Feature, thread: Thread, to: ReplyTo, reply: Reply) -> Step {
    let mut step = unchanged(feature);
    step.effects = answer(thread, to, reply);
    step
}

/// Kept also for a cancelled Feature, which may come back.
fn suspension(mut feature: Feature, now: Suspension) -> Step {
    if feature.state != State::Completed {
        feature.suspension = now;
    }
    unchanged(feature)
}
