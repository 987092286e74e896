//! The first page: every unfinished Feature by organisation and repository, and the Features that ended last.

use crate::{
    engine::view::{ListedView, Overview},
    messages,
    messages::count,
    store::{ProviderTrouble, Tally},
    web::{
        dashboard::{
            parts::{date, feature_address, money, repository},
            readings::Extent,
        },
        health,
        inbox::Viewers,
    },
};
use domain::{
    feature::{Feature, State},
    ids::PullNumber,
};
use maud::{Markup, html};
use text::secret::Secrets;

pub(super) fn content(secrets: &Secrets, viewers: Viewers, view: &Overview, extent: Extent) -> Markup {
    let (waits, runs): (Vec<&ListedView>, Vec<&ListedView>) = view
        .unfinished
        .iter()
        .partition(|view| view.feature.as_ref().is_none_or(|feature| waits_for(feature).is_some()));
    let idle = match viewers {
        Viewers::SignedIn => "Nothing is being built. Label an issue autobuild to start.",
        Viewers::WithKey => "Nothing is being built.",
    };
    html! {
        h1 { "Work" }
        (about(view, extent))
        h2 { "Waits for a person" }
        (by_repository(secrets, waits, "Nothing waits for you."))
        h2 { "At work" }
        (by_repository(secrets, runs, idle))
        h2 { "Ended last" }
        ul.rows {
            @for view in &view.ended {
                (row(secrets, view, &format!("{} · ", repository(view.name.as_ref(), view.key.repo))))
            }
            @if view.ended.is_empty() { li.muted { "Nothing has ended yet." } }
        }
    }
}

fn about(view: &Overview, extent: Extent) -> Markup {
    match extent {
        Extent::Everything => machine(&view.tally, &view.troubles),
        Extent::Theirs => html! { p.muted { "You see the work of repositories that you may read on GitHub." } },
        Extent::PerhapsMore => html! {
            p.muted {
                "You see the work of repositories that you may read on GitHub. It has not answered for all of them yet, so \
                some may be missing."
            }
        },
    }
}

/// Lists Features under the names of their organisations and repositories; those without a name come last.
fn by_repository(secrets: &Secrets, mut views: Vec<&ListedView>, none: &str) -> Markup {
    views.sort_by_key(|view| {
        let name = view.name.as_ref().map(|name| (&name.owner, &name.name));
        (name.is_none(), name, view.key.repo)
    });
    let owner = |view: &ListedView| view.name.as_ref().map(|name| name.owner.clone());
    let unnamed = || "GitHub has not told the names yet".to_owned();
    let title = |view: &ListedView| match &view.name {
        Some(name) => name.name.clone(),
        None => repository(None, view.key.repo),
    };
    html! {
        @if views.is_empty() { ul.rows { li.muted { (none) } } }
        @for of_owner in views.chunk_by(|one, other| owner(one) == owner(other)) {
            @if let Some(first) = of_owner.first() { h3 { (owner(first).unwrap_or_else(unnamed)) } }
            @for of_repo in of_owner.chunk_by(|one, other| title(one) == title(other)) {
                @if let Some(first) = of_repo.first() { h4 { (title(first)) } }
                ul.rows { @for view in of_repo { (row(secrets, view, "")) } }
            }
        }
    }
}

fn machine(tally: &Tally, troubles: &[ProviderTrouble]) -> Markup {
    html! {
        p.muted {
            @if tally.running + tally.due + tally.waiting == 0 {
                "Nothing is running or waiting."
            } @else {
                (count(tally.running, "step")) " at work, " (tally.due) " due, " (tally.waiting) " waiting for their time."
            }
        }
        @for trouble in troubles {
            p.wrong {
                "The model's API of " (trouble.name) " " (health::in_words(trouble.cause)) ", since "
                (date(trouble.since)) "."
            }
        }
    }
}

/// Describes the person and the decision for which the Feature waits; `None` if it continues by itself.
fn waits_for(feature: &Feature) -> Option<String> {
    let of_pull = |pull: Option<PullNumber>| pull.map_or_else(String::new, |pull| format!(" #{pull}"));
    match &feature.state {
        State::AwaitingApproval => Some("Someone with write access approves the plan.".to_owned()),
        State::Paused { by, .. } => Some(format!("{} paused it: /autobuild resume goes on.", by.login)),
        State::Blocked { .. } if feature.asks() => {
            Some("An agent asks: someone with write access answers; its page has the questions.".to_owned())
        }
        State::Blocked { .. } => {
            Some("Someone with write access decides how it goes on: its page says why.".to_owned())
        }
        State::InReview => Some(format!("Someone reviews and merges the pull request{}.", of_pull(feature.pull))),
        State::Planning { .. }
        | State::Building { .. }
        | State::Completed
        | State::Cancelled { .. }
        | State::Failed { .. } => None,
    }
}

/// Returns one Feature, with `before` in front of its issue.
fn row(secrets: &Secrets, view: &ListedView, before: &str) -> Markup {
    let id = format!("feature-{}", view.key.to_string().replace('/', "-"));
    let Some(feature) = &view.feature else {
        return html! {
            li id=(id) {
                (page_parts::badge("failed", "failed")) " " (view.key.name())
                div.muted {
                    (before) "issue #" (view.key.issue) " · AutoBuild cannot read what it stored of this Feature: \
                    another version may have written it. Its log names the cause."
                }
            }
        };
    };
    let (done, all) = (feature.completed().len(), feature.tasks.len());
    html! {
        li id=(id) {
            (page_parts::badge(feature.state.word(), messages::feature_state(feature))) " "
            a href=(feature_address(&feature.key)) {
                (feature.key.name()) ": " (secrets.mask(messages::feature_name(feature)))
            }
            @if let Some(waits) = waits_for(feature) { div { (waits) } }
            div.muted {
                (before) "issue #" (feature.key.issue)
                @if all > 0 { " · " (done) " of " (count(all, "task")) " merged" }
                @if feature.wave > 0 { " · wave " (feature.wave) " of " (feature.last_wave()) }
                " · " (money(&view.cost))
                " · since " (date(feature.snapshot.at))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::content;
    use crate::{
        engine::view::{ListedView, Overview},
        store::Tally,
        web::{
            dashboard::{readings::Extent, tests::labelled},
            inbox::Viewers,
        },
    };
    use domain::{
        cost::Cost,
        feature::{Feature, State},
        ids::{FeatureKey, InstallationId, IssueNumber, PullNumber, RepoId},
    };
    use std::sync::Arc;
    use text::secret::Secrets;

    fn listed_view(repo: u64, issue: u64, name: Option<&str>) -> ListedView {
        ListedView {
            key: FeatureKey { repo: RepoId(repo), issue: IssueNumber(issue), run: 1 },
            installation: InstallationId(11),
            feature: None,
            cost: Cost::default(),
            name: name.map(|name| name.parse().unwrap()),
        }
    }

    fn in_review(view: ListedView) -> ListedView {
        let feature = labelled(view.key, view.installation, "Count");
        ListedView {
            feature: Some(Arc::new(Feature { state: State::InReview, pull: Some(PullNumber(7)), ..feature })),
            ..view
        }
    }

    fn page(unfinished: Vec<ListedView>, extent: Extent) -> String {
        let overview = Overview {
            unfinished,
            ended: vec![listed_view(9, 90, Some("acme/zoo"))],
            tally: Tally::default(),
            troubles: Vec::new(),
        };
        content(&Secrets::default(), Viewers::SignedIn, &overview, extent).0
    }

    fn in_order(page: &str, texts: &[&str]) {
        let mut rest = page;
        for text in texts {
            let (_, after) = rest.split_once(text).unwrap_or_else(|| panic!("{text} is not next: {page}"));
            rest = after;
        }
    }

    #[test]
    fn features_stand_under_their_organisation_and_repository() {
        let unfinished = vec![
            listed_view(1, 10, Some("beta/app")),
            listed_view(4, 40, None),
            listed_view(2, 20, Some("acme/shop")),
            in_review(listed_view(3, 30, Some("acme/api"))),
            listed_view(2, 21, Some("acme/shop")),
        ];
        let page = page(unfinished, Extent::Everything);
        let order = [
            "<h3>acme</h3><h4>api</h4>",
            "Someone reviews and merges the pull request #7.",
            "issue #30",
            "<h4>shop</h4>",
            "issue #20",
            "issue #21",
            "<h3>beta</h3><h4>app</h4>",
            "issue #10",
            "<h3>GitHub has not told the names yet</h3><h4>repository 4</h4>",
            "issue #40",
            "At work",
            "Nothing is being built.",
            "acme/zoo · issue #90",
        ];
        in_order(&page, &order);
        assert_eq!(page.matches("<h3>acme</h3>").count(), 1, "{page}");
    }

    #[test]
    fn people_are_told_why_they_see_no_more() {
        let shown = |extent| page(Vec::new(), extent);
        let theirs = "repositories that you may read on GitHub";
        assert!(shown(Extent::Theirs).contains(theirs) && !shown(Extent::Everything).contains(theirs));
        assert!(shown(Extent::PerhapsMore).contains("some may be missing"));
        assert!(!shown(Extent::Theirs).contains("Nothing is running"), "of the whole service");
    }
}
