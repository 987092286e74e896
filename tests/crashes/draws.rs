//! Draws the faults of a story from a seed: the same seed draws the same rounds.

use std::{collections::BTreeMap, fmt, time::Duration};

/// A fault of the services, of GitHub or of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The process is killed, and starts again with its data folder.
    Kill,
    /// The machine is lost with all its processes. Another one starts with an empty data folder.
    MachineLost,
    /// The machine is suspended.
    Freeze,
    /// The process is asked to stop, and starts again.
    Drain,
    /// No file on the machine's disk grows.
    DiskFull,
    /// The machine works and reaches GitHub, but not the database.
    Partition,
    /// Every connection to the database is cut, and no new one is accepted.
    DatabaseAway,
    /// Nothing passes between the services and the database, without any error.
    DatabaseStalls,
    /// Everything between the services and the database is delayed.
    DatabaseSlow,
    /// The database crashes and recovers.
    DatabaseCrash,
    /// GitHub answers everything with 502.
    GithubAway,
    /// GitHub neither acts nor answers; later it catches up on both.
    GithubStalls,
    /// GitHub obeys, and its answer is lost.
    ReplyLost,
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Kill,
        Self::MachineLost,
        Self::Freeze,
        Self::Drain,
        Self::DiskFull,
        Self::Partition,
        Self::DatabaseAway,
        Self::DatabaseStalls,
        Self::DatabaseSlow,
        Self::DatabaseCrash,
        Self::GithubAway,
        Self::GithubStalls,
        Self::ReplyLost,
    ];

    /// `true` if it affects only one machine and the effects that it holds.
    pub fn is_of_machine(self) -> bool {
        match self {
            Self::Kill | Self::MachineLost | Self::Freeze | Self::Drain | Self::DiskFull | Self::Partition => true,
            Self::DatabaseAway
            | Self::DatabaseStalls
            | Self::DatabaseSlow
            | Self::DatabaseCrash
            | Self::GithubAway
            | Self::GithubStalls
            | Self::ReplyLost => false,
        }
    }

    /// `true` if it counts as a crash of each effect that the machine holds.
    pub fn crashes(self) -> bool {
        matches!(self, Self::Kill | Self::MachineLost | Self::Freeze | Self::Partition)
    }

    fn word(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::MachineLost => "machine lost",
            Self::Freeze => "freeze",
            Self::Drain => "drain",
            Self::DiskFull => "disk full",
            Self::Partition => "partition",
            Self::DatabaseAway => "database away",
            Self::DatabaseStalls => "database stalls",
            Self::DatabaseSlow => "database slow",
            Self::DatabaseCrash => "database crash",
            Self::GithubAway => "GitHub away",
            Self::GithubStalls => "GitHub stalls",
            Self::ReplyLost => "reply lost",
        }
    }

    /// The shortest and the longest duration, in milliseconds. Some are shorter than a lease and some longer.
    fn lasts(self) -> (u64, u64) {
        match self {
            // The machine should lose its leases.
            Self::Freeze | Self::Partition => (4_000, 12_000),
            Self::Drain | Self::ReplyLost | Self::DatabaseCrash => (0, 0),
            Self::DatabaseAway => (0, 8_000),
            // Longer than any wait for a connection.
            Self::DatabaseStalls => (200, 20_000),
            Self::Kill
            | Self::MachineLost
            | Self::DiskFull
            | Self::DatabaseSlow
            | Self::GithubAway
            | Self::GithubStalls => (200, 8_000),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// The kinds of effects that take a while in these stories: faults strike them at any time from their beginning to
/// their end.
const LONG: [&str; 7] = ["pre_flight", "plan", "design", "play", "gates", "coach", "wave_gate"];

/// One fault, and its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strike {
    pub fault: Fault,
    /// The kind of effect that it waits for. It strikes the holder of that effect.
    pub kind: String,
    /// The number of the claim of this kind since the move, from 1.
    pub nth: usize,
    /// The time since the claim.
    pub after: Duration,
    /// Its duration.
    pub lasts: Duration,
}

/// The versions that machines run in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Versions {
    /// Only this version.
    Present,
    /// First the release before, then both, then this version.
    Forward,
    /// First this version, then both, then the release before.
    Back,
}

/// One play of a story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// From 1.
    pub number: usize,
    /// The place of its story in the list.
    pub story: usize,
    pub machines: usize,
    pub versions: Versions,
    /// After each move.
    pub strikes: Vec<Vec<Strike>>,
}

/// Draws rounds so that in the end every fault has met every kind of effect.
pub struct Draws {
    random: Random,
    faults: Vec<Fault>,
    /// The number of effects of each kind, for each move of each story.
    stories: Vec<Vec<BTreeMap<String, usize>>>,
    rounds: usize,
    drawn: BTreeMap<(String, Fault), usize>,
}

impl Draws {
    /// Draws from these faults, for stories with these numbers of effects by move and kind.
    pub fn new(seed: u64, faults: Vec<Fault>, stories: Vec<Vec<BTreeMap<String, usize>>>) -> Self {
        Self { random: Random(seed), faults, stories, rounds: 0, drawn: BTreeMap::new() }
    }

    /// Draws the next round.
    pub fn round(&mut self) -> Round {
        self.rounds += 1;
        let story = self.rounds % self.stories.len();
        let moves = self.stories[story].clone();
        let strikes = moves.iter().map(|effects| self.strikes(effects)).collect();
        Round {
            number: self.rounds,
            story,
            machines: if self.random.below(3) == 0 { 4 } else { 2 },
            versions: match self.random.below(6) {
                0 => Versions::Forward,
                1 => Versions::Back,
                _ => Versions::Present,
            },
            strikes,
        }
    }

    /// Draws the faults after one move: the pairs of an effect and a fault that were drawn least often.
    fn strikes(&mut self, effects: &BTreeMap<String, usize>) -> Vec<Strike> {
        let count = 1 + self.random.below(4);
        (0..count).filter_map(|_| self.strike(effects)).collect()
    }

    fn strike(&mut self, effects: &BTreeMap<String, usize>) -> Option<Strike> {
        let pairs = effects.keys().flat_map(|kind| self.faults.iter().map(move |fault| (kind.clone(), *fault)));
        let times = |pair: &(String, Fault)| self.drawn.get(pair).copied().unwrap_or(0);
        let pairs: Vec<_> = pairs.collect();
        let least = pairs.iter().map(times).min()?;
        let pairs: Vec<_> = pairs.into_iter().filter(|pair| times(pair) == least).collect();
        let (kind, fault) = pairs[self.random.below(pairs.len())].clone();
        *self.drawn.entry((kind.clone(), fault)).or_default() += 1;
        let (shortest, longest) = fault.lasts();
        let latest = if LONG.contains(&kind.as_str()) { 1_500 } else { 6 };
        Some(Strike {
            fault,
            nth: 1 + self.random.below(effects[&kind]),
            kind,
            after: self.random.time(0, latest),
            lasts: self.random.time(shortest, longest),
        })
    }
}

/// Numbers that follow from a seed (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap();
        usize::try_from(self.next() % end).unwrap()
    }

    fn time(&mut self, shortest: u64, longest: u64) -> Duration {
        Duration::from_millis(shortest + self.next() % (longest - shortest + 1))
    }
}

#[test]
fn a_seed_draws_the_same_rounds_and_meets_every_pair_before_any_twice() {
    let effects = BTreeMap::from([("play".to_owned(), 2), ("push".to_owned(), 1)]);
    let draws = || Draws::new(7, Fault::ALL.to_vec(), vec![vec![effects.clone()]]);
    let (mut one, mut same) = (draws(), draws());
    let pairs = 2 * Fault::ALL.len();
    let mut drawn = Vec::new();
    while drawn.len() < pairs {
        let round = one.round();
        assert_eq!(round, same.round());
        drawn.extend(round.strikes.into_iter().flatten().map(|strike| (strike.kind, strike.fault)));
    }
    drawn.truncate(pairs);
    drawn.sort();
    drawn.dedup();
    assert_eq!(drawn.len(), pairs);
}
