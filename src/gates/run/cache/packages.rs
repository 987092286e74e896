//! Decides which Cargo packages are unchanged since a cache was filled: pure, from paths alone.
//!
//! Cargo decides by file times what is up to date, and a fresh checkout makes every file new. A package may only look
//! old if nothing that could affect its build has changed; if in doubt, it looks new.

use std::collections::{BTreeMap, BTreeSet};

/// The file that makes a folder a package.
pub(super) const MANIFEST: &str = "Cargo.toml";

/// Folders whose files are only read when tests run.
const OF_TESTS: [&str; 2] = ["tests", "snapshots"];

/// The packages of one commit by folder; the empty string is the repository's root.
pub(super) struct Packages {
    folders: BTreeMap<String, Vec<String>>,
}

impl Packages {
    /// Finds the packages among a commit's paths, each with its files.
    pub(super) fn of(paths: &[String]) -> Self {
        let folder = |path: &String| match path.strip_suffix(MANIFEST)? {
            "" => Some(String::new()),
            above => above.strip_suffix('/').map(str::to_owned),
        };
        let folders = paths.iter().filter_map(folder);
        let mut packages = Self {
            folders: folders.map(|folder| (folder, Vec::new())).collect(),
        };
        for path in paths {
            let home = packages.home(path).map(str::to_owned);
            if let Some(files) = home.and_then(|home| packages.folders.get_mut(&home)) {
                files.push(path.clone());
            }
        }
        packages
    }

    /// Returns the folder of the innermost package that contains a path.
    fn home(&self, path: &str) -> Option<&str> {
        let mut above = path;
        loop {
            above = above.rsplit_once('/').map_or("", |(folder, _)| folder);
            match self.folders.get_key_value(above) {
                Some((folder, _)) => return Some(folder),
                None if above.is_empty() => return None,
                None => {}
            }
        }
    }

    /// Returns the folders of all packages.
    pub(super) fn folders(&self) -> BTreeSet<&str> {
        self.folders.keys().map(String::as_str).collect()
    }

    /// Returns the files of these packages.
    pub(super) fn files<'a>(&'a self, folders: &'a BTreeSet<&str>) -> impl Iterator<Item = &'a str> {
        let of = |folder: &&str| self.folders.get(*folder).into_iter().flatten();
        folders.iter().flat_map(of).map(String::as_str)
    }

    /// Returns the folders of a package's own files, including the package's folder.
    pub(super) fn folders_in(&self, package: &str) -> BTreeSet<&str> {
        let files = self.folders.get(package).into_iter().flatten();
        let above = files.flat_map(|path| path.match_indices('/').filter_map(|(at, _)| path.get(..at)));
        let is_own = |folder: &&str| {
            let is_inside = *folder == package || self.home(&format!("{folder}/.")) == Some(package);
            is_inside && folder.len() >= package.len()
        };
        above.filter(is_own).collect()
    }

    /// Returns the packages that are unchanged if these paths differ; `None` means that the difference is unknown.
    ///
    /// The compiler records which sources it read, so a changed source makes its own package new, and its dependents
    /// follow. A build script or macro of any package may read any other file without a record, so such a change makes
    /// all packages new.
    pub(super) fn untouched(&self, changed: Option<&BTreeSet<String>>) -> BTreeSet<&str> {
        let Some(changed) = changed else {
            return BTreeSet::new();
        };
        let mut untouched = self.folders();
        for path in changed {
            match self.home(path) {
                Some(package) if stays_inside(path) => drop(untouched.remove(package)),
                _ => return BTreeSet::new(),
            }
        }
        untouched
    }
}

/// `true` if a change of this file affects only its own package and the packages that depend on it.
fn stays_inside(path: &str) -> bool {
    let is_source = path.ends_with(".rs") || path.ends_with(".md");
    is_source || path.split('/').rev().skip(1).any(|folder| OF_TESTS.contains(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATHS: [&str; 8] = [
        "Cargo.toml",
        "README.md",
        "migrations/1.sql",
        "src/lib.rs",
        "heavy/Cargo.toml",
        "heavy/src/lib.rs",
        "heavy/src/deep/mod.rs",
        "heavy/tests/data/in.json",
    ];

    fn packages() -> Packages {
        Packages::of(&PATHS.map(str::to_owned))
    }

    fn untouched(changed: &[&str]) -> Vec<String> {
        let changed = changed.iter().map(|path| (*path).to_owned()).collect();
        let packages = packages();
        let found = packages.untouched(Some(&changed));
        found.into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn a_changed_source_makes_its_own_package_new() {
        let table: [(&[&str], &[&str]); 7] = [
            (&[], &["", "heavy"]),
            (&["src/lib.rs"], &["heavy"]),
            (&["src/new.rs", "README.md"], &["heavy"]),
            (&["heavy/src/deep/mod.rs"], &[""]),
            (&["heavy/tests/data/in.json"], &[""]),
            (&["heavy/src/lib.rs", "src/gone.rs"], &[]),
            (&["tests/it.rs"], &["heavy"]),
        ];
        for (changed, expected) in table {
            assert_eq!(untouched(changed), expected, "{changed:?}");
        }
    }

    #[test]
    fn a_file_that_may_be_read_without_a_word_makes_every_package_new() {
        for path in [
            "migrations/1.sql",
            "heavy/Cargo.toml",
            ".cargo/config.toml",
            ".gitattributes",
            "heavy/schema.json",
            "build.sh",
            "Cargo.lock",
        ] {
            assert_eq!(untouched(&[path]), Vec::<String>::new(), "{path}");
        }
        assert_eq!(packages().untouched(None), BTreeSet::new());
        let without = Packages::of(&["a/Cargo.toml".to_owned(), "a/lib.rs".to_owned()]);
        let outside = ["shared.rs".to_owned()].into();
        assert_eq!(without.untouched(Some(&outside)), BTreeSet::new());
    }

    #[test]
    fn files_and_folders_belong_to_the_innermost_package() {
        let packages = packages();
        let heavy = ["heavy"].into();
        let files: Vec<&str> = packages.files(&heavy).collect();
        assert_eq!(files, &PATHS[4..]);
        let folders: Vec<&str> = packages.folders_in("heavy").into_iter().collect();
        assert_eq!(
            folders,
            [
                "heavy",
                "heavy/src",
                "heavy/src/deep",
                "heavy/tests",
                "heavy/tests/data"
            ]
        );
        let own: Vec<&str> = packages.folders_in("").into_iter().collect();
        assert_eq!(own, ["migrations", "src"]);
    }
}
