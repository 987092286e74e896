//! A commit that is set up once: every run of a turn starts from a copy of what set-up left.

use crate::{
    config::RepositorySettings,
    gates::{
        commands,
        commands::Chosen,
        compare, coverage,
        run::{
            cache,
            cache::{Made, Snapshot, Warmed},
            checkout::{Order, SandboxedCheckout},
            context::{Bench, GateError, host},
            overlay::Overlay,
            put_back,
            put_back::Touched,
            ready::{Ready, What},
            result_cache::{Expected, Kept, Origin, ResultCache, Tested},
            used::{Stamps, Used},
        },
        said,
        setup_reads::{is_read_by_package_managers, touches_setup},
        shell::programs,
        test_index::bare,
        test_line::{Invocation, Named, Selection},
    },
};
use domain::{
    evidence::{Absence, Additions, Baseline, Evidence, Ground},
    ids::Sha,
    registries,
};
use git::Mirror;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{sync::OnceCell, time::Instant};
use tokio_util::sync::CancellationToken;

/// An experiment may take this many times as long as the plain run, and at least this long.
const TIMES_PLAIN: u32 = 3;
const SHORTEST: Duration = Duration::from_secs(10);
/// So long a run on the base may take at least: a test that has not ended by then does not end there.
const SHORTEST_ON_BASE: Duration = Duration::from_secs(20);

/// One commit with its commands, set up when something is first run on it.
pub(crate) struct Prepared<'a> {
    bench: &'a Bench,
    mirror: &'a Mirror,
    commit: &'a Sha,
    settings: &'a RepositorySettings,
    cancel: &'a CancellationToken,
    pub(crate) chosen: Arc<Chosen>,
    /// Another commit on which set-up leaves the same, and what it said there.
    like: Option<(&'a Sha, Evidence)>,
    done: Mutex<Option<Arc<SetUp>>>,
    /// Checkouts in which something ran, by their commits.
    used: Mutex<BTreeMap<Sha, Used>>,
    plain: OnceLock<Duration>,
    misled: AtomicBool,
    /// A selection did what it should.
    selects: AtomicBool,
    /// A selection ran nothing that it should.
    cannot_select: AtomicBool,
    additions: Additions,
    /// The additions were tried here for the first time, and the tests pass only without them.
    refuses: AtomicBool,
    /// The tests that failed before anyone changed anything.
    known_red: BTreeSet<String>,
    versions: OnceCell<String>,
}

/// What set-up came to, once.
struct SetUp {
    said: Option<Evidence>,
    rewritten: Vec<String>,
    executable: Vec<PathBuf>,
    made: Made,
    snapshot: Option<Snapshot>,
    /// How long the tests were built, and how long that and set-up took.
    building: Duration,
    preparing: Duration,
    ran: SetUpRan,
}

/// Where set-up ran.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SetUpRan {
    Here,
    /// In pre-flight, on a commit on which it leaves the same.
    Before,
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
            chosen: Arc::new(commands::at(mirror, commit, settings).await?),
            like: None,
            done: Mutex::default(),
            used: Mutex::default(),
            plain: OnceLock::new(),
            misled: AtomicBool::new(false),
            selects: AtomicBool::new(false),
            cannot_select: AtomicBool::new(false),
            additions: Additions::default(),
            refuses: AtomicBool::new(false),
            known_red: BTreeSet::new(),
            versions: OnceCell::new(),
        })
    }

    /// Another commit of the same repository, which is set up by itself.
    pub(crate) async fn by_itself(&self, commit: &'a Sha, baseline: &'a Baseline) -> Result<Self, GateError> {
        let other = Self::new(self.bench, (self.mirror, commit), self.settings, self.cancel).await?;
        other.after(baseline).await
    }

    /// The same with what pre-flight found: what may be added to the test command, and what set-up left, if that is the
    /// same here.
    pub(crate) async fn after(mut self, baseline: &'a Baseline) -> Result<Self, GateError> {
        self.additions = baseline.additions;
        if let Ground::Named(before) = baseline.ground() {
            self.known_red = before.failed.iter().cloned().collect();
        }
        let Some(said @ Evidence::Passed(_)) = &baseline.setup else {
            return Ok(self);
        };
        if !touches_setup(self.mirror, (&baseline.commit, self.commit), &self.chosen).await? {
            self.like = Some((&baseline.commit, said.clone()));
        }
        Ok(self)
    }

    /// The same with what pre-flight found of the additions to the test command.
    pub(crate) fn adding(mut self, additions: Additions) -> Self {
        self.additions = additions;
        self
    }

    async fn results(&self) -> Result<ResultCache<'_>, GateError> {
        let versions = self.versions.get_or_try_init(|| self.ask_versions()).await?;
        let of = (self.settings, &*self.chosen);
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
        self.chosen.test_line.invocation(self.additions())
    }

    fn additions(&self) -> Additions {
        match self.refuses.load(Ordering::Relaxed) {
            true => Additions::Refused,
            false => self.additions,
        }
    }

    /// What the tests said with what may be added to their command, where the result is kept.
    pub(crate) async fn known_with_additions(&self) -> Result<Option<Evidence>, GateError> {
        let line = self.chosen.test_line.invocation(Additions::Harmless).key();
        let cache = self.results().await?;
        let key = cache.key((self.commit, self.commit, None), &line).await?;
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
        let key = cache.key((self.commit, self.commit, None), &line).await?;
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
        let key = cache.key((self.commit, self.commit, None), &line).await?;
        let known = key.as_ref().and_then(|key| cache.known(key));
        if let Some(known) = known.filter(|known| is_sound(&known.tests)) {
            let _ = self.plain.set(Duration::from_millis(known.milliseconds));
            return Ok(known.into());
        }
        let (ready, tests, took) = self.first_tests(&is_sound).await?;
        // A plain run builds what it needs.
        let took = took.saturating_add(self.set_up().map_or(Duration::ZERO, |done| done.building));
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
        self.give_back(ready);
        let is_kept = is_sound(&tested.tests) && !self.refuses.load(Ordering::Relaxed);
        if let Some(key) = key.filter(|_| is_kept) {
            cache.keep(&key, &Kept::of(&tested, took));
        }
        Ok(tested)
    }

    /// Runs one command of a plan or of the settings on the commit's own files, or takes it that it held before.
    pub(crate) async fn command(&self, command: &str) -> Result<Evidence, GateError> {
        let cache = self.results().await?;
        let key = cache
            .key((self.commit, self.commit, None), &format!("{command}\0command"))
            .await?;
        let known = key.as_ref().and_then(|key| cache.known(key));
        if let Some(known) = known.filter(|known| matches!(known.tests, Evidence::Passed(_))) {
            return Ok(said::with_origin(known.tests, Origin::Kept));
        }
        let holds = |found: &Evidence| matches!(found, Evidence::Passed(_));
        let (ready, evidence, _) = self.first(What::Command(command), holds).await?;
        self.give_back(ready);
        if let Some(key) = key.filter(|_| matches!(evidence, Evidence::Passed(_))) {
            cache.keep(&key, &Kept::of_command(&evidence));
        }
        Ok(evidence)
    }

    /// Runs the commit's own tests. Where pre-flight had no tests to try the additions on, a result that speaks against the
    /// work may come of them: then the command runs as it stands.
    async fn first_tests(
        &self,
        is_sound: impl Fn(&Evidence) -> bool,
    ) -> Result<(Ready<'a>, Evidence, Duration), GateError> {
        let (ready, found, took) = self.first(What::Tests(&self.invocation()), &is_sound).await?;
        let line = &self.chosen.test_line;
        if is_sound(&found) || self.additions != Additions::Untried || !line.has_additions(&found) {
            return Ok((ready, found, took));
        }
        let begun = Instant::now();
        let plain = ready.tests_by(&line.invocation(Additions::Refused)).await?;
        if !is_sound(&plain) {
            return Ok((ready, found, took));
        }
        self.refuses.store(true, Ordering::Relaxed);
        Ok((ready, plain, begun.elapsed()))
    }

    /// Runs something on the commit's own files, and says how long it took. Where set-up did not run here and the result
    /// speaks against the work, set-up runs before that is believed.
    async fn first(
        &self,
        what: What<'_>,
        speaks_for: impl Fn(&Evidence) -> bool,
    ) -> Result<(Ready<'a>, Evidence, Duration), GateError> {
        let ready = self.ready().await?;
        let begun = Instant::now();
        let found = ready.run(what).await?;
        let ran_before = self.set_up().is_some_and(|done| done.ran == SetUpRan::Before);
        if speaks_for(&found) || !ran_before || is_too_slow(&found) {
            return Ok((ready, found, begun.elapsed()));
        }
        drop(ready);
        let ready = self.set_up_here().await?;
        let begun = Instant::now();
        let found = ready.run(what).await?;
        Ok((ready, found, begun.elapsed()))
    }

    /// Some tests of `commit` with some files in place of its own, or what they said before.
    ///
    /// Where the runner cannot select them, or what ran is not what was asked for, all tests run.
    pub(crate) async fn tests_with(
        &self,
        commit: &Sha,
        overlay: &Overlay,
        expected: Expected,
        (selection, limit): (&Selection, Duration),
    ) -> Result<Evidence, GateError> {
        let of = (commit, overlay);
        // What cannot be loaded fails by itself, and its tests have no results: all tests would say no more.
        let is_red = |found: &Evidence| {
            let has_failures = compare::names(found).is_some_and(|names| !names.failed.is_empty());
            expected == Expected::Red && has_failures && self.selects.load(Ordering::Relaxed)
        };
        let is_enough = |names: &[String], found: &Evidence| self.is_of(names, found) || is_red(found);
        self.selected(of, expected, (selection, limit), is_enough).await
    }

    /// The same for an experiment, each run stopped after this time: a test without a result has not passed.
    pub(crate) async fn tests_within(
        &self,
        of: (&Sha, &Overlay),
        expected: Expected,
        selection: &Selection,
        limit: Duration,
    ) -> Result<Evidence, GateError> {
        let is_enough = |names: &[String], found: &Evidence| {
            self.is_of(names, found) || self.selects.load(Ordering::Relaxed) && !matches!(found, Evidence::Absent(_))
        };
        self.selected(of, expected, (selection, limit), is_enough).await
    }

    async fn selected(
        &self,
        (commit, overlay): (&Sha, &Overlay),
        expected: Expected,
        (selection, limit): (&Selection, Duration),
        is_enough: impl Fn(&[String], &Evidence) -> bool,
    ) -> Result<Evidence, GateError> {
        if let Selection::Named(named) = selection
            && let Some(line) = self.selecting(named).await?
        {
            let what = (What::Tests(&line), limit);
            let found = self.line_with(commit, overlay, expected, what).await?;
            if is_too_slow(&found) || is_enough(&named.names, &found) {
                return Ok(found);
            }
        }
        let line = self.invocation();
        let what = (What::Tests(&line), limit);
        self.line_with(commit, overlay, expected, what).await
    }

    /// The line that runs these tests alone, where there is one that does what it should.
    async fn selecting(&self, wanted: &Named) -> Result<Option<Invocation>, GateError> {
        if wanted.names.is_empty() || self.cannot_select.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let paths = commands::paths(self.mirror, self.commit).await?;
        Ok(self.chosen.test_line.selecting(self.additions(), wanted, &paths))
    }

    /// Whether a result is that of the selected tests: each has one of its own, whatever its parameters are this time, and
    /// every failure has a name.
    fn is_of(&self, names: &[String], found: &Evidence) -> bool {
        let own = |names: &[String]| names.iter().map(|name| bare(name).to_owned()).collect::<BTreeSet<_>>();
        let (ran, is_red) = match (found, compare::names(found)) {
            (Evidence::Absent(_), _) => return false,
            (Evidence::Passed(_), Some(names)) => (names, false),
            (Evidence::Failed(_), Some(names)) => (names, true),
            // Code that cannot be loaded fails so, and so does a selection that is not understood.
            (Evidence::Passed(_) | Evidence::Failed(_), None) => return false,
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
    /// They run on what set-up left on the prepared commit. If they then speak against the work, and set-up may have copied
    /// or compiled what is replaced here, it runs on these very files before that is believed.
    async fn line_with(
        &self,
        commit: &Sha,
        overlay: &Overlay,
        expected: Expected,
        (what, limit): (What<'_>, Duration),
    ) -> Result<Evidence, GateError> {
        let cache = self.results().await?;
        let key = cache.key((self.commit, commit, Some(overlay)), &what.key()).await?;
        let known = key.as_ref().and_then(|key| cache.known(key));
        if let Some(known) = known.filter(|known| expected.is_met_by(&known.tests)) {
            return Ok(known.tests);
        }
        let ready = self.with(commit, overlay).await?.within(limit);
        let mut found = ready.run(what).await?;
        self.give_back(ready);
        let is_denied = expected.is_denied_by(&found) && !self.fails_as_before(&found);
        if self.may_mislead(overlay) && !self.is_misled() && is_denied {
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

    /// Whether tests fail, and only those that failed before.
    fn fails_as_before(&self, found: &Evidence) -> bool {
        let failed = compare::names(found).map_or(&[][..], |names| names.failed.as_slice());
        !failed.is_empty() && failed.iter().all(|name| self.known_red.contains(name))
    }

    /// A checkout of the commit as set-up left it.
    pub(crate) async fn ready(&self) -> Result<Ready<'a>, GateError> {
        if self.set_up().is_none() {
            match self.set_up_before().await? {
                Some(done) => self.note(done),
                None => return self.set_up_here().await,
            }
        }
        self.copy(self.commit, None).await
    }

    /// A checkout of `commit` with some files in place of its own, as set-up left the prepared commit. What it says against
    /// the work is to be confirmed: set-up may have made something of other files.
    pub(crate) async fn with(&self, commit: &Sha, overlay: &Overlay) -> Result<Ready<'a>, GateError> {
        if self.is_misled() {
            return self.on(commit, Some(overlay), Start::Cache).await;
        }
        if self.set_up().is_none() {
            drop(self.ready().await?);
        }
        self.copy(commit, Some(overlay)).await
    }

    fn set_up(&self) -> Option<Arc<SetUp>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, done: SetUp) {
        // They hold what another set-up left.
        self.used.lock().unwrap_or_else(PoisonError::into_inner).clear();
        *self.done.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(done));
    }

    /// Whether what set-up left may have been made of files that are replaced.
    fn may_mislead(&self, overlay: &Overlay) -> bool {
        let is_of_packages = self.set_up().is_some_and(|done| done.made == Made::Packages);
        self.chosen.setup.is_some() && (!is_of_packages || overlay.paths().any(is_read_by_package_managers))
    }

    /// A checkout of the commit that starts from no cache, and on which set-up ran.
    pub(crate) async fn anew(&self) -> Result<Ready<'a>, GateError> {
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
            .clamp(SHORTEST, self.longest().max(SHORTEST))
    }

    /// How long one run of the change's tests on the base may take: what set-up built may have to be built again there.
    pub(crate) fn patience_on_base(&self) -> Duration {
        let preparing = self.set_up().map_or(Duration::ZERO, |done| done.preparing);
        let longest = self.plain().saturating_mul(TIMES_PLAIN).saturating_add(preparing);
        longest.max(SHORTEST_ON_BASE).min(self.longest())
    }

    /// How long any run may take.
    pub(crate) fn longest(&self) -> Duration {
        self.bench.deadlines.test
    }

    /// What pre-flight's set-up left, where it would leave the same here; none where there is more to prepare than that.
    async fn set_up_before(&self) -> Result<Option<SetUp>, GateError> {
        let (Some((commit, said)), Some(seen)) = (&self.like, SandboxedCheckout::always_seen(self.bench)) else {
            return Ok(None);
        };
        if self.chosen.setup.is_none() || self.chosen.test_line.building().is_some() {
            return Ok(None);
        }
        let kept = Snapshot::of_packages(self.bench, (self.mirror, commit), &self.chosen, &seen).await?;
        Ok(kept.map(|snapshot| SetUp {
            said: Some(said::with_set_up_before(said.clone(), commit)),
            rewritten: Vec::new(),
            executable: Vec::new(),
            made: Made::Packages,
            snapshot: Some(snapshot),
            building: Duration::ZERO,
            preparing: Duration::ZERO,
            ran: SetUpRan::Before,
        }))
    }

    /// Sets the commit up, and keeps what that left. The checkout in which it ran is as good as any copy.
    async fn set_up_here(&self) -> Result<Ready<'a>, GateError> {
        let began = Instant::now();
        let ready = self.on(self.commit, None, Start::Cache).await?;
        let tracked = commands::paths(self.mirror, self.commit).await?.into_iter().collect();
        let made = match ready.is_ready() && self.chosen.setup.is_some() {
            true => match ready.leavings(&tracked).await {
                Ok(left) => ready.made(&left, &tracked).await,
                Err(_) => Made::OfFiles,
            },
            false => Made::OfFiles,
        };
        let set_up = Instant::now();
        let is_built = ready.is_ready() && ready.build().await?;
        let (building, preparing) = (set_up.elapsed(), began.elapsed());
        let snapshot = match ready.is_ready() && (is_built || self.chosen.setup.is_some()) {
            true => {
                // What cannot be looked through, because a command took its rights away, is not copied either.
                match ready.leavings(&tracked).await {
                    Ok(left) => {
                        let left = (ready.times.clone(), left.for_the_turn());
                        Snapshot::of(self.bench, &ready.checkout, left).await
                    }
                    Err(_) => None,
                }
            }
            false => None,
        };
        self.note(SetUp {
            said: ready.setup.clone(),
            rewritten: ready.rewritten.clone(),
            executable: ready.executable.clone(),
            made,
            snapshot,
            building,
            preparing,
            ran: SetUpRan::Here,
        });
        Ok(ready)
    }

    /// A copy of what set-up left.
    async fn copy(&self, commit: &Sha, overlay: Option<&Overlay>) -> Result<Ready<'a>, GateError> {
        let done = self.set_up();
        let Some((done, snapshot)) = done.as_ref().and_then(|done| Some((done, done.snapshot.as_ref()?))) else {
            return self.on(commit, overlay, Start::Cache).await;
        };
        let checkout = match self.used_again(commit, snapshot, overlay).await? {
            Some(checkout) => checkout,
            None => {
                let checkout = SandboxedCheckout::new(self.bench, self.mirror, commit, self.cancel).await?;
                if snapshot.fill(self.mirror, overlay, &checkout).await? != Warmed::Yes {
                    drop(checkout);
                    return self.on(commit, overlay, Start::Cache).await;
                }
                if let Some(overlay) = overlay {
                    overlay.lay(checkout.path()).await?;
                }
                checkout
            }
        };
        put_back::make_executable(checkout.path(), &done.executable).map_err(host("preparing a checkout"))?;
        let mut ready = self.of(checkout, overlay);
        ready.setup.clone_from(&done.said);
        if overlay.is_none() {
            ready.rewritten.clone_from(&done.rewritten);
        }
        // Where there is no wall, something may still run there, and nobody else may have a checkout meanwhile.
        if SandboxedCheckout::always_seen(self.bench).is_some() && snapshot.entry().is_some() {
            ready.stamps = Stamps::of(&ready.checkout).await;
        }
        Ok(ready)
    }

    fn of(&self, checkout: SandboxedCheckout, overlay: Option<&Overlay>) -> Ready<'a> {
        let commands = (Arc::clone(&self.chosen), self.additions());
        Ready::new((self.bench, self.settings), commands, (checkout, overlay))
    }

    /// A checkout of this commit in which something ran, as if nothing had, with these files in place of its own.
    async fn used_again(
        &self,
        commit: &Sha,
        snapshot: &Snapshot,
        overlay: Option<&Overlay>,
    ) -> Result<Option<SandboxedCheckout>, GateError> {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner).remove(commit);
        match used {
            Some(used) => used.again((self.mirror, commit), snapshot, overlay).await,
            None => Ok(None),
        }
    }

    /// Keeps a checkout for the next run on its commit, where that is possible.
    fn give_back(&self, ready: Ready<'a>) {
        let Ready {
            checkout, laid, stamps, ..
        } = ready;
        if let Some(before) = stamps {
            let commit = checkout.head().clone();
            let used = Used { checkout, laid, before };
            drop(
                self.used
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .insert(commit, used),
            );
        }
    }

    /// A fresh checkout with some files put in place of its own, on which set-up ran.
    async fn on(&self, commit: &Sha, overlay: Option<&Overlay>, start: Start) -> Result<Ready<'a>, GateError> {
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
    pub(crate) async fn to_be_kept(&self) -> Result<Ready<'a>, GateError> {
        let checkout = SandboxedCheckout::new(self.bench, self.mirror, self.commit, self.cancel).await?;
        cache::prepare(self.mirror, self.commit, &checkout).await?;
        self.run_setup(checkout, None).await
    }

    /// Puts files of another commit in place, then runs set-up, where there is one, and puts back what that rewrote of the
    /// files of the commit and of those that were put in place.
    async fn run_setup(&self, checkout: SandboxedCheckout, overlay: Option<&Overlay>) -> Result<Ready<'a>, GateError> {
        if let Some(overlay) = overlay {
            overlay.lay(checkout.path()).await?;
        }
        let mut ready = self.of(checkout, overlay);
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

/// Whether a run was stopped: with more tests, or after another set-up, it takes no less time.
fn is_too_slow(found: &Evidence) -> bool {
    matches!(found, Evidence::Absent(Absence::TimedOut { .. }))
}
