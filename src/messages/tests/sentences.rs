//! Tests every reason, refusal and reply, with one snapshot for each kind.

use super::{snapshot, world, world::decent};
use crate::{
    messages,
    messages::{CommitKind, Medium, causes::reasons, form::words},
};
use domain::{
    blocked::{
        AgentFault, BlockReason, Defect, Failure, LoginProblem, RepositoryFault, SpentScript, StartDifference, WorkStep,
    },
    budget::{Measure, Month, Purse, Spent},
    command::CommandMistake,
    cost::Spending,
    effect::{ClosedWhy, DismissedWhy, Reply},
    evidence::{Absence, Cause, Part, StartFailure, Unmet},
    feature::{
        ApprovalWhy, CancelledWhy, State, Wait,
        command::{Asker, Possible, Refusal, Trigger},
        failed_acts::{FailedAct, PublicAct, Replacement},
    },
    ids::{Emission, FeatureKey, Millis, PullNumber, TaskId, TurnNumber},
    task,
    task::{Approval, MergeState, MergedBy, Stage},
};
use text::mistake::{Position, SettingsMistake};

fn text(word: &str) -> String {
    word.to_owned()
}

#[allow(clippy::too_many_lines, reason = "one of each failure")]
fn agent_failures() -> Vec<Failure> {
    vec![
        Failure::NoAgentProgram { program: text("claude") },
        Failure::AgentFailed { message: text("exit code 1: no credit left.") },
        Failure::AgentFault { fault: AgentFault::UnspentShare },
        Failure::TimedOut { seconds: 900 },
        Failure::WentSilent { seconds: 300 },
        Failure::TooMuchOutput { bytes: 32 << 20 },
        Failure::TooOld { program: text("codex"), found: text("0.1.0"), least: text("0.169.0") },
        Failure::NotAsAsked { differences: StartDifference::Servers(vec![text("evil")]) },
        Failure::RateLimited { message: text("429 of org_123"), retry_after_seconds: Some(60) },
        Failure::Unavailable { message: text("<html>gateway-7.internal</html>"), retry_after_seconds: None },
        Failure::NotAuthorised { message: text("invalid x-api-key of org_123") },
        Failure::NotLoggedIn {
            program: text("claude"),
            log_in: text("run `claude`, then `/login`"),
            key: text("AUTOBUILD_ANTHROPIC_API_KEY"),
            problem: LoginProblem::Expired,
        },
        Failure::NoSuchModel { model: text("opus"), message: text("not_found_error of org_123") },
        Failure::ModelRefused { message: text("That is against the usage policy.") },
        Failure::RequestRefused { status: 400, message: text("messages.0 of org_123") },
        Failure::PromptTooLong,
        Failure::OutputLimit,
        Failure::OutOfAgentTurns { turns: 1 },
        Failure::OutOfMoney,
        Failure::ScriptSpent(SpentScript {
            script: "/srv/steps.yml".into(),
            steps: 4,
            fitting: 0,
            role: text("player"),
            task: Some(TaskId::Planned(1)),
            turn: TurnNumber(2),
        }),
        Failure::ScriptSpent(SpentScript {
            script: "/srv/steps.yml".into(),
            steps: 4,
            fitting: 1,
            role: text("player"),
            task: Some(TaskId::Planned(1)),
            turn: TurnNumber(2),
        }),
        Failure::ScriptSpent(SpentScript {
            script: "/srv/steps.yml".into(),
            steps: 4,
            fitting: 2,
            role: text("player"),
            task: Some(TaskId::Planned(1)),
            turn: TurnNumber(2),
        }),
        Failure::ReportMissing,
        Failure::ReportInvalid { problem: text("`summary` is missing") },
        Failure::DecisionMissing,
        Failure::DecisionInvalid { problem: text("`decision` must be approve, feedback or probe") },
    ]
}

fn failed(fault: Failure) -> BlockReason {
    BlockReason::failed(WorkStep::PreFlight, fault)
}

fn spent(purse: Purse) -> BlockReason {
    BlockReason::BudgetSpent(Spent {
        purse,
        measure: Measure::Money,
        used: 5_120_000,
        limit: 5_000_000,
        month: Month::of(Millis(1_795_000_000_000)),
    })
}

fn of_the_work(say: world::Words<'_>) -> Vec<BlockReason> {
    let by = || world::user("ida");
    vec![
        BlockReason::OutOfTurns { turns: 5 },
        BlockReason::NoChangeTwice,
        BlockReason::SameIssues,
        spent(Purse::Task),
        spent(Purse::Feature),
        spent(Purse::Installation),
        spent(Purse::Server),
        BlockReason::GatesAbsent {
            reasons: vec![Unmet {
                part: Part::Tests,
                cause: Cause::Absent(Absence::CouldNotStart {
                    command: say("pytest"),
                    reason: StartFailure::Message(say("program not found")),
                }),
            }],
        },
        BlockReason::Inquiry { by: domain::inquiry::Inquirer::Player, inquiries: world::inquiries(say) },
        BlockReason::OpenReview { by: by() },
        BlockReason::Paused { by: by() },
        BlockReason::NeedGone { task: TaskId::Planned(1) },
        BlockReason::ForcePushed { by: by() },
        BlockReason::failed(
            WorkStep::Other(say("opening the pull request")),
            Failure::GitHubRefused { message: say("Validation Failed") },
        ),
    ]
}

fn of_faults(say: world::Words<'_>) -> Vec<BlockReason> {
    vec![
        failed(Failure::GitHubUnreachable { message: say("The requested URL returned error: 503") }),
        failed(Failure::History { message: say("error: object 7e79ae8f: hasDotgit: contains '.git'") }),
        failed(Failure::Repository { fault: RepositoryFault::Other(say("the branch main does not exist")) }),
        failed(Failure::DiskFull { message: say("secret path") }),
        failed(Failure::NoProgram { program: say("git"), message: say("No such file or directory") }),
        failed(Failure::Isolation { message: say("bwrap") }),
        failed(Failure::Database { message: say("secret path") }),
        failed(Failure::Unreadable { message: say("the effect x: missing field") }),
        failed(Failure::Git { message: say("fatal: bad object") }),
        failed(Failure::Machine { message: say("secret path") }),
        failed(Failure::Defect { defect: Defect::Other(say("TASK-001 has no open turn")) }),
    ]
}

fn of_the_repository(say: world::Words<'_>) -> Vec<BlockReason> {
    vec![
        BlockReason::BranchRule { rule: say("Cannot create ref due to creations being restricted.") },
        BlockReason::DefaultConflict { files: vec![say("src/auth.rs")], given_up: Some(domain::ids::TaskId::Sync(1)) },
        BlockReason::WaveGateRed { failures: vec![world::red_tests(&say("cargo test"))] },
        BlockReason::TasksBlocked { tasks: vec![TaskId::Planned(1), TaskId::Planned(2)] },
        BlockReason::BadSettings {
            mistakes: vec![SettingsMistake::Invalid {
                place: Position { line: 2, column: 1 },
                key: String::new(),
                said: say("unknown key `max_turn`; nearest is `max_turns`"),
                valid: String::new(),
            }],
        },
        BlockReason::Crashed { step: WorkStep::Other(say("running the Player")) },
    ]
}

/// Returns every reason to block.
pub(super) fn block_reasons(say: world::Words<'_>) -> Vec<BlockReason> {
    let agents = agent_failures().into_iter().map(|failure| BlockReason::Failed {
        step: WorkStep::Play,
        failure,
        printed: String::new(),
    });
    let all = [of_the_work(say), of_faults(say), of_the_repository(say)];
    all.into_iter().flatten().chain(agents).collect()
}

fn not_looked_at(trigger: Trigger, say: world::Words<'_>) -> Refusal {
    Refusal::NotLookedAt {
        trigger,
        reason: Box::new(BlockReason::failed(
            WorkStep::HandleAct,
            Failure::GitHubRefused { message: say("Resource not accessible by integration") },
        )),
    }
}

#[allow(clippy::too_many_lines, reason = "one of each refusal")]
pub(super) fn refusals(say: world::Words<'_>) -> Vec<Refusal> {
    let run = |run| FeatureKey { run, ..world::without_plan(&world::decent).key };
    vec![
        not_looked_at(Trigger::Label, say),
        not_looked_at(Trigger::Command, say),
        not_looked_at(Trigger::Review, say),
        not_looked_at(Trigger::Button, say),
        Refusal::NoPermission { needed: say("write"), asker: Asker::Member },
        Refusal::PermissionUnknown,
        Refusal::Malformed {
            reason: CommandMistake::Unknown { given: say("resum") },
            nearest: text("/autobuild resume [guidance] [--max-turns=N]"),
        },
        Refusal::NoRun,
        Refusal::RunUnfinished { run: run(1) },
        Refusal::BotLabel,
        Refusal::NoCriteria,
        Refusal::UnboundCriteria { boxes: vec![say("It greets")] },
        Refusal::IssueClosed,
        Refusal::EditedSince { by: say("mallory") },
        Refusal::RunEnded { state: text("completed") },
        Refusal::NewerRun { run: run(2) },
        Refusal::NotNow { command: text("plan"), state: text("building"), instead: Possible::AnotherRun },
        Refusal::OtherPlan { given: text("deadbeef"), current: text("01234567") },
        Refusal::PlanChanged { current: text("01234567") },
        Refusal::NoSuchTask { task: TaskId::Planned(9), known: vec![TaskId::Planned(1), TaskId::Planned(2)] },
        Refusal::NameTheTask { command: text("retry") },
        Refusal::SecretFound { task: TaskId::Planned(1), place: text("src/key.rs:7") },
        Refusal::StaleReview { task: TaskId::Planned(1), head: world::sha('b') },
        Refusal::TaskNotNow {
            command: text("skip"),
            task: TaskId::Planned(1),
            state: text("completed"),
            instead: Possible::Ended,
        },
    ]
}

pub(super) fn cancels() -> Vec<CancelledWhy> {
    let by = || world::user("ida");
    vec![
        CancelledWhy::Command(by()),
        CancelledWhy::LabelRemoved(by()),
        CancelledWhy::IssueClosed(by()),
        CancelledWhy::PullClosed(by()),
        CancelledWhy::BranchDeleted,
        CancelledWhy::RepositoryGone,
        CancelledWhy::IssueGone,
        CancelledWhy::InstallationRemoved,
        CancelledWhy::NothingCompleted,
    ]
}

fn name(value: &impl std::fmt::Debug) -> String {
    let debug = format!("{value:?}");
    debug.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_owned()
}

fn entries(entries: impl IntoIterator<Item = (String, String)>) -> String {
    entries.into_iter().map(|(name, said)| format!("== {name}\n{said}\n")).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_reason_to_block_is_said_in_plain_words() {
    let measure = messages::form::measure::MEASURES[0];
    let said =
        block_reasons(&world::decent).into_iter().map(|reason| (name(&reason), reasons::blocked(&reason, &measure)));
    snapshot!("block_reasons", entries(said));
}

#[test]
fn every_refusal_says_why_and_what_to_do_instead() {
    let feature = world::busy(&world::decent);
    let said = refusals(&world::decent).into_iter().map(|refusal| {
        let reply = Reply::Refused(refusal.clone());
        (name(&refusal), messages::reply(&reply, Some(&feature), &Spending::default(), &world::links()))
    });
    snapshot!("refusals", entries(said));
}

#[test]
fn every_other_reply() {
    let feature = world::busy(&world::decent);
    let mistakes = vec![
        SettingsMistake::Invalid {
            place: Position { line: 2, column: 1 },
            key: String::new(),
            said: text("unknown key `max_turn`; nearest is `max_turns`"),
            valid: String::new(),
        },
        SettingsMistake::Invalid {
            place: Position { line: 3, column: 12 },
            key: text("max_turns"),
            said: text("-1 is not valid here"),
            valid: text("a whole number, at least 0"),
        },
        SettingsMistake::TooLarge { most: 65_536 },
        SettingsMistake::NoFile,
    ];
    let say = |reply: &Reply| messages::reply(reply, Some(&feature), &Spending::default(), &world::links());
    let said = [
        ("Help", say(&Reply::Help)),
        ("Help without a run", messages::reply(&Reply::Help, None, &Spending::default(), &world::links())),
        ("Status", say(&Reply::Status)),
        ("Status without a run", messages::reply(&Reply::Status, None, &Spending::default(), &world::links())),
        ("BadSettings", say(&Reply::BadSettings(mistakes))),
    ];
    snapshot!("replies", entries(said.map(|(name, said)| (text(name), said))));
}

#[test]
fn every_reason_to_wait_or_to_end() {
    let waits = [
        ApprovalWhy::Settings,
        ApprovalWhy::Complexity { complexity: 8, from: 7 },
        ApprovalWhy::Author,
        ApprovalWhy::Commands,
        ApprovalWhy::UnheldCi { workflows: (1..=7).map(|n| format!(".github/workflows/{n}.yml")).collect() },
        ApprovalWhy::UnheldCi { workflows: vec!["apps/web/vercel.json".to_owned()] },
    ];
    let waits = waits.iter().map(|why| (name(why), reasons::approval(why)));
    let ends = cancels();
    let ends = ends.iter().map(|why| (name(why), reasons::cancelled(why)));
    snapshot!("waits_and_ends", entries(waits.chain(ends)));
}

#[test]
fn every_state_of_a_task() {
    let by = || world::user("ida");
    let turn = TurnNumber(2);
    let approved = |by, merge| task::State::Approved { turn, by, merge };
    let completed = |by| task::State::Completed { commit: None, by };
    let coach = |stage| task::State::CoachTurn { turn, stage, emission: Emission(1) };
    let refused = MergeState::Refused { rule: text("At least 1 approving review | is required") };
    let states = vec![
        task::State::Pending,
        task::State::PreLoop { emission: Emission(1) },
        task::State::PlayerTurn { turn, emission: Emission(1) },
        coach(Stage::Gates),
        coach(Stage::Ci),
        coach(Stage::Coach),
        approved(Approval::Coach, MergeState::Due { emission: Emission(1) }),
        approved(Approval::Coach, MergeState::Person),
        approved(Approval::Override(by()), refused),
        task::State::Blocked { reason: BlockReason::SameIssues },
        completed(MergedBy::AutoBuild),
        completed(MergedBy::Person(by())),
        completed(MergedBy::PersonWithoutApproval(by())),
        task::State::Skipped { by: by() },
        task::State::Cancelled,
    ];
    let mut task = world::feature(&world::decent).tasks.remove(0);
    task.emitted = Emission(0);
    let said = states.into_iter().map(|state| {
        let task = task::Task { state, ..task.clone() };
        (name(&task.state), words::state(&task, Medium::Markdown))
    });
    let resumed = task::Task { state: task::State::Pending, emitted: Emission(1), ..task.clone() };
    let resumed = ("Pending, resumed".to_owned(), words::state(&resumed, Medium::Markdown));
    assert_eq!(words::of_stored("resumed"), resumed.1);
    snapshot!("task_states", entries(said.chain([resumed])));
}

#[test]
fn what_is_said_when_something_closes_or_becomes_stale() {
    let feature = world::busy(&world::decent);
    let task = &feature.tasks[1];
    let by = || world::user("ida");
    let branch = text("autobuild/42/task-002-implement-the-oauth2-flow-a2");
    let retried = ClosedWhy::Retried { by: by(), branch };
    let fresh = task::Task { pull: None, ..task.clone() };
    let close = |task: &task::Task, why: &ClosedWhy| messages::closed_pull(&feature, task, why, &world::links());
    let cancelled = domain::feature::Feature {
        state: State::Cancelled { why: CancelledWhy::IssueClosed(by()) },
        pull: Some(PullNumber(104)),
        ..feature.clone()
    };
    let said = [
        ("Retried", close(&fresh, &retried)),
        ("Retried, with its new pull request", close(task, &retried)),
        ("Skipped", close(task, &ClosedWhy::Skipped { by: by() })),
        ("Cancelled", close(task, &ClosedWhy::Cancelled)),
        (
            "Cancelled, with its Feature",
            messages::closed_pull(&cancelled, task, &ClosedWhy::Cancelled, &world::links()),
        ),
        ("the feature pull request", messages::closed_feature_pull(&cancelled)),
        ("dismissed: Overridden", messages::dismissal(DismissedWhy::Overridden, &by())),
        ("dismissed: Cancelled", messages::dismissal(DismissedWhy::Cancelled, &by())),
    ];
    snapshot!("closings", entries(said.map(|(name, said)| (text(name), said))));
}

#[test]
fn every_commit_message() {
    let feature = world::busy(&world::decent);
    let task = &feature.tasks[1];
    let squash = messages::squash(&feature, task);
    let said = [
        ("turn", messages::turn_commit(&feature, task, TurnNumber(2), CommitKind::Whole)),
        ("partial turn", messages::turn_commit(&feature, task, TurnNumber(2), CommitKind::Partial)),
        ("plan", messages::plan_commit(&feature)),
        ("task files", messages::histories_commit(&feature)),
        ("merge of the default branch", messages::merge_default_commit(&feature, "main")),
        ("squash", format!("{}\n\n{}", squash.title, squash.body)),
    ];
    snapshot!("commits", entries(said.map(|(name, said)| (text(name), said))));
}

#[test]
fn only_logins_that_github_gives_out_are_mentioned() {
    let table = [
        ("ida", "@ida"),
        ("ida-2", "@ida-2"),
        ("dependabot[bot]", "`dependabot[bot]`"),
        ("a b", "`a b`"),
        ("`@x`", "`` `@x` ``"),
        ("", "`  `"),
    ];
    for (login, expected) in table {
        assert_eq!(words::login(login), expected, "{login:?}");
    }
}

pub(super) fn waits() -> Vec<Wait> {
    let (task, turn) = (TaskId::Planned(2), TurnNumber(1));
    vec![
        Wait::Approval { plan: 1 },
        Wait::NoPlan,
        Wait::Merge { task, turn },
        Wait::MergeRefused { task, turn },
        Wait::Ci,
        Wait::Review { pull: PullNumber(104) },
    ]
}

#[test]
fn one_short_comment_calls_the_person_who_labelled_by_name() {
    let mut feature = world::busy(&decent);
    if let Some(task) = feature.tasks.get_mut(1) {
        task.state = task::State::Approved {
            turn: TurnNumber(1),
            by: task::Approval::Coach,
            merge: task::MergeState::Refused { rule: "At least 1 approving review is required".to_owned() },
        };
    }
    let said: Vec<String> =
        waits().iter().map(|wait| messages::wait(&feature, wait, &world::links()).unwrap()).collect();
    snapshot!("waits", said.join("\n\n"));
    for text in said {
        assert_eq!(text.matches('@').count(), 1, "{text}");
    }
}

#[test]
fn what_could_not_be_said_is_a_line_of_the_living_comment() {
    let mut feature = world::busy(&decent);
    let all = [
        (PublicAct::Review, Some(TaskId::Planned(1)), Replacement::CommentReview),
        (PublicAct::Check, Some(TaskId::Planned(1)), Replacement::PullComment),
        (PublicAct::Check, None, Replacement::IssueComment),
        (PublicAct::Report, None, Replacement::Nothing),
        (PublicAct::Call, None, Replacement::Nothing),
        (PublicAct::Living, None, Replacement::Nothing),
    ];
    let deeds = [
        (PublicAct::Dismissal, Some(TaskId::Planned(1)), Replacement::Nothing),
        (PublicAct::Ready, Some(TaskId::Planned(1)), Replacement::Nothing),
        (PublicAct::Close { pull: PullNumber(104) }, Some(TaskId::Planned(1)), Replacement::Nothing),
        (PublicAct::Close { pull: PullNumber(105) }, None, Replacement::Nothing),
    ];
    let mut lines = String::new();
    // The comment shows the newest six.
    for some in [all.as_slice(), &deeds] {
        feature.failed_acts = some
            .iter()
            .map(|(what, task, instead)| FailedAct {
                what: *what,
                task: *task,
                instead: *instead,
                why: "@mal Resource not accessible".to_owned(),
            })
            .collect();
        let said = messages::living(&feature, &Spending::default(), &world::links());
        for line in said.lines().filter(|line| line.contains("Reason: ")) {
            lines.push_str(line);
            lines.push('\n');
        }
    }
    snapshot!("unsaid", lines.trim_end());
}

#[test]
fn titles_take_the_form_that_the_repository_sets() {
    let mut feature = world::feature(&world::decent);
    feature.rules.titles = "{type}(#{issue}): {subject}".parse().unwrap();
    let task = &feature.tasks[1];
    let lines = [
        messages::task_pull(&feature, task, &[]).title,
        messages::squash(&feature, task).title,
        messages::turn_commit(&feature, task, TurnNumber(1), CommitKind::Whole),
        messages::feature_pull(&feature, &Spending::default(), &world::links(), &[]).title,
        messages::plan_commit(&feature),
        messages::histories_commit(&feature),
    ];
    snapshot!("titles", lines.join("\n---\n"));
}

#[test]
fn tests_without_names_are_told_in_plain_sentences() {
    let finding = || domain::evidence::Finding {
        command: text("sh run.sh"),
        exit_code: Some(0),
        counts: domain::evidence::Counts::Unknown,
        failing: Vec::new(),
        output: String::new(),
        ..domain::evidence::Finding::default()
    };
    let cause = |tests| domain::blocked::PreFlightCause::NoNames { task: TaskId::Planned(1), test: text("bye"), tests };
    assert_eq!(
        reasons::preflight_cause(&cause(domain::evidence::Evidence::Passed(finding()))),
        "TASK-001 asks for the test `bye`. `sh run.sh` exited with 0, and its output names no test"
    );
    assert_eq!(
        reasons::preflight_cause(&cause(domain::evidence::Evidence::Failed(finding()))),
        "`sh run.sh` exited with 0. TASK-001 asks for the test `bye`"
    );
    let cause = |files: &[&str], commands: &[&str], mentioned: &[&str]| domain::blocked::PreFlightCause::NoCommand {
        task: TaskId::Planned(1),
        tests: domain::feature::UncalledTests {
            files: files.iter().map(|file| text(file)).collect(),
            commands: commands.iter().map(|command| text(command)).collect(),
            mentioned: mentioned.iter().map(|command| text(command)).collect(),
            looked_for: text("Cargo, Make"),
        },
    };
    assert_eq!(
        reasons::preflight_cause(&cause(&["spec/a_spec.lua"], &[], &[])),
        "TASK-001 needs tests. There are `spec/a_spec.lua`. Looked for Cargo, Make"
    );
    assert_eq!(
        reasons::preflight_cause(&cause(&["a.js"], &["cd a && npm test", "cd b && go test ./..."], &[])),
        "TASK-001 needs tests. More than one folder has its own: `cd a && npm test`, `cd b && go test ./...`. \
         Looked for Cargo, Make"
    );
    assert_eq!(
        reasons::preflight_cause(&cause(&[], &[], &["nimble test"])),
        "TASK-001 needs tests. The repository itself seems to run some by `nimble test`. Looked for Cargo, Make"
    );
}
