//! Finds tests that hold on every side and assert less than before. Runs cannot tell them from tests that were only
//! written anew, so they are asked.

use crate::gates::{
    change::{Change, text},
    table::rows::Row,
    test_index::TestSite,
};
use domain::question::{MOST_LINES, Question, Topic};
use domain::test_outcome::TestOutcome;
use integrity::{
    Version, language,
    language::outline::{Check, Of, Outline, Strength},
};
use std::collections::{BTreeMap, BTreeSet};

/// The outlines of the changed files, before and after.
struct Outlines {
    before: BTreeMap<String, Outline>,
    after: BTreeMap<String, Outline>,
    /// The words of every assertion on the head.
    asserted: BTreeSet<Vec<String>>,
}

/// Returns a question for each kept test, and each helper, whose assertions are gone.
pub(super) fn questions(change: &Change, rows: &[Row]) -> Vec<Question> {
    let kept = rows
        .iter()
        .filter(|row| row.outcome == TestOutcome::Kept && row.is_changed());
    let kept: Vec<&Row> = kept.collect();
    let outlines = Outlines::read(change);
    let mut questions: BTreeMap<(String, u32), Question> = BTreeMap::new();
    for row in kept {
        let Some(place) = row.site.clone() else { continue };
        let lost = outlines.lost_by(change, row);
        if !lost.is_empty() {
            questions.insert(place.clone(), question(row.name(), place, &lost));
        }
    }
    for (name, place, lost) in outlines.helpers() {
        questions
            .entry(place.clone())
            .or_insert_with(|| question(&name, place, &lost));
    }
    questions.into_values().collect()
}

fn question(name: &str, place: (String, u32), lost: &[String]) -> Question {
    let lines: Vec<String> = lost.iter().take(MOST_LINES).map(|check| format!("- {check}")).collect();
    Question {
        topic: Topic::Outcome(TestOutcome::Loosened),
        about: vec![name.to_owned()],
        place: Some(place),
        material: lines.join("\n"),
    }
}

impl Outlines {
    fn read(change: &Change) -> Self {
        let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
        for file in &change.files {
            let outline = |version: &Version| language::read(&file.path, text(version)?);
            before.extend(outline(&file.before).map(|outline| (file.path.clone(), outline)));
            after.extend(outline(&file.after).map(|outline| (file.path.clone(), outline)));
        }
        let asserted = after
            .values()
            .flat_map(checks)
            .map(|check| check.words.clone())
            .collect();
        Self {
            before,
            after,
            asserted,
        }
    }

    /// Returns the assertions that a test lost.
    fn lost_by(&self, change: &Change, row: &Row) -> Vec<String> {
        let sites = |name: Option<&String>, after: bool| {
            let index = if after { &change.after } else { &change.before };
            let sites = name.map(|name| index.find(name)).unwrap_or_default();
            let outlines = if after { &self.after } else { &self.before };
            let found = sites.into_iter().flat_map(|site| checks_of(outlines, site));
            found.collect::<Vec<&Check>>()
        };
        let (before, after) = (
            sites(row.pair.base.as_ref(), false),
            sites(row.pair.head.as_ref(), true),
        );
        self.lost(&before, &after)
    }

    /// Returns the helpers of tests that lost assertions, with their places.
    fn helpers(&self) -> Vec<(String, (String, u32), Vec<String>)> {
        let mut found = Vec::new();
        for (path, was) in &self.before {
            let Some(is) = self.after.get(path) else { continue };
            let of_tests = was.functions.iter().filter(|function| function.of == Of::Tests);
            for old in of_tests.filter(|function| !function.name.is_empty()) {
                let Some(new) = is.functions.iter().find(|new| new.name == old.name) else {
                    continue;
                };
                let lost = self.lost(
                    &old.checks.iter().collect::<Vec<_>>(),
                    &new.checks.iter().collect::<Vec<_>>(),
                );
                if !lost.is_empty() && old.words != new.words {
                    found.push((old.name.clone(), (path.clone(), new.line), lost));
                }
            }
        }
        found
    }

    /// Returns the assertions of a value that are gone here and are asserted nowhere else.
    fn lost(&self, before: &[&Check], after: &[&Check]) -> Vec<String> {
        let is_lost = |check: &&&Check| {
            let mut same = after.iter().filter(|new| new.words == check.words);
            let is_here = same.any(|new| new.strength >= check.strength);
            let is_anywhere = self.asserted.contains(&check.words) && !after.iter().any(|new| new.words == check.words);
            check.strength == Strength::Strong && !is_here && !is_anywhere
        };
        before
            .iter()
            .filter(is_lost)
            .map(|check| check.words.join(" "))
            .collect()
    }
}

fn checks(outline: &Outline) -> impl Iterator<Item = &Check> {
    let of_tests = outline.tests.iter().flat_map(|test| &test.checks);
    of_tests.chain(outline.functions.iter().flat_map(|function| &function.checks))
}

fn checks_of<'o>(outlines: &'o BTreeMap<String, Outline>, site: &TestSite) -> Vec<&'o Check> {
    let tests = outlines.get(&site.path).into_iter().flat_map(|outline| &outline.tests);
    let here = tests.filter(|test| test.line == site.line);
    here.flat_map(|test| &test.checks).collect()
}

#[cfg(test)]
mod tests {
    use super::Outlines;
    use integrity::language;
    use std::collections::BTreeMap;

    fn lost(before: &str, after: &str) -> usize {
        let of = |text: &str| language::read("tests/test_a.py", text).unwrap();
        let outlines = |text: &str| BTreeMap::from([("tests/test_a.py".to_owned(), of(text))]);
        let (before, after) = (outlines(before), outlines(after));
        let asserted = after.values().flat_map(super::checks).map(|check| check.words.clone());
        let all = Outlines {
            asserted: asserted.collect(),
            before,
            after,
        };
        let first = |outlines: &'_ BTreeMap<String, language::outline::Outline>| {
            outlines
                .values()
                .flat_map(|outline| outline.tests.first().unwrap().checks.clone())
                .collect::<Vec<_>>()
        };
        let (was, is) = (first(&all.before), first(&all.after));
        let found = all.lost(&was.iter().collect::<Vec<_>>(), &is.iter().collect::<Vec<_>>());
        found.len() + all.helpers().len()
    }

    #[test]
    fn an_assertion_is_lost_where_nothing_asserts_the_same() {
        let test = |lines: &str| format!("def test_a():\n{lines}\n\ndef test_b():\n    pass\n");
        let base = test("    assert f(1) == 2\n    assert f(2) == 3");
        let table = [
            (base.clone(), 0),
            (test("    assert f(1) == 2"), 1),
            (test("    assert f(1) == 2\n    assert f(2) in (3, 4)"), 1),
            (
                test("    assert f(2) == 3\n    assert f(1) == 2\n    assert f(3) == 4"),
                0,
            ),
            (
                "def test_a():\n    assert f(1) == 2\n\ndef test_b():\n    assert f(2) == 3\n".to_owned(),
                0,
            ),
        ];
        for (after, expected) in table {
            assert_eq!(lost(&base, &after), expected, "{after}");
        }
        let helper = |check: &str| format!("def check(a):\n    {check}\n\ndef test_a():\n    check(1)\n");
        assert_eq!(lost(&helper("assert a == 1"), &helper("pass")), 1);
    }
}
