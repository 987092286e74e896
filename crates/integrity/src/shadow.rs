//! Modules that shadow real ones, as each language knows them.

use crate::{Change, FileChange, finding, language, language::Glance};
use domain::integrity::{IntegrityFinding, Rule};

pub(super) fn find(change: &Change<'_>) -> Vec<IntegrityFinding> {
    change.files.iter().flat_map(|file| in_file(change, file)).collect()
}

fn in_file(change: &Change<'_>, file: &FileChange) -> Vec<IntegrityFinding> {
    let text = |bytes| std::str::from_utf8(bytes).ok();
    let Some(after) = file.after.bytes().and_then(text) else {
        return Vec::new();
    };
    let glance = Glance {
        path: &file.path,
        before: file.before.bytes().and_then(text),
        after,
        head: change.head,
    };
    language::ALL
        .iter()
        .flat_map(|language| (language.shadows)(&glance))
        .map(|shadow| finding(Rule::ShadowModule, &file.path, Some(shadow.line), shadow.what))
        .collect()
}
