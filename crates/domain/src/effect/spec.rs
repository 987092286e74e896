//! The table of effects: how each one is stored, when it may run, and the consequence if it is given up.

use crate::{
    effect::{
        effect::{Effect, TaskWork},
        say::{PublicAct, Reaction, Reply},
    },
    ids::TaskId,
};
use text::words;

/// The properties of an effect apart from its action: one row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectSpec {
    /// Its name in ids, logs and the store, which never changes.
    pub kind: &'static str,
    /// The lane whose slots it uses.
    pub lane: Lane,
    /// The older effects that have to end before it runs.
    pub order: Precedence,
    /// Its rank among the effects that may run.
    pub priority: Priority,
    /// The condition that it waits for, apart from its order.
    pub waits_for: WaitsFor,
    /// The consequence if it is given up.
    pub given_up: GivenUp,
}

/// The older effects that have to end before an effect of the forge lane runs. In the agent lane, effects of one
/// subject only exclude each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precedence {
    /// All older in-order effects of the same subject.
    InOrder(Subject),
    /// Older effects of its own kind and subject only, because people read it or because it waits long.
    Free(Subject),
}

/// The thing that an effect is about, as the unit of order, and of exclusion between agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The Feature's reactions: 👀 comes before 🚀, and neither waits for anything else.
    Reactions,
    /// The requests that are refused. None of them delays a reaction to a request that is carried out.
    Refusals,
    Feature,
    Task(TaskId),
}

/// An effect's rank among the effects that may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// People wait for an answer.
    Answer,
    /// All other work.
    Usual,
    /// Nobody waits for it.
    Progress,
    /// Anybody can request it, so no work waits for it.
    Refusal,
}

/// The condition that an effect waits for, apart from its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsFor {
    Nothing,
    /// Permission to work: it waits while the Feature is paused or its installation suspended, and is cancelled when
    /// the work stops.
    Work,
    /// The minimum time between two edits of the living comment. The newest edit replaces older ones that still wait.
    Spacing,
}

/// The consequence if an effect is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenUp {
    /// Nothing, since nothing waits for it.
    Nothing,
    /// The task or Feature that waits for it is blocked.
    Stuck,
    /// The Player's turn ends as failed; the work done so far is kept.
    PlayerFailed,
    /// The Coach's review ends as failed.
    CoachFailed,
    /// The Feature records that this could not be said or done.
    FailedAct(PublicAct),
}

impl Priority {
    /// Returns the number that the store sorts by; lower numbers are first.
    pub fn number(self) -> i64 {
        match self {
            Self::Answer => 0,
            Self::Usual => 5,
            Self::Progress => 8,
            Self::Refusal => 9,
        }
    }
}

impl Effect {
    /// Returns the effect's row of the table.
    #[rustfmt::skip]
    pub fn spec(&self) -> EffectSpec {
        use GivenUp::{CoachFailed, Nothing, PlayerFailed, Stuck, FailedAct};
        use Lane::{Agent, Forge};
        use Precedence::{Free, InOrder};
        use Priority::{Answer, Progress, Refusal, Usual};
        use Subject::{Feature, Reactions, Refusals, Task as Of};
        use WaitsFor::{Nothing as Now, Spacing, Work};
        match self {
            //                                    kind                    lane   order               priority waits    given up
            Self::React { reaction: Reaction::Confused, .. } =>
                                               row("react",                Forge, Free(Refusals),     Refusal, Now,    Nothing),
            Self::React { .. } =>              row("react",                Forge, InOrder(Reactions), Answer, Now,     Nothing),
            Self::Reply { reply: Reply::Refused(_), .. } =>
                                               row("reply",                Forge, Free(Refusals),     Refusal, Now,    Nothing),
            Self::Reply { .. } =>              row("reply",                Forge, Free(Feature),      Answer, Now,     Nothing),
            Self::Living { .. } =>             row("living",               Forge, Free(Feature),      Progress, Spacing, FailedAct(PublicAct::Living)),
            Self::Plan { .. } =>               row("plan",                 Agent, InOrder(Feature),   Usual,  Work,    Stuck),
            Self::PreFlight { .. } =>          row("pre_flight",           Agent, InOrder(Feature),   Usual,  Work,    Stuck),
            Self::CompareDefault { .. } =>     row("compare_default",      Forge, InOrder(Feature),   Usual,  Now,     Nothing),
            Self::OpenIntegration { .. } =>    row("open_integration",     Forge, InOrder(Feature),   Usual,  Work,    Stuck),
            Self::MergeDefault { .. } =>       row("merge_default",        Forge, InOrder(Feature),   Usual,  Work,    Stuck),
            Self::WaveGate { .. } =>           row("wave_gate",            Agent, InOrder(Feature),   Usual,  Work,    Stuck),
            // Free, like a task's CI. It belongs to no turn, so giving it up leaves the review as it is.
            Self::ReadCi { .. } =>             row("read_ci",              Forge, Free(Feature),      Usual,  Now,     Nothing),
            Self::OpenFeaturePull { .. } =>    row("open_feature_pull",    Forge, InOrder(Feature),   Usual,  Work,    Stuck),
            Self::PublishWaveCheck { .. } =>   row("publish_wave_check",   Forge, InOrder(Feature),   Usual,  Now,     FailedAct(PublicAct::Check)),
            Self::PostFeatureBlocked { .. } => row("post_feature_blocked", Forge, InOrder(Feature),   Usual,  Now,     FailedAct(PublicAct::Report)),
            Self::AskPerson { .. } =>          row("ask_person",           Forge, Free(Feature),      Usual,  Now,     FailedAct(PublicAct::Call)),
            Self::CloseFeaturePull { pull, .. } => row("close_feature_pull", Forge, InOrder(Feature), Usual,  Now,     FailedAct(PublicAct::Close { pull: *pull })),
            Self::CleanUp { .. } =>            row("clean_up",             Forge, InOrder(Feature),   Usual,  Now,     Nothing),
            Self::Task { task, work, .. } => match work {
                TaskWork::Design =>                row("design",              Agent, InOrder(Of(*task)), Usual, Work, Stuck),
                TaskWork::Play =>                  row("play",                Agent, InOrder(Of(*task)), Usual, Work, PlayerFailed),
                TaskWork::OpenPull =>              row("open_pull",           Forge, InOrder(Of(*task)), Usual, Now,  Stuck),
                TaskWork::Gates =>                 row("gates",               Agent, InOrder(Of(*task)), Usual, Work, Stuck),
                // CI is polled for up to half an hour. What people read must not wait for that.
                TaskWork::Ci =>                    row("ci",                  Forge, Free(Of(*task)),    Usual, Work, Stuck),
                TaskWork::Coach =>                 row("coach",               Agent, InOrder(Of(*task)), Usual, Work, CoachFailed),
                TaskWork::PostReview { .. } =>     row("post_review",         Forge, InOrder(Of(*task)), Usual, Now,  FailedAct(PublicAct::Review)),
                TaskWork::PostBlockedReview { .. } => row("post_blocked_review", Forge, InOrder(Of(*task)), Usual, Now, FailedAct(PublicAct::Review)),
                TaskWork::PublishCheck { .. } =>   row("publish_check",       Forge, InOrder(Of(*task)), Usual, Now,  FailedAct(PublicAct::Check)),
                TaskWork::PublishBlocked { .. } => row("publish_blocked",     Forge, InOrder(Of(*task)), Usual, Now,  FailedAct(PublicAct::Check)),
                TaskWork::PostBlocked =>           row("post_blocked",        Forge, InOrder(Of(*task)), Usual, Now,  FailedAct(PublicAct::Report)),
                TaskWork::MarkReady =>             row("mark_ready",          Forge, InOrder(Of(*task)), Usual, Now,  FailedAct(PublicAct::Ready)),
                TaskWork::Merge =>                 row("merge",               Forge, InOrder(Of(*task)), Usual, Work, Stuck),
                TaskWork::DismissReview { .. } =>  row("dismiss_review",      Forge, InOrder(Of(*task)), Usual, Now,  FailedAct(PublicAct::Dismissal)),
                TaskWork::ClosePull { pull, .. } => row("close_pull",         Forge, InOrder(Of(*task)), Usual, Now,  FailedAct(PublicAct::Close { pull: *pull })),
            },
        }
    }
}

fn row(
    kind: &'static str,
    lane: Lane,
    order: Precedence,
    priority: Priority,
    waits_for: WaitsFor,
    given_up: GivenUp,
) -> EffectSpec {
    EffectSpec { kind, lane, order, priority, waits_for, given_up }
}

/// An effect during which the service ended this often is given up: that is no accident any more.
const MOST_CRASHES: u32 = 3;

/// The number of tries of an agent before it is given up. Each is paid for.
pub const MOST_AGENT_TRIES: u32 = 3;

words! {
    /// A group of slots for effects.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Lane {
        /// Takes in deliveries and commands. It never waits for the other lanes.
        Control = "control",
        /// Writes to GitHub, in order per subject.
        Forge = "forge",
        /// Runs agents and Gates, one at a time per subject.
        Agent = "agent",
    }
}

impl Lane {
    /// Returns how often the service may end during an effect before it is given up; `None` without a limit.
    pub fn most_crashes(self) -> Option<u32> {
        match self {
            // A delivery is never given up after crashes: nobody would learn of it, and reading it again costs nothing.
            Self::Control => None,
            Self::Forge | Self::Agent => Some(MOST_CRASHES),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        blocked::WorkStep,
        effect::{ClosedWhy, DismissedWhy, Reaction, ReactionTarget, Reply, ReplyTo, Thread},
        feature::Wait,
        ids::{
            CommentId, Emission, FeatureKey, IssueNumber, Millis, PullNumber, RepoId, Sha, TurnNumber, User, UserId,
        },
    };
    use std::collections::BTreeSet;

    const RUN: Emission = Emission(7);
    const PULL: PullNumber = PullNumber(9);
    const KEY: FeatureKey = FeatureKey { repo: RepoId(1), issue: IssueNumber(2), run: 1 };

    fn of_feature() -> Vec<Effect> {
        let emission = RUN;
        vec![
            Effect::React { on: ReactionTarget::Issue(IssueNumber(1)), reaction: Reaction::Eyes },
            Effect::Reply {
                thread: Thread::Issue(IssueNumber(1)),
                to: ReplyTo::Comment(CommentId(2)),
                reply: Reply::Help,
            },
            Effect::Living { emission },
            Effect::Plan { emission },
            Effect::PreFlight { emission, commit: None },
            Effect::CompareDefault { emission },
            Effect::OpenIntegration { emission },
            Effect::MergeDefault { emission },
            Effect::WaveGate { emission },
            Effect::ReadCi { emission, since: Millis(0) },
            Effect::OpenFeaturePull { emission },
            Effect::PublishWaveCheck { emission, on: None },
            Effect::PostFeatureBlocked { emission },
            Effect::AskPerson { emission, wait: Wait::NoPlan },
            Effect::CloseFeaturePull { emission, pull: PULL },
            Effect::CleanUp { emission },
        ]
    }

    fn of_task() -> Vec<Effect> {
        let turn = TurnNumber(1);
        let by = User { id: UserId(1), login: "ada".to_owned() };
        let head: Sha = "0123456789012345678901234567890123456789".parse().unwrap();
        let works = [
            TaskWork::Design,
            TaskWork::Play,
            TaskWork::OpenPull,
            TaskWork::Gates,
            TaskWork::Ci,
            TaskWork::Coach,
            TaskWork::PostReview { turn },
            TaskWork::PostBlockedReview { turn },
            TaskWork::PublishCheck { turn },
            TaskWork::PublishBlocked { head },
            TaskWork::PostBlocked,
            TaskWork::MarkReady,
            TaskWork::Merge,
            TaskWork::DismissReview { by, why: DismissedWhy::Cancelled },
            TaskWork::ClosePull { pull: PULL, why: ClosedWhy::Cancelled },
        ];
        let task = TaskId::Planned(1);
        works.map(|work| Effect::Task { task, emission: RUN, work }).to_vec()
    }

    #[test]
    fn each_effect_has_a_word_of_its_own() {
        let all = [of_feature(), of_task()].concat();
        let words: BTreeSet<&str> = all.iter().map(Effect::kind).collect();
        assert_eq!(words.len(), all.len());
    }

    #[test]
    fn work_is_missed_when_it_is_given_up_and_what_is_only_said_is_not() {
        for effect in [of_feature(), of_task()].concat() {
            let spec = effect.spec();
            let is_missed = match spec.given_up {
                GivenUp::Nothing | GivenUp::FailedAct(_) => false,
                GivenUp::Stuck | GivenUp::PlayerFailed | GivenUp::CoachFailed => true,
            };
            let is_pull = matches!(effect, Effect::Task { work: TaskWork::OpenPull, .. });
            assert_eq!(is_missed, effect.waits_when_held() || is_pull, "{}", spec.kind);
            assert!(spec.lane != Lane::Agent || effect.waits_when_held(), "{} could not be stopped", spec.kind);
            let is_named = !matches!(WorkStep::of_kind(spec.kind), WorkStep::Other(_));
            assert!(!is_missed || is_named, "{} has no name for people", spec.kind);
            assert!(!is_missed || effect.emission(&KEY) == Some(RUN), "{} is waited for by its emission", spec.kind);
        }
    }

    #[test]
    fn what_a_task_asks_for_is_about_the_task() {
        for effect in of_task() {
            let (Precedence::InOrder(subject) | Precedence::Free(subject)) = effect.spec().order;
            assert_eq!(subject, Subject::Task(TaskId::Planned(1)), "{}", effect.kind());
        }
    }
}
