//! The first page: every Feature that runs, waits, is blocked or in review, and those that ended last.

use crate::{
    engine::view::{ListedView, Overview},
    messages,
    store::{ProviderTrouble, Tally, Trouble},
    web::{
        dashboard::{
            Viewer,
            parts::{count, date, feature_address, money, state_badge},
        },
        inbox::Viewers,
    },
};
use domain::{feature::State, secret::Secrets};
use maud::{Markup, html};

/// What the page shows.
pub(super) fn content(secrets: &Secrets, (viewers, viewer): (Viewers, &Viewer), view: &Overview) -> Markup {
    let (waits, runs): (Vec<&ListedView>, Vec<&ListedView>) =
        view.unfinished.iter().partition(|view| waits_for_a_person(view));
    let ended: Vec<&ListedView> = view.ended.iter().collect();
    let idle = match viewers {
        Viewers::SignedIn => "Nothing is being built. Label an issue autobuild to start.",
        Viewers::WithKey => "Nothing is being built.",
    };
    html! {
        h1 { "Work" }
        @if viewer.sees_everything() { (machine(&view.tally, &view.troubles)) }
        h2 { "Waits for a person" }
        (list(secrets, &waits, "Nothing waits for you."))
        h2 { "At work" }
        (list(secrets, &runs, idle))
        h2 { "Ended last" }
        (list(secrets, &ended, "Nothing has ended yet."))
    }
}

/// One that cannot be read needs one too.
fn waits_for_a_person(view: &ListedView) -> bool {
    view.feature.as_ref().is_none_or(|feature| match feature.state {
        State::AwaitingApproval | State::Paused { .. } | State::Blocked { .. } | State::InReview => true,
        State::Planning { .. }
        | State::Building { .. }
        | State::Completed
        | State::Cancelled { .. }
        | State::Failed { .. } => false,
    })
}

fn machine(tally: &Tally, troubles: &[ProviderTrouble]) -> Markup {
    let why = |trouble: &ProviderTrouble| match trouble.cause {
        Trouble::RateLimited => "limits the rate",
        Trouble::Unavailable => "is not available",
        Trouble::NotAuthorised => "refuses the credentials",
    };
    html! {
        p.muted {
            @if tally.running + tally.due + tally.waiting == 0 {
                "Nothing is running or waiting."
            } @else {
                (count(tally.running, "step")) " at work, " (tally.due) " due, " (tally.waiting) " waiting for their time."
            }
        }
        @for trouble in troubles {
            p.wrong { "The model's API of " (trouble.name) " " (why(trouble)) ", since " (date(trouble.since)) "." }
        }
    }
}

fn list(secrets: &Secrets, views: &[&ListedView], none: &str) -> Markup {
    html! {
        ul.rows {
            @for view in views { (row(secrets, view)) }
            @if views.is_empty() { li.muted { (none) } }
        }
    }
}

fn row(secrets: &Secrets, view: &ListedView) -> Markup {
    let repository = view
        .name
        .as_ref()
        .map_or_else(|| format!("repository {}", view.key.repo), ToString::to_string);
    let Some(feature) = &view.feature else {
        return html! {
            li {
                (state_badge("failed")) " " (view.key.shown())
                div.muted {
                    (repository) " · issue #" (view.key.issue) " · AutoBuild cannot read what it stored of this Feature: \
                    another version may have written it. Its log names the cause."
                }
            }
        };
    };
    let (done, all) = (feature.completed().len(), feature.tasks.len());
    html! {
        li {
            (state_badge(feature.state.word())) " "
            a href=(feature_address(&feature.key)) {
                (feature.key.shown()) ": " (secrets.mask(messages::feature_name(feature)))
            }
            div.muted {
                (repository) " · issue #" (feature.key.issue)
                @if all > 0 { " · " (done) " of " (count(all, "task")) " merged" }
                @if feature.wave > 0 { " · wave " (feature.wave) " of " (feature.last_wave()) }
                " · " (money(&view.cost))
                " · since " (date(feature.snapshot.at))
            }
        }
    }
}
