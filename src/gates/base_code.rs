//! The base's code with the change's tests: what fails there needs the change.

use crate::gates::{
    change::Change,
    checks::OnBase,
    inline_tests,
    mutation::code::Put,
    run::{
        context::GateError,
        overlay::{Overlay, Side},
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
};

/// Runs the change's tests on the base's code, as set-up left the change's commit. Where the change touches what set-up
/// reads or runs, that may be what makes them fail: then the base is set up by itself, and both runs are given.
pub(crate) async fn with_new_tests(run: &Run<'_>) -> Result<Vec<Evidence>, GateError> {
    let (fork, overlay) = (run.subject.fork, new_tests(run).await?);
    if !touches_setup(run).await? {
        return Ok(vec![
            run.prepared
                .tests_with(fork, &overlay, Expected::Red, &Selection::All)
                .await?,
        ]);
    }
    let base = run.prepared.by_itself(fork).await?;
    let mut found = vec![base.tests_with(fork, &overlay, Expected::Red, &Selection::All).await?];
    if found.iter().all(|found| Expected::Red.is_met_by(found)) {
        found.push(run.prepared.with(fork, &overlay).await?.tests().await?);
    }
    Ok(found)
}

/// What a command says there.
pub(crate) async fn command(run: &Run<'_>, command: &str) -> Result<OnBase, GateError> {
    let (fork, overlay) = (run.subject.fork, new_tests(run).await?);
    let mut found = vec![run.prepared.with(fork, &overlay).await?.command(command).await?];
    if matches!(found.as_slice(), [Evidence::Failed(_)]) && touches_setup(run).await? {
        let base = run.prepared.by_itself(fork).await?;
        found.push(base.with(fork, &overlay).await?.command(command).await?);
    }
    Ok(match found.last() {
        Some(Evidence::Failed(_)) => OnBase::Fails,
        Some(Evidence::Passed(_)) => OnBase::Holds,
        Some(Evidence::Absent(_)) | None => OnBase::Unknown,
    })
}

/// Whether the change stores answers for tests, and touches code.
pub(crate) fn stores_answers(change: &Change) -> bool {
    let is_data = |file: &FileChange| file.after.bytes().is_some() && language::of(&file.path).is_none();
    change.of_role(Role::Support).any(is_data) && change.of_role(Role::Source).next().is_some()
}

/// The change's files of tests, what they need, and the tests inside files of code.
async fn new_tests(run: &Run<'_>) -> Result<Overlay, GateError> {
    let is_of_tests = |change: &&RawChange| {
        let path = change.path.to_str();
        path.is_some_and(|path| matches!(role(path), Role::Test | Role::Support))
    };
    let changes: Vec<&RawChange> = run.change.raw.iter().filter(is_of_tests).collect();
    let inline = run
        .change
        .of_role(Role::Source)
        .filter_map(|file| inline(run.change, file));
    let inline = Overlay::of_bytes(inline.collect());
    Ok(Overlay::of(run.subject.mirror, &changes, Side::After)
        .await?
        .and(inline))
}

/// The base's file with the tests of the change's, where they differ.
fn inline(change: &Change, file: &FileChange) -> Option<Put> {
    let text = |bytes: Option<&[u8]>| std::str::from_utf8(bytes?).ok().map(str::to_owned);
    let (before, after) = (text(file.before.bytes())?, text(file.after.bytes())?);
    let is_asked = inline_tests::can_separate(&file.path);
    let swapped = is_asked.then(|| inline_tests::with_tests_of(&file.path, &before, &after))??;
    (swapped != before).then(|| Some((file.path.clone(), swapped.into_bytes(), change.old_mode(&file.path)?)))?
}
