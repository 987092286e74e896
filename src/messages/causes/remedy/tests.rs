use super::*;
use domain::{
    blocked::{Cost, Defect, Failure, PreFlightCause, PreFlightFault, RepositoryFault, SpentScript, WorkStep},
    budget::{Measure, Month, Purse, Spent},
    ci::{CheckState, OpenCheck, PullCheck},
    evidence::{Absence, Counts, Evidence, Finding, Gate, GateResult, StartFailure, Weight},
    ids::{Millis, TaskId, TurnNumber, User, UserId},
    inquiry::Inquiries,
    integrity::{Detail, Rule},
    problem::{Problem, ReviewItem},
};
use std::collections::BTreeSet;
use text::mistake::SettingsMistake;

fn ada() -> User {
    User { id: UserId(1), login: "ada".to_owned() }
}

fn finding(command: &str, output: &str, failing: &[&str]) -> Finding {
    Finding {
        command: command.to_owned(),
        exit_code: Some(1),
        counts: Counts::Unknown,
        failing: failing.iter().map(|name| (*name).to_owned()).collect(),
        output: output.to_owned(),
        ..Finding::default()
    }
}

fn green() -> GateReport {
    GateReport::new(None, Evidence::Passed(finding("cargo test", "", &[])))
}

fn with(gate: Gate, evidence: Evidence, items: Vec<ReviewItem>) -> GateReport {
    let mut report = green();
    report.more.push(GateResult { gate, evidence, weight: Weight::Required, items });
    report
}

fn item(rule: Rule, code: &str) -> ReviewItem {
    let what = Detail::Code(code.to_owned());
    ReviewItem {
        file: Some("src/a.rs".to_owned()),
        line: Some(7),
        ..ReviewItem::must_fix(Problem::Rule { rule, what })
    }
}

fn open_check(name: &str, state: CheckState) -> OpenCheck {
    let name = name.to_owned();
    OpenCheck { name, state }
}

fn red(gate: Gate, command: &str, output: &str) -> GateReport {
    with(gate, Evidence::Failed(finding(command, output, &["a::old"])), Vec::new())
}

fn absent(reason: Absence) -> GateReport {
    GateReport::new(None, Evidence::Absent(reason))
}

/// Returns the possible objections of the Gates, each with words that only its own actions contain.
fn reports() -> Vec<(GateReport, &'static str)> {
    let integrity = |rule: Rule, description: &str| {
        let sentence = Evidence::Failed(finding("", "1 finding", &[]));
        with(Gate::Integrity, sentence, vec![item(rule, description)])
    };
    vec![
        (
            GateReport::new(None, Evidence::Failed(finding("cargo test", "", &["a::b", "a::c"]))),
            "start from `a::b` (1 more fail)",
        ),
        (
            GateReport::new(Some(Evidence::Failed(finding("npm ci", "", &[]))), Evidence::Absent(Absence::NotReached)),
            "Run the set-up `npm ci`",
        ),
        (red(Gate::BaseTests, "cargo test", ""), "beginning with `a::old`"),
        (
            red(Gate::RedBeforeGreen, "", "0 of 2 new tests fail on the base"),
            "so that a new test of it fails without the change",
        ),
        (red(Gate::Coverage, "", "61.5 % of 26 changed lines, 80 % are asked for"), "`coverage.threshold`"),
        (integrity(Rule::SwallowedFailure, "swallowed failure: `a::b`"), "Look at `src/a.rs:7`"),
        (integrity(Rule::Secret, "secret: a private key"), "Revoke what stands at `src/a.rs:7`"),
        (integrity(Rule::ProtectedPath, "protected path: .github/workflows/ci.yml"), "no Player may"),
        (red(Gate::Check(2), "cargo run", ""), "the check of criterion 2"),
        (red(Gate::Smoke, "cargo run -- --help", ""), "Start the result by hand"),
        (red(Gate::Ci, "", "`lint` failed"), "`ci: ignore`"),
    ]
}

fn lines(reason: &BlockReason, gates: Option<&GateReport>, approvable: Approvable) -> Vec<String> {
    let report = BlockedReport {
        attempts: 0,
        recurring: Vec::new(),
        last_feedback: Vec::new(),
        approvable,
        ways: Vec::new(),
        cost: Cost::default(),
        reason: reason.clone(),
        gates: gates.cloned(),
    };
    suggested_actions(&report, &[])
}

#[test]
fn every_failing_gate_has_actions_of_its_own() {
    let reason = BlockReason::OutOfTurns { turns: 5 };
    let mut first = BTreeSet::new();
    for (report, words) in reports() {
        let actions = lines(&reason, Some(&report), Approvable::NothingPushed);
        assert!(actions.iter().any(|action| action.contains(words)), "{words}: {actions:?}");
        assert!(first.insert(actions[0].clone()), "said twice: {}", actions[0]);
    }
    let none = lines(&reason, Some(&green()), Approvable::NothingPushed);
    assert!(none[0].starts_with("Read the last feedback"), "{none:?}");
}

#[test]
fn without_a_test_command_the_first_action_says_how_to_set_one() {
    let mut report = red(Gate::RedBeforeGreen, "", "nothing proves the change");
    report.tests = Evidence::Absent(Absence::NoCommand);
    let actions = lines(&BlockReason::NoChangeTwice, Some(&report), Approvable::NothingPushed);
    assert!(actions[0].starts_with("Set the `test` command in `.github/autobuild.yml`"), "{actions:?}");
    assert!(!actions.iter().any(|action| action.contains("none of the new tests")), "{actions:?}");
}

#[test]
fn every_absence_has_an_action_of_its_own() {
    let command = || "pytest".to_owned();
    let reasons = [
        (Absence::NoCommand, "Set the `test` command"),
        (
            Absence::CouldNotStart { command: command(), reason: StartFailure::NoPrograms(vec![command()]) },
            "Install what `pytest` needs",
        ),
        (
            Absence::TimedOut { command: command(), seconds: 900, in_test: None, failed: vec![] },
            "end within 900 seconds",
        ),
        (
            Absence::Unreadable { path: "lcov.info".to_owned(), reason: "it is not there".to_owned(), after: None },
            "write `lcov.info`",
        ),
        (Absence::Unnamed, "`test_report`"),
        (
            Absence::Unfinished { checks: vec![open_check("build", CheckState::Running("in_progress".to_owned()))] },
            "CI gave no answer",
        ),
        (
            Absence::JudgesPull {
                checks: vec![open_check("PR title", CheckState::FailedOnPull(PullCheck::WithoutCode))],
            },
            "change its title, labels or size",
        ),
    ];
    let blocked = BlockReason::GatesAbsent { reasons: Vec::new() };
    for (reason, words) in reasons {
        let actions = lines(&blocked, Some(&absent(reason)), Approvable::NothingPushed);
        assert!(actions[0].contains(words), "{words}: {actions:?}");
    }
}

#[test]
fn a_command_of_the_plan_is_corrected_in_the_plan_and_not_in_a_setting() {
    let reasons = || {
        let command = || "./verify.sh".to_owned();
        [
            Absence::CouldNotStart { command: command(), reason: StartFailure::NoShell },
            Absence::TimedOut { command: command(), seconds: 60, in_test: None, failed: vec![] },
        ]
    };
    let gates = [
        (Gate::Check(2), "the check of criterion 2 in the plan"),
        (Gate::Smoke, "`smoke` in the plan"),
        (Gate::Probe(1), "tell the Coach what it can run"),
    ];
    let blocked = BlockReason::GatesAbsent { reasons: Vec::new() };
    for (gate, words) in gates {
        for reason in reasons() {
            let report = with(gate, Evidence::Absent(reason), Vec::new());
            let actions = lines(&blocked, Some(&report), Approvable::NothingPushed);
            assert!(actions[0].contains(words), "{words}: {actions:?}");
            assert!(!actions[0].contains("`test`"), "no setting: {actions:?}");
            assert_eq!(actions[0].contains("the command `plan`"), gate != Gate::Probe(1), "{actions:?}");
        }
    }
}

#[test]
fn an_approval_is_suggested_only_where_it_can_be_done() {
    let reason = BlockReason::OutOfTurns { turns: 1 };
    let suggests = |approvable| {
        let actions = lines(&reason, Some(&green()), approvable);
        actions.iter().any(|action| action.contains("approve"))
    };
    assert!(suggests(Approvable::Yes));
    assert!(!suggests(Approvable::NothingPushed));
    assert!(!suggests(Approvable::Secret));
}

fn of(fault: Failure) -> BlockReason {
    BlockReason::failed(WorkStep::Plan, fault)
}

fn faults() -> Vec<BlockReason> {
    let text = || "x".to_owned();
    vec![
        of(Failure::GitHubUnreachable { message: text() }),
        of(Failure::History { message: text() }),
        of(Failure::Repository { fault: RepositoryFault::Other(text()) }),
        of(Failure::DiskFull { message: text() }),
        of(Failure::NoProgram { program: text(), message: text() }),
        of(Failure::Isolation { message: text() }),
        of(Failure::Database { message: text() }),
        of(Failure::Unreadable { message: text() }),
        of(Failure::Git { message: text() }),
        of(Failure::Machine { message: text() }),
        of(Failure::Defect { defect: Defect::Other(text()) }),
    ]
}

#[test]
fn a_spent_script_is_named_with_what_plays_it_again() {
    let failure = Failure::ScriptSpent(SpentScript {
        script: "/srv/steps.yml".into(),
        steps: 1,
        fitting: 1,
        role: "player".to_owned(),
        task: None,
        turn: TurnNumber(1),
    });
    assert_eq!(
        agents::actions(&failure, "")[0],
        "Add a step for the player to the end of `/srv/steps.yml`, or play its steps from the first again: copy it, and \
         name the copy as the agent, `scripted:<copy>`"
    );
}

/// People cannot follow advice that does not name the setting or the file.
#[test]
fn the_cure_of_an_unusable_answer_is_named() {
    let problem = || "x".to_owned();
    let table = [
        (Failure::ReportMissing, "`model` in `.github/autobuild.yml`"),
        (Failure::DecisionMissing, "`model` in `.github/autobuild.yml`"),
        (Failure::OutputLimit, "`model` in `.github/autobuild.yml`"),
        (Failure::ReportInvalid { problem: problem() }, "`AUTOBUILD_SCHEMA_FILE`"),
        (Failure::DecisionInvalid { problem: problem() }, "`AUTOBUILD_SCHEMA_FILE`"),
    ];
    for (failure, setting) in table {
        let advice = agents::actions(&failure, "").join(". ");
        assert!(advice.contains(setting), "{failure:?}: {advice}");
    }
}

fn reasons() -> Vec<BlockReason> {
    let text = || "x".to_owned();
    let failures = [
        Failure::NoAgentProgram { program: text() },
        Failure::AgentFailed { message: text() },
        Failure::TimedOut { seconds: 1 },
        Failure::WentSilent { seconds: 1 },
        Failure::ReportMissing,
        Failure::DecisionMissing,
    ];
    let failed = failures.map(|failure| BlockReason::Failed { step: WorkStep::Play, failure, printed: String::new() });
    let others = [
        BlockReason::OutOfTurns { turns: 5 },
        BlockReason::NoChangeTwice,
        BlockReason::SameIssues,
        BlockReason::BudgetSpent(Spent {
            purse: Purse::Task,
            measure: Measure::Money,
            used: 5_120_000,
            limit: 5_000_000,
            month: Month::of(Millis(1_795_000_000_000)),
        }),
        BlockReason::GatesAbsent { reasons: Vec::new() },
        BlockReason::Inquiry { by: domain::inquiry::Inquirer::Player, inquiries: Inquiries::default() },
        BlockReason::OpenReview { by: ada() },
        BlockReason::Paused { by: ada() },
        BlockReason::NeedGone { task: TaskId::Planned(1) },
        BlockReason::ForcePushed { by: ada() },
        BlockReason::failed(WorkStep::Other(text()), Failure::GitHubRefused { message: text() }),
        BlockReason::BranchRule { rule: text() },
        BlockReason::PreFlightFailed {
            fault: PreFlightFault::NotRun,
            what: Box::new(PreFlightCause::SetUp(Evidence::Absent(Absence::TimedOut {
                command: text(),
                seconds: 1,
                in_test: None,
                failed: Vec::new(),
            }))),
            output: text(),
        },
        BlockReason::DefaultConflict { files: vec![text()], given_up: Some(TaskId::Sync(1)) },
        BlockReason::WaveGateRed { failures: Vec::new() },
        BlockReason::TasksBlocked { tasks: vec![TaskId::Planned(1)] },
        BlockReason::BadSettings { mistakes: vec![SettingsMistake::NoFile] },
        BlockReason::Crashed { step: WorkStep::Other(text()) },
    ];
    others.into_iter().chain(faults()).chain(failed).collect()
}

#[test]
fn every_reason_has_an_action_of_its_own_and_none_is_a_live_command() {
    let mut first = BTreeSet::new();
    for reason in reasons() {
        let actions = lines(&reason, None, Approvable::Yes);
        assert!(!actions.is_empty(), "{reason:?}");
        assert!(first.insert(actions[0].clone()), "said twice: {}", actions[0]);
        let plain = |action: &String| !action.contains("/autobuild ") && !action.ends_with('.');
        assert!(actions.iter().all(plain), "{reason:?}: {actions:?}");
    }
}

#[test]
fn words_of_others_stay_short_and_on_one_line() {
    let long = "`/autobuild cancel`\n".repeat(4_000);
    let report = GateReport::new(None, Evidence::Failed(finding(&long, &long, &[&long])));
    for reason in reasons() {
        let actions = lines(&reason, Some(&report), Approvable::Yes);
        assert!(actions.len() <= MOST);
        assert!(actions.iter().all(|action| action.len() < 1_000 && !action.contains('\n')));
    }
}
