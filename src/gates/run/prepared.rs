//! A commit that is set up only once: every run of a turn starts from a copy of the files that set-up left.

use crate::{
    config::RepositorySettings,
    gates::{
        commands,
        commands::{CommandChoice, Reach},
        compare, coverage, gate_result,
        output::named_lines,
        run::{
            cache,
            cache::{CacheFill, SetUpFiles, Snapshot},
            checkout::{RunRequest, SandboxedCheckout},
            context::{GateContext, GateError, host},
            overlay::Overlay,
            put_back,
            put_back::SetUpTraces,
            ready::{Ready, RunTarget},
            result_cache::{Expected, ResultCache, Slot, Tested},
            used::{Stamps, UsedCheckout},
        },
        setup_reads::{is_read_by_package_managers, touches_setup},
    },
};
use domain::{
    evidence::{Absence, Additions, Baseline, Evidence, Ground},
    ids::Sha,
    registries,
};
use git::Mirror;
use parking_lot::Mutex;
use runners::{
    shell::programs,
    test_index::bare,
    test_line::{Invocation, Selection},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{sync::OnceCell, time::Instant};
use tokio_util::sync::CancellationToken;

/// The limit of an experiment's run, as a multiple of the plain run's time, and its least value.
const TIMES_PLAIN: u32 = 3;
const SHORTEST: Duration = Duration::from_secs(10);
/// The least time limit of a run on the base: a test that takes longer is assumed never to end there.
const SHORTEST_ON_BASE: Duration = Duration::from_secs(20);

/// The time that set-up may wait for a host that it cannot reach.
const WAITS_FOR_HOST: Duration = Duration::from_secs(10);

/// A commit with its commands; set-up happens at the first run.
pub(crate) struct Prepared<'a> {
    pub(crate) context: &'a GateContext,
    mirror: &'a Mirror,
    commit: &'a Sha,
    settings: &'a RepositorySettings,
    cancel: &'a CancellationToken,
    pub(crate) chosen: Arc<CommandChoice>,
    setup_reaches: Reach,
    /// Another commit on which set-up leaves the same files, and set-up's evidence from there.
    like: Option<(&'a Sha, Evidence)>,
    done: Mutex<Option<Arc<SetUp>>>,
    /// Used checkouts that can be used again, by commit.
    used: Mutex<BTreeMap<Sha, UsedCheckout>>,
    plain: OnceLock<Duration>,
    misled: AtomicBool,
    selects: AtomicBool,
    /// `true` once a selection ran none of its tests.
    cannot_select: AtomicBool,
    additions: Additions,
    /// `true` if the additions were first tried here, and the tests pass only without them.
    refuses: AtomicBool,
    /// The tests that failed before any change.
    known_red: BTreeSet<String>,
    versions: OnceCell<String>,
}

#[derive(Default)]
struct SetUp {
    said: Option<Evidence>,
    touched: SetUpTraces,
    made: SetUpFiles,
    snapshot: Option<Snapshot>,
    /// The time to build the tests, and the time for that and set-up together.
    building: Duration,
    preparing: Duration,
    /// `true` if it ran in pre-flight, on a commit on which it leaves the same files.
    ran_before: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coverage {
    Measured,
    NotAsked,
}

impl<'a> Prepared<'a> {
    pub(crate) async fn new(
        context: &'a GateContext,
        mirror: &'a Mirror,
        commit: &'a Sha,
        settings: &'a RepositorySettings,
        cancel: &'a CancellationToken,
    ) -> Result<Self, GateError> {
        Ok(Self {
            context,
            mirror,
            commit,
            settings,
            cancel,
            chosen: Arc::new(commands::choose_at(mirror, commit, settings).await?),
            setup_reaches: commands::reach_of_setup(mirror, context.default_branch.as_ref(), settings).await?,
            like: None,
            done: Mutex::default(),
            used: Mutex::default(),
            plain: OnceLock::new(),
            misled: AtomicBool::default(),
            selects: AtomicBool::default(),
            cannot_select: AtomicBool::default(),
            additions: Additions::default(),
            refuses: AtomicBool::default(),
            known_red: BTreeSet::new(),
            versions: OnceCell::new(),
        })
    }

    /// Adds the test command of the default branch or, if none is known there, of `base`, unless the commit's files lead to
    /// it too, or no longer suggest it at all.
    pub(crate) async fn beside_earlier_command(mut self, base: &Sha) -> Result<Self, GateError> {
        for earlier in self.context.default_branch.iter().chain([base]) {
            let Some(test) = commands::choose_at(self.mirror, earlier, self.settings).await?.test else { continue };
            if self.chosen.test.as_ref() == Some(&test) {
                return Ok(self);
            }
            if let Some(earlier) = commands::choose_with(self.mirror, self.commit, self.settings, &test).await? {
                self.chosen = Arc::new(self.chosen.after(earlier));
                return Ok(self);
            }
        }
        Ok(self)
    }

    /// Uses pre-flight's results: the judgement on the additions to the test command, and the files of set-up if they
    /// would be the same here.
    pub(crate) async fn after(mut self, baseline: &'a Baseline) -> Result<Self, GateError> {
        self.additions = baseline.additions;
        if let Ground::Named(before) = baseline.ground() {
            self.known_red = before.failed.iter().cloned().collect();
        }
        let Some(said @ Evidence::Passed(_)) = &baseline.setup else {
            return Ok(self);
        };
        if !touches_setup(self.mirror, &baseline.commit, self.commit, &self.chosen).await? {
            self.like = Some((&baseline.commit, said.clone()));
        }
        Ok(self)
    }

    /// Sets which additions to the test command are allowed.
    pub(crate) fn adding(mut self, additions: Additions) -> Self {
        self.additions = additions;
        self
    }

    async fn slot(&self, commit: &Sha, overlay: Option<&Overlay>, line: &str) -> Result<Slot, GateError> {
        let cache = ResultCache {
            context: self.context,
            mirror: self.mirror,
            settings: self.settings,
            chosen: &self.chosen,
            setup_reaches: &self.setup_reaches,
            versions: self.versions.get_or_try_init(|| self.ask_versions()).await?,
        };
        cache.slot(self.commit, commit, overlay, line).await
    }

    /// Returns the place in the cache for the tests with all additions to their command.
    async fn slot_with_additions(&self) -> Result<Slot, GateError> {
        let line = self.chosen.test_line.invocation(Additions::Harmless).key();
        self.slot(self.commit, None, &line).await
    }

    /// Returns the versions of the programs in the commands and of those that they usually start. They are asked in a
    /// checkout, because files of the commit may choose which version a shim starts.
    async fn ask_versions(&self) -> Result<String, GateError> {
        let commands = self.chosen.setup.iter().chain(&self.chosen.test);
        let own = commands.flat_map(|command| programs(command.text()));
        let paths = commands::paths(self.mirror, self.commit).await?;
        let usual = registries::of_paths(&paths).into_iter().flat_map(|ecosystem| ecosystem.programs);
        let all: BTreeSet<String> = own.chain(usual.map(|program| (*program).to_owned())).collect();
        self.checkout(self.commit).await?.versions(&all).await
    }

    /// Returns a fresh checkout, without set-up.
    async fn checkout(&self, commit: &Sha) -> Result<SandboxedCheckout, GateError> {
        let checkout = SandboxedCheckout::new(self.context, self.mirror, commit, self.cancel).await?;
        cache::age(&checkout).await?;
        Ok(checkout)
    }

    fn invocation(&self) -> Invocation {
        self.chosen.test_line.invocation(self.additions())
    }

    fn additions(&self) -> Additions {
        if self.refuses.load(Ordering::Relaxed) { Additions::Refused } else { self.additions }
    }

    pub(crate) async fn known_with_additions(&self) -> Result<Option<Evidence>, GateError> {
        let known = self.slot_with_additions().await?.load();
        Ok(known.map(|known| known.tests))
    }

    /// Caches the result of the tests with all additions to their command, if they passed.
    pub(crate) async fn keep_with_additions(
        &self,
        ready: &Ready<'_>,
        tests: &Evidence,
        took: Duration,
    ) -> Result<(), GateError> {
        if matches!(tests, Evidence::Passed(_)) {
            let tested = Tested::now(ready, tests.clone(), None, took);
            self.slot_with_additions().await?.keep(&tested);
        }
        Ok(())
    }

    /// Runs the commit's own tests, or returns a cached result of the same files. A result is cached if it is sound:
    /// nothing counts against the change.
    pub(crate) async fn tests(
        &self,
        coverage: Coverage,
        is_sound: impl Fn(&Evidence) -> bool,
    ) -> Result<Tested, GateError> {
        let measures = coverage == Coverage::Measured && self.settings.coverage.file.is_some();
        let line = self.invocation().key() + if measures { "\0coverage" } else { "" };
        let slot = self.slot(self.commit, None, &line).await?;
        if let Some(known) = slot.load().filter(|known| is_sound(&known.tests)) {
            let _ = self.plain.set(known.took);
            return Ok(known);
        }
        let (ready, tests, took) = self.first_tests(&is_sound).await?;
        // A plain run includes the build.
        let took = took.saturating_add(self.set_up().map_or(Duration::ZERO, |done| done.building));
        let _ = self.plain.set(took);
        let coverage = match (measures, &tests) {
            (true, Evidence::Passed(_) | Evidence::Failed(_)) => coverage::measure(&ready, self.settings).await?,
            (true, Evidence::Absent(_)) | (false, _) => None,
        };
        let tested = Tested::now(&ready, tests, coverage, took);
        self.give_back(ready);
        if is_sound(&tested.tests) && !self.refuses.load(Ordering::Relaxed) {
            slot.keep(&tested);
        }
        Ok(tested)
    }

    /// Runs one command of a plan or the settings on the commit's own files, or returns its cached success.
    pub(crate) async fn command(&self, command: &str) -> Result<Evidence, GateError> {
        let what = RunTarget::Command(command);
        let holds = |found: &Evidence| matches!(found, Evidence::Passed(_));
        let slot = self.slot(self.commit, None, &what.key()).await?;
        if let Some(known) = slot.load().filter(|known| holds(&known.tests)) {
            return Ok(gate_result::with_origin(known.tests, known.origin));
        }
        let (ready, found, _) = self.first(what, holds).await?;
        self.give_back(ready);
        if holds(&found) {
            slot.keep(&Tested::of_command(found.clone()));
        }
        Ok(found)
    }

    /// Runs the commit's own tests. If pre-flight had no tests to try the additions on, they may have caused a bad
    /// result: then the plain command runs too.
    async fn first_tests(
        &self,
        is_sound: impl Fn(&Evidence) -> bool,
    ) -> Result<(Ready<'a>, Evidence, Duration), GateError> {
        let (ready, found, took) = self.first(RunTarget::Tests(&self.invocation()), &is_sound).await?;
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

    /// Runs something on the commit's own files and measures the time. If set-up did not run here and the result counts
    /// against the change, it is run again after set-up.
    async fn first(
        &self,
        what: RunTarget<'_>,
        speaks_for: impl Fn(&Evidence) -> bool,
    ) -> Result<(Ready<'a>, Evidence, Duration), GateError> {
        let ready = self.ready().await?;
        let begun = Instant::now();
        let found = ready.run(what).await?;
        let ran_before = self.set_up().is_some_and(|done| done.ran_before);
        if speaks_for(&found) || !ran_before || is_too_slow(&found) {
            return Ok((ready, found, begun.elapsed()));
        }
        drop(ready);
        let ready = self.set_up_here().await?;
        let begun = Instant::now();
        let found = ready.run(what).await?;
        Ok((ready, found, begun.elapsed()))
    }

    /// Runs some tests of `commit` with the overlay's files, or returns a cached result.
    ///
    /// If the runner cannot select the tests, or ran other tests than asked for, all tests run.
    pub(crate) async fn tests_with(
        &self,
        commit: &Sha,
        overlay: &Overlay,
        expected: Expected,
        selection: &Selection,
        limit: Duration,
    ) -> Result<Evidence, GateError> {
        let paths = commands::paths(self.mirror, self.commit).await?;
        if let Selection::Named(named) = selection
            && !named.names.is_empty()
            && !self.cannot_select.load(Ordering::Relaxed)
            && let Some(line) = self.chosen.test_line.selecting(self.additions(), named, &paths)
        {
            let found = self.line_with(commit, overlay, expected, RunTarget::Tests(&line), limit).await?;
            let is_enough = is_too_slow(&found)
                || is_unbuilt(&found, overlay)
                || self.is_of(&named.names, &found)
                || expected.suffices(&found) && self.selects.load(Ordering::Relaxed);
            if is_enough {
                return Ok(found);
            }
        }
        let line = self.invocation();
        self.line_with(commit, overlay, expected, RunTarget::Tests(&line), limit).await
    }

    /// `true` if the result is that of the selected tests: each has its own result, whatever its parameters are this
    /// time, and every failure is named.
    fn is_of(&self, names: &[String], found: &Evidence) -> bool {
        let own = |names: &[String]| names.iter().map(|name| bare(name).to_owned()).collect::<BTreeSet<_>>();
        // Both code that cannot be loaded and a selection that the runner rejects end without names.
        let Some(ran) = compare::names(found) else { return false };
        let is_red = matches!(found, Evidence::Failed(_));
        let (passed, failed) = (own(&ran.passed), own(&ran.failed));
        let wanted = own(names);
        let is_whole = wanted.iter().all(|name| passed.contains(name) || failed.contains(name));
        // If the run failed but no test did, the cause is an addition, such as an unknown argument.
        let is_consistent = !is_red || !ran.failed.is_empty();
        let is_believed = is_whole && is_consistent;
        if is_believed {
            self.selects.store(true, Ordering::Relaxed);
        } else if passed.is_disjoint(&wanted) && failed.is_disjoint(&wanted) && !is_red {
            self.cannot_select.store(true, Ordering::Relaxed);
        }
        is_believed
    }

    /// Runs a command that should fail on `commit` with the overlay's files, or returns its cached result.
    pub(crate) async fn command_with(
        &self,
        commit: &Sha,
        overlay: &Overlay,
        command: &str,
    ) -> Result<Evidence, GateError> {
        let limit = self.context.deadlines.test;
        self.line_with(commit, overlay, Expected::Red, RunTarget::Command(command), limit).await
    }

    /// Runs a line on `commit` with the overlay's files, or returns its cached result.
    ///
    /// It starts from the files that set-up left on the prepared commit. If the result counts against the change, and
    /// set-up may have copied or compiled files that are replaced here, the line runs again after a set-up on these
    /// files.
    async fn line_with(
        &self,
        commit: &Sha,
        overlay: &Overlay,
        expected: Expected,
        what: RunTarget<'_>,
        limit: Duration,
    ) -> Result<Evidence, GateError> {
        let slot = self.slot(commit, Some(overlay), &what.key()).await?;
        if let Some(known) = slot.load().filter(|known| expected.is_met_by(&known.tests)) {
            return Ok(known.tests);
        }
        let ready = self.with(commit, overlay).await?.within(limit);
        let mut found = ready.run(what).await?;
        self.give_back(ready);
        let is_denied = expected.is_denied_by(&found) && !self.fails_as_before(&found);
        if self.may_mislead(overlay) && !self.is_misled() && is_denied {
            let ready = self.on(commit, Some(overlay)).await?.within(limit);
            found = ready.run(what).await?;
            if expected.is_met_by(&found) {
                // Set-up made something from the commit's own files that misled this run. From now on, set-up runs for
                // every run.
                self.misled.store(true, Ordering::Relaxed);
            }
        }
        if expected.is_met_by(&found) {
            slot.keep(&Tested::of_command(found.clone()));
        }
        Ok(found)
    }

    /// `true` if tests fail, and only those that failed before the change.
    fn fails_as_before(&self, found: &Evidence) -> bool {
        let failed = compare::names(found).map_or(&[][..], |names| names.failed.as_slice());
        !failed.is_empty() && failed.iter().all(|name| self.known_red.contains(name))
    }

    /// Returns a checkout of the commit after set-up.
    pub(crate) async fn ready(&self) -> Result<Ready<'a>, GateError> {
        if self.set_up().is_none() {
            match self.set_up_before().await? {
                Some(done) => self.note(done),
                None => return self.set_up_here().await,
            }
        }
        self.copy(self.commit, None).await
    }

    /// Returns a checkout of `commit` with the overlay's files, after the prepared commit's set-up. A result that
    /// counts against the change needs confirmation, since set-up may have used files that the overlay replaces.
    pub(crate) async fn with(&self, commit: &Sha, overlay: &Overlay) -> Result<Ready<'a>, GateError> {
        if self.is_misled() {
            return self.on(commit, Some(overlay)).await;
        }
        if self.set_up().is_none() {
            drop(self.ready().await?);
        }
        self.copy(commit, Some(overlay)).await
    }

    fn set_up(&self) -> Option<Arc<SetUp>> {
        self.done.lock().clone()
    }

    fn note(&self, done: SetUp) {
        // They contain the files of another set-up.
        self.used.lock().clear();
        *self.done.lock() = Some(Arc::new(done));
    }

    /// `true` if set-up may have made something from files that the overlay replaces. A runner that builds the code
    /// that it tests sees these files itself, after a set-up that only calls package managers.
    fn may_mislead(&self, overlay: &Overlay) -> bool {
        let builds = self.chosen.setup_is_found && self.chosen.test_line.building().is_some();
        let is_of_packages = builds || self.set_up().is_some_and(|done| done.made == SetUpFiles::Packages);
        self.chosen.setup.is_some() && (!is_of_packages || overlay.paths().any(is_read_by_package_managers))
    }

    /// Returns a checkout of the commit on which set-up ran without any cache.
    pub(crate) async fn anew(&self) -> Result<Ready<'a>, GateError> {
        let checkout = self.checkout(self.commit).await?;
        self.run_setup(checkout, None).await
    }

    /// `true` if set-up runs for every run.
    fn is_misled(&self) -> bool {
        self.misled.load(Ordering::Relaxed)
    }

    /// Returns the time that the plain run took, or else its limit.
    pub(crate) fn plain(&self) -> Duration {
        self.plain.get().copied().unwrap_or(self.context.deadlines.test)
    }

    /// Returns the time limit for one run of an experiment.
    pub(crate) fn patience(&self) -> Duration {
        self.plain().saturating_mul(TIMES_PLAIN).clamp(SHORTEST, self.context.deadlines.test.max(SHORTEST))
    }

    /// Returns the time limit for one run of the change's tests on the base, which may have to rebuild much.
    pub(crate) fn patience_on_base(&self) -> Duration {
        let preparing = self.set_up().map_or(Duration::ZERO, |done| done.preparing);
        let longest = self.plain().saturating_mul(TIMES_PLAIN).saturating_add(preparing);
        longest.max(SHORTEST_ON_BASE).min(self.context.deadlines.test)
    }

    /// Returns the snapshot of pre-flight's set-up, if it would leave the same here; `None` if more must be prepared.
    async fn set_up_before(&self) -> Result<Option<SetUp>, GateError> {
        let (Some((commit, said)), Some(seen)) = (&self.like, SandboxedCheckout::always_seen(self.context)) else {
            return Ok(None);
        };
        if self.chosen.setup.is_none() || self.chosen.test_line.building().is_some() {
            return Ok(None);
        }
        let kept = Snapshot::of_packages(self.context, self.mirror, commit, &self.chosen, &seen).await?;
        Ok(kept.map(|snapshot| SetUp {
            said: Some(gate_result::with_set_up_before(said.clone(), commit)),
            made: SetUpFiles::Packages,
            snapshot: Some(snapshot),
            ran_before: true,
            ..SetUp::default()
        }))
    }

    /// Sets the commit up and keeps a snapshot. The checkout in which set-up ran serves as the first copy.
    async fn set_up_here(&self) -> Result<Ready<'a>, GateError> {
        let began = Instant::now();
        let ready = self.on(self.commit, None).await?;
        let tracked: BTreeSet<String> = commands::paths(self.mirror, self.commit).await?.into_iter().collect();
        // If a command made folders unreadable, they cannot be copied either.
        let left = async |is_wanted: bool| {
            if is_wanted { ready.untracked_files(&tracked).await.ok() } else { None }
        };
        let has_setup = ready.is_ready() && self.chosen.setup.is_some();
        let made = match left(has_setup).await {
            Some(left) => ready.inspect_made(&left, &tracked).await,
            None => SetUpFiles::OfFiles,
        };
        let set_up = Instant::now();
        let is_built = ready.is_ready() && ready.build().await?;
        let (building, preparing) = (set_up.elapsed(), began.elapsed());
        let snapshot = match left(has_setup || is_built).await {
            Some(left) => Snapshot::of(self.context, &ready.checkout, left.for_the_turn()).await,
            None => None,
        };
        self.note(SetUp {
            said: ready.setup.clone(),
            touched: ready.touched.clone(),
            made,
            snapshot,
            building,
            preparing,
            ran_before: false,
        });
        Ok(ready)
    }

    async fn copy(&self, commit: &Sha, overlay: Option<&Overlay>) -> Result<Ready<'a>, GateError> {
        let done = self.set_up();
        let Some((done, snapshot)) = done.as_ref().and_then(|done| Some((done, done.snapshot.as_ref()?))) else {
            return self.on(commit, overlay).await;
        };
        let used = self.used.lock().remove(commit);
        let again = match used {
            Some(used) => used.again(self.mirror, snapshot, overlay).await?,
            None => None,
        };
        let checkout = match again {
            Some(checkout) => checkout,
            None => {
                let checkout = self.checkout(commit).await?;
                if snapshot.fill(self.mirror, overlay, &checkout).await? != CacheFill::Yes {
                    drop(checkout);
                    return self.on(commit, overlay).await;
                }
                if let Some(overlay) = overlay {
                    overlay.lay(self.mirror, &checkout).await?;
                }
                checkout
            }
        };
        put_back::make_executable(checkout.path(), &done.touched.executable).map_err(host("preparing a checkout"))?;
        let mut ready = self.of(checkout, overlay);
        ready.setup.clone_from(&done.said);
        if overlay.is_none() {
            ready.touched.clone_from(&done.touched);
        }
        // At isolation levels 0 and 1, processes may still run there, and holding the checkout would block all others.
        if SandboxedCheckout::always_seen(self.context).is_some() && !cache::times_matter(&ready.checkout) {
            ready.stamps = Stamps::of(&ready.checkout).await;
        }
        Ok(ready)
    }

    fn of(&self, checkout: SandboxedCheckout, overlay: Option<&Overlay>) -> Ready<'a> {
        Ready {
            checkout,
            chosen: Arc::clone(&self.chosen),
            coverage_file: self.settings.coverage.file.as_deref(),
            setup: None,
            refused: Vec::new(),
            touched: SetUpTraces::default(),
            laid: overlay.into_iter().flat_map(Overlay::paths).map(PathBuf::from).collect(),
            stamps: None,
            deadline: self.context.deadlines.test,
            additions: self.additions(),
        }
    }

    /// Keeps a checkout for the next run on its commit, if possible.
    fn give_back(&self, ready: Ready<'a>) {
        let Ready { checkout, laid, stamps, .. } = ready;
        if let Some(before) = stamps {
            let commit = checkout.head().clone();
            let used = UsedCheckout { checkout, laid, before };
            drop(self.used.lock().insert(commit, used));
        }
    }

    /// Returns a fresh checkout with the overlay's files, on which set-up ran, starting from the files that pre-flight
    /// built on the default branch, if they fit.
    async fn on(&self, commit: &Sha, overlay: Option<&Overlay>) -> Result<Ready<'a>, GateError> {
        let mut checkout = self.checkout(commit).await?;
        let warmed = cache::warm(self.context, self.mirror, &self.chosen, overlay, &checkout).await?;
        if warmed == CacheFill::InPart {
            drop(checkout);
            checkout = self.checkout(commit).await?;
        }
        let ready = self.run_setup(checkout, overlay).await?;
        // The cache may not fit here, so only a failure of set-up without it counts.
        if warmed == CacheFill::Yes && !ready.is_ready() {
            drop(ready);
            let checkout = self.checkout(commit).await?;
            return self.run_setup(checkout, overlay).await;
        }
        Ok(ready)
    }

    /// Writes the overlay's files, then runs set-up, if there is one, and restores the files of the commit and the
    /// overlay that set-up rewrote.
    async fn run_setup(&self, checkout: SandboxedCheckout, overlay: Option<&Overlay>) -> Result<Ready<'a>, GateError> {
        if let Some(overlay) = overlay {
            overlay.lay(self.mirror, &checkout).await?;
        }
        let mut ready = self.of(checkout, overlay);
        if let Some(command) = &self.chosen.setup {
            let order = RunRequest {
                command,
                as_line: &Invocation::plain(command.text()),
                deadline: self.context.deadlines.setup,
                refused: Some(WAITS_FOR_HOST),
                report: None,
                report_folders: &[],
                reaches: &self.setup_reaches,
            };
            let before = put_back::note_state(&ready.checkout, overlay).await?;
            let (said, refused) = ready.checkout.set_up(&order).await?;
            ready.setup = Some(said.without_hosts_for_a_person(&refused));
            ready.refused = refused;
            ready.touched = before.put_back(&ready.checkout, self.mirror).await?;
        }
        Ok(ready)
    }
}

/// `true` if no test ran and the output blames a line of a file that was put in place: a run of all tests would end in the
/// same way.
fn is_unbuilt(found: &Evidence, overlay: &Overlay) -> bool {
    let Some(finding) = found.failure() else { return false };
    let blames = |path: &str| !named_lines(&finding.output, path).is_empty();
    let has_names = finding.names.as_ref().is_some_and(|names| names.all().next().is_some());
    !has_names && overlay.paths().any(blames)
}

/// `true` if the run ran out of time: more tests, or another set-up, would not be faster.
fn is_too_slow(found: &Evidence) -> bool {
    matches!(found, Evidence::Absent(Absence::TimedOut { .. }))
}
