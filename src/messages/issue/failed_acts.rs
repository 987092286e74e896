//! Lists in the living comment the texts and actions that AutoBuild could not post or carry out as intended.

use crate::messages::form::{
    links::Links,
    measure::{Measure, bullets},
    untrusted,
};
use domain::feature::{
    Feature,
    failed_acts::{FailedAct, PublicAct, Replacement},
};

/// Returns one line for each, the newest first.
pub(crate) fn lines(feature: &Feature, links: &Links, measure: &Measure) -> String {
    let newest: Vec<&FailedAct> = feature.failed_acts.iter().rev().collect();
    bullets(&newest, measure.rows.min(6), |act| {
        format!("{}. Reason: {}", what_failed(act, links), untrusted::code(&act.why, 200))
    })
}

fn what_failed(act: &FailedAct, links: &Links) -> String {
    let of = |what: &str| match act.task {
        Some(task) => format!("{what} of {task}"),
        None => what.to_owned(),
    };
    let said = |what: String| format!("AutoBuild could not post {what}{}", in_place(act.instead));
    match (act.what, act.task) {
        (PublicAct::Review, _) => said(of("the review")),
        (PublicAct::Report, _) => said(of("the blocked report")),
        (PublicAct::Check, Some(_)) => said(of("the check run")),
        (PublicAct::Check, None) => said("the check run of the merged result".to_owned()),
        (PublicAct::Call, _) => said("its call to the person who labelled this issue".to_owned()),
        (PublicAct::Living, _) => said("this comment".to_owned()),
        (PublicAct::Dismissal, _) => format!(
            "AutoBuild could not dismiss the Coach's request for changes on {}. Dismiss it by hand if it stands in the way",
            of("the pull request")
        ),
        (PublicAct::Ready, _) => format!(
            "AutoBuild could not mark {} as ready for review. Do that by hand: nobody can merge a draft",
            of("the pull request")
        ),
        (PublicAct::Close { pull }, _) => format!(
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
