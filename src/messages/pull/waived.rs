//! The facts that people waived, in the same words in titles of check runs, pull requests and the living comment.

use crate::messages::{
    causes::{evidence, problems},
    form::{
        measure::{Measure, codes, introduced, list, sections},
        words,
        words::count,
    },
};
use domain::{
    ci::CheckConclusion,
    evidence::Excuse,
    feature::{Feature, WaivedConclusion, WaveGate},
    ids::User,
    problem::ReviewItem,
    task::{State, Task, Turn, WaivedFact, Waiver},
};

/// Facts that people waived, each once.
#[derive(Default)]
pub(crate) struct Waived {
    facts: Vec<WaivedFact>,
    people: Vec<User>,
}

impl Waived {
    /// Returns the facts that people waived for a task's commit. `turn` is the turn on this commit.
    pub(crate) fn of_task(task: &Task, turn: &Turn) -> Self {
        let mut waived = Self::default();
        match &task.state {
            State::Approved { .. } | State::Completed { .. } => {}
            State::Pending
            | State::PreLoop { .. }
            | State::PlayerTurn { .. }
            | State::CoachTurn { .. }
            | State::Blocked { .. }
            | State::Skipped { .. }
            | State::Cancelled => return waived,
        }
        if let Some(waiver) = task.waived.last().filter(|_| !turn.is_approved()) {
            for fact in &waiver.facts {
                waived.add(fact, &waiver.by);
            }
        }
        for excused in turn.gates.iter().flat_map(|gates| &gates.excused) {
            if let Excuse::Waived { by } = &excused.why {
                waived.add(&WaivedFact::Test(excused.test.clone()), by);
            }
        }
        waived
    }

    /// Returns the facts that people waived for the merged result. A test that passes there has been repaired since.
    pub(crate) fn of_feature(feature: &Feature, gate: Option<&WaveGate>) -> Self {
        let mut waived = Self::default();
        let still_fails = |test: &String| {
            gate.is_none_or(|gate| {
                let mut excused = gate.report.excused.iter();
                excused.any(|excused| excused.test == *test && matches!(excused.why, Excuse::Waived { .. }))
            })
        };
        let completed = feature.tasks.iter().filter(|task| task.is_completed());
        for waiver in completed.flat_map(|task| task.waived.last()) {
            for fact in &waiver.facts {
                if !matches!(fact, WaivedFact::Test(test) if !still_fails(test)) {
                    waived.add(fact, &waiver.by);
                }
            }
        }
        waived
    }

    fn add(&mut self, fact: &WaivedFact, by: &User) {
        if !self.facts.contains(fact) {
            self.facts.push(fact.clone());
        }
        if !self.people.contains(by) {
            self.people.push(by.clone());
        }
    }

    /// Returns the title of a check on this work; `None` if nothing was waived.
    pub(crate) fn title(&self) -> Option<String> {
        let people: Vec<String> = self.people.iter().map(words::person).collect();
        let facts = count_together(&self.facts);
        (!facts.is_empty()).then(|| format!("Holds, but for {} that {} waived", joined(&facts), joined(&people)))
    }

    /// Returns the same as a sentence; empty if nothing was waived.
    pub(crate) fn sentence(&self) -> String {
        self.title().map_or_else(String::new, |title| format!("**{title}.**"))
    }
}

/// Counts the facts of each kind: `2 tests`, `1 finding`.
fn count_together(facts: &[WaivedFact]) -> Vec<String> {
    let number = |of: fn(&WaivedFact) -> bool| facts.iter().filter(|fact| of(fact)).count();
    let plural = |number: usize, one: &str, more: &str| match number {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{number} {more}")),
    };
    let some = |number: usize, thing: &str| (number > 0).then(|| count(number, thing));
    let requests = number(|fact| matches!(fact, WaivedFact::Request { .. }));
    let objections = number(|fact| matches!(fact, WaivedFact::Objection(_) | WaivedFact::Breach(_)));
    [
        some(number(|fact| matches!(fact, WaivedFact::Test(_))), "test"),
        plural(number(|fact| matches!(fact, WaivedFact::Criterion(_))), "criterion", "criteria"),
        some(number(|fact| matches!(fact, WaivedFact::Question(_))), "question"),
        some(number(|fact| matches!(fact, WaivedFact::Gate(_) | WaivedFact::Finding(_))), "finding"),
        plural(objections, "objection of the Coach", "objections of the Coach"),
        plural(requests, "request for changes", "requests for changes"),
        facts.contains(&WaivedFact::Gates).then(|| "the Gates".to_owned()),
        facts.contains(&WaivedFact::Coach).then(|| "the Coach's verdict".to_owned()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Joins parts as in a sentence: `a, b and c`.
fn joined(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Returns who overrode the Coach, everything that was waived, and the tests that now count as failing before.
pub(crate) fn waived(waiver: &Waiver, measure: &Measure) -> String {
    let facts: Vec<String> = waiver.facts.iter().filter_map(fact).collect();
    let what = list(&facts, measure.rows.min(40), measure.text.min(600));
    let tests: Vec<String> = waiver.tests().cloned().collect();
    let tests = codes(&tests, measure.rows.min(40), 200);
    let who = format!("{} approved over the Coach", words::person(&waiver.by));
    sections(vec![
        if what.is_empty() { format!("{who}.") } else { format!("{who} and waived:\n\n{what}") },
        introduced("These failing tests belong to the baseline from now on: ", &tests),
    ])
}

/// Describes a fact; `None` for a test, which is listed by its name.
fn fact(fact: &WaivedFact) -> Option<String> {
    Some(match fact {
        WaivedFact::Test(_) => return None,
        WaivedFact::Criterion(unmet) | WaivedFact::Gate(unmet) => evidence::unmet(unmet),
        WaivedFact::Finding(item) => problems::placed(item),
        WaivedFact::Objection(problem) => problems::problem(&ReviewItem::must_fix(problem.clone())).into_owned(),
        WaivedFact::Breach(breach) => problems::breach(breach),
        WaivedFact::Question(title) => format!("the question {title}"),
        WaivedFact::Request { by } => format!("the request for changes of {by} is open"),
        WaivedFact::Gates => "no Gate ran on this commit".to_owned(),
        WaivedFact::Coach => "no Coach judged this commit".to_owned(),
    })
}

/// Returns the conclusion of a check on work that only passes because a person waived something.
pub(crate) fn conclusion(feature: &Feature) -> CheckConclusion {
    match feature.rules.waived {
        WaivedConclusion::Success => CheckConclusion::Success,
        WaivedConclusion::Neutral => CheckConclusion::Neutral,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(login: &str, id: u64) -> User {
        User { login: login.to_owned(), id: domain::ids::UserId(id) }
    }

    #[test]
    fn a_title_counts_each_fact_once_and_names_who_waived_it() {
        let test = |name: &str| WaivedFact::Test(name.to_owned());
        let finding = |text: &str| WaivedFact::Finding(ReviewItem::must_fix_remark("design", text));
        let table = [
            (vec![], None),
            (vec![test("a")], Some("Holds, but for 1 test that @x waived")),
            (vec![test("a"), test("a"), test("b")], Some("Holds, but for 2 tests that @x waived")),
            (vec![finding("f")], Some("Holds, but for 1 finding that @x waived")),
            (
                vec![test("a"), finding("f"), WaivedFact::Coach],
                Some("Holds, but for 1 test, 1 finding and the Coach's verdict that @x waived"),
            ),
        ];
        for (facts, expected) in table {
            let mut waived = Waived::default();
            facts.iter().for_each(|fact| waived.add(fact, &user("x", 1)));
            assert_eq!(waived.title().as_deref(), expected);
        }
        let mut waived = Waived::default();
        waived.add(&test("a"), &user("x", 1));
        waived.add(&test("b"), &user("y", 2));
        assert_eq!(waived.title().unwrap(), "Holds, but for 2 tests that @x and @y waived");
    }
}
