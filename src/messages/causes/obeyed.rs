//! The warning on a pull request with files that take effect where somebody opens its branch or a service builds it.

use crate::messages::form::measure::{Measure, codes};
use domain::obeyed::{FileUser, ObeyedFile};

/// The most paths that are named for one kind of program: more than any known program knows names.
const MOST: usize = 120;

/// The most characters of a path that are shown. With as many paths as there are names, the text still fits.
const LONGEST_PATH: usize = 100;

/// Names the files, grouped by the kind of program that runs or obeys them; empty if there are none. All of
/// known programs are named, however small the measure is.
pub(crate) fn warning(files: &[ObeyedFile], measure: &Measure) -> String {
    if files.is_empty() {
        return String::new();
    }
    let lines = files.chunk_by(|one, other| one.by == other.by).filter_map(|same| {
        let by = program(same.first()?.by);
        let paths: Vec<&str> = same.iter().map(|file| file.path.as_str()).collect();
        let others: usize = same.iter().map(|file| file.others).sum();
        let others = match others {
            0 => String::new(),
            1 => ", and another file of these names".to_owned(),
            others => format!(", and {others} other files of these names"),
        };
        Some(format!("> - {by}: {}{others}", codes(&paths, MOST, measure.text.min(LONGEST_PATH))))
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
        FileUser::Unknown => "perhaps other programs, since the name begins with a dot",
    }
}
