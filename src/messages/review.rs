//! A verdict as a pull request review.

use crate::domain::decision::Issue;
use crate::domain::decision::Outcome;
use crate::domain::decision::Verdict;
use crate::domain::feature::Feature;
use crate::domain::task::Task;
use crate::domain::task::Turn;
use crate::domain::task::Work;
use crate::messages::gates;
use crate::messages::ignored;
use crate::messages::items;
use crate::messages::links::Links;
use crate::messages::measure::Measure;
use crate::messages::measure::bullets;
use crate::messages::measure::fitting;
use crate::messages::measure::sections;
use crate::messages::measure::titled;
use crate::messages::review_criteria::criteria;
use crate::messages::review_inline;
use crate::messages::review_since::since_last;
use crate::messages::untrusted;
use crate::messages::words;

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
#[must_use]
pub fn review(feature: &Feature, task: &Task, turn: &Turn, links: &Links, shown: Shown<'_>) -> Option<Review> {
    let verdict = turn.verdict.as_ref()?;
    let (inline, rest) = review_inline::split(&verdict.items, shown.in_diff);
    let event = match verdict.outcome {
        Outcome::Approve => ReviewEvent::Approve,
        Outcome::Feedback => ReviewEvent::RequestChanges,
    };
    let on_lines = inline.len();
    let told = Told {
        feature,
        task,
        turn,
        links,
    };
    let whole = |measure: &Measure| {
        let since = since_last(task, turn, shown.files, measure);
        sections(vec![
            body(&told, verdict, &rest, on_lines, measure),
            titled("#### Since the last turn", &since),
        ])
    };
    Some(Review {
        event,
        body: fitting(whole),
        inline,
    })
}

/// The body with the comments on lines taken into it, for a forge that refuses those.
#[must_use]
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

fn body(told: &Told<'_>, verdict: &Verdict, rest: &[&Issue], on_lines: usize, measure: &Measure) -> String {
    let listed = items::by_severity(rest, measure);
    let elsewhere = match on_lines {
        0 => String::new(),
        1 => "One more item stands on its line below.".to_owned(),
        n => format!("{n} more items stand on their lines below."),
    };
    sections(vec![
        format!("### {}: {}", words::outcome(verdict.outcome), heading(told)),
        facts(told),
        without_coach(told.turn),
        coach_words(verdict, measure),
        titled(broken_title(verdict), &broken(verdict, measure)),
        titled("#### Criteria", &criteria(told.task, told.turn, measure)),
        titled("#### Gates", &gates_of(told.task, told.turn, measure)),
        titled("#### Claims that are not so", &discrepancies(told.turn, measure)),
        titled("#### Items", &sections(vec![listed, elsewhere])),
        ignored::of_turn(told.turn, measure),
    ])
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

/// The Coach's own words, as a quotation.
pub(super) fn coach_words(verdict: &Verdict, measure: &Measure) -> String {
    let Some(decision) = &verdict.decision else {
        return String::new();
    };
    let feedback = match decision.feedback.trim() {
        words if words.is_empty() || words == decision.summary.trim() => String::new(),
        words => untrusted::quote(words, measure.text),
    };
    match (decision.summary.trim().is_empty(), feedback.is_empty()) {
        (true, _) => feedback,
        (false, true) => untrusted::quote(&decision.summary, measure.text),
        (false, false) => format!("{}\n>\n{feedback}", untrusted::quote(&decision.summary, measure.text)),
    }
}

/// The contracts that an approval broke.
/// Without a Coach there was no approval: what is broken is the work's own contract.
pub(super) fn broken_title(verdict: &Verdict) -> &'static str {
    match verdict.decision {
        Some(_) => "#### Why the Coach's approval does not stand",
        None => "#### Why the work was not taken",
    }
}

pub(super) fn broken(verdict: &Verdict, measure: &Measure) -> String {
    bullets(&verdict.broken_contracts, measure.rows.min(60), |sentence| {
        untrusted::inline(sentence, measure.text)
    })
}

pub(super) fn gates_of(task: &Task, turn: &Turn, measure: &Measure) -> String {
    let told = turn.verdict.as_ref().map(|verdict| verdict.items.as_slice());
    turn.gates.as_ref().map_or_else(String::new, |report| {
        gates::table(task.plan.kind, report, told.unwrap_or_default(), measure)
    })
}

/// What the Player claimed and what is so.
pub(super) fn discrepancies(turn: &Turn, measure: &Measure) -> String {
    bullets(&turn.discrepancies, measure.rows.min(60), |found| {
        format!(
            "The Player claims: {} In fact: {}",
            untrusted::sentence(&found.claim, measure.text),
            untrusted::sentence(&found.fact, measure.text)
        )
    })
}
