//! The behaviour that a Feature changed on purpose: tests of the base that now expect something else, and the words
//! that ask for it.

use crate::{
    evidence::GateReport,
    feature::Feature,
    ids::{TaskId, User},
    plan::Intent,
    question::Topic,
    task::{Task, Turn},
    test_outcome::TestOutcome,
};

/// Tests of the base that a merged task changed or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedBehaviour<'a> {
    pub task: TaskId,
    /// The outcome of the tests; `None` if the plan names them and no run showed it.
    pub outcome: Option<TestOutcome>,
    pub tests: Vec<&'a str>,
    /// The source that asks for it.
    pub wanted: WantedBy<'a>,
}

/// The reason for a changed test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedBy<'a> {
    /// These words, which the Coach or the planner quotes.
    Words(&'a str),
    /// This person, who approved it.
    Person(&'a User),
    /// The plan, without words.
    Plan,
}

impl Feature {
    /// Returns the behaviour that its merged tasks changed on purpose.
    pub fn changed_behaviour(&self) -> Vec<ChangedBehaviour<'_>> {
        let merged = self.tasks.iter().filter(|task| task.is_completed());
        merged.flat_map(of_task).collect()
    }

    /// Returns the changed tests that only the last wave gate asks about: no task was asked about them, and no plan
    /// names them. The person who merges the Feature answers.
    pub fn changed_by_whole(&self) -> Vec<(TestOutcome, Vec<&str>)> {
        let known = self.changed_behaviour();
        let is_known = |test: &&str| known.iter().any(|changed| changed.tests.contains(test));
        let questions = self.gates.last().map_or(&[][..], |gate| &gate.report.questions);
        let changed = questions.iter().filter_map(|question| {
            let Topic::Outcome(outcome) = question.topic else {
                return None;
            };
            let tests = question.about.iter().map(String::as_str);
            Some((outcome, tests.filter(|test| !is_known(test)).collect::<Vec<_>>()))
        });
        changed.filter(|(_, tests)| !tests.is_empty()).collect()
    }
}

fn of_task(task: &Task) -> Vec<ChangedBehaviour<'_>> {
    let Some((turn, gates)) = task.turns.iter().rev().find_map(|turn| Some((turn, turn.gates.as_ref()?))) else {
        return Vec::new();
    };
    let asked = (1..).zip(&gates.questions).filter_map(|(number, question)| {
        let Topic::Outcome(outcome) = question.topic else {
            return None;
        };
        outcome.changes_behaviour().then(|| ChangedBehaviour {
            task: task.id,
            outcome: Some(outcome),
            tests: question.about.iter().map(String::as_str).collect(),
            wanted: wanted_by(task, turn, number),
        })
    });
    let intents = task.plan.changes.iter().chain(&task.plan.removes);
    asked.chain(intents.flat_map(|intent| of_intent(task, gates, intent))).collect()
}

/// Returns who answered a question: the person who approved the turn, or the Coach with its quote.
fn wanted_by<'a>(task: &'a Task, turn: &'a Turn, number: usize) -> WantedBy<'a> {
    let answers = turn.verdict.iter().filter_map(|verdict| verdict.decision.as_ref());
    let mut answers = answers.flat_map(|decision| &decision.answers);
    match (turn.is_approved(), task.waived.last()) {
        (false, Some(waiver)) => WantedBy::Person(&waiver.by),
        (true, _) | (false, None) => answers
            .find(|answer| answer.question == number)
            .map_or(WantedBy::Plan, |answer| WantedBy::Words(&answer.quote)),
    }
}

/// Returns the tests that an intent of the plan hit, by outcome, or the intent itself if no run shows any.
fn of_intent<'a>(task: &'a Task, gates: &'a GateReport, intent: &'a Intent) -> Vec<ChangedBehaviour<'a>> {
    let wanted = intent.because.as_deref().map_or(WantedBy::Plan, WantedBy::Words);
    let mut changed: Vec<ChangedBehaviour<'a>> = Vec::new();
    for hit in gates.intended.iter().filter(|hit| hit.intent == intent.name) {
        match changed.iter_mut().find(|known| known.outcome == Some(hit.outcome)) {
            Some(known) => known.tests.push(&hit.test),
            None => changed.push(ChangedBehaviour {
                task: task.id,
                outcome: Some(hit.outcome),
                tests: vec![&hit.test],
                wanted,
            }),
        }
    }
    if changed.is_empty() {
        changed.push(ChangedBehaviour { task: task.id, outcome: None, tests: vec![&intent.name], wanted });
    }
    changed
}
