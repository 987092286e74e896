//! Why a command or label is not obeyed, each with what to do instead.

use crate::domain::feature::Feature;
use crate::domain::feature::command::Refusal;
use crate::domain::ids::FeatureKey;
use crate::messages::links::Links;
use crate::messages::untrusted;
use crate::messages::words;

const TEXT: usize = 600;

/// One short reply: the reason, then the nearest valid form.
pub(super) fn refusal(refusal: &Refusal, feature: Option<&Feature>, links: &Links) -> String {
    match refusal {
        Refusal::NoPermission { needed } => format!(
            "Not done: only people with {} access are obeyed here. Ask one of them to give the command or the label.",
            untrusted::inline(needed, 60)
        ),
        Refusal::PermissionUnknown => "Not done: GitHub could not say whether you have write access, also after 10 \
             minutes of asking. Give the command again in a new comment later."
            .to_owned(),
        Refusal::Malformed { reason, nearest } => format!(
            "Not done: {}. The nearest valid form is {}.",
            untrusted::inline(reason.trim_end_matches('.'), TEXT),
            untrusted::code(nearest, 200)
        ),
        Refusal::NoRun => "Not done: nothing is being built for this issue. Label the issue to start.".to_owned(),
        Refusal::RunUnfinished { run } => format!(
            "Not started: {} of this issue is not finished. {} Cancel it with `/autobuild cancel`, then label again.",
            run.shown(),
            where_shown(run, feature, links)
        ),
        Refusal::BotLabel => "Not started: the label was set by a bot. A person with write access has to set it: \
             remove it and label the issue again."
            .to_owned(),
        Refusal::EditedSince { by } => format!(
            "Not started: {}, who has no write access, edited the issue after it was labelled. Read it again; then \
             remove the label and set it once more.",
            words::login(by)
        ),
        Refusal::RunEnded { state } => format!(
            "Not done: this run has ended ({}). Label the issue again to start a new one.",
            untrusted::code(state, 60)
        ),
        Refusal::NewerRun { run } => format!(
            "Not done: the issue has a newer run, {}. {}",
            run.shown(),
            where_shown(run, feature, links)
        ),
        Refusal::NotNow { .. } | Refusal::TaskNotNow { .. } => not_now(refusal),
        Refusal::OtherPlan { given, current } => format!(
            "Not started: {} is not the hash of the plan that waits. To approve that one: {}.",
            untrusted::code(given, 80),
            approve(current)
        ),
        Refusal::PlanChanged { current } => format!(
            "Not started: the plan changed after your comment was written, or had not been shown yet. Read it again; \
             to approve exactly this one: {}.",
            approve(current)
        ),
        Refusal::NoSuchTask { task, known } => format!(
            "Not done: there is no {task} here. The tasks are {}.",
            words::tasks(known, 40)
        ),
        Refusal::NameTheTask { command } => format!(
            "Not done: on the issue this command needs the task's name, for example {}.",
            untrusted::code(&format!("/autobuild {command} TASK-001"), 80)
        ),
    }
}

fn not_now(refusal: &Refusal) -> String {
    let (command, what, instead) = match refusal {
        Refusal::NotNow {
            command,
            state,
            instead,
        } => (command, format!("in the state {}", untrusted::code(state, 60)), instead),
        Refusal::TaskNotNow {
            command,
            task,
            state,
            instead,
        } => (
            command,
            format!("because {task} is {}", untrusted::code(state, 60)),
            instead,
        ),
        _ => return String::new(),
    };
    format!(
        "Not done: {} is not possible {what}. Instead: {}.",
        untrusted::code(&format!("/autobuild {command}"), 80),
        untrusted::inline(instead.trim_end_matches('.'), TEXT)
    )
}

fn approve(current: &str) -> String {
    untrusted::code(&format!("/autobuild approve {current}"), 80)
}

/// A link to the run's living comment, if that is known, else to its issue.
fn where_shown(run: &FeatureKey, feature: Option<&Feature>, links: &Links) -> String {
    let living = feature
        .filter(|feature| feature.key == *run)
        .and_then(|feature| feature.living);
    match living {
        Some(living) => format!(
            "It is shown in {}.",
            links.comment(run.issue, living.comment, "this comment")
        ),
        None => format!("It is shown on {}.", links.issue(run.issue)),
    }
}
