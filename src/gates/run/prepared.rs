//! A commit that is set up once: every run of a turn starts from a copy of what set-up left.

use crate::{
    config::RepositorySettings,
    gates::{
        commands,
        commands::Chosen,
        compare, coverage, files,
        run::{
            cache,
            cache::{Leavings, Snapshot, Times, Warmed},
            checkout::{Order, SandboxedCheckout},
            context::{Bench, GateError, host},
            overlay::Overlay,
            put_back,
            put_back::Touched,
            result_cache::{Expected, Kept, Origin, ResultCache, Tested},
        },
        said,
        shell::programs,
        test_line::{Invocation, Selection, own_name},
    },
};
use domain::{
    evidence::{Absence, Additions, Evidence, Finding},
    ids::Sha,
    registries,
    shell_command::ShellCommand,
};
use git::Mirror;
use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{sync::OnceCell, time::Instant};
use tokio_util::sync::CancellationToken;

/// An experiment may take this many times as long as the plain run, and at least this long.
const TIMES_PLAIN: u32 = 3;
const SHORTEST: Duration = Duration::from_secs(20);

/// One commit with its commands, set up when something is first run on it.
pub(crate) struct Prepared<'a> {
    bench: &'a Bench,
    mirror: &'a Mirror,
    commit: &'a Sha,
    settings: &'a RepositorySettings,
    cancel: &'a CancellationToken,
    pub(crate) chosen: Chosen,
    done: OnceLock<SetUp>,
    plain: OnceLock<Duration>,
    misled: AtomicBool,
    /// A selection did what it should.
    selects: AtomicBool,
    /// A selection ran nothing that it should.
    cannot_select: AtomicBool,
    additions: Additions,
    versions: OnceCell<String>,
}

/// What is run.
#[derive(Clone, Copy)]
enum What<'a> {
    /// The tests, by this line of the test command.
    Tests(&'a Invocation),
    /// A command of a plan.
    Command(&'a str),
}

impl What<'_> {
    /// What tells its results apart from those of others on the same files.
    fn key(self) -> String {
        match self {
            Self::Tests(line) => line.key(),
            Self::Command(command) => format!("{command}\0command"),
        }
    }
}

/// What set-up came to, once.
struct SetUp {
    said: Option<Evidence>,
    rewritten: Vec<String>,
    executable: Vec<PathBuf>,
    snapshot: Option<Snapshot>,
}

/// Whether coverage is measured too.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coverage {
    Measured,
    NotAsked,
}

/// What set-up starts from besides the files.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    /// What pre-flight built on the default branch, where that fits.
    Cache,
    Nothing,
}

/// A checkout in which commands can run.
pub(crate) struct Ready<'a> {
    pub(crate) checkout: SandboxedCheckout<'a>,
    chosen: &'a Chosen,
    coverage_file: Option<&'a str>,
    /// What set-up said, if there is one.
    pub(crate) setup: Option<Evidence>,
    /// Files that set-up rewrote and that were put back.
    pub(crate) rewritten: Vec<String>,
    laid: Laid,
    /// Files that set-up made executable.
    executable: Vec<PathBuf>,
    deadline: Duration,
    times: Times,
    additions: Additions,
}

/// Whose files stand in a checkout.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Laid {
    /// The commit's alone.
    Nothing,
    /// Some of another commit too.
    Files,
}

impl<'a> Prepared<'a> {
    pub(crate) async fn new(
        bench: &'a Bench,
        (mirror, commit): (&'a Mirror, &'a Sha),
        settings: &'a RepositorySettings,
        cancel: &'a CancellationToken,
    ) -> Result<Self, GateError> {
        Ok(Self {
            bench,
            mirror,
            commit,
            settings,
            cancel,
            chosen: commands::at(mirror, commit, settings).await?,
            done: OnceLock::new(),
            plain: OnceLock::new(),
            misled: AtomicBool::new(false),
            selects: AtomicBool::new(false),
            cannot_select: AtomicBool::new(false),
            additions: Additions::default(),
            versions: OnceCell::new(),
        })
    }

    /// Another commit of the same repository, which is set up by itself.
    pub(crate) async fn by_itself(&self, commit: &'a Sha) -> Result<Self, GateError> {
        let other = Self::new(self.bench, (self.mirror, commit), self.settings, self.cancel).await?;
        Ok(other.adding(self.additions))
    }

    /// The same with what pre-flight found of the additions to the test command.
    pub(crate) fn adding(mut self, additions: Additions) -> Self {
        self.additions = additions;
        self
    }

    async fn results(&self) -> Result<ResultCache<'_>, GateError> {
        let versions = self.versions.get_or_try_init(|| self.ask_versions()).await?;
        let of = (self.settings, &self.chosen);
        Ok(ResultCache::of(self.bench, self.mirror, of, versions))
    }

    /// What the programs of the commands, and those that they usually start, say of their versions. Which of them a shim
    /// starts may follow from files of the commit.
    async fn ask_versions(&self) -> Result<String, GateError> {
        let commands = self.chosen.setup.iter().chain(&self.chosen.test);
        let own = commands.flat_map(|command| programs(command.text()));
        let paths = commands::paths(self.mirror, self.commit).await?;
        let usual = registries::of_paths(&paths)
            .into_iter()
            .flat_map(|ecosystem| ecosystem.programs);
        let all: BTreeSet<String> = own.chain(usual.map(|program| (*program).to_owned())).collect();
        let all: Vec<String> = all.into_iter().collect();
        let checkout = SandboxedCheckout::new(self.bench, self.mirror, self.commit, self.cancel).await?;
        checkout.versions(&all).await
    }

    /// How the tests are run.
    fn invocation(&self) -> Invocation {
        self.chosen.test_line.invocation(self.additions)
    }

    /// What the tests said with what may be added to their command, where the result is kept.
    pub(crate) async fn known_with_additions(&self) -> Result<Option<Evidence>, GateError> {
        let line = self.chosen.test_line.invocation(Additions::Harmless).key();
        let cache = self.results().await?;
        let key = cache.key((self.commit, None), &line).await?;
        Ok(key.as_ref().and_then(|key| cache.known(key)).map(|known| known.tests))
    }

    /// Keeps what the tests of a checkout said with what may be added to their command, if they pass.
    pub(crate) async fn keep_with_additions(
        &self,
        ready: &Ready<'_>,
        tests: &Evidence,
        took: Duration,
    ) -> Result<(), GateError> {
        let line = self.chosen.test_line.invocation(Additions::Harmless).key();
        let cache = self.results().await?;
        let key = cache.key((self.commit, None), &line).await?;
        if let Some(key) = key.filter(|_| matches!(tests, Evidence::Passed(_))) {
            let tested = Tested {
                setup: ready.setup.clone(),
                rewritten: ready.rewritten.clone(),
                tests: tests.clone(),
                coverage: None,
                origin: Origin::Now,
            };
            cache.keep(&key, &Kept::of(&tested, took));
        }
        Ok(())
    }

    /// Runs the commit's own tests, or takes what they said before of the same files. A result is kept if it is sound: if
    /// nothing is held against it.
    pub(crate) async fn tests(
        &self,
        coverage: Coverage,
        is_sound: impl Fn(&Evidence) -> bool,
    ) -> Result<Tested, GateError> {
        let cache = self.results().await?;
        let line = self.invocation().key();
        let measures = coverage == Coverage::Measured && self.settings.coverage.file.is_some();
        let line = if measures { format!("{line}\0coverage") } else { line };
        let key = cache.key((self.commit, None), &line).await?;
        let known = key.as_ref().and_then(|key| cache.known(key));
        if let Some(known) = known.filter(|known| is_sound(&known.tests)) {
            let _ = self.plain.set(Duration::from_millis(known.milliseconds));
            return Ok(known.into());
        }
        let ready = self.ready().await?;
        let begun = Instant::now();
        let tests = ready.tests().await?;
        let took = begun.elapsed();
        let _ = self.plain.set(took);
        let coverage = match (measures, &tests) {
            (true, Evidence::Passed(_) | Evidence::Failed(_)) => coverage::measure(&ready, self.settings).await?,
            (true, Evidence::Absent(_)) | (false, _) => None,
        };
        let tested = Tested {
            setup: ready.setup.clone(),
            rewritten: ready.rewritten.clone(),
            tests,
            coverage,
            origin: Origin::Now,
        };
        if let Some(key) = key.filter(|_| is_sound(&tested.tests)) {
            cache.keep(&key, &Kept::of(&tested, took));
        }
        Ok(tested)
    }

    /// Runs one command of a plan or of the settings on the commit's own files, or takes it that it held before.
    pub(crate) async fn command(&self, command: &str) -> Result<Evidence, GateError> {
        let cache = self.results().await?;
        let key = cache.key((self.commit, None), &format!("{command}\0command")).await?;
        let known = key.as_ref().and_then(|key| cache.known(key));
        if let Some(known) = known.filter(|known| matches!(known.tests, Evidence::Passed(_))) {
            return Ok(said::with_origin(known.tests, Origin::Kept));
        }
        let evidence = self.ready().await?.command(command).await?;
        if let Some(key) = key.filter(|_| matches!(evidence, Evidence::Passed(_))) {
            cache.keep(&key, &Kept::of_command(&evidence));
        }
        Ok(evidence)
    }

    /// Some tests of `commit` with some files in place of its own, or what they said before.
    ///
    /// Where the runner cannot select them, or what ran is not what was asked for, all tests run.
    pub(crate) async fn tests_with(
        &self,
        commit: &Sha,
        overlay: &Overlay,
        expected: Expected,
        selection: &Selection,
    ) -> Result<Evidence, GateError> {
        let limit = self.bench.deadlines.test;
        self.tests_within((commit, overlay), expected, selection, limit).await
    }

    /// The same, each run stopped after this time.
    pub(crate) async fn tests_within(
        &self,
        (commit, overlay): (&Sha, &Overlay),
        expected: Expected,
        selection: &Selection,
        limit: Duration,
    ) -> Result<Evidence, GateError> {
        if let Selection::Named(names) = selection
            && let Some(line) = self.selecting(names).await?
        {
            let found = self
                .line_with(commit, overlay, expected, (What::Tests(&line), limit))
                .await?;
            if self.is_of(names, &found) {
                return Ok(found);
            }
        }
        let line = self.invocation();
        self.line_with(commit, overlay, expected, (What::Tests(&line), limit))
            .await
    }

    /// The line that runs these tests alone, where there is one that does what it should.
    async fn selecting(&self, names: &[String]) -> Result<Option<Invocation>, GateError> {
        if names.is_empty() || self.cannot_select.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let paths = commands::paths(self.mirror, self.commit).await?;
        Ok(self.chosen.test_line.selecting(self.additions, names, &paths))
    }

    /// Whether a result is that of the selected tests: each has one of its own, and every failure has a name. From then on a
    /// failure without names is believed too: the code could not be loaded.
    fn is_of(&self, names: &[String], found: &Evidence) -> bool {
        let own = |names: &[String]| {
            names
                .iter()
                .map(|name| own_name(name).to_owned())
                .collect::<BTreeSet<_>>()
        };
        let (ran, is_red) = match (found, compare::names(found)) {
            (Evidence::Absent(_), _) => return false,
            (Evidence::Passed(_), Some(names)) => (names, false),
            (Evidence::Failed(_), Some(names)) => (names, true),
            (Evidence::Passed(_), None) => return false,
            (Evidence::Failed(_), None) => return self.selects.load(Ordering::Relaxed),
        };
        let (passed, failed) = (own(&ran.passed), own(&ran.failed));
        let wanted = own(names);
        let is_whole = wanted.iter().all(|name| passed.contains(name) || failed.contains(name));
        // A failure that no test of the run has is one of what was added, such as an argument that is not understood.
        let is_consistent = !is_red || !ran.failed.is_empty();
        let is_believed = is_whole && is_consistent;
        if is_believed {
            self.selects.store(true, Ordering::Relaxed);
        } else if passed.is_disjoint(&wanted) && failed.is_disjoint(&wanted) && !is_red {
            self.cannot_select.store(true, Ordering::Relaxed);
        }
        is_believed
    }

    /// What a command that is to fail says on `commit` with some files in place of its own, or what it said before.
    pub(crate) async fn command_with(
        &self,
        commit: &Sha,
        overlay: &Overlay,
        command: &str,
    ) -> Result<Evidence, GateError> {
        let what = (What::Command(command), self.bench.deadlines.test);
        self.line_with(commit, overlay, Expected::Red, what).await
    }

    /// What a line says on `commit` with some files in place of its own, or what they said before.
    ///
    /// They run on what set-up left on the prepared commit. If they then speak against the work, set-up runs on these very
    /// files before that is believed: it may have copied or compiled what is replaced here.
    async fn line_with(
        &self,
        commit: &Sha,
        overlay: &Overlay,
        expected: Expected,
        (what, limit): (What<'_>, Duration),
    ) -> Result<Evidence, GateError> {
        let cache = self.results().await?;
        let key = cache.key((commit, Some(overlay)), &what.key()).await?;
        let known = key.as_ref().and_then(|key| cache.known(key));
        if let Some(known) = known.filter(|known| expected.is_met_by(&known.tests)) {
            return Ok(known.tests);
        }
        let mut found = self.with(commit, overlay).await?.within(limit).run(what).await?;
        if self.chosen.setup.is_some() && !self.is_misled() && expected.is_denied_by(&found) {
            found = self
                .on(commit, Some(overlay), Start::Cache)
                .await?
                .within(limit)
                .run(what)
                .await?;
            if expected.is_met_by(&found) {
                // From here on set-up runs on the files of each run: what it made of the commit's own says nothing of others.
                self.misled.store(true, Ordering::Relaxed);
            }
        }
        if let Some(key) = key.filter(|_| expected.is_met_by(&found)) {
            cache.keep(&key, &Kept::of_command(&found));
        }
        Ok(found)
    }

    /// A checkout of the commit as set-up left it.
    pub(crate) async fn ready(&self) -> Result<Ready<'_>, GateError> {
        match self.done.get() {
            Some(done) => self.copy(done, self.commit, None).await,
            None => self.set_up().await,
        }
    }

    /// A checkout of `commit` with some files in place of its own, as set-up left the prepared commit. What it says against
    /// the work is to be confirmed: set-up may have made something of other files.
    pub(crate) async fn with(&self, commit: &Sha, overlay: &Overlay) -> Result<Ready<'_>, GateError> {
        if self.is_misled() {
            return self.on(commit, Some(overlay), Start::Cache).await;
        }
        if self.done.get().is_none() {
            drop(self.set_up().await?);
        }
        match self.done.get() {
            Some(done) => self.copy(done, commit, Some(overlay)).await,
            None => self.on(commit, Some(overlay), Start::Cache).await,
        }
    }

    /// A checkout of the commit that starts from no cache, and on which set-up ran.
    pub(crate) async fn anew(&self) -> Result<Ready<'_>, GateError> {
        self.on(self.commit, None, Start::Nothing).await
    }

    /// Whether set-up runs on the files of each run.
    fn is_misled(&self) -> bool {
        self.misled.load(Ordering::Relaxed)
    }

    /// How long the plain run took, or may take.
    pub(crate) fn plain(&self) -> Duration {
        self.plain.get().copied().unwrap_or(self.bench.deadlines.test)
    }

    /// How long one run of an experiment may take.
    pub(crate) fn patience(&self) -> Duration {
        self.plain()
            .saturating_mul(TIMES_PLAIN)
            .clamp(SHORTEST, self.bench.deadlines.test.max(SHORTEST))
    }

    /// Sets the commit up, and keeps what that left. The checkout in which it ran is as good as any copy.
    async fn set_up(&self) -> Result<Ready<'_>, GateError> {
        let ready = self.on(self.commit, None, Start::Cache).await?;
        let is_built = ready.is_ready() && ready.build().await?;
        let snapshot = match ready.is_ready() && (is_built || self.chosen.setup.is_some()) {
            true => {
                let tracked = commands::paths(self.mirror, self.commit).await?.into_iter().collect();
                // What cannot be looked through, because a command took its rights away, is not copied either.
                match Leavings::of(ready.checkout.path(), &tracked).await {
                    Ok(left) => {
                        let left = (ready.times.clone(), left.for_the_turn());
                        Snapshot::of(self.bench, &ready.checkout, left).await
                    }
                    Err(_) => None,
                }
            }
            false => None,
        };
        let done = SetUp {
            said: ready.setup.clone(),
            rewritten: ready.rewritten.clone(),
            executable: ready.executable.clone(),
            snapshot,
        };
        let _ = self.done.set(done);
        Ok(ready)
    }

    /// A copy of what set-up left.
    async fn copy(&self, done: &SetUp, commit: &Sha, overlay: Option<&Overlay>) -> Result<Ready<'_>, GateError> {
        let Some(snapshot) = &done.snapshot else {
            return self.on(commit, overlay, Start::Cache).await;
        };
        let checkout = SandboxedCheckout::new(self.bench, self.mirror, commit, self.cancel).await?;
        match snapshot.fill(self.mirror, overlay, &checkout).await? {
            Warmed::Yes => {}
            Warmed::No | Warmed::InPart => {
                drop(checkout);
                return self.on(commit, overlay, Start::Cache).await;
            }
        }
        if let Some(overlay) = overlay {
            overlay.lay(checkout.path()).await?;
        }
        put_back::make_executable(checkout.path(), &done.executable).map_err(host("preparing a checkout"))?;
        let mut ready = Ready::new(self, checkout, overlay);
        ready.setup.clone_from(&done.said);
        if overlay.is_none() {
            ready.rewritten.clone_from(&done.rewritten);
        }
        Ok(ready)
    }

    /// A fresh checkout with some files put in place of its own, on which set-up ran.
    async fn on(&self, commit: &Sha, overlay: Option<&Overlay>, start: Start) -> Result<Ready<'_>, GateError> {
        let mut checkout = SandboxedCheckout::new(self.bench, self.mirror, commit, self.cancel).await?;
        let mut warmed = Warmed::No;
        if start == Start::Cache {
            warmed = cache::warm(self.bench, self.mirror, &self.chosen, overlay, &checkout).await?;
            if warmed == Warmed::InPart {
                drop(checkout);
                checkout = SandboxedCheckout::new(self.bench, self.mirror, commit, self.cancel).await?;
            }
        }
        let ready = self.run_setup(checkout, overlay).await?;
        // What was built elsewhere may not fit here; only without it a failure of set-up says something.
        if warmed == Warmed::Yes && !ready.is_ready() {
            drop(ready);
            let checkout = SandboxedCheckout::new(self.bench, self.mirror, commit, self.cancel).await?;
            return self.run_setup(checkout, overlay).await;
        }
        Ok(ready)
    }

    /// The same on a commit of the default branch, so that what is built can be kept for later.
    pub(crate) async fn to_be_kept(&self) -> Result<Ready<'_>, GateError> {
        let checkout = SandboxedCheckout::new(self.bench, self.mirror, self.commit, self.cancel).await?;
        cache::prepare(self.mirror, self.commit, &checkout).await?;
        self.run_setup(checkout, None).await
    }

    /// Puts files of another commit in place, then runs set-up, where there is one, and puts back what that rewrote of the
    /// files of the commit and of those that were put in place.
    async fn run_setup<'s>(
        &'s self,
        checkout: SandboxedCheckout<'s>,
        overlay: Option<&Overlay>,
    ) -> Result<Ready<'s>, GateError> {
        if let Some(overlay) = overlay {
            overlay.lay(checkout.path()).await?;
        }
        let mut ready = Ready::new(self, checkout, overlay);
        ready.times = cache::times(self.mirror, &ready.checkout).await?;
        if let Some(command) = &self.chosen.setup {
            let order = Order {
                command,
                as_line: &Invocation::plain(command.text()),
                deadline: self.bench.deadlines.setup,
                report: None,
                reaches: &self.chosen.setup_reaches,
            };
            let before = put_back::before(&ready.checkout, overlay).await?;
            ready.setup = Some(ready.checkout.run(&order).await?);
            let of = (self.mirror, ready.checkout.head());
            Touched {
                rewritten: ready.rewritten,
                executable: ready.executable,
            } = before.put_back(&ready.checkout, of).await?;
        }
        Ok(ready)
    }
}

impl<'a> Ready<'a> {
    fn new(prepared: &'a Prepared<'_>, checkout: SandboxedCheckout<'a>, overlay: Option<&Overlay>) -> Self {
        Self {
            checkout,
            chosen: &prepared.chosen,
            coverage_file: prepared.settings.coverage.file.as_deref(),
            setup: None,
            rewritten: Vec::new(),
            laid: overlay.map_or(Laid::Nothing, |_| Laid::Files),
            executable: Vec::new(),
            deadline: prepared.bench.deadlines.test,
            times: Times::new(),
            additions: prepared.additions,
        }
    }

    /// Whether commands can be run here.
    pub(crate) fn is_ready(&self) -> bool {
        !matches!(self.setup, Some(Evidence::Failed(_) | Evidence::Absent(_)))
    }

    /// The same, stopped after this time.
    pub(crate) fn within(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// The times of files and folders before set-up.
    pub(crate) fn times(&self) -> &Times {
        &self.times
    }

    /// What commands left here until now.
    pub(crate) async fn leavings(&self, tracked: &BTreeSet<String>) -> Result<Leavings, GateError> {
        Leavings::of(self.checkout.path(), tracked).await
    }

    /// Runs the tests.
    pub(crate) async fn tests(&self) -> Result<Evidence, GateError> {
        self.tests_by(&self.chosen.test_line.invocation(self.additions)).await
    }

    async fn run(&self, what: What<'_>) -> Result<Evidence, GateError> {
        match what {
            What::Tests(line) => self.tests_by(line).await,
            What::Command(command) => self.command(command).await,
        }
    }

    /// Runs the tests by this line of the test command.
    pub(crate) async fn tests_by(&self, line: &Invocation) -> Result<Evidence, GateError> {
        let Some(command) = &self.chosen.test else {
            return Ok(Evidence::Absent(Absence::NoCommand));
        };
        if !self.is_ready() {
            return Ok(Evidence::Absent(Absence::NotReached));
        }
        if let Some(file) = self.coverage_file {
            // Coverage that was there before is nobody's measurement. What cannot be cleared is refused when it is read.
            let _ = files::clear(self.checkout.path(), file);
        }
        let order = self.order(command, line, self.chosen.report.as_deref());
        let evidence = self.checkout.run(&order).await?;
        Ok(self.with_rewritten(evidence))
    }

    /// Builds the tests without running them, where their runner can: what is built is part of the prepared checkout, and
    /// no test has written into it. Whether there was anything to build.
    async fn build(&self) -> Result<bool, GateError> {
        let Some((command, line)) = self.chosen.test.as_ref().zip(self.chosen.test_line.building()) else {
            return Ok(false);
        };
        // What cannot be built is said by the tests.
        let line = Invocation::plain(&line);
        self.checkout.run(&self.order(command, &line, None)).await?;
        Ok(true)
    }

    fn order<'o>(&'o self, command: &'o ShellCommand, line: &'o Invocation, report: Option<&'o str>) -> Order<'o> {
        Order {
            command,
            as_line: line,
            deadline: self.deadline,
            report,
            reaches: &self.chosen.reaches,
        }
    }

    /// Says beside the output what was put back: of a commit's own files integrity tells, of files laid over them nobody
    /// else does.
    fn with_rewritten(&self, evidence: Evidence) -> Evidence {
        let told = |mut finding: Finding| {
            let files = self.rewritten.join(", ");
            finding.output = format!("{}\nAutoBuild put back what set-up rewrote: {files}", finding.output);
            finding
        };
        match (self.laid, self.rewritten.is_empty(), evidence) {
            (Laid::Files, false, Evidence::Passed(finding)) => Evidence::Passed(told(finding)),
            (Laid::Files, false, Evidence::Failed(finding)) => Evidence::Failed(told(finding)),
            (Laid::Files | Laid::Nothing, _, evidence) => evidence,
        }
    }

    /// Runs one command as it was written in a plan, in the settings, or by a model.
    pub(crate) async fn command(&self, command: &str) -> Result<Evidence, GateError> {
        if !self.is_ready() {
            return Ok(Evidence::Absent(Absence::NotReached));
        }
        match command.parse::<ShellCommand>() {
            Ok(command) => {
                let line = Invocation::plain(command.text());
                self.checkout.run(&self.order(&command, &line, None)).await
            }
            Err(error) => Ok(Evidence::Absent(Absence::CouldNotStart {
                command: command.to_owned(),
                reason: error.to_string(),
            })),
        }
    }
}
