//! The warning on a pull request with files that take effect where somebody opens its branch or a service builds it.

use crate::messages::form::measure::{Measure, codes};
use domain::obeyed::{FileUser, ObeyedFile};

/// The most paths that are named for one kind of program.
const MOST: usize = 8;

/// Names the files, grouped by the kind of program that runs or obeys them; empty if there are none. Every kind is
/// named, even if there are many files.
pub(crate) fn warning(files: &[ObeyedFile], measure: &Measure) -> String {
    if files.is_empty() {
        return String::new();
    }
    let lines = files.chunk_by(|one, other| one.by == other.by).filter_map(|same| {
        let by = program(same.first()?.by);
        let paths: Vec<&str> = same.iter().map(|file| file.path.as_str()).collect();
        Some(format!("> - {by}: {}", codes(&paths, measure.rows.min(MOST), measure.text.min(200))))
    });
    let list: Vec<String> = lines.collect();
    format!(
        "> [!WARNING]\n> Programs run or obey what this changes, once you open this branch on your machine or a service builds \
         it. Read it first.\n>\n{}",
        list.join("\n")
    )
}

fn program(obeys: FileUser) -> &'static str {
    match obeys {
        FileUser::Editor => "editors",
        FileUser::Shell => "shells and debuggers",
        FileUser::Git => "git hooks",
        FileUser::PackageManager => "package managers",
        FileUser::Agent => "agents",
        FileUser::Deployment => "services that build branches",
    }
}
