//! A label: the start of a Feature, or the reason why not.

use crate::{
    config::{Permission, PreLoop, RepositorySettings},
    engine::{
        Engine,
        apply::Applied,
        ingest::{
            context::{InboundContext, answers, fact, newest, one},
            discussion,
            discussion::Writers,
            right,
        },
        job::{Done, EffectError},
        repository::rules,
        repository_settings::{ReadSettings, same_label},
    },
    github::{
        GithubError,
        model::{ActorKind, Conversation, Issue, OpenState},
        webhook::Place,
    },
};
use domain::{
    check_boxes::check_boxes,
    design, effect,
    effect::{Reply, ReplyTo, Thread},
    feature::{SaidBefore, Snapshot, Trust, Wanted, command::Refusal, event::Event},
    ids::{FeatureKey, IssueNumber, Millis, User, UserId},
};

/// Whether the label may start something, as far as that is known without asking GitHub.
pub async fn may_be_ours(engine: &Engine, place: &Place, issue: &Issue, label: &str) -> Result<bool, EffectError> {
    if issue.conversation != Conversation::Issue {
        return Ok(false);
    }
    let known = engine.certain_labels(place.repo.id).await?;
    Ok(known.is_none_or(|labels| labels.wanted(label).is_some()))
}

/// An issue got `label`. Nothing is fetched here: whether it is ours, whether the sender may, and how the issue stands
/// now are calls.
pub async fn labelled(context: &InboundContext<'_>, issue: &Issue, label: &str) -> Result<Done, EffectError> {
    let InboundContext { engine, place, .. } = *context;
    let read = engine.settings_now(place.installation, &place.repo).await?;
    let Some(wanted) = read.labels.wanted(label) else {
        return Ok(Done::Nothing);
    };
    if let Some(refusal) = refusal(context, permission(&read)).await? {
        return answer(context, issue, label, Reply::Refused(refusal)).await;
    }
    match standing(context, issue, label).await? {
        Standing::Labelled => {}
        Standing::Unlabelled => return Ok(Done::Nothing),
        Standing::Closed => return answer(context, issue, label, Reply::Refused(Refusal::IssueClosed)).await,
    }
    match begin(context, issue, &read, wanted, Asked::Label).await? {
        Begun::Feature => Ok(Done::Nothing),
        Begun::Not(reply) => answer(context, issue, label, reply).await,
    }
}

/// Whom the settings obey; also where the file holds mistakes.
fn permission(read: &ReadSettings) -> Permission {
    match &read.settings {
        Ok(read) => read.settings.commands.permission,
        Err(_) => Permission::Write,
    }
}

/// What asks for a Feature.
enum Asked {
    /// The label.
    Label,
    /// A command on an issue without it, with these words for the planner. The label is set first.
    Command(Option<SaidBefore>),
}

/// What came of an order to begin a Feature.
pub enum Begun {
    /// The Feature, now or when the same was told before.
    Feature,
    /// None, for this reason.
    Not(Reply),
}

/// A person who may wants the issue planned, which has no label yet and no run: it is labelled for them.
pub async fn asked_for(
    context: &InboundContext<'_>,
    issue: &Issue,
    words: Option<SaidBefore>,
) -> Result<Begun, EffectError> {
    let InboundContext { engine, place, .. } = *context;
    let read = engine.settings_now(place.installation, &place.repo).await?;
    if let Some(refusal) = right::refused(context, permission(&read)).await? {
        return Ok(Begun::Not(Reply::Refused(refusal)));
    }
    let repo = engine.autobuild.repo(place.installation, place.repo.id);
    match repo.issue(issue.number).await?.state {
        OpenState::Open => begin(context, issue, &read, Wanted::Plan, Asked::Command(words)).await,
        OpenState::Closed => Ok(Begun::Not(Reply::Refused(Refusal::IssueClosed))),
    }
}

/// Begins the Feature of an open issue for the sender, who may.
async fn begin(
    context: &InboundContext<'_>,
    issue: &Issue,
    read: &ReadSettings,
    wanted: Wanted,
    asked: Asked,
) -> Result<Begun, EffectError> {
    let InboundContext { engine, place, .. } = *context;
    let refused = |refusal| Ok(Begun::Not(Reply::Refused(refusal)));
    let settings = match &read.settings {
        Ok(read) => &read.settings,
        Err(mistakes) => return Ok(Begun::Not(Reply::BadSettings(mistakes.clone()))),
    };
    if let Some(run) = engine.store.unfinished_run(place.repo.id, issue.number).await? {
        return refused(Refusal::RunUnfinished { run: run.key });
    }
    let mut snapshot = match snapshot(context, issue).await? {
        Ok(snapshot) => Snapshot { wanted, ..snapshot },
        Err(refusal) => return refused(refusal),
    };
    if wanted == Wanted::OneTask && lacks_criteria(&snapshot, settings) {
        return refused(no_criteria(&snapshot.body));
    }
    if let Asked::Command(words) = asked {
        snapshot.discussion.comments.splice(..0, words);
        let repo = engine.autobuild.repo(place.installation, place.repo.id);
        repo.add_label(issue.number, &settings.label).await?;
    }
    let key = next_run(context, issue).await?;
    let rules = rules(settings, engine.sandbox.level());
    Ok(
        match engine.begin(key, place.installation, snapshot, rules, None).await? {
            Applied::Done | Applied::Known | Applied::LostFence | Applied::NoFeature => Begun::Feature,
            Applied::RunExists => Begun::Not(Reply::Refused(Refusal::RunUnfinished { run: key })),
        },
    )
}

/// How the labelled issue stands now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// It is open and has the label.
    Labelled,
    /// Whoever took the label off, or deleted the issue, wants nothing.
    Unlabelled,
    /// It has the label and is closed.
    Closed,
}

async fn standing(context: &InboundContext<'_>, issue: &Issue, label: &str) -> Result<Standing, EffectError> {
    let place = context.place;
    let repo = context.engine.autobuild.repo(place.installation, place.repo.id);
    let now = match repo.issue(issue.number).await {
        Ok(now) => now,
        Err(GithubError::Gone) => return Ok(Standing::Unlabelled),
        Err(error) => return Err(error.into()),
    };
    Ok(match now.state {
        _ if !now.labels.iter().any(|found| same_label(found, label)) => Standing::Unlabelled,
        OpenState::Open => Standing::Labelled,
        OpenState::Closed => Standing::Closed,
    })
}

/// An issue got a label that GitHub does not name. Those that it has now are looked at, where none started a run before.
pub async fn labelled_somehow(context: &InboundContext<'_>, issue: &Issue) -> Result<Done, EffectError> {
    for label in now_on(context, issue).await? {
        let run = context
            .engine
            .store
            .latest_run(context.place.repo.id, issue.number)
            .await?;
        if run.is_some() {
            break;
        }
        match labelled(context, issue, &label).await? {
            Done::Nothing => {}
            answer @ (Done::Fact(..) | Done::FollowUp(_)) => return Ok(answer),
        }
    }
    Ok(Done::Nothing)
}

/// The labels that the issue has now; those of its payload may be missing.
pub async fn now_on(context: &InboundContext<'_>, issue: &Issue) -> Result<Vec<String>, EffectError> {
    let InboundContext { engine, place, .. } = *context;
    let repo = engine.autobuild.repo(place.installation, place.repo.id);
    Ok(repo.issue(issue.number).await?.labels)
}

/// The run that comes after the issue's latest.
async fn next_run(context: &InboundContext<'_>, issue: &Issue) -> Result<FeatureKey, EffectError> {
    let repo = context.place.repo.id;
    let latest = context.engine.store.latest_run(repo, issue.number).await?;
    Ok(FeatureKey {
        repo,
        issue: issue.number,
        run: latest.map_or(1, |row| row.key.run.saturating_add(1)),
    })
}

/// Whether nobody could say what must hold in the end.
fn lacks_criteria(snapshot: &Snapshot, settings: &RepositorySettings) -> bool {
    settings.pre_loop == PreLoop::Never && !design::are_enough(&check_boxes(&snapshot.body))
}

fn no_criteria(body: &str) -> Refusal {
    match design::unbound(&check_boxes(body)) {
        boxes if boxes.is_empty() => Refusal::NoCriteria,
        boxes => Refusal::UnboundCriteria { boxes },
    }
}

async fn refusal(context: &InboundContext<'_>, needed: Permission) -> Result<Option<Refusal>, EffectError> {
    if context.place.sender.kind != ActorKind::Person {
        return Ok(Some(Refusal::BotLabel));
    }
    right::refused(context, needed).await
}

/// The issue as the label found it. An edit since then by someone without the right is not what was labelled.
pub async fn snapshot(context: &InboundContext<'_>, issue: &Issue) -> Result<Result<Snapshot, Refusal>, EffectError> {
    let InboundContext { engine, place, .. } = *context;
    let labelled_at = issue.updated_at.unwrap_or(Millis(0));
    let author = issue.author.as_ref().map_or_else(ghost, |author| author.user.clone());
    let repo = engine.autobuild.repo(place.installation, place.repo.id);
    let edit = repo.last_edit(issue.number).await?;
    let mut writers = Writers::beside_sender(context);
    let mut trust = trust_in(writers.has(&author.login).await?);
    if let Some(edit) = edit {
        let editor = edit.editor.unwrap_or_default();
        let trusted = trust_in(writers.has(&editor).await?);
        if edit.at > labelled_at && trusted == Trust::Others {
            return Ok(Err(Refusal::EditedSince { by: editor }));
        }
        if trusted == Trust::Others {
            trust = Trust::Others;
        }
    }
    let discussion = discussion::before(&mut writers, issue, labelled_at).await?;
    Ok(Ok(Snapshot {
        title: issue.title.clone(),
        body: issue.body.clone().unwrap_or_default(),
        author,
        labelled_by: place.sender.user.clone(),
        at: engine.now(),
        trust,
        wanted: Wanted::default(),
        discussion,
    }))
}

fn trust_in(may_write: bool) -> Trust {
    if may_write { Trust::Writers } else { Trust::Others }
}

/// The author of an issue whose account is gone.
fn ghost() -> User {
    User {
        id: UserId(10_137),
        login: "ghost".to_owned(),
    }
}

/// What makes it the same label when it is told again.
pub fn cause(issue: &Issue, label: &str) -> String {
    let at = issue.updated_at.map_or(0, |at| at.0);
    format!("label/{label}/{at}")
}

/// Says once why a label starts nothing.
async fn answer(context: &InboundContext<'_>, issue: &Issue, label: &str, reply: Reply) -> Result<Done, EffectError> {
    let InboundContext { engine, place, .. } = *context;
    let cause = cause(issue, label);
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
                &effect::answer(thread, to, reply),
            ))
        }
    }
}
