//! The effects, in the form in which they are stored.

use crate::{
    effect::{
        say::{Reaction, ReactionTarget, Reply, ReplyTo, Thread, Wait},
        spec::WaitsFor,
    },
    ids::{Emission, FeatureKey, Millis, PullNumber, Sha, TaskId, TurnNumber, User},
};
use serde::{Deserialize, Serialize};

/// One thing to do for a Feature. `emission` distinguishes it from earlier effects of its task or Feature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Adds a reaction.
    React {
        /// The issue or comment that gets the reaction.
        on: ReactionTarget,
        reaction: Reaction,
    },
    /// Answers a command or a label in one comment.
    Reply {
        thread: Thread,
        /// The fact that it answers; one fact gets one reply.
        to: ReplyTo,
        reply: Reply,
    },
    /// Writes or edits the living comment, from the state at the time the effect runs.
    Living { emission: Emission },
    /// Makes a plan: from one that a person wrote, as a single task if the label asks for that, or with the planner.
    Plan { emission: Emission },
    /// Checks a commit of the default branch: rules, set-up and tests. Without `commit`, it checks the branch's head.
    PreFlight {
        emission: Emission,
        /// The commit, if it is merged into the integration branch already.
        commit: Option<Sha>,
    },
    /// Checks if the default branch still merges into the integration branch. It moves no branch.
    CompareDefault { emission: Emission },
    /// Makes the integration branch and commits the plan on it.
    OpenIntegration { emission: Emission },
    /// Merges the default branch into the integration branch.
    MergeDefault { emission: Emission },
    /// Runs the Gates on the integration branch.
    WaveGate { emission: Emission },
    /// Reads the results of the repository's own CI on the feature pull request.
    ReadCi {
        emission: Emission,
        /// The time since which CI can see the commit.
        since: Millis,
    },
    /// Opens the pull request into the default branch, or adopts it.
    OpenFeaturePull { emission: Emission },
    /// Publishes a wave gate as a check run.
    PublishWaveCheck {
        emission: Emission,
        /// The commit that gets the check run. `None`: the newest commit that the last gate holds for.
        on: Option<Sha>,
    },
    /// Explains on the issue why the Feature cannot continue.
    PostFeatureBlocked { emission: Emission },
    /// Asks the person who labelled the issue to act, once for each wait: requests a review, or else posts a comment.
    AskPerson {
        /// Emission of the task that waits, or of the Feature if no task waits.
        emission: Emission,
        wait: Wait,
    },
    /// Closes an open feature pull request of a cancelled Feature.
    CloseFeaturePull { emission: Emission, pull: PullNumber },
    /// Removes the Feature's branches after its pull request was merged.
    CleanUp { emission: Emission },
    /// Something to do for one task.
    Task { task: TaskId, emission: Emission, work: TaskWork },
}

/// The part of an effect that gives it the same id however often it is stored.
enum Identity {
    /// An answer to something that people did, with the name that the id uses for it.
    Answer(String),
    /// An emission of the task, or of the Feature if there is no task.
    Emission(Option<TaskId>, Emission),
}

impl Effect {
    /// Returns the effect's id, which is the same however often the effect is stored.
    pub fn id(&self, key: &FeatureKey) -> String {
        match self.identity(key) {
            Identity::Answer(to) => format!("{key}/{}/{to}", self.kind()),
            Identity::Emission(Some(task), emission) => format!("{key}/{task}/{}/{emission}", self.kind()),
            Identity::Emission(None, emission) => format!("{key}/{}/{emission}", self.kind()),
        }
    }

    /// Returns its emission number within its task or Feature; `None` if it answers something that people did.
    pub fn emission(&self, key: &FeatureKey) -> Option<Emission> {
        match self.identity(key) {
            Identity::Answer(_) => None,
            Identity::Emission(_, emission) => Some(emission),
        }
    }

    fn identity(&self, key: &FeatureKey) -> Identity {
        match self {
            Self::React { on, reaction } => Identity::Answer(match on {
                ReactionTarget::Issue(number) if *number == key.issue => format!("issue/{reaction}"),
                ReactionTarget::Issue(number) => format!("issue/{number}/{reaction}"),
                ReactionTarget::Comment(id) => format!("{id}/{reaction}"),
            }),
            Self::Reply { to, .. } => Identity::Answer(match to {
                ReplyTo::Comment(id) => id.to_string(),
                ReplyTo::Fact(cause) => cause.clone(),
            }),
            Self::Living { emission }
            | Self::Plan { emission }
            | Self::PreFlight { emission, .. }
            | Self::CompareDefault { emission }
            | Self::OpenIntegration { emission }
            | Self::MergeDefault { emission }
            | Self::WaveGate { emission }
            | Self::ReadCi { emission, .. }
            | Self::OpenFeaturePull { emission }
            | Self::PublishWaveCheck { emission, .. }
            | Self::PostFeatureBlocked { emission }
            | Self::CloseFeaturePull { emission, .. }
            | Self::CleanUp { emission } => Identity::Emission(None, *emission),
            Self::AskPerson { emission, wait } => Identity::Emission(wait.task(), *emission),
            Self::Task { task, emission, .. } => Identity::Emission(Some(*task), *emission),
        }
    }

    /// Returns the work for a task; `None` for the Feature's own effects.
    pub(crate) fn work(&self) -> Option<&TaskWork> {
        let Self::Task { work, .. } = self else { return None };
        Some(work)
    }

    /// Returns the word for this kind of effect in ids, logs and the store.
    pub fn kind(&self) -> &'static str {
        self.spec().kind
    }

    /// `true` if it continues the work, so that it waits while the Feature is paused or its installation suspended.
    pub fn waits_when_held(&self) -> bool {
        self.spec().waits_for == WaitsFor::Work
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskWork {
    /// Runs the designer before the first turn.
    Design,
    /// Runs the Player and pushes its work.
    Play,
    /// Opens the pull request, or adopts the open one of the branch.
    OpenPull,
    /// Runs the Gates on the pushed commit.
    Gates,
    /// Reads the results of the repository's own CI on the pushed commit.
    Ci,
    /// Runs the Coach on the pushed commit.
    Coach,
    /// Posts the verdict of a turn as a review.
    PostReview { turn: TurnNumber },
    /// Posts the verdict of a turn that blocked the task, and the blocked report with it, as one review.
    PostBlockedReview { turn: TurnNumber },
    /// Publishes the verdict of a turn as the check run of its commit.
    PublishCheck { turn: TurnNumber },
    /// Publishes a check run on a commit that nobody judged. It says that the task waits for a person.
    PublishBlocked { head: Sha },
    /// Posts the blocked report.
    PostBlocked,
    /// Ends the pull request's draft state.
    MarkReady,
    /// Merges the pull request into the integration branch.
    Merge,
    /// Dismisses the Coach's request for changes.
    DismissReview {
        /// The person whose act made the request stale.
        by: User,
        why: DismissedWhy,
    },
    /// Closes the pull request with a comment.
    ClosePull {
        /// The pull request. The task may have another one by the time the effect runs.
        pull: PullNumber,
        why: ClosedWhy,
    },
}

/// Why a request for changes is stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DismissedWhy {
    /// A person overrode the Coach.
    Overridden,
    /// The task was cancelled or skipped.
    Cancelled,
}

/// Why a task's pull request is closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClosedWhy {
    /// The task starts again on another branch.
    Retried {
        /// The person who asked for it.
        by: User,
        branch: String,
    },
    /// The task was skipped.
    Skipped { by: User },
    /// The task or the Feature was cancelled.
    Cancelled,
}
