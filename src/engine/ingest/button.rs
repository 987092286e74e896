//! Handles a button of one of our check runs: runs its command with the rights of the person who pressed it.

use crate::{
    engine::{
        ingest::{
            context::InboundContext,
            right::refused,
            saying::{Saying, permission},
        },
        job::{Done, EffectError},
    },
    github::{model::ActorKind, webhook::PressedCheckRun},
};
use domain::{
    command::{Command, Parsed},
    effect::{ReplyTo, Thread},
    feature::{
        command::{Possible, Refusal},
        event::Target,
    },
    ids::FeatureKey,
    task::Task,
};

/// A button on one of our check runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Button {
    Resume,
    /// `/autobuild retry`.
    Retry,
    /// `/autobuild ci`.
    RunCi,
}

impl Button {
    /// The buttons of a blocked task, in the order in which they are shown.
    pub const OF_TASK: [Self; 2] = [Self::Resume, Self::Retry];

    const ALL: [Self; 3] = [Self::Resume, Self::Retry, Self::RunCi];

    /// Returns the identifier that GitHub sends back when it is pressed, which is also the command's word.
    pub const fn identifier(self) -> &'static str {
        match self {
            Self::Resume => "resume",
            Self::Retry => "retry",
            Self::RunCi => "ci",
        }
    }

    pub fn named(identifier: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.identifier() == identifier)
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::Resume => "Resume",
            Self::Retry => "Retry",
            Self::RunCi => "Run CI",
        }
    }

    /// Returns its description. GitHub allows 40 characters.
    pub fn description(self) -> &'static str {
        match self {
            Self::Resume => "Give this task more turns",
            Self::Retry => "Start this task again on a new branch",
            Self::RunCi => "Let the repository's CI run on this work",
        }
    }

    /// Returns its description on a task whose agent asks: a button gives no words.
    pub fn description_for_inquiry(self) -> &'static str {
        match self {
            Self::Resume => "Let the agent's own defaults hold",
            Self::Retry | Self::RunCi => self.description(),
        }
    }

    fn command(self) -> Command {
        match self {
            Self::Resume => Command::Resume {
                guidance: None,
                max_turns: None,
            },
            Self::Retry => Command::Retry { task: None },
            Self::RunCi => Command::Ci,
        }
    }
}

/// Handles a pressed button. Repeated presses of one button of one check run are one fact.
pub(in crate::engine) async fn pressed(
    context: &InboundContext<'_>,
    run: &PressedCheckRun,
    identifier: &str,
) -> Result<Done, EffectError> {
    let InboundContext { engine, origin, .. } = *context;
    let known = Button::named(identifier);
    let about = run.external_id.as_deref().and_then(subject);
    let (Some(button), Some((key, on))) = (known, about) else {
        return Ok(Done::Nothing);
    };
    if key.repo != origin.repo.id || origin.sender.kind != ActorKind::Person {
        return Ok(Done::Nothing);
    }
    let Some(feature) = engine.feature(&key).await? else {
        return Ok(Done::Nothing);
    };
    let task = match on {
        Target::Task(id) => feature.task(id),
        Target::Feature => None,
    };
    let is_fitting = match button {
        Button::Resume | Button::Retry => task.is_some(),
        Button::RunCi => on == Target::Feature,
    };
    if !is_fitting {
        return Ok(Done::Nothing);
    }
    let needed = permission(&feature);
    let mut cause = format!("button/{}/{identifier}", run.id);
    let refusal = match refused(context, needed).await? {
        Some(refusal) => {
            // Each person without the right gets one refusal, and none of these blocks a person who has it.
            cause = format!("{cause}/{}", origin.sender.user.id);
            Some(refusal)
        }
        None => task.and_then(|task| out_of_date(task, button)),
    };
    let saying = Saying {
        context,
        on,
        thread: task
            .and_then(|task| task.pull)
            .map_or(Thread::Issue(key.issue), Thread::Pull),
        to: ReplyTo::Fact(cause.clone()),
        cause,
        written_at: None,
        issue: None,
        feature,
    };
    saying.heard(Parsed::Command(button.command()), refusal).await
}

/// Refuses a button if the task is no longer blocked: an old check run must not restart a running task.
fn out_of_date(task: &Task, button: Button) -> Option<Refusal> {
    (!task.is_blocked()).then(|| Refusal::TaskNotNow {
        command: button.identifier().to_owned(),
        task: task.id,
        state: task.word().to_owned(),
        instead: Possible::OldButton,
    })
}

/// Returns the Feature or task that a check run is about. A check run's external id is the id of the effect that made it.
pub fn subject(external_id: &str) -> Option<(FeatureKey, Target)> {
    let mut parts = external_id.split('/');
    let key: Vec<&str> = parts.by_ref().take(3).collect();
    let named = parts.next()?;
    let target = if named == "publish_wave_check" {
        Target::Feature
    } else {
        Target::Task(named.parse().ok()?)
    };
    Some((key.join("/").parse().ok()?, target))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::ids::TaskId;

    #[test]
    fn the_buttons_are_as_short_as_github_takes_them() {
        for button in Button::ALL {
            assert!(button.label().len() <= 20 && button.identifier().len() <= 20);
            assert!(button.description().len() <= 40, "{button:?}");
            assert!(button.description_for_inquiry().len() <= 40, "{button:?}");
        }
    }

    #[test]
    fn a_check_run_names_its_task_by_the_effect_that_made_it() {
        let (key, task) = subject("7/42/1/TASK-003/publish_check/9").unwrap();
        assert_eq!(
            (key.to_string(), task),
            ("7/42/1".to_owned(), Target::Task(TaskId::Planned(3)))
        );
        let (_, feature) = subject("7/42/1/publish_wave_check/3").unwrap();
        assert_eq!(feature, Target::Feature);
        for other in ["", "7/42/1", "7/42/1/living/3", "x/y/z/TASK-001", "🦀"] {
            assert_eq!(subject(other), None, "{other}");
        }
    }
}
