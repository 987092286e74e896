//! The state machines as tables: what every event does in every state. The snapshots document the machines.

#![expect(clippy::too_many_lines, reason = "one row per state or event")]

use crate::{
    blocked::{BlockReason, Failure, PreFlightCause, PreFlightFault, WorkStep},
    ci::CiSays,
    command::Command,
    contract::Judgement,
    effect::{Effect, ReplyTo, Thread},
    evidence::GateReport,
    feature::{
        CancelledWhy, Feature, Phase, PreFlightOutcome, State,
        event::{Commanded, DefaultMerge, Event, Inquired, NewerRun, Target},
        step::step,
        tests::{
            inquiries::{inquiries, planner_asks},
            samples::*,
        },
    },
    ids::{CommentId, Emission, InstallationId, IssueNumber, ReviewId, TaskId},
    plan::parse::PlanAuthor,
    task,
    task::{HumanReview, MergePolicy, MergeState, PersonDid, PlayerOutcome, Stage, Task},
};
use std::fmt::Write;

fn failure() -> Failure {
    Failure::TimedOut { seconds: 1 }
}

fn refused() -> BlockReason {
    BlockReason::failed(WorkStep::Other("it".to_owned()), Failure::GitHubRefused { message: "no".to_owned() })
}

/// Returns a Feature with one task, for every state of that task.
pub fn tasks() -> Vec<(&'static str, Story)> {
    let one = || Story::building(plan(vec![planned_task(ONE, &[])]), rules());
    let after = |does: &dyn Fn(&mut Story)| {
        let mut story = one();
        does(&mut story);
        story
    };
    let by_hand = crate::feature::Rules { merge: MergePolicy::Human, ..rules() };
    let mut person_merges = Story::building(plan(vec![planned_task(ONE, &[])]), by_hand);
    person_merges.turn(ONE, 20, approval());
    let mut pre_loop = one();
    pre_loop.feature.tasks[0].state = task::State::PreLoop { emission: Emission(1) };
    pre_loop.feature.tasks[0].turns.clear();
    let mut pending = Story::building(three_tasks(), rules());
    pending.feature.tasks.retain(|task| task.id == THREE);
    pending.feature.tasks[0].id = ONE;
    vec![
        ("pending", pending),
        ("pre_loop", pre_loop),
        ("player_turn", one()),
        (
            "coach_turn, Gates",
            after(&|story| {
                story.push(ONE, 20);
            }),
        ),
        (
            "coach_turn, Coach",
            after(&|story| {
                story.push(ONE, 20);
                story.gate(ONE, green());
            }),
        ),
        (
            "coach_turn, Coach, of the last turn",
            after(&|story| {
                for n in 20..22 {
                    story.turn(ONE, n, feedback(&format!("number {}", "x".repeat(usize::try_from(n).unwrap()))));
                }
                story.push(ONE, 30);
                story.gate(ONE, green());
            }),
        ),
        (
            "approved, merge due",
            after(&|story| {
                story.turn(ONE, 20, approval());
            }),
        ),
        ("approved, a person merges", person_merges),
        (
            "approved, merge refused",
            after(&|story| {
                story.turn(ONE, 20, approval());
                let emission = story.emission(ONE);
                story.task_event(ONE, task::Event::MergeRefused { emission, rule: "two reviews".to_owned() });
            }),
        ),
        (
            "blocked, out of turns",
            after(&|story| {
                for (n, word) in [(20, "a"), (21, "b"), (22, "c")] {
                    story.turn(ONE, n, feedback(word));
                }
            }),
        ),
        (
            "blocked, commit not judged",
            after(&|story| {
                story.push(ONE, 20);
                story.gate(ONE, absent());
            }),
        ),
        (
            "blocked, Player failed before any push",
            after(&|story| {
                let emission = story.emission(ONE);
                let outcome =
                    Box::new(PlayerOutcome::Failed { printed: String::new(), failure: failure(), partial: None });
                story.task_event(ONE, task::Event::Played { emission, outcome });
            }),
        ),
        (
            "blocked, the Player asks",
            after(&|story| {
                let emission = story.emission(ONE);
                let partial = Some(sha(52));
                let inquiries = inquiries("Which?");
                story.task_event(ONE, task::Event::Inquired { emission, inquiries, partial });
                let branch = story.task(ONE).branch.clone();
                story.task_event(ONE, task::Event::PullOpened { pull: pull(ONE), branch });
            }),
        ),
        (
            "pending, resumed, commit not judged",
            after(&|story| {
                story.push(ONE, 20);
                story.gate(ONE, absent());
                let (guidance, turns) = (None, 3);
                story.person(ONE, PersonDid::Resume { guidance, turns });
            }),
        ),
        ("completed", after(&|story| story.complete(ONE, 20))),
        (
            "skipped",
            after(&|story| {
                story.push(ONE, 20);
                story.person(ONE, PersonDid::Skip);
            }),
        ),
        (
            "cancelled",
            after(&|story| {
                story.push(ONE, 20);
                story.person(ONE, PersonDid::Cancel);
            }),
        ),
    ]
}

fn task_events(task: &Task) -> Vec<(&'static str, task::Event)> {
    let emission = task.state.waits_for().unwrap_or(Emission(77));
    let head = task.last_turn().and_then(|turn| turn.head.clone()).unwrap_or_else(|| sha(0));
    let pull_number = pull(ONE);
    let played = |outcome: PlayerOutcome| task::Event::Played { emission, outcome: Box::new(outcome) };
    let gated = |report: GateReport| task::Event::Gated {
        emission,
        head: head.clone(),
        report: Box::new(report),
        discrepancies: Vec::new(),
    };
    let judged = |judgement: Judgement| task::Event::Judged {
        emission,
        head: head.clone(),
        judgement: Box::new(judgement),
        probes: Vec::new(),
    };
    let did = |did: PersonDid| task::Event::Person { by: person(2), did };
    let (base, text) = (sha(1), "no".to_owned());
    let review = HumanReview { id: ReviewId(1), by: person(3), items: Vec::new() };
    vec![
        ("begin", task::Event::Begin),
        ("designed", task::Event::Designed { emission, design: None }),
        ("inquired", task::Event::Inquired { emission, inquiries: inquiries("Which?"), partial: None }),
        ("played: pushed", played(pushed(sha(50)))),
        (
            "played: no change",
            played(PlayerOutcome::NoChange { left_out: Vec::new(), base: base.clone(), head: None, report: report() }),
        ),
        (
            "played: held",
            played(PlayerOutcome::Held { left_out: Vec::new(), base, report: report(), items: Vec::new() }),
        ),
        ("played: overtaken", played(PlayerOutcome::Overtaken { head: sha(51) })),
        ("played: failed", played(PlayerOutcome::Failed { printed: String::new(), failure: failure(), partial: None })),
        (
            "played: failed, partial",
            played(PlayerOutcome::Failed { printed: String::new(), failure: failure(), partial: Some(sha(52)) }),
        ),
        ("pull opened", task::Event::PullOpened { pull: pull_number, branch: task.branch.clone() }),
        ("gated: green", gated(green())),
        ("gated: red", gated(red())),
        ("gated: absent", gated(absent())),
        ("judged: approve", judged(approval())),
        ("judged: feedback", judged(feedback("new words"))),
        ("judged: absent", judged(Judgement::EvidenceAbsent { reasons: Vec::new() })),
        ("coach failed", task::Event::CoachFailed { printed: String::new(), emission, failure: failure() }),
        ("merged", task::Event::Merged { emission, commit: sha(53) }),
        ("merge refused", task::Event::MergeRefused { emission, rule: text }),
        ("caught up", task::Event::CaughtUp { emission, head: sha(57) }),
        ("merge conflict", task::Event::MergeConflict { emission, files: Vec::new() }),
        ("stuck", task::Event::Stuck { emission, reason: refused() }),
        ("need gone", task::Event::NeedGone { task: ONE }),
        ("need back", task::Event::NeedBack { task: ONE }),
        ("/resume", did(PersonDid::Resume { guidance: None, turns: 3 })),
        ("/resume with guidance", did(PersonDid::Resume { guidance: Some("do".to_owned()), turns: 3 })),
        ("/approve", did(PersonDid::Override)),
        ("/retry", did(PersonDid::Retry { turns: 3 })),
        ("/skip", did(PersonDid::Skip)),
        ("/pause", did(PersonDid::Pause)),
        ("/cancel", did(PersonDid::Cancel)),
        ("pull closed", did(PersonDid::ClosePull { pull: pull_number })),
        ("pull reopened", did(PersonDid::ReopenPull { pull: pull_number, turns: 3 })),
        ("pull merged", did(PersonDid::MergePull { commit: Some(sha(54)), head: None })),
        ("push", did(PersonDid::Push { head: sha(55) })),
        ("re-run", did(PersonDid::Rerun { head: task.head.clone().unwrap_or(sha(58)) })),
        ("force-push", did(PersonDid::ForcePush { head: sha(56) })),
        ("remark", did(PersonDid::Remark(review.clone()))),
        ("changes requested", did(PersonDid::RequestChanges(review))),
        ("changes withdrawn", did(PersonDid::WithdrawChanges { until: ReviewId(1) })),
        ("approving review", did(PersonDid::Approve { review: ReviewId(2), commit: task.head.clone() })),
        ("Feature cancelled", task::Event::FeatureCancelled { by: None }),
    ]
}

fn task_state(task: &Task) -> String {
    let detail = match &task.state {
        task::State::Pending | task::State::Completed { .. } | task::State::Skipped { .. } | task::State::Cancelled => {
            String::new()
        }
        task::State::PreLoop { .. } => String::new(),
        task::State::PlayerTurn { turn, .. } => format!(" {turn}/{}", task.limit),
        task::State::CoachTurn { turn, stage, .. } => match stage {
            Stage::Gates => format!(" {turn}/{}, Gates", task.limit),
            Stage::Ci => format!(" {turn}/{}, CI", task.limit),
            Stage::Coach => format!(" {turn}/{}, Coach", task.limit),
        },
        task::State::Approved { merge, .. } => match merge {
            MergeState::Due { .. } => ", merge due".to_owned(),
            MergeState::Person => ", a person merges".to_owned(),
            MergeState::Refused { .. } => ", merge refused".to_owned(),
        },
        task::State::Blocked { reason } => format!(", {reason:?}"),
    };
    let attempt = match task.attempt {
        1 => String::new(),
        attempt => format!(" (attempt {attempt})"),
    };
    format!("{}{detail}{attempt}", task.state.word())
}

#[test]
fn what_every_event_does_to_a_task() {
    let mut table = String::new();
    for (name, story) in tasks() {
        let task = story.task(ONE).clone();
        writeln!(table, "{name}").unwrap();
        let mut ignored = Vec::new();
        for (event_name, event) in task_events(&task) {
            let done = task::step::step(task.clone(), event, AT, &story.feature.task_rules());
            if done.task == task {
                assert!(done.effects.is_empty());
                ignored.push(event_name);
                continue;
            }
            let asks: Vec<&str> = done.effects.iter().map(Effect::kind).collect();
            let stops = match done.stop {
                task::Stop::Nothing => "",
                task::Stop::Work => " | stops work",
            };
            writeln!(table, "  {event_name:<24} -> {:<40} {}{stops}", task_state(&done.task), asks.join(" ")).unwrap();
        }
        writeln!(table, "  (nothing: {})\n", ignored.join(", ")).unwrap();
    }
    insta::assert_snapshot!(table);
}

/// Returns a Feature in every state and every step of building.
pub fn features() -> Vec<(&'static str, Story)> {
    let ask = crate::feature::Rules { plan_approval: crate::feature::PlanApproval::Always, ..rules() };
    let single = || plan(vec![planned_task(ONE, &[])]);
    let mut awaiting = Story::new(rules());
    awaiting.apply(Event::Planned { emission: Emission(1), planned: planned(single(), ask) });
    awaiting.apply(Event::LivingShown { comment: CommentId(5), version: Some(1), at: AT });
    let mut looking = Story::new(rules());
    looking.apply(Event::Planned { emission: Emission(1), planned: planned(single(), rules()) });
    let mut grounded = Story::new(rules());
    grounded.apply(Event::Planned { emission: Emission(1), planned: planned(single(), rules()) });
    let emission = grounded.waits_for();
    grounded.apply(Event::PreFlown { emission, outcome: no_start() });
    let mut opening_branch = Story::new(rules());
    opening_branch.apply(Event::Planned { emission: Emission(1), planned: planned(single(), rules()) });
    opening_branch.pre_flight(1);
    let after = |does: &dyn Fn(&mut Story)| {
        let mut story = Story::building(single(), rules());
        does(&mut story);
        story
    };
    let gating = |story: &mut Story| story.complete(ONE, 20);
    let mut planner = Story::new(rules());
    planner_asks(&mut planner, "Which?");
    let mut failed = Story::new(rules());
    failed.apply(Event::PlanRefused { emission: Emission(1), author: PlanAuthor::Agent, message: "no".to_owned() });
    let mut completed = Story::in_review();
    completed.apply(Event::PullMerged { pull: FEATURE_PULL });
    let mut cancelled = Story::in_review();
    cancelled.apply(Event::Cancelled(CancelledWhy::PullClosed(person(2))));
    vec![
        ("planning", Story::new(rules())),
        ("awaiting_approval", awaiting),
        ("building, pre-flight", looking),
        ("building, opening the branch", opening_branch),
        ("building, tasks", after(&|_| {})),
        ("building, wave gate", after(&gating)),
        (
            "building, merging the default branch",
            after(&|story| {
                gating(story);
                story.wave_gate(30, green());
            }),
        ),
        (
            "building, pre-flight of a merged commit",
            after(&|story| {
                gating(story);
                story.wave_gate(30, green());
                let emission = story.waits_for();
                let (head, other) = (sha(62), sha(70));
                let outcome = DefaultMerge::Merged { head, other };
                story.apply(Event::DefaultMerged { emission, outcome });
            }),
        ),
        (
            "building, resolving a conflict",
            after(&|story| {
                gating(story);
                story.wave_gate(30, green());
                story.default_conflict(&["a.rs"], 70);
            }),
        ),
        (
            "building, opening the pull request",
            after(&|story| {
                gating(story);
                story.wave_gate(30, green());
                story.merge_default(30);
            }),
        ),
        ("building, CI is held", super::held_ci::story_with_held_ci()),
        (
            "paused, tasks",
            after(&|story| {
                story.apply(command(
                    story.feature.clone().integration.map(|_| Command::Pause).unwrap(),
                    Target::Feature,
                ));
            }),
        ),
        (
            "blocked, tasks",
            after(&|story| {
                story.push(ONE, 20);
                story.gate(ONE, absent());
            }),
        ),
        ("blocked, the planner asks", planner),
        ("blocked, pre-flight", grounded),
        (
            "blocked, pre-flight for a resumed task",
            after(&|story| {
                story.push(ONE, 20);
                story.gate(ONE, absent());
                let (guidance, turns) = (None, 3);
                story.person(ONE, PersonDid::Resume { guidance, turns });
                story.pre_flight_refused();
            }),
        ),
        (
            "building, a repair of the wave",
            after(&|story| {
                gating(story);
                story.wave_gate(30, red());
            }),
        ),
        (
            "blocked, wave gate",
            after(&|story| {
                gating(story);
                for k in 1..=2 {
                    story.wave_gate(30, red());
                    story.complete(TaskId::Fix(k), 30 + u64::from(k));
                }
                story.wave_gate(30, red());
            }),
        ),
        (
            "blocked, wave gate absent",
            after(&|story| {
                gating(story);
                story.wave_gate(30, absent());
            }),
        ),
        ("in_review", Story::in_review()),
        ("completed", completed),
        ("cancelled", cancelled),
        ("failed", failed),
    ]
}

fn no_start() -> Box<PreFlightOutcome> {
    Box::new(PreFlightOutcome::Refused(BlockReason::PreFlightFailed {
        fault: PreFlightFault::NotRun,
        what: Box::new(PreFlightCause::Tests(crate::evidence::Evidence::Absent(
            crate::evidence::Absence::CouldNotStart {
                command: "t".to_owned(),
                reason: crate::evidence::StartFailure::NoShell,
            },
        ))),
        output: String::new(),
    }))
}

pub fn command(command: Command, on: Target) -> Event {
    Event::Commanded(Box::new(Commanded {
        command,
        on,
        thread: Thread::Issue(IssueNumber(42)),
        to: ReplyTo::Comment(CommentId(1)),
        by: person(2),
        written_at: AT,
        rules: None,
        exposure: None,
        settings: None,
        snapshot: None,
        newer: NewerRun::None,
    }))
}

fn feature_events(story: &Story) -> Vec<(&'static str, Event)> {
    let feature = &story.feature;
    let emission = match &feature.state {
        State::Planning { emission } => *emission,
        _ => feature.checking.unwrap_or(story.waits_for()),
    };
    let gated =
        |report: GateReport| Event::WaveGated { emission, head: sha(60), report: Box::new(report), broke: None };
    let other = || sha(70);
    let merged = |outcome: DefaultMerge| Event::DefaultMerged { emission, outcome };
    let on_issue = |said: Command| command(said, Target::Feature);
    let resume = Command::Resume { guidance: None, max_turns: None };
    vec![
        ("planned", Event::Planned { emission, planned: planned(three_tasks(), feature.rules.clone()) }),
        (
            "planner asks",
            Event::Inquired {
                emission,
                inquired: Box::new(Inquired {
                    by: crate::inquiry::Inquirer::Planner,
                    inquiries: inquiries("Which?"),
                    rules: feature.rules.clone(),
                    settings: serde_json::Value::Null,
                }),
            },
        ),
        ("plan refused", Event::PlanRefused { emission, author: PlanAuthor::Agent, message: "no".to_owned() }),
        ("living shown", Event::LivingShown { comment: CommentId(6), version: None, at: AT }),
        ("pre-flight: ready", Event::PreFlown { emission, outcome: ready(70) }),
        ("pre-flight: no start", Event::PreFlown { emission, outcome: no_start() }),
        ("branch opened", Event::IntegrationOpened { emission, base: sha(1), head: sha(61) }),
        ("default: up to date", merged(DefaultMerge::UpToDate { head: sha(30), other: sha(1) })),
        ("default: merged", merged(DefaultMerge::Merged { head: sha(62), other: other() })),
        ("default: conflict", merged(DefaultMerge::Conflict { files: Vec::new(), other: other() })),
        ("wave gate: green", gated(green())),
        ("wave gate: red", gated(red())),
        ("wave gate: absent", gated(absent())),
        ("pull opened", Event::PullOpened { emission, pull: FEATURE_PULL, opened: unmoved() }),
        (
            "CI of the pull request failed",
            Event::CiRead {
                emission: feature.reading_ci.unwrap_or(emission),
                head: feature.reviewed_head().cloned().unwrap_or_else(|| sha(30)),
                result: Box::new(ci_says(CiSays::Failed("no".to_owned()))),
            },
        ),
        ("CI exposed", Event::CiExposed { exposure: super::held_ci::harmful() }),
        ("stuck", Event::Stuck { emission, reason: refused() }),
        ("/help", on_issue(Command::Help)),
        ("/status", on_issue(Command::Status)),
        ("/ci", on_issue(Command::Ci)),
        ("/plan", on_issue(Command::Plan { words: None, yaml: None })),
        ("/approve", on_issue(Command::Approve { hash: None })),
        ("/approve 01234567", on_issue(Command::Approve { hash: Some("01234567".to_owned()) })),
        ("/approve fedcba98", on_issue(Command::Approve { hash: Some("fedcba98".to_owned()) })),
        ("/resume", on_issue(resume.clone())),
        ("/retry TASK-001", on_issue(Command::Retry { task: Some(ONE) })),
        ("/retry", on_issue(Command::Retry { task: None })),
        ("/skip TASK-001", on_issue(Command::Skip { task: ONE })),
        ("/skip TASK-009", on_issue(Command::Skip { task: TaskId::Planned(9) })),
        ("/pause", on_issue(Command::Pause)),
        ("/cancel", on_issue(Command::Cancel)),
        ("/resume on the task", command(resume, Target::Task(ONE))),
        ("/approve on the task", command(Command::Approve { hash: None }, Target::Task(ONE))),
        ("/pause on the task", command(Command::Pause, Target::Task(ONE))),
        ("/cancel on the task", command(Command::Cancel, Target::Task(ONE))),
        ("label removed", Event::Cancelled(CancelledWhy::LabelRemoved(person(2)))),
        ("issue closed", Event::Cancelled(CancelledWhy::IssueClosed(person(2)))),
        ("pull closed", Event::Cancelled(CancelledWhy::PullClosed(person(2)))),
        ("branch deleted", Event::Cancelled(CancelledWhy::BranchDeleted)),
        ("repository gone", Event::Cancelled(CancelledWhy::RepositoryGone)),
        ("issue gone", Event::Cancelled(CancelledWhy::IssueGone)),
        ("App removed", Event::Cancelled(CancelledWhy::InstallationRemoved)),
        ("pull merged", Event::PullMerged { pull: FEATURE_PULL }),
        ("pull reopened", Event::PullReopened { pull: FEATURE_PULL, newer: NewerRun::None }),
        ("pull reopened, newer run", Event::PullReopened { pull: FEATURE_PULL, newer: NewerRun::Exists(key()) }),
        ("default push", Event::DefaultPushed { head: other() }),
        ("default conflicts", Event::DefaultConflicts { files: Vec::new(), other: sha(71) }),
        ("changes requested", Event::ReviewRequested(review_of_feature(1))),
        ("integration push", Event::IntegrationPushed { head: sha(63) }),
        (
            "re-run",
            Event::Rerun {
                head: story.feature.integration.clone().map_or(sha(64), |integration| integration.head),
                by: person(2),
            },
        ),
        ("suspended", Event::Suspended),
        ("unsuspended", Event::Unsuspended),
        ("another installation", Event::InstallationChanged { installation: InstallationId(8) }),
    ]
}

fn feature_state(feature: &Feature) -> String {
    let word = feature.state.word();
    let phase = |phase: &Phase| match phase {
        Phase::Planning { .. } => "planning",
        Phase::PreFlight { .. } => "pre-flight",
        Phase::Syncing { .. } => "resolving a conflict",
        Phase::OpeningBranch { .. } => "opening the branch",
        Phase::MergingDefault { .. } => "merging the default branch",
        Phase::Tasks => "tasks",
        Phase::Gate { .. } => "wave gate",
        Phase::HeldCi => "CI is held",
        Phase::OpeningPull { .. } => "opening the pull request",
    };
    match &feature.state {
        State::Building { phase: at } | State::Paused { phase: at, .. } | State::Blocked { phase: at, .. } => {
            format!("{word}, {}", phase(at))
        }
        State::Planning { .. }
        | State::AwaitingApproval
        | State::InReview
        | State::Completed
        | State::Cancelled { .. }
        | State::Failed { .. } => word.to_owned(),
    }
}

fn asks(effects: &[Effect]) -> String {
    let word = |effect: &Effect| match effect {
        Effect::React { reaction, .. } => reaction.word().to_owned(),
        Effect::Task { task, .. } => format!("{}({task})", effect.kind()),
        other => other.kind().to_owned(),
    };
    effects.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn what_every_event_does_to_a_feature() {
    let mut table = String::new();
    for (name, story) in features() {
        writeln!(table, "{name}").unwrap();
        let (mut ignored, mut refused) = (Vec::new(), Vec::new());
        for (event_name, event) in feature_events(&story) {
            let done = step(story.feature.clone(), event, AT);
            if done.feature == story.feature && done.effects.is_empty() {
                ignored.push(event_name);
                continue;
            }
            if done.feature == story.feature && asks(&done.effects) == "confused reply" {
                refused.push(event_name);
                continue;
            }
            let state = feature_state(&done.feature);
            let state = if done.feature.state == story.feature.state { format!("={state}") } else { state };
            let stops = if done.stop.is_empty() { "" } else { " | stops work" };
            writeln!(table, "  {event_name:<24} -> {state:<37} {}{stops}", asks(&done.effects)).unwrap();
        }
        writeln!(table, "  (refused: {})", refused.join(", ")).unwrap();
        writeln!(table, "  (nothing: {})\n", ignored.join(", ")).unwrap();
    }
    insta::assert_snapshot!(table);
}
