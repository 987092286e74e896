//! Explains why a command or label is refused, each with an alternative.

use crate::messages::{
    causes::reasons,
    form::{links::Links, measure::Measure, untrusted, words},
};
use domain::{
    blocked::BlockReason,
    command::{CommandMistake, MAX_TURNS},
    feature::{
        Feature,
        command::{Possible, Refusal, Trigger},
    },
    ids::{FeatureKey, Sha, TaskId},
};

const TEXT: usize = 600;

/// Returns one short reply: the reason, then the nearest valid form.
pub(crate) fn refusal(refusal: &Refusal, feature: Option<&Feature>, links: &Links, measure: &Measure) -> String {
    match refusal {
        Refusal::NotLookedAt { trigger, reason } => not_looked_at(*trigger, reason, measure),
        Refusal::NoPermission { needed, .. } => {
            format!(
                "Not done: you need {} access to give commands or set the label here. Someone who has it can do it for you.",
                untrusted::inline(needed, 60)
            )
        }
        Refusal::PermissionUnknown => PERMISSION_UNKNOWN.to_owned(),
        Refusal::Malformed { reason, nearest } => malformed(reason, nearest),
        Refusal::NoRun => NO_RUN.to_owned(),
        Refusal::RunUnfinished { run } => unfinished(run, feature, links),
        Refusal::BotLabel => BOT_LABEL.to_owned(),
        Refusal::IssueClosed => ISSUE_CLOSED.to_owned(),
        Refusal::NoCriteria => no_criteria(&[]),
        Refusal::UnboundCriteria { boxes } => no_criteria(boxes),
        Refusal::EditedSince { by } => edited_since(by),
        Refusal::RunEnded { state } => {
            format!(
                "Not done: this run has ended ({}). Label the issue again to start a new one.",
                words::of_stored(state)
            )
        }
        Refusal::NewerRun { run } => {
            format!("Not done: the issue has a newer run, {}. {}", run.name(), where_shown(run, feature, links))
        }
        Refusal::NotNow { command, state, instead } => {
            not_now(command, &format!("while the Feature is {}", words::of_stored(state)), *instead)
        }
        Refusal::TaskNotNow { command, task, state, instead } => {
            not_now(command, &format!("while {task} is {}", words::of_stored(state)), *instead)
        }
        Refusal::OtherPlan { given, current } => other_plan(given, current),
        Refusal::PlanChanged { current } => plan_changed(current),
        Refusal::NoSuchTask { task, known } => {
            format!("Not done: there is no {task} here. The tasks are {}.", words::tasks(known, 40))
        }
        Refusal::NameTheTask { command } => {
            format!(
                "Not done: on the issue this command needs the task's name, for example {}.",
                untrusted::code(&format!("/autobuild {command} TASK-001"), 80)
            )
        }
        Refusal::SecretFound { task, place } => secret_found(*task, place),
        Refusal::StaleReview { task, head } => stale_review(*task, head),
    }
}

/// The reply for an issue without a run; also used for a status command.
pub(crate) const NO_RUN: &str =
    "AutoBuild is not working on this issue. To start, label it, or comment `/autobuild plan`.";

const PERMISSION_UNKNOWN: &str = "Not done: for 10 minutes GitHub could not say whether you have write access. Try again \
                                  later: write the command in a new comment, or remove the label and set it again.";

const BOT_LABEL: &str = "Not started: a bot set the label. A person with write access has to set it: remove it \
                         and label the issue again.";

const ISSUE_CLOSED: &str =
    "Not started: the issue is closed. Reopen it; then set the label again, or comment `/autobuild plan`.";

/// The most check boxes that a refusal names.
const MOST_BOXES: usize = 3;

fn no_criteria(unbound: &[String]) -> String {
    format!(
        "Not started: {}. Or let a designer write them: remove `pre_loop: never` from `.github/autobuild.yml`. Then remove \
         the label and set it again.",
        lacks_criteria(unbound)
    )
}

/// States that an issue of one task has no criteria, and that nobody may write them.
pub fn no_usable_criteria() -> String {
    "the issue has no check boxes that are all bound to a check, one of them other than human, and `pre_loop: never` forbids \
     to have a designer write or bind them"
        .to_owned()
}

/// Names what an issue's check boxes lack for a task without a design, and how to add it. `unbound` holds the texts of
/// the boxes that name no check.
pub fn lacks_criteria(unbound: &[String]) -> String {
    let named = unbound.iter().take(MOST_BOXES).map(|text| untrusted::code(text, 80));
    let named: Vec<String> = named.collect();
    let what = match (unbound.len(), named.join(", ")) {
        (0, _) => "the issue says nowhere what must hold when the task is done. Add check boxes".to_owned(),
        (1, named) => format!("the check box {named} names no check. Write check boxes"),
        (boxes, named) => format!("{boxes} check boxes name no check ({named}). Write check boxes"),
    };
    format!(
        "{what}, each with its check: `- [ ] It greets` followed by ``` `test: greet::works` ```, ``` `file: docs/greet.md` \
         ```, ``` `command: make docs` ``` or ``` `human` ```, and at least one that is not `human`"
    )
}

fn not_looked_at(trigger: Trigger, reason: &BlockReason, measure: &Measure) -> String {
    let (what, again) = match trigger {
        Trigger::Label => (
            "Not started: AutoBuild could not look at the label.",
            "Once that is fixed, remove the label and set it again.",
        ),
        Trigger::Command => (
            "Not done: AutoBuild could not look at the command.",
            "Once that is fixed, give the command again in a new comment.",
        ),
        Trigger::Review => {
            ("Not done: AutoBuild could not look at the review.", "Once that is fixed, submit the review again.")
        }
        Trigger::Button => (
            "Not done: AutoBuild could not look at the button.",
            "Once that is fixed, press it again, or give its command in a comment.",
        ),
    };
    format!("{what} {}\n\n{again}", reasons::blocked(reason, measure))
}

fn malformed(mistake: &CommandMistake, nearest: &str) -> String {
    format!(
        "Not done: {} The nearest valid form is {}.",
        untrusted::sentence(&what_is_wrong(mistake), TEXT),
        untrusted::code(nearest, 200)
    )
}

fn what_is_wrong(mistake: &CommandMistake) -> String {
    let quoted = |given: &str| untrusted::code(given, 41);
    match mistake {
        CommandMistake::NoCommand => "no command is given".to_owned(),
        CommandMistake::Unknown { given } => format!("{} is not a command", quoted(given)),
        CommandMistake::Argument { verb, given } => {
            format!("`{verb}` takes nothing after it, and {} stands there", quoted(given))
        }
        CommandMistake::SecondArgument { verb, given } => {
            format!("`{verb}` takes one word after it, and {} stands there as well", quoted(given))
        }
        CommandMistake::Hash { given } => {
            format!("{} is not a plan's hash, which has 8 to 64 hexadecimal digits", quoted(given))
        }
        CommandMistake::NoTask => "`skip` needs the task that is given up".to_owned(),
        CommandMistake::Task { given } => {
            format!("{} is not a task id; task ids are TASK-001 to TASK-999", quoted(given))
        }
        CommandMistake::Turns { given } => {
            format!("{} does not name a number of turns from 1 to {MAX_TURNS}", quoted(given))
        }
        CommandMistake::TurnsTwice => "`--max-turns` is given more than once".to_owned(),
    }
}

fn unfinished(run: &FeatureKey, feature: Option<&Feature>, links: &Links) -> String {
    format!(
        "Not started: {} of this issue is not finished. {} Cancel it with `/autobuild cancel`, then label again.",
        run.name(),
        where_shown(run, feature, links)
    )
}

fn edited_since(by: &str) -> String {
    format!(
        "Not started: {}, who has no write access, edited the issue after it was labelled. Read it again; then remove \
         the label and set it once more.",
        words::login(by)
    )
}

fn not_now(command: &str, why: &str, instead: Possible) -> String {
    format!(
        "Not done: {} does not work {why}: {}.",
        untrusted::code(&format!("/autobuild {command}"), 80),
        possible(instead)
    )
}

fn possible(instead: Possible) -> &'static str {
    match instead {
        Possible::AnotherRun => "cancel, then label again",
        Possible::WaitingPlan => "no plan waits for approval",
        Possible::Stopped => "it resumes only what is blocked or paused",
        Possible::Running => "nothing runs that it could pause",
        Possible::Building => "it changes tasks only while AutoBuild builds",
        Possible::HeldCi => "CI is not held",
        Possible::StoppedTask => "it resumes only a blocked or paused task",
        Possible::PushedTask => "you can approve over the Coach only a blocked task with a pushed commit",
        Possible::CompletedStays => "a completed task stays completed",
        Possible::RunningTask => "nothing of it runs that it could pause",
        Possible::Ended => "it has ended already",
        Possible::OldButton => "the button is on a check run from when the task was blocked",
    }
}

fn other_plan(given: &str, current: &str) -> String {
    format!(
        "Not started: {} is not the hash of the plan that waits. To approve that one: {}.",
        untrusted::code(given, 80),
        approve(current)
    )
}

fn plan_changed(current: &str) -> String {
    format!(
        "Not started: the plan changed after you wrote this, or you could not see it yet. Read it again. To approve \
         exactly this one: {}.",
        approve(current)
    )
}

fn secret_found(task: TaskId, place: &str) -> String {
    format!(
        "Not done: the commit of {task} holds what looks like a secret, at {}, and nobody can waive that. Revoke the secret. \
         Then push a commit without it, or ask for one with {}.",
        untrusted::code(place, 200),
        untrusted::code("/autobuild resume", 80)
    )
}

fn stale_review(task: TaskId, head: &Sha) -> String {
    format!(
        "Not done: your review approves an older commit of {task}. It is at `{}` now: review that one, or write {} in a \
         comment.",
        head.short(),
        untrusted::code("/autobuild approve", 80)
    )
}

fn approve(current: &str) -> String {
    untrusted::code(&format!("/autobuild approve {current}"), 80)
}

/// Returns a link to the run's living comment, if it is known, else to its issue.
fn where_shown(run: &FeatureKey, feature: Option<&Feature>, links: &Links) -> String {
    let living = feature.filter(|feature| feature.key == *run).and_then(|feature| feature.living);
    match living {
        Some(living) => format!("See {}.", links.comment(run.issue, living.comment, "this comment")),
        None => format!("See {}.", links.issue(run.issue)),
    }
}
