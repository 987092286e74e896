//! Stored snapshots that changed although nothing did that they show.

use crate::{
    Change, FileChange, Version, finding, language,
    language::{Role, role},
};
use domain::integrity::{IntegrityFinding, Rule};
use std::collections::BTreeSet;

pub(super) fn find(change: &Change<'_>) -> Vec<IntegrityFinding> {
    let mut findings = deleted(change);
    findings.extend(changed(change));
    findings
}

/// Stored snapshots that are gone although their tests are there as they were: the next run writes whatever it finds.
fn deleted(change: &Change<'_>) -> Vec<IntegrityFinding> {
    let is_lost = |file: &&FileChange| {
        let gone = is_snapshot(&file.path) && file.before.bytes().is_some() && file.after == Version::Absent;
        let moved = || {
            let name = language::file_name(&file.path);
            change
                .files
                .iter()
                .any(|other| other.before == Version::Absent && language::file_name(&other.path) == name)
        };
        let kept = || {
            let mut tests = change
                .base
                .iter()
                .filter(|path| role(path) == Role::Test && belongs(&file.path, path));
            tests.any(|test| change.files.iter().all(|changed| changed.path != *test))
        };
        gone && !moved() && kept()
    };
    let what = "the stored snapshot is gone, and the test that compares with it is not";
    let lost = change.files.iter().filter(is_lost);
    lost.map(|file| finding(Rule::SnapshotByHand, &file.path, None, what))
        .collect()
}

fn changed(change: &Change<'_>) -> Vec<IntegrityFinding> {
    // What a snapshot shows is made by code, templates, data or settings: where one of them changed, it may have changed
    // the snapshot. A new file alone changes nothing that is there.
    if change.files.iter().any(may_show) {
        return Vec::new();
    }
    let tests_changed = change
        .files
        .iter()
        .filter(|file| role(&file.path) == Role::Test && loses_lines(file))
        .map(|file| file.path.as_str());
    let tests_changed: Vec<&str> = tests_changed.collect();
    change
        .files
        .iter()
        .filter(|file| is_snapshot(&file.path))
        .filter(|file| !tests_changed.iter().any(|test| belongs(&file.path, test)))
        .filter_map(first_changed_line)
        .map(|(path, line)| {
            let what = "the stored snapshot changed, and neither the code nor the test that it shows did";
            finding(Rule::SnapshotByHand, path, Some(line), what)
        })
        .collect()
}

/// Whether a file of this path is a stored snapshot.
pub fn is_snapshot(path: &str) -> bool {
    let end = language::file_name(path).rsplit_once('.').map_or("", |(_, end)| end);
    matches!(end, "snap" | "ambr" | "snapshot" | "approved")
        || language::folders(path).any(|folder| matches!(folder, "__snapshots__" | "__image_snapshots__"))
}

/// Whether what a snapshot shows may have come from this change of a file.
fn may_show(file: &FileChange) -> bool {
    let is_change_of_old = file.before.bytes().is_some();
    let is_prose = file.path.ends_with(".md") || file.path.ends_with(".rst") || file.path.ends_with(".txt");
    is_change_of_old && !is_prose && !is_snapshot(&file.path) && role(&file.path) != Role::Test
}

/// Whether something that stood in a file is there no more: then it was changed, not only added to.
pub fn loses_lines(file: &FileChange) -> bool {
    let (Some(before), Some(after)) = (file.before.bytes(), file.after.bytes()) else {
        return file.before.bytes().is_some();
    };
    let lines = |bytes: &[u8]| -> BTreeSet<Vec<u8>> { bytes.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect() };
    !lines(before).is_subset(&lines(after))
}

/// Whether a snapshot may be one of that test file's: its name begins with the test's, or it lies below its folder.
fn belongs(snapshot: &str, test: &str) -> bool {
    let stem = |path: &str| {
        language::file_name(path)
            .split('.')
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let folder = test.rsplit_once('/').map_or("", |(folder, _)| folder);
    let (snapshot_stem, test_stem) = (stem(snapshot), stem(test));
    snapshot_stem.starts_with(&test_stem) || snapshot.starts_with(folder) && snapshot_stem.contains(&test_stem)
}

/// The first line that is not as it was; `None` where lines were only added, as a new test does.
fn first_changed_line(file: &FileChange) -> Option<(&str, u32)> {
    let (before, after) = (file.before.bytes()?, file.after.bytes()?);
    let lines = |bytes: &[u8]| -> Vec<String> { String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect() };
    let (before, after) = (lines(before), lines(after));
    let mut rest = after.iter();
    let is_kept = before.iter().all(|line| rest.any(|kept| kept == line));
    if is_kept {
        return None;
    }
    let same = before.iter().zip(&after).take_while(|(old, new)| old == new).count();
    Some((&file.path, u32::try_from(same).unwrap_or(u32::MAX).saturating_add(1)))
}
