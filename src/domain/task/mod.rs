//! One Task: its states, its turns, and the events that move it. `step` is the only way in.

pub mod people;
pub mod step;

use crate::domain::blocked::AgentFailure;
use crate::domain::blocked::BlockReason;
use crate::domain::contract::Judgement;
use crate::domain::decision::Issue;
use crate::domain::decision::Verdict;
use crate::domain::effect::TaskWork;
use crate::domain::evidence::GateReport;
use crate::domain::ids::Millis;
use crate::domain::ids::PullNumber;
use crate::domain::ids::ReviewId;
use crate::domain::ids::Sha;
use crate::domain::ids::TaskId;
use crate::domain::ids::TurnNumber;
use crate::domain::ids::User;
use crate::domain::plan::PlannedTask;
use crate::domain::report::Discrepancy;
use crate::domain::report::PlayerReport;
use serde::Deserialize;
use serde::Serialize;

/// One task of a Feature with everything that was said and done about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Its name within the Feature.
    pub id: TaskId,
    /// What is to be done, as planned.
    pub plan: PlannedTask,
    /// Its wave, from 1.
    pub wave: u32,
    /// Where it stands.
    pub state: State,
    /// 1, or one more with every `retry`.
    pub attempt: u32,
    /// Its branch in this attempt.
    pub branch: String,
    /// The branch's head as last pushed by us or by a person; `None` before the first push.
    pub head: Option<Sha>,
    /// Its pull request in this attempt.
    pub pull: Option<PullNumber>,
    /// How many turns it may have; raised by people, conflicts and pushes.
    pub limit: u32,
    /// What the next turn is told besides the last verdict.
    pub next: NextTurn,
    /// What a person waived by overriding the Coach.
    pub waived: Vec<Waiver>,
    /// Tasks it needed that were given up, and that someone decided to go on without.
    pub without: Vec<TaskId>,
    /// Who asked it to stop after the running agent.
    pub pause: Option<User>,
    /// How many effects it has asked for.
    pub emitted: u64,
    /// Its turns, oldest first.
    #[serde(skip)]
    pub turns: Vec<Turn>,
}

/// The states of a Task, each with exactly what it needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Waits for its wave.
    Pending,
    /// The designer works.
    PreLoop {
        /// The effect that is waited for.
        run: u64,
    },
    /// The Player works.
    PlayerTurn {
        /// Which turn.
        turn: TurnNumber,
        /// The effect that is waited for.
        run: u64,
    },
    /// Gates and Coach look at the pushed commit.
    CoachTurn {
        /// Which turn.
        turn: TurnNumber,
        /// Who looks.
        stage: Stage,
        /// The effect that is waited for.
        run: u64,
    },
    /// Verified, not merged yet.
    Approved {
        /// The turn whose commit is approved.
        turn: TurnNumber,
        /// Who approved.
        by: Approval,
        /// What the merge waits for.
        merge: MergeState,
    },
    /// A person has to decide.
    Blocked {
        /// Why.
        reason: BlockReason,
    },
    /// Merged.
    Completed {
        /// The commit on the integration branch.
        commit: Option<Sha>,
        /// Who merged it.
        by: MergedBy,
    },
    /// Given up.
    Skipped {
        /// By whom.
        by: User,
    },
    /// Cancelled with its pull request or its Feature.
    Cancelled,
}

/// Who looks at the commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The Gates.
    Gates,
    /// The Coach.
    Coach,
}

/// Who approved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// The Coach, with every contract kept.
    Coach,
    /// A person, over the Coach.
    Override(User),
}

/// What a merge waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeState {
    /// The merge effect of this emission.
    Due {
        /// The effect that is waited for.
        run: u64,
    },
    /// A person: `merge: human`.
    Person,
    /// A person: a rule refused the merge.
    Refused {
        /// GitHub's words.
        rule: String,
    },
}

/// Who merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergedBy {
    /// AutoBuild, after an approval.
    AutoBuild,
    /// A person, after an approval.
    Person(User),
    /// A person, without the Coach's approval.
    PersonWithoutApproval(User),
}

/// What the next turn is told besides the last verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextTurn {
    /// A person's words to the Player, as written.
    pub guidance: Vec<Guidance>,
    /// Items of people's reviews that are open.
    pub reviews: Vec<HumanReview>,
    /// A merge that the branch has to take up.
    pub conflict: Option<Conflict>,
}

/// A person's words to the Player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guidance {
    /// Who wrote them.
    pub by: User,
    /// Word for word.
    pub text: String,
}

/// A person's request for changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HumanReview {
    /// The review.
    pub id: ReviewId,
    /// Who wrote it.
    pub by: User,
    /// What it asks for.
    pub items: Vec<Issue>,
}

/// A merge with the integration branch that needs hands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    /// Files with conflict markers.
    pub files: Vec<String>,
}

/// What a person waived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiver {
    /// Who.
    pub by: User,
    /// What failed or was missing, as sentences.
    pub what: Vec<String>,
}

/// One turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// Its number, from 1; numbers go on over attempts.
    pub number: TurnNumber,
    /// The attempt it belongs to.
    pub attempt: u32,
    /// Who takes part.
    pub kind: TurnKind,
    /// What it was told besides the last verdict.
    pub told: NextTurn,
    /// When it started.
    pub started_at: Millis,
    /// When its verdict stood.
    pub ended_at: Option<Millis>,
    /// The commit it started from.
    pub base: Option<Sha>,
    /// The commit that Gates and Coach look at.
    pub head: Option<Sha>,
    /// What came of the Player's part.
    pub work: Work,
    /// What the Player says; a claim.
    pub report: Option<PlayerReport>,
    /// Claims that are contradicted.
    pub discrepancies: Vec<Discrepancy>,
    /// What the Gates found.
    pub gates: Option<GateReport>,
    /// What stands.
    pub verdict: Option<Verdict>,
}

/// What came of a Player's part of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// Nothing yet.
    Open,
    /// A commit that is pushed.
    Pushed,
    /// An empty change.
    NoChange,
    /// A commit that may not be pushed.
    Held,
}

/// Who takes part in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnKind {
    /// Player, Gates, Coach.
    Full,
    /// A merge with the integration branch has to be resolved first.
    Conflict,
    /// Only Gates and Coach: a person pushed the commit.
    VerifyOnly,
}

/// How a Player run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Played {
    /// Its work is pushed.
    Pushed {
        /// The commit it started from.
        base: Sha,
        /// The commit pushed.
        head: Sha,
        /// What the Player says.
        report: PlayerReport,
        /// Claims that the tree contradicts.
        discrepancies: Vec<Discrepancy>,
    },
    /// Nothing changed.
    NoChange {
        /// The commit it started from.
        base: Sha,
        /// What the Player says.
        report: PlayerReport,
    },
    /// The commit may not be pushed; it is kept under a held ref.
    Held {
        /// The commit it started from.
        base: Sha,
        /// What the Player says.
        report: PlayerReport,
        /// Why, for the Player.
        items: Vec<Issue>,
    },
    /// The branch has another head than stored: a person pushed meanwhile.
    Overtaken {
        /// The head now.
        head: Sha,
    },
    /// No usable result after every try.
    Failed {
        /// Why.
        failure: AgentFailure,
        /// A commit with what there was, if the tree had changed.
        partial: Option<Sha>,
    },
}

/// What happens to a Task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// Its wave is open.
    Begin,
    /// The designer ended.
    Designed {
        /// The effect that ended.
        run: u64,
    },
    /// The Player ended.
    Played {
        /// The effect that ended.
        run: u64,
        /// How.
        outcome: Box<Played>,
    },
    /// The pull request is open.
    PullOpened {
        /// Its number.
        pull: PullNumber,
        /// Its branch: one attempt's pull request is not the next one's.
        branch: String,
    },
    /// The Gates ended.
    Gated {
        /// The effect that ended.
        run: u64,
        /// The commit they ran on.
        head: Sha,
        /// What they found.
        report: Box<GateReport>,
    },
    /// The Coach ended, and the contracts were checked.
    Judged {
        /// The effect that ended.
        run: u64,
        /// The commit.
        head: Sha,
        /// What stands.
        judgement: Box<Judgement>,
    },
    /// The Coach gave no usable answer after every try.
    CoachFailed {
        /// The effect that ended.
        run: u64,
        /// Why.
        failure: AgentFailure,
    },
    /// The pull request is merged by us.
    Merged {
        /// The effect that ended.
        run: u64,
        /// The commit on the integration branch.
        commit: Sha,
    },
    /// A rule refused the merge.
    MergeRefused {
        /// The effect that ended.
        run: u64,
        /// GitHub's words.
        rule: String,
    },
    /// The branch conflicts with what was merged meanwhile.
    MergeConflict {
        /// The effect that ended.
        run: u64,
        /// The files.
        files: Vec<String>,
    },
    /// An effect that the task waits for was given up.
    Stuck {
        /// The effect that ended.
        run: u64,
        /// Why.
        reason: BlockReason,
    },
    /// A task it needs was given up.
    NeedGone {
        /// Which.
        task: TaskId,
    },
    /// Something that a person did.
    Person {
        /// Who.
        by: User,
        /// What.
        did: PersonDid,
    },
    /// The Feature was cancelled.
    FeatureCancelled,
}

/// What a person does to a Task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersonDid {
    /// `/autobuild resume`.
    Resume {
        /// Words to the Player.
        guidance: Option<String>,
        /// How many turns more.
        turns: u32,
    },
    /// `/autobuild approve` on a blocked task, or an approving review there.
    Override,
    /// `/autobuild retry`.
    Retry {
        /// How many turns the new attempt has.
        turns: u32,
    },
    /// `/autobuild skip`.
    Skip,
    /// `/autobuild pause` on the task's pull request.
    Pause,
    /// `/autobuild cancel` on the task's pull request.
    Cancel,
    /// Closes the task's pull request without merging it.
    ClosePull {
        /// Which.
        pull: PullNumber,
    },
    /// Reopens the task's pull request.
    ReopenPull {
        /// Which.
        pull: PullNumber,
        /// How many turns it has from here.
        turns: u32,
    },
    /// Merges the task's pull request.
    MergePull {
        /// The commit on the integration branch.
        commit: Option<Sha>,
    },
    /// Pushes to the task's branch.
    Push {
        /// The new head.
        head: Sha,
    },
    /// Pushes a head that does not contain the integration branch's history.
    ForcePush {
        /// The new head.
        head: Sha,
    },
    /// Requests changes.
    RequestChanges(HumanReview),
    /// Takes a request for changes back: dismissed, or approved since.
    WithdrawChanges,
}

/// A task and what it asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The task after the event.
    pub task: Task,
    /// What is to be done, in this order.
    pub effects: Vec<Asked>,
    /// Whether work of this task that runs or waits is to be stopped first.
    pub stop: Stop,
}

/// Something asked for, with its emission number.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// Emission of the task.
    pub run: u64,
    /// What.
    pub work: TaskWork,
}

/// What happens to a task's stored effects before new ones are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// They stay.
    Nothing,
    /// Agents and Gates stop; what waits to be started or merged is cancelled.
    Work,
}

/// What a task needs to know of its Feature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Turns of a fresh task.
    pub max_turns: u32,
    /// Who merges an approved task.
    pub merge: MergePolicy,
    /// The folder of the Feature's branches.
    pub branch_prefix: String,
}

/// Who merges an approved task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergePolicy {
    /// AutoBuild.
    Auto,
    /// A person.
    Human,
}

impl Task {
    /// A task of the plan that waits for its wave.
    #[must_use]
    pub fn planned(plan: PlannedTask, wave: u32, rules: &Rules) -> Self {
        Self {
            id: plan.id,
            branch: branch_name(&rules.branch_prefix, &plan, 1),
            plan,
            wave,
            state: State::Pending,
            attempt: 1,
            head: None,
            pull: None,
            limit: rules.max_turns,
            next: NextTurn::default(),
            waived: Vec::new(),
            without: Vec::new(),
            pause: None,
            emitted: 0,
            turns: Vec::new(),
        }
    }

    /// Whether nothing more will happen to it by itself or by its agents.
    #[must_use]
    pub fn is_over(&self) -> bool {
        match self.state {
            State::Completed { .. } | State::Skipped { .. } | State::Cancelled => true,
            State::Pending
            | State::PreLoop { .. }
            | State::PlayerTurn { .. }
            | State::CoachTurn { .. }
            | State::Approved { .. }
            | State::Blocked { .. } => false,
        }
    }

    /// Whether it waits for a person to decide.
    #[must_use]
    pub fn is_blocked(&self) -> bool {
        matches!(self.state, State::Blocked { .. })
    }

    /// Whether it was merged.
    #[must_use]
    pub fn is_completed(&self) -> bool {
        matches!(self.state, State::Completed { .. })
    }

    /// The turns of the present attempt, oldest first.
    pub fn turns_now(&self) -> impl DoubleEndedIterator<Item = &Turn> {
        self.turns.iter().filter(|turn| turn.attempt == self.attempt)
    }

    /// The newest turn of the present attempt.
    #[must_use]
    pub fn last_turn(&self) -> Option<&Turn> {
        self.turns_now().next_back()
    }

    /// The turn of this number.
    #[must_use]
    pub fn turn(&self, number: TurnNumber) -> Option<&Turn> {
        self.turns.iter().find(|turn| turn.number == number)
    }

    /// The verdict that the Player is told: the newest one of this attempt.
    #[must_use]
    pub fn last_verdict(&self) -> Option<&Verdict> {
        self.turns_now().rev().find_map(|turn| turn.verdict.as_ref())
    }

    fn last_number(&self) -> u32 {
        self.turns.last().map_or(0, |turn| turn.number.0)
    }
}

impl State {
    /// The product's word for it.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::PreLoop { .. } => "pre_loop",
            Self::PlayerTurn { .. } => "player_turn",
            Self::CoachTurn { .. } => "coach_turn",
            Self::Approved { .. } => "approved",
            Self::Blocked { .. } => "blocked",
            Self::Completed { .. } => "completed",
            Self::Skipped { .. } => "skipped",
            Self::Cancelled => "cancelled",
        }
    }
}

/// The branch of a task: `<prefix>/task-001-<slug>`, from the second attempt on with `-a<k>`.
fn branch_name(prefix: &str, plan: &PlannedTask, attempt: u32) -> String {
    let slug: String = plan
        .name
        .to_lowercase()
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("-")
        .chars()
        .take(40)
        .collect();
    let slug = slug.trim_matches('-');
    let name = if slug.is_empty() {
        plan.id.slug()
    } else {
        format!("{}-{slug}", plan.id.slug())
    };
    match attempt {
        1 => format!("{prefix}/{name}"),
        k => format!("{prefix}/{name}-a{k}"),
    }
}
