//! The first page: every Feature that runs, waits, is blocked or in review, and those that ended last.

use crate::{
    engine::{
        Engine,
        view::{FeatureView, ViewError},
    },
    messages,
    store::{ProviderTrouble, Tally, Trouble},
    web::dashboard::parts::{count, date, feature_address, money, state_badge},
};
use domain::{feature::State, ids::RepoName};
use maud::{Markup, html};

/// A Feature and its repository's name.
type Named = (FeatureView, Option<RepoName>);

/// What the page shows.
pub(super) async fn content(engine: &Engine) -> Result<Markup, ViewError> {
    let (unfinished, ended) = engine.features_to_show().await?;
    let (unfinished, ended) = (named(engine, unfinished).await, named(engine, ended).await);
    let (waits, runs): (Vec<&Named>, Vec<&Named>) = unfinished.iter().partition(|(view, _)| waits_for_a_person(view));
    let troubles = engine.store.troubled_providers().await?;
    let tally = engine.store.tally(None, engine.now()).await?;
    Ok(html! {
        h1 { "Work" }
        (machine(&tally, &troubles))
        h2 { "Waits for a person" }
        (list(&waits, "Nothing waits for you."))
        h2 { "At work" }
        (list(&runs, "Nothing is being built. Label an issue autobuild to start."))
        h2 { "Ended last" }
        (list(&ended.iter().collect::<Vec<_>>(), "Nothing has ended yet."))
    })
}

async fn named(engine: &Engine, views: Vec<FeatureView>) -> Vec<Named> {
    let mut named = Vec::new();
    for view in views {
        let name = engine.name_to_show(&view.feature).await;
        named.push((view, name));
    }
    named
}

fn waits_for_a_person(view: &FeatureView) -> bool {
    match view.feature.state {
        State::AwaitingApproval | State::Paused { .. } | State::Blocked { .. } | State::InReview => true,
        State::Planning { .. }
        | State::Building { .. }
        | State::Completed
        | State::Cancelled { .. }
        | State::Failed { .. } => false,
    }
}

fn machine(tally: &Tally, troubles: &[ProviderTrouble]) -> Markup {
    let why = |trouble: &ProviderTrouble| match trouble.cause {
        Trouble::RateLimited => "limits the rate",
        Trouble::Unavailable => "is not available",
        Trouble::NotAuthorised => "refuses the credentials",
    };
    html! {
        p.muted {
            (count(tally.running, "step")) " at work, " (tally.due) " due, " (tally.waiting) " waiting for their time."
        }
        @for trouble in troubles {
            p.wrong { "The model's API of " (trouble.name) " " (why(trouble)) ", since " (date(trouble.since)) "." }
        }
    }
}

fn list(named: &[&Named], none: &str) -> Markup {
    html! {
        ul.rows {
            @for (view, name) in named.iter().map(|one| (&one.0, &one.1)) { (row(view, name.as_ref())) }
            @if named.is_empty() { li.muted { (none) } }
        }
    }
}

fn row(view: &FeatureView, name: Option<&RepoName>) -> Markup {
    let feature = &view.feature;
    let (done, all) = (feature.completed().len(), feature.tasks.len());
    html! {
        li {
            (state_badge(feature.state.word())) " "
            a href=(feature_address(&feature.key)) { (feature.key.shown()) ": " (messages::feature_name(feature)) }
            div.muted {
                @match name { Some(name) => { (name) } None => { "repository " (feature.key.repo) } }
                " · issue #" (feature.key.issue)
                @if all > 0 { " · " (done) " of " (all) " tasks merged" }
                @if feature.wave > 0 { " · wave " (feature.wave) " of " (feature.last_wave()) }
                " · " (money(&view.spending.in_all()))
                " · since " (date(feature.snapshot.at))
            }
        }
    }
}
