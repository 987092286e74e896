//! Sections of the living comment about the ground that the work stands on: how it is checked, what was so before, and
//! which tasks AutoBuild added and why.

use crate::messages::{
    links::Links,
    measure::{Measure, bullets},
    untrusted, words,
    words::count,
};
use domain::{
    ci::CiPolicy,
    evidence::Additions,
    feature::{Before, Doubt, Feature, Mode, PlanVersion},
    plan::Check,
    task::{Origin, Task},
};

/// The commands of the Gates, and what a new test and the repository's own CI count for.
pub(super) fn checks(feature: &Feature, version: &PlanVersion, measure: &Measure) -> String {
    let mut lines = Vec::new();
    if !version.commands.trim().is_empty() {
        lines.push(untrusted::inline(&version.commands, measure.text));
    }
    lines.push(
        match feature.rules.mode {
            Mode::Tdd => "Something must show each change: a test or a check that fails without it and passes with it (`mode: tdd`).",
            Mode::Standard => {
                "Whether a test or a check shows a change, by failing without it, only informs (`mode: standard`)."
            }
        }
        .to_owned(),
    );
    lines.push(
        match feature.rules.ci {
            CiPolicy::Wait => "The repository's own CI is evidence where it runs (`ci: wait`).",
            CiPolicy::Ignore => "The repository's own CI is not looked at (`ci: ignore`).",
        }
        .to_owned(),
    );
    if let Some(smoke) = &version.plan.smoke {
        lines.push(format!(
            "After each wave {} runs on the merged result (`smoke`).",
            untrusted::code(smoke, measure.text.min(300))
        ));
    }
    lines.extend(
        version
            .plan
            .tasks
            .iter()
            .filter(|task| !task.removes.is_empty())
            .map(|task| {
                let names: Vec<String> = task
                    .removes
                    .iter()
                    .map(|name| untrusted::code(name, measure.text.min(300)))
                    .collect();
                format!("{} takes away: {}.", task.id, names.join(", "))
            }),
    );
    lines.extend(bound(version));
    bullets(&lines, 20, Clone::clone)
}

/// How the criteria are bound to checks, in numbers.
fn bound(version: &PlanVersion) -> Option<String> {
    let checks = || {
        version
            .plan
            .tasks
            .iter()
            .flat_map(|task| &task.acceptance_criteria)
            .map(|criterion| &criterion.check)
    };
    let of = |wanted: fn(&Check) -> bool, thing: &str| match checks().filter(|check| wanted(check)).count() {
        0 => None,
        number => Some(count(number, thing)),
    };
    let kinds = [
        of(|check| matches!(check, Check::Test(_)), "test"),
        of(|check| matches!(check, Check::Command(_)), "command"),
        of(|check| matches!(check, Check::File(_)), "file"),
    ];
    let all: Vec<String> = kinds.into_iter().flatten().collect();
    (!all.is_empty()).then(|| format!("The criteria are bound to {}.", all.join(", ")))
}

/// What pre-flight found before any Player ran, and what is not supported here.
pub(super) fn preflight(feature: &Feature, links: &Links, measure: &Measure) -> String {
    let Some(found) = &feature.preflight else {
        return String::new();
    };
    let text = measure.text.min(1_000);
    let on = links.commit(&found.commit);
    let mut lines: Vec<String> = Vec::new();
    let setup = found.setup.iter();
    lines.extend(setup.map(|setup| format!("Set-up on {on}: {}.", untrusted::inline(setup, text))));
    lines.push(before(&found.before, &on, text));
    let notes = found.notes.iter();
    lines.extend(notes.map(|note| untrusted::inline(note, text)));
    lines.extend(found.doubts.iter().map(doubt));
    if found.additions == Additions::Refused {
        lines.push(REFUSED.to_owned());
    }
    bullets(&lines, 40, Clone::clone)
}

const REFUSED: &str = "What AutoBuild adds to the test command so that each test is named changes its result here: the \
    command runs as it stands, and tests have names only if it prints them.";

/// A check of a criterion that may never hold.
fn doubt(doubt: &Doubt) -> String {
    match doubt {
        Doubt::UnknownTest { task, test, nearest } => {
            let test = untrusted::code(test, 200);
            let nearest: Vec<String> = nearest.iter().map(|name| untrusted::code(name, 200)).collect();
            match nearest.is_empty() {
                true => format!(
                    "{task} asks for the test {test}, which is not there, and no task of the plan brings tests."
                ),
                false => format!(
                    "{task} asks for the test {test}, which is not there yet. If one of these is meant, correct the plan: {}.",
                    nearest.join(", ")
                ),
            }
        }
        Doubt::MissingProgram { task, command, program } => format!(
            "{task} is checked by {}, but the program {} is not there: install it where AutoBuild runs, or let `setup` do so.",
            untrusted::code(command, 300),
            untrusted::code(program, 100)
        ),
    }
}

fn before(before: &Before, on: &str, text: usize) -> String {
    match before {
        Before::NoTests { why } => format!(
            "No test at all on {on}: {}. Each `feature` task must bring tests.",
            untrusted::inline(why, text)
        ),
        Before::Green { tests } => format!("The tests on {on} pass: {}.", untrusted::inline(tests, text)),
        Before::Red {
            tests, failing, more, ..
        } => {
            let names: Vec<String> = failing.iter().map(|name| untrusted::code(name, 200)).collect();
            let names = match (names.is_empty(), more) {
                (true, _) => "which ones is not named".to_owned(),
                (false, 0) => names.join(", "),
                (false, more) => format!("{} and {more} more", names.join(", ")),
            };
            format!(
                "Tests that fail on {on} already are not held against a task, and cover for no new failure: {names}. {}.",
                untrusted::inline(tests, text)
            )
        }
    }
}

/// Tasks that AutoBuild added to the plan, each with why.
pub(super) fn added(feature: &Feature, links: &Links, measure: &Measure) -> String {
    let added: Vec<String> = feature
        .tasks
        .iter()
        .filter_map(|task| Some(format!("{} in wave {}: {}", task.id, task.wave, why(task, links)?)))
        .collect();
    bullets(&added, measure.rows.min(60), Clone::clone)
}

/// Why a task exists that the plan does not have.
pub(super) fn why(task: &Task, links: &Links) -> Option<String> {
    match &task.origin {
        Origin::Planned => None,
        Origin::Fix { broke: Some(merge) } => Some(format!(
            "the wave gate failed, and {} is the merge that broke it",
            links.commit(merge)
        )),
        Origin::Fix { broke: None } => {
            Some("the wave gate failed, and no single merge of the wave could be found that broke it".to_owned())
        }
        Origin::Sync { other } => Some(format!(
            "the default branch at {} conflicts with the integration branch",
            links.commit(other)
        )),
        Origin::Review { by, .. } => Some(format!(
            "{} asked for changes on the feature pull request",
            words::person(by)
        )),
    }
}
