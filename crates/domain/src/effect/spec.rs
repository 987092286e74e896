//! The table of effects: how each is stored, when it may run, and what follows when it is given up.

use crate::{
    effect::{
        effect::{Effect, TaskWork},
        say::Saying,
    },
    ids::TaskId,
    words,
};

/// Everything that tells an effect from others, but what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// Its word in ids, logs and the store. It never changes.
    pub kind: &'static str,
    /// The slots that it is worked off in.
    pub lane: Lane,
    /// Which effects run before it.
    pub order: Order,
    /// Which of those that may run goes first.
    pub priority: Priority,
    /// What it waits for besides its order.
    pub waits_for: WaitsFor,
    /// How its failures are treated.
    pub failures: Failures,
    /// What follows when it is given up.
    pub given_up: GivenUp,
}

/// Which effects run before one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// All older ones that keep the order of the same subject.
    Kept(Subject),
    /// Only older ones of its own kind and subject: people read it, or it waits long.
    Free(Subject),
}

/// What an effect is about: the unit of order, and of exclusion between agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The Feature's reactions: 👀 comes before 🚀, and neither waits for anything else.
    Reactions,
    /// The Feature.
    Feature,
    /// One of its tasks.
    Task(TaskId),
}

/// Which of the effects that may run goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// People wait for an answer.
    Answer,
    /// Everything else.
    Usual,
    /// Nobody waits for it.
    Last,
}

/// What an effect waits for besides its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsFor {
    /// Nothing.
    Nothing,
    /// That the work may go on: it waits while the Feature is paused or its installation suspended, and it is stopped with
    /// the work.
    Work,
    /// The least time between two edits of the living comment. The newest edit shows what older ones would.
    Spacing,
}

/// What follows when an effect is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenUp {
    /// Nothing: nobody waits for it.
    Nothing,
    /// The task or Feature that waits for it cannot go on.
    Stuck,
    /// The Player failed; what it had done is kept.
    PlayerFailed,
    /// The Coach failed.
    CoachFailed,
    /// This stands nowhere.
    Unsaid(Saying),
}

impl Priority {
    /// Lower goes first.
    pub fn number(self) -> i64 {
        match self {
            Self::Answer => 0,
            Self::Usual => 5,
            Self::Last => 9,
        }
    }
}

impl Effect {
    /// What tells it from others.
    #[rustfmt::skip]
    pub fn spec(&self) -> Spec {
        use GivenUp::{CoachFailed, Nothing, PlayerFailed, Stuck, Unsaid};
        use Lane::{Agent, Forge};
        use Order::{Free, Kept};
        use Priority::{Answer, Last, Usual};
        use Subject::{Feature, Reactions, Task as Of};
        use WaitsFor::{Nothing as Now, Spacing, Work};
        match self {
            //                                    kind                    lane   order            priority waits    given up
            Self::React { .. } =>              row("react",                Forge, Kept(Reactions), Answer, Now,     Nothing),
            Self::Reply { .. } =>              row("reply",                Forge, Free(Feature),   Answer, Now,     Nothing),
            Self::Living { .. } =>             row("living",               Forge, Free(Feature),   Last,   Spacing, Unsaid(Saying::Living)),
            Self::Plan { .. } =>               row("plan",                 Agent, Kept(Feature),   Usual,  Work,    Stuck),
            Self::PreFlight { .. } =>          row("pre_flight",           Agent, Kept(Feature),   Usual,  Work,    Stuck),
            Self::CompareDefault { .. } =>     row("compare_default",      Forge, Kept(Feature),   Usual,  Now,     Nothing),
            Self::OpenIntegration { .. } =>    row("open_integration",     Forge, Kept(Feature),   Usual,  Work,    Stuck),
            Self::MergeDefault { .. } =>       row("merge_default",        Forge, Kept(Feature),   Usual,  Work,    Stuck),
            Self::WaveGate { .. } =>           row("wave_gate",            Agent, Kept(Feature),   Usual,  Work,    Stuck),
            Self::OpenFeaturePull { .. } =>    row("open_feature_pull",    Forge, Kept(Feature),   Usual,  Work,    Stuck),
            Self::PublishWaveCheck { .. } =>   row("publish_wave_check",   Forge, Kept(Feature),   Usual,  Now,     Unsaid(Saying::Check)),
            Self::PostFeatureBlocked { .. } => row("post_feature_blocked", Forge, Kept(Feature),   Usual,  Now,     Unsaid(Saying::Report)),
            Self::AskPerson { .. } =>          row("ask_person",           Forge, Free(Feature),   Usual,  Now,     Unsaid(Saying::Call)),
            Self::CloseFeaturePull { pull, .. } => row("close_feature_pull", Forge, Kept(Feature), Usual,  Now,     Unsaid(Saying::Close { pull: *pull })),
            Self::CleanUp { .. } =>            row("clean_up",             Forge, Kept(Feature),   Usual,  Now,     Nothing),
            Self::Task { task, work, .. } => match work {
                TaskWork::Design =>                row("design",              Agent, Kept(Of(*task)), Usual, Work, Stuck),
                TaskWork::Play =>                  row("play",                Agent, Kept(Of(*task)), Usual, Work, PlayerFailed),
                TaskWork::OpenPull =>              row("open_pull",           Forge, Kept(Of(*task)), Usual, Now,  Stuck),
                TaskWork::Gates =>                 row("gates",               Agent, Kept(Of(*task)), Usual, Work, Stuck),
                // It is looked at again and again for half an hour, and what people read must not wait for that.
                TaskWork::Ci =>                    row("ci",                  Forge, Free(Of(*task)), Usual, Work, Stuck),
                TaskWork::Coach =>                 row("coach",               Agent, Kept(Of(*task)), Usual, Work, CoachFailed),
                TaskWork::PostReview { .. } =>     row("post_review",         Forge, Kept(Of(*task)), Usual, Now,  Unsaid(Saying::Review)),
                TaskWork::PostBlockedReview { .. } => row("post_blocked_review", Forge, Kept(Of(*task)), Usual, Now, Unsaid(Saying::Review)),
                TaskWork::PublishCheck { .. } =>   row("publish_check",       Forge, Kept(Of(*task)), Usual, Now,  Unsaid(Saying::Check)),
                TaskWork::PublishBlocked { .. } => row("publish_blocked",     Forge, Kept(Of(*task)), Usual, Now,  Unsaid(Saying::Check)),
                TaskWork::PostBlocked =>           row("post_blocked",        Forge, Kept(Of(*task)), Usual, Now,  Unsaid(Saying::Report)),
                TaskWork::MarkReady =>             row("mark_ready",          Forge, Kept(Of(*task)), Usual, Now,  Unsaid(Saying::Ready)),
                TaskWork::Merge =>                 row("merge",               Forge, Kept(Of(*task)), Usual, Work, Stuck),
                TaskWork::DismissReview { .. } =>  row("dismiss_review",      Forge, Kept(Of(*task)), Usual, Now,  Unsaid(Saying::Dismissal)),
                TaskWork::ClosePull { pull, .. } => row("close_pull",         Forge, Kept(Of(*task)), Usual, Now,  Unsaid(Saying::Close { pull: *pull })),
            },
        }
    }
}

fn row(
    kind: &'static str,
    lane: Lane,
    order: Order,
    priority: Priority,
    waits_for: WaitsFor,
    given_up: GivenUp,
) -> Spec {
    Spec {
        kind,
        lane,
        order,
        priority,
        waits_for,
        failures: lane.failures(),
        given_up,
    }
}

/// How often the service may end while it does an effect: then that is no accident, and the effect is given up.
pub const CRASHES: u32 = 3;

/// Runs of an agent or Gate before its failure counts. What GitHub or the network fails at is no run: it is waited out.
const AGENT_TRIES: u32 = 3;

/// Tries of a call to the forge: with the usual waits about two hours.
const FORGE_TRIES: u32 = 14;

/// Which slots an effect is worked off in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// Taking in deliveries and commands: never waits for the other lanes.
    Control,
    /// What is written on GitHub: in order per subject.
    Forge,
    /// Agents and Gates: one at a time per subject.
    Agent,
}

/// How failures of an effect are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failures {
    /// How often it is tried before it is given up.
    pub tries: u32,
    /// What is done about failures that pass by themselves, such as an outage of GitHub.
    pub outages: Outages,
    /// How often the service may end while it does it; no limit where nobody would hear that it is given up.
    pub crashes: Option<u32>,
}

/// What is done about failures that pass by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outages {
    /// They are waited out, and count as no try.
    WaitedOut,
    /// They count as tries.
    Counted,
}

words!(Lane {
    Control = "control",
    Forge = "forge",
    Agent = "agent",
});

impl Lane {
    /// How failures are treated there.
    pub fn failures(self) -> Failures {
        match self {
            // A delivery is never given up for crashes: nobody would hear of it, and reading it again costs nothing.
            Self::Control => Failures {
                tries: FORGE_TRIES,
                outages: Outages::Counted,
                crashes: None,
            },
            Self::Forge => Failures {
                tries: FORGE_TRIES,
                outages: Outages::Counted,
                crashes: Some(CRASHES),
            },
            Self::Agent => Failures {
                tries: AGENT_TRIES,
                outages: Outages::WaitedOut,
                crashes: Some(CRASHES),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        blocked::Doing,
        effect::{ClosedWhy, DismissedWhy, Outages, ReactOn, Reaction, Reply, ReplyTo, Thread},
        feature::Wait,
        ids::{CommentId, Emission, FeatureKey, IssueNumber, PullNumber, RepoId, Sha, TurnNumber, User, UserId},
    };
    use std::collections::BTreeSet;

    const RUN: Emission = Emission(7);
    const PULL: PullNumber = PullNumber(9);
    const KEY: FeatureKey = FeatureKey {
        repo: RepoId(1),
        issue: IssueNumber(2),
        run: 1,
    };

    fn of_feature() -> Vec<Effect> {
        let emission = RUN;
        vec![
            Effect::React {
                on: ReactOn::Issue(IssueNumber(1)),
                reaction: Reaction::Eyes,
            },
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
            Effect::OpenFeaturePull { emission },
            Effect::PublishWaveCheck { emission, on: None },
            Effect::PostFeatureBlocked { emission },
            Effect::AskPerson {
                emission,
                wait: Wait::NoPlan,
            },
            Effect::CloseFeaturePull { emission, pull: PULL },
            Effect::CleanUp { emission },
        ]
    }

    fn of_task() -> Vec<Effect> {
        let turn = TurnNumber(1);
        let by = User {
            id: UserId(1),
            login: "ada".to_owned(),
        };
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
            TaskWork::DismissReview {
                by,
                why: DismissedWhy::Cancelled,
            },
            TaskWork::ClosePull {
                pull: PULL,
                why: ClosedWhy::Cancelled,
            },
        ];
        let task = TaskId::Planned(1);
        works
            .map(|work| Effect::Task {
                task,
                emission: RUN,
                work,
            })
            .to_vec()
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
                GivenUp::Nothing | GivenUp::Unsaid(_) => false,
                GivenUp::Stuck | GivenUp::PlayerFailed | GivenUp::CoachFailed => true,
            };
            let is_pull = matches!(
                effect,
                Effect::Task {
                    work: TaskWork::OpenPull,
                    ..
                }
            );
            assert_eq!(is_missed, effect.waits_when_held() || is_pull, "{}", spec.kind);
            assert!(
                spec.lane != Lane::Agent || effect.waits_when_held(),
                "{} could not be stopped",
                spec.kind
            );
            let is_named = !matches!(Doing::of_kind(spec.kind), Doing::Other(_));
            assert!(!is_missed || is_named, "{} has no name for people", spec.kind);
            assert!(
                !is_missed || effect.emission(&KEY) == Some(RUN),
                "{} is waited for by its emission",
                spec.kind
            );
        }
    }

    #[test]
    fn what_a_task_asks_for_is_about_the_task() {
        for effect in of_task() {
            let (Order::Kept(subject) | Order::Free(subject)) = effect.spec().order;
            assert_eq!(subject, Subject::Task(TaskId::Planned(1)), "{}", effect.kind());
        }
    }

    #[test]
    fn an_agent_is_tried_less_often_than_a_call_and_waits_out_outages() {
        let emission = Effect::Plan { emission: RUN }.spec().failures;
        let call = Effect::MergeDefault { emission: RUN }.spec().failures;
        assert!(emission.tries < call.tries);
        assert_eq!((emission.outages, call.outages), (Outages::WaitedOut, Outages::Counted));
        assert_eq!(Lane::Control.failures().crashes, None);
    }
}
