//! The contracts that agents must keep, and the one function that turns a Coach's decision into a verdict. A verdict
//! may be lower than the decision, never higher.

use crate::{
    decision::{CoachDecision, DecisionKind, Outcome, Verdict},
    evidence,
    evidence::{GateReport, Profile, Unmet},
    grounds,
    plan::{Criterion, TaskType},
    problem::{Breach, OpenCriterion, Problem, ReviewItem, Severity},
    question,
    question::{OpenQuestion, QuoteFacts, Unsettled},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

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

/// The most paths that a broken contract names.
const MOST_PATHS: usize = 10;

/// The number of lines of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileLines {
    Counted(u32),
    NotCounted,
}

impl FileLines {
    /// `true` if the file may have a line of this number, from 1.
    pub fn may_have(self, line: u32) -> bool {
        match self {
            Self::Counted(lines) => (1..=lines).contains(&line),
            Self::NotCounted => line > 0,
        }
    }
}

/// The facts about the turn that a decision judges.
#[derive(Clone, Copy)]
pub struct TurnFacts<'a> {
    pub kind: TaskType,
    pub criteria: &'a [Criterion],
    /// The results of the Gates on exactly this commit.
    pub gates: &'a GateReport,
    /// The lines of the file of exactly this path; `None` if the commit has no such file.
    pub lines_of: &'a dyn Fn(&str) -> Option<FileLines>,
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
    judge_with(decision, facts, &unsettled(decision, facts))
}

fn judge_with(decision: &CoachDecision, facts: &TurnFacts<'_>, unsettled: &[Unsettled]) -> Judgement {
    let gate_failures = match evidence::profile(facts.kind, facts.gates) {
        Profile::Absent(reasons) => return Judgement::EvidenceAbsent { reasons },
        Profile::Failed(failures) => failures,
        Profile::Passed => Vec::new(),
    };
    let mut items = evidence::items(facts.kind, facts.gates);
    let verdict = match decision.decision {
        DecisionKind::Approve => approved_or_lowered(decision, facts, gate_failures, items, unsettled),
        DecisionKind::Feedback => {
            let denied = unsettled.iter().filter(|one| !one.open.lacks_answer());
            items.extend(denied.map(question_item));
            feedback(decision, Vec::new(), items)
        }
        // A Coach may ask for commands once per turn, and this one already has.
        DecisionKind::Probe => feedback(decision, vec![Breach::NotDecided], items),
    };
    let open_questions = unsettled.iter().map(|one| one.open.clone()).collect();
    Judgement::Verdict(Box::new(Verdict { open_questions, ..verdict }))
}

/// The evidence and the answers that an approval lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// Criteria that nothing shows.
    pub criteria: Vec<OpenCriterion>,
    /// Questions without an answer that holds.
    pub answers: Vec<Unsettled>,
}

impl Missing {
    /// `true` if nothing is missing.
    pub fn is_empty(&self) -> bool {
        self.criteria.is_empty() && self.answers.is_empty()
    }
}

/// Returns the evidence and the answers that an approval lacks; nothing if it breaks another contract too. The Coach
/// can still supply these, whereas a new turn has to mend everything else.
pub fn missing(decision: &CoachDecision, facts: &TurnFacts<'_>) -> Missing {
    if decision.decision != DecisionKind::Approve {
        return Missing::default();
    }
    let unsettled = unsettled(decision, facts);
    let judgement = judge_with(decision, facts, &unsettled);
    let mut missing = Missing { criteria: grounds::open_criteria(decision, facts), answers: unsettled };
    missing.criteria.retain(|open| open.doubt.is_of_review());
    missing.answers.retain(|one| one.open.lacks_answer());
    let number = missing.criteria.len() + missing.answers.len();
    match judgement {
        // Each missing part is one breach, so an equal number means that nothing else is broken.
        Judgement::Verdict(verdict) if verdict.breaches.len() == number => missing,
        Judgement::Verdict(_) | Judgement::EvidenceAbsent { .. } => Missing::default(),
    }
}

fn unsettled(decision: &CoachDecision, facts: &TurnFacts<'_>) -> Vec<Unsettled> {
    let questions = &facts.gates.questions;
    let open = question::open_questions(questions, &decision.answers, facts.quotes).into_iter();
    let with_question = |open: OpenQuestion| {
        let question = questions.get(open.number.checked_sub(1)?)?.without_material();
        Some(Unsettled { open, question })
    };
    open.filter_map(with_question).collect()
}

fn question_item(unsettled: &Unsettled) -> ReviewItem {
    let (file, line) = unsettled.question.place.clone().unzip();
    ReviewItem { file, line, ..ReviewItem::must_fix(Problem::Question(unsettled.clone())) }
}

/// The verdict on a turn that no Coach reviewed. The Player must fix the items.
pub fn feedback_without_coach(items: Vec<ReviewItem>) -> Verdict {
    verdict(Outcome::Feedback, None, Vec::new(), items)
}

fn verdict(
    outcome: Outcome,
    decision: Option<&CoachDecision>,
    breaches: Vec<Breach>,
    mut items: Vec<ReviewItem>,
) -> Verdict {
    items.sort_by_key(|item| item.severity);
    Verdict { outcome, decision: decision.cloned(), breaches, open_questions: Vec::new(), items }
}

/// The verdict on work that may not be pushed.
pub fn verdict_on_forbidden(items: Vec<ReviewItem>) -> Verdict {
    let is_forbidden = |item: &&ReviewItem| matches!(&item.problem, Problem::Forbidden(why) if why.is_of_path());
    let forbidden = items.iter().filter(is_forbidden);
    let paths: BTreeSet<String> = forbidden.filter_map(|item| item.file.clone()).collect();
    let named: Vec<String> = paths.into_iter().take(MOST_PATHS).collect();
    Verdict {
        breaches: (!named.is_empty()).then_some(Breach::ForbiddenPaths(named)).into_iter().collect(),
        ..feedback_without_coach(items)
    }
}

/// The verdict on a turn that changed no file.
pub fn verdict_on_no_change() -> Verdict {
    feedback_without_coach(vec![ReviewItem::must_fix(Problem::NoChange)])
}

fn approved_or_lowered(
    decision: &CoachDecision,
    facts: &TurnFacts<'_>,
    gate_failures: Vec<Unmet>,
    mut items: Vec<ReviewItem>,
    unsettled: &[Unsettled],
) -> Verdict {
    let mut found: Vec<Breach> = gate_failures.into_iter().map(Breach::Gate).collect();
    let wrong = grounds::wrong_numbers(decision, facts.criteria);
    found.extend(wrong.into_iter().map(Breach::NoSuchCriterion));
    for open in grounds::open_criteria(decision, facts) {
        items.extend(open.item(facts.gates));
        found.push(Breach::Criterion(open));
    }
    items.extend(unsettled.iter().map(question_item));
    found.extend(unsettled.iter().cloned().map(Breach::Question));
    let is_must_fix = |issue: &&ReviewItem| issue.severity == Severity::MustFix;
    let left = decision.issues.iter().filter(is_must_fix).count();
    if left > 0 {
        found.push(Breach::MustFixLeft(left));
    }
    if let CheckoutState::Changed(paths) = facts.checkout {
        found.push(Breach::CheckoutChanged(paths.iter().take(MOST_PATHS).cloned().collect()));
    }
    if !found.is_empty() {
        return feedback(decision, found, items);
    }
    items.extend(decision.issues.iter().cloned());
    verdict(Outcome::Approve, Some(decision), Vec::new(), items)
}

/// Returns feedback with everything to fix: the findings of the code, then those of the Coach. If neither found a
/// problem in the work, the only item is the broken contract, or the Coach's own text if no contract is broken.
fn feedback(decision: &CoachDecision, breaches: Vec<Breach>, mut items: Vec<ReviewItem>) -> Verdict {
    items.extend(decision.issues.iter().cloned());
    if items.is_empty() {
        items.push(match breaches.first() {
            Some(breach) => ReviewItem::must_fix(Problem::Review(Box::new(breach.clone()))),
            None => item_from_coach_text(decision),
        });
    }
    verdict(Outcome::Feedback, Some(decision), breaches, items)
}

fn item_from_coach_text(decision: &CoachDecision) -> ReviewItem {
    let words = [&decision.feedback, &decision.summary].into_iter();
    let first = words.map(|text| text.trim()).find(|text| !text.is_empty());
    match first {
        Some(text) => ReviewItem::must_fix_remark("requirement", text),
        None => ReviewItem::must_fix(Problem::NoReason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        decision::{CriterionFinding, CriterionMet},
        evidence::{Absence, Cause, Counts, Evidence, Finding, Part},
        plan::Check,
        problem::{Contract, Doubt, Forbidden},
        question::{AnswerVerdict, OpenReason, Question, QuestionAnswer, Topic},
        test_outcome::TestOutcome,
    };
    use proptest::prelude::*;

    fn tests(exit_code: i32, passed: u32, failed: u32) -> GateReport {
        let finding = Finding {
            command: "cargo test".to_owned(),
            exit_code: Some(exit_code),
            counts: Counts::Known { passed, failed, skipped: 0 },
            failing: Vec::new(),
            output: String::new(),
            ..Finding::default()
        };
        let tests = if exit_code == 0 { Evidence::Passed(finding) } else { Evidence::Failed(finding) };
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
        let criterion = |text: &str, check| Criterion { text: text.to_owned(), check };
        vec![criterion("it parses", Check::Test("t::parses".to_owned())), criterion("it reads well", Check::Human)]
    }

    fn finding(criterion: usize, met: CriterionMet, evidence: &str) -> CriterionFinding {
        CriterionFinding { criterion, met, evidence: evidence.to_owned() }
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

    fn issue(severity: Severity, description: &str) -> ReviewItem {
        ReviewItem { severity, ..ReviewItem::must_fix_remark("design", description) }
    }

    fn facts<'a>(criteria: &'a [Criterion], gates: &'a GateReport, checkout: &'a CheckoutState) -> TurnFacts<'a> {
        TurnFacts {
            kind: TaskType::Feature,
            criteria,
            gates,
            lines_of: &|path| (path == "src/lib.rs").then_some(FileLines::Counted(9)),
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
        decision.issues = vec![issue(Severity::NiceToHave, "a name"), issue(Severity::ShouldFix, "a test")];
        let verdict = verdict(&decision, &tests(0, 3, 0));
        assert_eq!(verdict.outcome, Outcome::Approve);
        assert_eq!(verdict.breaches, []);
        assert_eq!(verdict.items, [issue(Severity::ShouldFix, "a test"), issue(Severity::NiceToHave, "a name")]);
    }

    fn assert_lowered(decision: &CoachDecision, gates: &GateReport, expected: &[Breach]) {
        let verdict = verdict(decision, gates);
        assert_eq!(verdict.outcome, Outcome::Feedback, "{expected:?}");
        assert_eq!(verdict.breaches, expected);
        assert!(!verdict.items.is_empty(), "{expected:?}");
    }

    #[test]
    fn red_or_missing_tests_lower_an_approval() {
        type MakesCause = fn(Finding) -> Cause;
        let causes: [(GateReport, MakesCause); 3] =
            [(tests(101, 2, 1), Cause::Failed), (tests(0, 0, 0), Cause::NothingRan), (tests(0, 2, 1), Cause::Failed)];
        for (gates, cause) in causes {
            let unmet = Unmet { part: Part::Tests, cause: cause(gates.tests.finding().unwrap().clone()) };
            assert_lowered(&approval(), &gates, &[Breach::Gate(unmet)]);
        }
    }

    fn gates_with_questions() -> GateReport {
        let question = |topic| Question {
            topic,
            about: vec!["test_total".to_owned()],
            place: Some(("tests/cart.py".to_owned(), 7)),
            material: String::new(),
            absence: None,
        };
        GateReport {
            questions: vec![question(Topic::Outcome(TestOutcome::ChangedOnPurpose)), question(Topic::Unnoticed)],
            ..tests(0, 3, 0)
        }
    }

    fn answer(question: usize, verdict: AnswerVerdict, quote: &str) -> QuestionAnswer {
        QuestionAnswer { question, verdict, because: "the issue wants it".to_owned(), quote: quote.to_owned() }
    }

    fn answering(answers: Vec<QuestionAnswer>) -> CoachDecision {
        CoachDecision { answers, ..approval() }
    }

    #[test]
    fn an_approval_holds_only_if_every_question_is_answered_with_a_quote_that_is_there() {
        use AnswerVerdict::{Fine, NotFine};
        let quote = "cancelled orders are no longer counted";
        let good = |number| answer(number, Fine, quote);
        let both = verdict(&answering(vec![good(1), good(2)]), &gates_with_questions());
        assert_eq!((both.outcome, both.open_questions), (Outcome::Approve, Vec::new()));
        let silent = verdict(&approval(), &gates_with_questions());
        assert_eq!(silent.outcome, Outcome::Feedback);
        assert_eq!(silent.open_questions.len(), 2);
        let contracts: Vec<Contract> = silent.breaches.iter().map(Breach::contract).collect();
        assert_eq!(contracts, [Contract::QuestionsAnswered; 2]);
        assert!(silent.items.iter().all(|item| item.severity == Severity::MustFix));
        let invented = answering(vec![good(1), answer(2, Fine, "because I say so")]);
        let invented = verdict(&invented, &gates_with_questions());
        assert_eq!(invented.outcome, Outcome::Feedback);
        let quote = "because I say so".to_owned();
        let open = |number, why| Unsettled {
            open: OpenQuestion { number, why },
            question: gates_with_questions().questions[number - 1].clone(),
        };
        let no_quote = open(2, OpenReason::NoSuchQuote { quote });
        assert_eq!(invented.breaches, [Breach::Question(no_quote)]);
        let refused = answering(vec![good(1), answer(2, NotFine, "")]);
        let refused_verdict = verdict(&refused, &gates_with_questions());
        assert_eq!(refused_verdict.breaches[0].contract(), Contract::NoMustFix);
        let item = &refused_verdict.items[0];
        let because = "the issue wants it".to_owned();
        let denied = open(2, OpenReason::NotFine { because });
        assert_eq!(item.problem, Problem::Question(denied));
        assert_eq!((item.file.as_deref(), item.line), (Some("tests/cart.py"), Some(7)));
        let feedback = CoachDecision { decision: DecisionKind::Feedback, ..refused };
        let feedback = verdict(&feedback, &gates_with_questions());
        assert_eq!((feedback.items.len(), feedback.open_questions.len()), (1, 1));
    }

    #[test]
    fn a_coach_is_asked_once_more_for_the_answers_alone() {
        let (criteria, gates, checkout) = (criteria(), gates_with_questions(), CheckoutState::Unchanged);
        let facts = facts(&criteria, &gates, &checkout);
        let quote = "cancelled orders are no longer counted";
        let decision = answering(vec![answer(1, AnswerVerdict::Fine, quote)]);
        let numbers: Vec<usize> =
            missing(&decision, &facts).answers.iter().map(|unsettled| unsettled.open.number).collect();
        assert_eq!(numbers, [2]);
        let other = answer(1, AnswerVerdict::NotFine, "");
        let repaired = decision.clone().with_answers(&numbers, vec![other, answer(2, AnswerVerdict::Fine, quote)]);
        assert!(missing(&repaired, &facts).is_empty());
        let verdicts: Vec<AnswerVerdict> = repaired.answers.iter().map(|answer| answer.verdict).collect();
        assert_eq!(verdicts, [AnswerVerdict::Fine; 2], "only the missing answer is taken");
        let unproven = CoachDecision { criteria: vec![finding(1, CriterionMet::Met, "trust me")], ..decision.clone() };
        let both = missing(&unproven, &facts);
        assert_eq!((both.criteria.len(), both.answers.len()), (1, 1), "one run asks for both");
        let refused = answering(vec![answer(1, AnswerVerdict::NotFine, "")]);
        assert!(missing(&refused, &facts).is_empty());
    }

    #[test]
    fn criteria_that_are_not_shown_to_hold_lower_an_approval() {
        use CriterionMet::{Met, NotMet};
        let good = || finding(1, Met, "src/lib.rs");
        let open = |doubt| Breach::Criterion(OpenCriterion { number: 1, text: "it parses".to_owned(), doubt });
        let denied = |words: &str| open(Doubt::NotMet { words: words.to_owned() });
        for (findings, breach) in [
            (vec![], open(Doubt::NotLookedAt)),
            (vec![finding(1, NotMet, "src/lib.rs")], denied("src/lib.rs")),
            (vec![finding(1, Met, " ")], open(Doubt::WithoutEvidence)),
            (vec![finding(1, Met, "trust me")], open(Doubt::NothingReal)),
            (vec![good(), finding(1, NotMet, "")], denied("")),
            (vec![good(), finding(3, Met, "x")], Breach::NoSuchCriterion(3)),
            (vec![good(), finding(0, Met, "x")], Breach::NoSuchCriterion(0)),
        ] {
            let decision = CoachDecision { criteria: findings, ..approval() };
            assert_lowered(&decision, &tests(0, 3, 0), &[breach]);
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
        let vague = CoachDecision { criteria: vec![finding(1, Met, "trust me")], ..approval() };
        let (green, red) = (tests(0, 3, 0), tests(101, 2, 1));
        let numbers = |missing: Vec<OpenCriterion>| missing.iter().map(|open| open.number).collect::<Vec<_>>();
        assert_eq!(numbers(missing(&vague, &green)), [1]);
        assert_eq!(missing(&approval(), &green), []);
        assert_eq!(missing(&vague, &red), []);
        let with_an_issue = CoachDecision { issues: vec![issue(Severity::MustFix, "bug")], ..vague.clone() };
        assert_eq!(missing(&with_an_issue, &green), []);
        let feedback = CoachDecision { decision: DecisionKind::Feedback, ..vague.clone() };
        assert_eq!(missing(&feedback, &green), []);
        let answers = vec![finding(1, Met, "src/lib.rs"), finding(2, NotMet, "not asked for")];
        let proven = vague.with_findings(&[1], answers);
        assert_eq!(proven, approval());
    }

    #[test]
    fn what_must_be_fixed_lowers_an_approval() {
        let decision = CoachDecision { issues: vec![issue(Severity::MustFix, "bug")], ..approval() };
        assert_lowered(&decision, &tests(0, 3, 0), &[Breach::MustFixLeft(1)]);
    }

    #[test]
    fn a_changed_checkout_lowers_an_approval() {
        let changed = CheckoutState::Changed(vec!["src/lib.rs".to_owned()]);
        match judged(&approval(), &tests(0, 3, 0), &changed) {
            Judgement::Verdict(verdict) => {
                assert_eq!(verdict.outcome, Outcome::Feedback);
                let breach = Breach::CheckoutChanged(vec!["src/lib.rs".to_owned()]);
                assert_eq!(verdict.breaches, std::slice::from_ref(&breach));
                assert_eq!(verdict.items[0].problem, Problem::Review(Box::new(breach)));
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
        let reasons = vec![Unmet { part: Part::Tests, cause: Cause::Absent(Absence::NoCommand) }];
        let judgement = judged(&approval(), &gates, &CheckoutState::Unchanged);
        assert_eq!(judgement, Judgement::EvidenceAbsent { reasons });
    }

    #[test]
    fn feedback_carries_what_to_mend_must_fix_first() {
        let mut decision = approval();
        decision.decision = DecisionKind::Feedback;
        decision.issues = vec![issue(Severity::ShouldFix, "later"), issue(Severity::MustFix, "now")];
        let red = verdict(&decision, &tests(101, 2, 1));
        let failed = Problem::Unmet(Unmet {
            part: Part::Tests,
            cause: Cause::Failed(tests(101, 2, 1).tests.finding().unwrap().clone()),
        });
        let later = issue(Severity::ShouldFix, "later");
        assert_eq!(red.items, [ReviewItem::must_fix(failed), issue(Severity::MustFix, "now"), later]);
        decision.issues.clear();
        decision.feedback = "handle the empty case".to_owned();
        let words = verdict(&decision, &tests(0, 3, 0)).items;
        assert_eq!(words, [ReviewItem::must_fix_remark("requirement", "handle the empty case")]);
    }

    #[test]
    fn held_work_names_the_contract_where_a_path_is_why() {
        let protected = ReviewItem {
            file: Some(".github/workflows/ci.yml".to_owned()),
            ..ReviewItem::must_fix(Problem::Forbidden(Forbidden::Protected("**/ci.yml".to_owned())))
        };
        let secret = || ReviewItem::must_fix(Problem::Forbidden(Forbidden::Secret("a private key".to_owned())));
        let verdict = verdict_on_forbidden(vec![protected, secret()]);
        let paths = vec![".github/workflows/ci.yml".to_owned()];
        assert_eq!(verdict.breaches, [Breach::ForbiddenPaths(paths)]);
        assert_eq!(verdict.items.len(), 2);
        assert_eq!(verdict_on_forbidden(vec![secret()]).breaches, []);
    }

    #[test]
    fn a_probe_instead_of_a_decision_is_no_approval() {
        let mut decision = approval();
        decision.decision = DecisionKind::Probe;
        decision.commands = vec!["ls".to_owned()];
        let verdict = verdict(&decision, &tests(0, 3, 0));
        assert_eq!(verdict.outcome, Outcome::Feedback);
        assert_eq!(verdict.breaches[0].contract(), Contract::DecisionValid);
    }

    fn any_decision() -> impl Strategy<Value = CoachDecision> {
        let kind = prop_oneof![Just(DecisionKind::Approve), Just(DecisionKind::Feedback), Just(DecisionKind::Probe)];
        let met = prop_oneof![4 => Just(CriterionMet::Met), 1 => Just(CriterionMet::NotMet)];
        let evidence = prop_oneof![Just("src/lib.rs".to_owned()), "\\PC{0,12}"];
        let finding = (0..4usize, met, evidence).prop_map(|(number, met, evidence)| finding(number, met, &evidence));
        let severity = prop_oneof![Just(Severity::MustFix), Just(Severity::ShouldFix), Just(Severity::NiceToHave)];
        let issue = (severity, "\\PC{0,8}").prop_map(|(severity, text)| issue(severity, &text));
        let lists = (proptest::collection::vec(finding, 0..4), proptest::collection::vec(issue, 0..3));
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
                    prop_assert!(verdict.breaches.is_empty());
                }
            }
        }
    }
}
