//! The effects that this process performs, each in a tokio task of its own. A panic ends only its task: the slot
//! becomes free, and [`InFlight::next`] reports the crash.

use crate::store::{Claimed, Hold, Lane};
use std::{any::Any, collections::HashMap};
use tokio::{
    task::{Id, JoinError, JoinSet},
    time::{Instant, timeout_at},
};

/// The running tasks and the effect that each holds.
#[derive(Default)]
pub(super) struct InFlight {
    tasks: JoinSet<()>,
    held: HashMap<Id, HeldEffect>,
}

struct HeldEffect {
    lane: Lane,
    hold: Hold,
    crashes: u32,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum EffectEnd {
    /// It stored the end of its effect, or logged why it could not.
    Itself,
    Crashed(Crash),
}

/// An effect whose task panicked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Crash {
    /// The proof that this worker may give the effect back.
    pub(super) hold: Hold,
    pub(super) earlier: u32,
    /// The panic's message, only for the log.
    pub(super) message: String,
}

impl InFlight {
    /// Starts the task that performs the claimed effect.
    pub(super) fn begin(&mut self, claimed: &Claimed, task: impl Future<Output = ()> + Send + 'static) {
        let (lane, crashes) = (claimed.effect.lane, claimed.effect.crashes);
        self.spawn(HeldEffect { lane, hold: claimed.hold.clone(), crashes }, task);
    }

    fn spawn(&mut self, held: HeldEffect, task: impl Future<Output = ()> + Send + 'static) {
        let id = self.tasks.spawn(task).id();
        self.held.insert(id, held);
    }

    /// Returns how many slots of the lane are taken.
    pub(super) fn busy(&self, lane: Lane) -> usize {
        self.held.values().filter(|held| held.lane == lane).count()
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        self.held.values().map(|held| held.hold.effect.as_str())
    }

    /// Waits for the next task to end, at most until `over`. Returns `None` if none runs or none ended.
    pub(super) async fn next_until(&mut self, over: Instant) -> Option<EffectEnd> {
        timeout_at(over, self.next()).await.ok().flatten()
    }

    /// Waits for the next task to end. Returns `None` if none runs.
    pub(super) async fn next(&mut self) -> Option<EffectEnd> {
        let ended = self.tasks.join_next_with_id().await?;
        let id = match &ended {
            Ok((id, ())) => *id,
            Err(error) => error.id(),
        };
        let held = self.held.remove(&id);
        Some(match (ended, held) {
            (Err(error), Some(held)) => {
                EffectEnd::Crashed(Crash { hold: held.hold, earlier: held.crashes, message: message(error) })
            }
            (Ok(_), _) | (Err(_), None) => EffectEnd::Itself,
        })
    }
}

fn message(error: JoinError) -> String {
    match error.try_into_panic() {
        Ok(panic) => panic_message(panic.as_ref()),
        Err(error) => error.to_string(),
    }
}

/// Returns the message of a panic. It is a `&str` or a `String`, unless the code panicked with a value of another type.
fn panic_message(panic: &(dyn Any + Send)) -> String {
    let literal = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    literal.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Crash, EffectEnd, HeldEffect, InFlight};
    use crate::store::{Hold, Lane};
    use std::time::Duration;
    use tokio::time::Instant;

    fn hold(effect: &str) -> Hold {
        Hold { effect: effect.to_owned(), worker: "w".to_owned(), fence: 1 }
    }

    fn held_effect(effect: &str, lane: Lane) -> HeldEffect {
        HeldEffect { lane, hold: hold(effect), crashes: 2 }
    }

    fn busy(tasks: &InFlight) -> [usize; 3] {
        Lane::ALL.map(|lane| tasks.busy(lane))
    }

    #[tokio::test]
    async fn a_panic_frees_its_own_slot_and_is_told_with_its_hold() {
        let mut tasks = InFlight::default();
        tasks.spawn(held_effect("goes on", Lane::Agent), std::future::pending());
        tasks.spawn(held_effect("ends", Lane::Forge), async {});
        assert_eq!(busy(&tasks), [0, 1, 1]);
        assert_eq!(tasks.next().await, Some(EffectEnd::Itself));
        assert_eq!(busy(&tasks), [0, 0, 1]);

        tasks.spawn(held_effect("panics", Lane::Agent), async {
            "no number".parse().map(|_: u8| ()).unwrap();
        });
        assert_eq!(busy(&tasks), [0, 0, 2]);
        let crash = Crash {
            hold: hold("panics"),
            earlier: 2,
            message: "called `Result::unwrap()` on an `Err` value: ParseIntError { kind: InvalidDigit }".to_owned(),
        };
        assert_eq!(tasks.next().await, Some(EffectEnd::Crashed(crash)));
        assert_eq!(busy(&tasks), [0, 0, 1]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_does_not_end_is_waited_for_no_longer_than_allowed() {
        let mut tasks = InFlight::default();
        tasks.spawn(held_effect("ends", Lane::Forge), async {});
        tasks.spawn(held_effect("goes on", Lane::Forge), std::future::pending());
        let over = Instant::now() + Duration::from_secs(20);
        assert_eq!(tasks.next_until(over).await, Some(EffectEnd::Itself));
        assert_eq!(tasks.next_until(over).await, None);
        assert_eq!(tasks.ids().collect::<Vec<_>>(), ["goes on"]);
    }

    #[tokio::test]
    async fn words_of_every_kind_are_heard() {
        let mut tasks = InFlight::default();
        let all: [(Box<dyn std::any::Any + Send>, &str); 3] =
            [(Box::new("a literal"), "a literal"), (Box::new("made".to_owned()), "made"), (Box::new(7), "no message")];
        for (panic, heard) in all {
            tasks.spawn(held_effect("e", Lane::Forge), async move { std::panic::resume_unwind(panic) });
            let Some(EffectEnd::Crashed(crash)) = tasks.next().await else { panic!("it crashed") };
            assert_eq!(crash.message, heard);
        }
        assert_eq!(tasks.next().await, None);
    }
}
