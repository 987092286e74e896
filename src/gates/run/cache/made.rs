//! Finds out if set-up left only packages. A set-up that made nothing from the repository's own files leaves the same
//! on every commit with the same settings and lock files.

use crate::gates::run::cache::{copy::DEEPEST, key::LOCKS, untracked_files::UntrackedFiles};
use integrity::language::{Role, role};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    fs, io,
    path::Path,
};

/// The kind of files that set-up left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) enum SetUpFiles {
    /// Only packages.
    Packages,
    /// Something made from the repository's own files: copied, compiled or generated.
    #[default]
    OfFiles,
}

/// Names, or ends of names, of folders and files in which package managers keep packages.
const PACKAGES: [&str; 10] = [
    "node_modules",
    ".venv",
    "venv",
    "__pypackages__",
    ".yarn",
    ".bundle",
    ".pnp.cjs",
    ".pnp.loader.mjs",
    ".egg-info",
    "__pycache__",
];

/// Folders of packages with an ambiguous name, each with something that only its package manager puts into it or beside
/// it: Composer, Bundler, Mix and NuGet.
const SIGNED: [(&str, &str); 4] = [
    ("vendor", "composer/installed.json"),
    ("vendor", "bundle"),
    ("deps", "../mix.exs"),
    ("obj", "project.assets.json"),
];

/// Composer's list of classes by file. It names `$baseDir` if classes of the repository are in it, and so depends on
/// their files.
const CLASSES: &str = "composer/autoload_classmap.php";

/// Folders for programs and libraries installed for a user, which may be the repository's own.
const INSTALLED: [&str; 4] = [".local/bin", ".local/lib", ".cargo/bin", "go/bin"];

/// The most files that are examined. If there are more, one of them may be a copy.
const MOST_FILES: usize = 200_000;

impl SetUpFiles {
    /// Examines the files that set-up made in a checkout whose commit has these paths, and in the commands' home.
    pub(super) fn look(
        work: &Path,
        home: &Path,
        left: &UntrackedFiles,
        tracked: &BTreeSet<String>,
    ) -> io::Result<Self> {
        if INSTALLED.iter().any(|place| home.join(place).exists()) {
            return Ok(Self::OfFiles);
        }
        let mut copies = Copies::of(work, tracked);
        for path in &left.found {
            let path = work.join(path);
            if !is_of_packages(&path) || copies.are_below(&path, 0)? {
                return Ok(Self::OfFiles);
            }
        }
        Ok(Self::Packages)
    }
}

fn is_of_packages(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let is_signed = |(signed, sign): &(&str, &str)| *signed == name && path.join(sign).exists();
    let lists_own = || {
        let classes = fs::read_to_string(path.join(CLASSES)).unwrap_or_default();
        classes.lines().any(|line| line.contains("=> $baseDir"))
    };
    PACKAGES.iter().any(|packages| name.ends_with(packages))
        || LOCKS.contains(&name)
        || SIGNED.iter().any(is_signed) && !lists_own()
}

/// A search for copies of the repository's source files.
struct Copies<'a> {
    work: &'a Path,
    own: BTreeMap<&'a str, Vec<&'a str>>,
    seen: usize,
}

impl<'a> Copies<'a> {
    fn of(work: &'a Path, tracked: &'a BTreeSet<String>) -> Self {
        let mut own: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for path in tracked.iter().filter(|path| role(path) == Role::Source) {
            let name = path.rsplit('/').next().unwrap_or(path);
            own.entry(name).or_default().push(path);
        }
        Self { work, own, seen: 0 }
    }

    /// `true` if there is a copy at this path or below it; links are not followed.
    fn are_below(&mut self, path: &Path, depth: usize) -> io::Result<bool> {
        let kind = fs::symlink_metadata(path)?.file_type();
        self.seen = self.seen.saturating_add(1);
        if kind.is_file() {
            return self.is_copy(path);
        }
        if !kind.is_dir() {
            return Ok(false);
        }
        if depth > DEEPEST || self.seen > MOST_FILES {
            return Ok(true);
        }
        for entry in fs::read_dir(path)? {
            if self.are_below(&entry?.path(), depth.saturating_add(1))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_copy(&self, path: &Path) -> io::Result<bool> {
        let name = path.file_name().and_then(OsStr::to_str);
        for own in name.and_then(|name| self.own.get(name)).into_iter().flatten() {
            let own = self.work.join(own);
            let size = fs::symlink_metadata(path)?.len();
            let is_alike = fs::symlink_metadata(&own).is_ok_and(|meta| meta.is_file() && meta.len() == size);
            if is_alike && size > 0 && fs::read(path)? == fs::read(own)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn look_at(files: &[(&str, &str)]) -> SetUpFiles {
        let folder = tempfile::tempdir().unwrap();
        let tracked: BTreeSet<String> =
            ["src/app/core.py", "src/app/__init__.py", "package.json"].map(str::to_owned).into();
        let own = [("work/src/app/core.py", "x = 1\n"), ("work/src/app/__init__.py", ""), ("work/package.json", "{}")];
        for (path, text) in own.iter().chain(files) {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::create_dir_all(folder.path().join("home")).unwrap();
        let (work, home): (PathBuf, PathBuf) = (folder.path().join("work"), folder.path().join("home"));
        let left = UntrackedFiles::look_through(&work, &tracked).unwrap();
        SetUpFiles::look(&work, &home, &left, &tracked).unwrap()
    }

    #[test]
    fn only_packages_are_the_same_for_every_commit() {
        let packages: [&[(&str, &str)]; 9] = [
            &[],
            &[
                ("work/vendor/composer/installed.json", "{}"),
                ("work/vendor/composer/autoload_classmap.php", "'C' => $vendorDir . '/c',\n"),
            ],
            &[("work/vendor/bundle/ruby/a.rb", "1"), ("work/.bundle/config", "x")],
            &[("work/obj/project.assets.json", "{}")],
            &[("work/node_modules/a/index.js", "1"), ("work/package-lock.json", "{}")],
            &[("work/.venv/lib/six.py", "s"), ("work/src/app.egg-info/SOURCES.txt", "s")],
            &[("work/.venv/lib/core.py", "y = 2\n"), ("work/.venv/lib/app/__init__.py", "")],
            &[("work/.venv/LICENSE", "l"), ("work/src/app/__pycache__/core.pyc", "b")],
            &[("home/.cache/pip/a", "x = 1\n"), ("home/.cargo/registry/a", "")],
        ];
        for files in packages {
            assert_eq!(look_at(files), SetUpFiles::Packages, "{files:?}");
        }
        let of_files: [&[(&str, &str)]; 7] = [
            &[
                ("work/vendor/composer/installed.json", "{}"),
                ("work/vendor/composer/autoload_classmap.php", "'A' => $baseDir . '/src/a.php',\n"),
            ],
            &[("work/vendor/a.php", "1")],
            &[("work/deps/a.ex", "1")],
            &[("work/.venv/lib/app/core.py", "x = 1\n")],
            &[("work/dist/bundle.js", "1")],
            &[("work/src/app/_version.py", "v = 1")],
            &[("home/.local/bin/app", "")],
        ];
        for files in of_files {
            assert_eq!(look_at(files), SetUpFiles::OfFiles, "{files:?}");
        }
    }
}
