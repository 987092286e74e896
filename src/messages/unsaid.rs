//! What could not be said as it should, in the comment on the state.

use crate::messages::{
    measure::{Measure, bullets},
    untrusted,
};
use domain::feature::{
    Feature,
    unsaid::{Instead, Saying, Unsaid},
};

/// One line each.
pub(super) fn lines(feature: &Feature, measure: &Measure) -> String {
    let newest: Vec<&Unsaid> = feature.unsaid.iter().rev().collect();
    bullets(&newest, measure.rows.min(6), |unsaid| line(unsaid))
}

fn line(unsaid: &Unsaid) -> String {
    let what = match unsaid.what {
        Saying::Review => "The review",
        Saying::Report => "The blocked report",
        Saying::Check => "The check run",
        Saying::Call => "A call of the person who labelled this issue",
        Saying::Living => "This comment",
    };
    let whose = match (unsaid.task, unsaid.what) {
        (Some(task), _) => format!(" of {task}"),
        (None, Saying::Check) => " of the merged result".to_owned(),
        (None, Saying::Review | Saying::Report | Saying::Call | Saying::Living) => String::new(),
    };
    let instead = match unsaid.instead {
        Instead::CommentReview => "could not be posted as it should; a comment review by AutoBuild says the same",
        Instead::PullComment => "could not be posted as it should; a comment on the pull request says the same",
        Instead::IssueComment => "could not be posted as it should; a comment on this issue says the same",
        Instead::Nothing => "could not be posted in any form",
    };
    format!(
        "{what}{whose} {instead}. GitHub's answer: {}",
        untrusted::code(&unsaid.why, 200)
    )
}
