//! A snapshot changed or is gone, although nothing that it shows has changed.

use crate::{
    change::{FileChange, Version},
    changed_file::Reading,
    language::{Role, file_name, role},
    rules::rule::{ANYWHERE, ReadingRule, Violation, at, in_file},
    snapshots::{is_snapshot, loses_lines},
};
use domain::integrity::{Detail, Rule};

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::SnapshotByHand,
    applies: ANYWHERE,
    refuses: &[(
        "tests/snapshots/label.snap",
        "price: 3\nname: a\n",
        "price: 4\nname: a\n",
    )],
    accepts: &[
        (
            "tests/snapshots/label.snap",
            "price: 3\nname: a\n",
            "price: 4\nname: a\n",
        ),
        ("src/label.rs", "fn label() -> u32 { 3 }\n", "fn label() -> u32 { 4 }\n"),
    ],
    check,
};

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let mut found = deleted(reading);
    found.extend(changed(reading));
    found
}

/// Finds deleted snapshots whose tests are unchanged: the next run would accept any output.
fn deleted(reading: &Reading<'_>) -> Vec<Violation> {
    let change = reading.change;
    let is_lost = |file: &&FileChange| {
        let name = file_name(&file.path);
        let mut others = change.files.iter();
        let moved = others.any(|other| other.before == Version::Absent && file_name(&other.path) == name);
        let tests = change.base.iter().filter(|path| role(path) == Role::Test);
        let mut own = tests.filter(|path| belongs(&file.path, path));
        let kept = own.any(|test| change.files.iter().all(|changed| changed.path != *test));
        is_snapshot(&file.path) && file.before.bytes().is_some() && file.after == Version::Absent && !moved && kept
    };
    let lost = change.files.iter().filter(is_lost);
    lost.map(|file| in_file(&file.path, Detail::Nothing)).collect()
}

fn changed(reading: &Reading<'_>) -> Vec<Violation> {
    let files = || reading.change.files.iter();
    // A snapshot shows the effect of code, templates, data or settings: if one of these changed, the snapshot may
    // change too. A new file alone cannot change existing output.
    if files().any(may_show) {
        return Vec::new();
    }
    let changed = files().filter(|file| role(&file.path) == Role::Test && loses_lines(file));
    let tests: Vec<&str> = changed.map(|file| file.path.as_str()).collect();
    let snapshots = files().filter(|file| is_snapshot(&file.path));
    let alone = snapshots.filter(|file| !tests.iter().any(|test| belongs(&file.path, test)));
    let found = alone.filter_map(|file| Some(at(&file.path, first_changed_line(file)?, Detail::Nothing)));
    found.collect()
}

/// `true` if this file's change may have changed a snapshot.
fn may_show(file: &FileChange) -> bool {
    let is_change_of_old = file.before.bytes().is_some();
    let is_prose = [".md", ".rst", ".txt"].iter().any(|end| file.path.ends_with(end));
    is_change_of_old && !is_prose && !is_snapshot(&file.path) && role(&file.path) != Role::Test
}

/// `true` if a snapshot may belong to a test file: its name begins with the test's, or it is below the test's folder
/// and contains the test's name.
fn belongs(snapshot: &str, test: &str) -> bool {
    let stems = [snapshot, test].map(|path| file_name(path).split('.').next());
    let [snapshot_stem, test_stem] = stems.map(Option::unwrap_or_default);
    let folder = test.rsplit_once('/').map_or("", |(folder, _)| folder);
    snapshot_stem.starts_with(test_stem) || snapshot.starts_with(folder) && snapshot_stem.contains(test_stem)
}

/// Returns the first line that differs; `None` if lines were only added, as for a new test.
fn first_changed_line(file: &FileChange) -> Option<u32> {
    let lines = |bytes: &[u8]| -> Vec<String> { String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect() };
    let (before, after) = (lines(file.before.bytes()?), lines(file.after.bytes()?));
    let mut rest = after.iter();
    let is_kept = before.iter().all(|line| rest.any(|kept| kept == line));
    let same = before.iter().zip(&after).take_while(|(old, new)| old == new).count();
    (!is_kept).then(|| u32::try_from(same).unwrap_or(u32::MAX).saturating_add(1))
}
