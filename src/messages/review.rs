//! A verdict as a pull request review.

use crate::messages::{
    blocked, findings, ignored,
    links::Links,
    measure::{Measure, fitting, sections},
    review_inline,
    review_since::since_last,
    untrusted, words,
};
use domain::{
    blocked::{Cost, report::BlockedReport},
    decision::{Issue, Outcome, Verdict},
    feature::Feature,
    task::{Task, Turn, Work},
};

/// A review to be posted on one commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    /// Which way it goes.
    pub event: ReviewEvent,
    /// Its body.
    pub body: String,
    /// Comments on lines of the diff.
    pub inline: Vec<Inline>,
}

/// Which way a review goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewEvent {
    /// `APPROVE`.
    Approve,
    /// `REQUEST_CHANGES`.
    RequestChanges,
}

/// A comment on one line of the new version of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inline {
    /// The file.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
    /// What it says.
    pub body: String,
}

/// What a review says of the change itself.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// Whether the diff shows a line of the new version of a file.
    pub in_diff: &'a dyn Fn(&str, u32) -> bool,
    /// Files that this turn changed.
    pub files: &'a [String],
}

/// The review of a turn's verdict, if one stands.
///
/// The body says the decision in words, since without the Coach App the review is posted as a comment.
pub fn review(feature: &Feature, task: &Task, turn: &Turn, links: &Links, shown: Shown<'_>) -> Option<Review> {
    let told = Told {
        feature,
        task,
        turn,
        links,
    };
    told.review(shown, None)
}

/// The review of the turn that blocked the task, which is the blocked report as well; a review alone where somebody has
/// decided meanwhile.
pub fn blocked_review(
    feature: &Feature,
    task: &Task,
    turn: &Turn,
    cost: Cost,
    links: &Links,
    shown: Shown<'_>,
) -> Option<Review> {
    let told = Told {
        feature,
        task,
        turn,
        links,
    };
    let is_newest = task.last_turn().is_some_and(|last| last.number == turn.number);
    let report = BlockedReport::of_task(task, cost).filter(|_| is_newest);
    told.review(shown, report.as_ref())
}

/// The body with the comments on lines taken into it, for a forge that refuses those.
pub fn fold_inline(review: &Review) -> String {
    review_inline::fold(review)
}

/// What a review is about.
pub(super) struct Told<'a> {
    pub(super) feature: &'a Feature,
    pub(super) task: &'a Task,
    pub(super) turn: &'a Turn,
    pub(super) links: &'a Links,
}

impl Told<'_> {
    fn review(&self, shown: Shown<'_>, blocked: Option<&BlockedReport>) -> Option<Review> {
        let verdict = self.turn.verdict.as_ref()?;
        let (inline, rest) = review_inline::split(&verdict.items, shown.in_diff);
        let event = match verdict.outcome {
            Outcome::Approve => ReviewEvent::Approve,
            Outcome::Feedback => ReviewEvent::RequestChanges,
        };
        Some(Review {
            event,
            body: fitting(|measure| self.body(verdict, &rest, shown.files, blocked, measure)),
            inline,
        })
    }

    fn body(
        &self,
        verdict: &Verdict,
        rest: &[&Issue],
        files: &[String],
        blocked: Option<&BlockedReport>,
        measure: &Measure,
    ) -> String {
        let (task, turn) = (self.task, self.turn);
        let part = |render: &dyn Fn(&BlockedReport) -> String| blocked.map_or_else(String::new, render);
        let and_blocked = if blocked.is_some() { ", and blocked" } else { "" };
        sections(vec![
            format!(
                "### {}{and_blocked}: {}",
                words::outcome(verdict.outcome),
                heading(self)
            ),
            part(&|report| blocked::why(self.feature, report, measure)),
            part(&|report| blocked::red_before(self.feature, report, measure, blocked::Form::Folded)),
            facts(self),
            without_coach(turn),
            findings::coach_words(verdict, measure),
            findings::lowered(verdict, measure),
            findings::open(task, turn, verdict, rest, measure),
            part(&|report| blocked::what_to_do(report, task)),
            ignored::of_turn(turn, measure),
            part(&|report| blocked::recurring(&report.recurring, measure)),
            findings::record(task, turn, measure),
            findings::folded_unless_empty("Since the last turn", &since_last(task, turn, files, measure)),
            part(&|report| blocked::standing(self.feature, task, report, self.links)),
        ])
    }
}

fn heading(told: &Told<'_>) -> String {
    format!("{} {}", told.task.id, untrusted::inline(&told.task.plan.name, 200))
}

/// The turn, the commit, and what the decision means for what comes next.
pub(super) fn facts(told: &Told<'_>) -> String {
    let commit = match &told.turn.head {
        Some(head) => format!(", commit {}", told.links.commit(head)),
        None => String::new(),
    };
    format!(
        "{}, turn {} of {}{commit}.",
        told.feature.key.shown(),
        told.turn.number,
        told.task.limit.max(told.turn.number.0)
    )
}

fn without_coach(turn: &Turn) -> String {
    let coached = turn.verdict.as_ref().is_some_and(|verdict| verdict.decision.is_some());
    match turn.work {
        Work::NoChange => {
            "No change: the Player's turn ended without a change to any file, so no Gate and no Coach ran.".to_owned()
        }
        Work::Held => "The Player's commit may not be pushed, so no Gate and no Coach ran on it.".to_owned(),
        Work::Open | Work::Pushed if !coached => "No Coach ran on this commit.".to_owned(),
        Work::Open | Work::Pushed => String::new(),
    }
}
