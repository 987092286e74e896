//! Lists in the living comment the texts and actions that AutoBuild could not post or carry out as intended.

use crate::messages::{
    links::Links,
    measure::{Measure, bullets},
    untrusted,
};
use domain::feature::{
    Feature,
    unsaid::{Replacement, Saying, Unsaid},
};

/// Returns one line for each, the newest first.
pub(super) fn lines(feature: &Feature, links: &Links, measure: &Measure) -> String {
    let newest: Vec<&Unsaid> = feature.unsaid.iter().rev().collect();
    bullets(&newest, measure.rows.min(6), |unsaid| {
        format!("{}. Reason: {}", what_failed(unsaid, links), untrusted::code(&unsaid.why, 200))
    })
}

fn what_failed(unsaid: &Unsaid, links: &Links) -> String {
    let of = |what: &str| match unsaid.task {
        Some(task) => format!("{what} of {task}"),
        None => what.to_owned(),
    };
    let said = |what: String| format!("AutoBuild could not post {what}{}", in_place(unsaid.instead));
    match (unsaid.what, unsaid.task) {
        (Saying::Review, _) => said(of("the review")),
        (Saying::Report, _) => said(of("the blocked report")),
        (Saying::Check, Some(_)) => said(of("the check run")),
        (Saying::Check, None) => said("the check run of the merged result".to_owned()),
        (Saying::Call, _) => said("its call to the person who labelled this issue".to_owned()),
        (Saying::Living, _) => said("this comment".to_owned()),
        (Saying::Dismissal, _) => format!(
            "AutoBuild could not dismiss the Coach's request for changes on {}. Dismiss it by hand if it stands in the way",
            of("the pull request")
        ),
        (Saying::Ready, _) => format!(
            "AutoBuild could not mark {} as ready for review. Do that by hand: nobody can merge a draft",
            of("the pull request")
        ),
        (Saying::Close { pull }, _) => format!(
            "AutoBuild could not close {}. Close it by hand",
            of(&format!("the pull request {}", links.pull(pull)))
        ),
    }
}

fn in_place(instead: Replacement) -> &'static str {
    match instead {
        Replacement::CommentReview => " as it should; a comment review says the same",
        Replacement::PullComment => " as it should; a comment on the pull request says the same",
        Replacement::IssueComment => " as it should; a comment on this issue says the same",
        Replacement::Nothing => " in any form",
    }
}
