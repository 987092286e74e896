//! Turns rows into findings, which send the work back, and questions.

use crate::gates::{
    change::{Change, text},
    gate_result,
    table::{
        loosened,
        mixed::MixedRun,
        rows::{Naming, TestRow, TestTable},
    },
    turn::Run,
};
use domain::{
    evidence::{Fact, Gate, GateResult, Weight},
    problem::{Problem, ReviewItem},
    question,
    question::{Question, Topic},
    test_outcome::{IntendedChange, TestOutcome, TestResult},
};
use integrity::{FileChange, FileContent, first_changed_line};
use runners::test_index::TestIndex;
use std::collections::BTreeMap;

const GATE: Gate = Gate::BaseTests;

/// Returns the Gate's result, unless the change concerns no test of the base, and the questions.
pub(crate) fn report(run: &Run<'_>, table: &TestTable<'_>, weight: Weight) -> (Option<GateResult>, Vec<Question>) {
    let kind = run.kind();
    let (mut required, mut questions) = (Vec::new(), Vec::new());
    let rows = table.rows.iter().filter(|row| row.outcome() != TestOutcome::Broken);
    for row in rows {
        match row.outcome().weight(kind, &row.reasons) {
            Weight::Required => required.push(row),
            Weight::Asked => questions.push(question(run.change, table, row)),
            Weight::Informational => {}
        }
    }
    questions.extend(loosened::questions(run.change, &table.rows));
    questions.extend(loosened::of_files(run.change, &table.side, table.naming));
    questions.extend(not_comparable(table));
    let is_concerned = table.old.is_some() || !required.is_empty();
    let result = is_concerned.then(|| result(run.change, table, weight, &required));
    (result, questions)
}

fn result(change: &Change, table: &TestTable<'_>, weight: Weight, required: &[&TestRow]) -> GateResult {
    if required.is_empty() {
        let holds = |row: &&TestRow| row.pair.base.is_some() && row.results.after == TestResult::Passed;
        let tests = match table.naming {
            Naming::Named => Some(table.rows.iter().filter(holds).count()),
            Naming::Unnamed => None,
        };
        let unseen = table.old.as_ref().and_then(MixedRun::absence).cloned();
        return gate_result::passed(GATE, weight, Fact::BaseHolds { tests, unseen });
    }
    let mut counted: BTreeMap<TestOutcome, usize> = BTreeMap::new();
    for row in required {
        let times = counted.entry(row.outcome()).or_default();
        *times = times.saturating_add(1);
    }
    let fact = Fact::BaseBroken {
        counted: counted.into_iter().collect(),
        tests: required.iter().map(|row| row.name().to_owned()).collect(),
    };
    let place = |row: &TestRow| row.site.clone().map(|(path, line)| (path, Some(line)));
    // If an untouched test no longer runs and a setting changed, the setting is shown as the cause.
    let line = |path: &str| change.file(path).and_then(first_changed_line);
    let setting = || table.side.shared().first().map(|path| ((*path).to_owned(), line(path)));
    let item = |row: &&TestRow| {
        let at = match row.outcome() {
            TestOutcome::Lost => setting().or_else(|| place(row)),
            _ => place(row),
        };
        let (file, line) = at.unzip();
        ReviewItem {
            file,
            line: line.flatten(),
            ..ReviewItem::must_fix(Problem::Outcome { outcome: row.outcome(), test: row.name().to_owned() })
        }
    };
    GateResult { items: required.iter().map(item).collect(), ..gate_result::failed(GATE, weight, fact) }
}

/// Asks about a test. If its text is the same, a file that tests share must have changed, which is shown and named
/// instead.
fn question(change: &Change, table: &TestTable<'_>, row: &TestRow) -> Question {
    let asked = Question {
        topic: Topic::Outcome(row.outcome()),
        about: vec![row.name().to_owned()],
        place: row.site.clone(),
        material: both_forms(change, row),
        absence: None,
    };
    let shared = table.side.shared();
    match shared.first().filter(|_| !row.is_changed) {
        None => asked,
        Some(first) => {
            Question { place: Some(((*first).to_owned(), 1)), material: changed_lines(change, &shared), ..asked }
        }
    }
}

/// Returns the lines that these files lost and gained.
fn changed_lines(change: &Change, paths: &[&str]) -> String {
    let mut all = Vec::new();
    for file in paths.iter().filter_map(|path| change.file(path)) {
        let [was, is] = [&file.before, &file.after].map(|version| text(version).unwrap_or_default());
        all.push(format!("{}:", file.path));
        all.extend(loosened::changed_lines(was, is));
    }
    all.join("\n")
}

/// Returns a question if no run shows the tests' results with the settings, helpers and data that they had before.
fn not_comparable(table: &TestTable<'_>) -> Option<Question> {
    let old = table.old.as_ref()?;
    let mut shared = table.side.shared();
    let says_nothing = match table.naming {
        Naming::Named => {
            let ran = !old.is_empty();
            shared.retain(|path| !ran || old.is_left_out(path));
            !shared.is_empty()
        }
        Naming::Unnamed => !shared.is_empty() && old.result_of_all() == TestResult::NotComparable,
    };
    let paths: Vec<String> = shared.iter().map(|path| (*path).to_owned()).collect();
    says_nothing.then(|| Question {
        topic: Topic::Outcome(TestOutcome::Adapted),
        place: paths.first().map(|path| (path.clone(), 1)),
        about: paths,
        material: String::new(),
        absence: old.absence().cloned(),
    })
}

pub(crate) fn both_forms(change: &Change, row: &TestRow) -> String {
    let form = |name: Option<&String>, tests: &TestIndex, side: fn(&FileChange) -> &FileContent| {
        let site = *tests.find(name?).first()?;
        let text = text(side(change.file(&site.path)?))?;
        Some(tests.lines(site, text).join("\n"))
    };
    let old = form(row.pair.base.as_ref(), &change.before, |file| &file.before);
    let new = form(row.pair.head.as_ref(), &change.after, |file| &file.after);
    question::both_forms(old.as_deref(), new.as_deref())
}

/// Returns the changes of tests that the plan names and about which nobody is asked.
pub(crate) fn intended(run: &Run<'_>, table: &TestTable<'_>) -> Vec<IntendedChange> {
    let task = run.subject.task;
    let intents = || task.changes.iter().chain(&task.removes);
    let weight = |row: &TestRow| row.outcome().weight(run.kind(), &row.reasons);
    let settled = table.rows.iter().filter(|row| weight(row) == Weight::Informational);
    let changed = settled.filter_map(|row| {
        let test = row.pair.base.clone().filter(|_| row.outcome().changes_behaviour())?;
        let path = row.site.as_ref().map_or("", |(path, _)| path);
        let intent = intents().find(|intent| intent.names_test(path, &test) || intent.names_path(path))?;
        Some(IntendedChange { intent: intent.name.clone(), test, outcome: row.outcome() })
    });
    changed.collect()
}
