//! Pre-flight: runs set-up and tests on a commit of the default branch before any change. Also runs them on the commit
//! from which a task's work starts, where the work of earlier tasks must pass too.

use crate::{
    config::RepositorySettings,
    gates::{
        commands, compare,
        run::{
            cache,
            cache::{SetUpFiles, UntrackedFiles},
            checkout::SandboxedCheckout,
            context::{GateContext, GateError},
            prepared::{Coverage, Prepared},
            ready::Ready,
        },
    },
};
use domain::{
    evidence::{Additions, Baseline, Counts, Evidence, Finding},
    ids::Sha,
};
use git::Mirror;
use runners::{shell, test_index::bare};
use std::collections::BTreeSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The most times that the tests run with and without additions until both agree. A difference that does not repeat
/// comes from flaky tests.
const PAIRS: u32 = 2;

/// Runs set-up and tests on a commit of the default branch, and keeps the built files for later runs. The tests run
/// with the plain command, and again with AutoBuild's additions, which are dropped if they change a result.
/// A failing command is evidence, never an error.
pub async fn preflight(
    context: &GateContext,
    mirror: &Mirror,
    commit: &Sha,
    settings: &RepositorySettings,
    cancel: &CancellationToken,
) -> Result<Baseline, GateError> {
    let context = &context.on_default_branch(commit);
    let prepared = Prepared::new(context, mirror, commit, settings, cancel).await?.adding(Additions::None);
    let known = prepared.known_with_additions().await?;
    let ready = prepared.anew().await?;
    let tracked: BTreeSet<String> = commands::paths(mirror, commit).await?.into_iter().collect();
    let keep = async |ready: &Ready<'_>, (setup, tests): (&UntrackedFiles, &UntrackedFiles), made| {
        let kept = UntrackedFiles::worth_keeping(setup, tests, ready.checkout.path());
        cache::keep(context, mirror, &prepared.chosen, &ready.checkout, kept, made).await
    };
    let after_setup = ready.untracked_files(&tracked).await?;
    let made = ready.inspect_made(&after_setup, &tracked).await;
    // If set-up left only packages, they are cached as they are; otherwise they are cached with the files that the
    // tests built and wrote.
    let chosen = &prepared.chosen;
    let is_kept_as_it_is =
        made == SetUpFiles::Packages && chosen.setup.is_some() && chosen.test_line.building().is_none();
    if is_kept_as_it_is && ready.is_ready() {
        keep(&ready, (&after_setup, &after_setup), made).await?;
    }
    let plain = ready.tests().await?;
    let (tests, additions) = try_additions(&prepared, &ready, plain, known).await?;
    let after_tests = ready.untracked_files(&tracked).await?;
    if !is_kept_as_it_is && ready.is_ready() {
        keep(&ready, (&after_setup, &after_tests), SetUpFiles::OfFiles).await?;
    }
    Ok(Baseline {
        commit: commit.clone(),
        setup: ready.setup.clone().map(|setup| setup.without_hosts(&ready.refused)),
        tests,
        rewritten: ready.touched.rewritten.clone(),
        additions,
        made: after_tests.folder_names(ready.checkout.path()),
    })
}

/// Runs set-up and tests on `commit`, unless an earlier run on the same files is known. `baseline` holds the results
/// before the Feature began, on a commit that `commit` contains.
/// A failing command is evidence, never an error.
pub async fn results_at_start(
    context: &GateContext,
    mirror: &Mirror,
    commit: &Sha,
    settings: &RepositorySettings,
    baseline: &Baseline,
    cancel: &CancellationToken,
) -> Result<Baseline, GateError> {
    let prepared = Prepared::new(context, mirror, commit, settings, cancel).await?;
    let prepared = prepared.beside_earlier_command(&baseline.commit).await?.after(baseline).await?;
    let is_sound = |ran: &Evidence| compare::is_sound(ran, &compare::excused(ran, baseline, &[]));
    let tested = prepared.tests(Coverage::NotAsked, is_sound).await?;
    Ok(Baseline {
        commit: commit.clone(),
        setup: tested.setup,
        tests: tested.tests,
        rewritten: tested.rewritten,
        additions: baseline.additions,
        made: baseline.made.clone(),
    })
}

/// Returns the programs that the commands call but that are neither in a commit of the default branch nor on `PATH`, even
/// after set-up; each with its command.
pub async fn missing_programs(
    context: &GateContext,
    mirror: &Mirror,
    commit: &Sha,
    settings: &RepositorySettings,
    lines: &[String],
    cancel: &CancellationToken,
) -> Result<Vec<(String, String)>, GateError> {
    let context = &context.on_default_branch(commit);
    let checkout = SandboxedCheckout::new(context, mirror, commit, cancel).await?;
    let mut missing = missing_in(&checkout, lines).await?;
    drop(checkout);
    if !missing.is_empty() {
        let prepared = Prepared::new(context, mirror, commit, settings, cancel).await?;
        missing = missing_in(&prepared.ready().await?.checkout, lines).await?;
    }
    Ok(missing)
}

async fn missing_in(checkout: &SandboxedCheckout, lines: &[String]) -> Result<Vec<(String, String)>, GateError> {
    let mut all = Vec::new();
    for line in lines {
        let outside: BTreeSet<String> = shell::programs(line).into_iter().collect();
        let missing = checkout.missing(line).await?.into_iter();
        let missing = missing.filter(|word| outside.contains(word));
        all.extend(missing.map(|word| (line.clone(), word)));
    }
    Ok(all)
}

/// Runs the tests with the additions to their command, and compares every result.
async fn try_additions(
    prepared: &Prepared<'_>,
    ready: &Ready<'_>,
    plain: Evidence,
    known: Option<Evidence>,
) -> Result<(Evidence, Additions), GateError> {
    let line = &prepared.chosen.test_line;
    if matches!(plain, Evidence::Absent(_)) {
        return Ok((plain, Additions::Untried));
    }
    if !line.has_additions(&plain) {
        return Ok((plain, Additions::None));
    }
    if let Some(known) = known.filter(|known| is_unchanged(&plain, known)) {
        return Ok((known, Additions::Harmless));
    }
    let added = line.invocation(Additions::Harmless);
    for pair in 0..PAIRS {
        let without = match pair {
            0 => plain.clone(),
            _ => ready.tests().await?,
        };
        let begun = Instant::now();
        let with = ready.tests_by(&added).await?;
        if is_unchanged(&without, &with) {
            prepared.keep_with_additions(ready, &with, begun.elapsed()).await?;
            return Ok((with, Additions::Harmless));
        }
    }
    Ok((plain, Additions::Refused))
}

/// `true` if a run with additions agrees with the plain run. A plain command that fails may stop early, so more tests
/// may run with additions, but the other results must be the same.
fn is_unchanged(plain: &Evidence, added: &Evidence) -> bool {
    match (plain, added) {
        (Evidence::Passed(plain), Evidence::Passed(added)) => {
            let is_counted = plain.counts == Counts::Unknown || plain.counts == added.counts;
            is_counted && keeps_names(plain, added)
        }
        (Evidence::Failed(plain), Evidence::Failed(added)) => {
            plain.exit_code.is_some() == added.exit_code.is_some()
                && counts_no_less(plain.counts, added.counts)
                && keeps_names(plain, added)
        }
        (Evidence::Passed(_) | Evidence::Failed(_) | Evidence::Absent(_), _) => false,
    }
}

fn counts_no_less(plain: Counts, added: Counts) -> bool {
    match (plain, added) {
        (Counts::Unknown, _) => true,
        (Counts::Known { .. }, Counts::Unknown) => false,
        (Counts::Known { passed, failed, .. }, Counts::Known { passed: now_passed, failed: now_failed, .. }) => {
            now_passed >= passed && now_failed >= failed
        }
    }
}

/// `true` if each test named in the plain run has the same result in the other. Names are compared without parameters,
/// which may vary between runs, such as the time.
fn keeps_names(plain: &Finding, added: &Finding) -> bool {
    let Some(before) = &plain.names else { return true };
    let Some(now) = &added.names else { return false };
    let has = |list: &[String], of: &[String]| {
        let list: BTreeSet<&str> = list.iter().map(|name| bare(name)).collect();
        of.iter().all(|name| list.contains(bare(name)))
    };
    has(&now.passed, &before.passed) && has(&now.failed, &before.failed)
}

#[cfg(test)]
mod tests {
    use super::is_unchanged;
    use domain::evidence::{Absence, Counts, Evidence, Finding, TestNames};

    fn finding(exit_code: i32, counts: Option<(u32, u32)>, passed: &[&str], failed: &[&str]) -> Finding {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Finding {
            command: "t".to_owned(),
            exit_code: Some(exit_code),
            counts: counts.map_or(Counts::Unknown, |(passed, failed)| Counts::Known { passed, failed, skipped: 0 }),
            failing: Vec::new(),
            output: String::new(),
            names: Some(TestNames { passed: owned(passed), failed: owned(failed), skipped: Vec::new() }),
            ..Finding::default()
        }
    }

    #[test]
    fn an_addition_is_harmless_only_if_no_result_is_another() {
        let green = |counts, passed: &[&str]| Evidence::Passed(finding(0, counts, passed, &[]));
        let red = |counts, passed: &[&str], failed: &[&str]| Evidence::Failed(finding(1, counts, passed, failed));
        let table = [
            (green(Some((2, 0)), &[]), green(Some((2, 0)), &["a", "b"]), true),
            (green(None, &[]), green(Some((2, 0)), &["a", "b"]), true),
            (green(Some((2, 0)), &["a"]), green(Some((2, 0)), &["a", "b"]), true),
            (green(Some((2, 0)), &["c"]), green(Some((2, 0)), &["a", "b"]), false),
            (green(Some((1, 0)), &["t::a[12:00 1-1]"]), green(Some((1, 0)), &["t::a[12:01 1-1]"]), true),
            (green(Some((1, 0)), &["t::a[12:00 1-1]"]), green(Some((1, 0)), &["t::b[12:00 1-1]"]), false),
            (green(Some((2, 0)), &[]), green(Some((3, 0)), &[]), false),
            (green(Some((2, 0)), &[]), red(Some((1, 1)), &["a"], &["b"]), false),
            (red(Some((0, 1)), &[], &["b"]), red(Some((4, 1)), &["a"], &["b"]), true),
            (red(Some((1, 1)), &["a"], &["b"]), red(Some((1, 1)), &["b"], &["a"]), false),
            (red(Some((1, 1)), &[], &["b"]), green(Some((2, 0)), &["a", "b"]), false),
            (green(None, &[]), Evidence::Absent(Absence::NotReached), false),
        ];
        for (plain, added, expected) in table {
            assert_eq!(is_unchanged(&plain, &added), expected, "{plain:?} {added:?}");
        }
    }
}
