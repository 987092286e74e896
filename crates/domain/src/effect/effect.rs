//! What is to be done in the world, as it is stored.

use crate::{
    effect::{
        say::{ReactOn, Reaction, Reply, ReplyTo, Thread},
        spec::WaitsFor,
        task_work::TaskWork,
    },
    feature::wait::Wait,
    ids::{FeatureKey, PullNumber, Sha, TaskId},
};
use serde::{Deserialize, Serialize};

/// One thing to do for a Feature. `run` numbers the emissions of its task or Feature: it makes the effect's id and lets
/// a late result be told from the one that is waited for.
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
        run: u64,
    },
    /// Makes a plan: from the body's block, from the given block, or by the planner.
    Plan {
        /// Emission of the Feature.
        run: u64,
    },
    /// Looks at a commit of the default branch: rules, set-up, tests. Its head where no commit is named.
    PreFlight {
        /// Emission of the Feature.
        run: u64,
        /// The commit, where it is merged in already.
        commit: Option<Sha>,
    },
    /// Looks whether the default branch still merges into the integration branch; it moves nothing.
    CompareDefault {
        /// Emission of the Feature.
        run: u64,
    },
    /// Makes the integration branch and commits the plan on it.
    OpenIntegration {
        /// Emission of the Feature.
        run: u64,
    },
    /// Merges the default branch into the integration branch.
    MergeDefault {
        /// Emission of the Feature.
        run: u64,
    },
    /// Runs the Gates on the integration branch.
    WaveGate {
        /// Emission of the Feature.
        run: u64,
    },
    /// Opens the pull request into the default branch, or adopts it.
    OpenFeaturePull {
        /// Emission of the Feature.
        run: u64,
    },
    /// Publishes the wave gate as the check run of the feature pull request's head.
    PublishWaveCheck {
        /// Emission of the Feature.
        run: u64,
    },
    /// Says on the issue why the Feature cannot go on.
    PostFeatureBlocked {
        /// Emission of the Feature.
        run: u64,
    },
    /// Calls the person who labelled the issue, once for each wait: by a request for a review, else by a comment.
    AskPerson {
        /// Emission of the task that waits, else of the Feature.
        run: u64,
        /// What for.
        wait: Wait,
    },
    /// Closes an open feature pull request of a cancelled Feature.
    CloseFeaturePull {
        /// Emission of the Feature.
        run: u64,
        /// Which.
        pull: PullNumber,
    },
    /// Removes the Feature's branches after its pull request was merged.
    CleanUp {
        /// Emission of the Feature.
        run: u64,
    },
    /// Something to do for one task.
    Task {
        /// The task.
        task: TaskId,
        /// Emission of the task.
        run: u64,
        /// What.
        work: TaskWork,
    },
}

impl Effect {
    /// The id that makes this the same effect however often it is stored.
    #[must_use]
    pub fn id(&self, key: &FeatureKey) -> String {
        match self {
            Self::React {
                on: ReactOn::Issue(number),
                reaction,
            } if *number == key.issue => format!("{key}/react/issue/{}", reaction.word()),
            Self::React {
                on: ReactOn::Issue(number),
                reaction,
            } => format!("{key}/react/issue/{number}/{}", reaction.word()),
            Self::React {
                on: ReactOn::Comment(id),
                reaction,
            } => format!("{key}/react/{id}/{}", reaction.word()),
            Self::Reply {
                to: ReplyTo::Comment(id),
                ..
            } => format!("{key}/reply/{id}"),
            Self::Reply {
                to: ReplyTo::Fact(cause),
                ..
            } => format!("{key}/reply/{cause}"),
            Self::Living { run }
            | Self::Plan { run }
            | Self::PreFlight { run, .. }
            | Self::CompareDefault { run }
            | Self::OpenIntegration { run }
            | Self::MergeDefault { run }
            | Self::WaveGate { run }
            | Self::OpenFeaturePull { run }
            | Self::PublishWaveCheck { run }
            | Self::PostFeatureBlocked { run }
            | Self::CloseFeaturePull { run, .. }
            | Self::CleanUp { run } => format!("{key}/{}/{run}", self.kind()),
            Self::AskPerson { run, wait } => match wait.task() {
                Some(task) => format!("{key}/{task}/{}/{run}", self.kind()),
                None => format!("{key}/{}/{run}", self.kind()),
            },
            Self::Task { task, run, .. } => format!("{key}/{task}/{}/{run}", self.kind()),
        }
    }

    /// The word for this kind of effect in ids, logs and the store.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.spec().kind
    }

    /// Whether it goes on with the work, so that it waits while a Feature is paused or its installation suspended.
    #[must_use]
    pub fn waits_when_held(&self) -> bool {
        self.spec().waits_for == WaitsFor::Work
    }

    /// The emission of its Feature or task that it is; none where it answers something that people did.
    #[must_use]
    pub fn run(&self) -> Option<u64> {
        match self {
            Self::React { .. } | Self::Reply { .. } => None,
            Self::Living { run }
            | Self::Plan { run }
            | Self::PreFlight { run, .. }
            | Self::CompareDefault { run }
            | Self::OpenIntegration { run }
            | Self::MergeDefault { run }
            | Self::WaveGate { run }
            | Self::OpenFeaturePull { run }
            | Self::PublishWaveCheck { run }
            | Self::PostFeatureBlocked { run }
            | Self::AskPerson { run, .. }
            | Self::CloseFeaturePull { run, .. }
            | Self::CleanUp { run }
            | Self::Task { run, .. } => Some(*run),
        }
    }
}
