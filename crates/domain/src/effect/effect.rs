//! What is to be done in the world, as it is stored.

use crate::{
    effect::{
        say::{ReactOn, Reaction, Reply, ReplyTo, Thread, Wait},
        spec::WaitsFor,
    },
    ids::{Emission, FeatureKey, PullNumber, Sha, TaskId, TurnNumber, User},
};
use serde::{Deserialize, Serialize};

/// One thing to do for a Feature. `emission` tells it from earlier ones of its task or Feature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Adds a reaction.
    React {
        /// Where.
        on: ReactOn,
        /// Which.
        reaction: Reaction,
    },
    /// Answers a command or a label in one comment.
    Reply {
        /// The thread to answer in.
        thread: Thread,
        /// What it answers, which makes it one reply.
        to: ReplyTo,
        /// What it says.
        reply: Reply,
    },
    /// Writes or edits the living comment from the state at that moment.
    Living {
        /// Emission of the Feature.
        #[serde(alias = "run")]
        emission: Emission,
    },
    /// Makes a plan: from the body's block, from the given block, or by the planner.
    Plan {
        /// Emission of the Feature.
        #[serde(alias = "run")]
        emission: Emission,
    },
    /// Looks at a commit of the default branch: rules, set-up, tests. Its head where no commit is named.
    PreFlight {
        /// Emission of the Feature.
        #[serde(alias = "run")]
        emission: Emission,
        /// The commit, where it is merged in already.
        commit: Option<Sha>,
    },
    /// Looks whether the default branch still merges into the integration branch; it moves nothing.
    CompareDefault {
        /// Emission of the Feature.
        #[serde(alias = "run")]
        emission: Emission,
    },
    /// Makes the integration branch and commits the plan on it.
    OpenIntegration {
        /// Emission of the Feature.
        #[serde(alias = "run")]
        emission: Emission,
    },
    /// Merges the default branch into the integration branch.
    MergeDefault {
        /// Emission of the Feature.
        #[serde(alias = "run")]
        emission: Emission,
    },
    /// Runs the Gates on the integration branch.
    WaveGate {
        /// Emission of the Feature.
        #[serde(alias = "run")]
        emission: Emission,
    },
    /// Opens the pull request into the default branch, or adopts it.
    OpenFeaturePull {
        /// Emission of the Feature.
        #[serde(alias = "run")]
        emission: Emission,
    },
    /// Publishes what a wave gate found as a check run.
    PublishWaveCheck {
        /// Emission of the Feature.
        #[serde(alias = "run")]
        emission: Emission,
        /// The commit that it holds for; none for the newest one of the last gate.
        #[serde(default)]
        on: Option<Sha>,
    },
    /// Says on the issue why the Feature cannot go on.
    PostFeatureBlocked {
        /// Emission of the Feature.
        #[serde(alias = "run")]
        emission: Emission,
    },
    /// Calls the person who labelled the issue, once for each wait: by a request for a review, else by a comment.
    AskPerson {
        /// Emission of the task that waits, else of the Feature.
        #[serde(alias = "run")]
        emission: Emission,
        /// What for.
        wait: Wait,
    },
    /// Closes an open feature pull request of a cancelled Feature.
    CloseFeaturePull {
        /// Emission of the Feature.
        #[serde(alias = "run")]
        emission: Emission,
        /// Which.
        pull: PullNumber,
    },
    /// Removes the Feature's branches after its pull request was merged.
    CleanUp {
        /// Emission of the Feature.
        #[serde(alias = "run")]
        emission: Emission,
    },
    /// Something to do for one task.
    Task {
        /// The task.
        task: TaskId,
        /// Emission of the task.
        #[serde(alias = "run")]
        emission: Emission,
        /// What.
        work: TaskWork,
    },
}

/// What makes an effect the same one however often it is stored.
enum Identity {
    /// It answers something that people did, named as in its id.
    Answer(String),
    /// It is this emission of its task, else of its Feature.
    Emission(Option<TaskId>, Emission),
}

impl Effect {
    /// The id that makes this the same effect however often it is stored.
    pub fn id(&self, key: &FeatureKey) -> String {
        match self.identity(key) {
            Identity::Answer(to) => format!("{key}/{}/{to}", self.kind()),
            Identity::Emission(Some(task), emission) => format!("{key}/{task}/{}/{emission}", self.kind()),
            Identity::Emission(None, emission) => format!("{key}/{}/{emission}", self.kind()),
        }
    }

    /// The emission of its Feature or task that it is; none if it answers something that people did.
    pub fn emission(&self, key: &FeatureKey) -> Option<Emission> {
        match self.identity(key) {
            Identity::Answer(_) => None,
            Identity::Emission(_, emission) => Some(emission),
        }
    }

    fn identity(&self, key: &FeatureKey) -> Identity {
        match self {
            Self::React { on, reaction } => Identity::Answer(match on {
                ReactOn::Issue(number) if *number == key.issue => format!("issue/{}", reaction.word()),
                ReactOn::Issue(number) => format!("issue/{number}/{}", reaction.word()),
                ReactOn::Comment(id) => format!("{id}/{}", reaction.word()),
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
            | Self::OpenFeaturePull { emission }
            | Self::PublishWaveCheck { emission, .. }
            | Self::PostFeatureBlocked { emission }
            | Self::CloseFeaturePull { emission, .. }
            | Self::CleanUp { emission } => Identity::Emission(None, *emission),
            Self::AskPerson { emission, wait } => Identity::Emission(wait.task(), *emission),
            Self::Task { task, emission, .. } => Identity::Emission(Some(*task), *emission),
        }
    }

    /// The word for this kind of effect in ids, logs and the store.
    pub fn kind(&self) -> &'static str {
        self.spec().kind
    }

    /// Whether it goes on with the work, so that it waits while a Feature is paused or its installation suspended.
    pub fn waits_when_held(&self) -> bool {
        self.spec().waits_for == WaitsFor::Work
    }
}

/// Something to do for one task.
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
    /// Reads what the repository's own CI says of the pushed commit.
    Ci,
    /// Runs the Coach on the pushed commit.
    Coach,
    /// Posts the verdict of a turn as a review.
    PostReview {
        /// The turn.
        turn: TurnNumber,
    },
    /// Posts the verdict of a turn that blocked the task, and the blocked report with it, as one review.
    PostBlockedReview {
        /// The turn.
        turn: TurnNumber,
    },
    /// Publishes the verdict of a turn as the check run of its commit.
    PublishCheck {
        /// The turn.
        turn: TurnNumber,
    },
    /// Publishes on a commit that nobody judged that the task waits for a person.
    PublishBlocked {
        /// The head of the task's branch.
        head: Sha,
    },
    /// Posts the blocked report.
    PostBlocked,
    /// Takes the draft mark off.
    MarkReady,
    /// Merges the pull request into the integration branch.
    Merge,
    /// Dismisses the Coach's request for changes.
    DismissReview {
        /// Who made it stale.
        by: User,
        /// Why.
        why: DismissedWhy,
    },
    /// Closes the pull request with a comment.
    ClosePull {
        /// Which: the task may have another one by then.
        pull: PullNumber,
        /// Why.
        why: ClosedWhy,
    },
}

/// Why a request for changes is stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DismissedWhy {
    /// A person overrode the Coach.
    Overridden,
    /// The task was cancelled.
    Cancelled,
}

/// Why a task's pull request is closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClosedWhy {
    /// The task starts again on another branch.
    Retried {
        /// By whom.
        by: User,
        /// The new branch.
        branch: String,
    },
    /// The task was given up.
    Skipped {
        /// By whom.
        by: User,
    },
    /// The task or the Feature was cancelled.
    Cancelled,
}

#[cfg(test)]
mod tests {
    use super::{Effect, Emission};

    #[test]
    fn an_effect_stored_with_the_old_name_of_its_emission_is_read() {
        for stored in [r#"{"plan":{"run":3}}"#, r#"{"plan":{"emission":3}}"#] {
            let effect: Effect = serde_json::from_str(stored).unwrap();
            assert_eq!(effect, Effect::Plan { emission: Emission(3) });
        }
    }
}
