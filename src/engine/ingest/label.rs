//! A label: the start of a Feature, or the reason why not.

use crate::config::Permission;
use crate::config::PreLoop;
use crate::config::RepositorySettings;
use crate::domain::check_boxes::check_boxes;
use crate::domain::design;
use crate::domain::effect::Effect;
use crate::domain::effect::Reply;
use crate::domain::effect::ReplyTo;
use crate::domain::effect::Thread;
use crate::domain::feature::Snapshot;
use crate::domain::feature::Trust;
use crate::domain::feature::Wanted;
use crate::domain::feature::command::Refusal;
use crate::domain::feature::event::Event;
use crate::domain::ids::FeatureKey;
use crate::domain::ids::IssueNumber;
use crate::domain::ids::Millis;
use crate::domain::ids::User;
use crate::domain::ids::UserId;
use crate::engine::apply::Applied;
use crate::engine::ingest::Scene;
use crate::engine::ingest::answers;
use crate::engine::ingest::fact;
use crate::engine::ingest::newest;
use crate::engine::ingest::one;
use crate::engine::ingest::right;
use crate::engine::ingest::right::Right;
use crate::engine::job::Done;
use crate::engine::job::Undone;
use crate::engine::repository::NoSettings;
use crate::engine::repository::rules;
use crate::github::model::ActorKind;
use crate::github::model::Conversation;
use crate::github::model::Issue;

/// The label unless the repository's settings name another one.
const DEFAULT_LABEL: &str = "autobuild";

/// The label of a Feature of one task.
pub const TASK_LABEL: &str = "autobuild-task";

/// An issue got `label`.
pub async fn labelled(scene: &Scene<'_>, issue: &Issue, label: &str) -> Result<Done, Undone> {
    let Scene { engine, place, .. } = *scene;
    if issue.conversation != Conversation::Issue {
        return Ok(Done::Nothing);
    }
    let branch = engine.fetch_default(place.installation, place.repo.id, None).await?;
    let settings = match engine.settings_of(&branch).await {
        Ok(settings) => settings.settings,
        Err(NoSettings::Undone(undone)) => return Err(undone),
        Err(NoSettings::Mistakes(mistakes)) if label == DEFAULT_LABEL || label == TASK_LABEL => {
            return answer(scene, issue, label, Reply::BadSettings(mistakes)).await;
        }
        Err(NoSettings::Mistakes(_)) => return Ok(Done::Nothing),
    };
    let Some(wanted) = wanted(label, &settings) else {
        return Ok(Done::Nothing);
    };
    let unfinished = engine.store.unfinished_run(place.repo.id, issue.number).await?;
    if let Some(refusal) = refusal(scene, settings.commands.permission).await? {
        return answer(scene, issue, label, Reply::Refused(refusal)).await;
    }
    if let Some(run) = unfinished {
        let refusal = Refusal::RunUnfinished { run: run.key };
        return answer(scene, issue, label, Reply::Refused(refusal)).await;
    }
    let snapshot = match snapshot(scene, issue).await? {
        Ok(snapshot) => Snapshot { wanted, ..snapshot },
        Err(refusal) => return answer(scene, issue, label, Reply::Refused(refusal)).await,
    };
    if wanted == Wanted::OneTask && lacks_criteria(&snapshot, &settings) {
        return answer(scene, issue, label, Reply::Refused(Refusal::NoCriteria)).await;
    }
    let key = next_run(scene, issue).await?;
    let rules = rules(&settings, engine.sandbox.level());
    match engine.begin(key, place.installation, snapshot, rules, None).await? {
        Applied::Done | Applied::Known | Applied::LostFence | Applied::NoFeature => Ok(Done::Nothing),
        Applied::RunExists => answer(scene, issue, label, Reply::Refused(Refusal::RunUnfinished { run: key })).await,
    }
}

/// An issue got a label that GitHub does not name. Those that it has now are looked at, where none started a run before.
pub async fn labelled_somehow(scene: &Scene<'_>, issue: &Issue) -> Result<Done, Undone> {
    for label in now_on(scene, issue).await? {
        let run = scene.engine.store.latest_run(scene.place.repo.id, issue.number).await?;
        if run.is_some() {
            break;
        }
        match labelled(scene, issue, &label).await? {
            Done::Nothing => {}
            answer => return Ok(answer),
        }
    }
    Ok(Done::Nothing)
}

/// The labels that the issue has now; those of its payload may be missing.
pub async fn now_on(scene: &Scene<'_>, issue: &Issue) -> Result<Vec<String>, Undone> {
    let Scene { engine, place, .. } = *scene;
    let repo = engine.autobuild.repo(place.installation, place.repo.id);
    Ok(repo.issue(issue.number).await?.labels)
}

/// The run that comes after the issue's latest.
async fn next_run(scene: &Scene<'_>, issue: &Issue) -> Result<FeatureKey, Undone> {
    let repo = scene.place.repo.id;
    let latest = scene.engine.store.latest_run(repo, issue.number).await?;
    Ok(FeatureKey {
        repo,
        issue: issue.number,
        run: latest.map_or(1, |row| row.key.run.saturating_add(1)),
    })
}

/// What the label asks for, if it is one of ours.
fn wanted(label: &str, settings: &RepositorySettings) -> Option<Wanted> {
    match label {
        label if label == settings.label => Some(Wanted::Plan),
        TASK_LABEL => Some(Wanted::OneTask),
        _ => None,
    }
}

/// Whether nobody could say what must hold in the end.
fn lacks_criteria(snapshot: &Snapshot, settings: &RepositorySettings) -> bool {
    settings.pre_loop == PreLoop::Never && !design::are_enough(&check_boxes(&snapshot.body))
}

async fn refusal(scene: &Scene<'_>, needed: Permission) -> Result<Option<Refusal>, Undone> {
    if scene.place.sender.kind != ActorKind::Person {
        return Ok(Some(Refusal::BotLabel));
    }
    right::refused(scene, needed).await
}

/// The issue as the label found it. An edit since then by someone without the right is not what was labelled.
pub async fn snapshot(scene: &Scene<'_>, issue: &Issue) -> Result<Result<Snapshot, Refusal>, Undone> {
    let Scene { engine, place, .. } = *scene;
    let labelled_at = issue.updated_at.unwrap_or(Millis(0));
    let author = issue.author.as_ref().map_or_else(ghost, |author| author.user.clone());
    let edit = engine
        .autobuild
        .repo(place.installation, place.repo.id)
        .last_edit(issue.number)
        .await?;
    let mut writers = may_write(scene, &author.login).await?;
    if let Some(edit) = edit {
        let editor = edit.editor.unwrap_or_default();
        let may = editor == author.login && writers || may_write(scene, &editor).await?;
        if edit.at > labelled_at && !may {
            return Ok(Err(Refusal::EditedSince { by: editor }));
        }
        writers = writers && may;
    }
    Ok(Ok(Snapshot {
        title: issue.title.clone(),
        body: issue.body.clone().unwrap_or_default(),
        author,
        labelled_by: place.sender.user.clone(),
        at: engine.now(),
        trust: if writers { Trust::Writers } else { Trust::Others },
        wanted: Wanted::default(),
    }))
}

async fn may_write(scene: &Scene<'_>, login: &str) -> Result<bool, Undone> {
    if login.is_empty() {
        return Ok(false);
    }
    let right = right::of(scene, login, Permission::Write).await?;
    Ok(right == Right::Yes)
}

/// The author of an issue whose account is gone.
fn ghost() -> User {
    User {
        id: UserId(10_137),
        login: "ghost".to_owned(),
    }
}

/// Says once why a label starts nothing.
async fn answer(scene: &Scene<'_>, issue: &Issue, label: &str, reply: Reply) -> Result<Done, Undone> {
    let Scene { engine, place, .. } = *scene;
    let at = issue.updated_at.map_or(0, |at| at.0);
    let cause = format!("label/{label}/{at}");
    let thread = Thread::Issue(issue.number);
    let to = ReplyTo::Fact(cause.clone());
    match newest(engine, place.repo.id, issue.number).await? {
        Some(feature) => {
            let event = Event::Answered { thread, to, reply };
            Ok(one(feature.key, fact(engine, event, cause, &place.sender.user)))
        }
        None => {
            let key = FeatureKey {
                repo: place.repo.id,
                issue: IssueNumber(issue.number.0),
                run: 1,
            };
            Ok(answers(
                engine,
                key,
                place.installation,
                &[Effect::Reply { thread, to, reply }],
            ))
        }
    }
}
