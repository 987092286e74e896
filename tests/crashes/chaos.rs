//! Stories on two and four machines with separate data folders and with faults drawn from a seed, for any length of
//! time: `.ci/thorough chaos`. Every Feature ends as in a calm run, and no completed run is paid twice.

use crate::{
    disk::Disk,
    draws::{Draws, Fault, Round, Strike, Versions},
    fleet::{Claim, Fleet, Struck},
    met::Table,
    picture::Detail,
    play::{Calm, calm, difference_of_lines},
    release_before,
    story::Story,
    world::{Place, World},
};
use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::time::Instant;

/// The number of rounds that are played at once.
const AT_ONCE: usize = 2;
/// The longest time without progress of a Feature after the last fault.
const PATIENCE: Duration = Duration::from_secs(150);
/// The pause between two looks.
const LOOK: Duration = Duration::from_millis(50);

/// The settings of the services, with short times.
const SETTINGS: [(&str, &str); 5] = [
    ("AUTOBUILD_LEASE_SECONDS", "3"),
    ("AUTOBUILD_BACKOFF_SECONDS", "1"),
    ("AUTOBUILD_REPLAY_SECONDS", "2"),
    ("AUTOBUILD_SWEEP_SECONDS", "3"),
    ("AUTOBUILD_GRACE_SECONDS", "1"),
];

/// The arguments of the lane: `SEED MINUTES ROUND`.
struct Order {
    seed: u64,
    /// The time after which no more rounds begin.
    end: Option<Instant>,
    /// The only round that is played.
    round: Option<usize>,
}

impl Order {
    /// Reads the order; `None` if the lane was not requested.
    fn read() -> Option<Self> {
        let text = std::env::var("CHAOS").ok()?;
        let mut words = text.split_whitespace();
        let mut number = || words.next().map(|word| word.parse::<u64>().expect("a whole number"));
        let seed = number().unwrap_or_else(|| u64::from(std::process::id()));
        let minutes = number();
        Some(Self {
            seed,
            end: minutes.map(|minutes| Instant::now() + Duration::from_secs(60 * minutes)),
            round: number().and_then(|round| usize::try_from(round).ok()),
        })
    }
}

/// All rounds.
struct Lane {
    order: Order,
    draws: Mutex<Draws>,
    calms: Vec<Arc<Calm>>,
    table: Mutex<Table>,
    wrong: Mutex<Vec<String>>,
}

impl Lane {
    async fn prepare(order: Order) -> Self {
        let calms = futures_util::future::join_all(Story::slow().iter().map(calm)).await;
        let effects = calms.iter().map(|calm| calm.effects.clone()).collect();
        Self {
            draws: Mutex::new(Draws::new(order.seed, possible_faults(), effects)),
            calms,
            table: Mutex::default(),
            wrong: Mutex::default(),
            order,
        }
    }

    /// Draws the next round; `None` if the time is over.
    fn next(&self) -> Option<Round> {
        let mut draws = self.draws.lock().unwrap();
        match self.order.round {
            None => {
                let is_over = self.order.end.is_some_and(|end| Instant::now() >= end);
                (!is_over).then(|| draws.round())
            }
            Some(wanted) => loop {
                let round = draws.round();
                if round.number >= wanted {
                    return (round.number == wanted).then_some(round);
                }
            },
        }
    }

    /// Plays rounds until the time is over.
    async fn play(&self) {
        while let Some(round) = self.next() {
            let number = round.number;
            println!(
                "round {number}: {}, {} machines, {:?}",
                Story::slow()[round.story].name,
                round.machines,
                round.versions
            );
            let wrong = self.round(&round).await;
            println!("round {number}: {}", wrong.as_deref().unwrap_or("ended as in a calm run"));
            let said = wrong.map(|wrong| format!("round {number} of seed {}: {wrong}", self.order.seed));
            self.wrong.lock().unwrap().extend(said);
        }
    }

    /// Plays a round; returns the differences from a calm run.
    async fn round(&self, round: &Round) -> Option<String> {
        let story = &Story::slow()[round.story];
        let calm = &self.calms[round.story];
        let mut world = World::at(Place::Machines(round.machines), story).await;
        for (name, value) in SETTINGS {
            world.set(name, value);
        }
        world.forge.set_retry_until_acknowledged(false);
        let mut fleet = Fleet::start(world, &programs(round, 0)).await;
        let mut wrong = None;
        for (step, (deed, strikes)) in story.moves.iter().zip(&round.strikes).enumerate() {
            roll(&mut fleet, round, step).await;
            deed.play(&fleet.world).await;
            let mut played = Play::new(round, step, strikes);
            wrong = played.until_rest(&mut fleet).await;
            self.table.lock().unwrap().missed.extend(played.missed);
            if wrong.is_some() {
                break;
            }
        }
        self.table.lock().unwrap().add(&fleet.met);
        let wrong = match wrong {
            Some(wrong) => Some(wrong),
            None => differs(&fleet, round, calm).await,
        };
        wrong.map(|wrong| format!("{wrong}\n{}", keep_log(&fleet.world, round.number)))
    }
}

/// The faults that this process can inflict.
fn possible_faults() -> Vec<Fault> {
    let folder = support::folder::folder("autobuild-disk-");
    let can_mount = Disk::mount(folder.path()).is_some();
    if !can_mount {
        println!("no disk is ever full: this user may not mount");
    }
    let possible = |fault: &Fault| can_mount || *fault != Fault::DiskFull;
    Fault::ALL.into_iter().filter(possible).collect()
}

/// The program of each machine at a step of the story.
fn programs(round: &Round, step: usize) -> Vec<PathBuf> {
    let present = PathBuf::from(crate::PRODUCT.program);
    let steps = round.strikes.len();
    let program = |machine: usize| {
        // Each machine changes after a different step: none before the first, all before the last.
        let has_changed = step * (round.machines + 1) >= (machine + 1) * steps;
        match (round.versions, has_changed) {
            (Versions::Present, _) | (Versions::Forward, true) | (Versions::Back, false) => present.clone(),
            (Versions::Forward, false) | (Versions::Back, true) => release_before::program(),
        }
    };
    (0..round.machines).map(program).collect()
}

/// Switches the machines that are due at this step to the other version.
async fn roll(fleet: &mut Fleet, round: &Round, step: usize) {
    for (machine, program) in programs(round, step).iter().enumerate() {
        let fault = if (machine + round.number).is_multiple_of(2) { Fault::Drain } else { Fault::Kill };
        fleet.roll(machine, program, fault).await;
    }
}

/// Returns the differences from a calm run.
async fn differs(fleet: &Fleet, round: &Round, calm: &Calm) -> Option<String> {
    if !fleet.wrong.is_empty() {
        return Some(fleet.wrong.join("\n"));
    }
    let (detail, expected) = match round.versions {
        Versions::Present => (Detail::Texts, &calm.picture),
        // Versions may have different texts.
        Versions::Forward | Versions::Back => (Detail::Facts, &calm.facts),
    };
    if let Some(difference) = difference_of_lines(&fleet.world, detail, expected).await {
        return Some(difference);
    }
    let lost = fleet.world.lost_runs().await;
    (lost > fleet.cut_off).then(|| format!("{lost} runs were lost, and faults cut off {} at most", fleet.cut_off))
}

/// The play of one move.
struct Play<'a> {
    at: String,
    left: Vec<&'a Strike>,
    /// The claims since the move, by kind.
    claims: Vec<String>,
    /// The strikes that did not happen, and why.
    missed: Vec<String>,
    since: Instant,
}

impl<'a> Play<'a> {
    fn new(round: &Round, step: usize, strikes: &'a [Strike]) -> Self {
        Self {
            at: format!("round {}, move {}", round.number, step + 1),
            left: strikes.iter().collect(),
            claims: Vec::new(),
            missed: Vec::new(),
            since: Instant::now(),
        }
    }

    /// Plays until everything rests; returns the work that makes no progress.
    async fn until_rest(&mut self, fleet: &mut Fleet) -> Option<String> {
        let mut looked = None;
        loop {
            tokio::select! {
                claim = fleet.claim() => self.claimed(fleet, &claim).await,
                () = tokio::time::sleep(LOOK) => {}
            }
            fleet.recover();
            if !fleet.is_well() {
                (self.since, looked) = (Instant::now(), None);
                continue;
            }
            if self.since.elapsed() > PATIENCE {
                return Some(format!("{}: stands still: {}", self.at, fleet.world.describe().await));
            }
            if !fleet.world.rests().await {
                looked = None;
                continue;
            }
            // Lost deliveries are replayed, and everything else is found by the sweep.
            let from = *looked.get_or_insert(fleet.world.clock().await);
            if fleet.world.has_asked_since(from).await {
                let missed = self.left.drain(..);
                self.missed.extend(
                    missed.map(|strike| format!("{}: {} at {}: it never ran", self.at, strike.fault, strike.kind)),
                );
                return None;
            }
        }
    }

    /// Strikes with the faults that waited for this claim. A fault of all services may come together with one of the
    /// claim's holder.
    async fn claimed(&mut self, fleet: &mut Fleet, claim: &Claim) {
        self.claims.push(claim.kind.clone());
        let times = self.claims.iter().filter(|kind| **kind == claim.kind).count();
        let is_due = |strike: &&Strike| strike.kind == claim.kind && strike.nth <= times;
        while let Some(at) = self.left.iter().position(is_due) {
            let strike = self.left.remove(at);
            self.since = Instant::now();
            let what = format!("{}: {} at {} {times}", self.at, strike.fault, strike.kind);
            match fleet.strike(strike, claim).await {
                Struck::Met(kinds) => println!("{what}, for {:?}: met {}", strike.lasts, kinds.join(", ")),
                Struck::Spared(why) => self.missed.push(format!("{what}: {why}")),
            }
            if strike.fault.is_of_machine() {
                return;
            }
        }
    }
}

/// Saves the services' log of a failed round; returns its place.
fn keep_log(world: &World, round: usize) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("chaos");
    let file = folder.join(format!("{}-{round}.log", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(&file, world.log()).unwrap();
    format!("the services' log is in {}", file.display())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_feature_ends_as_in_a_calm_run_whatever_befalls_the_machines() {
    let Some(order) = Order::read() else { return };
    println!("seed {}", order.seed);
    let lane = Lane::prepare(order).await;
    let plays = (0..AT_ONCE).map(|_| lane.play());
    tokio::select! {
        _ = futures_util::future::join_all(plays) => {}
        _ = tokio::signal::ctrl_c() => println!("stopped"),
    }
    let kinds = lane.calms.iter().flat_map(|calm| &calm.effects).flat_map(|effects| effects.keys().cloned());
    println!("{}", lane.table.lock().unwrap().render(&kinds.collect()));
    let wrong = lane.wrong.lock().unwrap();
    assert!(wrong.is_empty(), "{} rounds went wrong\n{}", wrong.len(), wrong.join("\n\n"));
}
