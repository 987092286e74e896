//! The rows of the table: each test with its four results and its outcome.

use crate::gates::{
    around_tests::{named_words, names_around},
    change::Change,
    compare,
    run::context::GateError,
    table::{
        mixed::{Mix, MixedRun, MixedTime, TestSide, by_name},
        pairs::{TestPair, pair},
        reasons,
    },
    turn::Run,
};
use domain::{
    evidence::{Evidence, Ground, TestNames},
    integrity::Weight,
    plan::TaskType,
    test_outcome::{FourResults, MixedResult, Reason, TestOutcome, TestResult, Witness},
};
use integrity::language;
use std::collections::{BTreeMap, BTreeSet};
use text::shell_command::ShellCommand;

/// The number of times that a run behind a required outcome is repeated.
const TRIES: usize = 2;

/// The largest file that is searched for tests, in bytes.
const MOST_READ: usize = 1 << 20;

#[derive(Clone, Debug)]
pub(crate) struct TestRow {
    pub(crate) pair: TestPair,
    pub(crate) results: FourResults,
    pub(crate) reasons: BTreeSet<Reason>,
    /// Path and line on the head, else on the base.
    pub(crate) site: Option<(String, u32)>,
    /// `true` if the change altered the test's text or the code of its file that it names.
    pub(crate) is_changed: bool,
    /// `true` if it failed on the head's code without the change's own tests, though the change does not touch it.
    fails_alone: bool,
}

/// The results of the runs for all tests.
pub(crate) struct TestTable<'a> {
    pub(crate) rows: Vec<TestRow>,
    pub(crate) side: TestSide<'a>,
    pub(crate) old: Option<MixedRun>,
    pub(crate) new: Option<MixedRun>,
    /// If the runner does not name its tests, one row represents the whole suite.
    pub(crate) naming: Naming,
}

/// The tests of the base that run on the new code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OldTests {
    /// Those of the touched files, or all if something that they share is touched.
    Touched,
    /// All. Runs of untouched tests beside new ones show little: a new test can replace a part of the product, or another
    /// test, for the whole run.
    All,
    /// All, to find the untouched tests that need the new ones. The others were judged already.
    ForUntouched,
}

/// The runner's way to report tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    Named,
    Unnamed,
}

/// The name of the row that represents all tests.
const SUITE: &str = "the test suite";

impl<'a> TestTable<'a> {
    /// Runs the tests that the change makes necessary, and reads the table. `head` is the result of the head's tests,
    /// in which nothing counts against the change.
    pub(crate) async fn read(run: &'a Run<'a>, head: &Evidence, old: OldTests) -> Result<Self, GateError> {
        let command = run.prepared.chosen.test.as_ref().map(ShellCommand::text);
        let side = TestSide::of(run.change, command.unwrap_or_default());
        let names = names(run, head);
        let naming = if names.is_some() { Naming::Named } else { Naming::Unnamed };
        let rows = match &names {
            Some((before, after)) => named_rows(run, before, after),
            None => vec![suite(run, head, &side)],
        };
        let mut table = Self { rows, side, old: None, new: None, naming };
        table.leave_out_waived(run);
        let mut time = MixedTime::of(run.prepared.context.deadlines.test);
        table.run_old(run, old, &mut time).await?;
        if old == OldTests::ForUntouched {
            table.rows.retain(|row| row.fails_alone);
            table.try_again(run, &mut time).await?;
            table.rows.retain(|row| row.fails_alone);
            return Ok(table);
        }
        table.run_new(run, &mut time).await?;
        table.leave_out_helpers(run).await?;
        table.try_again(run, &mut time).await?;
        reasons::find(run, &table.side, &mut table.rows).await?;
        Ok(table)
    }

    async fn run_old(&mut self, run: &Run<'_>, old: OldTests, time: &mut MixedTime) -> Result<(), GateError> {
        let touched = self.touched(run);
        let is_concerned = match old {
            OldTests::Touched => touched.as_ref().is_none_or(|touched| !touched.is_empty()),
            OldTests::All => !self.side.paths().is_empty(),
            OldTests::ForUntouched => touched.is_some() && !self.side.paths().is_empty(),
        };
        if !is_concerned || !self.rows.iter().any(TestRow::ran_before) {
            return Ok(());
        }
        let wanted = touched.as_ref().filter(|_| old == OldTests::Touched);
        let mixed = MixedRun::new(run, Mix::OldTests, &self.side, wanted, self.naming, time).await?;
        for row in &mut self.rows {
            let Some(name) = &row.pair.base else { continue };
            let result = mixed.result(name);
            if touched.as_ref().is_none_or(|touched| touched.contains(name)) {
                row.note_old(result, self.naming);
            } else {
                let passes = [row.results.before, row.results.after] == [TestResult::Passed; 2];
                row.fails_alone = passes && result == TestResult::Failed;
            }
        }
        self.old = Some(mixed);
        Ok(())
    }

    /// Returns the tests of the base that ran and that the change touches; `None` for all.
    fn touched(&self, run: &Run<'_>) -> Option<BTreeSet<String>> {
        if !self.side.touches_old_tests() {
            return Some(BTreeSet::new());
        }
        if self.naming == Naming::Unnamed || self.side.touches_shared() {
            return None;
        }
        let paths = self.side.paths();
        let is_touched = |name: &&String| {
            let sites = run.change.before.find(name);
            // A file can run tests that it imports from another.
            paths.iter().any(|path| name.strip_prefix(path).is_some_and(|rest| rest.starts_with(':')))
                || sites.is_empty() && run.change.has_unreadable_old_tests()
                || sites.iter().any(|site| paths.contains(site.path.as_str()))
        };
        let base = self.rows.iter().filter(|row| row.ran_before()).filter_map(|row| row.pair.base.as_ref());
        Some(base.filter(is_touched).cloned().collect())
    }

    async fn run_new(&mut self, run: &Run<'_>, time: &mut MixedTime) -> Result<(), GateError> {
        let asks_for_witness =
            matches!(run.kind(), TaskType::Feature | TaskType::Scaffolding | TaskType::Documentation);
        let shared = self.side.touches_shared();
        let is_wanted = |row: &TestRow| {
            let is_old_red = row.results.old_tests == MixedResult::Ran(TestResult::Failed);
            let is_new = row.pair.base.is_none() || row.is_changed;
            let is_repaired = row.results.before != TestResult::Passed;
            let passes = row.results.after == TestResult::Passed;
            passes && (is_old_red || asks_for_witness && (is_new || is_repaired || shared))
        };
        let wanted: BTreeSet<String> =
            self.rows.iter().filter(|row| is_wanted(row)).filter_map(|row| row.pair.head.clone()).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let some = (!asks_for_witness || !shared).then_some(&wanted);
        let mixed = MixedRun::new(run, Mix::NewTests, &self.side, some, self.naming, time).await?;
        for row in &mut self.rows {
            if let Some(name) = row.pair.head.as_ref().filter(|name| wanted.contains(*name)) {
                row.results.new_tests = MixedResult::Ran(mixed.result(name));
            }
        }
        self.new = Some(mixed);
        Ok(())
    }

    /// Leaves out tests that a person waived in a turn of this Feature.
    fn leave_out_waived(&mut self, run: &Run<'_>) {
        let waived: BTreeSet<&str> = run.subject.waived.iter().map(|waived| waived.test.as_str()).collect();
        self.rows.retain(|row| !waived.contains(row.name()));
    }

    /// Leaves out helpers: files without a test that the runner loaded and counted as one test each.
    async fn leave_out_helpers(&mut self, run: &Run<'_>) -> Result<(), GateError> {
        let mut helpers = BTreeSet::new();
        let is_gone = |row: &&TestRow| matches!(row.results.after, TestResult::Missing | TestResult::DidNotRun);
        let gone = self.rows.iter().filter(is_gone).filter_map(|row| row.pair.base.as_ref());
        for name in gone.filter(|name| run.change.base.contains(*name) && language::language_of(name).is_some()) {
            let file = run.subject.mirror.read_file(run.subject.fork, name, MOST_READ).await?;
            let text = file.filter(|file| !file.truncated).and_then(|file| String::from_utf8(file.bytes).ok());
            let outline = text.and_then(|text| language::read(name, &text));
            if outline.is_some_and(|outline| outline.tests.is_empty()) {
                helpers.insert(name.clone());
            }
        }
        let is_helper = |row: &TestRow| row.pair.base.as_ref().is_some_and(|name| helpers.contains(name));
        self.rows.retain(|row| !is_helper(row));
        Ok(())
    }

    /// Runs the old tests behind a required outcome again. A result that differs between two tries decides nothing.
    async fn try_again(&mut self, run: &Run<'_>, time: &mut MixedTime) -> Result<(), GateError> {
        let is_doubtful = |row: &TestRow| {
            let required = row.outcome().weight(run.kind(), &BTreeSet::new()) == Weight::Required;
            row.fails_alone || required && row.results.old_tests == MixedResult::Ran(TestResult::Failed)
        };
        for _ in 0..TRIES {
            let doubtful = self.rows.iter().filter(|row| is_doubtful(row));
            let names: BTreeSet<String> = doubtful.filter_map(|row| row.pair.base.clone()).collect();
            if names.is_empty() {
                return Ok(());
            }
            let again = MixedRun::new(run, Mix::OldTests, &self.side, Some(&names), self.naming, time).await?;
            for row in &mut self.rows {
                let found = row.pair.base.as_ref().filter(|name| names.contains(*name));
                let found = found.map(|name| again.result(name));
                if found.is_none_or(|found| found == TestResult::Failed) {
                    continue;
                }
                if !std::mem::take(&mut row.fails_alone) {
                    row.results.old_tests = MixedResult::Ran(TestResult::NotComparable);
                }
            }
        }
        Ok(())
    }

    /// Returns the passing tests of the head by name, each with its row.
    pub(crate) fn by_head(&self) -> BTreeMap<&str, &TestRow> {
        let rows = self.rows.iter();
        rows.filter_map(|row| Some((row.pair.head.as_deref()?, row))).collect()
    }

    /// Returns the tests that pass on the head and are new there, or whose text changed.
    pub(crate) fn new_or_changed(&self) -> Vec<String> {
        let is_one = |row: &&TestRow| row.pair.base.is_none() || row.is_changed;
        let passing = self.rows.iter().filter(|row| row.results.after == TestResult::Passed);
        passing.filter(is_one).filter_map(|row| row.pair.head.clone()).collect()
    }
}

impl TestRow {
    fn new(run: &Run<'_>, before: TestResult, after: TestResult, pair: TestPair) -> Self {
        let change = run.change;
        let head = pair.head.as_deref().and_then(|name| change.after.place(name));
        let base = || pair.base.as_deref().and_then(|name| change.before.place(name));
        Self {
            is_changed: false,
            fails_alone: false,
            site: head.or_else(base),
            results: FourResults {
                before,
                old_tests: MixedResult::NotNeeded,
                after,
                new_tests: MixedResult::NotNeeded,
            },
            reasons: BTreeSet::new(),
            pair,
        }
    }

    fn ran_before(&self) -> bool {
        matches!(self.results.before, TestResult::Passed | TestResult::Failed)
    }

    /// Notes the result of its old form on the head's code.
    fn note_old(&mut self, result: TestResult, naming: Naming) {
        // A test that exists with the same text but is not reported was lost, even if its old form passes.
        let is_there = matches!(self.results.after, TestResult::Passed | TestResult::Failed);
        let is_lost = !is_there && naming == Naming::Named;
        // If the text is the same and the old form could not run, the old form counts as the new one.
        if self.is_changed || !is_lost && result != TestResult::NotComparable {
            self.results.old_tests = MixedResult::Ran(result);
        }
    }

    pub(crate) fn outcome(&self) -> TestOutcome {
        if self.fails_alone { TestOutcome::NeedsNewTests } else { self.results.outcome() }
    }

    /// Returns the test's worth as proof of the change. A test of the base that was extended or adapted, and that
    /// therefore cannot run on the old code, counts like a new one. `new` is the run that showed this.
    pub(crate) fn witness(&self, new: Option<&MixedRun>) -> Witness {
        let has_ended = new.is_some_and(|run| run.absence().is_none());
        let passes = matches!(self.outcome(), TestOutcome::Kept | TestOutcome::Adapted);
        match self.results.new_tests {
            MixedResult::Ran(TestResult::NotComparable) if has_ended && passes && self.is_changed => {
                Witness::OnceNoticed
            }
            MixedResult::Ran(_) | MixedResult::NotNeeded => self.outcome().witness(),
        }
    }

    pub(crate) fn name(&self) -> &str {
        let name = self.pair.head.as_deref().or(self.pair.base.as_deref());
        name.unwrap_or_default()
    }
}

/// Returns the names of both sides' results, if both runs named every test that matters.
fn names(run: &Run<'_>, head: &Evidence) -> Option<(TestNames, TestNames)> {
    let before = run.subject.before;
    let after = compare::comparable_names(head, before)?;
    match before.ground() {
        Ground::Named(names) => Some((names.clone(), after.clone())),
        Ground::Empty => Some((TestNames::default(), after.clone())),
        Ground::Green | Ground::Red => None,
    }
}

fn named_rows(run: &Run<'_>, before: &TestNames, after: &TestNames) -> Vec<TestRow> {
    let (base, head) = (by_name(before), by_name(after));
    let of = |results: &BTreeMap<String, TestResult>, name: &Option<String>| {
        let known = name.as_ref().and_then(|name| results.get(name));
        known.copied().unwrap_or(TestResult::Missing)
    };
    let around = changed_helpers(run.change);
    let pairs = pair(before, after, run.change).into_iter();
    pairs
        .map(|pair| TestRow {
            is_changed: is_changed(run.change, &around, &pair),
            ..TestRow::new(run, of(&base, &pair.base), of(&head, &pair.head), pair)
        })
        .collect()
}

/// Returns the one row of a runner that names no tests.
fn suite(run: &Run<'_>, head: &Evidence, side: &TestSide<'_>) -> TestRow {
    let before = match run.subject.before.ground() {
        Ground::Green | Ground::Named(_) => TestResult::Passed,
        Ground::Red => TestResult::Failed,
        Ground::Empty => TestResult::Missing,
    };
    let after = match head {
        Evidence::Passed(_) => TestResult::Passed,
        Evidence::Failed(_) => TestResult::Failed,
        Evidence::Absent(_) => TestResult::NotComparable,
    };
    let there = |result: TestResult| (result != TestResult::Missing).then(|| SUITE.to_owned());
    let pair = TestPair { base: there(before), head: there(after) };
    TestRow { is_changed: !side.paths().is_empty(), ..TestRow::new(run, before, after, pair) }
}

/// Returns, for each changed file with tests, the names of its helpers and values that the change altered.
fn changed_helpers(change: &Change) -> BTreeMap<&str, BTreeSet<String>> {
    let files = change.files.iter().map(|file| file.path.as_str());
    let with_tests = files.filter(|path| change.before.has_tests(path));
    with_tests.map(|path| (path, names_around(change, path))).collect()
}

/// A test is its words, the conditions on which it runs, and the definitions in its file that these name.
fn is_changed(change: &Change, around: &BTreeMap<&str, BTreeSet<String>>, pair: &TestPair) -> bool {
    let Some(base) = pair.base.as_deref() else {
        return true;
    };
    let before = change.before.find(base);
    if before.is_empty() {
        return change.has_unreadable_old_tests();
    }
    let after = change.after.find(pair.head.as_deref().unwrap_or(base));
    !before.iter().all(|was| {
        let around = around.get(was.path.as_str());
        let uses_changed = around.is_some_and(|around| named_words(&was.words).any(|word| around.contains(word)));
        let mut same = after.iter();
        !uses_changed
            && before.len() == after.len()
            && same.any(|is| is.words == was.words && is.conditions == was.conditions)
    })
}
