//! The queue's page: the waiting steps, each with its reason and end, and the failed steps.

use crate::{
    engine::{
        queue::{Queue, QueuedStep, WaitReason, can_be_tried_again},
        replay::ReplayStatus,
        sweep::SweepStatus,
    },
    messages::count,
    store::{HeldBy, StoredEffect},
    web::dashboard::parts::{age, date, feature_address},
};
use domain::ids::{FeatureKey, TaskId};
use maud::{Markup, html};
use text::secret::Secrets;

pub(super) fn content(
    secrets: &Secrets,
    token: Option<&str>,
    queue: &Queue,
    replay: &ReplayStatus,
    sweep: &SweepStatus,
) -> Markup {
    let about = |step: &QueuedStep| subject(step.effect.feature, &step.effect.subject);
    html! {
        h1 { "Queue" }
        @if queue.steps.is_empty() { p { "Nothing is to be done." } }
        @else {
            p.muted { (count(queue.steps.len(), "step")) ", the oldest first." }
            div.scroll tabindex="0" role="region" aria-label="Steps" {
                table.list {
                    thead { tr { th { "step" } th { "about" } th { "why it waits" } th { "until" } th { "age" } } }
                    tbody { @for step in &queue.steps {
                        tr id=(format!("step-{}", step.effect.id)) {
                            td data-label="step" { (name_of_step(&step.effect.kind)) }
                            td data-label="about" { (about(step)) }
                            td.says data-label="why it waits" { (reason(secrets, step)) }
                            td data-label="until" { (until(step)) }
                            td data-label="age" { (age(step.effect.first_due, queue.at)) }
                        }
                    } }
                }
            }
        }
        h2 { "Failed steps" }
        @if queue.failed.is_empty() { p { "No step has failed." } }
        @for step in &queue.failed { (failed(secrets, token, step, StepPlace::InTheQueue)) }
        h2 { "Deliveries" }
        (deliveries(replay))
        h2 { "Sweep" }
        (swept(sweep))
    }
}

/// Returns the time and the result of the last comparison of unfinished Features with GitHub.
fn swept(sweep: &SweepStatus) -> Markup {
    html! {
        @match sweep.ended_at {
            None => p { "The unfinished Features have not been compared with GitHub yet." },
            Some(at) => p {
                (count(sweep.features, "unfinished Feature")) " compared with GitHub at " (date(at)) ". "
                @if sweep.failed > 0 { "That failed for " (sweep.failed) "; the next sweep tries again. " }
                "So far, " (count(sweep.found, "fact")) " found that no delivery had brought."
            },
        }
    }
}

/// Returns the time of the last reading of GitHub's log of deliveries, and the number of missing ones.
fn deliveries(replay: &ReplayStatus) -> Markup {
    html! {
        @match replay.ended_at {
            None => p { "GitHub's log of deliveries has not been read yet." },
            Some(at) => p {
                "GitHub's log of deliveries was read at " (date(at)) ". "
                @match replay.fetched {
                    0 if replay.unreturned.is_empty() => { "Every delivery had arrived." },
                    0 => {},
                    fetched => {
                        "So far, " (count(fetched, "delivery")) " that never arrived came from it."
                        @if !replay.newest_arrived { " The newest one did not arrive by itself either." }
                    }
                }
                @if !replay.unreturned.is_empty() {
                    " GitHub cannot return " (count(replay.unreturned.len(), "more delivery")) " now, and is asked again."
                }
            },
        }
    }
}

pub(super) fn name_of_step(kind: &str) -> &str {
    match kind {
        "ingest" => "read what GitHub sent",
        "react" => "react to a comment",
        "reply" => "answer a comment",
        "living" => "update the comment that shows the state",
        "plan" => "make the plan",
        "pre_flight" => "try the default branch",
        "compare_default" => "compare with the default branch",
        "open_integration" => "make the integration branch",
        "merge_default" => "merge the default branch",
        "wave_gate" => "check the wave",
        "open_feature_pull" => "open the Feature's pull request",
        "publish_wave_check" => "publish the wave's check run",
        "post_feature_blocked" => "report that the Feature is blocked",
        "ask_person" => "ask a person",
        "close_feature_pull" => "close the Feature's pull request",
        "clean_up" => "clean up",
        "design" => "design the task",
        "play" => "run the Player",
        "open_pull" => "open the task's pull request",
        "gates" => "run the Gates",
        "ci" => "read the repository's CI",
        "coach" => "run the Coach",
        "post_review" | "post_blocked_review" => "post the review",
        "publish_check" | "publish_blocked" => "publish the check run",
        "post_blocked" => "report that the task is blocked",
        "mark_ready" => "mark the pull request as ready",
        "merge" => "merge the task's pull request",
        "dismiss_review" => "dismiss a review",
        "close_pull" => "close the task's pull request",
        older => older,
    }
}

/// Names a step's Feature, and its task if there is one.
pub(super) fn subject(feature: Option<FeatureKey>, subject: &str) -> Markup {
    let task: Option<TaskId> = subject.rsplit('/').next().and_then(|last| last.parse().ok());
    html! {
        @match feature {
            Some(key) => {
                a href=(feature_address(&key)) { (key.name()) }
                @if let Some(task) = task { " " (task) }
            }
            None => { (subject) }
        }
    }
}

fn reason(secrets: &Secrets, step: &QueuedStep) -> Markup {
    let failed = || secrets.mask(step.effect.last_error.as_deref().unwrap_or_default());
    match &step.why {
        WaitReason::Runs => html! { (page_parts::badge("building", "runs")) },
        WaitReason::Model(name) => html! { "The model's API of " (name) " does not serve it now." },
        WaitReason::GitHub => html! { "GitHub cannot be reached, or limits AutoBuild." },
        WaitReason::TryAgain => html! { "The last try failed: " (failed()) },
        WaitReason::Time => html! { "Its time has not come." },
        WaitReason::Held(HeldBy::Feature) => html! { "Its Feature waits for a person." },
        WaitReason::Held(HeldBy::Agent) => html! { "Another agent works on the same task." },
        WaitReason::Held(HeldBy::Earlier) => html! { "An earlier step comes first." },
        WaitReason::Held(HeldBy::Limit) => html! { "As many agents as may run for its Feature do." },
        WaitReason::Next => html! { "The next free worker takes it." },
    }
}

fn until(step: &QueuedStep) -> Markup {
    if step.why.has_end() {
        date(step.effect.run_at)
    } else {
        html! { "–" }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StepPlace {
    /// The page with the steps of all Features.
    InTheQueue,
    /// The page of its Feature, which describes the actions for people.
    OnItsFeature,
}

/// Returns a failed step, with the button that tries it again if possible. `token` is that of the forms of a viewer who
/// may act.
pub(super) fn failed(secrets: &Secrets, token: Option<&str>, step: &StoredEffect, shown: StepPlace) -> Markup {
    let said = secrets.mask(step.last_error.as_deref().unwrap_or("It did not say why."));
    html! {
        article.box.changes_requested id=(format!("failed-{}", step.seq)) {
            div.head {
                b { (name_of_step(&step.kind)) } " · " (subject(step.feature, &step.subject))
                " · " (count(step.attempt.saturating_add(1), "try")) ", due " (date(step.run_at))
            }
            div.body {
                p.says { (said) }
                @if let (true, Some(token)) = (can_be_tried_again(step), token) {
                    form.act method="post" action="/queue/try-again" {
                        input type="hidden" name="token" value=(token);
                        input type="hidden" name="id" value=(step.id);
                        button id=(format!("again-{}", step.seq)) aria-label=(format!("Try again: {}", name_of_step(&step.kind))) { "Try again" }
                    }
                } @else if can_be_tried_again(step) {
                    p.muted { "An operator can try it again." }
                } @else if shown == StepPlace::InTheQueue {
                    p.muted { "Its Feature knows, and its page says what to do. Trying this step again would change nothing." }
                }
            }
        }
    }
}
