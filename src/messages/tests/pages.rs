//! Whole comments, reviews, check runs and pull requests.

use super::{snapshot, world};
use crate::{
    messages,
    messages::{MAX_CHARS, Medium, tests::world::decent},
};
use domain::{
    at_work::{AgentState, AtWork, RunActivity},
    blocked::{BlockReason, Failure, WorkStep as Step},
    cost::{Cost, Spending, Waiting, WaitsOn},
    decision::Outcome,
    evidence::{Absence, Additions, Cause, Evidence, Finding, GateReport, Part, Unmet},
    feature::{ApprovalWhy, CancelledWhy, Continuation, Feature, Phase, PreFlight, State, Suspension, TestsBefore},
    ids::{Emission, Millis, PullNumber, TaskId, TurnNumber},
    plan::{
        Plan,
        parse::{PlanAuthor, PlanContext},
        yaml::PlanHeader,
    },
    plan_block::find_plan_block,
    problem::{Breach, ReviewItem, Severity},
    task,
    task::Work,
};

fn living(feature: &Feature) -> String {
    messages::living(feature, &Spending::default(), &world::links())
}

fn waiting() -> Feature {
    let mut feature = world::feature(&decent);
    feature.state = State::AwaitingApproval;
    feature.integration = None;
    if let Some(plan) = &mut feature.plan {
        plan.waits = vec![ApprovalWhy::Author, ApprovalWhy::Commands];
    }
    feature
}

#[test]
fn the_living_comment_in_full() {
    snapshot!("living_awaiting_approval", living(&waiting()));
    snapshot!("living_building", living(&world::busy(&decent)));
}

#[test]
#[allow(clippy::too_many_lines, reason = "one page, looked at as a whole")]
fn the_living_comment_says_where_the_feature_stands() {
    let by = || world::user("ida");
    let building = |phase| State::Building { phase };
    let blocked = |reason| State::Blocked { reason, phase: Phase::Tasks };
    let states = vec![
        State::Planning { emission: Emission(1) },
        State::AwaitingApproval,
        building(Phase::Planning { emission: Emission(1) }),
        building(Phase::OpeningBranch { emission: Emission(1) }),
        building(Phase::MergingDefault { emission: Emission(1), then: Continuation::Wave }),
        building(Phase::Tasks),
        building(Phase::Gate { emission: Emission(1), then: Continuation::Wave }),
        building(Phase::OpeningPull { emission: Emission(1) }),
        State::Paused { phase: Phase::Tasks, by: by() },
        blocked(BlockReason::DefaultConflict {
            files: vec!["src/auth.rs".to_owned()],
            given_up: Some(domain::ids::TaskId::Sync(1)),
        }),
        blocked(BlockReason::TasksBlocked { tasks: vec![domain::ids::TaskId::Planned(2)] }),
        State::InReview,
        State::Completed,
        State::Cancelled { why: CancelledWhy::LabelRemoved(by()) },
        State::Failed {
            author: PlanAuthor::Agent,
            message: "tasks.0.acceptance_criteria: TASK-001 has no criterion".to_owned(),
        },
    ];
    let said: Vec<String> = states
        .into_iter()
        .map(|state| {
            let mut feature = world::without_plan(&decent);
            feature.pull = matches!(state, State::InReview | State::Completed).then_some(PullNumber(104));
            feature.state = state;
            living(&feature)
        })
        .collect();
    snapshot!("living_states", said.join("\n\n----\n\n"));
}

#[test]
fn turns_that_no_pull_request_tells_of_are_told_in_the_living_comment() {
    let mut feature = world::feature(&decent);
    feature.suspension = Suspension::Suspended;
    for (task, work) in feature.tasks.iter_mut().zip([Work::NoChange, Work::Held]) {
        let turn = world::turn(&decent, 1, Outcome::Feedback);
        task.turns = vec![task::Turn { work, ..turn }];
    }
    let said = living(&feature);
    assert!(said.contains("TASK-001, turn 1: no change."), "{said}");
    assert!(said.contains("TASK-002, turn 1: the commit may not be pushed"), "{said}");
    assert!(said.contains("The installation of AutoBuild is suspended"), "{said}");
}

#[test]
fn the_yaml_in_the_living_comment_parses_back_to_the_same_plan() {
    let feature = world::busy(&decent);
    let text = find_plan_block(&living(&feature)).unwrap();
    let header = PlanHeader::planned("FEAT-42", "2026-01-15T10:30:00Z");
    let context =
        PlanContext { max_tasks: 20, header: &header, file_exists: &|_| true, protecting: &|_| None, words: &[] };
    let plan = Plan::parse_yaml(&text, &context).unwrap().plan;
    assert_eq!(Some(plan), feature.plan.map(|version| version.plan));
}

fn in_diff(path: &str, line: u32) -> bool {
    path == "src/auth.rs" && line == 12
}

/// A change of one file; the diff shows its line 12.
const CHANGE: messages::ReviewedDiff<'_> = messages::ReviewedDiff { in_diff: &in_diff, files: &[] };

fn render_review(review: &messages::Review) -> String {
    let inline: Vec<String> =
        review.inline.iter().map(|inline| format!("== on {}:{}\n{}", inline.path, inline.line, inline.body)).collect();
    let event = match review.outcome {
        Outcome::Approve => "Approve",
        Outcome::Feedback => "RequestChanges",
    };
    format!("{event}\n\n{}\n\n{}", review.body, inline.join("\n\n"))
}

#[test]
fn a_review_for_feedback_and_one_for_approval() {
    let feature = world::busy(&decent);
    let review = |task: usize, turn: usize| {
        let task = &feature.tasks[task];
        messages::review(&feature, task, &task.turns[turn], None, &world::links(), CHANGE).unwrap()
    };
    snapshot!("review_feedback", render_review(&review(1, 1)));
    snapshot!("review_approve", render_review(&review(0, 0)));
    snapshot!("review_folded", messages::fold_inline(&review(1, 0)));
}

#[test]
fn a_review_of_a_turn_that_no_coach_saw() {
    let mut feature = world::busy(&decent);
    let task = &mut feature.tasks[1];
    let mut turn = world::turn(&decent, 6, Outcome::Feedback);
    turn.head = None;
    turn.work = Work::NoChange;
    turn.gates = None;
    turn.report = None;
    turn.discrepancies.clear();
    turn.verdict = Some(domain::contract::verdict_on_no_change());
    task.turns.push(turn.clone());
    let task = feature.tasks[1].clone();
    let review = messages::review(&feature, &task, &turn, None, &world::links(), CHANGE).unwrap();
    snapshot!("review_no_change", render_review(&review));
    let open = task::Turn { verdict: None, ..turn };
    assert_eq!(messages::review(&feature, &task, &open, None, &world::links(), CHANGE), None);
    assert_eq!(messages::check_run(&world::feature(&decent), &feature.tasks[0], &open, &world::links()), None);
}

/// After a verdict on a change, two turns change nothing. The report states that once, and names the things that must
/// still be fixed.
#[test]
fn a_block_for_turns_without_a_change_shows_what_the_coach_asked_for() {
    let mut feature = world::busy(&decent);
    let task = &mut feature.tasks[1];
    for number in [6, 7] {
        task.turns.push(task::Turn {
            head: None,
            work: Work::NoChange,
            gates: None,
            report: None,
            left_out: Vec::new(),
            discrepancies: Vec::new(),
            verdict: Some(domain::contract::verdict_on_no_change()),
            ..world::turn(&decent, number, Outcome::Feedback)
        });
    }
    task.state = task::State::Blocked { reason: BlockReason::NoChangeTwice };
    let task = &feature.tasks[1];
    let (links, cost) = (world::links(), Cost::default());
    let review = messages::review(&feature, task, &task.turns[6], Some(cost), &links, CHANGE).unwrap();
    let open = review.body.split("<details>").next().unwrap();
    assert!(open.contains("#### Fix first") && open.contains("No test for an expired token"), "{open}");
    assert_eq!(review.body.matches("changed nothing").count(), 1, "{}", review.body);
    assert!(!open.contains("without a change to any file"), "{open}");
    // The commit of turn 5 was judged, so its check run shows the task's state.
    let check = messages::check_run(&feature, task, &task.turns[4], &links).unwrap();
    assert_eq!(
        (check.title.as_str(), check.conclusion),
        ("Blocked after turn 7: no change in two turns", domain::ci::CheckConclusion::ActionRequired)
    );
    assert!(check.summary.contains("Two turns in a row changed nothing."), "{}", check.summary);
}

/// A review fits on a screen: of many items, only the first that must be fixed are open.
#[test]
fn of_many_items_only_the_heaviest_stand_in_the_open() {
    let mut feature = world::busy(&decent);
    let turn = &mut feature.tasks[1].turns[1];
    turn.gates = None;
    let verdict = turn.verdict.as_mut().unwrap();
    let item = |severity, number: usize| ReviewItem {
        severity,
        file: None,
        line: None,
        ..ReviewItem::must_fix_remark("design", &format!("{severity:?} {number}"))
    };
    let severities = [Severity::NiceToHave, Severity::ShouldFix, Severity::MustFix];
    verdict.items =
        severities.into_iter().flat_map(|severity| (1..=8).map(move |number| item(severity, number))).collect();
    let task = &feature.tasks[1];
    let review = messages::review(&feature, task, &task.turns[1], None, &world::links(), CHANGE).unwrap();
    let open = review.body.split("<details>").next().unwrap();
    assert!(open.contains("MustFix 6") && !open.contains("MustFix 7"), "{open}");
    assert!(!open.contains("ShouldFix") && !open.contains("NiceToHave"), "{open}");
    assert!(review.body.contains("All 24 items in full"), "{}", review.body);
}

/// An agent's output is mentioned only if there is some.
#[test]
fn advice_on_a_failed_agent_says_where_to_look() {
    let mut feature = world::busy(&decent);
    let mut says = |printed: &str| {
        feature.tasks[1].state = task::State::Blocked {
            reason: BlockReason::Failed {
                step: Step::Coach,
                failure: Failure::AgentFailed { message: "exit code 127, without a result".to_owned() },
                printed: printed.to_owned(),
            },
        };
        messages::blocked_report(&feature, &feature.tasks[1], Cost::default(), &world::links()).unwrap()
    };
    let (silent, loud) = (says(""), says("claude: no such model"));
    assert!(silent.contains("The Coach failed at every try: exit code 127"), "{silent}");
    assert!(silent.contains("start its program by hand") && !silent.contains("printed last"), "{silent}");
    assert!(loud.contains("Read what the agent printed last"), "{loud}");
    for report in [silent, loud] {
        assert_eq!(report.matches("exit code 127").count(), 1, "{report}");
    }
}

#[test]
fn an_approval_that_a_contract_lowered_says_which() {
    let mut feature = world::busy(&decent);
    let turn = &mut feature.tasks[1].turns[0];
    let mut verdict = world::verdict(&decent, Outcome::Approve);
    verdict.outcome = Outcome::Feedback;
    verdict.breaches = vec![Breach::Gate(world::red_tests("cargo test"))];
    turn.verdict = Some(verdict);
    let task = &feature.tasks[1];
    let review = messages::review(&feature, task, &task.turns[0], None, &world::links(), CHANGE).unwrap();
    assert!(review.body.starts_with("### ❌ Changes requested"), "{}", review.body);
    assert!(review.body.contains("- gates_passed: tests failed: `cargo test` exited with 101"));
}

#[test]
fn check_runs_conclude_as_the_verdict_does() {
    let feature = world::busy(&decent);
    let check = |task: usize, turn: usize| {
        let task = &feature.tasks[task];
        let check = messages::check_run(&feature, task, &task.turns[turn], &world::links()).unwrap();
        format!("== {:?} · {}\n{}", check.conclusion, check.title, check.summary)
    };
    let wave = messages::wave_check(&feature, &feature.gates[0]);
    let absent = domain::feature::WaveGate {
        report: GateReport {
            isolation: None,
            setup: None,
            tests: Evidence::Absent(Absence::NoCommand),
            excused: Vec::new(),
            questions: Vec::new(),
            intended: Vec::new(),
            more: Vec::new(),
        },
        ..feature.gates[0].clone()
    };
    let absent = messages::wave_check(&feature, &absent);
    let red = domain::feature::WaveGate { report: world::gates(&decent, 101), ..feature.gates[0].clone() };
    let red = messages::wave_check(&feature, &red);
    let line = |check: &messages::CheckRun| format!("== {:?} · {}", check.conclusion, check.title);
    let said = [
        check(0, 0),
        check(1, 0),
        check(1, 4),
        check(2, 0),
        format!("{}\n{}", line(&wave), wave.summary),
        line(&red),
        line(&absent),
    ];
    snapshot!("check_runs", said.join("\n\n"));
}

#[test]
fn blocked_reports() {
    let mut feature = world::busy(&decent);
    let links = world::links();
    snapshot!("blocked_task", messages::blocked_report(&feature, &feature.tasks[1], Cost::default(), &links).unwrap());
    assert_eq!(messages::blocked_report(&feature, &feature.tasks[0], Cost::default(), &links), None);
    assert_eq!(messages::feature_blocked(&feature, Cost::default(), &links), None);
    assert_eq!(messages::blocked_in_short(&feature, Medium::Markdown), Vec::<String>::new());
    feature.state = State::Blocked {
        reason: BlockReason::WaveGateRed { failures: vec![world::red_tests("cargo test")] },
        phase: Phase::Tasks,
    };
    feature.gates[0].report = world::gates(&decent, 101);
    snapshot!("blocked_feature", messages::feature_blocked(&feature, Cost::default(), &links).unwrap());
}

#[test]
fn inquiries() {
    let mut feature = world::answered(&world::busy(&decent), &decent);
    let inquiry =
        || BlockReason::Inquiry { by: domain::inquiry::Inquirer::Player, inquiries: world::inquiries(&decent) };
    let reason = inquiry();
    feature.tasks[1].state = task::State::Blocked { reason };
    let tasks = vec![feature.tasks[1].id];
    let reason = BlockReason::TasksBlocked { tasks };
    let phase = Phase::Tasks;
    feature.state = State::Blocked { reason, phase };
    let links = world::links();
    let task = &feature.tasks[1];
    let mut pages = vec![
        messages::blocked_report(&feature, task, Cost::default(), &links).unwrap(),
        messages::blocked_check(&feature, task).unwrap().title,
        messages::blocked_in_short(&feature, Medium::Markdown).join("\n\n"),
        messages::task_pull(&feature, task, &[]).body,
    ];
    let living = living(&feature);
    for part in ["**State: asks.**", "- TASK-002 asks.", "Questions and answers"] {
        assert!(living.contains(part), "{part}: {living}");
    }
    let (reason, phase) = (inquiry(), Phase::Planning { emission: Emission(1) });
    feature.state = State::Blocked { reason, phase };
    pages.push(messages::feature_blocked(&feature, Cost::default(), &links).unwrap());
    pages.extend(messages::own_defaults(&world::inquiries(&decent)));
    snapshot!("inquiries", pages.join("\n\n----\n\n"));
}

/// A terminal has no folds, so the items and the output must be shown openly.
#[test]
fn blocked_in_short() {
    let mut feature = world::busy(&decent);
    feature.state =
        State::Blocked { reason: BlockReason::TasksBlocked { tasks: vec![feature.tasks[1].id] }, phase: Phase::Tasks };
    let out_of_turns = messages::blocked_in_short(&feature, Medium::Markdown);
    feature.tasks[1].state = task::State::Blocked {
        reason: BlockReason::Failed {
            step: Step::Play,
            failure: Failure::AgentFailed { message: "exit code 127".to_owned() },
            printed: "claude: no such model".to_owned(),
        },
    };
    let failed = messages::blocked_in_short(&feature, Medium::Markdown);
    assert!(failed[0].contains("What the agent printed last:\n\n```text\nclaude: no such model\n```"), "{failed:?}");
    snapshot!("blocked_in_short", out_of_turns.join("\n\n"));
    let in_terminal = messages::blocked_in_short(&feature, Medium::Terminal).concat();
    assert!(in_terminal.contains("What the agent printed last:\n\n  claude: no such model\n"), "{in_terminal}");
}

/// A terminal shows every character, so its texts contain no Markdown marks or links, not even from foreign text.
#[test]
fn texts_for_a_terminal_hold_no_markdown() {
    let hostile = |_: &str| "a_b <b> [x](http://evil) **no** @everyone \u{1b}[2J".to_owned();
    let mut feature = world::busy(&hostile);
    feature.tasks[1].state = task::State::Blocked { reason: BlockReason::NoChangeTwice };
    let judged = feature.tasks[1].turns.iter().find(|turn| turn.verdict.is_some()).unwrap();
    let verdict = judged.verdict.as_ref().unwrap();
    let mut texts = vec![
        messages::state_in_terminal(&feature),
        messages::task_in_terminal(&feature.tasks[1]),
        messages::verdict_in_terminal(&feature.tasks[1], judged, verdict),
        messages::stopped_task(&feature, &feature.tasks[1]).unwrap(),
    ];
    texts.extend(messages::notes_in_terminal(&feature, &Spending::default()));
    for text in &texts {
        for mark in ["&lt;", "&#", "\\_", "\u{1b}", "\u{200b}", "](http://f", "<details>", "**must_fix**"] {
            assert!(!text.contains(mark), "{mark:?}: {text}");
        }
    }
    assert!(texts[2].contains("a_b <b> [x](http://evil)"), "{}", texts[2]);
}

/// The terminal must give the same advice as the comment on the issue, which depends on the Gates' results.
#[test]
fn a_red_wave_gate_gets_the_same_advice_in_the_terminal_and_on_the_issue() {
    let mut feature = world::busy(&decent);
    feature.tasks.clear();
    feature.state = State::Blocked {
        reason: BlockReason::WaveGateRed { failures: vec![world::red_tests("cargo test")] },
        phase: Phase::Tasks,
    };
    feature.gates[0].report = world::gates(&decent, 101);
    let advice = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
        lines.map(str::to_owned).collect()
    };
    let on_issue = messages::feature_blocked(&feature, Cost::default(), &world::links()).unwrap();
    let in_terminal = messages::blocked_in_short(&feature, Medium::Markdown).concat();
    assert!(advice(&on_issue).len() > 1, "{on_issue}");
    assert_eq!(advice(&in_terminal), advice(&on_issue));
}

/// If a test command fails before any change without naming a test, its output is shown nowhere else.
#[test]
fn what_red_tests_without_names_printed_is_part_of_the_block() {
    let mut feature = world::busy(&decent);
    let links = world::links();
    let before = TestsBefore::Red {
        tests: Evidence::Failed(Finding { command: "npm tset".to_owned(), exit_code: Some(1), ..Finding::default() }),
        failing: Vec::new(),
        more: 0,
        output: "npm error Unknown command: \"tset\"".to_owned(),
    };
    feature.preflight = Some(PreFlight {
        commit: world::sha('b'),
        setup: None,
        before,
        notes: Vec::new(),
        doubts: vec![],
        additions: Additions::None,
    });
    feature.state =
        State::Blocked { reason: BlockReason::TasksBlocked { tasks: vec![feature.tasks[1].id] }, phase: Phase::Tasks };
    let reasons = vec![Unmet { part: Part::Tests, cause: Cause::Absent(Absence::Unnamed) }];
    feature.tasks[1].state = task::State::Blocked { reason: BlockReason::GatesAbsent { reasons } };
    let said = |feature: &Feature| {
        let report = messages::blocked_report(feature, &feature.tasks[1], Cost::default(), &links).unwrap();
        (report, messages::blocked_in_short(feature, Medium::Markdown).concat())
    };
    let (report, short) = said(&feature);
    assert!(!report.contains("Unknown command") && !short.contains("Unknown command"), "the tests had names");
    for turn in &mut feature.tasks[1].turns {
        turn.gates = Some(GateReport::new(None, Evidence::Absent(Absence::Unnamed)));
    }
    let (report, short) = said(&feature);
    assert!(report.contains("Unknown command") && short.contains("Unknown command"), "{report}{short}");
}

#[test]
fn pull_requests() {
    let mut feature = world::busy(&decent);
    let links = world::links();
    let task = messages::task_pull(&feature, &feature.tasks[1], &[]);
    snapshot!("task_pull", format!("{}\n\n{}", task.title, task.body));
    feature.tasks[1].state = task::State::Skipped { by: world::user("ida") };
    let partly = messages::feature_pull(&feature, &Spending::default(), &links, &[]);
    assert!(partly.body.starts_with("Part of #42\n"), "{}", partly.body);
    assert!(!partly.body.contains("Closes"), "{}", partly.body);
    snapshot!("feature_pull_in_part", format!("{}\n\n{}", partly.title, partly.body));
    feature.tasks[1].state =
        task::State::Completed { commit: None, by: task::MergedBy::PersonWithoutApproval(world::user("ida")) };
    let whole = messages::feature_pull(&feature, &Spending::default(), &links, &[]);
    assert!(whole.body.starts_with("Closes #42\n"), "{}", whole.body);
    assert!(whole.body.contains("merged by @ida without Coach approval"), "{}", whole.body);
}

#[test]
fn the_files_of_a_plan() {
    let feature = world::busy(&decent);
    let files = messages::plan_files(&feature);
    let paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(
        paths,
        [
            ".autobuild/features/FEAT-42.yaml",
            ".autobuild/tasks/FEAT-42/TASK-001.md",
            ".autobuild/tasks/FEAT-42/TASK-002.md",
            ".autobuild/tasks/FEAT-42/TASK-003.md",
        ]
    );
    snapshot!("task_file", &files[1].1);
    assert_eq!(messages::plan_file(&world::without_plan(&decent)), None);
}

#[test]
fn no_plan_is_too_big_to_be_shown() {
    let mut feature = world::busy(&|text| text.repeat(40));
    let tasks = feature.tasks.clone();
    let planned = feature.plan.as_ref().unwrap().plan.tasks.clone();
    for _ in 0..60 {
        feature.tasks.extend(tasks.iter().cloned());
        if let Some(version) = &mut feature.plan {
            version.plan.tasks.extend(planned.iter().cloned());
        }
    }
    let said = living(&feature);
    assert!(said.chars().count() <= MAX_CHARS);
    assert!(said.contains("| and "), "rows are counted");
    assert!(said.contains("it stands in `.autobuild/features/FEAT-42.yaml`"), "{said}");
    assert_eq!(said.matches("<details>").count(), said.matches("</details>").count());
}

#[test]
fn what_waits_for_a_model_or_for_github_stands_in_the_living_comment() {
    let waiting = |on, task| Waiting { on, task, until: Millis(1_767_225_600_000) };
    let spending = Spending {
        waiting: vec![
            waiting(WaitsOn::Model("claude".to_owned()), Some(TaskId::Planned(1))),
            waiting(WaitsOn::GitHub, Some(TaskId::Planned(2))),
            waiting(WaitsOn::GitHub, None),
        ],
        ..Spending::default()
    };
    let said = messages::living(&world::feature(&decent), &spending, &world::links());
    let model = said.find("**Waiting for the model's API**").unwrap();
    let github = said.find("**Waiting for GitHub**").unwrap();
    let one = said.find("- TASK-001 goes on at 2026-01-01 00:00 UTC at the latest").unwrap();
    let two = said.find("- TASK-002\n- The Feature").unwrap();
    assert!(model < one && one < github && github < two, "{said}");
}

#[test]
fn what_running_agents_do_stands_in_the_living_comment() {
    let run = |task, role: &str, tool_calls, doing| AtWork {
        task,
        turn: TurnNumber(2),
        role: role.to_owned(),
        seen: RunActivity { tool_calls, doing },
        at: Millis(1_767_225_600_000),
    };
    let spending = Spending {
        at_work: vec![
            run(None, "planner", 1, AgentState::Working),
            run(Some(TaskId::Planned(1)), "player", 14, AgentState::WaitingForApi),
        ],
        ..Spending::default()
    };
    let said = messages::living(&world::feature(&decent), &spending, &world::links());
    for line in [
        "- planner · 1 tool call (at 2026-01-01 00:00 UTC)",
        "- TASK-001: turn 2 · Player · 14 tool calls · waiting for the API (at 2026-01-01 00:00 UTC)",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
}
