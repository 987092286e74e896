//! Describes to people why something stopped, waits or ended. Details for operators are in the log.

use crate::messages::{
    causes::evidence,
    form::{
        measure::{Folding, Measure, bullets, codes, list, printed, sections},
        untrusted::{Room, code, fence, inline},
        words::{count, person, size, tasks},
    },
    issue::inquiry,
};
use domain::{
    blocked::{
        BlockReason, Defect, Failure, FailureClass, LoginProblem, NextStep, PreFlightCause, PreFlightFault,
        RepositoryFault, SpentScript, WorkStep,
    },
    budget::{Measure as Measured, Purse, Spent, dollars, hours, tokens},
    ci_definitions::definition,
    evidence::{Evidence, Unmet},
    feature::{ApprovalWhy, BaseFailures, CancelledWhy, CiOfBase},
    ids::User,
};
use text::mistake::SettingsMistake;

/// Returns why a Task or a Feature is blocked, as one sentence.
pub(crate) fn blocked(reason: &BlockReason, measure: &Measure) -> String {
    let max = measure.room(600);
    match reason {
        BlockReason::OutOfTurns { turns: 1 } => "Its one turn ended with feedback, and it may have no more.".to_owned(),
        BlockReason::OutOfTurns { turns } => format!("All {turns} allowed turns ended with changes requested."),
        BlockReason::NoChangeTwice => "Two turns in a row changed nothing.".to_owned(),
        BlockReason::SameIssues => "Three turns in a row ended with the same issues.".to_owned(),
        BlockReason::BudgetSpent(spent) => format!("The budget is spent: {}.", trimmed(&spending(spent), max)),
        BlockReason::Failed { step, failure, .. } => failed(step, failure, max),
        BlockReason::GatesAbsent { reasons } if reasons.iter().any(Unmet::judges_pull) => {
            with_list(PULL_JUDGED, &unmet(reasons), measure)
        }
        BlockReason::GatesAbsent { reasons } => with_list(GATES_ABSENT, &unmet(reasons), measure),
        BlockReason::Inquiry { by, inquiries } => inquiry::asks(*by, inquiries, measure),
        BlockReason::OpenReview { by } => {
            format!("The Coach approves, but {} asked for changes and that review is still open.", name(by))
        }
        BlockReason::Paused { by } => format!("{} paused it.", name(by)),
        BlockReason::NeedGone { task } => format!("It needs {task}, which somebody gave up."),
        BlockReason::ForcePushed { by } => {
            format!(
                "{} force-pushed its branch, which no longer contains the history of the integration branch.",
                name(by)
            )
        }
        BlockReason::BranchRule { rule } => {
            format!("A rule of the repository forbids AutoBuild's branches: {}.", code(rule, max))
        }
        BlockReason::PreFlightFailed { fault, what, output } => preflight_failed(*fault, what, output, measure),
        BlockReason::DefaultConflict { files, .. } => {
            let list = bullets(files, measure.rows.min(50), |file| code(file, 300));
            sections(vec![DEFAULT_CONFLICT.to_owned(), list])
        }
        BlockReason::WaveGateRed { failures } => with_list(WAVE_GATE_RED, &unmet(failures), measure),
        BlockReason::TasksBlocked { tasks: ids } => {
            let wait = if ids.len() == 1 { "waits" } else { "wait" };
            format!("{} {wait} for a person.", tasks(ids, measure.rows))
        }
        BlockReason::BadSettings { mistakes } => {
            let mistakes: Vec<String> = mistakes.iter().map(settings_mistake).collect();
            with_list(BAD_SETTINGS, &mistakes, measure)
        }
        BlockReason::Crashed { step } => {
            format!("AutoBuild itself stopped three times while it did this: {}.", work(step, max))
        }
    }
}

const PULL_JUDGED: &str = "A check asks something that no change of the code can give. The Player is not at fault.";
const GATES_ABSENT: &str = "A check that this work needs could not run. The Player is not at fault.";
const DEFAULT_CONFLICT: &str = "The default branch conflicts with the integration branch in:";
const WAVE_GATE_RED: &str = "The tasks of the wave pass alone, but their merged result does not.";
const BAD_SETTINGS: &str = "AutoBuild cannot read the repository's settings, `.github/autobuild.yml`.";

pub(crate) fn spending(spent: &Spent) -> String {
    let shown = |amount| match spent.measure {
        Measured::Money => dollars(amount),
        Measured::Tokens => tokens(amount),
        Measured::Time => hours(amount),
    };
    let (used, limit, month) = (shown(spent.used), shown(spent.limit), spent.month);
    let key = spent.setting();
    match spent.purse {
        Purse::Task => format!("the task used {used} of the {limit} that `{key}` allows"),
        Purse::Feature => format!("the Feature used {used} of the {limit} that `{key}` allows"),
        Purse::Installation => format!(
            "this installation used {used} of the {limit} that the server's `{key}` allows in {month}; it goes on from {}",
            month.next()
        ),
        // This repository must not see how much others on this server spent.
        Purse::Server => format!(
            "the {limit} that the server's `{key}` allows in {month} are used up; it goes on from {}",
            month.next()
        ),
    }
}

/// The failures of an agent, its program or its account, as a pattern.
macro_rules! agent_failures {
    () => {
        Failure::NoAgentProgram { .. }
            | Failure::AgentFailed { .. }
            | Failure::AgentFault { .. }
            | Failure::TimedOut { .. }
            | Failure::WentSilent { .. }
            | Failure::TooMuchOutput { .. }
            | Failure::TooOld { .. }
            | Failure::NotAsAsked { .. }
            | Failure::RateLimited { .. }
            | Failure::Unavailable { .. }
            | Failure::NotAuthorised { .. }
            | Failure::NotLoggedIn { .. }
            | Failure::NoSuchModel { .. }
            | Failure::ModelRefused { .. }
            | Failure::RequestRefused { .. }
            | Failure::PromptTooLong
            | Failure::OutputLimit
            | Failure::OutOfAgentTurns { .. }
            | Failure::OutOfMoney
            | Failure::ScriptSpent(_)
            | Failure::ReportMissing
            | Failure::ReportInvalid { .. }
            | Failure::DecisionMissing
            | Failure::DecisionInvalid { .. }
    };
}
pub(in crate::messages) use agent_failures;

/// The failures of other things than agents, as a pattern.
macro_rules! other_failures {
    () => {
        Failure::GitHubRefused { .. }
            | Failure::GitHubUnclear { .. }
            | Failure::GitHubUnreachable { .. }
            | Failure::History { .. }
            | Failure::Repository { .. }
            | Failure::DiskFull { .. }
            | Failure::NoProgram { .. }
            | Failure::Isolation { .. }
            | Failure::Database { .. }
            | Failure::DatabaseRefused { .. }
            | Failure::Unreadable { .. }
            | Failure::Git { .. }
            | Failure::Machine { .. }
            | Failure::Defect { .. }
    };
}
pub(in crate::messages) use other_failures;

fn agent_failed(step: &WorkStep, failure: &Failure, max: Room) -> String {
    let why = agent(failure, max);
    let who = with_a_capital(name_of_agent(step));
    let rule = failure.rule();
    match rule.next {
        NextStep::Person if rule.class == FailureClass::Unknown => {
            format!(
                "{who} gave no usable answer, also when it was asked for the answer alone: {why}. This used no turn."
            )
        }
        NextStep::Person | NextStep::AgainIfModelWorked => {
            format!("{who} could not work, and another try would not help: {why}. This used no turn.")
        }
        NextStep::Wait => format!("{who} waited for its model, and AutoBuild gave up: {why}. This used no turn."),
        NextStep::Continue => format!("{who} met its limit twice: {why}. This used no turn."),
        NextStep::NextShare => format!("{who} stopped: {why}. This used no turn."),
        NextStep::Again => format!("{who} failed at every try: {why}. This used no turn."),
    }
}

fn with_a_capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next();
    first.into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

/// Names the agent that failed, within a sentence.
pub(crate) fn name_of_agent(doing: &WorkStep) -> &'static str {
    match doing {
        WorkStep::Plan => "the planner",
        WorkStep::Design => "the designer",
        WorkStep::Play => "the Player",
        WorkStep::Coach => "the Coach",
        WorkStep::PreFlight
        | WorkStep::OpenIntegration
        | WorkStep::MergeDefault
        | WorkStep::WaveGate
        | WorkStep::OpenFeaturePull
        | WorkStep::OpenPull
        | WorkStep::Gates
        | WorkStep::Ci
        | WorkStep::PostReview
        | WorkStep::PublishCheck
        | WorkStep::Merge
        | WorkStep::HandleAct
        | WorkStep::Other(_) => "an agent",
    }
}

/// Returns a failed agent's last output; empty if it is unknown.
pub(crate) fn printed_last(reason: &BlockReason, form: Folding, measure: &Measure) -> String {
    let BlockReason::Failed { printed: output, .. } = reason else {
        return String::new();
    };
    printed(form, "What the agent printed last", output, measure)
}

/// Names a person without a mention: a report only mentions the person for whom it waits.
fn name(by: &User) -> String {
    code(&by.login, 60)
}

pub fn step(kind: &str) -> String {
    work(&WorkStep::of_kind(kind), Room::from(100))
}

/// Names, for people, the work that was being done.
fn work(doing: &WorkStep, max: Room) -> String {
    match doing {
        WorkStep::Plan => "planning".to_owned(),
        WorkStep::PreFlight => "pre-flight".to_owned(),
        WorkStep::Design => "designing the task".to_owned(),
        WorkStep::Play => "the Player's part of a turn".to_owned(),
        WorkStep::Gates => "running the Gates".to_owned(),
        WorkStep::Coach => "the Coach's part of a turn".to_owned(),
        WorkStep::Ci => "reading the repository's CI".to_owned(),
        WorkStep::OpenIntegration => "making the integration branch".to_owned(),
        WorkStep::MergeDefault => "merging the default branch".to_owned(),
        WorkStep::WaveGate => "the wave gate".to_owned(),
        WorkStep::OpenPull | WorkStep::OpenFeaturePull => "opening the pull request".to_owned(),
        WorkStep::Merge => "merging the pull request".to_owned(),
        WorkStep::PostReview => "posting the review".to_owned(),
        WorkStep::PublishCheck => "publishing the check run".to_owned(),
        WorkStep::HandleAct => "looking at it".to_owned(),
        WorkStep::Other(kind) => trimmed(&kind.replace('_', " "), max),
    }
}

fn refused(doing: &str, said: &str, max: Room) -> String {
    format!("GitHub refused a request, and this stopped {doing}. Reason: {}", code(said, max))
}

/// Describes a failure. For a failure of the service's own machine only the kind is named, since the details are in the
/// log for operators.
fn failed(step: &WorkStep, failure: &Failure, max: Room) -> String {
    let doing = work(step, max);
    match failure {
        Failure::GitHubRefused { message } | Failure::GitHubUnclear { message } => refused(&doing, message, max),
        Failure::GitHubUnreachable { message } => format!(
            "For hours, AutoBuild could not reach GitHub, or GitHub failed, and this stopped {doing}. Its last answer: {}",
            code(message, max)
        ),
        Failure::History { message } => format!(
            "Git refuses to fetch the repository, because an object in its history could harm whoever checks it out. Git \
             says: {}",
            code(message, max)
        ),
        Failure::Repository { fault } => format!(
            "Something is wrong with the repository, and it stopped {doing}: {}.",
            trimmed(&repository_fault(fault), max)
        ),
        Failure::DiskFull { .. } => of_machine("The disk of the machine that runs AutoBuild is full", &doing),
        Failure::NoProgram { program, .. } => of_machine(
            &format!("The machine that runs AutoBuild cannot start the program {}", code(program, max)),
            &doing,
        ),
        Failure::Isolation { .. } => {
            of_machine("The machine that runs AutoBuild could not isolate a program, so it was not started", &doing)
        }
        Failure::Database { .. } | Failure::DatabaseRefused { .. } => {
            of_machine("AutoBuild's own database failed", &doing)
        }
        Failure::Unreadable { .. } => of_machine("AutoBuild cannot read what it stored itself", &doing),
        Failure::Git { message } => format!(
            "Git failed on the machine that runs AutoBuild, and this stopped {doing}. It says: {}",
            code(message, max)
        ),
        Failure::Machine { .. } => of_machine("The machine that runs AutoBuild failed", &doing),
        Failure::Defect { defect: found } => {
            format!("AutoBuild itself has a fault, and it stopped {doing}: {}.", trimmed(&defect(found), max))
        }
        agent_failures!() => agent_failed(step, failure, max),
    }
}

/// Describes, within a sentence, how a repository differs from the needs of the work.
pub(crate) fn repository_fault(what: &RepositoryFault) -> String {
    match what {
        RepositoryFault::UnknownAgent { name } => {
            format!("the settings name the agent {name:?}, which this server does not offer")
        }
        RepositoryFault::NoBranch { branch } => format!("the branch {branch} does not exist"),
        RepositoryFault::ForeignBranch { branch } => {
            format!("the branch {branch} exists already, and it is in the way of the branches that AutoBuild makes")
        }
        RepositoryFault::BranchMoves { branch } => {
            format!("others push to the branch {branch} each time that AutoBuild pushes to it")
        }
        RepositoryFault::NothingToMerge { head, base } => format!("{head} holds nothing that {base} does not hold"),
        RepositoryFault::NoCommonHistory => "the branches have no common history".to_owned(),
        RepositoryFault::NoCommit { commit } => format!("the commit {} is gone", commit.short()),
        RepositoryFault::OtherCommit { made } => {
            format!("GitHub was asked to sign a commit, and made another one, {}", made.short())
        }
        RepositoryFault::Missing(message) | RepositoryFault::Other(message) => message.clone(),
    }
}

/// Names, within a sentence, what AutoBuild should know about the work and does not.
pub(crate) fn defect(what: &Defect) -> String {
    match what {
        Defect::NoFeature { key } => format!("there is no Feature {key}"),
        Defect::NoTask { task } => format!("the Feature has no {task}"),
        Defect::NoOpenTurn { task } => format!("{task} has no open turn with a commit"),
        Defect::NoCommit { task } => format!("{task} has no commit"),
        Defect::NoPullRequest { task } => format!("{task} has no pull request"),
        Defect::NoIntegrationBranch => "there is no integration branch".to_owned(),
        Defect::NoGates => "no Gate ran on this commit".to_owned(),
        Defect::NoRepository => "the effect names no repository".to_owned(),
        Defect::NotOfAFeature => "the effect needs a Feature".to_owned(),
        Defect::NoDelivery => "the delivery is not stored".to_owned(),
        Defect::CutOff { times } => format!("AutoBuild ended {times} times while it did this"),
        Defect::Other(message) => message.clone(),
    }
}

fn of_machine(what: &str, doing: &str) -> String {
    format!(
        "{what}. This stopped {doing}. Neither GitHub nor the repository is the cause. AutoBuild's log has the details."
    )
}

fn preflight_failed(fault: PreFlightFault, what: &PreFlightCause, output: &str, measure: &Measure) -> String {
    let begin = match (fault, what) {
        (PreFlightFault::NotRun, PreFlightCause::SetUp(_)) => "Set-up does not work on the default branch",
        (PreFlightFault::NotRun, PreFlightCause::Tests(_)) => "The tests do not run on the default branch",
        (
            PreFlightFault::NotRun,
            PreFlightCause::NoNames { .. } | PreFlightCause::NoCommand { .. } | PreFlightCause::Failing(_),
        ) => "Set-up or tests do not run on the default branch",
        (PreFlightFault::NothingPasses, _) => {
            "No test passes on the default branch, so no test could show that a task is done"
        }
        (PreFlightFault::NoNames, PreFlightCause::NoNames { tests: Evidence::Failed(_), .. }) => {
            "The tests fail on the default branch, and do not say which"
        }
        (PreFlightFault::NoNames, _) => "A criterion could never be met, because the tests have no names",
        (PreFlightFault::FailingBase, _) => {
            "More tests fail on the default branch than AutoBuild excuses without asking. May it go on?"
        }
        (PreFlightFault::NoCommand, _) => "No command was found that runs the tests of the default branch",
    };
    let what = trimmed(&preflight_cause(what), measure.room(2_000));
    let sentence = match fault {
        PreFlightFault::FailingBase => format!("{begin} {what}."),
        PreFlightFault::NotRun
        | PreFlightFault::NothingPasses
        | PreFlightFault::NoNames
        | PreFlightFault::NoCommand => format!("{begin}: {what}."),
    };
    if output.trim().is_empty() {
        sentence
    } else {
        format!("{sentence}\n\n{}", fence(output, "text", measure.output()))
    }
}

/// Names, within a sentence, what stopped pre-flight.
pub(crate) fn preflight_cause(what: &PreFlightCause) -> String {
    match what {
        PreFlightCause::SetUp(result) | PreFlightCause::Tests(result) => evidence::evidence(result),
        PreFlightCause::NoNames { task, test, tests: tests @ Evidence::Failed(_) } => {
            format!("{}. {task} asks for the test `{test}`", evidence::evidence(tests))
        }
        PreFlightCause::NoNames { task, test, tests } => {
            format!("{task} asks for the test `{test}`. {}, and its output names no test", evidence::evidence(tests))
        }
        PreFlightCause::NoCommand { task, tests } => {
            let found = match (tests.commands.as_slice(), tests.mentioned.as_slice(), tests.files.as_slice()) {
                ([], [], []) => String::new(),
                ([], [], files) => format!(". There are {}", codes(files, 3, 200)),
                ([], mentioned, _) => {
                    let mentioned = codes(mentioned, 3, 300);
                    format!(". The repository itself seems to run some by {mentioned}")
                }
                (commands, ..) => format!(". More than one folder has its own: {}", codes(commands, 3, 300)),
            };
            format!("{task} needs tests{found}. Looked for {}", tests.looked_for)
        }
        PreFlightCause::Failing(failures) => base_failures(failures),
    }
}

/// States how many tests fail on the base, the cause that their output names, and if CI is green there.
fn base_failures(failures: &BaseFailures) -> String {
    let number = match failures.ran {
        0 if failures.failed == 0 => "the test command fails, and counts no tests".to_owned(),
        0 => format!("{} fail", failures.failed),
        ran => format!("{} of {ran} fail", failures.failed),
    };
    let shared = failures.symptoms.shared.iter().take(MOST_SHARED);
    let shared: Vec<String> = shared
        .map(|shared| {
            let beside = shared.beside.as_deref();
            let beside = beside.map_or_else(String::new, |line| format!(" beside {}", code(line, 200)));
            format!("{} with {}{beside}", shared.tests, code(&shared.line, 200))
        })
        .collect();
    let shared = if shared.is_empty() { String::new() } else { format!(": {}", shared.join(", ")) };
    let refused = if failures.symptoms.refused.is_empty() {
        String::new()
    } else {
        format!(". They were refused {}", codes(&failures.symptoms.refused, 5, 200))
    };
    let ci = match failures.ci {
        CiOfBase::Green => ". The repository's CI is green on the same commit, so this machine is to blame",
        CiOfBase::Unknown => "",
    };
    format!("{number}{shared}{refused}{ci}")
}

/// The most failure texts that are quoted.
const MOST_SHARED: usize = 3;

/// If the repository's CI is green on the base, states that the tests which fail in pre-flight only fail on this
/// machine.
pub fn machine_note(ci: CiOfBase) -> Option<String> {
    let note = "The repository's own CI is green on this commit. So the tests that fail here fail because of the machine \
                that AutoBuild runs on.";
    match ci {
        CiOfBase::Green => Some(note.to_owned()),
        CiOfBase::Unknown => None,
    }
}

/// Says why a task cannot be merged.
pub fn no_merge_method() -> String {
    "the repository allows no way of merging".to_owned()
}

/// States why a task whose pull request has this base is not merged.
pub fn other_base(branch: &str) -> String {
    format!("the base of the pull request is `{branch}` now, and not the integration branch")
}

/// States how long the API of a model has been unavailable.
pub fn not_served_for(hours: i64) -> String {
    format!("it has not served for {hours} hours")
}

/// Replaces an API's answer that only operators may see.
pub fn answer_is_in_the_log() -> String {
    "whoever runs this server finds the answer of the API in its log".to_owned()
}

/// Describes a mistake in a repository's settings.
pub fn settings_mistake(mistake: &SettingsMistake) -> String {
    match mistake {
        SettingsMistake::TooLarge { most } => format!("`.github/autobuild.yml` is larger than {most} bytes"),
        SettingsMistake::NoFile => {
            "`.github/autobuild.yml` is not a file: a folder, a submodule, or a link that leads to no file of the \
             repository"
                .to_owned()
        }
        SettingsMistake::Invalid { place, key, said, valid } => {
            let key = if key.is_empty() { String::new() } else { format!("`{key}`: ") };
            let valid = if valid.is_empty() { String::new() } else { format!("; valid: {valid}") };
            format!("{place}: {key}{said}{valid}")
        }
    }
}

/// Describes, within a sentence, how an agent failed.
fn agent(failure: &Failure, max: Room) -> String {
    match failure {
        Failure::NoAgentProgram { program } => format!("its program {} was not found", code(program, max)),
        Failure::AgentFailed { message } => trimmed(message, max),
        Failure::AgentFault { fault } => trimmed(&fault.to_string(), max),
        Failure::TimedOut { seconds } => format!("it was stopped after {}", count(*seconds, "second")),
        Failure::WentSilent { seconds } => format!("it printed nothing for {}", count(*seconds, "second")),
        Failure::TooMuchOutput { bytes } => format!("it printed more than {}", size(*bytes)),
        Failure::TooOld { program, found, least } => format!(
            "its program {} is version {}, and at least {least} is needed",
            code(program, max),
            code(found, max)
        ),
        Failure::NotAsAsked { differences } => {
            let difference = trimmed(&differences.to_string(), max);
            format!("it did not start as it was asked to: {difference}")
        }
        Failure::RateLimited { .. } => "the model's API limits the rate".to_owned(),
        Failure::Unavailable { .. } => "the model's API is not available".to_owned(),
        Failure::NotAuthorised { .. } => {
            "the model's API refuses the account that AutoBuild uses; its log has the details".to_owned()
        }
        Failure::NotLoggedIn { program, problem, .. } => login_problem(&code(program, max), *problem),
        Failure::NoSuchModel { model, .. } => format!("the model {} is not available", code(model, max)),
        Failure::ModelRefused { message } => format!("the model refused the work: {}", trimmed(message, max)),
        Failure::RequestRefused { status, .. } => {
            format!("the model's API refuses what its program asks (HTTP {status}); AutoBuild's log has the details")
        }
        Failure::PromptTooLong => "the work is too long for the model".to_owned(),
        Failure::OutputLimit => "the model stopped at its limit of output".to_owned(),
        Failure::OutOfAgentTurns { turns } => {
            format!("it made {}, as many as it may", count(*turns, "call of its model"))
        }
        Failure::OutOfMoney => "it used up its share of the budget".to_owned(),
        Failure::ScriptSpent(spent) => script_spent(spent, max),
        Failure::ReportMissing | Failure::DecisionMissing => "its output holds no JSON object".to_owned(),
        Failure::ReportInvalid { problem } => {
            format!("its report is not valid: {}", trimmed(&problem.replace('\n', "; "), max))
        }
        Failure::DecisionInvalid { problem } => {
            format!("its decision is not valid: {}", trimmed(&problem.replace('\n', "; "), max))
        }
        other_failures!() => trimmed(&failure.to_string(), max),
    }
}

fn login_problem(program: &str, problem: LoginProblem) -> String {
    match problem {
        LoginProblem::Missing => format!("{program} is not logged in"),
        LoginProblem::Expired => format!("the log-in of {program} has expired"),
        LoginProblem::NotLendable => format!(
            "the log-in of {program} is kept where AutoBuild cannot lend it: a cloud provider or a program gives the key"
        ),
    }
}

fn script_spent(spent: &SpentScript, max: Room) -> String {
    let script = code(&spent.script.to_string_lossy(), max);
    let steps = count(spent.steps, "step");
    let of = spent.task.map_or_else(String::new, |task| format!(" of {task}"));
    let run = format!("the {}{of} at turn {}", spent.role, spent.turn);
    let once = "a step is played once, for all Features together";
    match spent.fitting {
        0 => format!("its script {script} has {steps}, and none is for {run}"),
        1 => format!("its script {script} has {steps}, and the one for {run} was played before: {once}"),
        fitting => format!("its script {script} has {steps}, and the {fitting} for {run} were played before: {once}"),
    }
}

/// Returns why a plan waits, as one sentence.
pub(crate) fn approval(why: &ApprovalWhy) -> String {
    match why {
        ApprovalWhy::Settings => "The repository's settings ask for it (`plan_approval: always`).".to_owned(),
        ApprovalWhy::Complexity { complexity, from } => format!(
            "Its complexity is {complexity} of 10, and the repository's settings ask for approval from {from} on."
        ),
        ApprovalWhy::Author => "Someone without write access wrote or last edited the issue.".to_owned(),
        ApprovalWhy::UnheldCi { workflows } => {
            let is_of_services = workflows.iter().all(|path| definition(path).is_some());
            let way_out = if is_of_services {
                " If such services may always run it, write `ci: wait` into the settings: AutoBuild then holds no CI."
            } else {
                ""
            };
            format!(
                "CI is held, and {} may run the code all the same. Read below what the code would get there.{way_out}",
                codes(workflows, 5, 120)
            )
        }
        ApprovalWhy::Commands => {
            "It names commands, and AutoBuild runs them without isolation here. Read them below.".to_owned()
        }
    }
}

/// Returns why a Feature was cancelled, as one sentence.
pub(crate) fn cancelled(why: &CancelledWhy) -> String {
    match why {
        CancelledWhy::Command(by) => format!("{} cancelled it.", person(by)),
        CancelledWhy::LabelRemoved(by) => format!("{} removed the label.", person(by)),
        CancelledWhy::IssueClosed(by) => format!("{} closed the issue.", person(by)),
        CancelledWhy::PullClosed(by) => format!("{} closed its pull request without merging it.", person(by)),
        CancelledWhy::BranchDeleted => "Somebody deleted the integration branch.".to_owned(),
        CancelledWhy::RepositoryGone => "Somebody archived or deleted the repository.".to_owned(),
        CancelledWhy::IssueGone => "Somebody transferred or deleted the issue.".to_owned(),
        CancelledWhy::InstallationRemoved => "Somebody removed AutoBuild from the repository.".to_owned(),
        CancelledWhy::NothingCompleted => "No task is complete, so there is nothing to merge.".to_owned(),
    }
}

/// Returns a sentence from elsewhere without its full stop, so that our sentence can continue.
fn trimmed(text: &str, max: Room) -> String {
    inline(text.trim_end().trim_end_matches('.'), max)
}

fn unmet(all: &[Unmet]) -> Vec<String> {
    all.iter().map(evidence::unmet).collect()
}

fn with_list(sentence: &str, entries: &[String], measure: &Measure) -> String {
    let list = list(entries, measure.rows.min(20), measure.room(600));
    sections(vec![sentence.to_owned(), list])
}
