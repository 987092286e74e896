//! A Feature with its whole record, and questions about it.

use crate::{
    blocked::BlockReason,
    ci::{CiPolicy, CiStatus, CiTreatment, treatment},
    effect::FailedAct,
    evidence::GateReport,
    feature::{
        base_failures::FailingBase,
        discussion::Discussion,
        preflight::PreFlight,
        state::{Phase, State, Suspension},
    },
    ids::{CommentId, Emission, FeatureKey, InstallationId, Millis, PullNumber, Sha, TaskId, User},
    inquiry::{Hearing, Inquiries, InquiryPolicy, Respondent, Round},
    plan::Plan,
    task,
    task::Task,
    titles::TitleForm,
};
use serde::{Deserialize, Serialize};
use text::visible::HiddenParts;

/// A Feature, with everything that was said and done about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Feature {
    /// Its identity in the store.
    pub key: FeatureKey,
    /// The installation that gives AutoBuild its rights and bears the cost.
    pub installation: InstallationId,
    pub state: State,
    /// The issue at the time when it was labelled.
    pub snapshot: Snapshot,
    /// The parts of the repository's settings that the rules need, read again at every plan, resume and retry.
    pub rules: Rules,
    /// The repository's settings as the adapters read them. The domain does not look inside.
    pub settings: serde_json::Value,
    /// A person's input to the next plan.
    pub request: PlanRequest,
    /// The planner's inquiries that were answered, oldest first.
    pub inquiries: Vec<Round>,
    /// The plan that is in force or waits for approval.
    pub plan: Option<PlanVersion>,
    /// The result of pre-flight on the newest commit of the default branch that the work is based on.
    pub preflight: Option<PreFlight>,
    /// The integration branch, once it exists.
    pub integration: Option<Integration>,
    /// The pull request into the default branch.
    pub pull: Option<PullNumber>,
    /// The number of the open wave, from 1; 0 before the first.
    pub wave: u32,
    /// The results of the wave gates, oldest first.
    pub gates: Vec<WaveGate>,
    /// How many more repairs of this wave people allowed.
    pub more_fixes: u32,
    pub failing_base: FailingBase,
    /// The rights and secrets that CI would give to the Feature's code, and if a person let it run.
    #[serde(default)]
    pub ci: CiStatus,
    /// The comment that shows plan and progress.
    pub living: Option<Living>,
    /// The things that could not be said or done as intended, oldest first.
    #[serde(rename = "unsaid")]
    pub failed_acts: Vec<FailedAct>,
    /// The wave gate that runs during the review, for example on a person's push.
    pub checking: Option<Emission>,
    /// The reading of the repository's own CI on the feature pull request.
    #[serde(default)]
    pub reading_ci: Option<Emission>,
    pub suspension: Suspension,
    /// The number of effects that the Feature itself has asked for; its tasks count their own.
    pub emitted: Emission,
    /// Its tasks: those of the plan in the plan's order, then those that AutoBuild added.
    #[serde(skip)]
    pub tasks: Vec<Task>,
}

impl Feature {
    pub fn task(&self, id: TaskId) -> Option<&Task> {
        self.tasks.iter().find(|task| task.id == id)
    }

    /// Returns the task that a person would most likely retry: a blocked one, else one that was given up, else any
    /// unmerged one.
    pub fn to_retry(&self) -> Option<TaskId> {
        self.first([Task::is_blocked, Task::is_gone, |task| !task.is_completed()])
    }

    /// Returns the task that a person would most likely skip: a blocked one, or else one that is not over.
    pub fn to_skip(&self) -> Option<TaskId> {
        self.first([Task::is_blocked, |task| !task.is_over()])
    }

    /// Returns the first task of the first of these kinds that there is.
    fn first<const N: usize>(&self, kinds: [fn(&Task) -> bool; N]) -> Option<TaskId> {
        let of_kind = |is: fn(&Task) -> bool| self.tasks.iter().find(|task| is(task));
        kinds.into_iter().find_map(of_kind).map(|task| task.id)
    }

    /// `true` if no turn was started and no integration branch was made.
    pub fn is_untouched(&self) -> bool {
        self.integration.is_none() && self.tasks.iter().all(|task| task.turns.is_empty())
    }

    /// Returns the branches that hold its work: the integration branch if a task was merged, then those of other tasks
    /// with commits, except skipped ones.
    pub fn branches_with_work(&self) -> Vec<String> {
        let merged = self.tasks.iter().any(Task::is_completed);
        let is_skipped = |task: &Task| matches!(task.state, task::State::Skipped { .. });
        let has_work = |task: &&Task| task.head.is_some() && !task.is_completed() && !is_skipped(task);
        let others = self.tasks.iter().filter(has_work).map(|task| task.branch.clone());
        let integration = merged.then(|| self.integration_branch());
        integration.into_iter().chain(others).collect()
    }

    /// `true` if GitHub can contradict the Feature: it is unfinished, or it is cancelled and its pull request can be merged
    /// or opened again.
    pub fn is_comparable(&self) -> bool {
        self.is_unfinished() || (matches!(self.state, State::Cancelled { .. }) && self.pull.is_some())
    }

    /// `true` if something may still happen without a new label.
    pub fn is_unfinished(&self) -> bool {
        match self.state {
            State::Planning { .. }
            | State::AwaitingApproval
            | State::Building { .. }
            | State::Paused { .. }
            | State::Blocked { .. }
            | State::InReview => true,
            State::Completed | State::Cancelled { .. } | State::Failed { .. } => false,
        }
    }

    /// `true` if the work waits: the Feature is paused or its installation suspended.
    pub fn is_held(&self) -> bool {
        matches!(self.state, State::Paused { .. }) || self.suspension == Suspension::Suspended
    }

    /// Returns the step of building that it is in, also while it is paused.
    pub fn phase(&self) -> Option<&Phase> {
        let is_blocked = matches!(self.state, State::Blocked { .. });
        self.state.phase().filter(|_| !is_blocked)
    }

    /// Returns the step that waits for this emission, if one does. Planning counts as a step.
    pub(super) fn waits_for(&self, emission: Emission) -> Option<Phase> {
        let phase = if let State::Planning { emission } = self.state {
            Phase::Planning { emission }
        } else {
            self.phase()?.clone()
        };
        (phase.waits_for() == Some(emission)).then_some(phase)
    }

    /// Returns the tasks whose wave is open or over.
    pub fn opened_tasks(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().filter(|task| task.wave <= self.wave)
    }

    /// `true` if a task whose wave is open or over has not ended.
    pub fn has_open_tasks(&self) -> bool {
        self.opened_tasks().any(|task| !task.is_over())
    }

    pub fn completed(&self) -> Vec<TaskId> {
        let completed = self.tasks.iter().filter(|task| task.is_completed());
        completed.map(|task| task.id).collect()
    }

    pub fn last_wave(&self) -> u32 {
        self.tasks.iter().map(|task| task.wave).max().unwrap_or(0)
    }

    /// `true` if a person answers inquiries about it.
    pub fn respondent(&self) -> Respondent {
        match (self.rules.inquiries, self.snapshot.trust) {
            (InquiryPolicy::Ask, _) | (InquiryPolicy::ByAuthor, Trust::Writers) => Respondent::Person,
            (InquiryPolicy::Default, _) | (InquiryPolicy::ByAuthor, Trust::Others) => Respondent::Nobody,
        }
    }

    /// Returns the consequence if its planner asks now.
    pub fn hearing(&self) -> Hearing {
        self.respondent().after(self.inquiries.len())
    }

    /// Returns the questions of its planner that wait for an answer, if there are any.
    pub fn open_inquiries(&self) -> Option<&Inquiries> {
        match &self.state {
            State::Blocked { reason: BlockReason::Inquiry { inquiries, .. }, .. } => Some(inquiries),
            State::Blocked { .. }
            | State::Planning { .. }
            | State::AwaitingApproval
            | State::Building { .. }
            | State::Paused { .. }
            | State::InReview
            | State::Completed
            | State::Cancelled { .. }
            | State::Failed { .. } => None,
        }
    }

    /// `true` if it is blocked only because agents ask: its planner, or every blocked task.
    pub fn asks(&self) -> bool {
        let mut blocked = self.tasks.iter().filter(|task| task.is_blocked()).peekable();
        let by_tasks = matches!(&self.state, State::Blocked { reason: BlockReason::TasksBlocked { .. }, .. })
            && blocked.peek().is_some()
            && blocked.all(|task| task.inquiries().is_some());
        by_tasks || self.open_inquiries().is_some()
    }

    /// Returns how CI is treated on the commits that AutoBuild pushes.
    pub fn ci_treatment(&self) -> CiTreatment {
        treatment(self.rules.ci, &self.ci)
    }

    /// Returns the commit that the feature pull request shows during the review.
    pub fn reviewed_head(&self) -> Option<&Sha> {
        let is_shown = self.state == State::InReview && self.pull.is_some();
        self.integration.as_ref().filter(|_| is_shown).map(|integration| &integration.head)
    }

    /// Returns the name of the branch into which tasks are merged.
    pub fn integration_branch(&self) -> String {
        let known = self.integration.as_ref().map(|integration| integration.branch.clone());
        known.unwrap_or_else(|| self.key.integration_branch())
    }

    /// Returns the facts that its tasks need to know.
    pub fn task_rules(&self) -> task::Rules {
        task::Rules {
            max_turns: self.rules.max_turns,
            merge: self.rules.merge,
            ci: self.ci_treatment(),
            inquiries: self.respondent(),
            branch_prefix: self.key.branch_prefix(),
        }
    }
}

/// The issue at the time when it was labelled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    pub title: String,
    /// Its body. If someone without write access wrote it, only the parts that GitHub shows.
    pub body: String,
    /// The parts of the body that GitHub does not show at first sight, if someone without write access wrote it.
    #[serde(default)]
    pub parts: HiddenParts,
    pub author: User,
    pub labelled_by: User,
    /// The time when it was labelled.
    pub at: Millis,
    /// The time of the label or command that requested the run, by GitHub's clock. A later plan does not change it:
    /// older facts belong to an earlier run.
    pub requested_at: Millis,
    /// The right of its author and its last editor to write to the repository.
    pub trust: Trust,
    /// The kind of plan that the label asks for.
    pub wanted: PlanKind,
    /// The comments below the issue, from before it was labelled.
    pub discussion: Discussion,
}

/// The kind of plan that a label asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanKind {
    /// A plan of as many tasks as the issue needs.
    #[default]
    Plan,
    /// One task, without a planner.
    OneTask,
}

/// The right of the people who wrote the issue to write to the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// All of them may.
    Writers,
    /// Someone without write access wrote or edited it, so the plan waits for approval.
    Others,
}

/// The parts of the repository's settings that the rules need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// The number of turns that a new task may have.
    pub max_turns: u32,
    /// Tasks of one Feature that may run at once.
    pub max_parallel_tasks: u32,
    pub merge: task::MergePolicy,
    pub plan_approval: PlanApproval,
    /// The treatment of new tests that pass on the old code.
    pub mode: Mode,
    /// The rule on the repository's own CI: if it may run, and if it counts as evidence.
    pub ci: CiPolicy,
    /// The setting for questions that an agent cannot decide.
    pub inquiries: InquiryPolicy,
    /// The lifetime of the records of the plan and its tasks on the integration branch.
    pub records: Records,
    /// How the commands of plans are run.
    pub commands: Commands,
    /// The form of the titles of pull requests and commits.
    pub titles: TitleForm,
    /// The conclusion of the check runs on work that holds only because a person waived something.
    pub waived: WaivedConclusion,
}

/// The conclusion of the check runs on work that holds only because a person waived something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaivedConclusion {
    /// `success`: nothing tells it from work that holds.
    Success,
    /// `neutral`: a rule that requires the check lets it pass, and lists show that it is not green.
    #[default]
    Neutral,
}

/// The lifetime of the records of the plan and its tasks on the integration branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Records {
    /// Records are removed when the feature pull request is opened.
    #[default]
    WhileBuilding,
    /// Records stay and are merged with the work.
    Keep,
    None,
}

/// How the commands of plans are run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Commands {
    /// With all rights of the service's operating-system user.
    #[default]
    Bare,
    Isolated,
}

/// The treatment of new tests that pass on the old code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The work is sent back.
    #[default]
    Tdd,
    /// They are only shown.
    Standard,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanApproval {
    Never,
    Always,
    /// Plans of at least this complexity.
    From(u8),
}

/// A person's input to a plan, in addition to the snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanRequest {
    /// A person's words to the planner.
    pub words: Option<String>,
    /// A plan that a person wrote; it replaces the planner.
    pub yaml: Option<String>,
}

/// A valid plan, with the notes for people.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanVersion {
    /// The version: 1 at first, and one more for every new plan.
    pub number: u32,
    pub plan: Plan,
    /// The plan's SHA-256 hash, in hexadecimal.
    pub hash: String,
    /// The time when it was made.
    pub created: Millis,
    pub complexity: u8,
    /// The things that AutoBuild replaced in it or added to it, as sentences.
    pub notes: Vec<String>,
    /// The commands that the Gates will run, as a sentence.
    pub commands: String,
    /// The commit of the default branch that the plan was made on.
    pub base: Sha,
    /// GitHub's time of the edit that first showed the plan.
    pub shown_at: Option<Millis>,
    /// The reasons why it waits for approval; empty if it does not.
    pub waits: Vec<ApprovalWhy>,
}

/// A reason why a plan waits for approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalWhy {
    /// The settings demand it.
    Settings,
    /// The plan's complexity reaches the limit in the settings.
    Complexity {
        complexity: u8,
        /// The limit in the settings.
        from: u8,
    },
    /// Someone without write access wrote or edited the issue.
    Author,
    /// The plan names commands that would run without a sandbox.
    Commands,
    /// Harmful workflows or other services may start although CI is held, since they obey no skip instruction.
    UnheldCi {
        /// The paths of the workflows, and the names of the services.
        workflows: Vec<String>,
    },
}

/// The branch into which tasks are merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Integration {
    pub branch: String,
    /// The default branch's commit that it was made from.
    pub base: Sha,
    /// The newest head that AutoBuild knows.
    pub head: Sha,
}

/// The result of the Gates on the integration branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaveGate {
    /// The wave after which they ran.
    pub wave: u32,
    /// The commit that they ran on.
    pub head: Sha,
    /// The tasks that were merged at that time.
    pub merged: Vec<TaskId>,
    pub report: GateReport,
    /// A later commit that differs from this one only in AutoBuild's records, so that the result holds for it too.
    pub stands_for: Option<Sha>,
}

impl WaveGate {
    /// `true` if the result holds for this commit.
    pub fn holds_for(&self, head: &Sha) -> bool {
        self.head == *head || self.stands_for.as_ref() == Some(head)
    }

    /// Returns the newest commit that the result holds for.
    pub fn newest(&self) -> &Sha {
        self.stands_for.as_ref().unwrap_or(&self.head)
    }
}

/// The comment that shows the plan and its progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Living {
    pub comment: CommentId,
    /// The time of its last edit.
    pub edited_at: Millis,
}
