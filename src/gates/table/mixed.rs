//! Lays the tests of one version over the code of the other, runs them, and reads the result of each test.

use crate::gates::{
    change::{Change, text},
    compare,
    output::named_lines,
    run::{
        context::GateError,
        overlay::{FileToWrite, Overlay, Revision},
        result_cache::Expected,
    },
    table::rows::Naming,
    turn::Run,
};
use domain::{
    evidence::{Absence, Evidence, TestNames},
    test_outcome::TestResult,
};
use git::RawChange;
use integrity::{
    FileChange, FileContent,
    language::{Role, role, words_of_code},
    side::{Repository, Side, with_single_tests_of, without_tests_at},
};
use runners::{
    test_index::{self, TestIndex, TestSite},
    test_line::Selection,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};
use text::shell_command::ShellCommand;
use tokio::time::Instant;

/// The most builds of one mixed run. After a build that fails, the next one takes only single tests from the files that
/// did not fit.
const MOST_BUILDS: usize = 3;

/// Together, the mixed runs of a turn get this many times the longest time for all tests.
const TIMES_LONGEST: u32 = 2;

/// Files that do not compile or load with the other version's code, each with a text that may; `None` if there is none.
pub(crate) type AdjustedFiles = BTreeMap<String, Option<String>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mix {
    /// The base's tests on the head's code.
    OldTests,
    /// The head's tests on the base's code.
    NewTests,
}

pub(crate) struct TestSide<'a> {
    repository: Repository<'a>,
    whole: Vec<(&'a RawChange, &'a FileChange)>,
    /// Files that hold both product and tests, such as source files with inline tests, whose tests differ.
    parts: Vec<&'a FileChange>,
    pub(super) alters_product: bool,
}

impl<'a> TestSide<'a> {
    /// Takes the changed files of the tests' side. The test command names scripts that decide which tests run.
    pub(crate) fn of(change: &'a Change, test_command: &'a str) -> Self {
        let repository = Repository { base: &change.base, head: &change.head, test_command };
        let (mut whole, mut parts, mut alters_product) = (Vec::new(), Vec::new(), false);
        for (file, raw) in change.files.iter().zip(&change.raw) {
            let (before, after) = (text(&file.before), text(&file.after));
            let texts: Vec<&str> = before.into_iter().chain(after).collect();
            let side = match repository.side(&file.path, &texts) {
                // New settings may have no part for tests.
                Side::Both if !holds_tests(&file.path) => {
                    repository.changed_side(&file.path, Some(before.unwrap_or_default()), after)
                }
                Side::Both => repository.changed_side(&file.path, before, after),
                Side::Tests => {
                    whole.push((raw, file));
                    continue;
                }
                Side::Product => Some(Side::Product),
            };
            if let Some(Side::Tests | Side::Both) = side {
                parts.push(file);
            }
            if let Some(Side::Product | Side::Both) = side {
                alters_product = true;
            }
        }
        Self { repository, whole, parts, alters_product }
    }

    /// `true` if the base's tests may differ from the head's: the change touches more than new files with tests.
    pub(crate) fn touches_old_tests(&self) -> bool {
        let is_new_test = |raw: &RawChange| raw.old_mode == 0 && raw.path.to_str().map(role) == Some(Role::Test);
        let is_old = |file: &&FileChange| file.before.bytes().is_some() || !holds_tests(&file.path);
        self.whole.iter().any(|(raw, _)| !is_new_test(raw)) || self.parts.iter().any(is_old)
    }

    /// `true` if the change touches something that several tests share: a helper, data, or a setting.
    pub(crate) fn touches_shared(&self) -> bool {
        !self.shared().is_empty()
    }

    pub(crate) fn paths(&self) -> BTreeSet<&'a str> {
        self.files().map(|file| file.path.as_str()).collect()
    }

    fn files(&self) -> impl Iterator<Item = &'a FileChange> {
        let whole = self.whole.iter().map(|(_, file)| *file);
        whole.chain(self.parts.iter().copied())
    }

    /// Returns the paths of the touched scripts that belong to the tests because the test command calls them.
    pub(crate) fn scripts(&self) -> BTreeSet<&'a str> {
        let uncalled = Repository { test_command: "", ..self.repository };
        let whole = self.whole.iter().map(|(_, file)| file.path.as_str());
        whole.filter(|path| uncalled.side(path, &[]) != Side::Tests).collect()
    }

    pub(crate) fn shared(&self) -> Vec<&'a str> {
        self.paths().into_iter().filter(|path| !holds_tests(path)).collect()
    }

    /// Returns the words of a source file's product that may be names.
    pub(crate) fn product_words(&self, file: &FileChange, version: &FileContent) -> BTreeSet<String> {
        let text = text(version).unwrap_or_default();
        let product = self.repository.with_tests_of(&file.path, text, "");
        let words = words_of_code(&file.path, product.as_deref().unwrap_or(text)).unwrap_or_default();
        let is_name = |word: &String| word.len() > 2 && word.chars().all(|c| c.is_alphanumeric() || c == '_');
        words.into_iter().filter(is_name).collect()
    }

    /// Returns the files to lay over the other version's checkout.
    pub(crate) async fn overlay(
        &self,
        run: &Run<'_>,
        mix: Mix,
        adjusted: &AdjustedFiles,
    ) -> Result<Overlay, GateError> {
        let whole = self.whole.iter().filter(|(_, file)| !adjusted.contains_key(&file.path));
        let whole: Vec<&RawChange> = whole.map(|(raw, _)| *raw).collect();
        let version = match mix {
            Mix::OldTests => Revision::Base,
            Mix::NewTests => Revision::Head,
        };
        let parts = self.parts.iter().filter(|file| !adjusted.contains_key(&file.path));
        let parts = parts.filter_map(|file| {
            let mixed = self.mixed(mix, file)?;
            (Some(mixed.as_str()) != text(product(mix, file))).then_some((file.path.as_str(), mixed))
        });
        let adjusted = adjusted.iter().filter_map(|(path, text)| Some((path.as_str(), text.clone()?)));
        let mode = |path: &str| match mix {
            Mix::OldTests => run.change.mode(path).or_else(|| run.change.old_mode(path)),
            Mix::NewTests => run.change.old_mode(path).or_else(|| run.change.mode(path)),
        };
        let texts = parts.chain(adjusted);
        let texts = texts.filter_map(|(path, text)| {
            Some(FileToWrite { path: path.to_owned(), bytes: text.into_bytes(), mode: mode(path)? })
        });
        let overlay = Overlay::of(run.subject.mirror, &whole, version).await?;
        Ok(overlay.and(Overlay::of_bytes(texts.collect())))
    }

    /// Returns the next text to try after `tried` for a file that does not fit the code. It is the file without the
    /// tests at these lines, or else the code's version with single tests from this one. `None` if nothing is left to
    /// try.
    pub(crate) fn adjust(
        &self,
        mix: Mix,
        path: &str,
        tried: Option<&Option<String>>,
        lines: &BTreeSet<usize>,
    ) -> Option<String> {
        match tried {
            Some(tried) => without_tests_at(path, tried.as_deref()?, lines),
            None => {
                let file = self.files().find(|file| file.path == path)?;
                let mixed = self.mixed(mix, file)?;
                let single = || with_single_tests_of(path, text(product(mix, file))?, &mixed);
                without_tests_at(path, &mixed, lines).or_else(single)
            }
        }
    }

    /// Returns a file with the tests of one version and the product code of the other.
    fn mixed(&self, mix: Mix, file: &FileChange) -> Option<String> {
        let tests = match mix {
            Mix::OldTests => &file.before,
            Mix::NewTests => &file.after,
        };
        self.repository.mixed(&file.path, text(product(mix, file)), text(tests))
    }
}

fn holds_tests(path: &str) -> bool {
    matches!(role(path), Role::Test | Role::Source)
}

/// Returns the version of a file with the product code on which these tests run.
fn product(mix: Mix, file: &FileChange) -> &FileContent {
    match mix {
        Mix::OldTests => &file.after,
        Mix::NewTests => &file.before,
    }
}

/// The time that the mixed runs of a turn share.
pub(crate) struct MixedTime {
    whole: Duration,
    left: Duration,
}

impl MixedTime {
    pub(crate) fn of(longest: Duration) -> Self {
        let whole = longest.saturating_mul(TIMES_LONGEST);
        Self { whole, left: whole }
    }

    fn spend(&mut self, took: Duration) {
        self.left = self.left.saturating_sub(took);
    }

    /// Returns the absence of a run for which no time is left; `None` if there is some.
    fn absence(&self, command: Option<&ShellCommand>) -> Option<Absence> {
        self.left.is_zero().then(|| Absence::TimedOut {
            command: command.map(ShellCommand::text).unwrap_or_default().to_owned(),
            seconds: self.whole.as_secs(),
            in_test: None,
            failed: Vec::new(),
        })
    }
}

pub(crate) struct MixedRun {
    evidence: Evidence,
    results: BTreeMap<String, TestResult>,
    /// The worst result of the rows of each parametrised test.
    families: BTreeMap<String, TestResult>,
    naming: Naming,
    /// The files that do not fit, as they ran. For those without a text, the code's version of the file ran.
    pub(crate) adjusted: AdjustedFiles,
}

impl MixedRun {
    /// Runs these tests, or all if none are named. Single tests run from a file that does not fit the code. Tests that
    /// fit in no way are left out, and count as not comparable.
    pub(crate) async fn new(
        run: &Run<'_>,
        mix: Mix,
        side: &TestSide<'_>,
        names: Option<&BTreeSet<String>>,
        naming: Naming,
        time: &mut MixedTime,
    ) -> Result<Self, GateError> {
        let (subject, prepared, change) = (run.subject, run.prepared, run.change);
        let (commit, index, expected, limit) = match mix {
            Mix::OldTests => (subject.head, &change.before, Expected::Green, prepared.context.deadlines.test),
            Mix::NewTests => (subject.fork, &change.after, Expected::Red, prepared.patience_on_base()),
        };
        let names = names.filter(|_| naming == Naming::Named);
        let selection = names.map_or(Selection::All, |names| Selection::of(names.iter().cloned().collect(), index));
        let mut adjusted = AdjustedFiles::new();
        let mut builds = 0_usize;
        loop {
            let overlay = side.overlay(run, mix, &adjusted).await?;
            let begun = Instant::now();
            let evidence = match time.absence(prepared.chosen.test.as_ref()) {
                Some(absence) => Evidence::Absent(absence),
                None => {
                    let limit = limit.min(time.left);
                    prepared.tests_with(commit, &overlay, expected, &selection, limit).await?
                }
            };
            time.spend(begun.elapsed());
            builds = builds.saturating_add(1);
            let mut mixed = Self::of(evidence, naming);
            // Of a suite without names, a new form that fails on the old code as a whole has failed.
            let is_whole = mix == Mix::NewTests && naming == Naming::Unnamed;
            if builds == MOST_BUILDS || is_whole || !mixed.adjust(mix, side, &selection, index, &mut adjusted) {
                // In place of a file that was left out, the other version's tests ran. Their results do not count.
                let is_out = |site: &&TestSite| matches!(adjusted.get(&site.path), Some(None));
                mixed.results.retain(|name, _| {
                    let sites = index.find(name);
                    sites.is_empty() || !sites.iter().all(is_out)
                });
                mixed.families = families(&mixed.results);
                return Ok(Self { adjusted, ..mixed });
            }
        }
    }

    /// Adjusts the files from which no test has a result. Returns `true` if another build may show more.
    fn adjust(
        &self,
        mix: Mix,
        side: &TestSide<'_>,
        selection: &Selection,
        index: &TestIndex,
        adjusted: &mut AdjustedFiles,
    ) -> bool {
        let Some(finding) = self.evidence.failure() else {
            return false;
        };
        let wanted = |path: &&str| match selection {
            Selection::All => true,
            // A file that tests share matters to each of them.
            Selection::Named(named) => named.files.is_empty() || named.files.contains(*path) || !index.has_tests(path),
        };
        let laid: Vec<&str> = side.paths().into_iter().filter(wanted).collect();
        let silent = silent(&self.results, index, &laid);
        let mut has_changed = false;
        for (path, lines) in unfit(&finding.output, &silent) {
            let tried = adjusted.get(path);
            let next = side.adjust(mix, path, tried, &lines);
            has_changed |= tried != Some(&next);
            adjusted.insert(path.to_owned(), next);
        }
        let is_left = |path: &&str| !matches!(adjusted.get(*path), Some(None));
        has_changed && laid.iter().any(is_left)
    }

    fn of(evidence: Evidence, naming: Naming) -> Self {
        let results = match &evidence {
            Evidence::Passed(finding) | Evidence::Failed(finding) => {
                let mut results = finding.names.as_ref().map(by_name).unwrap_or_default();
                let is_unfit = |name: &str| finding.unfit.iter().any(|unfit| name.ends_with(unfit.as_str()));
                for (name, result) in &mut results {
                    if *result == TestResult::Failed && is_unfit(name) {
                        *result = TestResult::NotComparable;
                    }
                }
                results
            }
            Evidence::Absent(Absence::TimedOut { in_test, failed, .. }) => {
                let names = in_test.iter().chain(failed);
                names.map(|name| (name.clone(), TestResult::Failed)).collect()
            }
            Evidence::Absent(_) => BTreeMap::new(),
        };
        Self { evidence, families: families(&results), results, naming, adjusted: AdjustedFiles::new() }
    }

    /// `true` if a file fits in no way, so that it was left out.
    pub(crate) fn is_left_out(&self, path: &str) -> bool {
        matches!(self.adjusted.get(path), Some(None))
    }

    /// Returns the result of a test: by its name, else of a test that differs from it only in its parameters, or of the
    /// whole suite if the runner names no tests.
    pub(crate) fn result(&self, name: &str) -> TestResult {
        if self.naming == Naming::Unnamed {
            return self.result_of_all();
        }
        let family = || self.families.get(test_index::bare(name)).copied();
        let known = self.results.get(name).copied().or_else(family);
        known.unwrap_or(TestResult::NotComparable)
    }

    /// Returns the result of the whole suite. What passes only without some file says nothing about that file.
    pub(crate) fn result_of_all(&self) -> TestResult {
        match &self.evidence {
            Evidence::Passed(_) if self.adjusted.values().any(Option::is_none) => TestResult::NotComparable,
            Evidence::Passed(_) => TestResult::Passed,
            Evidence::Failed(finding) if !compare::is_stopped(finding) => TestResult::Failed,
            Evidence::Failed(_) | Evidence::Absent(_) => TestResult::NotComparable,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// Returns the reason why nothing ran, if nothing did.
    pub(crate) fn absence(&self) -> Option<&Absence> {
        match &self.evidence {
            Evidence::Absent(reason) if self.results.is_empty() => Some(reason),
            Evidence::Passed(_) | Evidence::Failed(_) | Evidence::Absent(_) => None,
        }
    }
}

fn families(results: &BTreeMap<String, TestResult>) -> BTreeMap<String, TestResult> {
    let mut families: BTreeMap<String, TestResult> = BTreeMap::new();
    for (name, result) in results {
        let worst = families.entry(test_index::bare(name).to_owned()).or_insert(*result);
        if badness(*result) > badness(*worst) {
            *worst = *result;
        }
    }
    families
}

fn badness(result: TestResult) -> u8 {
    match result {
        TestResult::Passed => 0,
        TestResult::DidNotRun | TestResult::Missing => 1,
        TestResult::NotComparable => 2,
        TestResult::Failed => 3,
    }
}

pub(super) fn by_name(names: &TestNames) -> BTreeMap<String, TestResult> {
    let lists = [
        (&names.skipped, TestResult::DidNotRun),
        (&names.passed, TestResult::Passed),
        (&names.failed, TestResult::Failed),
    ];
    let of = |(list, result): (&Vec<String>, _)| list.iter().map(|name| (name.clone(), result)).collect::<Vec<_>>();
    lists.into_iter().flat_map(of).collect()
}

/// Returns the overlaid files from which no test has a result. If no test at all has one, a file without tests may be
/// the cause.
fn silent<'p>(results: &BTreeMap<String, TestResult>, index: &TestIndex, laid: &[&'p str]) -> Vec<&'p str> {
    let sites = results.keys().flat_map(|name| index.find(name));
    let spoke: BTreeSet<&str> = sites.map(|site| site.path.as_str()).collect();
    let is_silent = |path: &&str| !spoke.contains(*path) && (results.is_empty() || index.has_tests(path));
    laid.iter().copied().filter(is_silent).collect()
}

/// Returns the silent files that the output names, with the lines that it names; all silent files if it names none.
fn unfit<'p>(output: &str, silent: &[&'p str]) -> Vec<(&'p str, BTreeSet<usize>)> {
    let all: Vec<_> = silent.iter().map(|path| (*path, named_lines(output, path))).collect();
    let named: Vec<_> = all.iter().filter(|(_, lines)| !lines.is_empty()).cloned().collect();
    if named.is_empty() { all } else { named }
}

#[cfg(test)]
mod tests {
    use super::{MixedRun, MixedTime, Naming, silent, unfit};
    use domain::{
        evidence::{Absence, Evidence, Finding, TestNames},
        test_outcome::TestResult,
    };
    use runners::test_index::TestIndex;
    use std::time::Duration;

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn each_test_of_a_mixed_run_has_its_result() {
        let finding = Finding {
            exit_code: Some(1),
            names: Some(TestNames {
                passed: owned(&["a", "p[1]"]),
                failed: owned(&["b", "tests/t.py::c", "x::p[2]"]),
                skipped: owned(&["d"]),
            }),
            unfit: owned(&["tests/t.py::c"]),
            ..Finding::default()
        };
        let run = MixedRun::of(Evidence::Failed(finding), Naming::Named);
        let table = [
            ("a", TestResult::Passed),
            ("b", TestResult::Failed),
            ("tests/t.py::c", TestResult::NotComparable),
            ("d", TestResult::DidNotRun),
            ("gone", TestResult::NotComparable),
            ("x::p[3]", TestResult::Failed),
        ];
        for (name, expected) in table {
            assert_eq!(run.result(name), expected, "{name}");
        }
        let stopped = Evidence::Absent(Absence::TimedOut {
            command: "t".to_owned(),
            seconds: 1,
            in_test: Some("slow".to_owned()),
            failed: owned(&["b"]),
        });
        let stopped = MixedRun::of(stopped, Naming::Named);
        assert_eq!(stopped.result("slow"), TestResult::Failed);
        assert_eq!(stopped.result("b"), TestResult::Failed);
        assert_eq!(stopped.result("a"), TestResult::NotComparable);
    }

    #[test]
    fn the_mixed_runs_of_a_turn_share_their_time() {
        let mut time = MixedTime::of(Duration::from_secs(30));
        time.spend(Duration::from_secs(59));
        assert_eq!(time.absence(None), None);
        time.spend(Duration::from_secs(2));
        let absence = time.absence(None);
        assert!(matches!(absence, Some(Absence::TimedOut { seconds: 60, .. })), "{absence:?}");
        let run = MixedRun::of(Evidence::Absent(absence.unwrap()), Naming::Named);
        assert_eq!(run.result("a"), TestResult::NotComparable);
    }

    #[test]
    fn files_that_do_not_fit_are_those_without_results_that_the_output_names() {
        let version = |text: &str| integrity::FileContent::Bytes(text.as_bytes().to_vec());
        let (a, b) = (version("def test_one(): pass\n"), version("def test_two(): pass\n"));
        let index = TestIndex::of([("tests/test_a.py", &a), ("tests/test_b.py", &b)].into_iter());
        let laid = ["tests/test_a.py", "tests/test_b.py", "tests/conftest.py"];
        let results = |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), TestResult::Passed)).collect();
        assert_eq!(silent(&results(&[]), &index, &laid), laid);
        assert_eq!(silent(&results(&["tests/test_a.py::test_one"]), &index, &laid), ["tests/test_b.py"]);
        let output = "tests/test_b.py:12: in <module>\n E ImportError: tests/test_b.py";
        assert_eq!(unfit(output, &laid), [("tests/test_b.py", [12].into_iter().collect())]);
        assert_eq!(unfit("", &laid).len(), 3);
    }
}
