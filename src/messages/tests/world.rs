//! Sample Features, tasks and turns; all foreign text in them comes from one function.

use crate::messages::{Links, tests::evidence};
use domain::{
    ci::{CiPolicy, CiStatus},
    decision::{CoachDecision, CriterionFinding, CriterionMet, DecisionKind, Outcome, Verdict},
    evidence::{Cause, Counts, Evidence, Finding, GateReport, Part, Unmet},
    feature::{
        Discussion, Feature, Integration, Living, Mode, Phase, PlanApproval, PlanKind, PlanRequest, PlanVersion, Rules,
        Snapshot, State, Suspension, Trust, WaveGate,
    },
    ids::{
        CommentId, Emission, FeatureKey, InstallationId, IssueNumber, Millis, RepoId, Sha, TaskId, TurnNumber, User,
        UserId,
    },
    inquiry::{Answer, Inquirer, Inquiries, Inquiry, Round},
    isolation::Level,
    plan::{Check, Criterion, Factors, Plan, PlannedTask, Risk, TaskType, TestEffort},
    problem::{ReviewItem, Severity},
    report::{Discrepancy, PlayerReport},
    task,
    task::{MergePolicy, Task, Turn, TurnInput, TurnKind, Waiver, Work},
    wave,
};

/// A function that supplies every text that issues, agents, tools and people write.
pub(super) type Words<'a> = &'a dyn Fn(&str) -> String;

/// Returns harmless text unchanged.
pub(super) fn decent(text: &str) -> String {
    text.to_owned()
}

pub(super) fn links() -> Links {
    Links::new("https://github.com/", &"acme/shop".parse().unwrap())
}

pub(super) fn user(login: &str) -> User {
    User { id: UserId(7), login: login.to_owned() }
}

pub(super) fn sha(digit: char) -> Sha {
    digit.to_string().repeat(40).parse().unwrap()
}

fn criterion(text: String, check: Check) -> Criterion {
    Criterion { text, check }
}

fn planned(id: u16, kind: TaskType, say: Words<'_>, name: &str, needs: &[u16]) -> PlannedTask {
    PlannedTask {
        id: TaskId::Planned(id),
        name: say(name),
        kind,
        description: say("Authorization code flow with PKCE.\nKeep the old tokens valid."),
        acceptance_criteria: vec![
            criterion(say("A refresh token is used once"), Check::Test(say("auth::refresh_once"))),
            criterion(say("The help text lists the flag"), Check::Command(say("cargo run -- --help"))),
            criterion(say("The page exists"), Check::File(say("docs/auth.md"))),
            criterion(say("The consent page reads well"), Check::Human),
        ],
        files: vec![say(if id == 3 { "docs/auth.md" } else { "src/auth.rs" })],
        factors: Factors { integration_points: 1, tests: TestEffort::Unit, risks: vec![Risk::Security] },
        changes: Vec::new(),
        removes: Vec::new(),
        dependencies: needs.iter().copied().map(TaskId::Planned).collect(),
    }
}

pub(super) fn plan(say: Words<'_>) -> Plan {
    Plan {
        name: say("User authentication"),
        description: say("Add an OAuth2 sign-in flow."),
        tasks: vec![
            planned(1, TaskType::Scaffolding, say, "Create the auth service skeleton", &[]),
            planned(2, TaskType::Feature, say, "Implement the OAuth2 flow", &[1]),
            planned(3, TaskType::Documentation, say, "Describe the sign-in", &[]),
        ],
        smoke: Some(say("cargo run -- --help")),
    }
}

/// The tests failed, by this command.
pub(super) fn red_tests(command: &str) -> Unmet {
    Unmet {
        part: Part::Tests,
        cause: Cause::Failed(Finding { command: command.to_owned(), exit_code: Some(101), ..Finding::default() }),
    }
}

pub(super) fn gates(say: Words<'_>, exit_code: i32) -> GateReport {
    let finding = |command: &str, failing: Vec<String>| Finding {
        command: say(command),
        exit_code: Some(exit_code),
        counts: Counts::Known { passed: 11, failed: u32::try_from(failing.len()).unwrap(), skipped: 0 },
        failing,
        output: say("running 12 tests\ntest auth::refresh_once ... FAILED\n"),
        ..Finding::default()
    };
    match exit_code {
        0 => GateReport {
            isolation: Some(Level::L3),
            setup: Some(Evidence::Passed(finding("cargo fetch", Vec::new()))),
            tests: Evidence::Passed(finding("cargo test", Vec::new())),
            excused: evidence::excused(say),
            questions: Vec::new(),
            intended: Vec::new(),
            more: evidence::all_passed(say),
        },
        _ => GateReport {
            isolation: Some(Level::L0),
            setup: None,
            tests: Evidence::Failed(finding("cargo test", vec![say("auth::refresh_once")])),
            excused: evidence::excused(say),
            questions: Vec::new(),
            intended: Vec::new(),
            more: evidence::broken(say),
        },
    }
}

pub(super) fn items(say: Words<'_>) -> Vec<ReviewItem> {
    let item = |severity, category: &str, description: &str| ReviewItem {
        severity,
        file: Some(say("src/auth.rs")),
        line: Some(12),
        ..ReviewItem::must_fix_remark(&say(category), &say(description))
    };
    vec![
        ReviewItem {
            suggestion: Some(say("    tokens.remove(&old)?;")),
            ..item(Severity::MustFix, "correctness", "A token can be used twice")
        },
        ReviewItem { line: Some(900), ..item(Severity::MustFix, "test", "No test for an expired token") },
        ReviewItem {
            suggestion: Some(say("Name it after what it returns")),
            ..item(Severity::ShouldFix, "design", "The name `get` says nothing")
        },
        ReviewItem { file: None, line: None, ..item(Severity::NiceToHave, "design", "The module could be split") },
    ]
}

pub(super) fn verdict(say: Words<'_>, outcome: Outcome) -> Verdict {
    let (decision, met, items) = match outcome {
        Outcome::Approve => (DecisionKind::Approve, CriterionMet::Met, Vec::new()),
        Outcome::Feedback => (DecisionKind::Feedback, CriterionMet::NotMet, items(say)),
    };
    Verdict {
        outcome,
        decision: Some(CoachDecision {
            decision,
            summary: say("The flow works but for refresh."),
            criteria: vec![CriterionFinding {
                criterion: 1,
                met,
                evidence: say("auth::refresh_once in src/auth.rs:40"),
            }],
            tests: None,
            issues: items.clone(),
            feedback: say("Use each token once."),
            answers: Vec::new(),
            commands: Vec::new(),
            ignored: Vec::new(),
        }),
        breaches: Vec::new(),
        open_questions: Vec::new(),
        items,
    }
}

pub(super) fn turn(say: Words<'_>, number: u32, outcome: Outcome) -> Turn {
    Turn {
        number: TurnNumber(number),
        attempt: 1,
        kind: TurnKind::Full,
        input: TurnInput::default(),
        started_at: Millis(0),
        ended_at: Some(Millis(1)),
        ci_since: None,
        base: Some(sha('a')),
        head: Some(sha('b')),
        work: Work::Pushed,
        report: Some(PlayerReport {
            summary: say("The flow is done and all tests pass."),
            implementation_notes: say("Tokens are kept in memory."),
            concerns: vec![say("The clock may jump")],
            ..PlayerReport::default()
        }),
        left_out: Vec::new(),
        discrepancies: vec![Discrepancy::CheckFailed {
            number: 2,
            text: say("A token is used once"),
            finding: Finding {
                command: say("cargo test"),
                exit_code: Some(1),
                failing: vec![say("auth::once")],
                ..Finding::default()
            },
        }],
        gates: Some(gates(say, if outcome == Outcome::Approve { 0 } else { 101 })),
        verdict: Some(verdict(say, outcome)),
    }
}

/// Returns a Feature whose planner and second task got answers.
pub(super) fn answered(feature: &Feature, say: Words<'_>) -> Feature {
    let mut feature = feature.clone();
    let round = |by: Inquirer, answer: Answer| Round { by, inquiries: inquiries(say), answer };
    let words = Answer::Words { by: user("ida"), text: say("Tabs.\nAnd the short name.") };
    feature.inquiries = vec![round(Inquirer::Planner, words)];
    let by = user("ida");
    feature.tasks[1].next.answers =
        vec![round(Inquirer::Designer, Answer::Defaults { by }), round(Inquirer::Player, Answer::Unattended)];
    feature
}

/// Returns two questions, and a count of others.
pub(super) fn inquiries(say: Words<'_>) -> Inquiries {
    let inquiry = |question: &str, default: &str| Inquiry { question: say(question), default: default.to_owned() };
    Inquiries { questions: vec![inquiry("Tabs or spaces?", "spaces"), inquiry("Which name?", "")], left_out: 2 }
}

pub(super) fn rules() -> Rules {
    Rules {
        commands: domain::feature::Commands::Bare,
        max_turns: 5,
        max_parallel_tasks: 2,
        merge: MergePolicy::Auto,
        plan_approval: PlanApproval::From(7),
        mode: Mode::Tdd,
        ci: CiPolicy::Wait,
        inquiries: domain::inquiry::InquiryPolicy::ByAuthor,
        records: domain::feature::Records::WhileBuilding,
        titles: domain::titles::TitleForm::default(),
        waived: domain::feature::WaivedConclusion::Neutral,
    }
}

/// Returns a Feature in progress: one task merged, one in its second turn, one waiting.
pub(super) fn feature(say: Words<'_>) -> Feature {
    let mut feature = without_plan(say);
    let plan = plan(say);
    feature.state = State::Building { phase: Phase::Tasks };
    feature.wave = 1;
    let waves = wave::waves(&plan);
    feature.tasks = plan
        .tasks
        .iter()
        .map(|planned| {
            let wave = waves.wave_of(planned.id).unwrap();
            let rules = feature.task_rules();
            Task::planned(planned.clone(), u32::try_from(wave).unwrap(), &rules)
        })
        .collect();
    feature.plan = Some(PlanVersion {
        number: 1,
        plan,
        hash: "0123456789abcdef".repeat(4),
        created: Millis(1_768_473_000_000),
        complexity: 4,
        notes: vec![say("id: FEAT-42 instead of FEAT-7")],
        commands: say("Tests: `cargo test`, detected from Cargo.toml."),
        base: sha('c'),
        shown_at: None,
        waits: Vec::new(),
    });
    feature.integration =
        Some(Integration { branch: "autobuild/42/integration".to_owned(), base: sha('c'), head: sha('d') });
    feature
}

pub(super) fn without_plan(say: Words<'_>) -> Feature {
    Feature {
        key: FeatureKey { repo: RepoId(1), issue: IssueNumber(42), run: 1 },
        installation: InstallationId(1),
        state: State::Planning { emission: Emission(1) },
        snapshot: Snapshot {
            title: say("Sign in with OAuth2"),
            body: say("Please."),
            author: user("ida"),
            labelled_by: user("ida"),
            at: Millis(0),
            requested_at: Millis(0),
            trust: Trust::Writers,
            wanted: PlanKind::Plan,
            parts: text::visible::HiddenParts::default(),
            discussion: Discussion::default(),
        },
        rules: rules(),
        settings: serde_json::json!({
            "label": say("autobuild"),
            "max_turns": 5,
            "test": say("cargo test"),
            "setup": null,
            "coverage": { "command": null, "threshold": 80 },
        }),
        request: PlanRequest::default(),
        inquiries: Vec::new(),
        plan: None,
        preflight: None,
        integration: None,
        pull: None,
        wave: 0,
        more_fixes: 0,
        failing_base: domain::feature::FailingBase::Asks,
        gates: Vec::new(),
        ci: CiStatus::default(),
        living: None,
        failed_acts: Vec::new(),
        checking: None,
        reading_ci: None,
        suspension: Suspension::None,
        emitted: Emission(1),
        tasks: Vec::new(),
    }
}

/// Returns the same Feature later: merged, overridden and blocked tasks, a wave gate, a living comment.
pub(super) fn busy(say: Words<'_>) -> Feature {
    let mut feature = feature(say);
    feature.living = Some(Living { comment: CommentId(99), edited_at: Millis(0) });
    feature.gates = vec![WaveGate {
        wave: 1,
        head: sha('d'),
        merged: vec![TaskId::Planned(1)],
        report: gates(say, 0),
        stands_for: None,
    }];
    let [first, second, third] = feature.tasks.as_mut_slice() else {
        panic!("three tasks");
    };
    *first = pulled(first.clone(), 101, vec![turn(say, 1, Outcome::Approve)]);
    first.state = task::State::Completed { commit: Some(sha('e')), by: task::MergedBy::AutoBuild };
    *second = pulled(second.clone(), 102, (1..=5).map(|n| turn(say, n, Outcome::Feedback)).collect());
    second.state = task::State::Blocked { reason: domain::blocked::BlockReason::OutOfTurns { turns: 5 } };
    *third = pulled(third.clone(), 103, vec![turn(say, 1, Outcome::Feedback)]);
    third.waived = vec![Waiver {
        by: user("ida"),
        facts: vec![
            task::WaivedFact::Finding(ReviewItem::must_fix_remark("design", &say("the clock is read"))),
            task::WaivedFact::Test(say("auth::clock")),
        ],
    }];
    third.state = task::State::Completed { commit: Some(sha('f')), by: task::MergedBy::AutoBuild };
    feature
}

fn pulled(task: Task, pull: u64, turns: Vec<Turn>) -> Task {
    Task { head: Some(sha('b')), pull: Some(domain::ids::PullNumber(pull)), turns, ..task }
}
