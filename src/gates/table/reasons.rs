//! Finds the reasons for which a change of a test is expected: the plan's words, the task's words, and what the product
//! lost or renamed.

use crate::gates::{
    change::{Change, lossy},
    code::code,
    run::context::GateError,
    table::{mixed::TestSide, rows::TestRow},
    turn::Run,
};
use domain::{
    plan::{Intent, PlannedTask},
    test_outcome::{Reason, TestOutcome, Witness},
};
use integrity::{FileChange, FileContent, language, language::Role};
use runners::test_index::TestSite;
use std::collections::{BTreeMap, BTreeSet};
use text::mention::mentions;

/// Names shorter than this are also common words.
const SHORTEST_NAME: usize = 4;

/// Adds to each row the reasons that are known for it.
pub(super) async fn find(run: &Run<'_>, side: &TestSide<'_>, rows: &mut [TestRow]) -> Result<(), GateError> {
    let task = run.subject.task;
    for row in rows.iter_mut() {
        row.reasons.extend(of_plan(task, row));
        if !side.alters_product {
            row.reasons.insert(Reason::TestsAlone);
        }
    }
    let needs_product = |row: &TestRow| {
        use TestOutcome::{Adapted, RemovedWithBehaviour};
        matches!(row.outcome(), Adapted | RemovedWithBehaviour)
    };
    if !rows.iter().any(needs_product) {
        return Ok(());
    }
    let functions = NamedFunctions::read(run, side).await?;
    let replacements = replacements(run.change, rows);
    for row in rows.iter_mut().filter(|row| needs_product(row)) {
        let reasons = functions.reasons(run.change, row, &replacements);
        row.reasons.extend(reasons);
    }
    Ok(())
}

fn of_plan(task: &PlannedTask, row: &TestRow) -> Vec<Reason> {
    let Some(name) = row.pair.base.as_deref() else {
        return Vec::new();
    };
    let path = row.site.as_ref().map(|(path, _)| path.as_str()).unwrap_or_default();
    let names = |intents: &[Intent]| {
        let mut intents = intents.iter();
        intents.any(|intent| intent.names_test(path, name) || intent.names_path(path))
    };
    let mut reasons = Vec::new();
    if names(&task.changes) {
        reasons.push(Reason::PlannedChange);
    }
    if names(&task.removes) {
        reasons.push(Reason::PlannedRemoval);
    }
    let own = name.rsplit([':', '/', '>', '›', '.']).next().unwrap_or(name).trim();
    let criteria = task.acceptance_criteria.iter().map(|criterion| &criterion.text);
    let mut texts = [&task.name, &task.description].into_iter().chain(criteria);
    if own.len() >= SHORTEST_NAME && texts.any(|text| mentions(text, own)) {
        reasons.push(Reason::NamedByTask);
    }
    reasons
}

fn replacements(change: &Change, rows: &[TestRow]) -> BTreeMap<String, Vec<Vec<String>>> {
    let mut found: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    let shows = |row: &&TestRow| matches!(row.outcome().witness(), Witness::Yes | Witness::OnceNoticed);
    for name in rows.iter().filter(shows).filter_map(|row| row.pair.head.as_ref()) {
        for site in change.after.find(name) {
            found.entry(site.path.clone()).or_default().push(site.words.clone());
        }
    }
    found
}

struct NamedFunctions {
    /// The names that the product no longer defines.
    gone: BTreeSet<String>,
    /// The words that the changed files and their names lost, and those that they gained.
    lost: BTreeSet<String>,
    gained: BTreeSet<String>,
    /// The other names that the product defines.
    there: BTreeSet<String>,
}

impl NamedFunctions {
    async fn read(run: &Run<'_>, side: &TestSide<'_>) -> Result<Self, GateError> {
        let sources = || run.change.of_role(Role::Source);
        let names = |path: &str, version: &FileContent| -> BTreeSet<String> {
            defined(path, &lossy(version)).into_iter().collect()
        };
        let moved = sources().map(|file| [&file.before, &file.after].map(|version| names(&file.path, version)));
        let gone = removed_names(&moved.collect::<Vec<_>>());
        let all = code(run).await?;
        let there = all.iter().flat_map(|code| defined(&code.path, &code.text));
        let of = |version: fn(&FileChange) -> &FileContent| -> BTreeSet<String> {
            let words = sources().flat_map(|file| side.product_words(file, version(file)));
            words.collect()
        };
        let (before, after) = (of(|file| &file.before), of(|file| &file.after));
        let [lost, gained] = run.change.names_of_paths();
        let with_paths = |words: &BTreeSet<String>, names: BTreeSet<&str>| -> BTreeSet<String> {
            words.iter().cloned().chain(names.into_iter().map(str::to_owned)).collect()
        };
        Ok(Self {
            there: there.filter(|name| !gone.contains(name)).collect(),
            gone,
            lost: with_paths(&before, lost).difference(&after).cloned().collect(),
            gained: with_paths(&after, gained).difference(&before).cloned().collect(),
        })
    }

    fn reasons(
        &self,
        change: &Change,
        row: &TestRow,
        replacements: &BTreeMap<String, Vec<Vec<String>>>,
    ) -> Vec<Reason> {
        let Some(base) = &row.pair.base else { return Vec::new() };
        let before = change.before.find(base);
        let mut reasons = Vec::new();
        if !before.is_empty() && before.iter().all(|site| self.explains(&site.words)) {
            reasons.push(Reason::CalleesGone);
        }
        let is_replaced = |site: &TestSite| {
            let mut others = replacements.get(&site.path).into_iter().flatten();
            others.any(|words| self.share_a_callee(&site.words, words))
        };
        if before.iter().any(|site| is_replaced(site)) {
            reasons.push(Reason::Replaced);
        }
        if let Some(head) = &row.pair.head {
            let after = change.after.find(head);
            let are_equal = before.len() == after.len()
                && before.iter().zip(&after).all(|(was, is)| self.only_renames(&was.words, &is.words));
            if are_equal {
                reasons.push(Reason::OnlyRenamed);
            }
        }
        reasons
    }

    /// `true` if a test calls removed functions and no remaining one.
    fn explains(&self, words: &[String]) -> bool {
        let calls = |names: &BTreeSet<String>| words.iter().any(|word| names.contains(word));
        calls(&self.gone) && !calls(&self.there)
    }

    /// `true` if both tests call the same remaining function.
    fn share_a_callee(&self, gone: &[String], new: &[String]) -> bool {
        let mut called = gone.iter().filter(|word| self.there.contains(*word));
        called.any(|word| new.contains(word))
    }

    /// `true` if the tests differ only by renames: each lost name is always replaced by the same gained name.
    fn only_renames(&self, was: &[String], is: &[String]) -> bool {
        let mut renamed: BTreeMap<&str, &str> = BTreeMap::new();
        was.len() == is.len()
            && was.iter().zip(is).all(|(old, new)| {
                old == new
                    || self.lost.contains(old)
                        && self.gained.contains(new)
                        && *renamed.entry(old).or_insert(new) == new.as_str()
            })
    }
}

/// Returns the names that a changed file no longer defines and no changed file newly defines; `files` holds the names
/// of each file before and after. A file that had the name before does not count as the new place of a removed
/// function.
fn removed_names(files: &[[BTreeSet<String>; 2]]) -> BTreeSet<String> {
    let lost = files.iter().flat_map(|[before, after]| before.difference(after));
    let is_new = |name: &&String| files.iter().any(|[before, after]| after.contains(*name) && !before.contains(*name));
    lost.filter(|name| !is_new(name)).cloned().collect()
}

fn defined(path: &str, text: &str) -> Vec<String> {
    let Some(outline) = language::read(path, text) else {
        return Vec::new();
    };
    let functions = outline.functions.into_iter().map(|function| function.name);
    functions.chain(outline.defines).filter(|name| name.len() > 2).collect()
}

#[cfg(test)]
mod tests {
    use super::{NamedFunctions, removed_names};
    use std::collections::BTreeSet;

    fn functions() -> NamedFunctions {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        NamedFunctions {
            gone: names(&["login", "logout"]),
            lost: names(&["login", "logout"]),
            gained: names(&["sign_in", "sign_out"]),
            there: names(&["render", "sign_in", "sign_out"]),
        }
    }

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_test_whose_functions_are_all_gone_may_go() {
        for (text, expected) in [
            ("assert login ( )", true),
            ("login ( ) ; logout ( )", true),
            ("assert login ( render ( ) )", false),
            ("assert 1 == 1", false),
        ] {
            assert_eq!(functions().explains(&words(text)), expected, "{text}");
        }
        let functions = functions();
        let shares = |gone: &str, new: &str| functions.share_a_callee(&words(gone), &words(new));
        assert!(shares("assert render ( 1 )", "assert 2 == render ( 2 )"));
        assert!(!shares("assert render ( 1 )", "assert paint ( 1 )"));
        assert!(!shares("assert login ( )", "assert paint ( 1 )"));
    }

    #[test]
    fn a_function_is_gone_unless_another_file_came_to_define_it() {
        let file = |before: &[&str], after: &[&str]| {
            [before, after].map(|names| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>())
        };
        let help = || file(&["strip", "width"], &["width"]);
        assert!(removed_names(&[help(), file(&["strip"], &["strip"])]).contains("strip"));
        assert!(removed_names(&[help(), file(&[], &["strip"])]).is_empty());
    }

    #[test]
    fn only_names_that_the_product_lost_may_stand_for_names_that_it_gained() {
        let table = [
            ("assert login ( 1 ) == 2", "assert login ( 1 ) == 2", true),
            ("assert login ( 1 ) == 2", "assert sign_in ( 1 ) == 2", true),
            ("assert login ( 1 ) == 2", "assert sign_in ( 1 ) == 3", false),
            ("assert login ( 1 ) == 2", "assert render ( 1 ) == 2", false),
            ("login ( login ( ) )", "sign_in ( sign_out ( ) )", false),
            ("assert login ( 1 )", "assert sign_in ( 1 ) == 2", false),
        ];
        for (was, is, expected) in table {
            let found = functions().only_renames(&words(was), &words(is));
            assert_eq!(found, expected, "{was} -> {is}");
        }
    }
}
