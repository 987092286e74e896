//! Reads GitHub's log of the App's deliveries, and applies lost ones. GitHub sends each delivery once; it repeats none
//! by itself, and its log ends after 3 days.

use crate::{
    engine::{
        Engine,
        deliveries::{DeliveryFailure, DeliveryOutcome, DeliveryRequest},
        turns::once,
    },
    github::{GithubError, HookDelivery},
    store::{AcceptOutcome, DeliverySource, StoreError},
};
use domain::ids::Millis;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

/// How far a walk goes back beyond the newest entry of the last one, in milliseconds: entries may appear late.
const OVERLAP_MS: i64 = 10 * 60_000;

/// How far a walk goes back at most, in milliseconds. GitHub Enterprise Server keeps more.
const LONGEST_MS: i64 = 3 * 24 * 3_600_000;

/// How many deliveries that GitHub cannot return are remembered. At the next one, GitHub itself fails: the walk ends, and
/// the next walk goes on there.
const MOST_UNRETURNED: usize = 100;

/// The pause between two walks while no delivery arrives by itself.
const WITHOUT_DELIVERIES: Duration = Duration::from_secs(20);

/// The last walk through the log, and all that the walks fetched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayStatus {
    /// GitHub's time of the newest entry that was seen; after a walk that met GitHub's limit, of the oldest one that it
    /// left to the next walk.
    pub newest: Option<Millis>,
    /// The time at which the walk ended; `None` before the first.
    pub ended_at: Option<Millis>,
    /// The number of deliveries that were fetched, since the database exists.
    pub fetched: u64,
    /// `true` if GitHub's newest attempt reached the service.
    pub newest_arrived: bool,
    /// The newest restore of the database for which a walk began as far back as possible.
    #[serde(default)]
    pub begun_restore: Option<Millis>,
    /// The newest restore whose missing deliveries walks have asked for.
    #[serde(default)]
    pub restore: Option<Millis>,
    /// The deliveries that GitHub could not return. Each walk asks for them again, until GitHub returns or forgets them, or
    /// until they are older than its log. If walks went back to such a delivery instead, they would read up to 3 days
    /// each time. After a restore, they would also fetch again all that was dropped on purpose, meet GitHub's limit
    /// at the same place each time, and never read the rest.
    #[serde(default)]
    pub unreturned: Vec<LoggedDelivery>,
}

/// A delivery of GitHub's log that the database may lack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedDelivery {
    pub id: u64,
    pub guid: String,
    pub event: String,
    /// GitHub's time of it.
    pub at: Millis,
}

/// The outcome of a walk for the deliveries that it wanted.
#[derive(Default)]
struct Fetched {
    new: u64,
    unreturned: Vec<LoggedDelivery>,
    /// Those that GitHub was not asked for.
    rest: Vec<LoggedDelivery>,
    failure: Option<ReplayFailure>,
}

impl ReplayStatus {
    /// Returns the time back to which the log is read whose newest entry is `newest`. After a restore, that is as far as
    /// possible, also if another replica has ended a walk since that began before.
    fn since(&self, restored: Option<Millis>, newest: Millis) -> Millis {
        since(self.newest.filter(|_| self.begun_restore == restored), newest)
    }

    /// Returns the deliveries to ask for again: those that are not older than GitHub's log, whose newest entry is `newest`,
    /// and of which the log shows no newer attempt.
    fn still_logged(&self, missed: &[LoggedDelivery], newest: Option<Millis>) -> Vec<LoggedDelivery> {
        let is_logged = |one: &LoggedDelivery| newest.is_none_or(|newest| one.at >= since(None, newest));
        let is_missed = |one: &LoggedDelivery| missed.iter().any(|other| other.guid == one.guid);
        self.unreturned.iter().filter(|one| is_logged(one) && !is_missed(one)).cloned().collect()
    }

    /// Returns the pause before the next walk. Where deliveries do not arrive, such as behind NAT, the log is the only way.
    fn pause(&self, usual: Duration) -> Duration {
        match self.ended_at {
            Some(_) if !self.newest_arrived => usual.min(WITHOUT_DELIVERIES),
            Some(_) | None => usual,
        }
    }
}

/// Why a walk ended early. The next one begins where this one did.
#[derive(Debug, thiserror::Error)]
pub enum ReplayFailure {
    #[error(transparent)]
    Github(#[from] GithubError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Engine {
    /// Replays the log at once, and then regularly until `stop`. Each time, only one of the replicas does it.
    pub(super) async fn always_replay(self: Arc<Self>, stop: CancellationToken) {
        let Some(usual) = self.settings.replay else { return };
        loop {
            once("replay", &stop, self.clone().replay_and_log()).await;
            let pause = self.replay_status().await.unwrap_or_default().pause(usual);
            if !self.next_turn("replay", pause, &stop).await {
                return;
            }
        }
    }

    async fn replay_and_log(self: Arc<Self>) {
        match self.replay().await {
            Ok(0) => {}
            Ok(fetched) => tracing::info!(fetched, "deliveries that never arrived, fetched from GitHub: {fetched}"),
            // An Enterprise Server before 3.17 has no such log.
            Err(ReplayFailure::Github(GithubError::NotFound)) => tracing::debug!("GitHub keeps no log of deliveries"),
            Err(error) => tracing::warn!(%error, "GitHub's log of deliveries could not be replayed"),
        }
    }

    /// Records that the database was restored from a backup: it does not know deliveries that were acknowledged since, so
    /// the next walk fetches these too. Not part of the status, which another replica's walk may just be about to store.
    pub async fn doubt_deliveries(&self) -> Result<(), StoreError> {
        self.store.set_meta(&self.restore_key(), &self.now().0.to_string()).await
    }

    /// Returns `true` if the database was restored after `time`. GitHub may know more of an older Feature than the database.
    pub(super) async fn was_restored_since(&self, time: Millis) -> Result<bool, StoreError> {
        Ok(self.last_restore().await?.is_some_and(|restored| restored >= time))
    }

    /// Returns `true` if a restored database may handle deliveries again that it handled before, since GitHub's log still
    /// has them.
    pub(super) async fn may_repeat_deliveries(&self) -> Result<bool, StoreError> {
        self.was_restored_since(self.now().plus(-LONGEST_MS)).await
    }

    /// Returns when the database was restored last; `None` if nobody said that it was.
    async fn last_restore(&self) -> Result<Option<Millis>, StoreError> {
        let text = self.store.meta(&self.restore_key()).await?;
        Ok(text.and_then(|text| text.parse().ok()).map(Millis))
    }

    /// Fetches and stores the deliveries that never arrived, the oldest first, and returns how many they were. A
    /// delivery that arrived twice counts once.
    pub async fn replay(&self) -> Result<u64, ReplayFailure> {
        let last = self.replay_status().await?;
        let restored = self.last_restore().await?;
        let log = self.autobuild.delivery_log(|newest| last.since(restored, newest)).await?;
        let newest = log.iter().filter_map(|entry| entry.delivered_at).max();
        let missed = missed(&log, restored != last.restore);
        let again = self.fetch_missed(last.still_logged(&missed, newest), usize::MAX).await;
        let unreturned = [again.unreturned, again.rest].concat();
        let walk = self.fetch_missed(missed, MOST_UNRETURNED.saturating_sub(unreturned.len())).await;
        let reached = oldest(&walk.rest);
        let fetched = again.new.saturating_add(walk.new);
        let status = ReplayStatus {
            newest_arrived: log.iter().max_by_key(|entry| entry.id).map_or(last.newest_arrived, is_acknowledged),
            newest: reached.or(newest).or(last.newest),
            ended_at: Some(self.now()),
            fetched: last.fetched.saturating_add(fetched),
            begun_restore: restored,
            restore: if walk.rest.is_empty() { restored } else { last.restore },
            unreturned: [unreturned, walk.unreturned].concat(),
        };
        let text = serde_json::to_string(&status).unwrap_or_default();
        self.store.set_meta(&self.replay_key(), &text).await?;
        walk.failure.or(again.failure).map_or(Ok(fetched), Err)
    }

    /// Fetches and stores deliveries in order. One that GitHub cannot return keeps back none after it, unless there are
    /// more than `most` of them.
    async fn fetch_missed(&self, wanted: Vec<LoggedDelivery>, most: usize) -> Fetched {
        let mut fetched = Fetched::default();
        for one in wanted {
            if !fetched.rest.is_empty() {
                fetched.rest.push(one);
                continue;
            }
            match self.store_missed(&one).await {
                Ok(true) => fetched.new = fetched.new.saturating_add(1),
                Ok(false) => {}
                Err(error) => {
                    let is_limit = matches!(error, ReplayFailure::Github(GithubError::RateLimited { .. }));
                    let is_end = is_limit || fetched.unreturned.len() >= most;
                    if is_end { &mut fetched.rest } else { &mut fetched.unreturned }.push(one);
                    fetched.failure = Some(error);
                }
            }
        }
        fetched
    }

    /// Returns the last walk; a status that cannot be read counts as none, which costs a longer walk.
    pub async fn replay_status(&self) -> Result<ReplayStatus, StoreError> {
        let text = self.store.meta(&self.replay_key()).await?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
    }

    fn replay_key(&self) -> String {
        format!("replay/{}", self.autobuild.id)
    }

    fn restore_key(&self) -> String {
        format!("restore/{}", self.autobuild.id)
    }

    /// Stores one delivery of the log; `false` if it was stored before or is not needed.
    async fn store_missed(&self, entry: &LoggedDelivery) -> Result<bool, ReplayFailure> {
        // It was stored, and the acknowledgement was lost.
        if self.store.delivery(self.autobuild.id, &entry.guid).await?.is_some() {
            return Ok(false);
        }
        let body = match self.autobuild.delivery_body(entry.id).await {
            Ok(body) => body,
            // GitHub forgot it while we read the log.
            Err(GithubError::NotFound) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        let request = DeliveryRequest {
            id: entry.guid.clone(),
            event: entry.event.clone(),
            body,
            share: None,
            source: DeliverySource::Replay,
        };
        match self.accept(request).await {
            Ok(DeliveryOutcome::Stored(AcceptOutcome::New)) => Ok(true),
            Ok(DeliveryOutcome::Stored(AcceptOutcome::Known | AcceptOutcome::Again) | DeliveryOutcome::NotNeeded) => {
                Ok(false)
            }
            Err(DeliveryFailure::Payload(error)) => {
                tracing::warn!(%error, delivery = %entry.guid, "delivery {} is not readable", entry.guid);
                Ok(false)
            }
            Err(DeliveryFailure::Store(error)) => Err(error.into()),
        }
    }
}

/// Returns the time back to which the log is read, after a walk whose newest entry was `last`.
fn since(last: Option<Millis>, newest: Millis) -> Millis {
    let longest = newest.plus(-LONGEST_MS);
    last.map_or(longest, |last| last.plus(-OVERLAP_MS).max(longest))
}

/// Returns the time back to which the next walk must go because of deliveries that this one left. The first of them need
/// not be the oldest: an event counts from its first attempt, and is fetched by its newest.
fn oldest(left: &[LoggedDelivery]) -> Option<Millis> {
    left.iter().map(|one| one.at).min()
}

/// Returns the newest entry of each event of which no attempt was acknowledged, the oldest event first. A 2xx is believed:
/// the delivery was stored, or dropped on purpose. A restored database may lack it all the same.
fn missed(log: &[HookDelivery], is_restored: bool) -> Vec<LoggedDelivery> {
    let begin = log.iter().filter_map(|entry| entry.delivered_at).min();
    let mut events: BTreeMap<&str, Vec<&HookDelivery>> = BTreeMap::new();
    for entry in log {
        events.entry(&entry.guid).or_default().push(entry);
    }
    let is_open = |attempts: &Vec<&HookDelivery>| is_restored || !attempts.iter().any(|entry| is_acknowledged(entry));
    let open = events.into_values().filter(is_open);
    let mut open: Vec<(u64, &HookDelivery)> = open
        .filter_map(|attempts| {
            let first = attempts.iter().map(|entry| entry.id).min()?;
            let newest = attempts.into_iter().max_by_key(|entry| entry.id)?;
            Some((first, newest))
        })
        .collect();
    open.sort_by_key(|(first, _)| *first);
    let logged = |entry: &HookDelivery| LoggedDelivery {
        id: entry.id,
        guid: entry.guid.clone(),
        event: entry.event.clone(),
        at: entry.delivered_at.or(begin).unwrap_or(Millis(0)),
    };
    open.into_iter().map(|(_, entry)| logged(entry)).collect()
}

fn is_acknowledged(entry: &HookDelivery) -> bool {
    (200..300).contains(&entry.status_code)
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_MS, LoggedDelivery, OVERLAP_MS, ReplayStatus, missed, oldest, since};
    use crate::github::HookDelivery;
    use domain::ids::Millis;
    use std::time::Duration;

    fn entry(id: u64, guid: &str, status_code: u16) -> HookDelivery {
        HookDelivery {
            id,
            guid: guid.to_owned(),
            event: "issues".to_owned(),
            delivered_at: None,
            status: String::new(),
            status_code,
        }
    }

    #[test]
    fn an_event_is_missed_if_no_attempt_was_acknowledged() {
        let log = [
            entry(9, "d", 503),
            entry(8, "c", 0),
            entry(7, "b", 202),
            entry(6, "b", 0),
            entry(5, "c", 500),
            entry(4, "a", 200),
            entry(3, "a", 404),
        ];
        let ids = |is_restored| -> Vec<u64> { missed(&log, is_restored).iter().map(|entry| entry.id).collect() };
        assert_eq!(ids(false), [8, 9], "the newest attempt of each, the older event first");
        assert_eq!(ids(true), [4, 8, 7, 9], "a restored database may lack those that it acknowledged");
    }

    #[test]
    fn a_restore_lets_a_walk_go_back_three_days_whatever_others_read() {
        let newest = Millis(10 * LONGEST_MS);
        let (usual, longest) = (newest.plus(-OVERLAP_MS), newest.plus(-LONGEST_MS));
        let table =
            [(None, None, usual), (None, Some(5), longest), (Some(5), Some(5), usual), (Some(5), Some(9), longest)];
        for (begun, restored, expected) in table {
            let begun_restore = begun.map(Millis);
            let status = ReplayStatus { newest: Some(newest), begun_restore, ..ReplayStatus::default() };
            assert_eq!(status.since(restored.map(Millis), newest), expected, "{begun:?} {restored:?}");
        }
    }

    #[test]
    fn a_walk_that_left_deliveries_is_followed_by_one_from_the_oldest_of_them() {
        // The event `a` was sent first, and once more after `b`.
        let mut log = [entry(3, "a", 0), entry(2, "b", 0), entry(1, "a", 0)];
        for (entry, at) in log.iter_mut().zip([30, 20, 10]) {
            entry.delivered_at = Some(Millis(at));
        }
        let left = missed(&log, false);
        assert_eq!(left.iter().map(|one| one.id).collect::<Vec<_>>(), [3, 2]);
        assert_eq!((oldest(&left), oldest(&[])), (Some(Millis(20)), None));
    }

    #[test]
    fn a_delivery_that_github_cannot_return_is_asked_for_as_long_as_it_is_in_the_log() {
        let newest = Millis(10 * LONGEST_MS);
        let logged = |guid: &str, age: i64| {
            let (guid, event) = (guid.to_owned(), "issues".to_owned());
            LoggedDelivery { id: 1, guid, event, at: newest.plus(-age) }
        };
        let (young, old, again) = (logged("young", LONGEST_MS), logged("old", LONGEST_MS + 1), logged("again", 0));
        let unreturned = vec![young.clone(), old.clone(), again.clone()];
        let status = ReplayStatus { unreturned, ..ReplayStatus::default() };
        let missed = [logged("again", 0)];
        assert_eq!(status.still_logged(&missed, Some(newest)), std::slice::from_ref(&young));
        assert_eq!(status.still_logged(&missed, None), [young, old]);
    }

    #[test]
    fn the_log_is_read_more_often_while_no_delivery_arrives() {
        let seconds = Duration::from_secs;
        let table = [
            (None, false, 180, 180),
            (Some(Millis(1)), true, 180, 180),
            (Some(Millis(1)), false, 180, 20),
            (Some(Millis(1)), false, 5, 5),
        ];
        for (ended_at, newest_arrived, usual, expected) in table {
            let status = ReplayStatus { ended_at, newest_arrived, ..ReplayStatus::default() };
            assert_eq!(status.pause(seconds(usual)), seconds(expected), "{status:?}");
        }
    }

    #[test]
    fn a_walk_goes_back_to_the_last_one_and_a_little_further() {
        let newest = Millis(10 * LONGEST_MS);
        let table = [
            (None, newest.plus(-LONGEST_MS)),
            (Some(newest), newest.plus(-OVERLAP_MS)),
            (Some(Millis(0)), newest.plus(-LONGEST_MS)),
        ];
        for (last, expected) in table {
            assert_eq!(since(last, newest), expected, "{last:?}");
        }
    }
}
