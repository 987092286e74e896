//! Finds the tests that a change brings and that did not run, and the condition that kept them from running.

use crate::gates::{change::Change, compare, run::context::GateError, turn::Run};
use domain::{
    evidence::{Evidence, TestNames},
    unrun::{RunCondition, RunCure, UnrunOutcome, UnrunTests},
};
use integrity::language::{
    self, Role,
    outline::{Condition, SkipWhen, quoted},
};
use runners::{conditions, test_index::TestSite};
use std::collections::BTreeSet;

/// The most of a file that is read for a condition, in bytes.
const MOST_READ: usize = 256 * 1024;

/// The most modules between a file and the root of its crate.
const DEEPEST: usize = 20;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Placed {
    condition: Condition,
    path: String,
}

/// Returns the change's new tests without a result, with the condition that keeps them from running; `None` if there
/// are none, or the run names no tests.
pub(crate) async fn unrun_tests(run: &Run<'_>, head: &Evidence) -> Result<Option<UnrunTests>, GateError> {
    let Some(names) = compare::names(head) else {
        return Ok(None);
    };
    let (change, known) = (run.change, compare::known_tests(run.subject.before));
    let unrun = unrun(change, names);
    let Some((_, first, outcome)) = unrun.first() else {
        return Ok(skipped_elsewhere(change, names, &known));
    };
    let reason = |site: &TestSite| (site.path.clone(), site.conditions.first().cloned());
    let here = unrun.iter().filter(|(_, site, _)| reason(site) == reason(first));
    Ok(Some(UnrunTests {
        tests: here.map(|(name, site, _)| ((*name).to_owned(), site.path.clone())).collect(),
        outcome: *outcome,
        condition: condition(run, first).await?.map(Placed::into_fact),
    }))
}

impl Placed {
    fn into_fact(self) -> RunCondition {
        let Condition { text, when } = self.condition;
        RunCondition {
            cure: match when {
                SkipWhen::Always => RunCure::TakeAway,
                SkipWhen::Sometimes => RunCure::Meet { example: conditions::example(&text) },
            },
            code: quoted(&text),
            path: self.path,
        }
    }
}

/// Returns the new tests that did not run, each with its site and the run's report on it.
fn unrun<'a>(change: &'a Change, names: &TestNames) -> Vec<(&'a str, &'a TestSite, UnrunOutcome)> {
    let sites = |names: &[String]| -> BTreeSet<&'a TestSite> {
        names.iter().flat_map(|name| change.after.find(name)).collect()
    };
    let (passed, failed, skipped) = (sites(&names.passed), sites(&names.failed), sites(&names.skipped));
    let is_new = |name: &str| change.before.find(name).is_empty();
    let tests = change.after.tests();
    let unrun = tests.filter(|(name, site)| is_new(name) && !passed.contains(site) && !failed.contains(site));
    let mut unrun: Vec<(&str, &TestSite, UnrunOutcome)> = unrun
        .map(|(name, site)| {
            if skipped.contains(site) {
                (name, site, UnrunOutcome::Skipped)
            } else {
                (name, site, UnrunOutcome::NotNamed)
            }
        })
        .collect();
    // Tests that the run itself calls skipped come first: their reason is certain.
    unrun.sort_by_key(|(_, _, outcome)| *outcome != UnrunOutcome::Skipped);
    unrun
}

/// Returns the new tests that the run calls skipped in the changed files of one language that has no grammar here.
fn skipped_elsewhere(change: &Change, names: &TestNames, known: &BTreeSet<&str>) -> Option<UnrunTests> {
    let is_new = |name: &&String| !known.contains(name.as_str());
    let mut placed = names.skipped.iter().filter(is_new).filter_map(|name| {
        let mut files = change.of_role(Role::Test);
        files.find_map(|file| {
            let text = change.text_after(&file.path).filter(|_| language::language_of(&file.path).is_none())?;
            let at = conditions::line_of_method(text, name)?;
            Some((name, file.path.as_str(), conditions::annotation(text, at)))
        })
    });
    let (name, path, condition) = placed.next()?;
    let here = placed.filter(|(_, other, _)| *other == path).map(|(name, ..)| name);
    let place = |condition: Condition| Placed { condition, path: path.to_owned() };
    Some(UnrunTests {
        tests: std::iter::once(name).chain(here).map(|name| (name.clone(), path.to_owned())).collect(),
        outcome: UnrunOutcome::Skipped,
        condition: condition.map(|condition| place(condition).into_fact()),
    })
}

/// Returns the condition that keeps a test from running: in its file, in a module that declares the file, or in the
/// package.
async fn condition(run: &Run<'_>, site: &TestSite) -> Result<Option<Placed>, GateError> {
    if let Some(own) = site.conditions.first() {
        return Ok(Some(Placed { condition: own.clone(), path: site.path.clone() }));
    }
    match of_modules(run, &site.path).await? {
        None => of_package(run, &site.path).await,
        found => Ok(found),
    }
}

async fn read(run: &Run<'_>, path: &str) -> Result<Option<String>, GateError> {
    if !run.change.head.contains(path) {
        return Ok(None);
    }
    let subject = run.subject;
    let file = subject.mirror.read_file(subject.head, path, MOST_READ).await?;
    Ok(file.map(|file| String::from_utf8_lossy(&file.bytes).into_owned()))
}

/// Walks from a file to the root of its crate, through the files that declare it, and returns the first condition.
async fn of_modules(run: &Run<'_>, path: &str) -> Result<Option<Placed>, GateError> {
    let mut path = path.to_owned();
    for _ in 0..DEEPEST {
        let mut declaring = None;
        for (parent, declared) in conditions::parents(&path) {
            let text = read(run, &parent).await?.unwrap_or_default();
            if let Some(at) = conditions::line_of_module(&text, &declared) {
                declaring = Some((parent, conditions::of_module(&text, at)));
                break;
            }
        }
        match declaring {
            None => return Ok(None),
            Some((parent, Some(condition))) => {
                return Ok(Some(Placed { condition, path: parent }));
            }
            Some((parent, None)) => path = parent,
        }
    }
    Ok(None)
}

/// Returns the setting of the package that leaves out the target to which a file belongs.
async fn of_package(run: &Run<'_>, path: &str) -> Result<Option<Placed>, GateError> {
    for (manifest, inside) in conditions::manifests(path) {
        if let Some(text) = read(run, &manifest).await? {
            let condition = conditions::of_target(&text, inside);
            return Ok(condition.map(|condition| Placed { condition, path: manifest }));
        }
    }
    Ok(None)
}
