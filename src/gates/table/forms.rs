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
    side::{Repository, Side, with_single_tests_of, without_tests_at},
};
use std::collections::{BTreeMap, BTreeSet};

/// Files that do not fit the other version's code as they are: each with the text that may fit; `None` if none does.
pub(crate) type Fitted = BTreeMap<String, Option<String>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The base's tests on the head's code.
    Old,
    /// The head's tests on the base's code.
    New,
}

pub(crate) struct TestSide<'a> {
    repository: Repository<'a>,
    whole: Vec<(&'a RawChange, &'a FileChange)>,
    /// Files with product and tests whose tests differ, source files with inline tests among them.
    parts: Vec<&'a FileChange>,
    touches: Touches,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touches {
    TestsAlone,
    Product,
}

impl<'a> TestSide<'a> {
    /// Takes the changed files of the tests' side. The test command names scripts that decide which tests run.
    pub(crate) fn of(change: &'a Change, test_command: &'a str) -> Self {
        let repository = Repository {
            base: &change.base,
            head: &change.head,
            test_command,
        };
        let (mut whole, mut parts, mut touches) = (Vec::new(), Vec::new(), Touches::TestsAlone);
        for (file, raw) in change.files.iter().zip(&change.raw) {
            let (before, after) = (text(&file.before), text(&file.after));
            let texts: Vec<&str> = before.into_iter().chain(after).collect();
            let side = match repository.side(&file.path, &texts) {
                Side::Both => repository.changed_side(&file.path, before, after),
                Side::Tests => {
                    whole.push((raw, file));
                    continue;
                }
                Side::Product => Some(Side::Product),
            };
            if let Some(Side::Tests | Side::Both) = side {
                parts.push(file);
            }
            if let Some(Side::Product | Side::Both) = side {
                touches = Touches::Product;
            }
        }
        Self {
            repository,
            whole,
            parts,
            touches,
        }
    }

    /// Returns whether the change touches more than the tests' side.
    pub(crate) fn touches(&self) -> Touches {
        self.touches
    }

    /// `true` if the base's form of a test may differ from the head's: more than new files of tests are touched.
    pub(crate) fn touches_old_tests(&self) -> bool {
        let is_new_test = |raw: &RawChange| raw.old_mode == 0 && role_of(raw) == Role::Test;
        let is_old = |file: &&FileChange| file.before.bytes().is_some();
        self.whole.iter().any(|(raw, _)| !is_new_test(raw)) || self.parts.iter().any(is_old)
    }

    /// `true` if something that several tests share is touched: a helper, data, or a setting.
    pub(crate) fn touches_shared(&self) -> bool {
        !self.shared().is_empty()
    }

    pub(crate) fn paths(&self) -> BTreeSet<&'a str> {
        self.files().map(|file| file.path.as_str()).collect()
    }

    fn files(&self) -> impl Iterator<Item = &'a FileChange> {
        let whole = self.whole.iter().map(|(_, file)| *file);
        whole.chain(self.parts.iter().copied())
    }

    /// Returns the paths of the touched scripts that belong to the tests because the test command calls them.
    pub(crate) fn scripts(&self) -> BTreeSet<&'a str> {
        let uncalled = Repository {
            test_command: "",
            ..self.repository
        };
        let whole = self.whole.iter().map(|(_, file)| file.path.as_str());
        whole.filter(|path| uncalled.side(path, &[]) != Side::Tests).collect()
    }

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

    /// Returns the files to lay over the other version's checkout.
    pub(crate) async fn overlay(&self, run: &Run<'_>, form: Form, fitted: &Fitted) -> Result<Overlay, GateError> {
        let whole = self.whole.iter().filter(|(_, file)| !fitted.contains_key(&file.path));
        let whole: Vec<&RawChange> = whole.map(|(raw, _)| *raw).collect();
        let version = match form {
            Form::Old => Version::Before,
            Form::New => Version::After,
        };
        let parts = self.parts.iter().filter(|file| !fitted.contains_key(&file.path));
        let parts = parts.filter_map(|file| {
            let mixed = self.mixed(form, file)?;
            (Some(mixed.as_str()) != text(product(form, file))).then_some((file.path.as_str(), mixed))
        });
        let fitted = fitted
            .iter()
            .filter_map(|(path, text)| Some((path.as_str(), text.clone()?)));
        let mode = |path: &str| match form {
            Form::Old => run.change.mode(path).or_else(|| run.change.old_mode(path)),
            Form::New => run.change.old_mode(path).or_else(|| run.change.mode(path)),
        };
        let texts = parts.chain(fitted);
        let texts = texts.filter_map(|(path, text)| Some((path.to_owned(), text.into_bytes(), mode(path)?)));
        let overlay = Overlay::of(run.subject.mirror, &whole, version).await?;
        Ok(overlay.and(Overlay::of_bytes(texts.collect())))
    }

    /// Returns a file of this form as the code that it runs on may accept it, after `tried` was not: without the tests
    /// at these lines; else the version of that code with the single tests of this form. `None` if neither is left.
    pub(crate) fn refit(
        &self,
        form: Form,
        path: &str,
        tried: Option<&Option<String>>,
        lines: &BTreeSet<usize>,
    ) -> Option<String> {
        match tried {
            Some(tried) => without_tests_at(path, tried.as_deref()?, lines),
            None => {
                let file = self.files().find(|file| file.path == path)?;
                let mixed = self.mixed(form, file)?;
                let single = || with_single_tests_of(path, text(product(form, file))?, &mixed);
                without_tests_at(path, &mixed, lines).or_else(single)
            }
        }
    }

    /// Returns a file with the tests of this form and the product on which they run.
    fn mixed(&self, form: Form, file: &FileChange) -> Option<String> {
        let tests = match form {
            Form::Old => &file.before,
            Form::New => &file.after,
        };
        self.repository
            .mixed(&file.path, text(product(form, file)), text(tests))
    }
}

/// Returns the version of a file that belongs to the product on which this form runs.
fn product(form: Form, file: &FileChange) -> &Source {
    match form {
        Form::Old => &file.after,
        Form::New => &file.before,
    }
}

fn role_of(raw: &RawChange) -> Role {
    raw.path.to_str().map_or(Role::Other, role)
}
