//! A change can bring a file that leads to another test command, for example a `package.json` beside a `Makefile`. It must
//! not choose alone what judges it. So the earlier command runs too while the files still suggest it, and the new one is
//! asked about.

use crate::gates::{
    commands,
    run::{
        context::GateError,
        prepared::{Coverage, Prepared},
        result_cache::Tested,
    },
    turn::Run,
};
use domain::{
    evidence::{Counts, Evidence, Finding},
    ids::Sha,
    integrity::{Author, Detail, IntegrityFinding, Rule},
};
use runners::detect;
use std::collections::BTreeSet;

/// Runs the tests of a prepared commit that starts from `base`. Returns the preparation whose command decides, with its
/// results: that of the earlier command if it fails, or if there is no other.
pub(crate) async fn run_tests<'a>(
    prepared: Prepared<'a>,
    base: &Sha,
    coverage: Coverage,
    is_sound: impl Fn(&Evidence) -> bool,
) -> Result<(Prepared<'a>, Tested), GateError> {
    let Some(earlier) = prepared.with_earlier_command(base).await? else {
        let tested = prepared.tests(coverage, is_sound).await?;
        return Ok((prepared, tested));
    };
    if prepared.chosen.test.is_none() {
        let tested = earlier.tests(coverage, is_sound).await?;
        return Ok((earlier, tested));
    }
    let by_earlier = earlier.tests(Coverage::NotAsked, &is_sound).await?;
    if matches!(by_earlier.tests, Evidence::Failed(_)) && !is_sound(&by_earlier.tests) {
        return Ok((earlier, by_earlier));
    }
    let mut tested = prepared.tests(coverage, is_sound).await?;
    if let (Evidence::Passed(own), Evidence::Passed(before)) = (&mut tested.tests, &by_earlier.tests) {
        add(own, before);
    }
    Ok((prepared, tested))
}

/// Adds the named results of the earlier command: its tests are not lost.
fn add(own: &mut Finding, before: &Finding) {
    let (Some(names), Some(more)) = (&mut own.names, &before.names) else { return };
    let (Counts::Known { passed, failed, skipped }, Counts::Known { passed: p, failed: f, skipped: s }) =
        (own.counts, before.counts)
    else {
        return;
    };
    names.passed.extend_from_slice(&more.passed);
    names.skipped.extend_from_slice(&more.skipped);
    own.counts = Counts::Known {
        passed: passed.saturating_add(p),
        failed: failed.saturating_add(f),
        skipped: skipped.saturating_add(s),
    };
    own.command = format!("{} && {}", before.command, own.command);
}

/// Returns a finding if a change leads to another test command than the commit from which it starts.
pub(crate) async fn replaced(run: &Run<'_>) -> Result<Option<IntegrityFinding>, GateError> {
    let subject = run.subject;
    let test_at = async |commit| commands::choose_at(subject.mirror, commit, subject.settings).await;
    let (before, after) = (test_at(subject.fork).await?.test, test_at(subject.head).await?.test);
    let Some(before) = before.filter(|before| after.as_ref() != Some(before)) else { return Ok(None) };
    let after = after.map_or_else(|| "–".to_owned(), |after| format!("`{after}`"));
    Ok(Some(IntegrityFinding {
        rule: Rule::RunnerWeakened,
        path: file_to_name(run).unwrap_or_default(),
        line: None,
        what: Detail::Code(format!("`{before}` → {after}")),
        by: Author::Player,
    }))
}

/// Returns the first changed file that detection reads, or else the first changed file.
fn file_to_name(run: &Run<'_>) -> Option<String> {
    let sides = [&run.change.base, &run.change.head].map(|side| side.iter().cloned().collect::<Vec<String>>());
    let read: BTreeSet<&String> = sides.iter().flat_map(|side| detect::files_to_read(side)).collect();
    let mut changed = run.change.files.iter().map(|file| &file.path);
    let first = changed.clone().next();
    changed.find(|path| read.contains(path)).or(first).cloned()
}
