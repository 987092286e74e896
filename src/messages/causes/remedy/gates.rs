//! The actions for a Gate that failed or could not run: one rule per Gate and reason.

use crate::messages::causes::{
    evidence, problems,
    refused_host::refused_host,
    remedy::{LONGER_TESTS, code, plain},
};
use domain::{
    evidence::{Absence, Evidence, Finding, Gate, GateReport, GateResult, Weight, repeated_test_failures},
    integrity::Rule,
    plan::Criterion,
    problem::{ReviewItem, Severity},
};

/// The most Gates that get actions; the others are in the table.
const MOST_GATES: usize = 3;

/// Returns one or two actions for each Gate that sends the work back.
pub(crate) fn failing(gates: &GateReport, criteria: &[Criterion]) -> Vec<String> {
    let repeated: Vec<usize> = repeated_test_failures(criteria, gates).map(|(number, _)| number).collect();
    let is_new = |result: &&GateResult| !matches!(result.gate, Gate::Check(number) if repeated.contains(&number));
    let setup = gates.setup.as_ref().and_then(failed).map(set_up);
    let tests = failed(&gates.tests).filter(|finding| !gates.all_excused(finding)).map(|finding| tests(gates, finding));
    let others = required(gates).filter(is_new).filter_map(|result| Some((result, failed(&result.evidence)?))).map(
        |(result, finding)| match (result.gate, &gates.tests) {
            // Without a test command, the only remedy is to set one.
            (Gate::RedBeforeGreen, Evidence::Absent(reason @ Absence::NoCommand)) => {
                absence(CorrectionPlace::Setting("test"), reason).into_iter().collect()
            }
            _ => actions_for(result, finding),
        },
    );
    let all = setup.into_iter().chain(tests).chain(others);
    all.take(MOST_GATES).flatten().collect()
}

/// Returns the actions for tasks that pass alone but not together.
pub(crate) fn failing_together(gates: &GateReport) -> Vec<String> {
    let tests = failed(&gates.tests).map(|finding| {
        let first = first_failing(gates, finding);
        format!(
            "Run {} on the integration branch and start from {first}: the tasks pass alone, so look at what two of them \
             share",
            code(&finding.command)
        )
    });
    let others = required(gates).filter_map(|result| Some(actions_for(result, failed(&result.evidence)?)));
    tests.into_iter().chain(others.flatten()).take(MOST_GATES).collect()
}

/// Returns one action for each Gate that could not run.
pub(crate) fn absent(gates: &GateReport) -> Vec<String> {
    let setup = gates.setup.iter().map(|setup| (CorrectionPlace::Setting("setup"), setup));
    let tests = [(CorrectionPlace::Setting("test"), &gates.tests)];
    let others = required(gates).map(|result| (CorrectionPlace::of(result.gate), &result.evidence));
    let all = setup.chain(tests).chain(others);
    let absent = all.filter_map(|(source, evidence)| match evidence {
        Evidence::Absent(reason) => absence(source, reason),
        Evidence::Passed(_) | Evidence::Failed(_) => None,
    });
    absent.take(MOST_GATES).collect()
}

fn required(gates: &GateReport) -> impl Iterator<Item = &GateResult> {
    gates.more.iter().filter(|result| result.weight == Weight::Required)
}

fn failed(evidence: &Evidence) -> Option<&Finding> {
    match evidence {
        Evidence::Failed(finding) => Some(finding),
        Evidence::Passed(_) | Evidence::Absent(_) => None,
    }
}

fn set_up(finding: &Finding) -> Vec<String> {
    vec![format!(
        "Run the set-up {} on the branch: it {}; fix `setup` in `.github/autobuild.yml` or what the change did to it, \
         then resume",
        code(&finding.command),
        exit(finding)
    )]
}

fn exit(finding: &Finding) -> String {
    finding
        .exit_code
        .map_or_else(|| "was ended by a signal or a deadline".to_owned(), |code| format!("exited with {code}"))
}

fn tests(gates: &GateReport, finding: &Finding) -> Vec<String> {
    vec![
        format!(
            "Run {} on the branch and start from {}, then resume with what you found",
            code(&finding.command),
            first_failing(gates, finding)
        ),
        "If a test asks for the wrong thing, push a commit that fixes the test, then resume".to_owned(),
    ]
}

/// Returns the first failing test that is not excused.
fn first_failing(gates: &GateReport, finding: &Finding) -> String {
    let excused = |name: &&String| gates.excused.iter().any(|excused| excused.test == **name);
    let names = finding.names.as_ref().map_or(&finding.failing, |names| &names.failed);
    let first = names.iter().find(|name| !excused(name));
    match (first, gates.without_excused(finding).failed().saturating_sub(1)) {
        (None, _) => "what it prints".to_owned(),
        (Some(name), 0) => code(name),
        (Some(name), more) => format!("{} ({more} more fail)", code(name)),
    }
}

fn actions_for(result: &GateResult, finding: &Finding) -> Vec<String> {
    let names = finding.names.as_ref().map_or(&finding.failing, |names| &names.failed);
    let first = names.first().map_or_else(|| "its output".to_owned(), |name| code(name));
    match result.gate {
        Gate::BaseTests => vec![format!(
            "Decide whether what the tests checked before still holds, beginning with {first}: resume and say so, or name \
             the old behaviour that may go"
        )],
        Gate::RedBeforeGreen => vec![
            "Resume and name a behaviour that the old code gets wrong, so that a new test of it fails without the change"
                .to_owned(),
            "If no test of this task can fail on the old code, set `mode: standard` in `.github/autobuild.yml` on the \
             default branch, then resume"
                .to_owned(),
        ],
        Gate::Coverage => vec![
            format!("Resume and ask for tests of the changed lines that none runs: {}", plain(&evidence::output(finding))),
            "If the bound is too high for this repository, lower `coverage.threshold` in `.github/autobuild.yml` on the \
             default branch, then resume"
                .to_owned(),
        ],
        Gate::Integrity => integrity(&result.items),
        Gate::Check(number) => vec![format!(
            "Look at the check of criterion {number} on the branch ({}): resume with what it shows, or skip the task if the \
             check asks for the wrong thing",
            if finding.command.is_empty() { plain(&evidence::output(finding)) } else { code(&finding.command) }
        )],
        Gate::Smoke => vec![format!(
            "Start the result by hand with {}: it {}",
            code(&finding.command),
            exit(finding)
        )],
        Gate::Experiments | Gate::Probe(_) => Vec::new(),
        Gate::Ci => vec![
            format!("Open the failing run of the repository's CI: {}", plain(&evidence::finding(finding))),
            "If that run fails on the default branch too, fix it there, or set `ci: ignore`, then resume".to_owned(),
        ],
    }
}

fn integrity(items: &[ReviewItem]) -> Vec<String> {
    let mut found = items.iter().filter(|item| item.severity == Severity::MustFix);
    let Some(first) = found.next() else {
        return vec!["Read what integrity found, and resume with guidance on it".to_owned()];
    };
    let rule = |rule: Rule| first.rule() == Some(rule);
    let place = place(first);
    if rule(Rule::Secret) {
        return vec![
            format!("Revoke what stands at {place}: it was pushed, so it counts as known"),
            "Then resume to have it removed: a secret cannot be waived".to_owned(),
        ];
    }
    if rule(Rule::ProtectedPath) {
        return vec![format!(
            "If {place} has to change, change it yourself on the default branch: no Player may; then resume"
        )];
    }
    let more = match found.count() {
        0 => String::new(),
        more => format!(" and at {more} more"),
    };
    vec![
        format!("Look at {place}{more}: {}", plain(&problems::problem(first))),
        "Resume and say what the code should do instead".to_owned(),
    ]
}

fn place(item: &ReviewItem) -> String {
    let file = item.file.as_deref().unwrap_or("the diff");
    match item.line {
        Some(line) => code(&format!("{file}:{line}")),
        None => code(file),
    }
}

/// The place where a person can correct the command of a Gate.
#[derive(Clone, Copy)]
enum CorrectionPlace {
    /// A key of the repository's settings.
    Setting(&'static str),
    /// The check of a criterion of the plan, by the criterion's number from 1.
    Check(usize),
    /// The plan's smoke command.
    Smoke,
    /// A command that the Coach asked for.
    Probe,
}

impl CorrectionPlace {
    fn of(gate: Gate) -> Self {
        match gate {
            Gate::Coverage => Self::Setting("coverage.command"),
            Gate::Ci => Self::Setting("ci"),
            Gate::BaseTests | Gate::RedBeforeGreen | Gate::Integrity | Gate::Experiments => Self::Setting("test"),
            Gate::Check(number) => Self::Check(number),
            Gate::Smoke => Self::Smoke,
            Gate::Probe(_) => Self::Probe,
        }
    }

    /// Explains how to do `what` at this place. A plan in use cannot be changed; the next run makes a new one.
    fn mend(self, what: &str) -> String {
        let in_plan = |part: &str| {
            format!(
                "{what} as {part} in the plan: cancel, label again and give the corrected YAML with the command `plan`"
            )
        };
        match self {
            Self::Setting(key) => format!("{what} as `{key}` in `.github/autobuild.yml`, then resume"),
            Self::Check(number) => in_plan(&format!("the check of criterion {number}")),
            Self::Smoke => in_plan("`smoke`"),
            Self::Probe => "resume and tell the Coach what it can run instead".to_owned(),
        }
    }
}

fn absence(source: CorrectionPlace, reason: &Absence) -> Option<String> {
    Some(match reason {
        Absence::NoCommand => match source {
            CorrectionPlace::Setting(key) => format!(
                "Set the `{key}` command in `.github/autobuild.yml` on the default branch, then resume: none is set and \
                 none could be detected"
            ),
            // These sources always have a command.
            CorrectionPlace::Check(_) | CorrectionPlace::Smoke | CorrectionPlace::Probe => return None,
        },
        Absence::CouldNotStart { command, reason } => format!(
            "Install what {} needs where AutoBuild runs and resume, or {} ({})",
            code(command),
            source.mend("correct it"),
            plain(&evidence::start_failure(reason))
        ),
        Absence::TimedOut { command, seconds, .. } => format!(
            "Make {} end within {seconds} seconds, or {}. Then resume. Or {}",
            code(command),
            LONGER_TESTS,
            source.mend("name a quicker command")
        ),
        Absence::HostRefused { hosts, .. } => {
            let hosts: Vec<String> = hosts.iter().take(3).map(refused_host).collect();
            format!("{}. Then resume", hosts.join(". "))
        }
        Absence::Unreadable { path, reason, .. } => format!(
            "Make the command write {}, or correct its name in `.github/autobuild.yml`, then resume: {}",
            code(path),
            plain(reason)
        ),
        Absence::Unnamed => "Fix the tests that fail on the default branch, or name a JUnit file as `test_report` in \
                             `.github/autobuild.yml`, so that new failures can be told from old ones; then resume"
            .to_owned(),
        Absence::NoResultByName { test } => format!(
            "Name a JUnit file as `test_report` in `.github/autobuild.yml`, so that {} has a result by name, or approve by hand",
            code(test)
        ),
        Absence::NoCi | Absence::CiUnreadable { .. } | Absence::Unfinished { .. } => format!(
            "Find out why the repository's CI gave no answer, start it again and resume, or set `ci: ignore`: {}",
            plain(&evidence::absence(reason))
        ),
        Absence::JudgesPull { .. } => {
            "Do what the check asks on the pull request, or on GitHub: change its title, labels or size, approve it, or sign. \
             Start the check again if it does not start by itself, then resume. `ci: ignore` leaves all checks out"
                .to_owned()
        }
        Absence::CiHeld | Absence::NotReached => return None,
    })
}
