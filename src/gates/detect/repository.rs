//! A repository as detection sees it, and the commands that a tool chain suggests.

/// The paths and files of a repository at one commit, or of one of its folders.
pub struct Repository<'a> {
    /// Every path, relative to the root.
    pub(crate) paths: &'a [String],
    /// Returns the text of a file; `None` if it is not readable text.
    read: &'a dyn Fn(&str) -> Option<String>,
    /// The folder that is examined, with a trailing slash; empty for the root.
    folder: String,
}

/// The commands that one tool chain suggests. The set-up is empty if nothing needs preparing.
pub(super) struct Found {
    pub(super) setup: String,
    pub(super) test: String,
    pub(super) evidence: String,
    /// The folder in which the tests run, if it is not the one that was examined.
    pub(super) folder: String,
}

impl Found {
    pub(super) fn new(setup: impl Into<String>, test: impl Into<String>, evidence: impl Into<String>) -> Self {
        let (setup, test, evidence) = (setup.into(), test.into(), evidence.into());
        let folder = String::new();
        Self {
            setup,
            test,
            evidence,
            folder,
        }
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
    #[must_use]
    pub fn new(paths: &'a [String], read: &'a dyn Fn(&str) -> Option<String>) -> Self {
        let folder = String::new();
        Self { paths, read, folder }
    }
}

impl Repository<'_> {
    pub(crate) fn has(&self, path: &str) -> bool {
        let path = format!("{}{path}", self.folder);
        self.paths.contains(&path)
    }

    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let path = self.has(path).then(|| format!("{}{path}", self.folder))?;
        (self.read)(&path)
    }

    pub(super) fn first<'p>(&self, paths: &[&'p str]) -> Option<&'p str> {
        paths.iter().find(|path| self.has(path)).copied()
    }

    /// Returns the paths inside the folder, relative to it.
    pub(super) fn own(&self) -> impl Iterator<Item = &str> {
        self.paths.iter().filter_map(|path| path.strip_prefix(&self.folder))
    }

    /// Narrows the repository to one of its folders.
    pub(crate) fn below(&self, folder: &str) -> Repository<'_> {
        Repository {
            paths: self.paths,
            read: self.read,
            folder: format!("{}{folder}/", self.folder),
        }
    }
}

/// Returns the folder for built files: one that the repository does not use for its own.
pub(super) fn build_folder(repository: &Repository<'_>) -> &'static str {
    match repository.own().any(|path| path.starts_with("build/")) {
        true => "build-autobuild",
        false => "build",
    }
}
