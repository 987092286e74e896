//! The base's own tests on the new code, whatever the change did to them.

use crate::gates::{
    change::Change,
    compare,
    run::{
        context::GateError,
        overlay::{Overlay, Side},
        result_cache::Expected,
    },
    said,
    test_line::Selection,
    turn::Run,
};
use domain::{
    decision::Issue,
    evidence::{Absence, Evidence, Gate, GateResult, Ground, TestNames, Weight},
    shell_command::ShellCommand,
};
use git::RawChange;
use integrity::{
    FileChange, Version, is_snapshot, language,
    language::{Role, role},
    loses_lines,
};
use std::collections::BTreeSet;

const GATE: Gate = Gate::BaseTests;

/// Runs the base's versions of test files, of what they need, and of the runner's settings, where the change touches any.
///
/// Where they do not run together with the base's settings, which may also say what the product is built from, they run
/// with the new ones: weakened settings are integrity's to find.
pub(crate) async fn base_tests(run: &Run<'_>, head: &Evidence) -> Result<Option<GateResult>, GateError> {
    let command = run
        .prepared
        .chosen
        .test
        .as_ref()
        .map(ShellCommand::mentioned)
        .unwrap_or_default();
    let touched = touched(run.change, &command);
    if touched.is_empty() {
        return Ok(None);
    }
    let Ground::Named(before) = run.subject.baseline.ground() else {
        return Ok(None);
    };
    if before.passed.is_empty() {
        return Ok(None);
    }
    let has_settings = touched.iter().any(|change| role_of(change) == Some(Role::Settings));
    let mut found = attempt(run, &touched).await?;
    let mut touched = touched;
    if has_settings && compare::names(&found).is_none_or(|names| ran_nothing(names, before)) {
        touched.retain(|change| role_of(change) != Some(Role::Settings));
        found = match touched.is_empty() {
            true => head.clone(),
            false => attempt(run, &touched).await?,
        };
    }
    let result = judge(run, before, &found);
    if matches!(result.evidence, Evidence::Passed(_)) {
        return Ok(Some(result));
    }
    let (adapted, kept): (Vec<&RawChange>, Vec<&RawChange>) =
        touched.iter().copied().partition(|raw| is_adapted(run.change, raw));
    if adapted.is_empty() {
        return Ok(Some(result));
    }
    with_adapted(run, (before, head), (&adapted, &kept), result).await
}

/// The base's tests again, where what they share was changed along with the code: new helpers fit new code. A helper that
/// checks less is integrity's to find; that it is needed is shown.
async fn with_adapted(
    run: &Run<'_>,
    (before, head): (&TestNames, &Evidence),
    (adapted, kept): (&[&RawChange], &[&RawChange]),
    first: GateResult,
) -> Result<Option<GateResult>, GateError> {
    let found = match kept.is_empty() {
        true => head.clone(),
        false => attempt(run, kept).await?,
    };
    let mut result = judge(run, before, &found);
    if !matches!(result.evidence, Evidence::Passed(_)) {
        return Ok(Some(first));
    }
    result.items.extend(adapted.iter().map(|raw| {
        let path = raw.path.to_string();
        let what = format!("tests of the base pass only with the changed `{path}`, which they share");
        said::should_fix("test", what, Some((path, 1)))
    }));
    Ok(Some(result))
}

/// Whether a file that tests share was made to fit, not only added to.
fn is_adapted(change: &Change, raw: &RawChange) -> bool {
    let path = raw.path.to_string();
    let is_shared = role(&path) == Role::Support && raw.old_mode != 0 && raw.new_mode != 0;
    is_shared
        && change
            .files
            .iter()
            .any(|file| file.path == path && loses_lines(file) && keeps_checks(file))
}

/// Whether every check in a shared file is still there word for word: who changes what is checked does not only make it fit.
fn keeps_checks(file: &FileChange) -> bool {
    let checks = |version: &Version| {
        let text = std::str::from_utf8(version.bytes()?).ok()?;
        let outline = language::read(&file.path, text)?;
        let checks = outline.functions.into_iter().flat_map(|function| function.checks);
        Some(checks.map(|check| check.words).collect::<Vec<_>>())
    };
    match (checks(&file.before), checks(&file.after)) {
        (Some(before), Some(after)) => before.iter().all(|check| after.contains(check)),
        _ => false,
    }
}

/// The changed files that are put back.
fn touched<'a>(change: &'a Change, command: &[String]) -> Vec<&'a RawChange> {
    let restored: BTreeSet<String> = change
        .raw
        .iter()
        .filter(|raw| raw.old_mode != 0 && is_of_tests(raw))
        .map(|raw| module(&raw.path.to_string()))
        .collect();
    let is_put_back = |raw: &&RawChange| {
        let path = raw.path.to_string();
        match (raw.old_mode, role(&path)) {
            // Stored along with the code that they show; integrity asks whether that changed.
            _ if is_snapshot(&path) => false,
            // What the command runs says which tests run, as settings do.
            (1.., Role::Source | Role::Other) => command.iter().any(|word| word.trim_start_matches("./") == path),
            (0, Role::Source | Role::Other) => false,
            (_, Role::Support) if !is_code(&path) => false,
            // New settings are taken away; a new test only where it stands in the way of an old one.
            (0, Role::Settings) => true,
            (0, Role::Test | Role::Support) => raw.old_mode == 0 && restored.contains(&module(&path)),
            (_, Role::Test | Role::Support | Role::Settings) => true,
        }
    };
    let all: Vec<&RawChange> = change.raw.iter().filter(is_put_back).collect();
    // Files that are only new hide nothing that was there before.
    match all
        .iter()
        .any(|raw| raw.old_mode != 0 || role_of(raw) == Some(Role::Settings))
    {
        true => all,
        false => Vec::new(),
    }
}

/// Whether a file that tests need is code: stored results and data change along with what they show.
fn is_code(path: &str) -> bool {
    language::of(path).is_some() || path.ends_with(".sh")
}

fn role_of(change: &RawChange) -> Option<Role> {
    change.path.to_str().map(role)
}

fn is_of_tests(change: &RawChange) -> bool {
    matches!(role_of(change), Some(Role::Test | Role::Support | Role::Settings))
}

/// What a file is to those that include it: `a/b.rs`, `a/b/mod.rs` and `a/b/__init__.py` are the same module.
fn module(path: &str) -> String {
    let stem = match path.rsplit_once('.') {
        Some((stem, extension)) if !extension.contains('/') => stem,
        _ => path,
    };
    let inner = ["/mod", "/index", "/__init__"];
    let module = inner.iter().find_map(|inner| stem.strip_suffix(inner));
    module.unwrap_or(stem).to_owned()
}

async fn attempt(run: &Run<'_>, changes: &[&RawChange]) -> Result<Evidence, GateError> {
    let subject = run.subject;
    let overlay = Overlay::of(subject.mirror, changes, Side::Before).await?;
    run.prepared
        .tests_with(subject.head, &overlay, Expected::Green, &Selection::All)
        .await
}

/// Whether none of the tests that passed before gave a result: then it was not they that ran.
fn ran_nothing(names: &TestNames, before: &TestNames) -> bool {
    let known: BTreeSet<&String> = before.passed.iter().collect();
    !names
        .passed
        .iter()
        .chain(&names.failed)
        .any(|name| known.contains(name))
}

fn judge(run: &Run<'_>, before: &TestNames, found: &Evidence) -> GateResult {
    let names = match (compare::names(found), found) {
        (Some(names), _) if !ran_nothing(names, before) => names,
        (_, Evidence::Absent(reason)) => return said::absent(GATE, reason.clone()),
        _ => {
            let what = "the base's tests do not run on the new code, so they say nothing of it".to_owned();
            return said::absent(GATE, Absence::Unfinished { what });
        }
    };
    let known: BTreeSet<&String> = before.passed.iter().collect();
    let waived = |name: &String| run.subject.waived.iter().any(|waived| waived.test == *name);
    let failing = names.failed.iter().filter(|name| known.contains(name) && !waived(name));
    let (unchanged, changed): (Vec<&String>, Vec<&String>) = failing.partition(|name| is_unchanged(run.change, name));
    let mut result = match unchanged.is_empty() {
        true => {
            let ran = names.passed.iter().filter(|name| known.contains(name)).count();
            said::passed(
                GATE,
                Weight::Demanded,
                format!("{ran} tests of the base pass on the new code"),
            )
        }
        false => {
            let sentence = format!(
                "tests that this change leaves as they were fail on the new code, with the base's test set-up: {}",
                said::list(&unchanged)
            );
            said::failed(GATE, Weight::Demanded, sentence)
        }
    };
    result.items.extend(unchanged.iter().map(|name| {
        let what =
            format!("`{name}` passed before, is not changed, and fails on the new code with the base's test set-up");
        Issue::must_fix("test", &what)
    }));
    result.items.extend(changed.iter().map(|name| {
        let what = format!("`{name}` was changed or deleted; as it was before, it fails on the new code");
        said::should_fix("test", what, place(run.change, name))
    }));
    result
}

/// Whether the change leaves a test as it was. A test that cannot be found by name in a changed file stands elsewhere.
fn is_unchanged(change: &Change, name: &str) -> bool {
    let before = change.before.find(name);
    if before.is_empty() {
        return !change.has_unreadable_tests();
    }
    let after = change.after.find(name);
    before.iter().all(|was| after.iter().any(|is| is.words == was.words))
}

fn place(change: &Change, name: &str) -> Option<(String, u32)> {
    let after = change.after.find(name);
    after.first().map(|site| (site.path.clone(), site.line))
}
