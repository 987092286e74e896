//! Runs the base's own tests on the new code, in the base's version, whatever the change did to them.

use crate::gates::{
    around_tests::around_tests,
    change::{Change, lossy, text},
    compare,
    mutation::code::{Put, code},
    overruled::Ran,
    run::{
        context::GateError,
        overlay::{Overlay, Side},
        result_cache::Expected,
    },
    said,
    test_index::TestSite,
    test_line::Selection,
    turn::Run,
    vanished_tests::missing,
    verify::must_hold::{Meant, has_its_words, holds_by_its_words, tolerant},
};
use domain::{
    decision::Issue,
    evidence::{Absence, Evidence, Gate, GateResult, TestNames, Weight},
    plan::{PlannedTask, TaskType},
    registries,
    shell_command::ShellCommand,
};
use git::RawChange;
use integrity::{
    FileChange, Version, is_snapshot, language,
    language::{Role, role},
    loses_lines, side,
};
use std::collections::{BTreeMap, BTreeSet};

const GATE: Gate = Gate::BaseTests;

/// Restores the base's versions of test files, inline tests, test support and the runner's settings, if the change
/// touches any, and runs them on the new code. Removed tests are judged even if nothing can run.
///
/// The base's settings may also define how the product is built. If the tests do not run with them, they run with the
/// new settings; the integrity rules detect weakened settings.
pub(crate) async fn base_tests(run: &Run<'_>, head: &Evidence, ran: &mut Ran) -> Result<Option<GateResult>, GateError> {
    let Some(before) = compare::names_before(run.subject.before).filter(|names| !names.passed.is_empty()) else {
        return Ok(None);
    };
    let command = run.prepared.chosen.test.as_ref();
    let touched = touched(run.change, &command.map(ShellCommand::mentioned).unwrap_or_default());
    let inline = inline(run.change);
    if touched.is_empty() && inline.is_empty() {
        return Ok(None);
    }
    let mut result = with_base_versions(run, (before, head), touched, inline).await?;
    let removed = removed(run, (before, head)).await?;
    settle(run, &removed, ran);
    tell_removed(&mut result, &removed);
    Ok(Some(result))
}

/// Returns the result with the base's versions. If they do not fit the new code, it tries again with fewer of them.
async fn with_base_versions(
    run: &Run<'_>,
    (before, head): (&TestNames, &Evidence),
    mut touched: Vec<&RawChange>,
    mut inline: Vec<Put>,
) -> Result<GateResult, GateError> {
    let does_not_run = |found: &Evidence| compare::names(found).is_none_or(|names| ran_nothing(names, before));
    let mut meant = Meant::of(run.change, &touched, &inline);
    let mut found = attempt(run, head, &touched, &inline).await?;
    if does_not_run(&found) && !inline.is_empty() {
        inline.clear();
        meant.left_out = std::mem::take(&mut meant.inline);
        found = attempt(run, head, &touched, &inline).await?;
    }
    let settings = |raw: &&RawChange| role_of(raw) == Some(Role::Settings);
    if does_not_run(&found) && touched.iter().any(settings) {
        touched.retain(|raw| !settings(raw));
        found = attempt(run, head, &touched, &inline).await?;
    }
    found = confirmed(run, found, (&touched, &inline), (before, &meant)).await?;
    meant.tolerant = tolerant(run, &found, &meant).await?;
    let first = judge(run, before, &found, &meant);
    let (adapted, kept): (Vec<&RawChange>, Vec<&RawChange>) =
        touched.into_iter().partition(|raw| is_adapted(run.change, raw));
    if matches!(first.evidence, Evidence::Passed(_)) || adapted.is_empty() {
        return Ok(first);
    }
    // Test support was adapted along with the code: new helpers, and new packages, fit the new code. The integrity
    // rules detect helpers and settings that check less; items show that the new ones are needed.
    let again = attempt(run, head, &kept, &inline).await?;
    let mut result = judge(run, before, &again, &meant);
    if !matches!(result.evidence, Evidence::Passed(_)) || !pass_now(run, &meant, (&found, &again)) {
        return Ok(first);
    }
    result.items.extend(adapted.iter().map(|raw| {
        let path = raw.path.to_string();
        let what = format!("tests of the base pass only with the changed `{path}`");
        said::should_fix("test", what, Some((path, 1)))
    }));
    Ok(result)
}

/// Confirms failures of selected tests by a run of all tests, since a test may depend on others before it. Returns that
/// run if every failed test that must hold passes in it.
async fn confirmed(
    run: &Run<'_>,
    found: Evidence,
    (touched, inline): (&[&RawChange], &[Put]),
    (before, meant): (&TestNames, &Meant),
) -> Result<Evidence, GateError> {
    let is_held = matches!(judge(run, before, &found, meant).evidence, Evidence::Failed(_));
    if !is_held || wanted(run, touched, inline) == Selection::All {
        return Ok(found);
    }
    let all = run_with(run, (touched, inline), &Selection::All).await?;
    let is_better = compare::names(&all).is_some() && pass_now(run, meant, (&found, &all));
    Ok(if is_better { all } else { found })
}

/// Returns the source files with their old inline tests, if one of these changed or is gone.
fn inline(change: &Change) -> Vec<Put> {
    let loses_a_test = |file: &&FileChange| {
        let (before, after) = (&change.before, &change.after);
        let mut was = before.words_in(&file.path).chain(before.makers_in(&file.path));
        let is = after.words_in(&file.path).chain(after.makers_in(&file.path));
        let is: Vec<&[String]> = is.collect();
        was.any(|words| !is.contains(&words))
    };
    let put = |file: &FileChange| {
        let old = side::with_inline_tests_of(&file.path, text(&file.after)?, text(&file.before)?)?;
        Some((file.path.clone(), old.into_bytes(), change.mode(&file.path)?))
    };
    change
        .of_role(Role::Source)
        .filter(loses_a_test)
        .filter_map(put)
        .collect()
}

/// A test of the base that the change removed.
struct Removed {
    name: String,
    path: String,
    line: u32,
    why: Why,
}

/// The explanation for a removed test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// The plan says that the test is removed.
    Declared,
    /// Every function that it calls is gone, and its file belongs to the task.
    Explained,
    /// Its file has a new test that calls one of the same functions.
    Replaced,
    /// There is no explanation.
    Missing,
}

/// Returns the tests that passed on the base and that the change removed.
async fn removed(run: &Run<'_>, (before, head): (&TestNames, &Evidence)) -> Result<Vec<Removed>, GateError> {
    let (change, task) = (run.change, run.subject.task);
    let Some(now) = compare::telling_names(head, run.subject.before) else {
        return Ok(Vec::new());
    };
    let gone = missing(before, now).into_iter().filter(|name| is_gone(change, name));
    let gone: Vec<&str> = gone.collect();
    if gone.is_empty() {
        return Ok(Vec::new());
    }
    let functions = Functions::read(run).await?;
    let mut fresh = fresh(change);
    let mut removed = Vec::new();
    for name in gone {
        let sites = change.before.find(name);
        let Some(site) = sites.first() else { continue };
        let mut replaces = || {
            let new = fresh.get_mut(site.path.as_str())?;
            let at = new
                .iter()
                .position(|new| functions.can_replace(&site.words, &new.words))?;
            Some(new.swap_remove(at))
        };
        let why = if is_declared(task, name, &site.path) {
            Why::Declared
        } else if task.files.contains(&site.path) && functions.explain(&site.words) {
            Why::Explained
        } else if replaces().is_some() {
            Why::Replaced
        } else {
            Why::Missing
        };
        removed.push(Removed {
            name: name.to_owned(),
            path: site.path.clone(),
            line: site.line,
            why,
        });
    }
    Ok(removed)
}

/// `true` if the plan says that a test is removed, or the task's text names it.
fn is_declared(task: &PlannedTask, name: &str, path: &str) -> bool {
    let own = name.rsplit([':', '/', '>', '›']).next().unwrap_or(name).trim();
    let criteria = task.acceptance_criteria.iter().map(|criterion| &criterion.text);
    let mut texts = [&task.name, &task.description].into_iter().chain(criteria);
    let is_named = own.len() > 3 && texts.any(|text| text.contains(own));
    is_named || is_listed(task, name, path)
}

/// `true` if the plan's list of removals contains a test, its file or a folder above.
pub(super) fn is_listed(task: &PlannedTask, name: &str, path: &str) -> bool {
    let mut listed = task.removes.iter();
    listed.any(|removed| removed.names_path(path) || removed.names_test(path, name))
}

/// Returns the new tests of each file, by name.
fn fresh(change: &Change) -> BTreeMap<&str, Vec<&TestSite>> {
    let known: BTreeSet<(&str, &str)> = change
        .before
        .tests()
        .map(|(name, site)| (name, site.path.as_str()))
        .collect();
    let mut fresh: BTreeMap<&str, Vec<&TestSite>> = BTreeMap::new();
    for (name, site) in change.after.tests() {
        if !known.contains(&(name, &site.path)) {
            fresh.entry(&site.path).or_default().push(site);
        }
    }
    fresh
}

/// The product's functions: the removed and the remaining ones.
struct Functions {
    gone: BTreeSet<String>,
    there: BTreeSet<String>,
}

impl Functions {
    async fn read(run: &Run<'_>) -> Result<Self, GateError> {
        let all = code(run).await?;
        let there: BTreeSet<String> = all.iter().flat_map(|code| defined(&code.path, &code.text)).collect();
        let sources = run.change.of_role(Role::Source);
        let before = sources.flat_map(|file| defined(&file.path, &lossy(&file.before)));
        Ok(Self {
            gone: before.filter(|name| !there.contains(name)).collect(),
            there,
        })
    }

    /// `true` if a test calls removed functions and no remaining ones.
    fn explain(&self, words: &[String]) -> bool {
        let calls = |names: &BTreeSet<String>| words.iter().any(|word| names.contains(word));
        calls(&self.gone) && !calls(&self.there)
    }

    /// `true` if a new test may replace a removed one: both call a function that still exists. If the removed test
    /// called none, any new test may replace it.
    fn can_replace(&self, gone: &[String], new: &[String]) -> bool {
        let mut called = gone.iter().filter(|word| self.there.contains(*word)).peekable();
        called.peek().is_none() || called.any(|word| new.contains(word))
    }
}

/// Returns the names that a source file defines.
fn defined(path: &str, text: &str) -> Vec<String> {
    let Some(outline) = language::read(path, text) else {
        return Vec::new();
    };
    let functions = outline.functions.into_iter().map(|function| function.name);
    functions.chain(outline.defines).filter(|name| name.len() > 2).collect()
}

/// Notes the files whose removed tests may all go.
fn settle(run: &Run<'_>, removed: &[Removed], ran: &mut Ran) {
    for one in removed {
        let is_missing = |other: &Removed| other.path == one.path && other.why == Why::Missing;
        if !removed.iter().any(is_missing) {
            ran.settled.insert(one.path.clone());
        }
    }
    let paths = run.change.files.iter().map(|file| &file.path);
    let declared = paths.filter(|path| is_declared(run.subject.task, "", path));
    ran.settled.extend(declared.cloned());
}

fn tell_removed(result: &mut GateResult, removed: &[Removed]) {
    let missing = removed.iter().filter(|one| one.why == Why::Missing);
    let missing: Vec<&str> = missing.map(|one| one.name.as_str()).collect();
    if !missing.is_empty() {
        let sentence = format!(
            "tests that passed before are gone, and nothing says that they go: {}",
            said::list(&missing)
        );
        result.weight = Weight::Required;
        result.evidence = Evidence::Failed(said::said(sentence));
    }
    result.items.extend(removed.iter().map(Removed::item));
}

impl Removed {
    fn item(&self) -> Issue {
        let name = &self.name;
        let place = Some((self.path.clone(), self.line));
        let shown = |why: &str| said::should_fix("test", format!("`{name}` is gone: {why}"), place.clone());
        match self.why {
            Why::Declared => shown("the plan says that it goes"),
            Why::Explained => shown("every function that it calls is gone"),
            Why::Replaced => shown("its file has a new test in its place"),
            Why::Missing => {
                let what = "passed before and is gone; bring it back, or have the plan say that it goes (removes)";
                Issue::must_fix("test", &format!("`{name}` {what}"))
            }
        }
    }
}

/// `true` if each failed test that must hold passes now; a missing result is not enough.
fn pass_now(run: &Run<'_>, meant: &Meant, (first, again): (&Evidence, &Evidence)) -> bool {
    let mut failed = compare::failed(first).iter().filter(|name| meant.must_hold(run, name));
    let passed = compare::names(again).map(|names| &names.passed);
    compare::names(first).is_none() || passed.is_some_and(|passed| failed.all(|name| passed.contains(name)))
}

/// `true` if a file that tests share was adapted, not only extended; or if it lists packages.
fn is_adapted(change: &Change, raw: &RawChange) -> bool {
    let path = raw.path.to_string();
    if raw.old_mode == 0 || raw.new_mode == 0 {
        return false;
    }
    let names_packages = || !path.ends_with(".ini") && !registries::of_paths(std::slice::from_ref(&path)).is_empty();
    let is_adapted = |file: &FileChange| loses_lines(file) && keeps_checks(file);
    match role(&path) {
        Role::Settings => names_packages(),
        Role::Support => change.file(&path).is_some_and(is_adapted),
        Role::Source | Role::Test | Role::Other => false,
    }
}

/// `true` if every check in a shared file still exists word for word. Changing a check is more than adapting.
fn keeps_checks(file: &FileChange) -> bool {
    let checks = |version: &Version| {
        let outline = language::read(&file.path, text(version)?)?;
        let checks = outline.functions.into_iter().flat_map(|function| function.checks);
        Some(checks.map(|check| check.words).collect::<Vec<_>>())
    };
    let both = checks(&file.before).zip(checks(&file.after));
    both.is_some_and(|(before, after)| before.iter().all(|check| after.contains(check)))
}

/// Returns the changed files whose old version is restored.
fn touched<'a>(change: &'a Change, command: &[String]) -> Vec<&'a RawChange> {
    let is_restored = |raw: &&RawChange| raw.old_mode != 0 && is_of_tests(raw);
    let restored = change.raw.iter().filter(is_restored);
    let restored: BTreeSet<String> = restored.map(|raw| module(&raw.path.to_string())).collect();
    let is_put_back = |raw: &&RawChange| {
        let path = raw.path.to_string();
        match (raw.old_mode, role(&path)) {
            // Snapshots change along with the code that they show; an integrity rule asks whether it changed.
            _ if is_snapshot(&path) => false,
            // A script that the test command runs decides which tests run, as settings do.
            (1.., Role::Source | Role::Other) => command.iter().any(|word| word.trim_start_matches("./") == path),
            (0, Role::Source | Role::Other) => false,
            (_, Role::Support) if !is_code(&path) => false,
            // New settings are deleted; a new test only if it takes the place of an old one.
            (0, Role::Settings) => true,
            (0, Role::Test | Role::Support) => restored.contains(&module(&path)),
            (_, Role::Test | Role::Support | Role::Settings) => true,
        }
    };
    let all: Vec<&RawChange> = change.raw.iter().filter(is_put_back).collect();
    // If all files are new tests, they hide nothing that existed before.
    let may_hide = |raw: &&RawChange| raw.old_mode != 0 || role_of(raw) == Some(Role::Settings);
    if all.iter().any(may_hide) { all } else { Vec::new() }
}

/// `true` if a file of test support is code. Stored results and data change along with what they show.
fn is_code(path: &str) -> bool {
    language::of(path).is_some() || path.ends_with(".sh")
}

fn role_of(change: &RawChange) -> Option<Role> {
    change.path.to_str().map(role)
}

fn is_of_tests(change: &RawChange) -> bool {
    matches!(role_of(change), Some(Role::Test | Role::Support | Role::Settings))
}

/// Returns the module name for a path: `a/b.rs`, `a/b/mod.rs` and `a/b/__init__.py` are the same module.
fn module(path: &str) -> String {
    let stem = match path.rsplit_once('.') {
        Some((stem, extension)) if !extension.contains('/') => stem,
        _ => path,
    };
    let inner = ["/mod", "/index", "/__init__"];
    let module = inner.iter().find_map(|inner| stem.strip_suffix(inner));
    module.unwrap_or(stem).to_owned()
}

async fn attempt(
    run: &Run<'_>,
    head: &Evidence,
    changes: &[&RawChange],
    inline: &[Put],
) -> Result<Evidence, GateError> {
    if changes.is_empty() && inline.is_empty() {
        return Ok(head.clone());
    }
    run_with(run, (changes, inline), &wanted(run, changes, inline)).await
}

async fn run_with(
    run: &Run<'_>,
    (changes, inline): (&[&RawChange], &[Put]),
    wanted: &Selection,
) -> Result<Evidence, GateError> {
    let subject = run.subject;
    let overlay = Overlay::of(subject.mirror, changes, Side::Before).await?;
    let overlay = overlay.and(Overlay::of_bytes(inline.to_vec()));
    let how = (wanted, run.prepared.longest());
    run.prepared
        .tests_with(subject.head, &overlay, Expected::Green, how)
        .await
}

/// Selects the tests in the restored files, if no other test can change its result.
fn wanted(run: &Run<'_>, changes: &[&RawChange], inline: &[Put]) -> Selection {
    let are_tests = changes.iter().all(|raw| role_of(raw) == Some(Role::Test));
    let Some(known) = compare::names_before(run.subject.before).filter(|_| are_tests) else {
        return Selection::All;
    };
    let paths = changes.iter().filter_map(|raw| raw.path.to_str());
    let paths: BTreeSet<&str> = paths.chain(inline.iter().map(|(path, ..)| path.as_str())).collect();
    let before = &run.change.before;
    let is_here = |name: &&String| before.find(name).iter().any(|site| paths.contains(site.path.as_str()));
    Selection::of(known.passed.iter().filter(is_here).cloned().collect(), before)
}

/// `true` if none of the tests that passed before has a result: then other tests ran.
fn ran_nothing(names: &TestNames, before: &TestNames) -> bool {
    let known: BTreeSet<&String> = before.passed.iter().collect();
    let mut ran = names.passed.iter().chain(&names.failed);
    !ran.any(|name| known.contains(name))
}

fn judge(run: &Run<'_>, before: &TestNames, found: &Evidence, meant: &Meant) -> GateResult {
    let none = TestNames::default();
    let names = compare::names(found).filter(|names| !ran_nothing(names, before));
    let not_run = NotRun::of(run, before, names.unwrap_or(&none), meant);
    let mut result = match (names, found) {
        (Some(names), _) => by_name(run, (before, names), &not_run, meant),
        (None, Evidence::Absent(reason)) => said::absent(GATE, reason.clone()),
        (None, Evidence::Passed(_) | Evidence::Failed(_)) => {
            let what = "the base's tests do not run on the new code, so they say nothing of it".to_owned();
            said::absent(GATE, Absence::Unfinished { what })
        }
    };
    not_run.tell(run.subject.task.kind, &mut result);
    result
}

/// Judges the tests that have a result.
fn by_name(
    run: &Run<'_>,
    (before, names): (&TestNames, &TestNames),
    not_run: &NotRun<'_>,
    meant: &Meant,
) -> GateResult {
    let known: BTreeSet<&String> = before.passed.iter().collect();
    let failing = names.failed.iter();
    let failing = failing.filter(|name| known.contains(name) && !is_waived(run, name) && !is_gone(run.change, name));
    let (unchanged, changed): (Vec<&String>, Vec<&String>) = failing.partition(|name| meant.must_hold(run, name));
    let mut result = if unchanged.is_empty() {
        let as_they_were = |name: &&String| known.contains(name) && !not_run.tests.contains(&name.as_str());
        let ran = names.passed.iter().filter(as_they_were).count();
        let sentence = format!("{ran} tests of the base pass on the new code{}", not_run.sentence());
        said::passed(GATE, Weight::Required, sentence)
    } else {
        let what = "tests of the base fail on the new code, with the base's test set-up";
        said::failed(GATE, Weight::Required, format!("{what}: {}", said::list(&unchanged)))
    };
    result.items.extend(unchanged.iter().map(|name| {
        let what = "passed before, and as it was it fails on the new code with the base's test set-up";
        Issue::must_fix("test", &format!("`{name}` {what}"))
    }));
    result.items.extend(shown(run.change, &changed));
    result
}

/// Returns items for changed tests that fail in their old form: one per test, or one per file if the code around its
/// tests changed.
fn shown(change: &Change, changed: &[&String]) -> Vec<Issue> {
    let (by_around, by_itself): (Vec<&String>, Vec<&String>) =
        changed.iter().partition(|name| has_its_words(change, name));
    let items = by_itself.into_iter().map(|name| {
        let diff = change.diff_of_test(name);
        let what = format!("`{name}` was changed; as it was before, it fails on the new code: {diff}");
        said::should_fix("test", what, change.after.place(name))
    });
    let sites = by_around.into_iter().flat_map(|name| change.before.find(name));
    let paths: BTreeSet<&String> = sites.map(|site| &site.path).collect();
    let around = paths.into_iter().map(|path| {
        let diff = around_tests(change, path).unwrap_or_default();
        let what = format!("tests of `{path}` fail on the new code with what stood around them before: {diff}");
        said::should_fix("test", what, Some((path.clone(), 1)))
    });
    items.chain(around).collect()
}

fn is_waived(run: &Run<'_>, name: &str) -> bool {
    run.subject.waived.iter().any(|waived| waived.test == name)
}

fn is_gone(change: &Change, name: &str) -> bool {
    let before = change.before.find(name);
    let stays = before.iter().any(|was| change.after.has_body(&was.words));
    !before.is_empty() && change.after.find(name).is_empty() && !stays
}

/// Tests that must hold but could not run in their old form, because their file does not fit the new code.
struct NotRun<'a> {
    tests: BTreeSet<&'a str>,
    /// Their files in which more than names and imports changed around the tests, with the difference.
    changed: Vec<(String, String)>,
}

impl<'a> NotRun<'a> {
    fn of(run: &Run<'_>, before: &'a TestNames, names: &TestNames, meant: &Meant) -> Self {
        let change = run.change;
        let missing: BTreeSet<&str> = missing(before, names).into_iter().collect();
        let mut paths = BTreeSet::new();
        let mut is_not_run = |name: &&str| {
            let sites = change.before.find(name);
            let Some(path) = sites.first().map(|site| &site.path) else {
                return false;
            };
            let is_missing = missing.contains(name) && (meant.files.contains(path) || meant.inline.contains(path));
            let is_not_run = (is_missing || meant.left_out.contains(path))
                && holds_by_its_words(run, name)
                && !is_waived(run, name)
                && !is_gone(change, name);
            if is_not_run {
                paths.insert(path.clone());
            }
            is_not_run
        };
        let tests = before.passed.iter().map(String::as_str);
        let tests = tests.filter(&mut is_not_run).collect();
        let diff = |path: String| around_tests(change, &path).map(|diff| (path, diff));
        let changed = paths.into_iter().filter_map(diff).collect();
        Self { tests, changed }
    }

    fn sentence(&self) -> String {
        match self.tests.len() {
            0 => String::new(),
            number => format!("; {number} could not be run as they were, because their files do not fit it"),
        }
    }

    /// Adds items for them. A refactoring may change tests only by names and imports, so there they send the work back.
    fn tell(&self, kind: TaskType, result: &mut GateResult) {
        let sends_back = kind == TaskType::Refactoring;
        if let (Some((path, _)), true) = (self.changed.first(), sends_back) {
            let sentence = format!(
                "tests of `{path}` could not be run as they were, and more than names and imports changed around them"
            );
            result.weight = Weight::Required;
            result.evidence = Evidence::Failed(said::said(sentence));
        }
        result.items.extend(self.changed.iter().map(|(path, diff)| {
            let what = format!("the tests of `{path}` could not be run as they were; around them changed: {diff}");
            match sends_back {
                true => Issue {
                    file: Some(path.clone()),
                    ..Issue::must_fix("test", &what)
                },
                false => said::should_fix("test", what, Some((path.clone(), 1))),
            }
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_is_gone_is_explained_or_replaced_by_what_it_calls() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        let functions = Functions {
            gone: names(&["login", "logout"]),
            there: names(&["render"]),
        };
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (text, expected) in [
            ("assert login ( )", true),
            ("login ( ) ; logout ( )", true),
            ("assert login ( render ( ) )", false),
            ("assert 1 == 1", false),
        ] {
            assert_eq!(functions.explain(&words(text)), expected, "{text}");
        }
        let can_replace = |gone: &str, new: &str| functions.can_replace(&words(gone), &words(new));
        assert!(can_replace("assert render ( 1 )", "assert 2 == render ( 2 )"));
        assert!(!can_replace("assert render ( 1 )", "assert paint ( 1 )"));
        assert!(can_replace("assert login ( )", "assert paint ( 1 )"));
    }
}
