//! Machines whose services are struck by faults and recover.

use crate::{
    disk::Disk,
    draws::{Fault, Strike},
    relay::{Line, Relay},
    world::{Reach, World, signal},
};
use forge::{Fault as ForgeFault, FaultOrder, Mishap};
use rustix::process::Signal;
use sqlx::{Connection, Executor, PgConnection, postgres::PgListener};
use std::{
    path::{Path, PathBuf},
    time::Duration,
};
use tokio::{sync::mpsc, time::Instant};

/// The number of crashes after which the next one gives an effect up.
const MOST_CRASHES: i64 = 2;

/// The kinds of effects that run an agent.
const PAID: [&str; 4] = ["plan", "design", "play", "coach"];

/// A service that finds no database at its start ends. For this time after a fault of the database, that is expected.
const MISSED_DATABASE: Duration = Duration::from_secs(40);

/// The pause before a service that has ended starts again.
const RESTART: Duration = Duration::from_millis(300);

/// Reports each claimed effect and its holder.
const WATCH: &str = "
CREATE FUNCTION watch_claim() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_notify('claims', NEW.kind || ' ' || NEW.worker); RETURN NULL; END $$;
CREATE TRIGGER watch_claim AFTER UPDATE OF fence ON effect FOR EACH ROW
WHEN (NEW.fence > OLD.fence) EXECUTE FUNCTION watch_claim();";

/// An effect that was claimed.
#[derive(Clone, Debug)]
pub struct Claim {
    pub kind: String,
    worker: String,
}

/// An effect that a service holds.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Held {
    kind: String,
    lane: String,
    crashes: i64,
}

/// The condition of a machine's service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    Runs,
    /// It was asked to stop.
    Stops,
    Frozen,
}

struct Machine {
    program: PathBuf,
    data: PathBuf,
    disk: Option<Disk>,
    /// Its connection to the database, and the database's address through it.
    line: Relay,
    database_url: String,
    /// The process id of its service, while it has one.
    service: Option<(u32, Condition)>,
}

/// The action that ends a fault.
enum Relief {
    Start(usize),
    Thaw(usize),
    Empty(usize),
    /// The lines of these machines.
    Lines(Vec<usize>),
    Github(FaultOrder),
}

/// A fault that lasts: effects that are claimed meanwhile meet it.
struct Ongoing {
    until: Instant,
    fault: Fault,
    /// The machine, if it affects only one.
    machine: Option<usize>,
    relief: Relief,
}

/// The result of a strike.
pub enum Struck {
    /// It met these kinds of effects.
    Met(Vec<String>),
    /// It would have given an effect up, or its holder is no longer there.
    Spared(&'static str),
}

/// The machines of a world, and their faults.
pub struct Fleet {
    /// Their disks are removed before the folder of the world.
    machines: Vec<Machine>,
    pub world: World,
    claims: mpsc::UnboundedReceiver<Claim>,
    ongoing: Vec<Ongoing>,
    folders: usize,
    missed_database: Option<Instant>,
    /// The pairs of a kind of effect and a fault that met.
    pub met: Vec<(String, Fault)>,
    /// The number of agent runs that faults may have interrupted, and that are paid again.
    pub cut_off: usize,
    /// Events that must not happen.
    pub wrong: Vec<String>,
}

impl Fleet {
    /// Starts one service of each program.
    pub async fn start(world: World, programs: &[PathBuf]) -> Self {
        let mut fleet = Self {
            claims: mpsc::unbounded_channel().1,
            machines: Vec::new(),
            ongoing: Vec::new(),
            folders: 0,
            missed_database: None,
            met: Vec::new(),
            cut_off: 0,
            wrong: Vec::new(),
            world,
        };
        for program in programs {
            let (data, disk) = fleet.folder();
            let (line, database_url) = fleet.world.database_line().await;
            fleet.machines.push(Machine { program: program.clone(), data, disk, line, database_url, service: None });
            fleet.start_service(fleet.machines.len() - 1);
        }
        // Once the database can be read, a service has created the tables.
        while !fleet.world.rests().await {
            tokio::time::sleep(RESTART).await;
        }
        fleet.claims = watch(fleet.world.database_url()).await;
        fleet
    }

    fn folder(&mut self) -> (PathBuf, Option<Disk>) {
        self.folders += 1;
        let data = self.world.folder.path().join(format!("machine-{}", self.folders));
        let disk = Disk::mount(&data);
        (data, disk)
    }

    fn start_service(&mut self, at: usize) {
        let machine = &mut self.machines[at];
        if machine.service.is_none() {
            let process = self.world.start_in(&machine.data, &machine.program, Some(&machine.database_url));
            machine.service = Some((process, Condition::Runs));
        }
    }

    /// Waits for the next claim. Lasting faults meet it.
    pub async fn claim(&mut self) -> Claim {
        let Some(claim) = self.claims.recv().await else {
            return std::future::pending().await;
        };
        let holder = self.holder(&claim);
        for ongoing in &self.ongoing {
            if ongoing.machine.is_none_or(|machine| Some(machine) == holder) {
                self.met.push((claim.kind.clone(), ongoing.fault));
            }
        }
        claim
    }

    fn holder(&self, claim: &Claim) -> Option<usize> {
        let process: u32 = claim.worker.split('-').next()?.parse().ok()?;
        self.machines.iter().position(|machine| machine.service.is_some_and(|(own, _)| own == process))
    }

    /// Strikes the holder of the claimed effect, or all services.
    pub async fn strike(&mut self, strike: &Strike, claim: &Claim) -> Struck {
        tokio::time::sleep(strike.after).await;
        let fault = strike.fault;
        let mut target = None;
        if fault.is_of_machine() {
            let Some(at) = self.holder(claim) else {
                return Struck::Spared("its holder is gone");
            };
            if self.machines[at].service.map(|(_, condition)| condition) != Some(Condition::Runs) {
                return Struck::Spared("its holder does not run");
            }
            target = Some(at);
        }
        let process = target.and_then(|at| self.machines[at].service).map(|(process, _)| process);
        let mut held = self.held_effects(process).await;
        let is_last = |held: &Held| held.lane != "control" && held.crashes >= MOST_CRASHES;
        if fault.crashes() && held.iter().any(is_last) {
            return Struck::Spared("one more crash gives an effect up");
        }
        self.inflict(fault, target, strike.lasts).await;
        // Effects that were claimed at the last moment.
        for late in self.held_effects(process).await {
            if !held.contains(&late) {
                held.push(late);
            }
        }
        if fault.is_of_machine() {
            self.cut_off += paid(&held);
        }
        let kinds: Vec<String> = held.into_iter().map(|held| held.kind).collect();
        self.met.extend(kinds.iter().map(|kind| (kind.clone(), fault)));
        Struck::Met(kinds)
    }

    /// Returns the effects that are held now, by this process or by any.
    async fn held_effects(&mut self, process: Option<u32>) -> Vec<Held> {
        let by = process.map(|process| format!(" AND worker LIKE '{process}-%'")).unwrap_or_default();
        let sql = format!("SELECT kind, lane, crashes FROM effect WHERE state = 'running'{by}");
        loop {
            if let Some(rows) = self.world.look::<(String, String, i64)>(&sql).await {
                let held = |(kind, lane, crashes)| Held { kind, lane, crashes };
                return rows.into_iter().map(held).collect();
            }
            // The database recovers.
            tokio::time::sleep(RESTART).await;
        }
    }

    async fn inflict(&mut self, fault: Fault, target: Option<usize>, lasts: Duration) {
        let at = target.unwrap_or_default();
        let relief = match fault {
            Fault::Kill => {
                self.end(at, Reach::Process).await;
                Relief::Start(at)
            }
            Fault::MachineLost => {
                self.end(at, Reach::Machine).await;
                // Its disk and its connection are lost with it.
                self.ongoing.retain(|ongoing| ongoing.machine != Some(at));
                self.machines[at].line.set(Line::Open);
                (self.machines[at].data, self.machines[at].disk) = self.folder();
                Relief::Start(at)
            }
            Fault::Freeze => {
                self.send(at, Reach::Machine, Signal::STOP, Condition::Frozen);
                Relief::Thaw(at)
            }
            Fault::Drain => return self.send(at, Reach::Process, Signal::TERM, Condition::Stops),
            Fault::DiskFull => {
                self.machines[at].disk.as_ref().expect("disks are mounted").fill();
                Relief::Empty(at)
            }
            Fault::Partition => self.lines(vec![at], Line::Stalled),
            Fault::DatabaseAway => self.lines(self.all(), Line::Cut),
            Fault::DatabaseStalls => self.lines(self.all(), Line::Stalled),
            Fault::DatabaseSlow => self.lines(self.all(), Line::Slow),
            Fault::DatabaseCrash => {
                self.missed_database = Some(Instant::now());
                return crash(self.world.database_url()).await;
            }
            Fault::GithubAway => Relief::Github(self.order(Mishap::fail(502), usize::MAX)),
            Fault::GithubStalls => Relief::Github(self.order(Mishap::Hold, usize::MAX)),
            Fault::ReplyLost => {
                self.order(Mishap::LoseReply, 1);
                return;
            }
        };
        self.ongoing.push(Ongoing { until: Instant::now() + lasts, fault, machine: target, relief });
    }

    fn order(&self, mishap: Mishap, times: usize) -> FaultOrder {
        self.world.forge.order(ForgeFault::on("*", "*", mishap).times(times))
    }

    fn all(&self) -> Vec<usize> {
        (0..self.machines.len()).collect()
    }

    fn lines(&mut self, of: Vec<usize>, line: Line) -> Relief {
        self.missed_database = Some(Instant::now());
        of.iter().for_each(|at| self.machines[*at].line.set(line));
        Relief::Lines(of)
    }

    fn send(&mut self, at: usize, reach: Reach, what: Signal, condition: Condition) {
        if let Some((process, known)) = &mut self.machines[at].service {
            signal(*process, reach, what);
            *known = condition;
        }
    }

    async fn end(&mut self, at: usize, reach: Reach) {
        if let Some((process, _)) = self.machines[at].service.take() {
            self.world.kill_process(process, reach).await;
        }
    }

    /// `true` if no fault lasts, and all machines run.
    pub fn is_well(&self) -> bool {
        let runs = |machine: &Machine| machine.service.is_some_and(|(_, condition)| condition == Condition::Runs);
        self.ongoing.is_empty() && self.machines.iter().all(runs)
    }

    /// Ends the faults whose time is over, and starts services that have ended.
    pub fn recover(&mut self) {
        let now = Instant::now();
        let all = std::mem::take(&mut self.ongoing).into_iter();
        let (over, ongoing): (Vec<Ongoing>, _) = all.partition(|ongoing| ongoing.until <= now);
        self.ongoing = ongoing;
        over.into_iter().for_each(|ended| self.relieve(ended.relief));
        for (process, status) in self.world.take_ended() {
            let is_it = |machine: &Machine| machine.service.is_some_and(|(own, _)| own == process);
            let at = self.machines.iter().position(is_it).expect("it is a machine's");
            let was = self.machines[at].service.take().map(|(_, condition)| condition);
            let missed = self.missed_database.is_some_and(|at| at.elapsed() < MISSED_DATABASE);
            if !(missed || was == Some(Condition::Stops) && status.success()) {
                self.wrong.push(format!("a service that was {was:?} ended with {status}"));
            }
            self.ongoing.push(Ongoing {
                until: now + RESTART,
                fault: Fault::Drain,
                machine: Some(at),
                relief: Relief::Start(at),
            });
        }
    }

    fn relieve(&mut self, relief: Relief) {
        match relief {
            Relief::Start(at) => self.start_service(at),
            Relief::Thaw(at) => self.send(at, Reach::Machine, Signal::CONT, Condition::Runs),
            Relief::Empty(at) => {
                if let Some(disk) = &self.machines[at].disk {
                    disk.empty();
                }
            }
            Relief::Lines(of) => drop(self.lines(of, Line::Open)),
            Relief::Github(order) => order.withdraw(),
        }
    }

    /// Switches a machine to another program.
    pub async fn roll(&mut self, at: usize, program: &Path, fault: Fault) {
        if self.machines[at].program != program {
            self.machines[at].program = program.to_owned();
            self.cut_off += paid(&self.held_effects(None).await);
            self.inflict(fault, Some(at), RESTART).await;
        }
    }
}

/// Counts the runs of agents among these.
fn paid(held: &[Held]) -> usize {
    let is_paid = |held: &&Held| PAID.contains(&held.kind.as_str());
    held.iter().filter(is_paid).count()
}

/// Listens for claims.
async fn watch(url: &str) -> mpsc::UnboundedReceiver<Claim> {
    let mut connection = PgConnection::connect(url).await.unwrap();
    connection.execute(WATCH).await.unwrap();
    let mut listener = PgListener::connect(url).await.unwrap();
    listener.listen("claims").await.unwrap();
    let (sender, claims) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        loop {
            // It reconnects after the database crashed.
            let Ok(notification) = listener.recv().await else {
                tokio::time::sleep(RESTART).await;
                continue;
            };
            let (kind, worker) = notification.payload().split_once(' ').unwrap();
            let claim = Claim { kind: kind.to_owned(), worker: worker.to_owned() };
            if sender.send(claim).is_err() {
                return;
            }
        }
    });
    claims
}

/// Kills a process of the database, after which the server recovers as from a crash of its own.
async fn crash(url: &str) {
    let mut connection = PgConnection::connect(url).await.unwrap();
    let victim: i32 = sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut connection).await.unwrap();
    signal(u32::try_from(victim).unwrap(), Reach::Process, Signal::KILL);
}
