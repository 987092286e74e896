//! A Task as it is remembered, and what can be asked of it.

use crate::{
    decision::Verdict,
    design::PreLoop,
    ids::{Emission, PullNumber, Sha, TaskId, TurnNumber, User},
    plan::PlannedTask,
    task::{
        branch::branch_name,
        origin::Origin,
        rules::Rules,
        state::{MergeState, State},
        turn::{NextTurn, Turn, Waiver},
    },
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
        match &self.state {
            State::Completed { commit, .. } => commit.as_ref(),
            State::Pending
            | State::PreLoop { .. }
            | State::PlayerTurn { .. }
            | State::CoachTurn { .. }
            | State::Approved { .. }
            | State::Blocked { .. }
            | State::Skipped { .. }
            | State::Cancelled => None,
        }
    }

    /// The turns of the present attempt, oldest first.
    pub fn turns_now(&self) -> impl DoubleEndedIterator<Item = &Turn> {
        self.turns.iter().filter(|turn| turn.attempt == self.attempt)
    }

    /// The newest turn of the present attempt.
    pub fn last_turn(&self) -> Option<&Turn> {
        self.turns_now().next_back()
    }

    /// The turn of this number.
    pub fn turn(&self, number: TurnNumber) -> Option<&Turn> {
        self.turns.iter().find(|turn| turn.number == number)
    }

    /// The verdict that the Player is told: the newest one of this attempt.
    pub fn last_verdict(&self) -> Option<&Verdict> {
        self.turns_now().rev().find_map(|turn| turn.verdict.as_ref())
    }

    pub(super) fn last_number(&self) -> u32 {
        self.turns.last().map_or(0, |turn| turn.number.0)
    }
}
