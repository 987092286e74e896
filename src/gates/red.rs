//! Red before green: the new tests must fail on the code as it was, else they prove nothing of the change.

use crate::gates::{
    change::Change,
    compare,
    run::{
        context::GateError,
        overlay::{Overlay, Side},
        result_cache::Expected,
    },
    said,
    sites::Site,
    test_line::Selection,
    turn::Run,
    unproven,
    unproven::Named,
};
use domain::{
    evidence::{Absence, Evidence, Gate, GateResult, Ground, TestNames, Weight},
    feature::Mode,
    plan::TaskType,
    task::Origin,
};
use git::RawChange;
use integrity::{
    Version,
    language::{Role, role},
};
use std::collections::BTreeSet;

const GATE: Gate = Gate::RedBeforeGreen;

/// Runs the change's tests on the fork's code, where new tests are expected of this task.
pub(crate) async fn red_before_green(run: &Run<'_>, head: &Evidence) -> Result<Option<GateResult>, GateError> {
    let Some(weight) = weight(run) else { return Ok(None) };
    let known = known(run);
    let tests = match compare::all_names(head) {
        Some(names) => Tests::of(run, names, &known),
        None => Tests::unnamed(run.change),
    };
    if tests.are_none() {
        if let Some(proof) = unproven::by_stored_answers(run, head, (weight, &known)).await? {
            return Ok(Some(proof));
        }
        return Ok(Some(unproven::without_tests(run, weight, tests.named, &known)));
    }
    if tests.is_inline(run.change) {
        return Ok(Some(said::absent(GATE, Absence::Inline)));
    }
    let found = on_old_code(run).await?;
    Ok(Some(tests.judge(run, (weight, &known), &found)))
}

/// What it weighs here; nothing where no new tests are expected.
fn weight(run: &Run<'_>) -> Option<Weight> {
    let subject = run.subject;
    match subject.task.kind {
        TaskType::Scaffolding | TaskType::Documentation => return None,
        TaskType::Feature | TaskType::Testing => {}
    }
    let is_empty = subject.baseline.ground() == Ground::Empty && subject.task.kind == TaskType::Feature;
    match (subject.origin, subject.mode) {
        (Origin::Fix { .. } | Origin::Sync { .. }, _) => None,
        (Origin::Planned, Mode::Tdd) => Some(Weight::Demanded),
        (Origin::Planned, Mode::Standard) if is_empty => Some(Weight::Demanded),
        (Origin::Planned, Mode::Standard) | (Origin::Review { .. }, _) => Some(Weight::Shown),
    }
}

/// The tests that the change brings, by name: those that are new, if any are, then whatever else may show it.
pub(crate) fn brought(run: &Run<'_>, head: &Evidence) -> Option<(Vec<String>, Vec<String>)> {
    let tests = Tests::of(run, compare::all_names(head)?, &known(run));
    let others = tests.changed.into_iter().chain(tests.unplaced);
    (!tests.new.is_empty()).then(|| (tests.new, others.collect()))
}

/// Every test that was there before, by name.
fn known<'a>(run: &Run<'a>) -> BTreeSet<&'a str> {
    match run.subject.baseline.ground() {
        Ground::Named(names) => {
            let all = names.passed.iter().chain(&names.failed).chain(&names.skipped);
            all.map(String::as_str).collect()
        }
        Ground::Empty | Ground::Green | Ground::Red => BTreeSet::new(),
    }
}

/// The tests that may show the change.
struct Tests {
    /// Tests that nobody had before.
    new: Vec<String>,
    /// Tests whose body is another.
    changed: Vec<String>,
    /// Tests that nobody had before and that stand nowhere by that name: made by a loop or a macro of a changed file, or
    /// brought by an earlier task.
    unplaced: Vec<String>,
    /// Whether the runner told them apart by name.
    named: Named,
}

/// What a test that passes now was before.
enum Before {
    Nothing,
    Another,
    Same,
    Unknown,
}

impl Tests {
    fn of(run: &Run<'_>, head: &TestNames, known: &BTreeSet<&str>) -> Self {
        let mut tests = Self {
            new: Vec::new(),
            changed: Vec::new(),
            unplaced: Vec::new(),
            named: Named::Yes,
        };
        for name in &head.passed {
            match before(run, name, known) {
                Before::Nothing => tests.new.push(name.clone()),
                Before::Another => tests.changed.push(name.clone()),
                Before::Unknown => tests.unplaced.push(name.clone()),
                Before::Same => {}
            }
        }
        tests
    }

    /// Whether nothing can show the change.
    fn are_none(&self) -> bool {
        self.new.is_empty() && self.changed.is_empty() && self.unplaced.is_empty()
    }

    /// What may show the change: what is new or changed, and only without that what may be.
    fn candidates(&self) -> Vec<&String> {
        let sure: Vec<&String> = self.new.iter().chain(&self.changed).collect();
        match sure.is_empty() {
            true => self.unplaced.iter().collect(),
            false => sure,
        }
    }

    /// Files stand for the tests in them, where the runner names none.
    fn unnamed(change: &Change) -> Self {
        let files = |is_wanted: fn(&Version) -> bool| {
            let files = change.of_role(Role::Test);
            files
                .filter(|file| file.after != Version::Absent && is_wanted(&file.before))
                .map(|file| file.path.clone())
                .collect()
        };
        Self {
            new: files(|before| *before == Version::Absent),
            changed: files(|before| *before != Version::Absent),
            unplaced: Vec::new(),
            named: Named::No,
        }
    }

    /// Whether all that is new stands inside source files.
    fn is_inline(&self, change: &Change) -> bool {
        let is_separate = |name: &String| {
            let sites = change.after.find(name);
            sites.is_empty() || sites.iter().any(|site| is_separable(site))
        };
        self.named == Named::Yes && !self.candidates().into_iter().any(is_separate)
    }

    fn judge(&self, run: &Run<'_>, (weight, known): (Weight, &BTreeSet<&str>), found: &Evidence) -> GateResult {
        let all = self.candidates();
        let red: Vec<&String> = all.iter().filter(|name| is_red(run, found, name)).copied().collect();
        if let Evidence::Absent(reason) = found {
            return said::absent(GATE, reason.clone());
        }
        let noun = match self.named {
            Named::Yes => "tests",
            Named::No => "files with tests",
        };
        if let Some(first) = red.first() {
            let sentence = format!(
                "{} of {} new or changed {noun} fail without the change, among them {first}",
                red.len(),
                all.len()
            );
            return said::passed(GATE, weight, sentence);
        }
        let ran = |name: &&String| compare::names(found).is_none_or(|names| names.passed.contains(name));
        if !all.iter().any(ran) {
            let what = "the new tests did not run on the old code".to_owned();
            return said::absent(GATE, Absence::Unfinished { what });
        }
        if self.new.is_empty() && self.changed.is_empty() {
            return unproven::without_tests(run, weight, self.named, known);
        }
        if self.new.is_empty() {
            let what = format!(
                "no test is new; those that changed pass without the change too: {}",
                said::list(&all)
            );
            return said::failed(GATE, unproven::weight(run, weight, known), what);
        }
        // A task that is for tests covers code that is there: its tests may pass on it.
        let weight = match run.subject.task.kind {
            TaskType::Testing => Weight::Shown,
            TaskType::Scaffolding | TaskType::Feature | TaskType::Documentation => weight,
        };
        let sentence = format!(
            "none of the new {noun} fails without the change, so they do not show it: {}",
            said::list(&self.new)
        );
        said::failed(GATE, weight, sentence)
    }
}

/// Whether a test does not pass on the old code. A run that fails without saying which test did not even compile.
fn is_red(run: &Run<'_>, found: &Evidence, name: &str) -> bool {
    let is = |list: &[String]| list.iter().any(|known| known == name);
    match (found, compare::names(found)) {
        (Evidence::Absent(_), _) => false,
        (_, Some(names)) if is(&names.passed) => false,
        (_, Some(names)) if is(&names.failed) => true,
        (Evidence::Passed(_), _) => false,
        (Evidence::Failed(_), None) => true,
        // It has no result, and something fails that did not fail before: its file, which could not be loaded.
        (Evidence::Failed(_), Some(names)) => {
            let before = match run.subject.baseline.ground() {
                Ground::Named(before) => before.failed.as_slice(),
                Ground::Empty | Ground::Green | Ground::Red => &[],
            };
            names.failed.is_empty() || names.failed.iter().any(|failed| !before.contains(failed))
        }
    }
}

/// What a test that passes now was at the fork.
fn before(run: &Run<'_>, name: &str, known: &BTreeSet<&str>) -> Before {
    let change = run.change;
    let (was, is) = (change.before.find(name), change.after.find(name));
    match (is.is_empty(), was.is_empty()) {
        (true, _) if known.contains(name) => Before::Same,
        // It stands in a file that the change does not touch, so an earlier task brought it; or it has no name there.
        (true, _) if !change.has_unreadable_tests() => match change.of_role(Role::Test).next() {
            None => Before::Same,
            Some(_) => Before::Unknown,
        },
        (true, _) => Before::Nothing,
        (false, true) if known.contains(name) => Before::Same,
        (false, true) if is.iter().all(|site| change.before.has_body(&site.words)) => Before::Same,
        (false, true) => Before::Nothing,
        (false, false) if is.iter().all(|site| was.iter().any(|old| old.words == site.words)) => Before::Same,
        (false, false) => Before::Another,
    }
}

fn is_separable(site: &Site) -> bool {
    matches!(role(&site.path), Role::Test | Role::Support)
}

/// The fork's code with the change's tests, and what they need.
pub(crate) async fn on_old_code(run: &Run<'_>) -> Result<Evidence, GateError> {
    let subject = run.subject;
    let is_of_tests = |change: &&RawChange| {
        let path = change.path.to_str();
        path.is_some_and(|path| matches!(role(path), Role::Test | Role::Support))
    };
    let changes: Vec<&RawChange> = run.change.raw.iter().filter(is_of_tests).collect();
    let overlay = Overlay::of(subject.mirror, &changes, Side::After).await?;
    run.prepared
        .tests_with(subject.fork, &overlay, Expected::Red, &Selection::All)
        .await
}
