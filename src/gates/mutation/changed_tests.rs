//! Runs both forms of changed tests on broken code. If the old form of a test turns red and the new form stays green,
//! the test no longer notices the breakage.

use crate::gates::{
    around_tests::names_around,
    change::{Change, text},
    code::{SourceCode, code},
    compare,
    mutation::{
        HeadResults,
        budget::Budget,
        functions::{Function, Functions, Mutant},
        trial::{TrialOutcome, compare_with_head},
    },
    run::{
        context::{GateError, host},
        overlay::{FileToWrite, Overlay},
        result_cache::Expected,
    },
    table::{TestTable, mixed::Mix, report::both_forms, rows::TestRow},
    turn::Run,
};
use domain::{
    evidence::Experiment,
    question::{Question, Topic},
    test_outcome::{MixedResult, TestOutcome, TestResult},
};
use git::blocking;
use integrity::{FileChange, language, language::Role};
use runners::test_line::Selection;
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Duration,
};
use tokio::time::Instant;

/// A function, by its file and its name.
type FunctionPlace = (String, String);

/// The ways in which functions are broken, the finest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Break {
    OtherValues,
    Empty(Mutant),
}

const BREAKS: [Break; 3] = [Break::OtherValues, Break::Empty(Mutant::First), Break::Empty(Mutant::Second)];

/// A test that the change altered and that holds in both forms, with the functions that its old form calls.
struct ChangedTest<'t> {
    row: &'t TestRow,
    calls: BTreeSet<FunctionPlace>,
}

/// The code with the tests of one form.
struct Version {
    overlay: Overlay,
    functions: Functions,
}

/// Functions that are broken at once, and the tests that run on them, by their place in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    broken: Break,
    functions: Vec<FunctionPlace>,
    tests: BTreeSet<usize>,
}

/// The steps that are still to be tried: the first in any case, the others while time is left.
struct Steps {
    first: Option<Step>,
    others: VecDeque<Step>,
}

struct Experimenting<'r> {
    run: &'r Run<'r>,
    budget: &'r mut Budget,
    tests: &'r [ChangedTest<'r>],
    old: Version,
    new: Version,
    /// The tests that no longer notice, each with the functions that were broken.
    found: BTreeMap<usize, Vec<FunctionPlace>>,
}

/// Returns a question for each changed test that no longer notices.
pub(super) async fn questions(
    run: &Run<'_>,
    table: &TestTable<'_>,
    budget: &mut Budget,
) -> Result<Vec<Question>, GateError> {
    let helpers: BTreeSet<String> =
        (table.side.shared().iter()).flat_map(|path| names_around(run.change, path)).collect();
    let is_wanted = |row: &&TestRow| {
        let mut base = row.pair.base.iter();
        // The words of tests in unchanged files are not known.
        let mut uses_changed = || {
            base.any(|name| {
                let words = words(run.change, name);
                words.is_empty() || !words.is_disjoint(&helpers)
            })
        };
        holds(row) && (row.is_changed || !helpers.is_empty() && uses_changed())
    };
    let rows: Vec<&TestRow> = table.rows.iter().filter(is_wanted).collect();
    let Some(old) = table.old.as_ref().filter(|_| !rows.is_empty()) else {
        return Ok(Vec::new());
    };
    let overlay = table.side.overlay(run, Mix::OldTests, &old.adjusted).await?;
    let head = code(run).await?;
    let with_old: Vec<SourceCode> = head.iter().map(|file| laid_over(file, &overlay)).collect();
    let reading = blocking(move || [head, with_old].map(Functions::all_of)).await;
    let [new, old] = reading.map_err(|error| host("preparing an experiment")(error.into()))?;
    let tests: Vec<ChangedTest<'_>> =
        rows.into_iter().filter_map(|row| ChangedTest::of(run.change, row, &new)).collect();
    let mut experimenting = Experimenting {
        run,
        budget,
        tests: &tests,
        old: Version { overlay, functions: old },
        new: Version { overlay: Overlay::of_bytes(Vec::new()), functions: new },
        found: BTreeMap::new(),
    };
    experimenting.run().await?;
    Ok(experimenting.questions())
}

fn holds(row: &TestRow) -> bool {
    matches!(row.outcome(), TestOutcome::Kept | TestOutcome::Sharpened)
        && row.results.old_tests == MixedResult::Ran(TestResult::Passed)
}

/// Returns a file of the head with the tests of the overlay, if it holds any.
fn laid_over(file: &SourceCode, overlay: &Overlay) -> SourceCode {
    let laid = overlay.contents().find(|(path, _)| *path == file.path);
    let bytes = laid.and_then(|(_, meant)| meant.as_ref()).map(|(bytes, _)| bytes.clone());
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    SourceCode { text: text.unwrap_or_else(|| file.text.clone()), ..file.clone() }
}

impl<'t> ChangedTest<'t> {
    /// Takes a test with the functions that its old form names, or all if it names none.
    fn of(change: &Change, row: &'t TestRow, functions: &Functions) -> Option<Self> {
        let words = words(change, row.pair.base.as_deref()?);
        let place = |function: &Function| (function.path.clone(), function.body.name.clone());
        let is_test = |function: &&Function| {
            let line = function.body.line;
            change.after.test_around(&function.path, line) == Some(line)
        };
        let all = || functions.all.iter().filter(|function| !is_test(function)).map(place);
        let named: BTreeSet<FunctionPlace> = all().filter(|(_, name)| words.contains(name)).collect();
        let calls = if named.is_empty() { all().collect() } else { named };
        (!calls.is_empty()).then_some(Self { row, calls })
    }
}

/// Returns the words of a test of the base, and of the helpers in its file that it names.
fn words(change: &Change, name: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for site in change.before.find(name) {
        words.extend(site.words.iter().cloned());
        let helpers = change.file(&site.path).map(helpers).unwrap_or_default();
        let mut left: Vec<_> = helpers.into_iter().collect();
        while let Some(at) = left.iter().position(|(name, _)| words.contains(name)) {
            words.extend(left.swap_remove(at).1);
        }
    }
    words
}

fn helpers(file: &FileChange) -> Vec<(String, Vec<String>)> {
    let is_of_tests = language::role(&file.path) != Role::Source;
    let code = text(&file.before).filter(|_| is_of_tests);
    let code = code.and_then(|text| language::executable_code(&file.path, text));
    let bodies = code.unwrap_or_default().bodies.into_iter();
    bodies.map(|body| (body.name, body.words)).collect()
}

impl Steps {
    /// Breaks all functions at once, in each way.
    fn new(functions: &[FunctionPlace], tests: usize) -> Self {
        let steps = BREAKS.map(|broken| Step { broken, functions: functions.to_vec(), tests: (0..tests).collect() });
        let mut steps = steps.into_iter();
        Self { first: steps.next(), others: steps.collect() }
    }

    /// Returns the next step and how long its runs may take.
    fn next(&mut self, left: Option<Duration>, patience: Duration) -> Option<(Step, Duration)> {
        match self.first.take() {
            Some(first) => Some((first, patience)),
            None => Some(left?.min(patience)).and_then(|limit| Some((self.others.pop_front()?, limit))),
        }
    }
}

impl Experimenting<'_> {
    /// Breaks all functions at once, in each way, and then halves them while time is left.
    async fn run(&mut self) -> Result<(), GateError> {
        let functions: BTreeSet<FunctionPlace> = self.tests.iter().flat_map(|test| test.calls.clone()).collect();
        let functions: Vec<FunctionPlace> = functions.into_iter().collect();
        let mut steps = Steps::new(&functions, self.tests.len());
        while let Some((step, limit)) = steps.next(self.budget.remaining(), self.run.prepared.patience()) {
            let reaction = self.react(&step, limit).await?;
            steps.others.extend(self.record(&step, &reaction));
        }
        self.budget.ran(Experiment::ChangedTests);
        if !steps.others.is_empty() {
            self.budget.leave_out(Experiment::ChangedTests);
        }
        Ok(())
    }

    /// Records the tests that no longer notice, and returns the steps worth trying with half of the functions.
    fn record(&mut self, step: &Step, [deaf, unclear]: &[BTreeSet<usize>; 2]) -> Vec<Step> {
        for test in deaf {
            self.found.entry(*test).or_insert_with(|| step.functions.clone());
        }
        halves(step, unclear, |test, function| self.tests.get(test).is_some_and(|test| test.calls.contains(function)))
    }

    /// Runs the old form of tests on broken code, and the new form of those that turn red. Returns the tests whose new
    /// form passes, and those that remain unknown: both forms turned red, or the code does not build.
    async fn react(&mut self, step: &Step, limit: Duration) -> Result<[BTreeSet<usize>; 2], GateError> {
        let mut open = step.tests.clone();
        open.retain(|test| !self.found.contains_key(test));
        let red = match self.outcome(Mix::OldTests, step, &open, limit).await? {
            (TrialOutcome::Noticed(red), _) => red,
            (TrialOutcome::Inconclusive, _) => return Ok([BTreeSet::new(), open]),
            (TrialOutcome::Unnoticed, _) => return Ok([BTreeSet::new(), BTreeSet::new()]),
        };
        open.retain(|at| self.name(Mix::OldTests, *at).is_some_and(|name| red.contains(name)));
        let (_, passed) = self.outcome(Mix::NewTests, step, &open, limit).await?;
        let is_deaf = |at: &usize| self.name(Mix::NewTests, *at).is_some_and(|name| passed.contains(name));
        let (deaf, noticed) = open.into_iter().partition(is_deaf);
        Ok([deaf, noticed])
    }

    fn name(&self, form: Mix, at: usize) -> Option<&String> {
        let pair = &self.tests.get(at)?.row.pair;
        match form {
            Mix::OldTests => pair.base.as_ref(),
            Mix::NewTests => pair.head.as_ref(),
        }
    }

    /// Runs these tests in one form on the broken code. Returns which turn red, and which pass.
    async fn outcome(
        &mut self,
        form: Mix,
        step: &Step,
        tests: &BTreeSet<usize>,
        limit: Duration,
    ) -> Result<(TrialOutcome, BTreeSet<String>), GateError> {
        let run = self.run;
        let (version, index) = match form {
            Mix::OldTests => (&self.old, &run.change.before),
            Mix::NewTests => (&self.new, &run.change.after),
        };
        let files = version.broken(step);
        let names: BTreeSet<String> = tests.iter().filter_map(|at| self.name(form, *at)).cloned().collect();
        if files.is_empty() || names.is_empty() {
            return Ok((TrialOutcome::Unnoticed, BTreeSet::new()));
        }
        let overlay = version.overlay.clone().and(Overlay::of_bytes(files));
        let selection = Selection::of(names.iter().cloned().collect(), index);
        let begun = Instant::now();
        let found = run.prepared.tests_with(run.subject.head, &overlay, Expected::Noticed, &selection, limit).await?;
        self.budget.spend(begun.elapsed());
        let passed = compare::passed(&found).iter().cloned().collect();
        Ok((compare_with_head(&found, &HeadResults { passed: names, failed: BTreeSet::new() }), passed))
    }

    fn questions(&self) -> Vec<Question> {
        let found = self.found.iter();
        let found = found.filter_map(|(at, places)| Some(self.question(self.tests.get(*at)?, places)));
        found.collect()
    }

    fn question(&self, test: &ChangedTest<'_>, places: &[FunctionPlace]) -> Question {
        const MOST: usize = 3;
        let is_broken = |function: &&Function| {
            let place = (function.path.clone(), function.body.name.clone());
            test.calls.contains(&place) && places.contains(&place)
        };
        let functions = self.new.functions.all.iter().filter(is_broken).take(MOST);
        let forms = both_forms(self.run.change, test.row);
        let material: Vec<String> = functions.map(Function::place).chain([forms]).collect();
        Question {
            topic: Topic::Outcome(TestOutcome::NoLongerNotices),
            about: vec![test.row.name().to_owned()],
            place: test.row.site.clone(),
            material: material.join("\n"),
            absence: None,
        }
    }
}

impl Version {
    fn broken(&self, step: &Step) -> Vec<FileToWrite> {
        let is_wanted = |function: &&Function| {
            let place = (function.path.clone(), function.body.name.clone());
            step.functions.contains(&place)
        };
        let wanted: Vec<Function> = self.functions.all.iter().filter(is_wanted).cloned().collect();
        match step.broken {
            Break::Empty(form) => self.functions.emptied(&wanted, form),
            Break::OtherValues => {
                let [other, _] = self.functions.other_values(&wanted);
                other
            }
        }
    }
}

/// Splits the functions of a step in two, each with the tests that call one of them; nothing if there is only one function,
/// or no test.
fn halves(step: &Step, tests: &BTreeSet<usize>, calls: impl Fn(usize, &FunctionPlace) -> bool) -> Vec<Step> {
    let is_called = |function: &&FunctionPlace| tests.iter().any(|test| calls(*test, function));
    let functions: Vec<FunctionPlace> = step.functions.iter().filter(is_called).cloned().collect();
    if functions.len() < 2 {
        return Vec::new();
    }
    let (left, right) = functions.split_at(functions.len() / 2);
    let half = |half: &[FunctionPlace]| Step {
        broken: step.broken,
        functions: half.to_vec(),
        tests: tests.iter().copied().filter(|test| half.iter().any(|function| calls(*test, function))).collect(),
    };
    [left, right].map(half).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::{Break, FunctionPlace, Step, Steps, halves};
    use std::time::Duration;

    #[test]
    fn only_the_first_step_is_tried_when_no_time_is_left() {
        let seconds = Duration::from_secs;
        let patience = seconds(60);
        let limits = |left: [Option<Duration>; 4]| {
            let mut steps = Steps::new(&[("a.py".to_owned(), "a".to_owned())], 1);
            let limits = left.map(|left| steps.next(left, patience).map(|(_, limit)| limit));
            (limits, steps.others.len())
        };
        let left = |all: [u64; 4]| all.map(|left| (left > 0).then_some(seconds(left)));
        let table = [
            (left([0, 0, 0, 0]), left([60, 0, 0, 0]), 2),
            (left([0, 5, 0, 0]), left([60, 5, 0, 0]), 1),
            (left([90, 90, 9, 9]), left([60, 60, 9, 0]), 0),
        ];
        for (left, expected, open) in table {
            assert_eq!(limits(left), (expected, open), "{left:?}");
        }
    }

    #[test]
    fn half_of_the_functions_is_tried_with_the_tests_that_call_them() {
        let place = |name: &str| ("a.py".to_owned(), name.to_owned());
        let step = |functions: &[&str], tests: &[usize]| Step {
            broken: Break::OtherValues,
            functions: functions.iter().map(|name| place(name)).collect(),
            tests: tests.iter().copied().collect(),
        };
        // Test 0 calls a and b, test 1 calls c.
        let calls = |test: usize, function: &FunctionPlace| match test {
            0 => matches!(function.1.as_str(), "a" | "b"),
            _ => function.1 == "c",
        };
        let all = step(&["a", "b", "c", "d"], &[0, 1]);
        let table: [(&[usize], Vec<Step>); 4] = [
            (&[0], vec![step(&["a"], &[0]), step(&["b"], &[0])]),
            (&[0, 1], vec![step(&["a"], &[0]), step(&["b", "c"], &[0, 1])]),
            (&[1], vec![]),
            (&[], vec![]),
        ];
        for (unclear, expected) in table {
            assert_eq!(halves(&all, &unclear.iter().copied().collect(), calls), expected, "{unclear:?}");
        }
    }
}
