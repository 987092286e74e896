//! New tests that check nothing, do nothing or never run.

use crate::{
    checks::Weighing,
    finding,
    language::{
        Role, file_name,
        outline::{Check as Checked, Function, Strength, Test, Work},
    },
    pairs::Pairs,
    reading::{Placed, ReadFile},
    tests_changed::titled,
};
use domain::integrity::{IntegrityFinding, Rule};

/// Words by which a test looks at files instead of running what is in them.
const LOOKING: [&str; 10] = [
    "exists",
    "is_file",
    "isfile",
    "existsSync",
    "read_to_string",
    "read_text",
    "readFileSync",
    "include_str",
    "open",
    "stat",
];
/// Words by which a test runs a file.
const RUNNING: [&str; 10] = [
    "Command",
    "subprocess",
    "spawn",
    "spawnSync",
    "exec",
    "execFile",
    "execFileSync",
    "execSync",
    "runpy",
    "import_module",
];

/// New tests that only look at the change's source files: whether they are there, or what stands in them.
pub(super) fn only_looking(pairs: &Pairs<'_>, files: &[ReadFile<'_>]) -> Vec<IntegrityFinding> {
    let sources: Vec<&str> = files
        .iter()
        .filter(|file| file.role == Role::Source || is_prose(file.path))
        .map(|file| file_name(file.path))
        .collect();
    let looks = |placed: &Placed<'_>| {
        let words = &placed.test.words;
        let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
        let names_source = words.iter().any(|word| {
            let text = word.trim_matches(['"', '\'', '`']);
            sources.contains(&file_name(text))
        });
        names_source && has(&LOOKING) && !has(&RUNNING)
    };
    if pairs.new.is_empty() || !pairs.new.iter().all(looks) {
        return Vec::new();
    }
    let found = |placed: &Placed<'_>| {
        let what = format!(
            "the new test `{}` looks at the source and does not run it",
            titled(*placed)
        );
        finding(Rule::AssertionTrivial, placed.path, Some(placed.test.line), what)
    };
    pairs.new.iter().map(found).collect()
}

fn is_prose(path: &str) -> bool {
    [".md", ".rst", ".adoc"].iter().any(|end| path.ends_with(end))
}

/// Functions beside tests that are called like one of the product's that this change makes, and do not call it: the tests
/// try them instead. What has to do with something else that the change makes is a helper that only has the name.
pub(super) fn stand_ins(pairs: &Pairs<'_>, files: &[ReadFile<'_>]) -> Vec<IntegrityFinding> {
    let made: Vec<&str> = files
        .iter()
        .filter(|file| file.role == Role::Source)
        .flat_map(made_by)
        .filter(|name| name.len() > 3)
        .collect();
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.role == Role::Test) {
        let is_old = |function: &Function| file.before.functions.iter().any(|old| old.name == function.name);
        let here = || pairs.new.iter().filter(|placed| placed.path == file.path);
        let stands_in = |function: &&Function| {
            let uses_other = |words: &[String]| {
                let mut others = words.iter().filter(|word| **word != function.name);
                others.any(|word| made.contains(&word.as_str()))
            };
            let calls = |placed: &&Placed<'_>| placed.test.words.contains(&function.name);
            made.contains(&function.name.as_str())
                && !is_old(function)
                && !function.words.contains(&function.name)
                && !uses_other(&function.words)
                && here().any(|placed| calls(&placed) && !uses_other(&placed.test.words))
        };
        findings.extend(file.after.functions.iter().filter(stands_in).map(|function| {
            let what = format!("`{}` of the tests stands in for the product's own", function.name);
            finding(Rule::ShadowModule, file.path, Some(function.line), what)
        }));
    }
    findings
}

/// The names of what is new in a source file, or works another way than before.
fn made_by<'a>(file: &'a ReadFile<'_>) -> impl Iterator<Item = &'a str> {
    let is_new = |name: &&String| !file.before.defines.contains(name);
    let is_changed = |now: &&Function| {
        let mut before = file.before.functions.iter();
        !before.any(|old| old.name == now.name && old.words == now.words)
    };
    let new = file.after.defines.iter().filter(is_new).map(String::as_str);
    let changed = file
        .after
        .functions
        .iter()
        .filter(is_changed)
        .map(|now| now.name.as_str());
    new.chain(changed)
}

/// A failing assertion that an expected panic turns into success: what it says cannot be true.
fn expects_failure(test: &Test) -> bool {
    let any_panic = test.skips.iter().any(|mark| {
        let expected = mark.what.split_once("expected").map(|(_, rest)| rest.to_lowercase());
        let of_assertion = |rest: String| rest.contains("assertion") || rest.contains("left ==");
        mark.key == "should_panic" && expected.is_none_or(of_assertion)
    });
    let asserts = |check: &Checked| {
        let name = check.words.first().map_or("", String::as_str);
        matches!(name, "assert" | "assert_eq" | "assert_ne")
    };
    any_panic && test.checks.iter().any(asserts)
}

/// A new test that cannot fail is no test.
pub(super) fn fresh_test(other: Placed<'_>, weighing: &Weighing<'_>) -> Vec<IntegrityFinding> {
    let title = titled(other);
    let skips = other
        .test
        .skips
        .iter()
        .filter(|mark| matches!(mark.rule, Rule::SkipAdded | Rule::SkipConditional));
    let skips: Vec<_> = skips
        .map(|mark| {
            finding(
                mark.rule,
                other.path,
                Some(mark.line),
                format!("{} (new test `{title}`)", mark.what),
            )
        })
        .collect();
    if skips.iter().any(|finding| finding.rule == Rule::SkipAdded) {
        return skips;
    }
    let mut findings = skips;
    findings.extend(checks_nothing(other, weighing));
    findings
}

/// A new test that runs, and could not fail.
fn checks_nothing(other: Placed<'_>, weighing: &Weighing<'_>) -> Vec<IntegrityFinding> {
    let title = titled(other);
    let at = |rule, line, what: String| vec![finding(rule, other.path, Some(line), what)];
    if other.test.work == Work::None {
        return at(
            Rule::TestEmptied,
            other.test.line,
            format!("the new test `{title}` does nothing"),
        );
    }
    if expects_failure(other.test) {
        let what = format!("the new test `{title}` passes when its assertion fails");
        return at(Rule::AssertionTrivial, other.test.line, what);
    }
    let checks = weighing.all_checks(&other.test.words, &other.test.checks, weighing.new_helpers);
    if let Some(check) = checks.iter().find(|check| is_let_off(check)) {
        let what = format!("an assertion of the new test `{title}` holds in any case: `true` is one of its sides");
        return at(Rule::AssertionTrivial, check.line, what);
    }
    match checks.iter().find(|check| check.strength < Strength::Same) {
        Some(check) if checks.iter().all(|check| check.strength < Strength::Same) => {
            let why = match check.strength {
                Strength::Trivial => "checks nothing that could fail",
                _ => "has its only assertions where their failure is not reached or not heard",
            };
            at(
                Rule::AssertionTrivial,
                check.line,
                format!("the new test `{title}` {why}"),
            )
        }
        _ => Vec::new(),
    }
}

/// `… or True`: written as if something were checked. Nobody needs that in a test, whatever else it checks.
fn is_let_off(check: &Checked) -> bool {
    let truths = [["or", "True"], ["||", "true"]];
    let mut pairs = check.words.windows(2);
    check.strength == Strength::Trivial && pairs.any(|pair| truths.iter().any(|truth| pair == truth))
}
