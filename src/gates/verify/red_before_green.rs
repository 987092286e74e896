//! Red before green: looks for a witness, which is a new or changed test, or a criterion's check, that fails without
//! the change and passes with it.

use crate::gates::{
    base_code::{BaseCode, lists_tests, stores_answers},
    change::{Change, is_of_tests},
    checks::{Checked, OnBase},
    compare,
    mutation::Witness,
    new_tests::{NewTests, known},
    only_renames::{keeps_tests, only_renames},
    run::context::GateError,
    said,
    test_line::Selection,
    turn::Run,
    unrun_tests::unrun_tests,
    verify::base_tests::is_listed,
};
use domain::{
    evidence::{Absence, Evidence, Finding, Gate, GateResult, Weight},
    feature::Mode,
    plan::{Check, PlannedTask, TaskType},
    task::Origin,
};
use integrity::{
    Version, language,
    language::{Role, role},
};
use std::collections::BTreeSet;

const GATE: Gate = Gate::RedBeforeGreen;

/// The result of the search for a witness.
pub(crate) struct RedBeforeGreen {
    /// The Gate's result; `None` if no witness is required.
    pub(crate) result: Option<GateResult>,
    /// Whether new tests failed without the change.
    pub(crate) witness: Witness,
    /// The names of the tests that fail without the change and pass with it, according to a run.
    pub(crate) red: BTreeSet<String>,
}

/// The tests that may be a witness.
enum Candidates {
    Named(Vec<String>),
    /// Files with new or changed tests, if the runner gives no names.
    Files(Vec<String>),
}

impl Candidates {
    /// Returns the tests that are known by name.
    fn named(&self) -> &[String] {
        match self {
            Self::Named(names) => names,
            Self::Files(_) => &[],
        }
    }
}

/// The result of the new tests on the base's code.
enum Base {
    /// There was nothing to run.
    NotRun,
    Ran(Evidence),
    /// The tests cannot be separated from the code.
    Inline,
}

/// Looks for a witness if one is required, and notes the base's result for each criterion's check.
pub(crate) async fn red_before_green(
    run: &Run<'_>,
    (head, tests): (&Evidence, &NewTests),
    checks: &mut [Checked],
) -> Result<RedBeforeGreen, GateError> {
    let weight = weight(run.kind(), run.subject.origin, run.subject.mode);
    let candidates = match compare::telling_names(head, run.subject.before) {
        Some(_) => Candidates::Named(tests.candidates()),
        None => Candidates::Files(files_with_tests(run.change)),
    };
    let code = BaseCode::of(run).await?;
    let is_asked = weight.is_some() && run.kind() != TaskType::Refactoring;
    let base = match is_asked {
        true => on_base(run, &code, &candidates).await?,
        false => Base::NotRun,
    };
    let red = red(run, &candidates, head, &base);
    for check in checks.iter_mut() {
        check.base = before(run, &code, check, (&candidates, &base)).await?;
        check.tell();
    }
    let witness = match (&base, red.is_empty()) {
        (_, false) => Witness::Seen,
        (Base::Ran(Evidence::Absent(_)) | Base::Inline | Base::NotRun, true) => Witness::Unknown,
        (Base::Ran(_), true) => Witness::NotSeen,
    };
    let unrun = unrun_tests(run, head).await?;
    let by_name = |name: &&String| matches!(&base, Base::Ran(found) if compare::failed(found).contains(name));
    let named = red.iter().filter(by_name).cloned().collect();
    let result = match (run.kind(), weight) {
        (_, None) => None,
        (TaskType::Refactoring, Some(weight)) => Some(refactoring(run.change, run.subject.task, weight)),
        (TaskType::Scaffolding | TaskType::Feature | TaskType::Testing | TaskType::Documentation, Some(weight)) => {
            let mut result = judge(run, weight, (&candidates, &base, &red), (checks, unrun.clone()));
            if matches!(result.evidence, Evidence::Passed(_)) {
                let item = |what| said::should_fix("test", what, None);
                result.items.extend(unrun.map(item));
            }
            Some(result)
        }
    };
    Ok(RedBeforeGreen {
        result,
        witness,
        red: named,
    })
}

/// Returns the weight of a witness; `None` if none is required. A fix or sync is verified by what caused it, and
/// documentation by reading it.
fn weight(kind: TaskType, origin: &Origin, mode: Mode) -> Option<Weight> {
    match (origin, kind, mode) {
        (Origin::Fix { .. } | Origin::Sync { .. }, ..) | (_, TaskType::Documentation, _) => None,
        (Origin::Planned, TaskType::Refactoring, _) | (Origin::Planned, _, Mode::Tdd) => Some(Weight::Required),
        (Origin::Review { .. }, ..) | (Origin::Planned, _, Mode::Standard) => Some(Weight::Informational),
    }
}

/// Returns the changed test files: they stand for their tests if the runner gives no names.
fn files_with_tests(change: &Change) -> Vec<String> {
    let files = change.of_role(Role::Test);
    let there = files.filter(|file| file.after != Version::Absent);
    there.map(|file| file.path.clone()).collect()
}

/// Runs the change's tests on the base's code, if there are any.
async fn on_base(run: &Run<'_>, code: &BaseCode<'_>, candidates: &Candidates) -> Result<Base, GateError> {
    let change = run.change;
    let (names, stores_answers) = (candidates.named(), stores_answers(change));
    let is_none = match candidates {
        Candidates::Named(names) => names.is_empty() && !stores_answers,
        Candidates::Files(files) => files.is_empty(),
    };
    if is_none || only_renames(change) || names.iter().any(|name| is_in_new_code(change, name)) {
        return Ok(Base::NotRun);
    }
    if !names.is_empty() && names.iter().all(|name| !is_separable(change, name)) {
        return Ok(Base::Inline);
    }
    let wanted = match names.is_empty() || stores_answers {
        true => Selection::All,
        false => Selection::of(names.to_vec(), &change.after),
    };
    let found = if_it_tells(code.tests(&wanted).await?, names);
    if run_none_of(&found, names) && change.files.iter().any(|file| lists_tests(&file.path)) {
        return Ok(Base::Ran(if_it_tells(code.tests_as_set(&wanted).await?, names)));
    }
    Ok(Base::Ran(found))
}

/// Drops the result of a run that a signal or a limit ended before one of these tests failed: it says nothing about
/// them.
fn if_it_tells(found: Evidence, tests: &[String]) -> Evidence {
    match found {
        Evidence::Failed(finding)
            if compare::is_stopped(&finding) && !tests.iter().any(|name| has_failed(&finding, name)) =>
        {
            Evidence::Absent(Absence::Unfinished {
                what: "without the change the tests did not end by themselves, so they say nothing of it".to_owned(),
            })
        }
        found @ (Evidence::Passed(_) | Evidence::Failed(_) | Evidence::Absent(_)) => found,
    }
}

/// `true` if the run passed but none of these tests has a result: the base's settings do not include them.
fn run_none_of(found: &Evidence, tests: &[String]) -> bool {
    let is_there = |name: &String| compare::passed(found).contains(name) || compare::failed(found).contains(name);
    matches!(found, Evidence::Passed(_)) && !tests.is_empty() && !tests.iter().any(is_there)
}

/// `true` if a test can run on the base's code.
fn is_separable(change: &Change, name: &str) -> bool {
    let sites = change.after.find(name);
    let can =
        |path: &str| is_of_tests(path) || language::of(path).is_some_and(|language| language.test_parts.is_some());
    sites.is_empty() || sites.iter().any(|site| can(&site.path))
}

/// `true` if a test is inside a new source file: without the change, there is nothing to run it in. A file that
/// contains only tests does not count as source.
fn is_in_new_code(change: &Change, name: &str) -> bool {
    let does_something = |path: &str| {
        let text = change.text_after(path);
        let code = text.and_then(|text| language::executable_code(path, text));
        code.is_some_and(|code| !code.bodies.is_empty())
    };
    let is_new = |path: &str| role(path) == Role::Source && !change.base.contains(path) && does_something(path);
    let sites = change.after.find(name);
    !sites.is_empty() && sites.iter().all(|site| is_new(&site.path))
}

/// Returns the candidates that fail on the base's code or, if there are none, unchanged tests that fail there because
/// of files that the change stores for them.
fn red(run: &Run<'_>, candidates: &Candidates, head: &Evidence, base: &Base) -> Vec<String> {
    let Base::Ran(found) = base else {
        let named = candidates.named().iter();
        return named.filter(|name| is_in_new_code(run.change, name)).cloned().collect();
    };
    let known_red = compare::names_before(run.subject.before).map_or(&[][..], |names| &names.failed);
    let (Candidates::Named(all) | Candidates::Files(all)) = candidates;
    let red = all.iter().filter(|name| is_red(found, name, known_red));
    let red: Vec<String> = red.cloned().collect();
    if !red.is_empty() || matches!(candidates, Candidates::Files(_)) {
        return red;
    }
    let (known, failed) = (known(run.subject.before), compare::failed(found));
    let by_stored =
        |name: &&String| failed.contains(name) && known.contains(name.as_str()) && !known_red.contains(name);
    compare::passed(head).iter().filter(by_stored).cloned().collect()
}

/// `true` if a test does not pass on the base's code. If a run fails without naming a test, the code did not even
/// compile. A test that began and did not end counts as failed, and so does one that failed before the run was stopped.
fn is_red(found: &Evidence, name: &String, known_red: &[String]) -> bool {
    match (found, compare::names(found)) {
        (Evidence::Absent(Absence::TimedOut { in_test, failed, .. }), _) => {
            in_test.as_ref() == Some(name) || failed.contains(name)
        }
        (Evidence::Absent(_), _) => false,
        (Evidence::Failed(finding), _) if compare::is_stopped(finding) => has_failed(finding, name),
        (_, Some(names)) if names.passed.contains(name) => false,
        (_, Some(names)) if names.failed.contains(name) => true,
        (Evidence::Passed(_), _) => false,
        (Evidence::Failed(_), None) => true,
        // The test has no result, and something new fails: probably its file, which could not be loaded.
        (Evidence::Failed(_), Some(names)) => {
            names.failed.is_empty() || names.failed.iter().any(|failed| !known_red.contains(failed))
        }
    }
}

fn has_failed(finding: &Finding, name: &String) -> bool {
    finding.names.as_ref().is_some_and(|names| names.failed.contains(name))
}

/// Returns the base's result for a check that passes now.
async fn before(
    run: &Run<'_>,
    code: &BaseCode<'_>,
    check: &Checked,
    (candidates, base): (&Candidates, &Base),
) -> Result<OnBase, GateError> {
    if !matches!(check.result.evidence, Evidence::Passed(_)) {
        return Ok(OnBase::Unknown);
    }
    Ok(match &check.check {
        Check::Human => OnBase::Unknown,
        Check::File(path) if run.change.base.contains(path.trim_start_matches("./")) => OnBase::Holds,
        Check::File(_) => OnBase::Fails,
        Check::Command(command) => code.command(command).await?,
        Check::Test(_) => named_before(run, &check.named, candidates, base),
    })
}

/// Returns the base's result for the tests that a criterion names: from the run on the base's code, else from
/// pre-flight.
fn named_before(run: &Run<'_>, names: &[String], candidates: &Candidates, base: &Base) -> OnBase {
    let before = compare::names_before(run.subject.before);
    let of = |name: &String| match base {
        _ if !candidates.named().contains(name) => match before {
            Some(before) if before.passed.contains(name) => OnBase::Holds,
            Some(before) if before.failed.contains(name) => OnBase::Fails,
            Some(_) | None => OnBase::Unknown,
        },
        Base::Ran(found) if compare::passed(found).contains(name) => OnBase::Holds,
        Base::Ran(found) if is_red(found, name, &[]) => OnBase::Fails,
        // The test is new, and it is inside new code or code that no grammar can separate.
        Base::Inline => OnBase::Fails,
        Base::NotRun if is_in_new_code(run.change, name) => OnBase::Fails,
        Base::Ran(_) | Base::NotRun => OnBase::Unknown,
    };
    let all: Vec<OnBase> = names.iter().map(of).collect();
    match all.contains(&OnBase::Fails) {
        true => OnBase::Fails,
        false if all.is_empty() || all.contains(&OnBase::Unknown) => OnBase::Unknown,
        false => OnBase::Holds,
    }
}

fn judge(
    run: &Run<'_>,
    weight: Weight,
    (candidates, base, red): (&Candidates, &Base, &[String]),
    (checks, unrun): (&[Checked], Option<String>),
) -> GateResult {
    let (noun, all) = match candidates {
        Candidates::Named(names) => ("tests", names),
        Candidates::Files(files) => ("files with tests", files),
    };
    if let Some(first) = red.first() {
        let what = match base {
            Base::Ran(Evidence::Absent(Absence::TimedOut { .. })) => "fail or do not end without the change",
            Base::Ran(_) => "fail without the change",
            Base::NotRun | Base::Inline => "stand in code that is new",
        };
        let (number, of) = (red.len(), all.len().max(red.len()));
        let sentence = format!("{number} of {of} new or changed {noun} {what}, among them {first}");
        return said::passed(GATE, weight, sentence);
    }
    if let Some(number) = shown_by_check(run, checks) {
        let sentence = format!("the check of criterion {number} fails without the change and passes with it");
        return said::passed(GATE, weight, sentence);
    }
    if only_renames(run.change) {
        let what = "the change only renames or moves what was there, so nothing shows what it brings; if no more is meant, \
                    the task is a refactoring";
        return said::failed(GATE, weight, what);
    }
    match base {
        Base::Ran(Evidence::Absent(reason)) => said::result(GATE, weight, Evidence::Absent(reason.clone())),
        Base::Inline => said::result(GATE, weight, Evidence::Absent(Absence::Inline)),
        Base::Ran(_) if !all.is_empty() => {
            // A task for tests covers existing code, so its tests may pass on the base.
            let is_for_tests = run.kind() == TaskType::Testing;
            let weight = if is_for_tests { Weight::Informational } else { weight };
            let sentence = format!(
                "none of the new or changed {noun} fails without the change, so they do not show it: {}",
                said::list(all)
            );
            said::failed(GATE, weight, sentence)
        }
        Base::Ran(_) | Base::NotRun => said::failed(GATE, weight, nothing_shows(run.change, unrun)),
    }
}

/// Returns the first criterion whose check fails without the change and passes with it. A file's existence proves no
/// behaviour, so it does not count if a feature touches code or tests.
fn shown_by_check(run: &Run<'_>, checks: &[Checked]) -> Option<usize> {
    let needs_more = run.kind() == TaskType::Feature && run.change.touches_code_or_tests();
    let counts = |check: &&Checked| match check.check {
        Check::File(_) => !needs_more,
        Check::Test(_) | Check::Command(_) => true,
        Check::Human => false,
    };
    let mut shown = checks.iter().filter(counts).filter(|check| check.base == OnBase::Fails);
    shown.next().map(|check| check.number)
}

fn nothing_shows(change: &Change, unrun: Option<String>) -> String {
    let why = match change.touches_code_or_tests() {
        false => "it touches neither code nor tests".to_owned(),
        true => unrun.unwrap_or_else(|| "it brings no new or changed test".to_owned()),
    };
    format!("nothing proves the change, and no criterion's check fails without it: {why}")
}

/// Judges a refactoring, which needs no witness: it must keep the old tests, except those that the plan removes.
fn refactoring(change: &Change, task: &PlannedTask, weight: Weight) -> GateResult {
    let is_gone = |name: &str, path: &str| change.after.find(name).is_empty() && is_listed(task, name, path);
    let gone = change.before.tests().filter(|(name, site)| is_gone(name, &site.path));
    let gone: Vec<&[String]> = gone.map(|(_, site)| site.words.as_slice()).collect();
    let before = change.before.all_words().filter(|words| !gone.contains(words));
    if keeps_tests(before, change.after.all_words()) {
        let what = "a refactoring: behaviour is meant to stay as it is, so no test has to fail without it";
        return said::passed(GATE, weight, what);
    }
    let what = "a refactoring changes tests only by names and imports, and this one changes what tests check";
    said::failed(GATE, weight, what)
}

#[cfg(test)]
mod tests {
    use super::{is_red, weight};
    use domain::{
        evidence::{Absence, Counts, Evidence, Finding, TestNames, Weight},
        feature::Mode,
        plan::TaskType,
        task::Origin,
    };

    #[test]
    fn a_witness_is_asked_of_what_was_planned() {
        let fix = || Origin::Fix { broke: None };
        let (demanded, shown) = (Some(Weight::Required), Some(Weight::Informational));
        let table = [
            (TaskType::Feature, Origin::Planned, Mode::Tdd, demanded),
            (TaskType::Scaffolding, Origin::Planned, Mode::Tdd, demanded),
            (TaskType::Testing, Origin::Planned, Mode::Tdd, demanded),
            (TaskType::Feature, Origin::Planned, Mode::Standard, shown),
            (TaskType::Documentation, Origin::Planned, Mode::Tdd, None),
            (TaskType::Refactoring, Origin::Planned, Mode::Standard, demanded),
            (TaskType::Feature, fix(), Mode::Tdd, None),
        ];
        for (kind, origin, mode, expected) in table {
            assert_eq!(weight(kind, &origin, mode), expected, "{kind:?} {origin:?} {mode:?}");
        }
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table")]
    fn red_is_by_name_and_a_run_that_does_not_compile_is_red() {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
        let finding = |names: Option<(&[&str], &[&str])>| Finding {
            command: "t".to_owned(),
            exit_code: Some(1),
            counts: Counts::Unknown,
            failing: vec![],
            output: String::new(),
            names: names.map(|(passed, failed)| TestNames {
                passed: owned(passed),
                failed: owned(failed),
                skipped: vec![],
            }),
            ..Finding::default()
        };
        let failed = |names| Evidence::Failed(finding(names));
        let over_a_limit = |names| {
            Evidence::Failed(Finding {
                exit_code: None,
                ..finding(names)
            })
        };
        let stopped = |test: Option<&str>, failed: &[&str]| {
            Evidence::Absent(Absence::TimedOut {
                command: "t".to_owned(),
                seconds: 60,
                in_test: test.map(str::to_owned),
                failed: owned(failed),
            })
        };
        let table = [
            (failed(None), true),
            (failed(Some((&["new"], &["other"]))), false),
            (failed(Some((&["other"], &["new"]))), true),
            (failed(Some((&["other"], &["loading new"]))), true),
            (failed(Some((&["other"], &["old"]))), false),
            (over_a_limit(None), false),
            (over_a_limit(Some((&[], &["other"]))), false),
            (over_a_limit(Some((&[], &["new"]))), true),
            (Evidence::Passed(finding(None)), false),
            (Evidence::Absent(Absence::NotReached), false),
            (stopped(None, &[]), false),
            (stopped(Some("other"), &["another"]), false),
            (stopped(Some("new"), &[]), true),
            (stopped(None, &["other", "new"]), true),
        ];
        for (found, expected) in table {
            assert_eq!(
                is_red(&found, &"new".to_owned(), &owned(&["old"])),
                expected,
                "{found:?}"
            );
        }
    }
}
