//! A repository as detection sees it, and the commands that a tool chain suggests.

use crate::detect::{workflow, workflow::Workflow};
use std::{cell::OnceCell, rc::Rc};

/// The paths and files of a repository at one commit, or of one of its folders.
pub struct Repository<'a> {
    /// Every path, relative to the root.
    pub paths: &'a [String],
    /// Returns the text of a file; `None` if it is not readable text.
    read: &'a dyn Fn(&str) -> Option<String>,
    /// The folder that is examined, with a trailing slash; empty for the root.
    folder: String,
    /// `true` for a program that is installed here.
    is_installed: &'a dyn Fn(&str) -> bool,
    /// The steps of its own workflows before their tests; read once.
    workflow: Rc<OnceCell<Option<Workflow>>>,
}

/// The commands that one tool chain suggests. The set-up is empty if nothing needs preparing.
pub(super) struct Detection {
    pub(super) setup: String,
    pub(super) test: String,
    /// The names of the files that suggest them.
    pub(super) files: String,
    /// The folder in which the tests run, if it is not the one that was examined.
    pub(super) folder: String,
}

impl Detection {
    pub(super) fn new(setup: impl Into<String>, test: impl Into<String>, files: impl Into<String>) -> Self {
        let (setup, test, files) = (setup.into(), test.into(), files.into());
        let folder = String::new();
        Self { setup, test, files, folder }
    }
}

/// Names of folders whose projects are third-party code, samples or test data.
pub(super) const NOT_OWN: [&str; 16] = [
    "node_modules",
    "vendor",
    "third_party",
    ".venv",
    "examples",
    "example",
    "docs",
    "doc",
    "fixtures",
    "testdata",
    "tests",
    "test",
    "benchmarks",
    "bench",
    "fuzz",
    "samples",
];

/// The most folders that are searched for a project, and the deepest level.
pub(super) const MOST_FOLDERS: usize = 20;
pub(super) const DEEPEST: usize = 2;

impl<'a> Repository<'a> {
    /// Creates a repository with these paths.
    pub fn new(paths: &'a [String], read: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self { paths, read, folder: String::new(), is_installed: &|_| true, workflow: Rc::default() }
    }

    /// Sets the check for installed programs. Without it, every program counts as installed.
    pub fn on_machine(self, is_installed: &'a dyn Fn(&str) -> bool) -> Self {
        Self { is_installed, ..self }
    }
}

impl Repository<'_> {
    pub(crate) fn has(&self, path: &str) -> bool {
        self.has_from_root(&self.inside(path))
    }

    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let path = self.inside(path);
        self.has_from_root(&path).then(|| (self.read)(&path))?
    }

    /// Returns a path below the examined folder from the root.
    fn inside(&self, path: &str) -> String {
        format!("{}{path}", self.folder)
    }

    pub(super) fn first<'p>(&self, paths: &[&'p str]) -> Option<&'p str> {
        paths.iter().find(|path| self.has(path)).copied()
    }

    /// Returns the paths below the examined folder, relative to it.
    pub(super) fn paths_below(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().filter_map(|path| path.strip_prefix(&self.folder))
    }

    pub(super) fn is_installed(&self, program: &str) -> bool {
        (self.is_installed)(program)
    }

    /// Returns the text of a file by its path from the root.
    pub(super) fn text_from_root(&self, path: &str) -> Option<String> {
        (self.read)(path)
    }

    /// `true` if the repository has a file, by its path from the root.
    pub(super) fn has_from_root(&self, path: &str) -> bool {
        self.paths.iter().any(|known| known == path)
    }

    /// Returns the steps of its own workflows inside the folder before their tests.
    pub fn workflow(&self) -> Option<Workflow> {
        let read = self.workflow.get_or_init(|| workflow::read(self));
        Some(read.as_ref()?.below(&self.folder))
    }

    pub(crate) fn below(&self, folder: &str) -> Repository<'_> {
        Repository {
            paths: self.paths,
            read: self.read,
            folder: format!("{}{folder}/", self.folder),
            is_installed: self.is_installed,
            workflow: Rc::clone(&self.workflow),
        }
    }
}

/// Returns a folder for built files that the repository does not use otherwise.
pub(super) fn build_folder(repository: &Repository<'_>) -> &'static str {
    if repository.paths_below().any(|path| path == "build" || path.starts_with("build/")) {
        "build-autobuild"
    } else {
        "build"
    }
}

/// `true` if a word in a text begins with `test` or ends with `tests`: `run-tests`, `testament`, but not `latest`.
pub(super) fn mentions_tests(text: &str) -> bool {
    let mut parts = text.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_lowercase);
    parts.any(|part| part.starts_with("test") || part.ends_with("tests"))
}
