//! Finds tests that no longer run: those that vanished, and those that are now skipped.

use crate::gates::{change::Change, compare, run::context::GateError, said, test_index, turn::Run};
use domain::{
    decision::Issue,
    evidence::{Evidence, TestNames},
    integrity::{IntegrityFinding, Rule},
};
use integrity::{language, language::Role};
use std::collections::BTreeSet;

/// The most tests of each kind that are named.
const MOST: usize = 20;

/// The largest file that is searched for tests, in bytes.
const MOST_READ: usize = 1 << 20;

/// Adds findings from running the tests to those from reading the change; returns the informational items.
pub(crate) async fn vanished_tests(
    run: &Run<'_>,
    tests: &Evidence,
    findings: &mut Vec<IntegrityFinding>,
) -> Result<Vec<Issue>, GateError> {
    let Some(before) = compare::names_before(run.subject.before) else {
        return Ok(Vec::new());
    };
    let passed = before.passed.len();
    if matches!(tests, Evidence::Passed(now) if now.names.is_none() && passed > 0) {
        let what = format!("{passed} tests passed before, and the run names none of them any more");
        findings.push(said::finding(Rule::TestVanished, "", None, what));
    }
    let Some(now) = compare::telling_names(tests, run.subject.before) else {
        return Ok(Vec::new());
    };
    let mut shown = Vec::new();
    if compare::all_names(tests).is_none() {
        let what =
            "the runner's numbers do not fit the tests that it names: something else prints what looks like results";
        shown.push(said::should_fix("integrity", what, None));
    }
    let (missing, skipped) = (missing(before, now), skipped(before, now));
    if missing.is_empty() && skipped.is_empty() {
        return Ok(shown);
    }
    let change = run.change.as_ref();
    let vanished = missing.into_iter().filter(|name| is_vanished(change, name));
    let vanished: Vec<&str> = vanished.take(MOST).collect();
    for name in vanished {
        if !is_file_without_tests(run, change, name).await? {
            findings.push(vanished_finding(change, name));
        }
    }
    shown.extend(tell_skipped(change, before, &skipped, findings));
    Ok(shown)
}

/// Adds findings for tests that passed before and are now skipped, unless the difference already showed it; returns
/// items for new tests that did not run.
fn tell_skipped(
    change: &Change,
    before: &TestNames,
    skipped: &[&str],
    findings: &mut Vec<IntegrityFinding>,
) -> Vec<Issue> {
    let mut shown = Vec::new();
    for name in skipped.iter().copied().take(MOST) {
        // The skipped test may be written in a form that no longer parses as a test.
        let place = change.after.place(name).or_else(|| change.before.place(name));
        let is_found = |finding: &IntegrityFinding| {
            finding.rule == Rule::SkipAdded && place.as_ref().is_none_or(|(path, _)| finding.path == *path)
        };
        if findings.iter().any(is_found) {
            continue;
        }
        if before.passed.iter().any(|passed| passed == name) {
            let (path, line) = place.unzip();
            let what = format!("`{name}` passed before and is skipped now");
            findings.push(said::finding(Rule::SkipAdded, &path.unwrap_or_default(), line, what));
        } else {
            let what = format!("{}: `{name}` is new and did not run", Rule::SkipAdded.name());
            shown.push(said::should_fix("integrity", what, place));
        }
    }
    shown
}

/// Returns the tests that passed before and have no result now, except those that were only renamed.
pub(crate) fn missing<'a>(before: &'a TestNames, now: &TestNames) -> Vec<&'a str> {
    let named: BTreeSet<&str> = now.all().map(String::as_str).collect();
    let families: BTreeSet<&str> = named.iter().map(|name| test_index::bare(name)).collect();
    let known: BTreeSet<&str> = before.all().map(String::as_str).collect();
    let mut moved: Vec<&str> = now.all().map(String::as_str).collect();
    moved.retain(|name| !known.contains(name));
    let missing = before.passed.iter().map(String::as_str);
    missing
        .filter(|name| !named.contains(name) && !families.contains(test_index::bare(name)))
        .filter(|name| match moved.iter().position(|other| is_moved(name, other)) {
            Some(at) => {
                moved.swap_remove(at);
                false
            }
            None => true,
        })
        .collect()
}

/// `true` if the name may be the other's after a move: into another file or group, or into a group that takes over a
/// part of the name.
fn is_moved(name: &str, other: &str) -> bool {
    let flat = |name: &str| {
        let parts = test_index::bare(name).split(['>', '›']).map(str::trim);
        parts.collect::<Vec<_>>().join(" ")
    };
    last(name) == last(other) || flat(name) == flat(other)
}

/// Returns the last part of a name, which stays when a test moves.
fn last(name: &str) -> &str {
    let name = test_index::bare(name);
    let part = name.rsplit([':', '>', '›']).next().unwrap_or(name).trim();
    match part.contains(' ') {
        true => part,
        false => part.rsplit(['.', '/']).next().unwrap_or(part),
    }
}

/// Returns the tests that are skipped now and were not before.
fn skipped<'a>(before: &TestNames, now: &'a TestNames) -> Vec<&'a str> {
    let were: BTreeSet<&String> = before.skipped.iter().collect();
    let new = now.skipped.iter().filter(|name| !were.contains(name));
    new.map(String::as_str).collect()
}

/// `true` if the change does not explain why a test has no result: the test still exists, or its file was not touched.
fn is_vanished(change: &Change, name: &str) -> bool {
    match (change.before.find(name).is_empty(), change.after.find(name).is_empty()) {
        (true, true) => {
            // Some runners count a file without named tests as one test.
            let is_deleted_file = change.base.contains(name) && !change.head.contains(name);
            !change.has_unreadable_tests() && !is_deleted_file
        }
        (false, true) => false,
        (_, false) => true,
    }
}

/// `true` if a runner counted a whole file as a test, but the file has no test in it. If helpers no longer run, nothing
/// is lost.
async fn is_file_without_tests(run: &Run<'_>, change: &Change, name: &str) -> Result<bool, GateError> {
    if !change.head.contains(name) || language::of(name).is_none() {
        return Ok(false);
    }
    let file = run.subject.mirror.read_file(run.subject.head, name, MOST_READ).await?;
    let text = file
        .filter(|file| !file.truncated)
        .and_then(|file| String::from_utf8(file.bytes).ok());
    let is_for_others = |text: &String| text.contains("export ") || text.contains("exports");
    let outline = text.filter(is_for_others).and_then(|text| language::read(name, &text));
    Ok(outline.is_some_and(|outline| outline.tests.is_empty()))
}

fn vanished_finding(change: &Change, name: &str) -> IntegrityFinding {
    let after = change.after.find(name);
    let (path, line) = match after.first() {
        Some(site) => (site.path.as_str(), Some(site.line)),
        // Something else keeps an untouched test from running: the runner's settings, if they changed.
        None => match change.of_role(Role::Settings).next() {
            Some(file) => (file.path.as_str(), None),
            None => ("", None),
        },
    };
    let what = format!("`{name}` passed before and does not run any more");
    said::finding(Rule::TestVanished, path, line, what)
}

#[cfg(test)]
mod tests {
    use super::{missing, skipped};
    use domain::evidence::TestNames;

    fn names(passed: &[&str], skipped: &[&str]) -> TestNames {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        TestNames {
            passed: owned(passed),
            failed: vec![],
            skipped: owned(skipped),
        }
    }

    #[test]
    fn a_test_that_only_moved_is_not_missing() {
        let table: [(&[&str], &[&str], &[&str]); 6] = [
            (&["a::x", "a::y"], &["a::x"], &["a::y"]),
            (&["store::tests::x"], &["db::tests::x"], &[]),
            (&["tests/a.py::test_x"], &["tests/b.py::T::test_x"], &[]),
            (&["a::x", "b::x"], &["c::x"], &["b::x"]),
            (&["t.py::test_p[1]", "t.py::test_p[2]"], &["t.py::test_p[3]"], &[]),
            (&["sum > adds two"], &["numbers > adds two"], &[]),
        ];
        for (before, now, expected) in table {
            assert_eq!(
                missing(&names(before, &[]), &names(now, &[])),
                expected,
                "{before:?} then {now:?}"
            );
        }
    }

    #[test]
    fn skips_that_were_there_are_nobodys() {
        let before = names(&["a"], &["b"]);
        assert_eq!(skipped(&before, &names(&[], &["a", "b", "c"])), ["a", "c"]);
    }
}
