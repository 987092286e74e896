//! Tests deleted, emptied, renamed away, skipped, or made to check less.

use crate::{
    checks::Weighing,
    finding,
    fresh::{fresh_test, only_looking, stand_ins},
    gone::Gone,
    language::{
        Role,
        outline::{Mark, Strength, Table, Work},
    },
    pairs::{Pairs, pair},
    places::{Grown, Kind},
    reading::{Helper, Placed, ReadFile, helpers, tests},
    rows,
    words::likeness,
};
use domain::integrity::{IntegrityFinding, Rule};

/// Everything about the tests of the change.
pub(super) fn find(files: &[ReadFile<'_>], gone: &Gone) -> Vec<IntegrityFinding> {
    let (before, _) = tests(files, |file| &file.before);
    let (after, uncollected) = tests(files, |file| &file.after);
    let pairs = pair(before, after);
    let old_helpers = helpers(files, |file| &file.before);
    let new_helpers = helpers(files, |file| &file.after);
    let (grown, unchanged): (Vec<_>, Vec<_>) = grown(&pairs, &old_helpers, &new_helpers, files)
        .into_iter()
        .partition(|place| place.before != place.after);
    let weighing = Weighing {
        gone,
        grown: &grown,
        unchanged: &unchanged,
        old_helpers: &old_helpers,
        new_helpers: &new_helpers,
    };
    let mut findings = Vec::new();
    let settings_changed = files.iter().any(|file| file.role == Role::Settings);
    for (one, other) in &pairs.both {
        if is_marked(one.path) && !is_marked(other.path) && !settings_changed {
            let what = format!(
                "the test `{}` stands in a file that is no longer named as a test",
                titled(*other)
            );
            findings.push(finding(Rule::TestRenamedAway, other.path, Some(other.test.line), what));
        }
        findings.extend(changed(*one, *other, &weighing));
    }
    findings.extend(rows::in_tables(files, &grown));
    for one in &pairs.gone {
        let found = vanished(*one, &uncollected, &weighing);
        findings.extend(found.map(|found| replaced_or_gone(found, *one, &pairs)));
    }
    for other in &pairs.new {
        findings.extend(fresh_test(*other, &weighing));
    }
    findings.extend(weighing.hollow_helpers());
    findings.extend(only_looking(&pairs, files));
    findings.extend(stand_ins(&pairs, files));
    count_deleted(findings)
}

/// Whether a file's name says to every runner of its language that it holds tests.
fn is_marked(path: &str) -> bool {
    [".test.", ".spec."].iter().any(|mark| path.contains(mark))
}

/// Where tests gained something: new tests, changed ones, helpers and tables likewise.
fn grown<'a>(pairs: &Pairs<'a>, old: &[Helper<'a>], new: &[Helper<'a>], files: &'a [ReadFile<'a>]) -> Vec<Grown<'a>> {
    let working = |placed: &&Placed<'a>| !placed.test.skips.iter().any(|mark| mark.rule == Rule::SkipAdded);
    let new_tests = pairs.new.iter().filter(working).map(|placed| Grown {
        kind: Kind::Test,
        before: &[],
        after: &placed.test.words,
        old_checks: &[],
        checks: &placed.test.checks,
    });
    let changed = pairs.both.iter().map(|(one, other)| Grown {
        kind: Kind::Test,
        before: &one.test.words,
        after: &other.test.words,
        old_checks: &one.test.checks,
        checks: &other.test.checks,
    });
    let helpers = new
        .iter()
        .filter(|helper| !helper.function.checks.is_empty())
        .map(|helper| {
            let named = |other: &&Helper<'a>| other.path == helper.path && other.function.name == helper.function.name;
            let before = old.iter().find(named).map(|other| other.function);
            Grown {
                kind: Kind::Helper,
                before: before.map_or(&[], |before| &before.words),
                after: &helper.function.words,
                old_checks: before.map_or(&[], |before| &before.checks),
                checks: &helper.function.checks,
            }
        });
    let tables = files.iter().filter(|file| file.role != Role::Source).flat_map(|file| {
        let known = |table: &Table| file.before.tables.iter().any(|old| old.words == table.words);
        file.after
            .tables
            .iter()
            .filter(move |table| !known(table))
            .map(|table| Grown {
                kind: Kind::Table,
                before: &[],
                after: &table.words,
                old_checks: &[],
                checks: &[],
            })
    });
    let all = new_tests.chain(changed).chain(helpers).chain(tables);
    all.collect()
}

/// A test with the suites around it, for a sentence.
pub(super) fn titled(placed: Placed<'_>) -> String {
    placed
        .test
        .scope
        .iter()
        .chain([&placed.test.name])
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(" › ")
        .replace('`', "'")
}

/// Marks of `after` that `before` has not, as often as they are more.
fn new_marks<'m>(before: &[Mark], after: &'m [Mark]) -> Vec<&'m Mark> {
    let mut known: Vec<(Rule, &str)> = before.iter().map(|mark| (mark.rule, mark.key.as_str())).collect();
    let mut new = Vec::new();
    for mark in after {
        match known.iter().position(|known| *known == (mark.rule, mark.key.as_str())) {
            Some(at) => drop(known.swap_remove(at)),
            None => new.push(mark),
        }
    }
    new
}

fn changed(one: Placed<'_>, other: Placed<'_>, weighing: &Weighing<'_>) -> Vec<IntegrityFinding> {
    let of_mark = |mark: &Mark| {
        finding(
            mark.rule,
            other.path,
            Some(mark.line),
            format!("{} (test `{}`)", mark.what, titled(other)),
        )
    };
    if one.test.work == Work::Some && other.test.work == Work::None {
        let what = format!("the test `{}` does nothing any more", titled(other));
        return vec![finding(Rule::TestEmptied, other.path, Some(other.test.line), what)];
    }
    let mut findings: Vec<IntegrityFinding> = new_marks(&one.test.skips, &other.test.skips)
        .into_iter()
        .map(of_mark)
        .collect();
    let strengths = |placed: Placed<'_>| {
        placed
            .test
            .checks
            .iter()
            .map(|check| check.strength)
            .collect::<Vec<_>>()
    };
    if one.test.words != other.test.words || strengths(one) != strengths(other) {
        findings.extend(weighing.compare(one, other));
        findings.extend(rows::in_test(one, other, weighing.grown));
    } else {
        findings.extend(weighing.silenced_helpers(one, other));
    }
    findings
}

/// A test of the base that is not found again.
fn vanished(one: Placed<'_>, uncollected: &[Placed<'_>], weighing: &Weighing<'_>) -> Option<IntegrityFinding> {
    if one.test.work == Work::None || weighing.gone.explains(&one.test.words, &one.test.name) {
        return None;
    }
    let alike = |words: &[String], name: &str| {
        let plain = |name: &str| name.to_lowercase().replace("test", "").replace(['_', '-', ' '], "");
        let named = plain(name) == plain(&one.test.name) && !plain(name).is_empty();
        likeness(words, &one.test.words) > if named { 0.3 } else { 0.85 }
    };
    let moved = uncollected
        .iter()
        .find(|other| alike(&other.test.words, &other.test.name));
    if let Some(moved) = moved {
        let what = format!("the test `{}` stands where the runner does not look", titled(one));
        return Some(finding(Rule::TestRenamedAway, moved.path, Some(moved.test.line), what));
    }
    if let Some(helper) = weighing
        .new_helpers
        .iter()
        .find(|helper| alike(&helper.function.words, &helper.function.name))
    {
        let what = format!(
            "the test `{}` is still here, but in a form that the runner does not find",
            titled(one)
        );
        return Some(finding(
            Rule::TestRenamedAway,
            helper.path,
            Some(helper.function.line),
            what,
        ));
    }
    let strong: Vec<_> = one
        .test
        .checks
        .iter()
        .filter(|check| check.strength >= Strength::Weak)
        .collect();
    let kept = |words: &[String]| weighing.grown.iter().any(|place| place.took(words, &one.test.words));
    let merged = !strong.is_empty()
        && strong
            .iter()
            .filter(|check| check.strength == Strength::Strong || strong.len() == 1)
            .all(|check| kept(&check.words));
    let what = format!("the test `{}` is gone", titled(one));
    (!merged).then(|| finding(Rule::TestDeleted, one.path, None, what))
}

/// A test that is gone counts as replaced where its file has as many new ones as it lost, and where only a condition let
/// it run.
fn replaced_or_gone(found: IntegrityFinding, one: Placed<'_>, pairs: &Pairs<'_>) -> IntegrityFinding {
    let here = |list: &[Placed<'_>]| list.iter().filter(|placed| placed.path == found.path).count();
    let is_conditional = one.test.skips.iter().any(|mark| mark.rule == Rule::SkipConditional);
    let is_enough = is_conditional || here(&pairs.new) >= here(&pairs.gone);
    let is_replaced = found.rule == Rule::TestDeleted && is_enough;
    let rule = if is_replaced { Rule::TestReplaced } else { found.rule };
    IntegrityFinding { rule, ..found }
}

/// One finding for each file that lost tests, with the number of the others.
fn count_deleted(findings: Vec<IntegrityFinding>) -> Vec<IntegrityFinding> {
    let mut counted: Vec<(IntegrityFinding, usize)> = Vec::new();
    for finding in findings {
        let same = counted.iter_mut().find(|(known, _)| {
            let is_gone = matches!(finding.rule, Rule::TestDeleted | Rule::TestReplaced);
            is_gone && known.rule == finding.rule && known.path == finding.path
        });
        match same {
            Some((_, more)) => *more = more.saturating_add(1),
            None => counted.push((finding, 0)),
        }
    }
    let said = |(mut finding, more): (IntegrityFinding, usize)| {
        if more > 0 {
            finding.what = format!("{}, and {more} more of this file", finding.what);
        }
        finding
    };
    counted.into_iter().map(said).collect()
}
