//! A tree of files, and the steps that change it.

use crate::cases::{Case, Library, Step};
use autobuild::config::RepositorySettings;
use domain::{integrity::IntegrityFinding, plan::PlannedTask, protected_paths::ProtectedPaths};
use text::secret::Secrets;

use integrity::{Change, FileChange, FileContent};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// Paths and contents.
pub type Tree = BTreeMap<String, String>;

/// Texts that must not be in a file of this repository because they look like real ones, and their replacements.
const SPELLED_OUT: [(&str, &str); 8] = [
    ("{<}", "<<<<<<<"),
    ("{=}", "======="),
    ("{>}", ">>>>>>>"),
    ("{|}", "|||||||"),
    ("{key}", concat!("RSA PRIVATE", " KEY")),
    ("{aws}", concat!("AKIA", "Q3EGZX7NWLT2VYBH")),
    ("{example}", concat!("AKIA", "IOSFODNN7EXAMPLE")),
    ("{github}", concat!("ghp", "_9fKq2LmZx7Rt4VbN8sWc3YdH6jPgT1uQaE5o")),
];

/// Returns the files before a case's change, after its work, and after its own steps.
pub fn of_case(library: &Library, case: &Case, outside: &Path) -> [Tree; 3] {
    let mut before = Tree::new();
    take(&mut before, &library.base_steps(&case.base), outside);
    let mut worked = before.clone();
    take(&mut worked, &case.work, outside);
    let mut after = worked.clone();
    take(&mut after, &case.steps, outside);
    [before, worked, after]
}

/// Applies the steps. A step that does not fit the tree is a mistake in the case.
fn take(tree: &mut Tree, steps: &[Step], outside: &Path) {
    let spelled = |text: &str| {
        let text = text.replace("{outside}", &outside.display().to_string());
        SPELLED_OUT.iter().fold(text, |text, (short, long)| text.replace(short, long))
    };
    for step in steps {
        match step {
            Step::Write { path, text } => {
                tree.insert(path.clone(), spelled(text));
            }
            Step::Append { path, text } => {
                tree.entry(path.clone()).or_default().push_str(&spelled(text));
            }
            Step::Replace { path, old, new } => replace(tree, path, old, &spelled(new)),
            Step::Delete { path } => {
                tree.remove(path).unwrap_or_else(|| panic!("{path} is not there"));
            }
            Step::Move { from, to } => {
                let text = tree.remove(from).unwrap_or_else(|| panic!("{from} is not there"));
                tree.insert(to.clone(), text);
            }
            Step::Fill { path, bytes } => {
                tree.insert(path.clone(), "0123456789abcde\n".repeat(bytes / 16));
            }
        }
    }
}

/// Replaces whole lines, or a part of one line if `old` is one line.
fn replace(tree: &mut Tree, path: &str, old: &str, new: &str) {
    let text = tree.get_mut(path).unwrap_or_else(|| panic!("{path} is not there"));
    let part = [(old, new), (old.trim_end_matches('\n'), new.trim_end_matches('\n'))];
    let (old, new) =
        part.into_iter().find(|(old, _)| text.contains(old)).unwrap_or_else(|| panic!("{path} does not hold:\n{old}"));
    *text = text.replacen(old, new, 1);
}

/// Returns every file that differs, as input for integrity.
fn difference(before: &Tree, after: &Tree) -> Vec<FileChange> {
    let version =
        |text: Option<&String>| text.map_or(FileContent::Absent, |text| FileContent::Bytes(text.clone().into_bytes()));
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    paths
        .into_iter()
        .filter(|path| before.get(*path) != after.get(*path))
        .map(|path| FileChange {
            path: path.clone(),
            before: version(before.get(path)),
            after: version(after.get(path)),
        })
        .collect()
}

/// Returns integrity's findings in a change, without running anything.
pub fn read(before: &Tree, after: &Tree, task: &PlannedTask, settings: &RepositorySettings) -> Vec<IntegrityFinding> {
    let files = difference(before, after);
    let paths = |tree: &Tree| tree.keys().cloned().collect::<BTreeSet<_>>();
    let (base, head) = (paths(before), paths(after));
    integrity::inspect(&Change {
        files: &files,
        base: &base,
        head: &head,
        task,
        protected: &ProtectedPaths::new(&settings.protected()).unwrap(),
        known_secrets: &Secrets::default(),
        results: &[],
        max_file_bytes: 10 << 20,
    })
}
