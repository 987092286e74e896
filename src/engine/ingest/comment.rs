//! A comment: a command, or nothing.

use crate::config::Permission;
use crate::config::RepositorySettings;
use crate::domain::command::Command;
use crate::domain::command::Parsed;
use crate::domain::command::parse;
use crate::domain::effect::Effect;
use crate::domain::effect::ReactOn;
use crate::domain::effect::Reaction;
use crate::domain::effect::Reply;
use crate::domain::effect::ReplyTo;
use crate::domain::effect::Thread;
use crate::domain::feature::Feature;
use crate::domain::feature::command::Refusal;
use crate::domain::feature::event::Commanded;
use crate::domain::feature::event::Event;
use crate::domain::feature::event::NewerRun;
use crate::domain::feature::event::Target;
use crate::domain::ids::FeatureKey;
use crate::domain::ids::PullNumber;
use crate::engine::Engine;
use crate::engine::ingest::Scene;
use crate::engine::ingest::answers;
use crate::engine::ingest::fact;
use crate::engine::ingest::label;
use crate::engine::ingest::newest;
use crate::engine::ingest::one;
use crate::engine::ingest::right;
use crate::engine::ingest::right::Right;
use crate::engine::job::Done;
use crate::engine::job::Undone;
use crate::engine::repository::NoSettings;
use crate::engine::repository::rules;
use crate::github::model::ActorKind;
use crate::github::model::Comment;
use crate::github::model::Conversation;
use crate::github::model::Issue;
use crate::github::webhook::Place;

/// Someone wrote a comment.
pub async fn created(scene: &Scene<'_>, issue: &Issue, comment: &Comment) -> Result<Done, Undone> {
    let Scene { engine, place, .. } = *scene;
    let said = parse(&comment.body);
    if said == Parsed::None || place.sender.kind != ActorKind::Person || comment.via_app.is_some() {
        return Ok(Done::Nothing);
    }
    let heard = heard(engine, place, issue).await?;
    let needed = heard
        .as_ref()
        .map_or(Permission::Write, |(feature, _)| permission(feature));
    let login = &place.sender.user.login;
    let refusal = match right::of(scene, login, needed).await? {
        Right::No => Some(Refusal::NoPermission {
            needed: needed.word().to_owned(),
        }),
        Right::Unknown => Some(Refusal::PermissionUnknown),
        Right::Yes => None,
    };
    let (command, refusal) = match (said, refusal) {
        (_, Some(refusal)) => (None, refusal),
        (Parsed::Malformed { reason, nearest }, None) => (None, Refusal::Malformed { reason, nearest }),
        (Parsed::Command(command), None) => (Some(command), Refusal::NoRun),
        (Parsed::None, None) => return Ok(Done::Nothing),
    };
    match (heard, command) {
        (Some((feature, on)), Some(command)) => obeyed(scene, issue, comment, feature, on, command).await,
        (Some((feature, _)), None) => {
            let reply = Reply::Refused(refusal);
            let event = Event::Answered {
                thread: thread(issue),
                to: ReplyTo::Comment(comment.id),
                reply,
            };
            Ok(one(
                feature.key,
                fact(engine, event, cause(comment), &place.sender.user),
            ))
        }
        (None, command) => Ok(unheard(engine, place, issue, comment, command, refusal)),
    }
}

fn cause(comment: &Comment) -> String {
    format!("comment/{}", comment.id)
}

fn thread(issue: &Issue) -> Thread {
    match issue.conversation {
        Conversation::Issue => Thread::Issue(issue.number),
        Conversation::Pull => Thread::Pull(PullNumber(issue.number.0)),
    }
}

/// The Feature that the comment speaks to.
async fn heard(engine: &Engine, place: &Place, issue: &Issue) -> Result<Option<(Feature, Target)>, Undone> {
    match issue.conversation {
        Conversation::Issue => Ok(newest(engine, place.repo.id, issue.number)
            .await?
            .map(|feature| (feature, Target::Feature))),
        Conversation::Pull => {
            let Some(found) = engine.store.by_pull(place.repo.id, PullNumber(issue.number.0)).await? else {
                return Ok(None);
            };
            let target = found.task.map_or(Target::Feature, Target::Task);
            Ok(engine
                .feature(&found.feature.key)
                .await?
                .map(|feature| (feature, target)))
        }
    }
}

fn permission(feature: &Feature) -> Permission {
    serde_json::from_value::<RepositorySettings>(feature.settings.clone())
        .map_or(Permission::Write, |settings| settings.commands.permission)
}

async fn obeyed(
    scene: &Scene<'_>,
    issue: &Issue,
    comment: &Comment,
    feature: Feature,
    on: Target,
    command: Command,
) -> Result<Done, Undone> {
    let Scene { engine, place, .. } = *scene;
    let mut said = Commanded {
        on,
        thread: thread(issue),
        comment: comment.id,
        by: place.sender.user.clone(),
        written_at: comment.created_at.unwrap_or_else(|| engine.now()),
        rules: None,
        settings: None,
        snapshot: None,
        newer: newer(engine, &feature).await?,
        command,
    };
    if let Some(mistakes) = read_settings(scene, &mut said).await? {
        let event = Event::Answered {
            thread: said.thread,
            to: ReplyTo::Comment(comment.id),
            reply: Reply::BadSettings(mistakes),
        };
        let fact = fact(engine, event, cause(comment), &place.sender.user);
        return Ok(one(feature.key, fact));
    }
    if matches!(said.command, Command::Plan { .. }) && issue.conversation == Conversation::Issue {
        // A new plan is made from the issue as it is now.
        said.snapshot = label::snapshot(scene, issue).await?.ok();
    }
    Ok(one(
        feature.key,
        fact(
            engine,
            Event::Commanded(Box::new(said)),
            cause(comment),
            &place.sender.user,
        ),
    ))
}

/// Reads the settings again for commands that do; gives their mistakes, with which nothing starts.
async fn read_settings(scene: &Scene<'_>, said: &mut Commanded) -> Result<Option<Vec<String>>, Undone> {
    let reads_again = matches!(
        said.command,
        Command::Plan { .. } | Command::Resume { .. } | Command::Retry { .. }
    );
    if !reads_again {
        return Ok(None);
    }
    let Scene { engine, place, .. } = *scene;
    let branch = engine.fetch_default(place.installation, place.repo.id, None).await?;
    match engine.settings_of(&branch).await {
        Ok(read) => {
            said.rules = Some(rules(&read.settings));
            said.settings = serde_json::to_value(&read.settings).ok();
            Ok(None)
        }
        Err(NoSettings::Undone(undone)) => Err(undone),
        Err(NoSettings::Mistakes(mistakes)) => Ok(Some(mistakes)),
    }
}

async fn newer(engine: &Engine, feature: &Feature) -> Result<NewerRun, Undone> {
    let latest = engine.store.latest_run(feature.key.repo, feature.key.issue).await?;
    Ok(match latest {
        Some(row) if row.key.run > feature.key.run => NewerRun::Exists(row.key),
        _ => NewerRun::None,
    })
}

/// A command where no Feature listens is answered all the same.
fn unheard(
    engine: &Engine,
    place: &Place,
    issue: &Issue,
    comment: &Comment,
    command: Option<Command>,
    refusal: Refusal,
) -> Done {
    let key = FeatureKey {
        repo: place.repo.id,
        issue: issue.number,
        run: 1,
    };
    let reply = match command {
        Some(Command::Help) => Reply::Help,
        _ => Reply::Refused(refusal),
    };
    let reaction = if reply == Reply::Help {
        Reaction::Rocket
    } else {
        Reaction::Confused
    };
    let effects = [
        Effect::React {
            on: ReactOn::Comment(comment.id),
            reaction,
        },
        Effect::Reply {
            thread: thread(issue),
            to: ReplyTo::Comment(comment.id),
            reply,
        },
    ];
    answers(engine, key, place.installation, &effects)
}
