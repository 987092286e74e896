//! Runs the change's tests on the base's code: a test that fails there needs the change.

use crate::gates::{
    change::{Change, is_of_tests, text},
    checks::OnBase,
    compare,
    mutation::code::Put,
    run::{
        context::GateError,
        overlay::{Overlay, Side},
        prepared::Prepared,
        result_cache::Expected,
    },
    setup_reads::touches_setup,
    test_line::Selection,
    turn::Run,
};
use domain::evidence::Evidence;
use git::RawChange;
use integrity::{
    FileChange, language,
    language::{Role, role},
    make, side,
};

/// The base's code with the change's tests, ready to run.
pub(crate) struct BaseCode<'a> {
    run: &'a Run<'a>,
    overlay: Overlay,
    /// A checkout of the base with its own set-up; `None` if the change touches nothing that set-up reads or runs.
    /// Without it, the change's set-up could be what makes the tests fail on the base.
    alone: Option<Prepared<'a>>,
}

impl<'a> BaseCode<'a> {
    pub(crate) async fn of(run: &'a Run<'a>) -> Result<Self, GateError> {
        let subject = run.subject;
        let between = (subject.fork, subject.head);
        let alone = match touches_setup(subject.mirror, between, &run.prepared.chosen).await? {
            true => Some(run.prepared.by_itself(subject.fork, subject.before).await?),
            false => None,
        };
        let overlay = new_tests(run, &is_of_tests).await?;
        Ok(Self { run, overlay, alone })
    }

    fn prepared(&self) -> &Prepared<'a> {
        self.alone.as_ref().unwrap_or(self.run.prepared)
    }

    /// Runs the tests with the base's settings.
    pub(crate) async fn tests(&self, wanted: &Selection) -> Result<Evidence, GateError> {
        self.tests_with(&self.overlay, wanted).await
    }

    /// Runs the tests with the change's settings and build files too, since the tests may not build with the base's, or
    /// not be listed there.
    pub(crate) async fn tests_as_set(&self, wanted: &Selection) -> Result<Evidence, GateError> {
        let overlay = new_tests(self.run, &|path| is_of_tests(path) || lists_tests(path)).await?;
        self.tests_with(&overlay, wanted).await
    }

    async fn tests_with(&self, overlay: &Overlay, wanted: &Selection) -> Result<Evidence, GateError> {
        let (fork, limit) = (self.run.subject.fork, self.run.prepared.patience_on_base());
        self.prepared()
            .tests_with(fork, overlay, Expected::Red, (wanted, limit))
            .await
    }

    /// Runs a command and says whether it succeeds on the base.
    pub(crate) async fn command(&self, command: &str) -> Result<OnBase, GateError> {
        let fork = self.run.subject.fork;
        let found = self.prepared().command_with(fork, &self.overlay, command).await?;
        Ok(match found {
            Evidence::Failed(finding) if !compare::is_stopped(&finding) => OnBase::Fails,
            Evidence::Passed(_) => OnBase::Holds,
            Evidence::Failed(_) | Evidence::Absent(_) => OnBase::Unknown,
        })
    }
}

/// `true` if the change touches source code and writes data files that tests read, such as expected results.
pub(crate) fn stores_answers(change: &Change) -> bool {
    let is_data = |file: &FileChange| file.after.bytes().is_some() && language::of(&file.path).is_none();
    change.of_role(Role::Support).any(is_data) && change.of_role(Role::Source).next().is_some()
}

/// `true` if the tests that run are listed in a file: the runner's settings, or a build file in which each test is
/// registered.
pub(crate) fn lists_tests(path: &str) -> bool {
    const BUILD_FILES: [&str; 3] = ["CMakeLists.txt", "meson.build", "Makefile.am"];
    let name = language::file_name(path);
    role(path) == Role::Settings || BUILD_FILES.contains(&name) || make::FILES.contains(&name)
}

/// Returns the change's files that are wanted, and the tests inside its source files, as an overlay for the base.
async fn new_tests(run: &Run<'_>, is_wanted: &(dyn Fn(&str) -> bool + Sync)) -> Result<Overlay, GateError> {
    let change = run.change;
    let is_wanted = |raw: &&RawChange| raw.path.to_str().is_some_and(is_wanted);
    let changes: Vec<&RawChange> = change.raw.iter().filter(is_wanted).collect();
    let inline = change.of_role(Role::Source).filter_map(|file| inline(change, file));
    let overlay = Overlay::of(run.subject.mirror, &changes, Side::After).await?;
    Ok(overlay.and(Overlay::of_bytes(inline.collect())))
}

/// Returns the base's version of a source file with the change's inline tests in it; `None` if that changes nothing.
fn inline(change: &Change, file: &FileChange) -> Option<Put> {
    let (before, after) = (text(&file.before)?, text(&file.after)?);
    let swapped = side::with_inline_tests_of(&file.path, before, after).filter(|swapped| swapped != before)?;
    Some((file.path.clone(), swapped.into_bytes(), change.old_mode(&file.path)?))
}
