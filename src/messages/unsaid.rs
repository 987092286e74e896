//! What could not be said or done as it should, in the comment on the state.

use crate::messages::{
    links::Links,
    measure::{Measure, bullets},
    untrusted,
};
use domain::feature::{
    Feature,
    unsaid::{Instead, Saying, Unsaid},
};

/// One line each.
pub(super) fn lines(feature: &Feature, links: &Links, measure: &Measure) -> String {
    let newest: Vec<&Unsaid> = feature.unsaid.iter().rev().collect();
    bullets(&newest, measure.rows.min(6), |unsaid| line(unsaid, links))
}

fn line(unsaid: &Unsaid, links: &Links) -> String {
    format!(
        "{}. GitHub's answer: {}",
        what_failed(unsaid, links),
        untrusted::code(&unsaid.why, 200)
    )
}

fn what_failed(unsaid: &Unsaid, links: &Links) -> String {
    let of = |what: &str| match unsaid.task {
        Some(task) => format!("{what} of {task}"),
        None => what.to_owned(),
    };
    let said = |what: String| format!("{what} {}", in_place(unsaid.instead));
    match (unsaid.what, unsaid.task) {
        (Saying::Review, _) => said(of("The review")),
        (Saying::Report, _) => said(of("The blocked report")),
        (Saying::Check, Some(_)) => said(of("The check run")),
        (Saying::Check, None) => said("The check run of the merged result".to_owned()),
        (Saying::Call, _) => said(of("A call of the person who labelled this issue")),
        (Saying::Living, _) => said("This comment".to_owned()),
        (Saying::Dismissal, _) => format!(
            "The Coach's request for changes on {} could not be dismissed; dismiss it by hand if it stands in the way",
            of("the pull request")
        ),
        (Saying::Ready, _) => format!(
            "{} could not be marked as ready for review; take its draft mark off by hand, a draft cannot be merged",
            of("The pull request")
        ),
        (Saying::Close { pull }, _) => format!(
            "{} could not be closed; close it by hand",
            of(&format!("The pull request {}", links.pull(pull)))
        ),
    }
}

fn in_place(instead: Instead) -> &'static str {
    match instead {
        Instead::CommentReview => "could not be posted as it should; a comment review by AutoBuild says the same",
        Instead::PullComment => "could not be posted as it should; a comment on the pull request says the same",
        Instead::IssueComment => "could not be posted as it should; a comment on this issue says the same",
        Instead::Nothing => "could not be posted in any form",
    }
}
