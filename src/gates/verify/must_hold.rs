//! Which tests of the base have to hold as they were. A test is its words, and what they name in its file.

use crate::gates::{
    around_tests::{named_words, names_around},
    base_code::BaseCode,
    change::Change,
    compare,
    mutation::code::Put,
    only_renames::keeps_tests,
    run::context::GateError,
    test_index::Site,
    test_line::Selection,
    turn::Run,
};
use domain::{evidence::Evidence, plan::TaskType};
use git::RawChange;
use integrity::language::{Role, role};
use std::collections::{BTreeMap, BTreeSet};

/// Files whose tests are meant to run as they were.
pub(crate) struct Meant {
    /// Files of tests.
    pub(crate) files: BTreeSet<String>,
    /// Files of code with tests in them.
    pub(crate) inline: BTreeSet<String>,
    /// Those of them that do not fit the new code: the tests that ran are the change's.
    pub(crate) left_out: BTreeSet<String>,
    /// The names of what stands around the tests of each file and is another now.
    around: BTreeMap<String, BTreeSet<String>>,
    /// Tests that name such, and with it pass on the base's code too: it does not stand for new behaviour.
    pub(crate) tolerant: BTreeSet<String>,
}

impl Meant {
    /// Those of the changed files that are put back.
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

    /// Whether a test has to hold as it was: one that the change leaves alone, and in a refactoring each in which more than
    /// names changed.
    pub(crate) fn must_hold(&self, run: &Run<'_>, name: &str) -> bool {
        let is_freed = run.subject.task.kind != TaskType::Refactoring && self.names_another(run.change, name);
        holds_by_its_words(run, name) && (!is_freed || self.tolerant.contains(name))
    }

    /// Whether a test names what stands around the tests of its file and is another now.
    fn names_another(&self, change: &Change, name: &str) -> bool {
        let names = |site: &Site| {
            let around = self.around.get(&site.path);
            around.is_some_and(|around| named_words(&site.words).any(|word| around.contains(word)))
        };
        change.before.find(name).into_iter().any(names)
    }
}

/// Of the tests that fail as they were, and name what is another around them: those that pass with it without the change.
pub(crate) async fn tolerant(run: &Run<'_>, found: &Evidence, meant: &Meant) -> Result<BTreeSet<String>, GateError> {
    let failed = compare::names(found).map_or(&[][..], |names| names.failed.as_slice());
    let is_freed = |name: &&String| holds_by_its_words(run, name) && !meant.must_hold(run, name);
    let freed: Vec<String> = failed.iter().filter(is_freed).cloned().collect();
    if freed.is_empty() {
        return Ok(BTreeSet::new());
    }
    let wanted = Selection::of(freed.clone(), &run.change.after);
    let on_base = BaseCode::of(run).await?.tests(&wanted).await?;
    let passed = compare::names(&on_base).map_or(&[][..], |names| names.passed.as_slice());
    Ok(freed.into_iter().filter(|name| passed.contains(name)).collect())
}

/// Whether a test has to hold as it was, if only its own words count.
pub(crate) fn holds_by_its_words(run: &Run<'_>, name: &str) -> bool {
    let (before, after) = (run.change.before.find(name), run.change.after.find(name));
    match run.subject.task.kind {
        TaskType::Refactoring => {
            let only_names = keeps_tests(
                before.iter().map(|site| site.words.as_slice()),
                after.iter().map(|site| site.words.as_slice()),
            );
            before.is_empty() || has_its_words(run.change, name) || !only_names
        }
        TaskType::Scaffolding | TaskType::Feature | TaskType::Testing | TaskType::Documentation => {
            has_its_words(run.change, name)
        }
    }
}

/// Whether a test has the words that it had. One that cannot be found by name in a changed file stands elsewhere.
pub(crate) fn has_its_words(change: &Change, name: &str) -> bool {
    let before = change.before.find(name);
    if before.is_empty() {
        return !change.has_unreadable_tests();
    }
    let after = change.after.find(name);
    before.iter().all(|was| match after.is_empty() {
        // Its group has another title.
        true => change.after.has_body(&was.words),
        false => after.iter().any(|is| is.words == was.words),
    })
}
