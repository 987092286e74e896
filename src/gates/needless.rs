//! Tests that do not need what they are for: the new tests of a task for tests are run against code in which all that they
//! name does nothing. There is no change of the product that could show them red.

use crate::gates::{
    change::Change,
    compare,
    forms::{Code, Forms, code, forms},
    red,
    run::{
        context::{GateError, host},
        overlay::Overlay,
        result_cache::Expected,
    },
    test_line::Selection,
    turn::Run,
};
use domain::{
    evidence::Evidence,
    integrity::{Author, IntegrityFinding, Rule},
    plan::TaskType,
};
use git::blocking;
use std::{collections::BTreeSet, sync::Arc};

/// The most tests that are told.
const MOST: usize = 20;

/// The new tests, where all of them pass although nothing that they name does anything; none where that cannot be said.
pub(crate) async fn tests_of_anything(run: &Run<'_>, head: &Evidence) -> Result<Vec<IntegrityFinding>, GateError> {
    let is_wanted = run.subject.task.kind == TaskType::Testing;
    let Some((new, _)) = red::brought(run, head).filter(|_| is_wanted) else {
        return Ok(Vec::new());
    };
    let (change, code, names) = (Arc::clone(run.change), code(run).await?, new.clone());
    let looking = blocking(move || named(&change, code, &names)).await;
    let idle = looking.map_err(|error| host("reading tests")(error.into()))?;
    if idle.is_empty() {
        return Ok(Vec::new());
    }
    for which in 0..2 {
        let put = |forms: &Forms| forms.put(forms.hollow.as_ref()?.get(which)?);
        let overlay = Overlay::of_bytes(idle.iter().filter_map(put).collect());
        let found = run
            .prepared
            .tests_with(run.subject.head, &overlay, Expected::Red, &Selection::All)
            .await?;
        let passes = |name: &String| compare::names(&found).is_some_and(|names| names.passed.contains(name));
        if !new.iter().all(passes) {
            return Ok(Vec::new());
        }
    }
    let files: Vec<&str> = idle.iter().map(|forms| forms.code.path.as_str()).collect();
    let told = new.iter().take(MOST);
    Ok(told.map(|name| finding(run.change, name, &files)).collect())
}

/// The files in which something is named by the tests, with that doing nothing.
fn named(change: &Change, code: Vec<Code>, tests: &[String]) -> Vec<Forms> {
    let sites = tests.iter().flat_map(|name| change.after.find(name));
    let words: BTreeSet<String> = sites.flat_map(|site| site.words.iter().cloned()).collect();
    let forms = code.into_iter().filter_map(|code| forms(change, code, &words));
    forms.filter(|forms| forms.hollow.is_some()).collect()
}

fn finding(change: &Change, test: &str, files: &[&str]) -> IntegrityFinding {
    let (path, line) = change.after.place(test).unwrap_or_default();
    IntegrityFinding {
        rule: Rule::AssertionTrivial,
        path,
        line: (line > 0).then_some(line),
        what: format!(
            "`{test}` passes even where what the new tests name in {} does nothing, so it checks nothing of it",
            files.join(", ")
        ),
        by: Author::Player,
    }
}
