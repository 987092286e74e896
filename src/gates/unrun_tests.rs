//! Finds the tests that a change brings and that did not run, and the condition that kept them from running.

use crate::gates::{change::Change, compare, run::context::GateError, said, turn::Run};
use domain::evidence::{Evidence, TestNames};
use integrity::language::{
    self, Role,
    outline::{Condition, When, quoted},
};
use runners::{conditions, test_index::TestSite};
use std::collections::BTreeSet;

/// The most of a file that is read for a condition, in bytes.
const MOST_READ: usize = 256 * 1024;

/// The most modules between a file and the root of its crate.
const DEEPEST: usize = 20;

/// Tests that did not run, for one reason.
struct Unrun {
    /// Each with its file.
    tests: Vec<String>,
    outcome: Outcome,
    condition: Option<Placed>,
}

/// What the run says of tests that did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Skipped,
    Nothing,
}

/// A condition with the file that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Placed {
    condition: Condition,
    path: String,
}

/// Returns where the change's new tests without a result are, and what keeps them from running, as a sentence; `None` if
/// there are none, or the run names no tests.
pub(crate) async fn unrun_tests(run: &Run<'_>, head: &Evidence) -> Result<Option<String>, GateError> {
    let Some(names) = compare::names(head) else {
        return Ok(None);
    };
    let (change, known) = (run.change, compare::known(run.subject.before));
    let unrun = unrun(change, names);
    let Some((_, first, outcome)) = unrun.first() else {
        return Ok(skipped_elsewhere(change, names, &known).as_ref().map(sentence));
    };
    let reason = |site: &TestSite| (site.path.clone(), site.conditions.first().cloned());
    let here = unrun.iter().filter(|(_, site, _)| reason(site) == reason(first));
    let found = Unrun {
        tests: here.map(|(name, site, _)| format!("{name} in {}", site.path)).collect(),
        outcome: *outcome,
        condition: condition(run, first).await?,
    };
    Ok(Some(sentence(&found)))
}

fn sentence(unrun: &Unrun) -> String {
    let shown = said::list(&unrun.tests);
    let what = match (unrun.outcome, &unrun.condition) {
        (Outcome::Skipped, _) => "new tests are there and were skipped",
        (Outcome::Nothing, Some(_)) => "new tests are there and did not run",
        (Outcome::Nothing, None) => "new tests are there and no result of the run names them",
    };
    let Some(Placed { condition, path }) = &unrun.condition else {
        return format!(
            "{what}: {shown}. If the test command leaves them out, set `test` in `.github/autobuild.yml` to one that runs \
             them"
        );
    };
    let text = quoted(&condition.text);
    let cure = match condition.when {
        When::Always => "They run once it is taken away".to_owned(),
        When::Sometimes => {
            let example = conditions::example(&condition.text);
            let example = example
                .map(|example| format!(", such as `{example}`"))
                .unwrap_or_default();
            format!("To run them, set `test` or `setup` in `.github/autobuild.yml` so that it lets them run{example}")
        }
    };
    format!("{what}, because of {text} in {path}: {shown}. {cure}")
}

/// Returns the new tests that did not run, each with its site, and whether the run names them as skipped.
fn unrun<'a>(change: &'a Change, names: &TestNames) -> Vec<(&'a str, &'a TestSite, Outcome)> {
    let sites = |names: &[String]| -> BTreeSet<&'a TestSite> {
        names.iter().flat_map(|name| change.after.find(name)).collect()
    };
    let (passed, failed, skipped) = (sites(&names.passed), sites(&names.failed), sites(&names.skipped));
    let is_new = |name: &str| change.before.find(name).is_empty();
    let tests = change.after.tests();
    let unrun = tests.filter(|(name, site)| is_new(name) && !passed.contains(site) && !failed.contains(site));
    let mut unrun: Vec<(&str, &TestSite, Outcome)> = unrun
        .map(|(name, site)| match skipped.contains(site) {
            true => (name, site, Outcome::Skipped),
            false => (name, site, Outcome::Nothing),
        })
        .collect();
    // What the run itself calls skipped is the surer reason.
    unrun.sort_by_key(|(_, _, outcome)| *outcome != Outcome::Skipped);
    unrun
}

/// Returns the new tests that the run calls skipped in the changed files of one language that has no grammar here.
fn skipped_elsewhere(change: &Change, names: &TestNames, known: &BTreeSet<&str>) -> Option<Unrun> {
    let is_new = |name: &&String| !known.contains(name.as_str());
    let mut placed = names.skipped.iter().filter(is_new).filter_map(|name| {
        let mut files = change.of_role(Role::Test);
        files.find_map(|file| {
            let text = change
                .text_after(&file.path)
                .filter(|_| language::of(&file.path).is_none())?;
            Some((name, file.path.as_str(), conditions::of_method(text, name)?))
        })
    });
    let (name, path, condition) = placed.next()?;
    let here = placed.filter(|(_, other, _)| *other == path).map(|(name, ..)| name);
    let place = |condition: Condition| Placed {
        condition,
        path: path.to_owned(),
    };
    Some(Unrun {
        tests: std::iter::once(name)
            .chain(here)
            .map(|name| format!("{name} in {path}"))
            .collect(),
        outcome: Outcome::Skipped,
        condition: condition.map(place),
    })
}

/// Returns what keeps a test from running: in its file, where a module above declares the file, or in the package.
async fn condition(run: &Run<'_>, site: &TestSite) -> Result<Option<Placed>, GateError> {
    if let Some(own) = site.conditions.first() {
        return Ok(Some(Placed {
            condition: own.clone(),
            path: site.path.clone(),
        }));
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
            let text = read(run, &parent).await?;
            let found = text
                .as_deref()
                .and_then(|text| conditions::declaration(text, &declared));
            if let Some(condition) = found {
                declaring = Some((parent, condition));
                break;
            }
        }
        match declaring {
            None => return Ok(None),
            Some((parent, Some(condition))) => {
                return Ok(Some(Placed {
                    condition,
                    path: parent,
                }));
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
            return Ok(condition.map(|condition| Placed {
                condition,
                path: manifest,
            }));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::{Condition, Outcome, Placed, Unrun, When, sentence};

    #[test]
    fn the_sentence_says_that_the_tests_are_there_and_why_they_did_not_run() {
        let said = |outcome, condition: Option<(&str, When)>| {
            sentence(&Unrun {
                tests: vec!["a in tests/test_a.py".to_owned()],
                outcome,
                condition: condition.map(|(text, when)| Placed {
                    condition: Condition {
                        text: text.to_owned(),
                        when,
                    },
                    path: "tests/test_a.py".to_owned(),
                }),
            })
        };
        assert_eq!(
            said(Outcome::Nothing, Some(("#[cfg(feature = \"extra\")]", When::Sometimes))),
            "new tests are there and did not run, because of `#[cfg(feature = \"extra\")]` in tests/test_a.py: a in \
             tests/test_a.py. To run them, set `test` or `setup` in `.github/autobuild.yml` so that it lets them run, such \
             as `cargo test --features extra`"
        );
        assert_eq!(
            said(Outcome::Skipped, Some(("@Disabled", When::Always))),
            "new tests are there and were skipped, because of `@Disabled` in tests/test_a.py: a in tests/test_a.py. They run \
             once it is taken away"
        );
        assert!(said(Outcome::Nothing, None).contains("no result of the run names them: a in tests/test_a.py"));
    }
}
