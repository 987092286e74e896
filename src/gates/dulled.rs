//! Tests that notice less than they did: a rewritten test of the base whose old form still holds is run in both forms
//! against code that does nothing. Where only the old form fails, the new one checks less.

use crate::gates::{
    change::Change,
    compare,
    forms::{Code, Forms, code, forms, is_named, words},
    run::{
        context::{GateError, host},
        overlay::{Overlay, Side},
        result_cache::Expected,
    },
    test_line::Selection,
    turn::Run,
};
use domain::{
    evidence::{Evidence, Ground, TestNames},
    integrity::{Author, IntegrityFinding, Rule},
};
use git::{RawChange, blocking};
use integrity::{
    FileChange, language,
    language::{Role, role},
    loses_lines,
};
use std::{collections::BTreeSet, sync::Arc};

/// The most tests that are told.
const MOST: usize = 20;

/// The old tests that are less than they were, as running shows; none where nothing can be said.
pub(crate) async fn tests_that_notice_less(run: &Run<'_>, head: &Evidence) -> Result<Vec<IntegrityFinding>, GateError> {
    let (Some(now), Ground::Named(before)) = (compare::names(head), run.subject.baseline.ground()) else {
        return Ok(Vec::new());
    };
    let Some(rewritten) = Rewritten::of(run).await? else {
        return Ok(Vec::new());
    };
    let old: Vec<&String> = now
        .passed
        .iter()
        .filter(|name| before.passed.contains(name) && rewritten.concerns(run.change, name))
        .collect();
    let (mut held, mut dull) = (None, BTreeSet::new());
    for which in 0..rewritten.ways() {
        let blind = with(run, rewritten.hollow(which), Expected::Red).await?;
        let mut suspects: Vec<&String> = old.iter().filter(|name| passes(&blind, name)).copied().collect();
        if suspects.is_empty() {
            continue;
        }
        if held.is_none() {
            held = Some(with(run, rewritten.in_old_form(run, None).await?, Expected::Green).await?);
        }
        suspects.retain(|name| held.as_ref().is_some_and(|held| passes(held, name)));
        if suspects.is_empty() {
            continue;
        }
        let noticed = with(run, rewritten.in_old_form(run, Some(which)).await?, Expected::Green).await?;
        let fails = |name: &&String| compare::names(&noticed).is_some_and(|names| names.failed.contains(name));
        dull.extend(suspects.into_iter().filter(fails));
    }
    Ok(dull
        .into_iter()
        .take(MOST)
        .map(|name| rewritten.finding(run.change, name))
        .collect())
}

fn passes(found: &Evidence, name: &String) -> bool {
    compare::names(found).is_some_and(|names: &TestNames| names.passed.contains(name))
}

/// The tests on the change's commit with these files in place of its own.
async fn with(run: &Run<'_>, overlay: Overlay, expected: Expected) -> Result<Evidence, GateError> {
    run.prepared
        .tests_with(run.subject.head, &overlay, expected, &Selection::All)
        .await
}

/// A change that rewrites old tests.
struct Rewritten {
    /// Files with tests or for tests that lost lines.
    paths: BTreeSet<String>,
    /// Whether one of them is shared by others.
    is_shared: bool,
    forms: Vec<Forms>,
    /// The first function that does nothing: its file, line and name.
    first: (String, u32, String),
}

impl Rewritten {
    /// Looks at what the change does to old tests; `None` where that is nothing, or the code cannot be read.
    async fn of(run: &Run<'_>) -> Result<Option<Self>, GateError> {
        let is_old = |file: &&FileChange| file.before.bytes().is_some() && loses_lines(file);
        let is_read = |file: &&FileChange| language::of(&file.path).is_some();
        let has_tests = |file: &&FileChange| {
            let of_tests = matches!(role(&file.path), Role::Test | Role::Support);
            of_tests || !run.change.before.names_in(&file.path).is_empty()
        };
        let paths: BTreeSet<String> = run
            .change
            .files
            .iter()
            .filter(is_old)
            .filter(is_read)
            .filter(has_tests)
            .map(|file| file.path.clone())
            .collect();
        if paths.is_empty() {
            return Ok(None);
        }
        let code = code(run).await?;
        let change = Arc::clone(run.change);
        let looking = blocking(move || Self::read(&change, paths, code)).await;
        looking.map_err(|error| host("reading a change")(error.into()))
    }

    fn read(change: &Change, paths: BTreeSet<String>, code: Vec<Code>) -> Option<Self> {
        let words = words(change, &paths);
        let forms: Vec<Forms> = code
            .into_iter()
            .filter_map(|code| forms(change, code, &words))
            .collect();
        let first = forms.iter().find_map(|forms| {
            let doing = language::doing(&forms.code.path, &forms.code.text)?;
            let body = doing.bodies.into_iter().find(|body| is_named(body, &words))?;
            Some((forms.code.path.clone(), body.line, body.name))
        })?;
        let is_shared = paths.iter().any(|path| role(path) == Role::Support);
        Some(Self {
            paths,
            is_shared,
            forms,
            first,
        })
    }

    /// Whether the test may have been rewritten, by itself or by what it shares with others.
    fn concerns(&self, change: &Change, test: &str) -> bool {
        let sites = change.after.find(test);
        self.is_shared || sites.iter().any(|site| self.paths.contains(&site.path))
    }

    /// In how many ways the code can do nothing.
    fn ways(&self) -> usize {
        let differs = |forms: &Forms| forms.hollow.as_ref().is_some_and(|[one, other]| one != other);
        if self.forms.iter().any(differs) { 2 } else { 1 }
    }

    /// Code that does nothing.
    fn hollow(&self, which: usize) -> Overlay {
        let put = |forms: &Forms| forms.put(forms.hollow.as_ref()?.get(which)?);
        Overlay::of_bytes(self.forms.iter().filter_map(put).collect())
    }

    /// The tests as they were, on the new code as it is or on code that does nothing.
    async fn in_old_form(&self, run: &Run<'_>, which: Option<usize>) -> Result<Overlay, GateError> {
        let is_of_tests = |raw: &&RawChange| {
            let path = raw.path.to_string();
            let of_tests = matches!(role(&path), Role::Test | Role::Support);
            of_tests && language::of(&path).is_some()
        };
        let files: Vec<&RawChange> = run.change.raw.iter().filter(is_of_tests).collect();
        let put = |forms: &Forms| match which {
            None => forms.put(forms.old.as_ref()?),
            Some(which) => forms.put(forms.old_hollow.as_ref().or(forms.hollow.as_ref())?.get(which)?),
        };
        let code = Overlay::of_bytes(self.forms.iter().filter_map(put).collect());
        let tests = Overlay::of(run.subject.mirror, &files, Side::Before).await?;
        Ok(tests.and(code))
    }

    fn finding(&self, change: &Change, test: &str) -> IntegrityFinding {
        let (path, line, name) = &self.first;
        let what = format!(
            "`{test}` fails in its old form where what it names does nothing, such as `{name}` ({path}:{line}), and passes \
             in its new form: it checks less"
        );
        let (path, line) = change.after.place(test).unwrap_or_else(|| (path.clone(), *line));
        IntegrityFinding {
            rule: Rule::AssertionRemoved,
            path,
            line: Some(line),
            what,
            by: Author::Player,
        }
    }
}
