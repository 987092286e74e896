//! Lays the tests' side of one version over the product of the other.

use crate::gates::{
    change::{Change, text},
    run::{
        context::GateError,
        overlay::{Overlay, Side as Version},
    },
    turn::Run,
};
use git::RawChange;
use integrity::{
    FileChange, Version as Source,
    language::{Role, role, words_of_code},
    side::{Repository, Side},
};
use std::collections::BTreeSet;

/// The tests of one version on the code of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The base's tests on the head's code.
    Old,
    /// The head's tests on the base's code.
    New,
}

/// The changed files of the tests' side.
pub(crate) struct TestSide<'a> {
    repository: Repository<'a>,
    /// Files that belong to the tests as a whole.
    whole: Vec<&'a RawChange>,
    /// Files with product and tests whose tests differ, source files with inline tests among them.
    parts: Vec<&'a FileChange>,
}

impl<'a> TestSide<'a> {
    /// Takes the changed files of the tests' side. The test command names scripts that decide which tests run.
    pub(crate) fn of(change: &'a Change, test_command: &'a str) -> Self {
        let repository = Repository {
            base: &change.base,
            head: &change.head,
            test_command,
        };
        let (mut whole, mut parts) = (Vec::new(), Vec::new());
        for (file, raw) in change.files.iter().zip(&change.raw) {
            let (before, after) = (text(&file.before), text(&file.after));
            let texts: Vec<&str> = before.into_iter().chain(after).collect();
            match repository.side(&file.path, &texts) {
                Side::Tests => whole.push(raw),
                Side::Both => match repository.changed_side(&file.path, before, after) {
                    Some(Side::Tests | Side::Both) => parts.push(file),
                    Some(Side::Product) | None => {}
                },
                Side::Product => {}
            }
        }
        Self {
            repository,
            whole,
            parts,
        }
    }

    /// `true` if the base's form of a test may differ from the head's: more than new files of tests are touched.
    pub(crate) fn touches_old_tests(&self) -> bool {
        let is_new_test = |raw: &RawChange| raw.old_mode == 0 && role_of(raw) == Role::Test;
        let is_old = |file: &&FileChange| file.before.bytes().is_some();
        self.whole.iter().any(|raw| !is_new_test(raw)) || self.parts.iter().any(is_old)
    }

    /// `true` if something that several tests share is touched: a helper, data, or a setting.
    pub(crate) fn touches_shared(&self) -> bool {
        !self.shared().is_empty()
    }

    /// Returns the paths of the touched files.
    pub(crate) fn paths(&self) -> BTreeSet<&'a str> {
        let whole = self.whole.iter().filter_map(|raw| raw.path.to_str());
        whole.chain(self.parts.iter().map(|file| file.path.as_str())).collect()
    }

    /// Returns the paths of the touched files that tests share.
    pub(crate) fn shared(&self) -> Vec<&'a str> {
        let holds_tests = |path: &str| matches!(role(path), Role::Test | Role::Source);
        self.paths().into_iter().filter(|path| !holds_tests(path)).collect()
    }

    /// Returns the words of a source file's product that may be names.
    pub(crate) fn product_words(&self, file: &FileChange, version: &Source) -> BTreeSet<String> {
        let text = text(version).unwrap_or_default();
        let product = self.repository.with_tests_of(&file.path, text, "");
        let words = words_of_code(&file.path, product.as_deref().unwrap_or(text)).unwrap_or_default();
        let is_name = |word: &String| word.len() > 2 && word.chars().all(|c| c.is_alphanumeric() || c == '_');
        words.into_iter().filter(is_name).collect()
    }

    /// Returns the files to lay over the other version's checkout, without those of `left_out`.
    pub(crate) async fn overlay(
        &self,
        run: &Run<'_>,
        form: Form,
        left_out: &BTreeSet<String>,
    ) -> Result<Overlay, GateError> {
        let is_kept = |path: &str| !left_out.contains(path);
        let whole = self.whole.iter().copied();
        let whole: Vec<&RawChange> = whole.filter(|raw| raw.path.to_str().is_some_and(is_kept)).collect();
        let version = match form {
            Form::Old => Version::Before,
            Form::New => Version::After,
        };
        let parts = self.parts.iter().filter(|file| is_kept(&file.path));
        let parts = parts.filter_map(|file| {
            let (product, tests, mode) = match form {
                Form::Old => (&file.after, &file.before, run.change.mode(&file.path)?),
                Form::New => (&file.before, &file.after, run.change.old_mode(&file.path)?),
            };
            let product = text(product)?;
            let mixed = self.repository.mixed(&file.path, Some(product), text(tests))?;
            (mixed != product).then(|| (file.path.clone(), mixed.into_bytes(), mode))
        });
        let overlay = Overlay::of(run.subject.mirror, &whole, version).await?;
        Ok(overlay.and(Overlay::of_bytes(parts.collect())))
    }
}

fn role_of(raw: &RawChange) -> Role {
    raw.path.to_str().map_or(Role::Other, role)
}
