//! What a person waives by approving over the Coach: each fact once, so that it can be counted and named.

use crate::{
    decision::Verdict,
    evidence::{Gate, GateReport, OpenGate, Part, Unmet, open_gates, repeated_test_failures},
    ids::User,
    problem::{Breach, Contract, Problem, ReviewItem, Severity},
    task::task::{Task, Turn},
};
use serde::{Deserialize, Serialize};

/// The facts that one person waived by overriding the Coach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiver {
    pub by: User,
    /// Everything that spoke against the commit, each fact once.
    pub facts: Vec<WaivedFact>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaivedFact {
    /// A test that fails. From then on, it belongs to the Feature's baseline.
    Test(String),
    /// The check of a criterion is not met.
    Criterion(Unmet),
    /// A question about the change, by its title.
    Question(String),
    /// Another Gate is not met.
    Gate(Unmet),
    /// Another finding of the Gates.
    Finding(ReviewItem),
    /// The Coach wants this to be mended.
    Objection(Problem),
    /// The turn broke a contract.
    Breach(Breach),
    /// An open request for changes.
    Request {
        /// The login of the person who wrote it.
        by: String,
    },
    /// No Gate ran on the commit.
    Gates,
    /// No Coach judged the commit.
    Coach,
}

impl Waiver {
    /// Returns the names of the failing tests among the facts.
    pub fn tests(&self) -> impl Iterator<Item = &String> {
        self.facts.iter().filter_map(|fact| match fact {
            WaivedFact::Test(name) => Some(name),
            WaivedFact::Criterion(_)
            | WaivedFact::Question(_)
            | WaivedFact::Gate(_)
            | WaivedFact::Finding(_)
            | WaivedFact::Objection(_)
            | WaivedFact::Breach(_)
            | WaivedFact::Request { .. }
            | WaivedFact::Gates
            | WaivedFact::Coach => None,
        })
    }

    /// Returns the names of the tests of the base that do not hold as they did.
    pub fn changed_tests(&self) -> impl Iterator<Item = &String> {
        self.facts.iter().filter_map(|fact| {
            if let WaivedFact::Finding(ReviewItem { problem: Problem::Outcome { test, .. }, .. }) = fact {
                return Some(test);
            }
            None
        })
    }
}

/// Returns everything that speaks against a turn's commit.
pub(super) fn facts(task: &Task, turn: &Turn) -> Vec<WaivedFact> {
    let mut facts = match &turn.gates {
        Some(gates) => of_gates(task, gates),
        None => vec![WaivedFact::Gates],
    };
    facts.extend(open_questions(turn));
    match &turn.verdict {
        Some(verdict) => add_verdict(&mut facts, verdict),
        None => facts.push(WaivedFact::Coach),
    }
    let requests = task.next.reviews.iter().map(|review| review.by.login.clone());
    facts.extend(requests.map(|by| WaivedFact::Request { by }));
    let mut once: Vec<WaivedFact> = Vec::new();
    for fact in facts {
        if !once.contains(&fact) {
            once.push(fact);
        }
    }
    once
}

fn of_gates(task: &Task, gates: &GateReport) -> Vec<WaivedFact> {
    let repeated: Vec<usize> =
        repeated_test_failures(&task.plan.acceptance_criteria, gates).map(|(number, _)| number).collect();
    let mut facts = Vec::new();
    for open in open_gates(task.plan.kind, gates) {
        let tests = failing_tests(gates, &open);
        match open.unmet.part {
            _ if !tests.is_empty() => facts.extend(tests.into_iter().map(WaivedFact::Test)),
            Part::Gate(Gate::Check(number)) if repeated.contains(&number) => {}
            Part::Gate(Gate::Check(_)) => facts.push(WaivedFact::Criterion(open.unmet)),
            Part::SetUp | Part::Tests | Part::Gate(_) => facts.extend(findings(open)),
        }
    }
    facts
}

/// Returns the questions that nobody answered; the person answers them.
fn open_questions(turn: &Turn) -> Vec<WaivedFact> {
    let questions = turn.gates.iter().flat_map(|gates| &gates.questions);
    let is_open = |number: usize| {
        let verdict = turn.verdict.as_ref();
        verdict.is_none_or(|verdict| verdict.open_questions.iter().any(|open| open.number == number))
    };
    let open = (1..).zip(questions).filter(|(number, _)| is_open(*number));
    open.map(|(_, question)| WaivedFact::Question(question.title())).collect()
}

/// Returns the failing tests that nothing excuses, if the Gate runs the tests and names them.
fn failing_tests(gates: &GateReport, open: &OpenGate<'_>) -> Vec<String> {
    let names_tests = match open.unmet.part {
        Part::SetUp | Part::Tests => true,
        Part::Gate(gate) => gate.names_tests(),
    };
    let finding = open.finding.filter(|_| names_tests);
    finding.map_or_else(Vec::new, |finding| gates.blocking_failures(finding))
}

fn findings(open: OpenGate<'_>) -> Vec<WaivedFact> {
    let must_fix = |item: &&ReviewItem| item.severity == Severity::MustFix;
    let places = open.places.iter().filter(must_fix).cloned();
    let places: Vec<WaivedFact> = places.map(WaivedFact::Finding).collect();
    if places.is_empty() { vec![WaivedFact::Gate(open.unmet)] } else { places }
}

/// Adds to the facts of the Gates the items that the Coach wants to be repaired, and the broken contracts, except those
/// that only repeat findings of Gates and Coach. If there are neither, adds the verdict's items.
fn add_verdict(gates: &mut Vec<WaivedFact>, verdict: &Verdict) {
    let are_gates_passed = gates.is_empty();
    let must_fix = |item: &&ReviewItem| item.severity == Severity::MustFix;
    let issues = verdict.decision.iter().flat_map(|decision| &decision.issues);
    let mut facts: Vec<WaivedFact> =
        issues.filter(must_fix).map(|item| WaivedFact::Objection(item.problem.clone())).collect();
    let says_more = |contract: Contract| match contract {
        Contract::GatesPassed | Contract::NoMustFix | Contract::QuestionsAnswered => false,
        Contract::CriteriaEvidenced => are_gates_passed && facts.is_empty(),
        Contract::ReportValid
        | Contract::PathsAllowed
        | Contract::NeverDeclaresDone
        | Contract::DecisionValid
        | Contract::CheckoutUnchanged
        | Contract::DesignValid => true,
    };
    let breaches = verdict.breaches.iter().filter(|breach| says_more(breach.contract()));
    let breaches: Vec<WaivedFact> = breaches.cloned().map(WaivedFact::Breach).collect();
    facts.extend(breaches);
    if facts.is_empty() && (are_gates_passed || verdict.decision.is_none()) {
        let items = verdict.items.iter().filter(must_fix);
        facts.extend(items.map(|item| WaivedFact::Objection(item.problem.clone())));
    }
    gates.extend(facts);
}
