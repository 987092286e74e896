//! What makes a call of git safe: an environment from nothing, and settings above any configuration file.

use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// The empty tree: as the source of attributes it means that no attribute holds, so bytes land as they are stored.
pub(crate) const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// Environment of every call. `PATH` is for the helpers that git itself starts.
pub(crate) const ENVIRONMENT: [(&str, &str); 13] = [
    ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ("HOME", "/nonexistent"),
    ("LC_ALL", "C"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "/bin/false"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PROTOCOL_FROM_USER", "0"),
    ("GIT_ADVICE", "0"),
];

/// Settings of every call, above any configuration file.
pub(crate) const SETTINGS: [&str; 9] = [
    "core.fsmonitor=false",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "credential.helper=",
];

/// Settings of calls that reach what others made: no hook runs, hostile objects are refused, a silent server is left.
pub(crate) const SETTINGS_OUTSIDE: [&str; 4] = [
    "core.hooksPath=/dev/null",
    "transfer.fsckObjects=true",
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=60",
];

/// What git says of an object, and is no reason to refuse a history. Nobody can rewrite what others build on, and GitHub
/// holds all of it: what is ignored tells wrongly who made a commit or when, or spells a file's mode in an old way, or is
/// about attributes, which are read from nowhere ([`EMPTY_TREE`]). Whatever names a path (`hasDotgit`, `hasDotdot`,
/// `fullPathname`, `emptyName`, `treeNotSorted`, `duplicateEntries`, ...), a submodule (`gitmodules*`) or another object
/// stays an error: that is how a repository attacks those who check it out.
pub(crate) const IGNORED_IN_HISTORY: [&str; 23] = [
    "badDate",
    "badDateOverflow",
    "badEmail",
    "badName",
    "badTimezone",
    "missingAuthor",
    "missingCommitter",
    "missingEmail",
    "missingNameBeforeEmail",
    "missingSpaceBeforeDate",
    "missingSpaceBeforeEmail",
    "multipleAuthors",
    "zeroPaddedDate",
    "nulInCommit",
    "badFilemode",
    "zeroPaddedFilemode",
    // A submodule whose commit is not known; the missing content of a file is found by other means.
    "nullSha1",
    "gitattributesBlob",
    "gitattributesLarge",
    "gitattributesLineLength",
    "gitattributesSymlink",
    "gitignoreSymlink",
    "mailmapSymlink",
];

/// The git that the service's own `PATH` leads to, looked up once. With its whole path a program is started without
/// copying this process first.
pub(crate) fn git_on_path() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = PROGRAM.get_or_init(|| {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path)
            .map(|folder| folder.join("git"))
            .find(|file| is_program(file))
    });
    found.as_deref()
}

/// What is started as git.
pub(crate) fn git_program() -> &'static Path {
    git_on_path().unwrap_or(Path::new("git"))
}

fn is_program(file: &Path) -> bool {
    file.metadata()
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
