//! Handles a person's command from a comment, a review or a button.

use crate::{
    config::Permission,
    engine::{
        ingest::{
            context::{InboundContext, fact, newer, one},
            label,
        },
        job::{Done, EffectError},
        repository::rules,
        repository_settings::last_read,
    },
    github::model::{Conversation, Issue},
};
use domain::{
    ci::CiPolicy,
    command::{Command, Parsed},
    effect::{Reply, ReplyTo, Thread},
    feature::{
        Feature,
        command::Refusal,
        event::{Commanded, Event, Target},
    },
    ids::Millis,
};
use text::mistake::SettingsMistake;

pub struct GivenCommand<'a> {
    pub context: &'a InboundContext<'a>,
    pub feature: Feature,
    pub on: Target,
    pub thread: Thread,
    /// The comment or fact that is answered.
    pub to: ReplyTo,
    /// The id of the fact. A repeated delivery has the same id.
    pub cause: String,
    /// The id of an answer that leaves the command open: a button may be pressed again. `None` for what is said once.
    pub open_cause: Option<String>,
    /// The time at which it was written, by GitHub's clock.
    pub written_at: Option<Millis>,
    /// The current issue, if the delivery contains it.
    pub issue: Option<&'a Issue>,
}

/// Returns the permission that the Feature's settings require for commands.
pub fn permission(feature: &Feature) -> Permission {
    last_read(feature).commands.permission
}

impl GivenCommand<'_> {
    /// Runs the command, or answers why not. `refusal` is a reason that is already known.
    pub async fn answer_command(self, said: Parsed, refusal: Option<Refusal>) -> Result<Done, EffectError> {
        match (said, refusal) {
            (Parsed::None, _) => Ok(Done::Nothing),
            (Parsed::Malformed { .. } | Parsed::Command(_), Some(refusal)) => self.refused(refusal).await,
            (Parsed::Malformed { reason, nearest }, None) => self.refused(Refusal::Malformed { reason, nearest }).await,
            (Parsed::Command(command), None) => self.obeyed(command).await,
        }
    }

    pub async fn refused(self, refusal: Refusal) -> Result<Done, EffectError> {
        if !self.context.may_answer(self.thread, &self.cause, &refusal).await? {
            return Ok(Done::Nothing);
        }
        Ok(self.answered(Reply::Refused(refusal)))
    }

    fn answered(self, reply: Reply) -> Done {
        let event = Event::Answered { thread: self.thread, to: self.to, reply };
        let InboundContext { engine, origin, .. } = *self.context;
        one(self.feature.key, fact(engine, event, self.cause, &origin.sender.user))
    }

    async fn obeyed(self, command: Command) -> Result<Done, EffectError> {
        let InboundContext { engine, origin, .. } = *self.context;
        let mut said = Commanded {
            on: self.on,
            thread: self.thread,
            to: self.to.clone(),
            by: origin.sender.user.clone(),
            written_at: self.written_at.unwrap_or_else(|| engine.now()),
            rules: None,
            settings: None,
            exposure: None,
            snapshot: None,
            newer: newer(engine, &self.feature).await?,
            command,
        };
        if let Some(mistakes) = read_settings(self.context, &mut said).await? {
            return Ok(self.with_mistakes(mistakes));
        }
        if let Some(rules) = &said.rules
            && !matches!(said.command, Command::Plan { .. })
            && matches!(rules.ci, CiPolicy::Auto | CiPolicy::Ask)
        {
            said.exposure = Some(Box::pin(engine.exposure_now(&self.feature, rules.ci)).await?);
        }
        let issue = self.issue.filter(|issue| issue.conversation == Conversation::Issue);
        if let (Command::Plan { .. }, Some(issue)) = (&said.command, issue) {
            // A new plan is made from the current issue.
            said.snapshot = label::snapshot(self.context, issue).await?.ok();
        }
        let event = Event::Commanded(Box::new(said));
        Ok(one(self.feature.key, fact(engine, event, self.cause, &origin.sender.user)))
    }

    /// Answers with the mistakes in the settings. Once they are fixed, a button may be pressed again.
    fn with_mistakes(mut self, mistakes: Vec<SettingsMistake>) -> Done {
        if let Some(cause) = self.open_cause.take() {
            self.to = ReplyTo::Fact(cause.clone());
            self.cause = cause;
        }
        self.answered(Reply::BadSettings(mistakes))
    }
}

/// Reads the settings again for commands that use them. Returns their mistakes; with mistakes, nothing starts.
async fn read_settings(
    context: &InboundContext<'_>,
    said: &mut Commanded,
) -> Result<Option<Vec<SettingsMistake>>, EffectError> {
    let reads_again = matches!(said.command, Command::Plan { .. } | Command::Resume { .. } | Command::Retry { .. });
    if !reads_again {
        return Ok(None);
    }
    let InboundContext { engine, origin, .. } = *context;
    match engine.settings_now(origin.installation, &origin.repo).await?.settings {
        Ok(read) => {
            said.rules = Some(rules(&read.settings, engine.sandbox.level()));
            said.settings = serde_json::to_value(&read.settings).ok();
            Ok(None)
        }
        Err(mistakes) => Ok(Some(mistakes)),
    }
}
