//! A Task with its whole record: its state, its turns, its origin and the rules that apply to it.

use crate::{
    blocked::BlockReason,
    ci::CiTreatment,
    claims,
    decision::{Outcome, Verdict},
    design::PreLoop,
    evidence::{Gate, GateReport, Unmet},
    ids::{Emission, Millis, PullNumber, ReviewId, Sha, TaskId, TurnNumber, User},
    inquiry::{Hearing, Inquiries, Respondent, Round},
    plan::PlannedTask,
    problem::ReviewItem,
    report::{Discrepancy, LeftOut, PlayerReport},
    task::waiver::Waiver,
};
use serde::{Deserialize, Serialize};

/// One task of a Feature, with everything that was said and done about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Its name within the Feature.
    pub id: TaskId,
    pub plan: PlannedTask,
    /// The reason why the task exists.
    pub origin: Origin,
    pub pre_loop: PreLoop,
    /// Its wave, from 1.
    pub wave: u32,
    pub state: State,
    /// The number of the attempt: 1 at first, and one more after every `retry`.
    pub attempt: u32,
    /// Its branch in this attempt.
    pub branch: String,
    /// The branch's head as last pushed by AutoBuild or a person; `None` before the first push.
    pub head: Option<Sha>,
    /// Its pull request in this attempt.
    pub pull: Option<PullNumber>,
    /// The effect that is opening the pull request; `None` if no such effect is waited for.
    pub opening: Option<Emission>,
    /// The number of turns that it may have. Commands, reviews, conflicts and pushes raise it.
    pub limit: u32,
    /// The input of the next turn besides the last verdict.
    pub next: TurnInput,
    /// The facts that people waived when they overrode the Coach.
    pub waived: Vec<Waiver>,
    /// Tasks that it needed and that were given up; a person decided to continue without them.
    pub without: Vec<TaskId>,
    /// Why the Player of the newest turn failed, if the work that it left is judged all the same.
    pub cut: Option<BlockReason>,
    /// The number of runs of its Player in a row that failed and left work.
    pub cut_runs: u32,
    /// The person who asked it to pause as soon as the running agent ends.
    pub pause: Option<User>,
    /// The facts from which the texts of a task that AutoBuild adds are worded; `None` once they are, and for a task of
    /// the plan.
    pub draft: Option<Box<Draft>>,
    /// The number of effects that it has asked for.
    pub emitted: Emission,
    /// Its turns, oldest first.
    #[serde(skip)]
    pub turns: Vec<Turn>,
}

impl Task {
    /// Returns a task of the plan that waits for its wave.
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
            next: TurnInput::default(),
            waived: Vec::new(),
            without: Vec::new(),
            cut: None,
            cut_runs: 0,
            pause: None,
            draft: None,
            emitted: Emission(0),
            turns: Vec::new(),
        }
    }

    /// `true` if neither AutoBuild nor its agents will do anything more for it.
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

    /// `true` if it has begun, stopped, and waits until its Feature starts it again.
    pub fn waits_to_go_on(&self) -> bool {
        self.state == State::Pending && self.emitted != Emission(0)
    }

    /// Returns the word for its state in refusals. It distinguishes tasks that continue from those that have not begun.
    pub fn word(&self) -> &'static str {
        if self.waits_to_go_on() { "resumed" } else { self.state.word() }
    }

    /// `true` if it waits for a person to decide.
    pub fn is_blocked(&self) -> bool {
        matches!(self.state, State::Blocked { .. })
    }

    /// Returns the questions that it waits for a person to answer, if it does.
    pub fn inquiries(&self) -> Option<&Inquiries> {
        match &self.state {
            State::Blocked { reason: BlockReason::Inquiry { inquiries, .. } } => Some(inquiries),
            State::Blocked { .. }
            | State::Pending
            | State::PreLoop { .. }
            | State::PlayerTurn { .. }
            | State::CoachTurn { .. }
            | State::Approved { .. }
            | State::Completed { .. }
            | State::Skipped { .. }
            | State::Cancelled => None,
        }
    }

    /// Returns every inquiry about it that was answered, oldest first, over all attempts.
    pub fn rounds(&self) -> impl Iterator<Item = &Round> {
        let of_turns = self.turns.iter().flat_map(|turn| &turn.input.answers);
        of_turns.chain(&self.next.answers)
    }

    /// Returns the consequence if its agent asks now.
    pub fn hearing(&self, rules: &Rules) -> Hearing {
        rules.inquiries.after(self.rounds().count())
    }

    /// `true` if an agent or Gate works on it, or if it is approved but not merged.
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

    /// `true` if it was skipped or cancelled, so that tasks that need it will not get it.
    pub fn is_gone(&self) -> bool {
        self.is_over() && !self.is_completed()
    }

    /// `true` if `resume` does something here: the task is blocked, a pause is due, or its merge was refused.
    pub fn can_resume(&self) -> bool {
        let is_refused = |merge: &MergeState| matches!(merge, MergeState::Refused { .. });
        let refused = matches!(&self.state, State::Approved { merge, .. } if is_refused(merge));
        self.is_blocked() || self.pause.is_some() || refused
    }

    /// `true` if it was merged.
    pub fn is_completed(&self) -> bool {
        matches!(self.state, State::Completed { .. })
    }

    /// Returns the commit on the integration branch that merged it, if it was merged and the commit is known.
    pub fn merged_as(&self) -> Option<&Sha> {
        let State::Completed { commit, .. } = &self.state else {
            return None;
        };
        commit.as_ref()
    }

    /// Returns the turns of the present attempt, oldest first.
    pub fn turns_of_attempt(&self) -> impl DoubleEndedIterator<Item = &Turn> {
        self.turns.iter().filter(|turn| turn.attempt == self.attempt)
    }

    /// Returns the newest turn of the present attempt.
    pub fn last_turn(&self) -> Option<&Turn> {
        self.turns_of_attempt().next_back()
    }

    /// Returns the present attempt's newest turn on the branch's head. Later turns may have changed nothing.
    pub fn turn_of_head(&self) -> Option<&Turn> {
        let head = self.head.as_ref()?;
        self.turns_of_attempt().rfind(|turn| turn.head.as_ref() == Some(head))
    }

    /// `true` if any turn ended with a verdict on this commit.
    pub fn has_verdict_on(&self, head: &Sha) -> bool {
        let on_head = |turn: &Turn| turn.head.as_ref() == Some(head) && turn.verdict.is_some();
        self.turns.iter().any(on_head)
    }

    /// Returns the newest commit of the present attempt that was judged.
    pub fn judged_head(&self) -> Option<&Sha> {
        let judged = self.turns_of_attempt().rev().filter(|turn| turn.verdict.is_some());
        judged.filter_map(|turn| turn.head.as_ref()).next()
    }

    /// Returns the turn whose check run shows the task's state: the turn on the branch's head, else the newest turn
    /// with a commit.
    pub fn turn_for_check(&self) -> Option<&Turn> {
        self.turn_of_head().or_else(|| self.turns_of_attempt().rfind(|turn| turn.head.is_some()))
    }

    /// Returns the present attempt's newest turn with a verdict on a change, or else its newest turn with a verdict.
    pub fn last_judged(&self) -> Option<&Turn> {
        let judged = |turn: &&Turn| turn.verdict.is_some();
        let on_work = |turn: &&Turn| judged(turn) && turn.work != Work::NoChange;
        self.turns_of_attempt().rfind(on_work).or_else(|| self.turns_of_attempt().rfind(judged))
    }

    /// Returns the issues that the Player has to fix in this turn: those of earlier turns, back to the last with a
    /// change, and the files that were left out there.
    pub fn to_mend(&self, turn: TurnNumber) -> Vec<ReviewItem> {
        let mut items: Vec<ReviewItem> = Vec::new();
        for before in self.turns_of_attempt().rev().filter(|before| before.number != turn) {
            let Some(verdict) = &before.verdict else { continue };
            for item in verdict.items.iter().cloned().chain(claims::left_out_items(&before.left_out)) {
                if !items.contains(&item) {
                    items.push(item);
                }
            }
            if before.work != Work::NoChange {
                break;
            }
        }
        items
    }

    /// Returns the last turn before this one, in this attempt, whose questions were judged.
    pub fn asked_before(&self, turn: TurnNumber) -> Option<&Turn> {
        let mut judged = self.turns_of_attempt().rev().filter(|before| before.verdict.is_some());
        judged.find(|before| before.number < turn && before.gates.is_some())
    }

    /// Returns the words that define the task: its own, and those of people with the right to decide.
    pub fn words(&self) -> Vec<&str> {
        let own = [&self.plan.name, &self.plan.description].into_iter();
        let criteria = self.plan.acceptance_criteria.iter().map(|criterion| &criterion.text);
        let inputs = || self.turns.iter().map(|turn| &turn.input).chain([&self.next]);
        let guidance = inputs().flat_map(|input| &input.guidance).map(|guidance| &guidance.text);
        let reviews = inputs().flat_map(|input| &input.reviews).flat_map(|review| &review.items);
        let reviews = reviews.filter_map(|item| item.problem.words());
        let texts = own.chain(criteria).chain(guidance).chain(reviews).map(String::as_str);
        texts.chain(self.rounds().filter_map(Round::words)).collect()
    }

    pub fn turn(&self, number: TurnNumber) -> Option<&Turn> {
        self.turns.iter().find(|turn| turn.number == number)
    }

    pub(super) fn last_number(&self) -> u32 {
        self.turns.last().map_or(0, |turn| turn.number.0)
    }
}

/// The states of a Task. Each one holds exactly the data that it needs; an `emission` is that of the effect whose
/// result the task waits for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The task waits for its wave.
    Pending,
    /// The designer works.
    PreLoop { emission: Emission },
    /// The Player works.
    PlayerTurn { turn: TurnNumber, emission: Emission },
    /// Gates, CI and Coach examine the pushed commit.
    CoachTurn { turn: TurnNumber, stage: Stage, emission: Emission },
    /// The commit is approved, but not merged yet.
    Approved { turn: TurnNumber, by: Approval, merge: MergeState },
    /// The task waits for a person to decide.
    Blocked { reason: BlockReason },
    /// The task is merged.
    Completed { commit: Option<Sha>, by: MergedBy },
    /// The task was skipped.
    Skipped { by: User },
    /// The task was cancelled by a command, or with its pull request or its Feature.
    Cancelled,
}

impl State {
    /// Returns the word for this state in the product's texts.
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

    /// Returns the emission whose result it waits for, if it waits for one.
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

/// The step in which a commit is examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    Gates,
    Ci,
    Coach,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// The Coach; every contract was kept.
    Coach,
    /// A person, who overrode the Coach.
    Override(User),
}

/// The condition that a merge waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergeState {
    /// The merge effect of this emission.
    Due { emission: Emission },
    /// A person, since the setting is `merge: human`.
    Person,
    /// A person, since a rule refused the merge.
    Refused {
        /// GitHub's error text.
        rule: String,
    },
}

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

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// The turn's number, from 1. A new attempt does not start again at 1.
    pub number: TurnNumber,
    pub attempt: u32,
    /// The agents and Gates that take part.
    pub kind: TurnKind,
    /// The input of the turn besides the last verdict.
    #[serde(rename = "told")]
    pub input: TurnInput,
    /// The time when it started.
    pub started_at: Millis,
    /// The time of its verdict, or of the override by a person.
    pub ended_at: Option<Millis>,
    /// The time when CI could first see the commit, or when a person asked for its checks again. CI's time limits start
    /// here.
    pub ci_since: Option<Millis>,
    /// The commit it started from.
    pub base: Option<Sha>,
    /// The commit that Gates and Coach examine.
    pub head: Option<Sha>,
    /// The result of the Player's part.
    pub work: Work,
    /// The Player's own report: a claim, not evidence.
    pub report: Option<PlayerReport>,
    /// New files that ignore rules kept out of the commit.
    pub left_out: Vec<LeftOut>,
    /// Claims of the report that the tree or the Gates contradict.
    pub discrepancies: Vec<Discrepancy>,
    pub gates: Option<GateReport>,
    pub verdict: Option<Verdict>,
}

impl Turn {
    /// `true` if its verdict approves.
    pub fn is_approved(&self) -> bool {
        let outcome = self.verdict.as_ref().map(|verdict| verdict.outcome);
        outcome == Some(Outcome::Approve)
    }
}

/// The result of the Player's part of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// No result yet.
    Open,
    /// A commit that was pushed.
    Pushed,
    /// A turn without any change.
    NoChange,
    /// A commit that must not be pushed.
    Held,
}

/// The agents and Gates that take part in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnKind {
    /// Player, Gates and Coach.
    Full,
    /// Player, Gates and Coach; the Player first resolves a merge conflict.
    Conflict,
    /// Only Gates and Coach. For example, a person pushed the commit, or asked for its checks again.
    VerifyOnly,
}

/// The input of a turn besides the last verdict.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnInput {
    /// A person's words to the Player, as written.
    pub guidance: Vec<Guidance>,
    /// Inquiries that were answered since the last turn began.
    pub answers: Vec<Round>,
    /// People's requests for changes that are still open.
    pub reviews: Vec<HumanReview>,
    /// Reviews that neither approve nor request changes. One Coach sees each of them.
    pub remarks: Vec<HumanReview>,
    /// The merge conflict that the branch has to resolve.
    pub conflict: Option<Conflict>,
}

/// A person's words to the Player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guidance {
    /// Who wrote them.
    pub by: User,
    /// The text, unchanged.
    pub text: String,
}

/// A person's review: a request for changes, or remarks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HumanReview {
    pub id: ReviewId,
    pub by: User,
    pub items: Vec<ReviewItem>,
}

/// A merge conflict that the Player has to resolve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    /// Files with conflict markers.
    pub files: Vec<String>,
}

/// The reason why a task exists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// It is part of the plan.
    #[default]
    Planned,
    /// A wave gate failed: the task repairs the merged work, and adds no tests.
    Fix {
        /// The merge on the integration branch that broke it, if one was found.
        broke: Option<Sha>,
    },
    /// The default branch conflicts with the integration branch: the task resolves that, and its merge has both
    /// parents.
    Sync {
        /// The default branch's commit that is merged in.
        other: Sha,
    },
    /// A person requested changes on the feature pull request.
    Review { id: ReviewId, by: User },
}

/// The facts from which the description and the criteria of a task that AutoBuild adds are worded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    /// The reason why it is added.
    pub subject: DraftSubject,
    /// The demands of the task's criteria, in their order.
    pub criteria: Vec<Goal>,
}

/// The reason why AutoBuild adds a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DraftSubject {
    /// The merged result of a wave does not hold.
    Fix {
        /// The commit that does not hold.
        head: Sha,
        /// The parts of the profile that it does not meet.
        failures: Vec<Unmet>,
        /// The merge that broke it, if one was found.
        broke: Option<Sha>,
        /// The task that it merged, if it is one of the Feature.
        culprit: Option<TaskId>,
        /// The output of the first failed command that printed anything; empty if none did.
        output: String,
    },
    /// This commit of the default branch conflicts with the integration branch.
    Sync(Sha),
    /// The person with this login requested changes on the feature pull request.
    Review(String),
}

/// The demand of a criterion of a task that AutoBuild adds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// Set-up passes.
    SetUp,
    /// The tests pass, of which none is named.
    Tests,
    /// This test passes.
    Test(String),
    /// This Gate passes.
    Gate(Gate),
    /// The test of the base that this item is about holds again.
    Restored(ReviewItem),
    /// This remark is answered.
    Remark(ReviewItem),
    /// All Gates pass.
    AllGates,
    /// This many more criteria hold, for which there was no room.
    More(usize),
    /// The default branch is merged in.
    Merged,
    /// Whatever the review of the person with this login asks for is done.
    Answered(String),
}

impl Origin {
    /// `true` if the task has to bring tests that fail without its change.
    pub fn brings_tests(&self) -> bool {
        match self {
            Self::Planned | Self::Review { .. } => true,
            Self::Fix { .. } | Self::Sync { .. } => false,
        }
    }
}

/// The facts about its Feature that a task needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The number of turns that a new task may have.
    pub max_turns: u32,
    pub merge: MergePolicy,
    pub ci: CiTreatment,
    pub inquiries: Respondent,
    /// The prefix of the names of the Feature's branches.
    pub branch_prefix: String,
}

/// The one who merges an approved task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MergePolicy {
    Auto,
    Human,
}

/// Returns the name of a task's branch: `<prefix>/task-001-<slug>`, with `-a<k>` at the end from the second attempt on.
pub(super) fn branch_name(prefix: &str, plan: &PlannedTask, attempt: u32) -> String {
    let lower = plan.name.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let slug: String = words.collect::<Vec<_>>().join("-").chars().take(40).collect();
    let id = plan.id.slug();
    let name = match slug.trim_matches('-') {
        "" => id,
        slug => format!("{id}-{slug}"),
    };
    match attempt {
        1 => format!("{prefix}/{name}"),
        k => format!("{prefix}/{name}-a{k}"),
    }
}
