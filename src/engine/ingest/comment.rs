//! Handles a new comment: runs the command in it, if there is one.

use crate::{
    config::Permission,
    engine::{
        Engine,
        ingest::{
            branches_and_pulls::of_pull,
            context::{AwaitedTrigger, InboundContext, answers, newest, run_at},
            given_command::{GivenCommand, permission},
            label,
            label::PlanCommand,
            permission_check::find_refusal,
        },
        job::{Done, EffectError},
    },
    github::{
        model::{AccountType, Comment, Conversation, Issue},
        webhook::EventOrigin,
    },
    store::FoundFeature,
};
use domain::{
    command::{Command, Parsed, parse},
    effect::{Effect, Reaction, ReactionTarget, Reply, ReplyTo, Thread, answer},
    feature::{
        EarlierComment, Feature,
        command::{Refusal, Trigger},
        event::Target,
    },
    ids::PullNumber,
};

/// Handles a comment that was just written.
pub async fn created(context: &InboundContext<'_>, issue: &Issue, comment: &Comment) -> Result<Done, EffectError> {
    let InboundContext { engine, origin, .. } = *context;
    let said = parse(&comment.body);
    if said == Parsed::None || origin.sender.kind != AccountType::Person || comment.via_app.is_some() {
        return Ok(Done::Nothing);
    }
    let mut heard = find_target(engine, origin, issue, comment).await?;
    let mut refusal = find_refusal(context, needed(heard.as_ref())).await?;
    if heard.is_none() && refusal.is_none() && issue.conversation == Conversation::Pull {
        heard = find_by_branch(context, issue).await?;
        if heard.is_some() {
            refusal = find_refusal(context, needed(heard.as_ref())).await?;
        }
    }
    // It is read again, and its command has another target now: after a retry, for example, to another pull request.
    if refusal.is_none() && engine.store.knows_cause(origin.repo.id, &cause(comment)).await? {
        return Ok(Done::Nothing);
    }
    match heard {
        Some((feature, on)) => {
            let given_command = given_command(context, issue, comment, feature, on);
            given_command.answer_command(said, refusal).await
        }
        None => {
            let (command, refusal) = match (said, refusal) {
                (Parsed::Command(command @ Command::Plan { .. }), None)
                    if issue.conversation == Conversation::Issue =>
                {
                    return first_plan(context, issue, comment, command).await;
                }
                (_, Some(refusal)) => (None, refusal),
                (Parsed::Malformed { reason, nearest }, None) => (None, Refusal::Malformed { reason, nearest }),
                (Parsed::Command(command), None) => (Some(command), Refusal::NoRun),
                (Parsed::None, None) => return Ok(Done::Nothing),
            };
            if !context.may_answer(thread(issue), &cause(comment), &refusal).await? {
                return Ok(Done::Nothing);
            }
            Ok(unheard(engine, origin, issue, comment, command, refusal))
        }
    }
}

/// Returns the permission that a command to this target requires.
fn needed(heard: Option<&(Feature, Target)>) -> Permission {
    heard.map_or(Permission::Write, |(feature, _)| permission(feature))
}

/// Returns the cause that a command in a comment has, however often it is read.
fn cause(comment: &Comment) -> String {
    format!("comment/{}", comment.id)
}

fn given_command<'a>(
    context: &'a InboundContext<'a>,
    issue: &'a Issue,
    comment: &Comment,
    feature: Feature,
    on: Target,
) -> GivenCommand<'a> {
    GivenCommand {
        context,
        feature,
        on,
        thread: thread(issue),
        to: ReplyTo::Comment(comment.id),
        cause: cause(comment),
        open_cause: None,
        written_at: comment.created_at,
        issue: Some(issue),
    }
}

/// Plans an issue without a label: adds the label and creates its Feature. If the command contains a plan, that plan
/// replaces the one being made.
async fn first_plan(
    context: &InboundContext<'_>,
    issue: &Issue,
    comment: &Comment,
    command: Command,
) -> Result<Done, EffectError> {
    let InboundContext { engine, origin, .. } = *context;
    let has_plan = matches!(command, Command::Plan { yaml: Some(_), .. });
    let request = PlanCommand { words: words(context, comment, &command), cause: (!has_plan).then(|| cause(comment)) };
    let begun = label::asked_for(context, issue, request).await?;
    if let label::BeginOutcome::Refused(reply) = begun {
        let refused = answer(thread(issue), ReplyTo::Comment(comment.id), reply);
        return Ok(answers(engine, origin, issue.number, &refused));
    }
    if has_plan && let Some(feature) = newest(engine, origin.repo.id, issue.number).await? {
        let given_command = given_command(context, issue, comment, feature, Target::Feature);
        return given_command.answer_command(Parsed::Command(command), None).await;
    }
    let obeyed = Effect::React { on: ReactionTarget::Comment(comment.id), reaction: Reaction::Rocket };
    Ok(answers(engine, origin, issue.number, &[obeyed]))
}

/// Returns the text that came with a `plan` command.
fn words(context: &InboundContext<'_>, comment: &Comment, command: &Command) -> Option<EarlierComment> {
    let Command::Plan { words: Some(words), .. } = command else {
        return None;
    };
    Some(EarlierComment {
        by: context.origin.sender.user.clone(),
        at: comment.created_at.unwrap_or_else(|| context.engine.now()),
        text: words.clone(),
    })
}

pub fn thread(issue: &Issue) -> Thread {
    match issue.conversation {
        Conversation::Issue => Thread::Issue(issue.number),
        Conversation::Pull => Thread::Pull(PullNumber(issue.number.0)),
    }
}

async fn find_target(
    engine: &Engine,
    origin: &EventOrigin,
    issue: &Issue,
    comment: &Comment,
) -> Result<Option<(Feature, Target)>, EffectError> {
    match issue.conversation {
        Conversation::Issue => {
            let run = run_at(engine, origin.repo.id, issue.number, comment.created_at).await?;
            Ok(run.map(|feature| (feature, Target::Feature)))
        }
        Conversation::Pull => {
            let found = engine.store.by_pull(origin.repo.id, PullNumber(issue.number.0)).await?;
            target(engine, found).await
        }
    }
}

/// Finds the target by the branch of a pull request whose number is not stored yet. Only GitHub names the branch.
async fn find_by_branch(context: &InboundContext<'_>, issue: &Issue) -> Result<Option<(Feature, Target)>, EffectError> {
    let pull = context.repo().pull(PullNumber(issue.number.0)).await?;
    let found = of_pull(context, &pull).await?;
    Ok(found.map(|(feature, task)| (feature, task.map_or(Target::Feature, Target::Task))))
}

async fn target(engine: &Engine, found: Option<FoundFeature>) -> Result<Option<(Feature, Target)>, EffectError> {
    let Some(found) = found else { return Ok(None) };
    let feature = engine.feature(&found.feature.key).await?;
    Ok(feature.map(|feature| (feature, found.task.map_or(Target::Feature, Target::Task))))
}

/// Answers a command in a place without a Feature.
fn unheard(
    engine: &Engine,
    origin: &EventOrigin,
    issue: &Issue,
    comment: &Comment,
    command: Option<Command>,
    refusal: Refusal,
) -> Done {
    let (thread, to) = (thread(issue), ReplyTo::Comment(comment.id));
    // Only the list of commands needs no Feature.
    let effects = if command == Some(Command::Help) {
        vec![
            Effect::React { on: ReactionTarget::Comment(comment.id), reaction: Reaction::Rocket },
            Effect::Reply { thread, to, reply: Reply::Help },
        ]
    } else {
        answer(thread, to, Reply::Refused(refusal))
    };
    answers(engine, origin, issue.number, &effects)
}

/// Returns the trigger for a comment with a command.
pub(super) fn awaited(issue: &Issue, comment: &Comment) -> Option<AwaitedTrigger> {
    let ours = parse(&comment.body) != Parsed::None && comment.via_app.is_none();
    ours.then(|| AwaitedTrigger {
        trigger: Trigger::Command,
        thread: thread(issue),
        cause: cause(comment),
        comment: Some(comment.id),
    })
}
