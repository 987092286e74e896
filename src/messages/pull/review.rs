//! A verdict as a pull request review: the body with the criteria and the changes since the last turn, and comments on
//! lines.

use crate::messages::{
    causes::{evidence, problems},
    form::{
        links::Links,
        measure::{
            Folding, MAX_CHARS, Measure, bullets, codes, fitting, folded, introduced, render_first, sections, table,
            titled,
        },
        untrusted, words,
        words::count,
    },
    issue::{blocked, headline},
    pull::{findings, gates, ignored, items, suggestion::replacement},
};
use domain::{
    blocked::{BlockReason, Cost, report::BlockedReport},
    decision::{CriterionFinding, CriterionMet, Outcome, Verdict},
    evidence::{Evidence, Gate, GateReport},
    feature::Feature,
    ids::TurnNumber,
    inline_comment::InlineComment,
    plan::{Check, Criterion},
    problem::ReviewItem,
    recurring,
    task::{Task, Turn, Work},
};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    /// The decision: to approve or to request changes.
    pub outcome: Outcome,
    pub body: String,
    /// Comments on lines of the diff.
    pub inline: Vec<InlineComment>,
}

/// The facts on the change that a review needs.
#[derive(Clone, Copy)]
pub struct ReviewedDiff<'a> {
    /// `true` if the diff shows a line of the new version of a file.
    pub in_diff: &'a dyn Fn(&str, u32) -> bool,
    pub files: &'a [String],
}

/// Returns the review of a turn's verdict, if there is a verdict. With the cost of the task that the turn blocked, it
/// includes the blocked report, unless somebody has decided meanwhile.
///
/// The body states the decision in words, since without the Coach App the review is posted as a comment.
pub fn review(
    feature: &Feature,
    task: &Task,
    turn: &Turn,
    blocked: Option<Cost>,
    links: &Links,
    shown: ReviewedDiff<'_>,
) -> Option<Review> {
    let verdict = turn.verdict.as_ref()?;
    let is_newest = task.last_turn().is_some_and(|last| last.number == turn.number);
    let blocked = blocked.filter(|_| is_newest);
    let report = blocked.and_then(|cost| BlockedReport::of_task(task, cost));
    let (inline, rest) = split(&verdict.items, shown.in_diff);
    let told = ReviewedTurn { feature, task, turn, links };
    Some(Review {
        outcome: verdict.outcome,
        body: fitting(|measure| told.body(verdict, &rest, shown.files, report.as_ref(), measure)),
        inline,
    })
}

pub(crate) struct ReviewedTurn<'a> {
    pub(crate) feature: &'a Feature,
    pub(crate) task: &'a Task,
    pub(crate) turn: &'a Turn,
    pub(crate) links: &'a Links,
}

impl ReviewedTurn<'_> {
    fn body(
        &self,
        verdict: &Verdict,
        rest: &[&ReviewItem],
        files: &[String],
        blocked: Option<&BlockedReport>,
        measure: &Measure,
    ) -> String {
        let (task, turn) = (self.task, self.turn);
        let part = |render: &dyn Fn(&BlockedReport) -> String| blocked.map_or_else(String::new, render);
        let and_blocked = part(&|report| format!(", and blocked ({})", headline::cause(&report.reason)));
        sections(vec![
            format!("### {}{and_blocked}: {}", words::outcome(verdict.outcome), words::task_name(task)),
            part(&|report| blocked::why_blocked(self.feature, report, measure)),
            part(&|report| blocked::red_before(self.feature, report, measure, Folding::Folded)),
            facts(self),
            without_coach(turn, blocked),
            without_report(turn).to_owned(),
            findings::coach_words(verdict, measure),
            findings::lowered(verdict, measure),
            self.to_mend(verdict, rest, measure),
            part(&|report| blocked::what_to_do(report, task, measure)),
            ignored::of_turn(turn, measure),
            part(&|report| blocked::recurring(&report.recurring, measure)),
            findings::record(task, turn, measure),
            folded("Since the last turn", &since_last(task, turn, files, measure)),
            part(&|report| blocked::so_far(self.feature, task, report, self.links)),
        ])
    }

    /// Returns the things that must be fixed. After a turn that changed nothing, these are the ones from the newest
    /// verdict on a change.
    fn to_mend(&self, verdict: &Verdict, rest: &[&ReviewItem], measure: &Measure) -> String {
        let (task, turn) = (self.task, self.turn);
        match turn.work {
            Work::Open | Work::Pushed | Work::Held => findings::open(task, turn, verdict, rest, measure),
            Work::NoChange => {
                let earlier = |before: &&Turn| {
                    before.number < turn.number && before.attempt == turn.attempt && before.work != Work::NoChange
                };
                let judged = task.turns.iter().rfind(earlier);
                let left = judged.and_then(|judged| Some((judged, judged.verdict.as_ref()?)));
                left.map_or_else(String::new, |(judged, verdict)| {
                    let items: Vec<&ReviewItem> = verdict.items.iter().collect();
                    findings::open(task, judged, verdict, &items, measure)
                })
            }
        }
    }
}

pub(crate) fn facts(told: &ReviewedTurn<'_>) -> String {
    let commit = match &told.turn.head {
        Some(head) => format!(", commit {}", told.links.commit(head)),
        None => String::new(),
    };
    format!(
        "{}, turn {} of {}{commit}.",
        told.feature.key.name(),
        told.turn.number,
        told.task.limit.max(told.turn.number.0)
    )
}

fn without_coach(turn: &Turn, blocked: Option<&BlockedReport>) -> String {
    let says_why = blocked.is_some_and(|report| report.reason == BlockReason::NoChangeTwice);
    let coached = turn.verdict.as_ref().is_some_and(|verdict| verdict.decision.is_some());
    match turn.work {
        Work::NoChange if says_why => "No Gate and no Coach ran in this turn.".to_owned(),
        Work::NoChange => {
            "No change: the Player's turn ended without a change to any file, so no Gate and no Coach ran.".to_owned()
        }
        Work::Held => "The Player's commit may not be pushed, so no Gate and no Coach ran on it.".to_owned(),
        Work::Open | Work::Pushed if !coached => "No Coach ran on this commit.".to_owned(),
        Work::Open | Work::Pushed => String::new(),
    }
}

/// Returns the sentence about work that was judged although the Player's run failed.
fn without_report(turn: &Turn) -> &'static str {
    match (turn.work, &turn.report) {
        (Work::Pushed, None) => "The Player's run did not end well and gave no report. Its work was judged as it is.",
        (Work::Open | Work::Pushed | Work::NoChange | Work::Held, _) => "",
    }
}

/// Returns a fold with a table: number, criterion, its check, the check's result, the Coach's judgement, and its
/// evidence.
pub(crate) fn criteria(task: &Task, turn: &Turn, measure: &Measure) -> String {
    let decision = turn.verdict.as_ref().and_then(|verdict| verdict.decision.as_ref());
    let checked = |report: &GateReport| report.more.iter().any(|result| matches!(result.gate, Gate::Check(_)));
    if decision.is_none() && !turn.gates.as_ref().is_some_and(checked) {
        return String::new();
    }
    let all = &task.plan.acceptance_criteria;
    let numbered: Vec<_> = (1..).zip(all).collect();
    let titles = "| # | criterion | check | its result | met | evidence |";
    let rows = table(titles, &numbered, measure.rows, |(number, criterion)| {
        let said = turn.verdict.as_ref().and_then(|verdict| finding_on(verdict, *number));
        row(*number, criterion, turn.gates.as_ref(), said, measure)
    });
    folded(&summary(all, turn), &rows)
}

fn finding_on(verdict: &Verdict, number: usize) -> Option<&CriterionFinding> {
    let found = &verdict.decision.as_ref()?.criteria;
    found.iter().find(|found| found.criterion == number)
}

fn row(
    number: usize,
    criterion: &Criterion,
    gates: Option<&GateReport>,
    said: Option<&CriterionFinding>,
    measure: &Measure,
) -> String {
    let (met, evidence) = match (said, &criterion.check) {
        (_, Check::Human) => ("for a person", "–".to_owned()),
        (Some(said), _) => (met(said.met), untrusted::cell(&said.evidence, measure.text.min(600))),
        (None, _) => ("not looked at", "–".to_owned()),
    };
    format!(
        "| {number} | {} | {} | {} | {met} | {evidence} |",
        untrusted::cell(&criterion.text, measure.text.min(600)),
        words::check(&criterion.check, 200),
        result(number, gates)
    )
}

fn result(number: usize, gates: Option<&GateReport>) -> String {
    let Some(result) = gates.and_then(|gates| gates.result(Gate::Check(number))) else {
        return "–".to_owned();
    };
    match &result.evidence {
        Evidence::Passed(_) | Evidence::Failed(_) => result.evidence.word().to_owned(),
        Evidence::Absent(reason) => format!("without result: {}", untrusted::cell(&evidence::absence(reason), 200)),
    }
}

fn met(met: CriterionMet) -> &'static str {
    match met {
        CriterionMet::Met => "met",
        CriterionMet::NotMet => "not met",
    }
}

fn summary(all: &[Criterion], turn: &Turn) -> String {
    let numbered = (1..).zip(all);
    let states: Vec<&str> = numbered.map(|(number, one)| state_of(number, one, turn)).collect();
    let counted = words::tally(&["met", "not met", "not looked at", "for a person"], &states);
    let noun = if all.len() == 1 { "criterion" } else { "criteria" };
    format!("{} {noun}: {counted}", all.len())
}

/// Returns a criterion's state; a failed check outweighs the Coach's judgement.
fn state_of(number: usize, criterion: &Criterion, turn: &Turn) -> &'static str {
    let checked = turn.gates.as_ref().and_then(|gates| gates.result(Gate::Check(number)));
    let failed = checked.is_some_and(|result| matches!(result.evidence, Evidence::Failed(_)));
    let said = turn.verdict.as_ref().and_then(|verdict| finding_on(verdict, number));
    match (&criterion.check, failed, said) {
        (Check::Human, _, _) => "for a person",
        (_, true, _) => met(CriterionMet::NotMet),
        (_, false, Some(said)) => met(said.met),
        (_, false, None) => "not looked at",
    }
}

/// The most comments on lines, and the most characters of each; GitHub accepts more, but nobody reads them.
const MOST: usize = 40;
const TEXT: usize = 4_000;
/// The most characters of a comment that becomes an entry of the body.
const FOLDED: usize = 1_200;

/// Splits the items into comments on lines that the diff shows, highest severity first, and items that stay in the
/// body.
pub(crate) fn split<'a>(
    items: &'a [ReviewItem],
    in_diff: &dyn Fn(&str, u32) -> bool,
) -> (Vec<InlineComment>, Vec<&'a ReviewItem>) {
    let mut inline = Vec::new();
    let mut rest = Vec::new();
    for item in items {
        match (&item.file, item.line) {
            (Some(path), Some(line)) if inline.len() < MOST && in_diff(path, line) => {
                let comment = InlineComment { path: path.clone(), line, body: body(item) };
                inline.push((item.severity, comment));
            }
            _ => rest.push(item),
        }
    }
    inline.sort_by_key(|(severity, _)| *severity);
    (inline.into_iter().map(|(_, comment)| comment).collect(), rest)
}

fn body(item: &ReviewItem) -> String {
    let head = format!(
        "**{}** [{}] {}",
        items::word(item.severity),
        untrusted::inline(item.problem.category(), 60),
        untrusted::inline(&problems::problem(item), TEXT)
    );
    match item.suggestion.as_deref().filter(|text| !text.trim().is_empty()) {
        None => head,
        Some(text) => match replacement(text) {
            Some(code) => format!("{head}\n\n{}", untrusted::fence_exact(code, "suggestion")),
            None => format!("{head}\n\nSuggestion:\n\n{}", untrusted::quote(text, TEXT)),
        },
    }
}

/// Returns the body with the comments on lines as entries, for a forge that refuses such comments.
pub fn fold_inline(review: &Review) -> String {
    if review.inline.is_empty() {
        return review.body.clone();
    }
    let room = MAX_CHARS.saturating_sub(review.body.chars().count());
    let entry = |inline: &InlineComment| {
        format!("{}, line {}:\n\n{}", untrusted::code(&inline.path, 200), inline.line, inline.body)
    };
    let entries = review.inline.iter().map(entry);
    let fitting = entries.filter(|entry| entry.chars().count() <= FOLDED);
    let mut used = 200;
    let mut kept: Vec<String> = Vec::new();
    for entry in fitting {
        let length = entry.chars().count() + 2;
        if used + length <= room {
            used += length;
            kept.push(entry);
        }
    }
    let left = review.inline.len() - kept.len();
    let mut parts = vec![review.body.clone(), "#### Items on lines".to_owned()];
    parts.extend(render_first(&kept, MOST, Clone::clone, |_| String::new()));
    if left > 0 {
        parts.push(format!("And {left} more, too long to be shown here."));
    }
    parts.join("\n\n")
}

/// The most items of one turn that are compared.
const COMPARED: usize = 500;

/// Returns the changes since the last turn of this attempt; empty for its first turn.
pub(crate) fn since_last(task: &Task, turn: &Turn, files: &[String], measure: &Measure) -> String {
    let earlier = |before: &&Turn| before.number < turn.number && before.attempt == turn.attempt;
    let Some(before) = task.turns.iter().rfind(earlier) else {
        return String::new();
    };
    sections(vec![
        compared(before, turn, measure),
        gates_changed(before, turn, measure),
        introduced("Files changed in this turn: ", &codes(files, measure.rows.min(40), 200)),
    ])
}

fn compared(before: &Turn, turn: &Turn, measure: &Measure) -> String {
    // After a turn that changed nothing, there is nothing else to report.
    let verdict = turn.verdict.as_ref().filter(|_| turn.work != Work::NoChange);
    let (Some(before), Some(now)) = (&before.verdict, verdict) else {
        return String::new();
    };
    let (recurred, silent) = parted(&before.items, &now.items);
    let (_, new) = parted(&now.items, &before.items);
    let list = |title: &str, items: &[&ReviewItem]| {
        let lines = bullets(items, measure.rows.min(60), |item| {
            let place = items::place(item).map_or_else(String::new, |place| format!("{place}: "));
            format!("{place}{}", untrusted::inline(&problems::problem(item), measure.text.min(600)))
        });
        titled(title, &lines)
    };
    let new = match new.len() {
        0 => String::new(),
        number => format!("New: {}, listed above.", count(number, "item")),
    };
    // If no Coach judged the turn, an item that is not repeated may still apply.
    let silent = match now.decision {
        Some(_) => list("No longer named:", &silent),
        None => String::new(),
    };
    sections(vec![silent, list("Named again:", &recurred), new])
}

/// Splits the items into those that are also in `others`, and the rest.
fn parted<'a>(items: &'a [ReviewItem], others: &[ReviewItem]) -> (Vec<&'a ReviewItem>, Vec<&'a ReviewItem>) {
    let others = others.get(..COMPARED.min(others.len())).unwrap_or_default();
    let again = |item: &ReviewItem| {
        let pair = [(TurnNumber(1), std::slice::from_ref(item)), (TurnNumber(2), others)];
        !recurring::recurring(&pair).is_empty()
    };
    items.iter().take(COMPARED).partition(|item| again(item))
}

/// Lists the Gates whose result differs from the turn before.
fn gates_changed(before: &Turn, turn: &Turn, measure: &Measure) -> String {
    let (Some(before), Some(now)) = (&before.gates, &turn.gates) else {
        return String::new();
    };
    let then: BTreeMap<String, &str> =
        gates::every(before).map(|(name, evidence)| (name, gates::result(evidence))).collect();
    let changed: Vec<String> = gates::every(now)
        .filter_map(|(name, evidence)| {
            let was = then.get(&name).filter(|was| **was != gates::result(evidence))?;
            Some(format!("{name}: {} after {was}", gates::result(evidence)))
        })
        .collect();
    titled("Gates that ended otherwise:", &bullets(&changed, measure.rows.min(40), Clone::clone))
}
