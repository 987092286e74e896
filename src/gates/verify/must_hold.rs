//! Decides which tests of the base must hold in their old form. A test consists of its words and of the code in its
//! file that they name.

use crate::gates::{
    around_tests::{named_words, names_around},
    base_code::BaseCode,
    change::Change,
    compare,
    mutation::code::Put,
    only_renames::keeps_tests,
    run::context::GateError,
    test_index::TestSite,
    test_line::Selection,
    turn::Run,
};
use domain::{evidence::Evidence, plan::TaskType};
use git::RawChange;
use integrity::language::{Role, role};
use std::collections::{BTreeMap, BTreeSet};

/// The files whose tests should run in their old form.
pub(crate) struct Meant {
    /// Test files.
    pub(crate) files: BTreeSet<String>,
    /// Source files with inline tests.
    pub(crate) inline: BTreeSet<String>,
    /// The files whose old tests do not fit the new code, so that the change's tests ran.
    pub(crate) left_out: BTreeSet<String>,
    /// The changed names around the tests of each file.
    around: BTreeMap<String, BTreeSet<String>>,
    /// Tests that use changed names and also pass with them on the base's code, so the changed names do not express new
    /// behaviour.
    pub(crate) tolerant: BTreeSet<String>,
}

impl Meant {
    /// Takes the changed files whose old version is restored.
    pub(crate) fn of(change: &Change, touched: &[&RawChange], inline: &[Put]) -> Self {
        let paths = touched.iter().filter_map(|raw| raw.path.to_str());
        let files: BTreeSet<String> = paths
            .filter(|path| role(path) == Role::Test)
            .map(str::to_owned)
            .collect();
        let around = files.iter().map(|path| (path.clone(), names_around(change, path)));
        Self {
            around: around.collect(),
            files,
            inline: inline.iter().map(|(path, ..)| path.clone()).collect(),
            left_out: BTreeSet::new(),
            tolerant: BTreeSet::new(),
        }
    }

    /// `true` if a test must hold in its old form: the change leaves it alone or, in a refactoring, changed more than
    /// names in it.
    pub(crate) fn must_hold(&self, run: &Run<'_>, name: &str) -> bool {
        let is_freed = run.subject.task.kind != TaskType::Refactoring && self.names_another(run.change, name);
        holds_by_its_words(run, name) && (!is_freed || self.tolerant.contains(name))
    }

    /// `true` if a test uses changed code around the tests of its file.
    fn names_another(&self, change: &Change, name: &str) -> bool {
        let names = |site: &TestSite| {
            let around = self.around.get(&site.path);
            around.is_some_and(|around| named_words(&site.words).any(|word| around.contains(word)))
        };
        change.before.find(name).into_iter().any(names)
    }
}

/// Returns those tests that fail in their old form and use changed code around them, but pass with that code on the
/// base.
pub(crate) async fn tolerant(run: &Run<'_>, found: &Evidence, meant: &Meant) -> Result<BTreeSet<String>, GateError> {
    let is_freed = |name: &&String| holds_by_its_words(run, name) && !meant.must_hold(run, name);
    let freed: Vec<String> = compare::failed(found).iter().filter(is_freed).cloned().collect();
    if freed.is_empty() {
        return Ok(BTreeSet::new());
    }
    let wanted = Selection::of(freed.clone(), &run.change.after);
    let on_base = BaseCode::of(run).await?.tests(&wanted).await?;
    let passed = compare::passed(&on_base);
    Ok(freed.into_iter().filter(|name| passed.contains(name)).collect())
}

/// `true` if a test must hold in its old form, judged by its own words only.
pub(crate) fn holds_by_its_words(run: &Run<'_>, name: &str) -> bool {
    let has_its_words = has_its_words(run.change, name);
    if has_its_words || run.subject.task.kind != TaskType::Refactoring {
        return has_its_words;
    }
    let (before, after) = (run.change.before.find(name), run.change.after.find(name));
    let (was, is) = (
        before.iter().map(|site| site.words.as_slice()),
        after.iter().map(|site| site.words.as_slice()),
    );
    before.is_empty() || !keeps_tests(was, is)
}

/// `true` if a test has the same words as before. If no changed file has a test of this name, it is in an unchanged
/// file.
pub(crate) fn has_its_words(change: &Change, name: &str) -> bool {
    let before = change.before.find_written(name);
    if before.is_empty() {
        return !change.has_unreadable_tests();
    }
    let after = change.after.find_written(name);
    before.iter().all(|was| match after.is_empty() {
        // Its group may have another title.
        true => change.after.has_body(&was.words),
        false => after.iter().any(|is| is.words == was.words),
    })
}
