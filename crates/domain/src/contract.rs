//! The contracts that agents must keep, and the one function that turns a Coach's decision into a verdict. A verdict
//! may be lower than the decision, never higher.

use crate::{
    decision::{CoachDecision, DecisionKind, Issue, Outcome, Severity, Verdict},
    evidence,
    evidence::{GateReport, Profile, Unmet},
    grounds,
    plan::{Criterion, TaskType},
    question,
    question::{OpenQuestion, OpenReason, Question, QuoteFacts, QuoteSource},
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, fmt};
use text::words;

words! {
    /// A promise that an agent's definition names and that code checks in each turn.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Contract {
        /// The Player's report has the right shape.
        ReportValid = "report_valid",
        /// The change touches only allowed paths.
        PathsAllowed = "paths_allowed",
        /// The Player's own statement never ends a task.
        NeverDeclaresDone = "never_declares_done",
        /// The Coach's decision has the right shape and asks only for what can be done.
        DecisionValid = "decision_valid",
        /// Every Gate of the profile passed on this commit.
        GatesPassed = "gates_passed",
        /// Every criterion is met and has evidence that exists, except those for a person.
        CriteriaEvidenced = "criteria_evidenced",
        /// Every question is answered, with a quote that is there.
        QuestionsAnswered = "questions_answered",
        /// No `must_fix` issue is left.
        NoMustFix = "no_must_fix",
        /// An agent that may only read left its checkout unchanged.
        CheckoutUnchanged = "checkout_unchanged",
        /// The designer's answer has the right shape.
        DesignValid = "design_valid",
    }
}

/// A contract that a decision or a change broke.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrokenContract {
    /// The contract.
    pub contract: Contract,
    /// The reason why it is broken.
    pub why: String,
}

impl fmt::Display for BrokenContract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.contract, self.why)
    }
}

/// The difference between the Coach's checkout before and after its turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckoutState {
    /// Nothing differs.
    Unchanged,
    /// These paths differ.
    Changed(Vec<String>),
}

impl CheckoutState {
    /// Combines two comparisons: unchanged only if both are, else all the changed paths.
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unchanged, other) => other,
            (changed @ Self::Changed(_), Self::Unchanged) => changed,
            (Self::Changed(mut paths), Self::Changed(more)) => {
                paths.extend(more);
                Self::Changed(paths)
            }
        }
    }
}

/// Categories of items about a path that no change may touch.
const FORBIDDEN: [&str; 3] = ["protected_path", "escaping_link", "submodule"];

/// The facts about the turn that a decision judges.
#[derive(Clone, Copy)]
pub struct TurnFacts<'a> {
    /// The task's type.
    pub kind: TaskType,
    /// The task's criteria.
    pub criteria: &'a [Criterion],
    /// The results of the Gates on exactly this commit.
    pub gates: &'a GateReport,
    /// The number of lines of the file of exactly this path; `None` if the commit has no such file, [`u32::MAX`] if its
    /// lines were not counted.
    pub lines_of: &'a dyn Fn(&str) -> Option<u32>,
    /// Returns `true` if the commit that the change started from has a file at exactly this path.
    pub is_on_base: &'a dyn Fn(&str) -> bool,
    /// The texts and lines that the answers to questions may quote.
    pub quotes: QuoteFacts<'a>,
    /// The state of the Coach's checkout after its turn.
    pub checkout: &'a CheckoutState,
}

/// The outcome of judging a decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// A verdict that may be stored and posted.
    Verdict(Box<Verdict>),
    /// A Gate that the task's type requires could not run. That is never the Player's fault: the task blocks.
    EvidenceAbsent {
        /// Each such Gate, and why it could not run.
        reasons: Vec<Unmet>,
    },
}

/// Turns a decision into a verdict: approval if every contract holds, else feedback that names the broken ones.
pub fn judge(decision: &CoachDecision, facts: &TurnFacts<'_>) -> Judgement {
    let gate_failures = match evidence::profile(facts.kind, facts.gates) {
        Profile::Absent(reasons) => return Judgement::EvidenceAbsent { reasons },
        Profile::Failed(failures) => failures,
        Profile::Passed => Vec::new(),
    };
    let mut verdict = match decision.decision {
        DecisionKind::Approve => approved_or_lowered(decision, facts, &gate_failures),
        DecisionKind::Feedback => {
            let mut items = evidence::items(facts.kind, facts.gates);
            let open = open_questions(decision, facts).into_iter();
            items.extend(
                open.filter(|(open, _)| !open.lacks_answer())
                    .map(|(open, question)| open_item(&open, question)),
            );
            feedback(decision, Vec::new(), items)
        }
        // It may ask for commands once per turn, and has asked.
        DecisionKind::Probe => {
            let why = "the Coach asked for commands to be run instead of deciding";
            let broken = broken(Contract::DecisionValid, why);
            feedback(decision, vec![broken], evidence::items(facts.kind, facts.gates))
        }
    };
    verdict.open_questions = open_questions(decision, facts)
        .into_iter()
        .map(|(open, _)| open)
        .collect();
    Judgement::Verdict(Box::new(verdict))
}

/// The evidence and the answers that an approval lacks, each with its number and the reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// Criteria that nothing shows.
    pub criteria: Vec<(usize, String)>,
    /// Questions without an answer that holds.
    pub answers: Vec<(usize, String)>,
}

impl Missing {
    /// `true` if nothing is missing.
    pub fn is_empty(&self) -> bool {
        self.criteria.is_empty() && self.answers.is_empty()
    }
}

/// Returns the evidence and the answers that an approval lacks, if it lacks nothing else. The Coach can add them; every
/// other broken contract is for the next turn.
pub fn missing(decision: &CoachDecision, facts: &TurnFacts<'_>) -> Missing {
    if decision.decision != DecisionKind::Approve {
        return Missing::default();
    }
    let open = open_questions(decision, facts).into_iter();
    let missing = Missing {
        criteria: grounds::unproven(decision, facts),
        answers: open
            .filter(|(open, _)| open.lacks_answer())
            .map(|(open, question)| (open.number, open.sentence(question)))
            .collect(),
    };
    let number = missing.criteria.len() + missing.answers.len();
    match judge(decision, facts) {
        Judgement::Verdict(verdict) if verdict.broken_contracts.len() == number => missing,
        Judgement::Verdict(_) | Judgement::EvidenceAbsent { .. } => Missing::default(),
    }
}

fn open_questions<'a>(decision: &CoachDecision, facts: &TurnFacts<'a>) -> Vec<(OpenQuestion, &'a Question)> {
    let questions = &facts.gates.questions;
    let open = question::open_questions(questions, &decision.answers, facts.quotes).into_iter();
    let with_question = |open: OpenQuestion| {
        let question = questions.get(open.number.checked_sub(1)?)?;
        Some((open, question))
    };
    open.filter_map(with_question).collect()
}

fn open_item(open: &OpenQuestion, question: &Question) -> Issue {
    let title = question.title();
    let words = match (&open.why, question.topic.quote_source()) {
        (OpenReason::NotFine { because }, _) => format!("{title}: {}", question::short(because)),
        (_, QuoteSource::Words) => format!(
            "{title}: nobody showed words of the issue, the task or a person that want this. Undo it, or quote such \
             words in `answers` of the report."
        ),
        (_, QuoteSource::WordsOrPlace) => format!(
            "{title}: nobody showed that this is right. Mend it, or name in `answers` of the report the words or the \
             line that show it."
        ),
    };
    let place = question.place.as_ref();
    Issue {
        file: place.map(|(path, _)| path.clone()),
        line: place.map(|(_, line)| *line),
        ..Issue::must_fix("question", &words)
    }
}

/// The verdict on a turn that no Coach reviewed. The Player must fix the items.
pub fn feedback_without_coach(items: Vec<Issue>) -> Verdict {
    Verdict {
        outcome: Outcome::Feedback,
        decision: None,
        broken_contracts: Vec::new(),
        open_questions: Vec::new(),
        items: must_fix_first(items),
    }
}

/// The verdict on work that may not be pushed.
pub fn held(items: Vec<Issue>) -> Verdict {
    let forbidden = items.iter().filter(|item| FORBIDDEN.contains(&item.category.as_str()));
    let paths: BTreeSet<&str> = forbidden.filter_map(|item| item.file.as_deref()).collect();
    let named: Vec<&str> = paths.into_iter().take(10).collect();
    let broken = (!named.is_empty()).then(|| broken(Contract::PathsAllowed, &named.join(", ")));
    Verdict {
        broken_contracts: broken.into_iter().collect(),
        ..feedback_without_coach(items)
    }
}

/// The verdict on a turn that changed no file.
pub fn no_change() -> Verdict {
    let words = "no change: the turn ended without a change to any file";
    feedback_without_coach(vec![Issue::must_fix("requirement", words)])
}

fn approved_or_lowered(decision: &CoachDecision, facts: &TurnFacts<'_>, gate_failures: &[Unmet]) -> Verdict {
    let failed = gate_failures
        .iter()
        .map(|unmet| broken(Contract::GatesPassed, &unmet.sentence()));
    let mut found: Vec<BrokenContract> = failed.collect();
    let mut items = evidence::items(facts.kind, facts.gates);
    let wrong = grounds::wrong_numbers(decision, facts.criteria);
    found.extend(wrong.iter().map(|why| broken(Contract::DecisionValid, why)));
    for open in grounds::open_criteria(decision, facts) {
        found.push(broken(Contract::CriteriaEvidenced, &open.why));
        items.extend(open.item);
    }
    for (open, question) in open_questions(decision, facts) {
        let contract = if open.lacks_answer() {
            Contract::QuestionsAnswered
        } else {
            Contract::NoMustFix
        };
        found.push(broken(contract, &open.sentence(question)));
        items.push(open_item(&open, question));
    }
    let is_must_fix = |issue: &&Issue| issue.severity == Severity::MustFix;
    let left = decision.issues.iter().filter(is_must_fix).count();
    if left > 0 {
        found.push(broken(Contract::NoMustFix, &format!("{left} must_fix left")));
    }
    if let CheckoutState::Changed(paths) = facts.checkout {
        let named: Vec<&str> = paths.iter().take(10).map(String::as_str).collect();
        let why = format!("the Coach's checkout changed: {}", named.join(", "));
        found.push(broken(Contract::CheckoutUnchanged, &why));
    }
    if !found.is_empty() {
        return feedback(decision, found, items);
    }
    items.extend(decision.issues.iter().cloned());
    Verdict {
        outcome: Outcome::Approve,
        decision: Some(decision.clone()),
        broken_contracts: found,
        open_questions: Vec::new(),
        items: must_fix_first(items),
    }
}

/// Returns feedback with everything to fix: what the code found, then what the Coach found. If neither found a problem
/// in the work, the only item is the broken contract, or the Coach's own text if no contract is broken.
fn feedback(decision: &CoachDecision, broken_contracts: Vec<BrokenContract>, mut items: Vec<Issue>) -> Verdict {
    items.extend(decision.issues.iter().cloned());
    if items.is_empty() {
        items.push(match broken_contracts.first() {
            Some(broken) => without_a_finding(broken),
            None => in_words(decision),
        });
    }
    Verdict {
        outcome: Outcome::Feedback,
        decision: Some(decision.clone()),
        broken_contracts,
        open_questions: Vec::new(),
        items: must_fix_first(items),
    }
}

fn in_words(decision: &CoachDecision) -> Issue {
    let words = [&decision.feedback, &decision.summary].into_iter();
    let first = words.map(|text| text.trim()).find(|text| !text.is_empty());
    Issue::must_fix("requirement", first.unwrap_or("the Coach gave no reason"))
}

/// The item for the Player if only the review itself was at fault.
fn without_a_finding(broken: &BrokenContract) -> Issue {
    let words = format!(
        "The review does not count: {broken}. That is no finding about the work. Look once more whether every criterion \
         is met and easy to verify, add the test that would show it best, and name in the report what shows each."
    );
    Issue::must_fix("review", &words)
}

fn broken(contract: Contract, why: &str) -> BrokenContract {
    BrokenContract {
        contract,
        why: why.to_owned(),
    }
}

fn must_fix_first(mut items: Vec<Issue>) -> Vec<Issue> {
    items.sort_by_key(|item| item.severity);
    items
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        decision::{CriterionFinding, CriterionMet},
        evidence::{Absence, Cause, Counts, Evidence, Finding, Part},
        plan::Check,
        question::{AnswerVerdict, QuestionAnswer, Topic},
        test_outcome::TestOutcome,
    };
    use proptest::prelude::*;

    fn tests(exit_code: i32, passed: u32, failed: u32) -> GateReport {
        let finding = Finding {
            command: "cargo test".to_owned(),
            exit_code: Some(exit_code),
            counts: Counts::Known {
                passed,
                failed,
                skipped: 0,
            },
            failing: Vec::new(),
            output: String::new(),
            ..Finding::default()
        };
        let tests = if exit_code == 0 {
            Evidence::Passed(finding)
        } else {
            Evidence::Failed(finding)
        };
        GateReport {
            isolation: None,
            setup: None,
            tests,
            excused: Vec::new(),
            questions: Vec::new(),
            intended: Vec::new(),
            more: Vec::new(),
        }
    }

    fn criteria() -> Vec<Criterion> {
        let criterion = |text: &str, check| Criterion {
            text: text.to_owned(),
            check,
        };
        vec![
            criterion("it parses", Check::Test("t::parses".to_owned())),
            criterion("it reads well", Check::Human),
        ]
    }

    fn finding(criterion: usize, met: CriterionMet, evidence: &str) -> CriterionFinding {
        CriterionFinding {
            criterion,
            met,
            evidence: evidence.to_owned(),
        }
    }

    fn approval() -> CoachDecision {
        CoachDecision {
            decision: DecisionKind::Approve,
            summary: "fine".to_owned(),
            criteria: vec![finding(1, CriterionMet::Met, "src/lib.rs")],
            tests: None,
            issues: Vec::new(),
            feedback: String::new(),
            answers: Vec::new(),
            commands: Vec::new(),
            ignored: Vec::new(),
        }
    }

    fn issue(severity: Severity, description: &str) -> Issue {
        Issue {
            severity,
            ..Issue::must_fix("design", description)
        }
    }

    fn facts<'a>(criteria: &'a [Criterion], gates: &'a GateReport, checkout: &'a CheckoutState) -> TurnFacts<'a> {
        TurnFacts {
            kind: TaskType::Feature,
            criteria,
            gates,
            lines_of: &|path| (path == "src/lib.rs").then_some(9),
            is_on_base: &|_| true,
            quotes: QuoteFacts {
                words: &["Totals of cancelled orders are no longer counted."],
                in_diff: &|_, _| false,
            },
            checkout,
        }
    }

    fn judged(decision: &CoachDecision, gates: &GateReport, checkout: &CheckoutState) -> Judgement {
        judge(decision, &facts(&criteria(), gates, checkout))
    }

    fn verdict(decision: &CoachDecision, gates: &GateReport) -> Verdict {
        match judged(decision, gates, &CheckoutState::Unchanged) {
            Judgement::Verdict(verdict) => *verdict,
            Judgement::EvidenceAbsent { reasons } => panic!("{reasons:?}"),
        }
    }

    #[test]
    fn an_honest_approval_stands_with_its_comments() {
        let mut decision = approval();
        decision.issues = vec![
            issue(Severity::NiceToHave, "a name"),
            issue(Severity::ShouldFix, "a test"),
        ];
        let verdict = verdict(&decision, &tests(0, 3, 0));
        assert_eq!(verdict.outcome, Outcome::Approve);
        assert_eq!(verdict.broken_contracts, []);
        assert_eq!(
            verdict.items,
            [
                issue(Severity::ShouldFix, "a test"),
                issue(Severity::NiceToHave, "a name")
            ]
        );
    }

    fn assert_lowered(decision: &CoachDecision, gates: &GateReport, broken: &str) {
        let verdict = verdict(decision, gates);
        assert_eq!(verdict.outcome, Outcome::Feedback, "{broken}");
        let sentences: Vec<String> = verdict.broken_contracts.iter().map(ToString::to_string).collect();
        assert!(
            sentences.iter().any(|sentence| sentence.contains(broken)),
            "{broken}: {sentences:?}"
        );
        assert!(!verdict.items.is_empty(), "{broken}");
    }

    #[test]
    fn red_or_missing_tests_lower_an_approval() {
        for (gates, broken) in [
            (tests(101, 2, 1), "gates_passed: tests failed"),
            (tests(0, 0, 0), "gates_passed: no tests ran"),
            (tests(0, 2, 1), "gates_passed: tests failed"),
        ] {
            assert_lowered(&approval(), &gates, broken);
        }
    }

    fn asked() -> GateReport {
        let question = |topic| Question {
            topic,
            about: vec!["test_total".to_owned()],
            place: Some(("tests/cart.py".to_owned(), 7)),
            material: String::new(),
        };
        GateReport {
            questions: vec![
                question(Topic::Outcome(TestOutcome::ChangedOnPurpose)),
                question(Topic::Unnoticed),
            ],
            ..tests(0, 3, 0)
        }
    }

    fn answer(question: usize, verdict: AnswerVerdict, quote: &str) -> QuestionAnswer {
        QuestionAnswer {
            question,
            verdict,
            because: "the issue wants it".to_owned(),
            quote: quote.to_owned(),
        }
    }

    fn answering(answers: Vec<QuestionAnswer>) -> CoachDecision {
        CoachDecision { answers, ..approval() }
    }

    #[test]
    fn an_approval_holds_only_if_every_question_is_answered_with_a_quote_that_is_there() {
        use AnswerVerdict::{Fine, NotFine};
        let quote = "cancelled orders are no longer counted";
        let good = |number| answer(number, Fine, quote);
        let both = verdict(&answering(vec![good(1), good(2)]), &asked());
        assert_eq!((both.outcome, both.open_questions), (Outcome::Approve, Vec::new()));
        let silent = verdict(&approval(), &asked());
        assert_eq!(silent.outcome, Outcome::Feedback);
        assert_eq!(silent.open_questions.len(), 2);
        let contracts: Vec<Contract> = silent.broken_contracts.iter().map(|broken| broken.contract).collect();
        assert_eq!(contracts, [Contract::QuestionsAnswered; 2]);
        assert!(silent.items.iter().all(|item| item.severity == Severity::MustFix));
        let invented = answering(vec![good(1), answer(2, Fine, "because I say so")]);
        let invented = verdict(&invented, &asked());
        assert_eq!(invented.outcome, Outcome::Feedback);
        assert_eq!(
            invented.broken_contracts[0].to_string(),
            "questions_answered: question 2 (unnoticed code: `test_total`) is answered with the quote “because I say \
             so”, which does not stand in the issue, the task or a comment of a person who may decide, and is no line of \
             the change"
        );
        let refused = answering(vec![good(1), answer(2, NotFine, "")]);
        let refused_verdict = verdict(&refused, &asked());
        assert_eq!(refused_verdict.broken_contracts[0].contract, Contract::NoMustFix);
        let item = &refused_verdict.items[0];
        assert_eq!(item.description, "unnoticed code: `test_total`: the issue wants it");
        assert_eq!((item.file.as_deref(), item.line), (Some("tests/cart.py"), Some(7)));
        let feedback = CoachDecision {
            decision: DecisionKind::Feedback,
            ..refused
        };
        let feedback = verdict(&feedback, &asked());
        assert_eq!((feedback.items.len(), feedback.open_questions.len()), (1, 1));
    }

    #[test]
    fn a_coach_is_asked_once_more_for_the_answers_alone() {
        let (criteria, gates, checkout) = (criteria(), asked(), CheckoutState::Unchanged);
        let facts = facts(&criteria, &gates, &checkout);
        let quote = "cancelled orders are no longer counted";
        let decision = answering(vec![answer(1, AnswerVerdict::Fine, quote)]);
        let numbers: Vec<usize> = missing(&decision, &facts)
            .answers
            .iter()
            .map(|(number, _)| *number)
            .collect();
        assert_eq!(numbers, [2]);
        let other = answer(1, AnswerVerdict::NotFine, "");
        let repaired = decision
            .clone()
            .with_answers(&numbers, vec![other, answer(2, AnswerVerdict::Fine, quote)]);
        assert!(missing(&repaired, &facts).is_empty());
        let verdicts: Vec<AnswerVerdict> = repaired.answers.iter().map(|answer| answer.verdict).collect();
        assert_eq!(verdicts, [AnswerVerdict::Fine; 2], "only the missing answer is taken");
        let unproven = CoachDecision {
            criteria: vec![finding(1, CriterionMet::Met, "trust me")],
            ..decision.clone()
        };
        let both = missing(&unproven, &facts);
        assert_eq!(
            (both.criteria.len(), both.answers.len()),
            (1, 1),
            "one run asks for both"
        );
        let refused = answering(vec![answer(1, AnswerVerdict::NotFine, "")]);
        assert!(missing(&refused, &facts).is_empty());
    }

    #[test]
    fn criteria_that_are_not_shown_to_hold_lower_an_approval() {
        use CriterionMet::{Met, NotMet};
        let good = || finding(1, Met, "src/lib.rs");
        for (findings, broken) in [
            (vec![], "criteria_evidenced: criterion 1 (it parses) was not looked at"),
            (vec![finding(1, NotMet, "src/lib.rs")], "is not met"),
            (vec![finding(1, Met, " ")], "without evidence"),
            (vec![finding(1, Met, "trust me")], "names no file"),
            (vec![good(), finding(1, NotMet, "")], "is not met"),
            (vec![good(), finding(3, Met, "x")], "decision_valid: criterion 3"),
            (vec![good(), finding(0, Met, "x")], "decision_valid: criterion 0"),
        ] {
            let decision = CoachDecision {
                criteria: findings,
                ..approval()
            };
            assert_lowered(&decision, &tests(0, 3, 0), broken);
        }
    }

    #[test]
    fn only_an_approval_that_lacks_evidence_alone_is_asked_for_it() {
        use CriterionMet::{Met, NotMet};
        let missing = |decision: &CoachDecision, gates: &GateReport| {
            let criteria = criteria();
            let checkout = CheckoutState::Unchanged;
            super::missing(decision, &facts(&criteria, gates, &checkout)).criteria
        };
        let vague = CoachDecision {
            criteria: vec![finding(1, Met, "trust me")],
            ..approval()
        };
        let (green, red) = (tests(0, 3, 0), tests(101, 2, 1));
        let numbers = |missing: Vec<(usize, String)>| missing.iter().map(|(number, _)| *number).collect::<Vec<_>>();
        assert_eq!(numbers(missing(&vague, &green)), [1]);
        assert_eq!(missing(&approval(), &green), []);
        assert_eq!(missing(&vague, &red), []);
        let with_an_issue = CoachDecision {
            issues: vec![issue(Severity::MustFix, "bug")],
            ..vague.clone()
        };
        assert_eq!(missing(&with_an_issue, &green), []);
        let feedback = CoachDecision {
            decision: DecisionKind::Feedback,
            ..vague.clone()
        };
        assert_eq!(missing(&feedback, &green), []);
        let answers = vec![finding(1, Met, "src/lib.rs"), finding(2, NotMet, "not asked for")];
        let proven = vague.with_findings(&[1], answers);
        assert_eq!(proven, approval());
    }

    #[test]
    fn what_must_be_fixed_lowers_an_approval() {
        let decision = CoachDecision {
            issues: vec![issue(Severity::MustFix, "bug")],
            ..approval()
        };
        assert_lowered(&decision, &tests(0, 3, 0), "no_must_fix: 1 must_fix left");
    }

    #[test]
    fn a_changed_checkout_lowers_an_approval() {
        let changed = CheckoutState::Changed(vec!["src/lib.rs".to_owned()]);
        match judged(&approval(), &tests(0, 3, 0), &changed) {
            Judgement::Verdict(verdict) => {
                assert_eq!(verdict.outcome, Outcome::Feedback);
                assert_eq!(
                    verdict.broken_contracts,
                    [broken(
                        Contract::CheckoutUnchanged,
                        "the Coach's checkout changed: src/lib.rs"
                    )]
                );
                let said = &verdict.items[0].description;
                assert!(said.contains("That is no finding about the work"), "{said}");
            }
            other @ Judgement::EvidenceAbsent { .. } => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_gate_that_could_not_run_is_not_the_players_fault() {
        let gates = GateReport {
            isolation: None,
            setup: None,
            tests: Evidence::Absent(Absence::NoCommand),
            excused: Vec::new(),
            questions: Vec::new(),
            intended: Vec::new(),
            more: Vec::new(),
        };
        let reasons = vec![Unmet {
            part: Part::Tests,
            cause: Cause::Absent(Absence::NoCommand),
        }];
        let judgement = judged(&approval(), &gates, &CheckoutState::Unchanged);
        assert_eq!(judgement, Judgement::EvidenceAbsent { reasons });
    }

    #[test]
    fn feedback_carries_what_to_mend_must_fix_first() {
        let mut decision = approval();
        decision.decision = DecisionKind::Feedback;
        decision.issues = vec![issue(Severity::ShouldFix, "later"), issue(Severity::MustFix, "now")];
        let red = verdict(&decision, &tests(101, 2, 1));
        let words: Vec<&str> = red.items.iter().map(|item| item.description.as_str()).collect();
        assert_eq!(
            words,
            [
                "tests failed: `cargo test` exited with 101, 2 passed, 1 failed",
                "now",
                "later"
            ]
        );
        decision.issues.clear();
        decision.feedback = "handle the empty case".to_owned();
        let words = verdict(&decision, &tests(0, 3, 0)).items;
        assert_eq!(words, [Issue::must_fix("requirement", "handle the empty case")]);
    }

    #[test]
    fn held_work_names_the_contract_where_a_path_is_why() {
        let protected = Issue {
            file: Some(".github/workflows/ci.yml".to_owned()),
            ..Issue::must_fix("protected_path", "no")
        };
        let verdict = held(vec![protected.clone(), Issue::must_fix("secret", "no")]);
        assert_eq!(
            verdict.broken_contracts,
            [broken(Contract::PathsAllowed, ".github/workflows/ci.yml")]
        );
        assert_eq!(verdict.items.len(), 2);
        let secret = held(vec![Issue::must_fix("secret", "no")]);
        assert_eq!(secret.broken_contracts, []);
    }

    #[test]
    fn a_probe_instead_of_a_decision_is_no_approval() {
        let mut decision = approval();
        decision.decision = DecisionKind::Probe;
        decision.commands = vec!["ls".to_owned()];
        let verdict = verdict(&decision, &tests(0, 3, 0));
        assert_eq!(verdict.outcome, Outcome::Feedback);
        assert_eq!(verdict.broken_contracts[0].contract, Contract::DecisionValid);
    }

    fn any_decision() -> impl Strategy<Value = CoachDecision> {
        let kind = prop_oneof![
            Just(DecisionKind::Approve),
            Just(DecisionKind::Feedback),
            Just(DecisionKind::Probe)
        ];
        let met = prop_oneof![4 => Just(CriterionMet::Met), 1 => Just(CriterionMet::NotMet)];
        let evidence = prop_oneof![Just("src/lib.rs".to_owned()), "\\PC{0,12}"];
        let finding = (0..4usize, met, evidence).prop_map(|(number, met, evidence)| finding(number, met, &evidence));
        let severity = prop_oneof![
            Just(Severity::MustFix),
            Just(Severity::ShouldFix),
            Just(Severity::NiceToHave)
        ];
        let issue = (severity, "\\PC{0,8}").prop_map(|(severity, text)| issue(severity, &text));
        let lists = (
            proptest::collection::vec(finding, 0..4),
            proptest::collection::vec(issue, 0..3),
        );
        (kind, lists, "\\PC{0,8}").prop_map(|(decision, (criteria, issues), feedback)| CoachDecision {
            decision,
            criteria,
            issues,
            feedback,
            ..approval()
        })
    }

    proptest! {
        #[test]
        fn a_decision_is_never_raised(decision in any_decision(), exit in 0..2i32, passed in 0..3u32, failed in 0..2u32) {
            let verdict = verdict(&decision, &tests(exit, passed, failed));
            match verdict.outcome {
                Outcome::Feedback => prop_assert!(!verdict.items.is_empty()),
                Outcome::Approve => {
                    prop_assert_eq!(decision.decision, DecisionKind::Approve);
                    prop_assert!(exit == 0 && passed > 0 && failed == 0);
                    prop_assert!(decision.issues.iter().all(|issue| issue.severity != Severity::MustFix));
                    prop_assert!(decision.criteria.iter().any(|f| f.criterion == 1 && f.met == CriterionMet::Met));
                    prop_assert!(verdict.broken_contracts.is_empty());
                }
            }
        }
    }
}
