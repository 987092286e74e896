//! A Task with everything that is remembered of it: its states, its turns, its origin, the rules that it is under.

use crate::{
    blocked::BlockReason,
    ci::CiPolicy,
    decision::{Issue, Verdict},
    design::PreLoop,
    evidence::GateReport,
    ids::{Emission, Millis, PullNumber, ReviewId, Sha, TaskId, TurnNumber, User},
    plan::PlannedTask,
    report::{Discrepancy, PlayerReport},
};
use serde::{Deserialize, Serialize};

/// One task of a Feature with everything that was said and done about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Its name within the Feature.
    pub id: TaskId,
    /// What is to be done, as planned.
    pub plan: PlannedTask,
    /// Where it comes from.
    #[serde(default)]
    pub origin: Origin,
    /// Whether it is designed before its first turn, and how.
    #[serde(default)]
    pub pre_loop: PreLoop,
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
    /// The effect that opens the pull request, while it is waited for.
    pub opening: Option<Emission>,
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
    pub emitted: Emission,
    /// Its turns, oldest first.
    #[serde(skip)]
    pub turns: Vec<Turn>,
}

impl Task {
    /// A task of the plan that waits for its wave.
    pub fn planned(plan: PlannedTask, wave: u32, rules: &Rules) -> Self {
        Self {
            id: plan.id,
            branch: branch_name(&rules.branch_prefix, &plan, 1),
            plan,
            origin: Origin::Planned,
            pre_loop: PreLoop::Off,
            wave,
            state: State::Pending,
            attempt: 1,
            head: None,
            pull: None,
            opening: None,
            limit: rules.max_turns,
            next: NextTurn::default(),
            waived: Vec::new(),
            without: Vec::new(),
            pause: None,
            emitted: Emission(0),
            turns: Vec::new(),
        }
    }

    /// Whether nothing more will happen to it by itself or by its agents.
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
    pub fn is_blocked(&self) -> bool {
        matches!(self.state, State::Blocked { .. })
    }

    /// Whether something of it runs, or waits for its merge.
    pub fn is_in_motion(&self) -> bool {
        match self.state {
            State::PreLoop { .. } | State::PlayerTurn { .. } | State::CoachTurn { .. } | State::Approved { .. } => true,
            State::Pending
            | State::Blocked { .. }
            | State::Completed { .. }
            | State::Skipped { .. }
            | State::Cancelled => false,
        }
    }

    /// Whether it was given up: those that need it cannot have it.
    pub fn is_gone(&self) -> bool {
        match self.state {
            State::Skipped { .. } | State::Cancelled => true,
            State::Pending
            | State::PreLoop { .. }
            | State::PlayerTurn { .. }
            | State::CoachTurn { .. }
            | State::Approved { .. }
            | State::Blocked { .. }
            | State::Completed { .. } => false,
        }
    }

    /// Whether `resume` does something here: it is blocked, about to pause, or its merge was refused.
    pub fn can_resume(&self) -> bool {
        let refused = matches!(
            self.state,
            State::Approved {
                merge: MergeState::Refused { .. },
                ..
            }
        );
        self.is_blocked() || self.pause.is_some() || refused
    }

    /// Whether it was merged.
    pub fn is_completed(&self) -> bool {
        matches!(self.state, State::Completed { .. })
    }

    /// The commit on the integration branch that it was merged as.
    pub fn merged_as(&self) -> Option<&Sha> {
        let State::Completed { commit, .. } = &self.state else {
            return None;
        };
        commit.as_ref()
    }

    /// The turns of the present attempt, oldest first.
    pub fn turns_now(&self) -> impl DoubleEndedIterator<Item = &Turn> {
        self.turns.iter().filter(|turn| turn.attempt == self.attempt)
    }

    /// The newest turn of the present attempt.
    pub fn last_turn(&self) -> Option<&Turn> {
        self.turns_now().next_back()
    }

    /// The newest turn of the present attempt on the head of the task's branch. Turns after it may have changed nothing.
    pub fn turn_of_head(&self) -> Option<&Turn> {
        let head = self.head.as_ref()?;
        self.turns_now().rfind(|turn| turn.head.as_ref() == Some(head))
    }

    /// The turn whose check run says how the task stands: of the branch's head, else of its own newest commit.
    pub fn standing_turn(&self) -> Option<&Turn> {
        self.turn_of_head()
            .or_else(|| self.turns_now().rfind(|turn| turn.head.is_some()))
    }

    /// The newest turn of the present attempt with a verdict on work; if no turn changed anything, with any.
    pub fn last_judged(&self) -> Option<&Turn> {
        let judged = |turn: &&Turn| turn.verdict.is_some();
        let on_work = |turn: &&Turn| judged(turn) && turn.work != Work::NoChange;
        self.turns_now()
            .rfind(on_work)
            .or_else(|| self.turns_now().rfind(judged))
    }

    /// Its verdict.
    pub fn last_judgement(&self) -> Option<&Verdict> {
        self.last_judged()?.verdict.as_ref()
    }

    /// What the Player has to mend in this turn: what the turns before it were told, back to the last that changed something.
    pub fn to_mend(&self, turn: TurnNumber) -> Vec<Issue> {
        let mut items: Vec<Issue> = Vec::new();
        for before in self.turns_now().rev().filter(|before| before.number != turn) {
            let Some(verdict) = &before.verdict else { continue };
            for item in &verdict.items {
                if !items.contains(item) {
                    items.push(item.clone());
                }
            }
            if before.work != Work::NoChange {
                break;
            }
        }
        items
    }

    /// The turn of this number.
    pub fn turn(&self, number: TurnNumber) -> Option<&Turn> {
        self.turns.iter().find(|turn| turn.number == number)
    }

    /// The newest verdict of the present attempt.
    pub fn last_verdict(&self) -> Option<&Verdict> {
        self.turns_now().rev().find_map(|turn| turn.verdict.as_ref())
    }

    pub(super) fn last_number(&self) -> u32 {
        self.turns.last().map_or(0, |turn| turn.number.0)
    }
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
        #[serde(alias = "run")]
        emission: Emission,
    },
    /// The Player works.
    PlayerTurn {
        /// Which turn.
        turn: TurnNumber,
        /// The effect that is waited for.
        #[serde(alias = "run")]
        emission: Emission,
    },
    /// Gates and Coach look at the pushed commit.
    CoachTurn {
        /// Which turn.
        turn: TurnNumber,
        /// Who looks.
        stage: Stage,
        /// The effect that is waited for.
        #[serde(alias = "run")]
        emission: Emission,
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

impl State {
    /// The product's word for it.
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

    /// The emission whose result it waits for.
    pub fn waits_for(&self) -> Option<Emission> {
        match self {
            Self::PreLoop { emission } | Self::PlayerTurn { emission, .. } | Self::CoachTurn { emission, .. } => {
                Some(*emission)
            }
            Self::Approved { merge, .. } => match merge {
                MergeState::Due { emission } => Some(*emission),
                MergeState::Person | MergeState::Refused { .. } => None,
            },
            Self::Pending | Self::Blocked { .. } | Self::Completed { .. } | Self::Skipped { .. } | Self::Cancelled => {
                None
            }
        }
    }
}

/// Who looks at the commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The Gates.
    Gates,
    /// The repository's own CI.
    Ci,
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
        #[serde(alias = "run")]
        emission: Emission,
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
    /// When its verdict stood, or a person overrode it.
    pub ended_at: Option<Millis>,
    /// When CI could first see the commit, or was asked for again by a person: its times count from here.
    pub ci_since: Option<Millis>,
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
    /// Only Gates and Coach: a person pushed the commit, or wants its checks again.
    VerifyOnly,
}

/// What the next turn is told besides the last verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextTurn {
    /// A person's words to the Player, as written.
    pub guidance: Vec<Guidance>,
    /// Items of people's reviews that are open.
    pub reviews: Vec<HumanReview>,
    /// Reviews that decide nothing: the Coach sees them once.
    #[serde(default)]
    pub remarks: Vec<HumanReview>,
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

/// A person's review: a request for changes, or remarks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HumanReview {
    /// The review.
    pub id: ReviewId,
    /// Who wrote it.
    pub by: User,
    /// What it says.
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
    /// Failing tests among it, by name: from then on they belong to the Feature's baseline.
    #[serde(default)]
    pub tests: Vec<String>,
}

/// Where a task comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The plan.
    #[default]
    Planned,
    /// A wave gate that was red: it mends what was merged, and brings no tests of its own.
    Fix {
        /// The merge on the integration branch that broke it, where one could be found.
        broke: Option<Sha>,
    },
    /// A conflict with the default branch: it resolves the merge, and lands with both parents.
    Sync {
        /// The default branch's commit that is merged in.
        other: Sha,
    },
    /// A person's request for changes on the feature pull request.
    Review {
        /// The review.
        id: ReviewId,
        /// Who wrote it.
        by: User,
    },
}

impl Origin {
    /// Whether the task is expected to bring tests that fail without its change.
    pub fn brings_tests(&self) -> bool {
        match self {
            Self::Planned | Self::Review { .. } => true,
            Self::Fix { .. } | Self::Sync { .. } => false,
        }
    }
}

/// What a task needs to know of its Feature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Turns of a fresh task.
    pub max_turns: u32,
    /// Who merges an approved task.
    pub merge: MergePolicy,
    /// Whether the repository's own CI is evidence.
    pub ci: CiPolicy,
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

/// The branch of a task: `<prefix>/task-001-<slug>`, from the second attempt on with `-a<k>`.
pub(super) fn branch_name(prefix: &str, plan: &PlannedTask, attempt: u32) -> String {
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
