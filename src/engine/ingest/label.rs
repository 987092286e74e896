//! Handles a label: starts a Feature, or answers why not.

use crate::{
    config::{Permission, PreLoop, RepositorySettings},
    engine::{
        Engine,
        apply::ApplyOutcome,
        ingest::{
            context::{AwaitedTrigger, InboundContext, answers, fact, newest, one},
            discussion,
            discussion::Writers,
            permission_check,
        },
        job::{Done, EffectError},
        repository_settings::{ReadSettings, same_label},
    },
    github::{
        GithubError,
        model::{AccountType, Conversation, Issue, OpenState},
        webhook::EventOrigin,
    },
    store::StoreError,
};
use domain::{
    blocked::FailureClass,
    check_boxes::check_boxes,
    design, effect,
    effect::{Reply, ReplyTo, Thread},
    feature::{
        EarlierComment, PlanKind, Snapshot, Trust,
        command::{Refusal, Trigger},
        event::Event,
    },
    ids::{FeatureKey, Millis, User, UserId},
};
use text::visible::{VisibleText, visible_text, without_unseen};
use tokio::sync::SemaphorePermit;

/// The most runs that are looked for on GitHub.
const MOST_UNKNOWN_RUNS: u32 = 20;

/// Returns `false` if it is known without asking GitHub that the label starts no Feature.
pub async fn may_start_feature(
    engine: &Engine,
    origin: &EventOrigin,
    issue: &Issue,
    label: &str,
) -> Result<bool, EffectError> {
    if issue.conversation != Conversation::Issue {
        return Ok(false);
    }
    let known = engine.certain_labels(origin.repo.id).await?;
    Ok(known.is_none_or(|labels| labels.request_of_label(label).is_some()))
}

/// Returns a permit to ask GitHub about a label that may not be ours; `None` if the labels are known without asking.
async fn lookup_permit<'a>(
    engine: &'a Engine,
    origin: &EventOrigin,
) -> Result<Option<SemaphorePermit<'a>>, EffectError> {
    if engine.certain_labels(origin.repo.id).await?.is_some() {
        return Ok(None);
    }
    let look = engine.label_lookups.ask(engine.now());
    look.map(Some).map_err(|until| EffectError::Waiting { until })
}

/// Handles an issue that got `label`. Nothing is cloned. API calls find out if the label is ours, if the sender has the
/// right, and the current state of the issue.
pub async fn labelled(context: &InboundContext<'_>, issue: &Issue, label: &str) -> Result<Done, EffectError> {
    let InboundContext { engine, origin, .. } = *context;
    let look = lookup_permit(engine, origin).await?;
    let read = engine.settings_now(origin.installation, &origin.repo).await?;
    drop(look);
    let Some(wanted) = read.labels.request_of_label(label) else {
        return Ok(Done::Nothing);
    };
    if let Some(refusal) = refusal(context, permission(&read)).await? {
        return answer(context, issue, label, Reply::Refused(refusal)).await;
    }
    match label_status(context, issue, label).await? {
        LabelStatus::Labelled => {}
        LabelStatus::Unlabelled => return Ok(Done::Nothing),
        LabelStatus::Closed => return answer(context, issue, label, Reply::Refused(Refusal::IssueClosed)).await,
    }
    match begin(context, issue, &read, wanted, FeatureRequest::Label).await? {
        BeginOutcome::Feature => Ok(Done::Nothing),
        BeginOutcome::Refused(reply) => answer(context, issue, label, reply).await,
    }
}

/// Returns the permission that the settings require; write access if the file has mistakes.
fn permission(read: &ReadSettings) -> Permission {
    match &read.settings {
        Ok(read) => read.settings.commands.permission,
        Err(_) => Permission::Write,
    }
}

enum FeatureRequest {
    Label,
    /// By a command on an issue without the label. The label is added first.
    Command(PlanCommand),
}

pub struct PlanCommand {
    /// The text for the planner.
    pub words: Option<EarlierComment>,
    /// The cause of the command; `None` if the new Feature has to handle the command itself too.
    pub cause: Option<String>,
}

pub enum BeginOutcome {
    /// The Feature was created, now or by an earlier delivery of the same request.
    Feature,
    /// No Feature was created, for this reason.
    Refused(Reply),
}

/// Creates a Feature that a command asked for, on an issue without label and run. Checks the sender's right and adds
/// the label.
pub async fn asked_for(
    context: &InboundContext<'_>,
    issue: &Issue,
    command: PlanCommand,
) -> Result<BeginOutcome, EffectError> {
    let InboundContext { engine, origin, .. } = *context;
    let read = engine.settings_now(origin.installation, &origin.repo).await?;
    if let Some(refusal) = permission_check::find_refusal(context, permission(&read)).await? {
        return Ok(BeginOutcome::Refused(Reply::Refused(refusal)));
    }
    match context.repo().issue(issue.number).await?.state {
        OpenState::Open => begin(context, issue, &read, PlanKind::Plan, FeatureRequest::Command(command)).await,
        OpenState::Closed => Ok(BeginOutcome::Refused(Reply::Refused(Refusal::IssueClosed))),
    }
}

/// Creates the Feature of an open issue. The sender's right was checked before.
async fn begin(
    context: &InboundContext<'_>,
    issue: &Issue,
    read: &ReadSettings,
    wanted: PlanKind,
    asked: FeatureRequest,
) -> Result<BeginOutcome, EffectError> {
    let InboundContext { engine, origin, .. } = *context;
    let refused = |refusal| Ok(BeginOutcome::Refused(Reply::Refused(refusal)));
    let settings = match &read.settings {
        Ok(read) => &read.settings,
        Err(mistakes) => return Ok(BeginOutcome::Refused(Reply::BadSettings(mistakes.clone()))),
    };
    if let Some(run) = engine.store.unfinished_run(origin.repo.id, issue.number).await? {
        // This delivery began every run that is younger than it, if the process died before it finished.
        let feature = engine.feature(&run.key).await?;
        if feature.is_some_and(|feature| feature.snapshot.at > context.since) {
            return Ok(BeginOutcome::Feature);
        }
        // The run may have ended on GitHub, for example if the label was removed before it was added again.
        match engine.compare_now(run.key).await {
            Ok(_) => {}
            // A fact that GitHub shows no more says nothing about the run.
            Err(EffectError::Failed { failure, .. }) if failure.rule().class == FailureClass::Lasts => {}
            Err(error) => return Err(error),
        }
        if engine.store.unfinished_run(origin.repo.id, issue.number).await?.is_some() {
            return refused(Refusal::RunUnfinished { run: run.key });
        }
    }
    let mut snapshot = match snapshot(context, issue).await? {
        Ok(snapshot) => Snapshot { wanted, ..snapshot },
        Err(refusal) => return refused(refusal),
    };
    if wanted == PlanKind::OneTask && lacks_criteria(&snapshot, settings) {
        return refused(no_criteria(&snapshot.body));
    }
    let key = next_run(context, issue).await?;
    let mut cause = format!("labelled/{}", key.run);
    if let FeatureRequest::Command(command) = asked {
        snapshot.discussion.comments.splice(..0, command.words);
        cause = command.cause.unwrap_or(cause);
        context.repo().add_label(issue.number, &settings.label).await?;
    }
    Ok(match engine.begin(key, origin.installation, snapshot, settings, cause).await? {
        ApplyOutcome::Done | ApplyOutcome::Known | ApplyOutcome::LostFence | ApplyOutcome::NoFeature => {
            BeginOutcome::Feature
        }
        ApplyOutcome::RunExists => BeginOutcome::Refused(Reply::Refused(Refusal::RunUnfinished { run: key })),
    })
}

/// The current state of the labelled issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LabelStatus {
    /// It is open and has the label.
    Labelled,
    /// The label was removed or the issue deleted, so nothing is wanted.
    Unlabelled,
    /// It has the label and is closed.
    Closed,
}

async fn label_status(context: &InboundContext<'_>, issue: &Issue, label: &str) -> Result<LabelStatus, EffectError> {
    let now = match context.repo().issue(issue.number).await {
        Ok(now) => now,
        Err(GithubError::Gone) => return Ok(LabelStatus::Unlabelled),
        Err(error) => return Err(error.into()),
    };
    Ok(match now.state {
        _ if !now.labels.iter().any(|found| same_label(found, label)) => LabelStatus::Unlabelled,
        OpenState::Open => LabelStatus::Labelled,
        OpenState::Closed => LabelStatus::Closed,
    })
}

/// Handles a label that GitHub's delivery does not name. Tries the labels that the issue has now, unless it has had a
/// run.
pub async fn labelled_without_name(context: &InboundContext<'_>, issue: &Issue) -> Result<Done, EffectError> {
    for label in current_labels(context, issue).await? {
        let (store, repo) = (&context.engine.store, context.origin.repo.id);
        if store.latest_run(repo, issue.number).await?.is_some() {
            break;
        }
        match labelled(context, issue, &label).await? {
            Done::Nothing => {}
            answer @ (Done::Fact(..) | Done::FollowUp(_)) => return Ok(answer),
        }
    }
    Ok(Done::Nothing)
}

/// Returns the current labels of the issue. The payload may lack them.
pub async fn current_labels(context: &InboundContext<'_>, issue: &Issue) -> Result<Vec<String>, EffectError> {
    Ok(context.repo().issue(issue.number).await?.labels)
}

/// Returns the key of an issue's next run. A run of which GitHub has a branch although the database does not know it, as
/// after a restore from a backup, has its number already.
async fn next_run(context: &InboundContext<'_>, issue: &Issue) -> Result<FeatureKey, EffectError> {
    let repo = context.origin.repo.id;
    let latest = context.engine.store.latest_run(repo, issue.number).await?;
    let mut key = FeatureKey { repo, issue: issue.number, run: latest.map_or(1, |row| row.key.run.saturating_add(1)) };
    for _ in 0..MOST_UNKNOWN_RUNS {
        if context.repo().branch_head(&key.integration_branch()).await?.is_none() {
            break;
        }
        key.run = key.run.saturating_add(1);
    }
    Ok(key)
}

/// Returns `true` if the issue lacks acceptance criteria and the settings forbid a designer to write them.
fn lacks_criteria(snapshot: &Snapshot, settings: &RepositorySettings) -> bool {
    settings.pre_loop == PreLoop::Never && !design::suffice_as_criteria(&check_boxes(&snapshot.body))
}

fn no_criteria(body: &str) -> Refusal {
    match design::unbound(&check_boxes(body)) {
        boxes if boxes.is_empty() => Refusal::NoCriteria,
        boxes => Refusal::UnboundCriteria { boxes },
    }
}

async fn refusal(context: &InboundContext<'_>, needed: Permission) -> Result<Option<Refusal>, EffectError> {
    if context.origin.sender.kind != AccountType::Person {
        return Ok(Some(Refusal::BotLabel));
    }
    permission_check::find_refusal(context, needed).await
}

/// Returns the issue as it was when it was labelled. Refuses it if someone without write access has edited it since.
pub async fn snapshot(context: &InboundContext<'_>, issue: &Issue) -> Result<Result<Snapshot, Refusal>, EffectError> {
    let InboundContext { engine, origin, .. } = *context;
    let labelled_at = issue.updated_at.unwrap_or(Millis(0));
    let author = issue.author.as_ref().map_or_else(ghost, |author| author.user.clone());
    let edit = context.repo().last_edit(issue.number).await?;
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
    let (title, VisibleText { text, parts }) = readable(issue, trust);
    Ok(Ok(Snapshot {
        title,
        body: text,
        parts,
        author,
        labelled_by: origin.sender.user.clone(),
        at: engine.now(),
        requested_at: labelled_at,
        trust,
        wanted: PlanKind::default(),
        discussion,
    }))
}

/// Returns the title and the body for agents: all of them if people with write access wrote them, else the visible parts,
/// so that the person who approves the plan has seen the same.
fn readable(issue: &Issue, trust: Trust) -> (String, VisibleText) {
    let body = issue.body.as_deref().unwrap_or_default();
    if trust == Trust::Writers {
        return (issue.title.clone(), VisibleText { text: body.to_owned(), ..VisibleText::default() });
    }
    let (title, mut body) = (without_unseen(&issue.title), visible_text(body));
    body.parts.hidden += title.parts.hidden;
    (title.text, body)
}

fn trust_in(may_write: bool) -> Trust {
    if may_write { Trust::Writers } else { Trust::Others }
}

/// Returns GitHub's user for deleted accounts.
fn ghost() -> User {
    User { id: UserId(10_137), login: "ghost".to_owned() }
}

/// Returns the cause of a label event. A repeat of the event has the same cause.
pub fn cause(issue: &Issue, label: &str) -> String {
    let at = issue.updated_at.map_or(0, |at| at.0);
    format!("label/{label}/{at}")
}

/// Answers once why a label starts nothing.
async fn answer(context: &InboundContext<'_>, issue: &Issue, label: &str, reply: Reply) -> Result<Done, EffectError> {
    let InboundContext { engine, origin, .. } = *context;
    let cause = cause(issue, label);
    let thread = Thread::Issue(issue.number);
    if let Reply::Refused(refusal) = &reply
        && !context.may_answer(thread, &cause, refusal).await?
    {
        return Ok(Done::Nothing);
    }
    let to = ReplyTo::Fact(cause.clone());
    match newest(engine, origin.repo.id, issue.number).await? {
        Some(feature) => {
            let event = Event::Answered { thread, to, reply };
            Ok(one(feature.key, fact(engine, event, cause, &origin.sender.user)))
        }
        None => {
            let effects = effect::answer(thread, to, reply);
            Ok(answers(engine, origin, issue.number, &effects))
        }
    }
}

/// Returns the trigger for a label if it was ours when the settings were last read, or probably is if they never were.
pub(super) async fn awaited(
    engine: &Engine,
    origin: &EventOrigin,
    issue: &Issue,
    name: &str,
) -> Result<Option<AwaitedTrigger>, StoreError> {
    let labels = engine.last_labels(origin.repo.id, &origin.repo.name).await?;
    if labels.request_of_label(name).is_none() || issue.conversation != Conversation::Issue {
        return Ok(None);
    }
    Ok(Some(AwaitedTrigger {
        trigger: Trigger::Label,
        thread: Thread::Issue(issue.number),
        cause: cause(issue, name),
        comment: None,
    }))
}
