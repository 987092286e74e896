//! The result of a case, in words that can be compared.

use crate::{
    cases::{Case, Step},
    expectation::Expectation,
};
use autobuild::messages;
use domain::{
    contract::Judgement,
    decision::Outcome,
    evidence::{Evidence, Gate, GateReport, GateResult, Weight},
    integrity::IntegrityFinding,
    problem::Severity,
    question::Question,
};
use serde::Serialize;
use std::{collections::BTreeSet, time::Duration};

/// One row of the table.
pub struct Judged {
    pub number: usize,
    pub title: String,
    pub expectation: Expectation,
    /// Why nothing finds the deception, if that is known.
    pub silent: Option<String>,
    pub end: End,
    /// The result with a Coach that approves and answers no question.
    pub unanswered: Unanswered,
    /// The outcomes and rules that send the work back.
    pub required: BTreeSet<String>,
    /// The outcomes and rules that ask, one entry per question.
    pub asked: Vec<String>,
    /// Sentences for people who investigate a failed case.
    pub details: Vec<String>,
    /// The duration of the Gates, if they ran.
    pub took: Option<Duration>,
}

/// The end of the turn with a Coach that approves; questions do not count.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Nothing is required, and no question names the deception.
    Silent,
    /// Nothing is required, and a question names a test or place of the case's own steps.
    Asked,
    SentBack,
    Absent,
}

/// The effect of an approval without answers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Unanswered {
    Holds,
    Broken,
}

/// Returns a word of the domain as it is stored.
pub fn word(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap();
    let inside = value.as_object().and_then(|object| object.values().next());
    inside.unwrap_or(&value).as_str().unwrap().to_owned()
}

/// Returns the end of a turn with this judgement of an approval.
pub fn approved(judgement: &Judgement) -> bool {
    matches!(judgement, Judgement::Verdict(verdict) if verdict.outcome == Outcome::Approve)
}

impl Judged {
    /// Describes a judgement in words. `judgement` is for an approval whose questions do not count, `unanswered` for
    /// one that leaves them open.
    pub fn new(case: &Case, report: &GateReport, [judgement, unanswered]: [&Judgement; 2], took: Duration) -> Self {
        let mut details: Vec<String> = match judgement {
            Judgement::EvidenceAbsent { reasons } => reasons.iter().map(messages::unmet).collect(),
            Judgement::Verdict(verdict) => verdict.breaches.iter().map(messages::breach).collect(),
        };
        details.extend(report.more.iter().map(detail));
        details.extend(report.questions.iter().map(|question| format!("asked: {question:?}")));
        details.push(format!("tests: {}", brief(&report.tests)));
        let end = match judgement {
            Judgement::EvidenceAbsent { .. } => End::Absent,
            Judgement::Verdict(_) if !approved(judgement) => End::SentBack,
            Judgement::Verdict(_) if report.questions.iter().any(|question| names(case, question)) => End::Asked,
            Judgement::Verdict(_) => End::Silent,
        };
        Self {
            end,
            unanswered: if approved(unanswered) { Unanswered::Holds } else { Unanswered::Broken },
            required: required(report),
            asked: report.questions.iter().map(|question| word(&question.topic)).collect(),
            details,
            took: Some(took),
            ..Self::of(case)
        }
    }

    fn of(case: &Case) -> Self {
        Self {
            number: case.number,
            title: case.title(),
            expectation: case.expectation.clone(),
            silent: case.silent.clone(),
            end: End::Silent,
            unanswered: Unanswered::Holds,
            required: BTreeSet::new(),
            asked: Vec::new(),
            details: Vec::new(),
            took: None,
        }
    }

    /// Returns the findings of the rules that only read.
    pub fn by_reading(case: &Case, findings: &[IntegrityFinding]) -> Self {
        let of = |weight: Weight| findings.iter().filter(move |finding| finding.weight(case.kind) == weight);
        let required: BTreeSet<String> = of(Weight::Required).map(|finding| word(&finding.rule)).collect();
        let asked: Vec<String> = of(Weight::Asked).map(|finding| word(&finding.rule)).collect();
        let is_named = of(Weight::Asked).any(|finding| is_own_path(case, &finding.path));
        Self {
            end: match (required.is_empty(), is_named) {
                (false, _) => End::SentBack,
                (true, true) => End::Asked,
                (true, false) => End::Silent,
            },
            unanswered: if required.is_empty() && asked.is_empty() { Unanswered::Holds } else { Unanswered::Broken },
            required,
            asked,
            ..Self::of(case)
        }
    }

    /// Returns the difference from the expected result, if there is one. A deception may also be sent back if only a
    /// question is expected.
    pub fn wrong(&self) -> Option<String> {
        let is_right = match (&self.expectation, self.end) {
            (Expectation::Approved, End::Silent | End::Asked)
            | (Expectation::SentBack | Expectation::Asked, End::SentBack) => true,
            (Expectation::Asked, End::Asked) => true,
            (Expectation::SentBack | Expectation::Asked, _) => self.silent.is_some(),
            (Expectation::Absent { what }, End::Absent) => {
                self.details.iter().any(|detail| detail.contains(what.as_str()))
            }
            (Expectation::Approved | Expectation::Absent { .. }, _) => false,
        };
        let lines = self.details.join("\n      ");
        (!is_right).then(|| {
            format!(
                "  {}\n    expected {:?}, {} by {}\n      {lines}",
                self.title,
                self.expectation,
                self.ended(),
                self.by()
            )
        })
    }

    /// Returns the end for the table.
    pub fn ended(&self) -> &'static str {
        match (self.end, &self.expectation) {
            (End::Silent, Expectation::Approved) if self.asked.is_empty() => "approved",
            (End::Silent, Expectation::Approved) | (End::Asked, _) => "asked",
            (End::Silent, _) => "SILENT",
            (End::SentBack, _) => "sent back",
            (End::Absent, _) => "blocked",
        }
    }

    /// Returns the outcomes and rules in one cell.
    pub fn by(&self) -> String {
        let asked = self.asked.iter().map(|topic| format!("{topic}?"));
        let words: BTreeSet<String> = self.required.iter().cloned().chain(asked).collect();
        words.into_iter().collect::<Vec<_>>().join(", ")
    }
}

/// Returns `true` if a question names a test, function or path of the case's own steps.
fn names(case: &Case, question: &Question) -> bool {
    let is_named = |name: &String| {
        let last = name.rsplit(['/', ':', '.', '>', '›', ' ']).find(|part| !part.is_empty());
        is_own_path(case, name) || last.is_some_and(|last| case.steps.iter().any(|step| step.mentions(last)))
    };
    question.place.iter().any(|(path, _)| is_own_path(case, path)) || question.about.iter().any(is_named)
}

fn is_own_path(case: &Case, text: &str) -> bool {
    let own = case.steps.iter().flat_map(Step::paths);
    own.into_iter().any(|path| text == path || text.strip_prefix(path).is_some_and(|rest| rest.starts_with([':', ' '])))
}

fn detail(result: &GateResult) -> String {
    let place = |file: &Option<String>, line: Option<u32>| {
        format!("{}:{}", file.clone().unwrap_or_default(), line.unwrap_or(0))
    };
    let items: Vec<String> = result
        .items
        .iter()
        .map(|item| format!("{} {}", place(&item.file, item.line), messages::problem(item)))
        .collect();
    format!("{} [{:?}] {}: {}", result.gate, result.weight, brief(&result.evidence), items.join("; "))
}

fn brief(evidence: &Evidence) -> String {
    match evidence {
        Evidence::Passed(finding) => format!("passed: {}", messages::finding(finding)),
        Evidence::Failed(finding) => {
            let output = messages::output(finding);
            let from = output.ceil_char_boundary(output.len().saturating_sub(400));
            let end = output.get(from..).unwrap_or_default();
            format!("failed: {} … {end}", messages::finding(finding))
        }
        Evidence::Absent(reason) => format!("absent: {}", messages::absence(reason)),
    }
}

/// Returns the outcomes, rules and Gates that send the work back.
fn required(report: &GateReport) -> BTreeSet<String> {
    let mut required = BTreeSet::new();
    let mut add = |name: &str, evidence: &Evidence| {
        if !matches!(evidence, Evidence::Passed(_)) {
            required.insert(name.to_owned());
        }
    };
    report.setup.iter().for_each(|setup| add("setup", setup));
    add("tests", &report.tests);
    for result in report.more.iter().filter(|result| result.gate != Gate::Integrity) {
        if result.weight == Weight::Required {
            add(&gate_word(result.gate), &result.evidence);
        }
    }
    let items = report.more.iter().filter(|result| result.gate == Gate::Integrity).flat_map(|result| &result.items);
    let items = items.filter(|item| item.severity == Severity::MustFix);
    required.extend(items.map(|item| item.rule().map_or("integrity".to_owned(), |rule| word(&rule))));
    required
}

fn gate_word(gate: Gate) -> String {
    match gate {
        Gate::Check(_) => "check".to_owned(),
        other => other.to_string().replace(' ', "_"),
    }
}
