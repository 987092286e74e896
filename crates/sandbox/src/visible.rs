//! The paths that a foreign program sees besides those it was given: the system's programs and libraries, the programs
//! on its `PATH`, and the program itself.
//!
//! They never include a whole home folder, a folder that contains a hidden path, or a file with credentials.

use crate::{environment::CERTIFICATES, spec::Spec};
use std::{
    ffi::{OsStr, OsString},
    fs,
    io::Read,
    path::{Component, Path, PathBuf},
};

/// The system's programs and libraries, and the settings that they read.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/etc/R",
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/chromium",
    "/etc/chromium.d",
    "/etc/crypto-policies",
    "/etc/debian_version",
    "/etc/fonts",
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/locale.alias",
    "/etc/localtime",
    "/etc/magic",
    "/etc/maven",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/perl",
    "/etc/php",
    "/etc/pki/ca-trust",
    "/etc/pki/java",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/tls/certs",
    "/etc/postgresql-common",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/cert.pem",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/terminfo",
    "/etc/timezone",
];
/// The beginnings of the names of settings in `/etc` that carry a version.
const VERSIONED: &[&str] = &["ImageMagick-", "java-", "python3"];
/// Names of folders with programs. The folder above one of these belongs to the same tool.
const PROGRAM_FOLDERS: &[&str] = &["bin", "sbin", ".bin", "shims"];
/// Environment variables that name the home of a tool.
const TOOL_HOMES: &[&str] = &["RUSTUP_HOME", "JAVA_HOME", "GOROOT", "PYENV_ROOT", "NVM_DIR"];
/// The parts of an installation that its programs read. In a folder of a person, the tool's settings and keys lie beside
/// them, under any name.
const PARTS: &[&str] =
    &["bin", "sbin", "lib", "lib32", "lib64", "libexec", "include", "share", "pyvenv.cfg", "version"];
/// The parts that some tools need besides. The first text is a part by which such a tool is known.
const PARTS_OF_TOOLS: &[(&str, &[&str])] = &[
    ("jmods", &["conf", "jmods", "release"]), // Java
    ("lib/modules", &["conf", "release"]),
    ("jre/lib", &["jre", "release"]),
    ("boot", &["boot", "conf/logging"]),                // Maven
    ("pkg/tool", &["VERSION", "go.env", "pkg", "src"]), // Go
    ("shims", &["installs", "plugins", "pyenv.d", "rbenv.d", "shims", "versions"]), // pyenv, rbenv, asdf, mise
    ("layout.v4", &["layout.v4", "tools"]),             // Volta
    ("conda-meta", &["conda-meta", "condabin", "ssl/cert.pem", "ssl/openssl.cnf"]), // Conda
    ("Cellar", &["Cellar", "etc/ca-certificates", "etc/openssl@3", "opt"]), // Homebrew
    ("specifications", &["extensions", "gems", "specifications"]), // RubyGems
    ("global_packages", &["global_packages", "hosted"]), // Dart
    ("ghc", &["cache", "ghc", "hls"]),                  // GHCup
    ("install/global", &["install/global"]),            // Bun
    ("packages/flutter", &["packages"]),                // Flutter
];
/// Names of files with the credentials of tools.
const CREDENTIALS: &[&str] = &[
    "credentials",
    "credentials.toml",
    ".credentials.json",
    "auth.json",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
];

/// Returns every file and folder that the program of `spec` may read, except `hidden` paths and folders that contain
/// them.
pub(super) fn readable(spec: &Spec, hidden: &[PathBuf]) -> Vec<PathBuf> {
    let system = SYSTEM.iter().map(PathBuf::from).chain(versioned());
    let mut all: Vec<PathBuf> = system.flat_map(|path| beside_hidden(path, hidden)).collect();
    let variable = |name: &str| spec.env.iter().find(|(known, _)| known == name).map(|(_, value)| value);
    for folder in std::env::split_paths(&variable("PATH").cloned().unwrap_or_default()) {
        all.extend(folder_of_programs(&folder, hidden));
    }
    for home in TOOL_HOMES.iter().filter_map(|name| variable(name)) {
        all.extend(without_credentials(Path::new(home), hidden));
    }
    for file in CERTIFICATES.iter().filter_map(|name| variable(name)) {
        let both = [Some(PathBuf::from(file)), fs::canonicalize(file).ok()];
        let is_seen = |file: &PathBuf| !hidden.iter().any(|hidden| file.starts_with(hidden));
        all.extend(both.into_iter().flatten().filter(is_seen));
    }
    if let Some(program) = located(&spec.program, variable("PATH")) {
        all.extend(around(&program, hidden));
    }
    let given = spec.confine.read.iter().cloned();
    let known = all.into_iter().filter(|path| path.is_absolute() && path.exists());
    let mut all: Vec<PathBuf> = known.chain(given).collect();
    all.sort();
    all.dedup();
    all
}

/// Returns a path, or its content without the hidden paths.
fn beside_hidden(path: PathBuf, hidden: &[PathBuf]) -> Vec<PathBuf> {
    let real = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
    if hidden.iter().any(|hidden| real.starts_with(hidden)) {
        return Vec::new();
    }
    if !hidden.iter().any(|hidden| hidden.starts_with(&real)) {
        return vec![path];
    }
    let entries = fs::read_dir(&real).into_iter().flatten().flatten();
    // A link to a folder with a hidden path would show it under another name.
    let shown = entries.filter(|entry| {
        let target = entry.path().is_symlink().then(|| fs::canonicalize(entry.path()).ok()).flatten();
        target.is_none_or(|target| !hidden.iter().any(|hidden| hidden.starts_with(&target)))
    });
    shown.flat_map(|entry| beside_hidden(entry.path(), hidden)).collect()
}

/// Returns the paths that the program at `path` needs: the file itself, the target of its links, and the folder of its
/// tool if that contains nothing else.
pub fn around(path: &Path, hidden: &[PathBuf]) -> Vec<PathBuf> {
    let Ok(file) = fs::canonicalize(path) else {
        return Vec::new();
    };
    let mut all = vec![path.to_path_buf(), file.clone()];
    all.extend(virtual_environment(path, hidden));
    let package = file.ancestors().find(|above| above.file_name().is_some_and(|name| name == "node_modules"));
    match (package, file.parent()) {
        (Some(package), _) => all.extend(without_credentials(package, hidden)),
        (None, Some(folder)) => all.extend(folder_of_programs(folder, hidden)),
        (None, None) => {}
    }
    all
}

/// The file that marks the root of a virtual environment of Python.
const PYVENV: &str = "pyvenv.cfg";
/// The longest such file that is read, in bytes.
const MAX_PYVENV: u64 = 64 * 1024;

/// Returns the virtual environment of Python that contains a path, and the installation from which it was made; nothing
/// if there is none.
pub fn virtual_environment(path: &Path, hidden: &[PathBuf]) -> Vec<PathBuf> {
    let is_plain = path.is_absolute() && !path.components().any(|part| part == Component::ParentDir);
    let root = path.ancestors().find(|above| above.join(PYVENV).is_file());
    let Some(root) = root.filter(|root| is_plain && !holds_more(root, hidden)) else {
        return Vec::new();
    };
    let mut text = String::new();
    let read = fs::File::open(root.join(PYVENV)).and_then(|file| file.take(MAX_PYVENV).read_to_string(&mut text));
    let home = read.ok().and_then(|_| python_home(&text));
    let mut all = without_credentials_in(root);
    all.extend(home.into_iter().flat_map(|home| folder_of_programs(&home, hidden)));
    if let Ok(python) = fs::canonicalize(root.join("bin/python"))
        && let Some(folder) = python.parent()
    {
        all.extend(folder_of_programs(folder, hidden));
    }
    all
}

/// Returns the folder with the Python from which a virtual environment was made.
fn python_home(pyvenv: &str) -> Option<PathBuf> {
    let mut pairs = pyvenv.lines().filter_map(|line| line.split_once('='));
    let (_, home) = pairs.find(|(key, _)| key.trim() == "home")?;
    Some(PathBuf::from(home.trim())).filter(|home| home.is_absolute())
}

fn versioned() -> Vec<PathBuf> {
    let entries = fs::read_dir("/etc").into_iter().flatten().flatten();
    let fitting = entries.filter(|entry| {
        let name = entry.file_name();
        VERSIONED.iter().any(|start| name.to_string_lossy().starts_with(start))
    });
    fitting.map(|entry| entry.path()).collect()
}

/// Returns the file of a program by its name.
fn located(program: &OsStr, path: Option<&OsString>) -> Option<PathBuf> {
    if program.as_encoded_bytes().contains(&b'/') {
        return Some(PathBuf::from(program)).filter(|path| path.is_absolute());
    }
    let path = path?;
    std::env::split_paths(path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// Returns a folder of programs together with the tool that it belongs to.
fn folder_of_programs(folder: &Path, hidden: &[PathBuf]) -> Vec<PathBuf> {
    let is_known = folder.file_name().is_some_and(|name| PROGRAM_FOLDERS.iter().any(|known| name == *known));
    let above = folder.parent().filter(|above| is_known && !is_wide(above, hidden));
    match above {
        Some(tool) if is_personal(tool) => parts(tool, folder),
        Some(tool) => without_credentials(tool, hidden),
        None if is_wide(folder, hidden) => Vec::new(),
        None => without_credentials(folder, hidden),
    }
}

/// `true` if a folder may contain what belongs to a person: it is in a home, or below a folder whose name begins with a
/// dot, as a tool's folder in a home does. A folder of packages contains nothing else.
fn is_personal(folder: &Path) -> bool {
    let own = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.parent().is_some());
    let mut homes = own.into_iter().chain(["/home".into(), "/root".into()]);
    let is_dotted = |part: Component<'_>| part.as_os_str().as_encoded_bytes().starts_with(b".");
    let is_of_home = homes.any(|home| folder.starts_with(home)) || folder.components().any(is_dotted);
    let is_of_packages = folder.ends_with("node_modules")
        || folder.ends_with("vendor") && folder.join("composer/installed.php").exists();
    is_of_home && !is_of_packages
}

/// Returns a folder of programs and the other parts of its tool.
fn parts(tool: &Path, programs: &Path) -> Vec<PathBuf> {
    let more = PARTS_OF_TOOLS.iter().filter(|(sign, _)| tool.join(sign).exists()).flat_map(|(_, parts)| *parts);
    let named = PARTS.iter().chain(more).map(|part| tool.join(part)).filter(|part| part.exists());
    let mut all: Vec<PathBuf> = named.chain([programs.to_path_buf()]).collect();
    all.sort();
    all.dedup();
    all
}

/// `true` if a folder contains more than one tool's files: a top-level folder of the system, a home, the folder of all
/// of a user's tools, or a folder with a hidden path in it.
fn is_wide(folder: &Path, hidden: &[PathBuf]) -> bool {
    let depth = folder.components().filter(|part| matches!(part, Component::Normal(_))).count();
    let below_homes = depth < 3 && folder.starts_with("/home");
    let shared = folder.file_name().is_some_and(|name| name == ".local");
    depth < 2 || below_homes || shared || holds_more(folder, hidden)
}

/// `true` if a folder contains the user's home or a hidden path.
fn holds_more(folder: &Path, hidden: &[PathBuf]) -> bool {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let holds = |path: &PathBuf| path.starts_with(folder);
    home.iter().chain(hidden).any(holds)
}

/// Returns the folder itself; if it contains credentials, everything else in it.
fn without_credentials(folder: &Path, hidden: &[PathBuf]) -> Vec<PathBuf> {
    if is_wide(folder, hidden) { Vec::new() } else { without_credentials_in(folder) }
}

fn without_credentials_in(folder: &Path) -> Vec<PathBuf> {
    let is_secret = |name: &OsStr| CREDENTIALS.iter().any(|secret| name == *secret);
    if !CREDENTIALS.iter().any(|name| folder.join(name).exists()) {
        return vec![folder.to_path_buf()];
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| !is_secret(&entry.file_name())).map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_programs_brings_its_tool_and_never_a_home_or_what_is_hidden() {
        let folder = tempfile::Builder::new().prefix("tools").tempdir().unwrap();
        let tool = folder.path().join("tool");
        fs::create_dir_all(tool.join("bin")).unwrap();
        assert_eq!(folder_of_programs(&tool.join("bin"), &[]), std::slice::from_ref(&tool));
        let data = [tool.join("data")];
        assert_eq!(folder_of_programs(&tool.join("bin"), &data), [tool.join("bin")]);
        assert_eq!(folder_of_programs(&tool, &data), Vec::<PathBuf>::new());
        for home in ["/home/mona/bin", "/home/mona/.local/bin", "/home/mona/.fly/bin", "/srv/mona/.fly/bin"] {
            assert_eq!(folder_of_programs(Path::new(home), &[]), [PathBuf::from(home)]);
        }
        for wide in ["/", "/tmp", "/home/mona", "/opt"] {
            assert_eq!(folder_of_programs(Path::new(wide), &[]), Vec::<PathBuf>::new());
        }
    }

    #[test]
    fn of_a_tool_in_a_home_only_the_parts_of_its_installation_are_seen() {
        let home = PathBuf::from(std::env::var_os("HOME").unwrap());
        let folder = tempfile::tempdir_in(home).unwrap();
        let tool = folder.path().join("tool");
        for name in ["bin", "lib", "conf", "pkg/tool", "src", "keys"] {
            fs::create_dir_all(tool.join(name)).unwrap();
        }
        for name in ["config.yml", "VERSION", "pyvenv.cfg"] {
            fs::write(tool.join(name), "").unwrap();
        }
        let seen = folder_of_programs(&tool.join("bin"), &[]);
        assert_eq!(seen, ["VERSION", "bin", "lib", "pkg", "pyvenv.cfg", "src"].map(|name| tool.join(name)));
        let packages = tool.join("node_modules");
        fs::create_dir_all(packages.join(".bin")).unwrap();
        assert_eq!(folder_of_programs(&packages.join(".bin"), &[]), [packages]);
    }

    #[test]
    fn a_virtual_environment_comes_as_a_whole_with_its_python() {
        let folder = tempfile::Builder::new().prefix("tools").tempdir().unwrap();
        let (venv, python) = (folder.path().join("venv"), folder.path().join("python"));
        for bin in [venv.join("bin"), python.join("bin")] {
            fs::create_dir_all(bin).unwrap();
        }
        fs::write(python.join("bin/python3"), "").unwrap();
        std::os::unix::fs::symlink(python.join("bin/python3"), venv.join("bin/python")).unwrap();
        let program = venv.join("bin/python");
        assert_eq!(virtual_environment(&program, &[]), Vec::<PathBuf>::new());
        let home = python.join("bin");
        fs::write(venv.join(PYVENV), format!("version = 3\nhome = {}\n", home.display())).unwrap();
        let seen = virtual_environment(&program, &[]);
        assert!(seen.contains(&venv) && seen.contains(&python), "{seen:?}");
        assert!(around(&program, &[]).contains(&venv));
        assert_eq!(virtual_environment(&venv.join("bin/activate"), &[]), seen);
        assert_eq!(virtual_environment(&program, &[venv.join("data")]), Vec::<PathBuf>::new());
        assert_eq!(virtual_environment(Path::new("venv/bin/python"), &[]), Vec::<PathBuf>::new());
        let outside = venv.join("bin/../../python/bin/python3");
        assert_eq!(virtual_environment(&outside, &[]), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_hidden_file_is_seen_under_no_name_and_all_beside_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(folder.path()).unwrap();
        fs::create_dir_all(top.join("local/etc")).unwrap();
        for name in ["bin", "local/etc/autobuild.toml", "local/etc/other", "local/share"] {
            fs::write(top.join(name), "").unwrap();
        }
        for (link, target) in
            [("etc", "local/etc"), ("itself", "."), ("key", "local/etc/autobuild.toml"), ("sh", "bin")]
        {
            std::os::unix::fs::symlink(target, top.join(link)).unwrap();
        }
        let mut seen = beside_hidden(top.clone(), &[top.join("local/etc/autobuild.toml")]);
        seen.sort();
        assert_eq!(seen, ["bin", "local/etc/other", "local/share", "sh"].map(|name| top.join(name)));
        assert_eq!(beside_hidden(top.clone(), &["/nowhere".into()]), [top]);
    }

    #[test]
    fn credentials_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["registry", "bin", "credentials.toml"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let mut seen = without_credentials(folder.path(), &[]);
        seen.sort();
        assert_eq!(seen, [folder.path().join("bin"), folder.path().join("registry")]);
    }
}
