//! The safe way to call git: an environment built from nothing, and settings that override any configuration file.

use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// The empty tree. As the source of attributes it means that no attribute applies. Only calls that fill a checkout or
/// convert files take the attributes of a commit.
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

/// The settings of every call. They override any configuration file.
pub(crate) const SETTINGS: [&str; 10] = [
    // `:` is the shell command that does nothing: git runs the program named here, and an empty name is an error.
    "core.alternateRefsCommand=:",
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

/// Settings for calls that touch data of others: no hook runs, hostile objects are refused, a silent server is given
/// up.
pub(crate) const SETTINGS_OUTSIDE: [&str; 4] =
    ["core.hooksPath=/dev/null", "transfer.fsckObjects=true", "http.lowSpeedLimit=1", "http.lowSpeedTime=60"];

/// The fsck errors that do not make us refuse a history. Nobody can rewrite a history that others build on, and GitHub
/// accepts all of these. They concern a wrong author or date, an old spelling of a file mode, or attributes, which name
/// no program here and whose size git limits when it reads them. Errors about a path (`hasDotgit`, `hasDotdot`,
/// `fullPathname`, `emptyName`, `treeNotSorted`, `duplicateEntries`, ...), a submodule (`gitmodules*`) or another
/// object still count. With those, a repository attacks people who check it out.
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
    // A submodule with an unknown commit. The missing content of a file is detected by other means.
    "nullSha1",
    "gitattributesBlob",
    "gitattributesLarge",
    "gitattributesLineLength",
    "gitattributesSymlink",
    "gitignoreSymlink",
    "mailmapSymlink",
];

/// Returns the first git on the service's own `PATH`, looked up once. With a full path, the operating system can start
/// a program without copying this process first.
pub(crate) fn git_on_path() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = PROGRAM.get_or_init(|| {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).map(|folder| folder.join("git")).find(|file| is_program(file))
    });
    found.as_deref()
}

pub(crate) fn git_program() -> &'static Path {
    git_on_path().unwrap_or(Path::new("git"))
}

fn is_program(file: &Path) -> bool {
    file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
