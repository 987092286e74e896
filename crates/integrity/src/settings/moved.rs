//! Settings that went from one file to another, as from `pytest.ini` to `pyproject.toml`: they are compared across both.

use super::{flat::flatten, named, watched};
use crate::{Version, changed_file::ChangedFile, language::outline::Setting};

/// What a file of settings said, and what it says now.
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

    /// What came into this file, or left it, and is the setting `name` of another file.
    fn same(&self, name: &str, is_new: bool) -> Option<&Setting> {
        let (here, other) = if is_new {
            (&self.after, &self.before)
        } else {
            (&self.before, &self.after)
        };
        let mut changed = here.iter().filter(|setting| named(other, &setting.name).is_none());
        changed.find(|setting| are_same(&setting.name, name))
    }
}

/// Whether a setting that this file lost came into another file.
pub(super) fn to_another(own: &Sides<'_>, name: &str, all: &[Sides<'_>]) -> bool {
    others(own, all).any(|sides| sides.same(name, true).is_some())
}

/// The setting of another file that is gone there and stands in this file now.
pub(super) fn from_another<'s>(own: &Sides<'_>, name: &str, all: &'s [Sides<'_>]) -> Option<&'s Setting> {
    others(own, all).find_map(|sides| sides.same(name, false))
}

fn others<'s, 'f>(own: &Sides<'_>, all: &'s [Sides<'f>]) -> impl Iterator<Item = &'s Sides<'f>> {
    all.iter().filter(|sides| sides.path != own.path)
}

/// Whether two names are of one setting: they end alike, and are watched for the same.
fn are_same(one: &str, other: &str) -> bool {
    let last = |name: &str| name.rsplit('.').next().map(str::to_owned);
    let how = |name: &str| watched(name).map(|watched| (watched.purpose, watched.how));
    last(one) == last(other) && how(one).is_some() && how(one) == how(other)
}
