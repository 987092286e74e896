//! What came of a case, in words that can be compared.

use crate::{cases::Case, expectation::Expectation};
use domain::{
    contract::Judgement,
    decision::{Outcome, Severity},
    evidence::{Evidence, Gate, GateReport, Profile, Weight, profile},
    integrity::{IntegrityFinding, Rule},
    plan::TaskType,
};
use std::{collections::BTreeSet, time::Duration};

/// One row of the table.
pub struct Judged {
    pub number: usize,
    pub title: String,
    pub expectation: Expectation,
    pub undecidable: Option<String>,
    pub given_up: Option<String>,
    pub end: End,
    /// What sends the work back.
    pub reasons: Vec<Reason>,
    /// What is only shown.
    pub shown: Vec<Reason>,
    /// Sentences, for whoever looks into a case that went wrong.
    pub said: Vec<String>,
    /// How long the Gates ran, where they did.
    pub took: Option<Duration>,
}

/// How the turn ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum End {
    Approved,
    Refused,
    Absent,
}

/// A rule or a Gate, and the place where it knows one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reason {
    pub word: String,
    pub path: Option<String>,
    pub line: Option<u32>,
}

/// A rule in the words of the cases.
pub fn word(rule: &Rule) -> String {
    let text = serde_json::to_value(rule).unwrap();
    text.as_str().unwrap().to_owned()
}

impl Judged {
    /// Puts a judgement into words.
    pub fn new(case: &Case, report: &GateReport, judgement: &Judgement, took: Duration) -> Self {
        let (end, said) = match judgement {
            Judgement::EvidenceAbsent { reasons } => (End::Absent, reasons.clone()),
            Judgement::Verdict(verdict) => match verdict.outcome {
                Outcome::Approve => (End::Approved, Vec::new()),
                Outcome::Feedback => (
                    End::Refused,
                    verdict.broken_contracts.iter().map(ToString::to_string).collect(),
                ),
            },
        };
        let (reasons, shown) = reasons(case.kind, report);
        let mut said = said;
        said.extend(report.more.iter().map(|result| {
            let items: Vec<String> = result
                .items
                .iter()
                .map(|item| {
                    format!(
                        "{}:{} {}",
                        item.file.clone().unwrap_or_default(),
                        item.line.unwrap_or(0),
                        item.description
                    )
                })
                .collect();
            format!(
                "{} [{:?}] {}: {}",
                result.gate,
                result.weight,
                brief(&result.evidence),
                items.join("; ")
            )
        }));
        said.push(format!("tests: {}", brief(&report.tests)));
        Self {
            number: case.number,
            title: case.title(),
            expectation: case.expectation.clone(),
            undecidable: case.undecidable.clone(),
            given_up: case.given_up.clone(),
            end,
            reasons,
            shown,
            said,
            took: Some(took),
        }
    }

    /// What the rules that only read say of a change.
    pub fn by_reading(case: &Case, findings: &[IntegrityFinding]) -> Self {
        let reason = |finding: &IntegrityFinding| Reason {
            word: word(&finding.rule),
            path: Some(finding.path.clone()),
            line: finding.line,
        };
        let of = |weight: Weight| -> Vec<Reason> {
            let weighed = findings.iter().filter(|finding| finding.weight(case.kind) == weight);
            weighed.map(reason).collect()
        };
        let reasons = of(Weight::Required);
        let end = if reasons.is_empty() {
            End::Approved
        } else {
            End::Refused
        };
        Self {
            number: case.number,
            title: case.title(),
            expectation: case.expectation.clone(),
            undecidable: case.undecidable.clone(),
            given_up: case.given_up.clone(),
            end,
            reasons,
            shown: of(Weight::Informational),
            said: Vec::new(),
            took: None,
        }
    }

    /// What is wrong, if anything is.
    pub fn wrong(&self) -> Option<String> {
        if self.given_up.is_some() {
            return None;
        }
        let fits = |reason: &Reason, by: &[String], at: &Option<String>| {
            (by.contains(&reason.word) || by.contains(&"any".to_owned()))
                && at
                    .as_ref()
                    .is_none_or(|at| reason.path.as_ref() == Some(at) && reason.line.is_some())
        };
        let right = match (&self.expectation, self.end) {
            (Expectation::Approved { with: None }, End::Approved) => true,
            (Expectation::Approved { with: Some(word) }, End::Approved) => {
                self.shown.iter().any(|shown| shown.word == *word)
            }
            (Expectation::Refused { by, at }, End::Refused) => self.reasons.iter().any(|reason| fits(reason, by, at)),
            (Expectation::Absent { what }, End::Absent) => self.said.iter().any(|said| said.contains(what.as_str())),
            _ => false,
        };
        let ended = match self.end {
            End::Approved => "approved",
            End::Refused => "refused",
            End::Absent => "without evidence",
        };
        let lines = self.said.join("\n      ");
        (!right).then(|| {
            format!(
                "  {}\n    expected {:?}, {ended} by {}\n      {lines}",
                self.title,
                self.expectation,
                self.by()
            )
        })
    }

    /// The reasons in one cell.
    pub fn by(&self) -> String {
        let words: BTreeSet<&str> = match self.end {
            End::Approved => self.shown.iter().map(|shown| shown.word.as_str()).collect(),
            End::Refused | End::Absent => self.reasons.iter().map(|reason| reason.word.as_str()).collect(),
        };
        words.into_iter().collect::<Vec<_>>().join(", ")
    }
}

fn brief(evidence: &Evidence) -> String {
    match evidence {
        Evidence::Passed(finding) => format!("passed: {}", finding.sentence()),
        Evidence::Failed(finding) => {
            let end: String = finding
                .output
                .chars()
                .rev()
                .take(400)
                .collect::<Vec<_>>()
                .into_iter()
                .rev()
                .collect();
            format!("failed: {} … {end}", finding.sentence())
        }
        Evidence::Absent(reason) => format!("absent: {}", reason.sentence()),
    }
}

fn reasons(kind: TaskType, report: &GateReport) -> (Vec<Reason>, Vec<Reason>) {
    let plain = |word: &str| Reason {
        word: word.to_owned(),
        path: None,
        line: None,
    };
    let mut reasons = Vec::new();
    let mut shown = Vec::new();
    let first = GateReport {
        more: Vec::new(),
        ..report.clone()
    };
    match profile(kind, &first) {
        Profile::Passed => {}
        Profile::Failed(sentences) | Profile::Absent(sentences) => reasons.extend(sentences.iter().map(|sentence| {
            plain(if sentence.starts_with("set-up") {
                "setup"
            } else {
                "tests"
            })
        })),
    }
    for result in &report.more {
        if result.gate == Gate::Integrity {
            for item in &result.items {
                let reason = Reason {
                    word: item.rule.map_or("integrity".to_owned(), |rule| word(&rule)),
                    path: item.file.clone(),
                    line: item.line,
                };
                match item.severity {
                    Severity::MustFix => reasons.push(reason),
                    Severity::ShouldFix | Severity::NiceToHave => shown.push(reason),
                }
            }
            continue;
        }
        let gate = plain(&gate_word(result.gate));
        match (result.weight, &result.evidence) {
            (_, Evidence::Passed(_)) => {}
            (Weight::Required, Evidence::Failed(_) | Evidence::Absent(_)) => reasons.push(gate),
            (Weight::Asked | Weight::Informational, Evidence::Failed(_) | Evidence::Absent(_)) => shown.push(gate),
        }
    }
    (reasons, shown)
}

fn gate_word(gate: Gate) -> String {
    match gate {
        Gate::BaseTests => "base_tests".to_owned(),
        Gate::RedBeforeGreen => "red_before_green".to_owned(),
        Gate::Coverage => "coverage".to_owned(),
        Gate::Integrity => "integrity".to_owned(),
        Gate::Experiments => "experiments".to_owned(),
        Gate::Check(number) => format!("check_{number}"),
        Gate::Smoke => "smoke".to_owned(),
        Gate::Probe(number) => format!("probe_{number}"),
        Gate::Ci => "ci".to_owned(),
    }
}
