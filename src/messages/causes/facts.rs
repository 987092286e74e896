//! The sentences about the findings of Gates and the runs of their commands.

use crate::messages::causes::evidence;
use domain::{
    evidence::{Absence, Experiment, Fact, NamedTest, TouchedKinds},
    integrity::{Detail, Rule},
    test_outcome::TestOutcome,
    unrun::{RunCondition, RunCure, UnrunOutcome, UnrunTests},
};
use text::shorten;

/// The most names in one sentence.
const NAMED: usize = 10;

/// The longest name in a sentence, in characters.
const LONGEST: usize = 200;

/// The most ranges of lines in one sentence.
const MOST_RANGES: usize = 10;

/// Describes a fact that a Gate found, or a fact about its run.
pub(crate) fn fact(fact: &Fact) -> String {
    match fact {
        Fact::NamedTest { test, result } => named_test(test, result),
        Fact::FileThere(path) => format!("the file `{path}` is there"),
        Fact::FileMissing(path) => format!("there is no file `{path}`"),
        Fact::ChecksPassed(names) => format!("{} passed", list(names)),
        Fact::ChecksFailed(names) => format!("{} failed", list(names)),
        Fact::RegressionCheck => "it passes without the change too, so it is a regression check".to_owned(),
        Fact::BaseHolds { tests, unseen } => base_holds(*tests, unseen.as_ref()),
        Fact::BaseBroken { counted, tests } => {
            let count = |(outcome, times): &(TestOutcome, usize)| format!("{times} {outcome}");
            let counted: Vec<String> = counted.iter().map(count).collect();
            format!("{}: {}", counted.join(", "), list(tests))
        }
        Fact::Witnessed { tests: None } => "the tests fail without the change".to_owned(),
        Fact::Witnessed { tests: Some((number, first)) } => {
            format!("{number} new or changed tests fail without the change, among them {first}")
        }
        Fact::CriterionWitnessed(number) => {
            format!("the check of criterion {number} fails without the change and passes with it")
        }
        Fact::NoWitness { tried, unrun, touched } => no_witness(tried, unrun.as_ref(), *touched),
        Fact::NoLineMeasured => "no changed line is measured by the coverage file".to_owned(),
        Fact::Covered { covered, all, asked } => {
            let percent = f64::from(*covered) * 100.0 / f64::from((*all).max(1));
            format!("{percent:.1} % of the changed lines are covered ({covered} of {all}), {asked} % are asked for")
        }
        Fact::RuleFindings { held: 0, shown: 0, .. } => "nothing found".to_owned(),
        Fact::RuleFindings { held: 0, shown, .. } => format!("{shown} found, which are only shown"),
        Fact::RuleFindings { required, held, .. } => {
            let names: Vec<&str> = required.iter().copied().map(Rule::name).collect();
            format!("{held} found: {}", names.join(", "))
        }
        Fact::Experimented { ran, left_out, seconds } => experimented(ran, left_out, *seconds),
        Fact::FromEarlierRun => {
            "AutoBuild did not run this again: it is what an earlier run of the same files gave.".to_owned()
        }
        Fact::SetUpOn(commit) => {
            format!("It ran on {}: the change touches nothing that set-up reads.", commit.short())
        }
        Fact::Restored(files) => format!("AutoBuild put back what set-up rewrote: {}", list(files)),
        Fact::OverLimit(limit) => format!("AutoBuild stopped it: it used {limit}"),
        Fact::WaitedForHost => "AutoBuild stopped it: it only waited for a host that it does not reach".to_owned(),
    }
}

fn base_holds(tests: Option<usize>, unseen: Option<&Absence>) -> String {
    let held = match tests {
        Some(tests) => format!("{tests} tests of the base hold on the new code"),
        None => "the base's tests, run as they were, say nothing against the new code".to_owned(),
    };
    match unseen {
        None => held,
        Some(why) => format!("{held}; as they were, they gave no result on it: {}", evidence::absence(why)),
    }
}

fn named_test(test: &str, result: &NamedTest) -> String {
    match result {
        NamedTest::Passed => format!("the test `{test}` passed"),
        NamedTest::Failed => format!("the test `{test}` failed"),
        NamedTest::Skipped => format!("the test `{test}` was skipped"),
        NamedTest::NotRun { similar } if similar.is_empty() => format!("no test called `{test}` ran"),
        NamedTest::NotRun { similar } => format!(
            "no test called `{test}` ran, only {}: the check needs the test's whole name, or its last parts",
            list(similar)
        ),
        NamedTest::WrittenNotRun { path, line } => format!("the test `{test}` is in {path}:{line} and did not run"),
        NamedTest::Nowhere => format!("no result and no file of tests names `{test}`"),
    }
}

fn no_witness(tried: &[String], unrun: Option<&UnrunTests>, touched: TouchedKinds) -> String {
    if let ([_, ..], None) = (tried, unrun) {
        let names = list(tried);
        return format!("none of the new or changed tests fails without the change, so they do not show it: {names}");
    }
    let why = match (touched, unrun) {
        (TouchedKinds::Neither, _) => "it touches neither code nor tests".to_owned(),
        (TouchedKinds::CodeOrTests, Some(unrun)) => unrun_tests(unrun),
        (TouchedKinds::CodeOrTests, None) => "it brings no new or changed test".to_owned(),
    };
    format!("nothing proves the change, and no criterion's check fails without it: {why}")
}

fn experimented(ran: &[Experiment], left_out: &[Experiment], seconds: u64) -> String {
    let names = |experiments: &[Experiment]| {
        let names: Vec<&str> = experiments.iter().copied().map(experiment).collect();
        names.join(", ")
    };
    let (ran, out) = (names(ran), names(left_out));
    match (ran.is_empty(), out.is_empty()) {
        (_, true) => format!("ran: {ran}"),
        (true, false) => format!("left out, because {seconds} s were not enough: {out}"),
        (false, false) => {
            format!("ran: {ran}; left out, because {seconds} s for all experiments were not enough: {out}")
        }
    }
}

fn experiment(experiment: Experiment) -> &'static str {
    match experiment {
        Experiment::EmptiedFunctions => "emptied functions",
        Experiment::EachEmptiedFunction => "each emptied function",
        Experiment::OtherReturnValues => "other return values",
        Experiment::ChangedTests => "both forms of changed tests on broken code",
        Experiment::FailingAssertions => "failing assertions",
        Experiment::EachAssertion => "each assertion",
    }
}

/// Describes where new tests without a result are, and how they could be run.
pub(crate) fn unrun_tests(unrun: &UnrunTests) -> String {
    let tests: Vec<String> = unrun.tests.iter().map(|(name, path)| format!("{name} in {path}")).collect();
    let shown = list(&tests);
    let what = match (unrun.outcome, &unrun.condition) {
        (UnrunOutcome::Skipped, _) => "new tests are there and were skipped",
        (UnrunOutcome::NotNamed, Some(_)) => "new tests are there and did not run",
        (UnrunOutcome::NotNamed, None) => "new tests are there and no result of the run names them",
    };
    let Some(RunCondition { code, path, cure }) = &unrun.condition else {
        return format!(
            "{what}: {shown}. If the test command leaves them out, set `test` in `.github/autobuild.yml` to one that runs \
             them"
        );
    };
    let cure = match cure {
        RunCure::TakeAway => "They run once it is taken away".to_owned(),
        RunCure::Meet { example } => {
            let example = example.as_ref();
            let example = example.map(|example| format!(", such as `{example}`")).unwrap_or_default();
            format!("To run them, set `test` or `setup` in `.github/autobuild.yml` so that it lets them run{example}")
        }
    };
    format!("{what}, because of {code} in {path}: {shown}. {cure}")
}

/// Describes the finding, as a part of a sentence.
pub(crate) fn detail(what: &Detail) -> String {
    match what {
        Detail::Nothing => "this file".to_owned(),
        Detail::Code(text) => text.clone(),
        Detail::Test(first) | Detail::Tests { first, more: 0 } => format!("the test `{first}`"),
        Detail::Tests { first, more } => format!("the test `{first}` and {more} more of this file"),
        Detail::InTest { test, code } => format!("{code} in `{test}`"),
        Detail::Function(name) => format!("the function `{name}`"),
        Detail::Size { is, most } => format!("{is} bytes, and {most} are the most"),
        Detail::Restored(path) => format!("`{path}`"),
        Detail::RunBy(command) => format!("`{}` runs this", shorten::middle(command, LONGEST)),
    }
}

pub(crate) fn lines(ranges: &[(u32, u32)]) -> String {
    let one = |(first, last): &(u32, u32)| {
        if first == last { first.to_string() } else { format!("{first}–{last}") }
    };
    let word = match ranges {
        [(first, last)] if first == last => "line",
        _ => "lines",
    };
    let shown: Vec<String> = ranges.iter().take(MOST_RANGES).map(one).collect();
    match ranges.len().saturating_sub(MOST_RANGES) {
        0 => format!("{word} {}", shown.join(", ")),
        more => format!("{word} {} and {more} more", shown.join(", ")),
    }
}

/// Joins the first names of a list.
pub(crate) fn list(names: &[String]) -> String {
    let first = names.iter().take(NAMED);
    let first: Vec<String> = first.map(|name| shorten::middle(name, LONGEST)).collect();
    match names.len().saturating_sub(NAMED) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::{experimented, unrun_tests};
    use domain::{
        evidence::Experiment,
        unrun::{RunCondition, RunCure, UnrunOutcome, UnrunTests},
    };

    #[test]
    fn unrun_tests_are_named_with_the_reason_and_the_cure() {
        let sentence = |outcome, condition: Option<(&str, RunCure)>| {
            unrun_tests(&UnrunTests {
                tests: vec![("a".to_owned(), "tests/test_a.py".to_owned())],
                outcome,
                condition: condition.map(|(code, cure)| RunCondition {
                    code: code.to_owned(),
                    path: "tests/test_a.py".to_owned(),
                    cure,
                }),
            })
        };
        let example = Some("cargo test --features extra".to_owned());
        assert_eq!(
            sentence(UnrunOutcome::NotNamed, Some(("`#[cfg(feature = \"extra\")]`", RunCure::Meet { example }))),
            "new tests are there and did not run, because of `#[cfg(feature = \"extra\")]` in tests/test_a.py: a in \
             tests/test_a.py. To run them, set `test` or `setup` in `.github/autobuild.yml` so that it lets them run, such \
             as `cargo test --features extra`"
        );
        assert_eq!(
            sentence(UnrunOutcome::Skipped, Some(("`@Disabled`", RunCure::TakeAway))),
            "new tests are there and were skipped, because of `@Disabled` in tests/test_a.py: a in tests/test_a.py. They run \
             once it is taken away"
        );
        let unknown = sentence(UnrunOutcome::NotNamed, None);
        assert!(unknown.contains("no result of the run names them: a in tests/test_a.py"));
    }

    #[test]
    fn experiments_that_were_left_out_are_named_with_the_time_that_was_not_enough() {
        let (ran, left_out) = ([Experiment::EmptiedFunctions], [Experiment::EachAssertion]);
        assert_eq!(
            experimented(&ran, &left_out, 30),
            "ran: emptied functions; left out, because 30 s for all experiments were not enough: each assertion"
        );
    }
}
