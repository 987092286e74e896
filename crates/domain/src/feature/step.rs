//! Applies events to a Feature, with one function per event.

pub use crate::feature::planning::labelled;
use crate::{
    effect::Effect,
    exposure::Exposure,
    feature::{
        command,
        event::Event,
        failed_acts,
        feature::Feature,
        flow, gate,
        moves::{Step, answered, unchanged},
        people, planning,
        state::{Reach, State, Suspension},
        syncing, waits, waves,
    },
    ids::{Emission, InstallationId, Millis},
};

/// Applies `event`; a late or repeated event leaves the Feature as it was. A change that people can see leads to one
/// edit of the living comment. If the Feature now waits for something that only a person can do, the person is asked.
pub fn step(feature: Feature, event: Event, at: Millis) -> Step {
    let (before, waited) = (visible(&feature), feature.waits());
    let reviewed = feature.reviewed_head().cloned();
    let mut step = apply_event(feature, event, at);
    gate::read_ci(&mut step, reviewed.as_ref(), at);
    let unheard = matches!(&step.feature.state, State::Cancelled { why } if why.reach() != Reach::Everything);
    if !unheard && visible(&step.feature) != before {
        step.ask(|emission| Effect::Living { emission });
    }
    waits::ask(&mut step, &waited);
    step
}

/// Returns the Feature without the parts that the living comment does not show.
fn visible(feature: &Feature) -> Feature {
    let mut seen = feature.clone();
    seen.living = None;
    seen.suspension = Suspension::None;
    seen.checking = None;
    seen.reading_ci = None;
    seen.integration = None;
    seen.emitted = Emission(0);
    if let Some(plan) = &mut seen.plan {
        plan.shown_at = None;
    }
    for task in &mut seen.tasks {
        task.emitted = Emission(0);
        task.opening = None;
        task.head = None;
        task.next.remarks.clear();
        for turn in &mut task.turns {
            turn.input.remarks.clear();
        }
    }
    seen
}

fn apply_event(feature: Feature, event: Event, at: Millis) -> Step {
    match event {
        Event::Planned { emission, planned } => planning::planned_as(feature, emission, *planned, at),
        Event::Inquired { emission, inquired } => planning::inquired(feature, emission, *inquired),
        Event::PlanRefused { emission, author, message } => {
            planning::plan_refused(feature, emission, State::Failed { author, message })
        }
        Event::LivingShown { comment, version, at: shown } => planning::living_shown(feature, comment, version, shown),
        Event::PreFlown { emission, outcome } => flow::pre_flown(feature, emission, *outcome, at),
        Event::IntegrationOpened { emission, base, head } => {
            flow::integration_opened(feature, emission, base, head, at)
        }
        Event::DefaultMerged { emission, outcome } => flow::default_merged(feature, emission, outcome, at),
        Event::WaveGated { emission, head, report, broke } => {
            gate::wave_gated(feature, emission, head, *report, broke, at)
        }
        Event::CiRead { emission, head, result } => gate::ci_read(feature, emission, &head, *result, at),
        Event::CiExposed { exposure } => ci_exposed(feature, exposure),
        Event::DefaultPushed { .. } => syncing::default_pushed(feature),
        Event::DefaultConflicts { files, other } => syncing::default_conflicts(feature, files, other, at),
        Event::ReviewRequested(review) => people::review_requested(feature, &review, at),
        Event::PullOpened { emission, pull, opened } => flow::pull_opened(feature, emission, pull, opened, at),
        Event::FailedAct(act) => failed_acts::record(feature, act, at),
        Event::Stuck { emission, reason } => flow::stuck(feature, emission, reason, at),
        Event::Task { task, event } => waves::on_task(feature, task, event, at),
        Event::Commanded(commanded) => command::commanded(feature, *commanded, at),
        Event::Answered { thread, to, reply } => answered(feature, thread, to, reply),
        Event::Cancelled(why) => people::cancelled(unchanged(feature), why, at),
        Event::PullMerged { pull } => people::pull_merged(feature, pull, at),
        Event::PullReopened { pull, newer } => people::pull_reopened(feature, pull, newer),
        Event::IntegrationPushed { head } => people::integration_pushed(feature, head),
        Event::Rerun { head, by } => people::rerun(feature, &head, &by, at),
        Event::Suspended => suspension(feature, Suspension::Suspended),
        Event::Unsuspended => suspension(feature, Suspension::None),
        Event::InstallationChanged { installation } => installation_changed(feature, installation),
    }
}

/// Adds the findings in a tree. None is removed before the workflows are read again for a plan or for `resume`.
fn ci_exposed(mut feature: Feature, exposure: Exposure) -> Step {
    if feature.is_unfinished() {
        feature.ci.exposure = feature.ci.exposure.with(exposure);
    }
    unchanged(feature)
}

/// Uses another installation from now on. It is not suspended, or a sweep will find that it is. An ended Feature uses it
/// too, since it still shows its end and answers people.
fn installation_changed(mut feature: Feature, installation: InstallationId) -> Step {
    if feature.installation != installation {
        feature.installation = installation;
        feature.suspension = Suspension::None;
    }
    unchanged(feature)
}

/// Remembers the suspension. A cancelled Feature remembers it too, since it may be reopened.
fn suspension(mut feature: Feature, now: Suspension) -> Step {
    if feature.state != State::Completed {
        feature.suspension = now;
    }
    unchanged(feature)
}
