//! Compares settings that moved to another file, as from `pytest.ini` to `pyproject.toml`, or to another name.

use super::{flat::flatten, watched};
use crate::{change::Version, changed_file::ChangedFile, language::outline::Setting, words};

/// The settings of a file before and after.
pub(super) struct Sides<'f> {
    pub(super) path: &'f str,
    pub(super) is_new: bool,
    pub(super) before: Vec<Setting>,
    pub(super) after: Vec<Setting>,
}

impl<'f> Sides<'f> {
    pub(super) fn read(file: &'f ChangedFile<'_>) -> Self {
        let read = |version: &Version, of_code: &[Setting]| {
            let text = version.bytes().map(String::from_utf8_lossy).unwrap_or_default();
            let mut settings = flatten(file.path, &text);
            settings.extend(of_code.iter().cloned());
            settings
        };
        Self {
            path: file.path,
            is_new: file.file.before == Version::Absent,
            before: read(&file.file.before, &file.before.settings),
            after: read(&file.file.after, &file.after.settings),
        }
    }

    /// Returns the setting that this file gained (`is_new`) or lost and that corresponds to `name` by another name or
    /// from another file: the one with the most similar name.
    fn same(&self, name: &str, is_new: bool) -> Option<&Setting> {
        let (here, other) = if is_new {
            (&self.after, &self.before)
        } else {
            (&self.before, &self.after)
        };
        let same = here.iter().filter(|setting| are_same(&setting.name, name));
        let changed = same.filter(|setting| other.iter().all(|other| other.name != setting.name));
        changed.max_by(|one, two| likeness(&one.name, name).total_cmp(&likeness(&two.name, name)))
    }
}

/// `true` if a setting that a file lost is now elsewhere.
pub(super) fn to(name: &str, all: &[Sides<'_>]) -> bool {
    all.iter().any(|sides| sides.same(name, true).is_some())
}

/// Returns the lost setting that now has this name.
pub(super) fn from<'s>(name: &str, all: &'s [Sides<'_>]) -> Option<&'s Setting> {
    all.iter().find_map(|sides| sides.same(name, false))
}

/// `true` if two names mean the same setting: they end with the same word, as `xfail_strict` and `strict`, and are
/// watched in the same way.
fn are_same(one: &str, other: &str) -> bool {
    let last = |name: &str| name.rsplit(['.', '_']).next().map(str::to_owned);
    let how = |name: &str| watched(name).map(|watched| (watched.purpose, watched.how));
    last(one) == last(other) && how(one).is_some() && how(one) == how(other)
}

fn likeness(one: &str, other: &str) -> f64 {
    let parts = |name: &str| -> Vec<String> { name.split(['.', '_', '-', ':']).map(str::to_owned).collect() };
    words::likeness(&parts(one), &parts(other))
}
