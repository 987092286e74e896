//! The environment of a foreign program: only the variables that it needs to find its tools, and a private home.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
};

/// The `PATH` of programs if the service itself has none.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The locale of programs if the machine lists none.
const DEFAULT_LOCALE: &str = "C.UTF-8";

/// Variables that name a file of certificates to trust. Programs with a list of their own, such as uv and Node, need
/// them if a proxy or a package mirror uses the organisation's own certificate.
pub(crate) const CERTIFICATES: [&str; 10] = [
    "SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "CARGO_HTTP_CAINFO",
    "PIP_CERT",
    "npm_config_cafile",
    "DENO_CERT",
    "HEX_CACERTS_PATH",
];

/// The variables with Java options of Maven and Gradle. `JAVA_TOOL_OPTIONS` would reach every Java program, but each
/// one would print it as its first line.
pub(crate) const JAVA_TOOLS: [&str; 2] = ["MAVEN_OPTS", "GRADLE_OPTS"];

/// The locale of programs, one that this machine has.
static LOCALE: LazyLock<String> = LazyLock::new(|| {
    let listed = Command::new("locale").arg("-a").output();
    let listed = listed.map(|output| output.stdout).unwrap_or_default();
    utf8_locale(&String::from_utf8_lossy(&listed)).to_owned()
});

/// Returns `C.UTF-8`, or the first UTF-8 locale of the list if the machine lacks that one.
fn utf8_locale(listed: &str) -> &str {
    let plain = |name: &str| name.to_ascii_lowercase().replace('-', "");
    let mut fitting = listed.lines().map(str::trim).filter(|name| plain(name).ends_with(".utf8"));
    if fitting.clone().any(|name| plain(name) == "c.utf8") {
        DEFAULT_LOCALE
    } else {
        fitting.next().unwrap_or(DEFAULT_LOCALE)
    }
}

/// Provides what a run with its own user lacks at L1: a line in the password file, and Git's trust in a checkout that
/// belongs to somebody else, such as a Coach's. At other levels these variables change nothing.
const OF_USER: [(&str, &str); 5] = [
    ("USER", "builder"),
    ("LOGNAME", "builder"),
    ("GIT_CONFIG_COUNT", "1"),
    ("GIT_CONFIG_KEY_0", "safe.directory"),
    ("GIT_CONFIG_VALUE_0", "*"),
];

/// A word in Cargo settings that suggests that they contain a token.
const TOKEN: &str = "token";

/// Returns the environment: `PATH`, `LANG`, `TMPDIR`, a private `HOME` below `private`, a user's name, the service's
/// certificate files, and the host's Rust tool chain. Adds the service's variables that `named` lists. It never
/// contains the host's home or a file with credentials. Cargo stores its downloads in the private home, which gets a
/// copy of the host's Cargo settings if they contain no token.
pub fn environment(private: &Path, named: &[String]) -> std::io::Result<Vec<(OsString, OsString)>> {
    environment_at(private, private, named)
}

/// Does the same as [`environment`] for programs that see the folder `private` at the path `seen`.
pub fn environment_at(private: &Path, seen: &Path, named: &[String]) -> std::io::Result<Vec<(OsString, OsString)>> {
    let home = private.join("home");
    fs::create_dir_all(&home)?;
    fs::create_dir_all(private.join("tmp"))?;
    let own = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let host_home = own("HOME").map(PathBuf::from);
    let host_folder = |name: &str, usual: &str| {
        let folder = own(name).map(PathBuf::from).or_else(|| Some(host_home.as_ref()?.join(usual)));
        folder.filter(|folder| folder.is_dir())
    };
    if let Some(cargo) = host_folder("CARGO_HOME", ".cargo") {
        copy_settings(&cargo, &home.join(".cargo"))?;
    }
    let mut env: Vec<(OsString, OsString)> = vec![
        ("PATH".into(), own("PATH").unwrap_or_else(|| DEFAULT_PATH.into())),
        ("LANG".into(), LOCALE.clone().into()),
        ("TMPDIR".into(), seen.join("tmp").into()),
        ("HOME".into(), seen.join("home").into()),
        // Git fails if it may not read the system's settings.
        ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
    ];
    if let Some(rustup) = host_folder("RUSTUP_HOME", ".rustup") {
        env.push(("RUSTUP_HOME".into(), rustup.into()));
    }
    env.extend(certificates(own));
    let known: Vec<OsString> = env.iter().map(|(name, _)| name.clone()).collect();
    let passed = named.iter().filter(|name| !known.contains(&OsString::from(name)));
    env.extend(passed.filter_map(|name| Some((name.into(), own(name)?))));
    let home = java_home(&seen.join("home"));
    let java = JAVA_TOOLS.into_iter().zip(home.iter().map(String::as_str).cycle());
    let unset = java.chain(OF_USER).filter(|(own, _)| !env.iter().any(|(name, _)| name == own));
    let set: Vec<(OsString, OsString)> = unset.map(|(name, value)| (name.into(), value.into())).collect();
    env.extend(set);
    Ok(env)
}

/// Returns Java's option for the home. Without it, Java reads the home from the password file, which names the host's
/// home if the sandbox has no password file of its own. `None` if the path cannot be one word of an option's variable.
pub(crate) fn java_home(home: &Path) -> Option<String> {
    java_option("user.home", home)
}

/// Returns Java's option that sets a property to a path. `None` if the path cannot be one word of an option's variable.
pub(crate) fn java_option(property: &str, path: &Path) -> Option<String> {
    let is_plain = |c: char| !c.is_whitespace() && !"'\"\\$`".contains(c);
    let path = path.to_str().filter(|path| path.chars().all(is_plain))?;
    Some(format!("-D{property}={path}"))
}

/// Returns the files of certificates that the service's own variables name.
pub(crate) fn certificate_files() -> BTreeSet<OsString> {
    let own = |name: &str| std::env::var_os(name);
    certificates(own).map(|(_, file)| file).collect()
}

/// Returns the variables among [`CERTIFICATES`] that name an existing file by its absolute path.
fn certificates(own: impl Fn(&str) -> Option<OsString>) -> impl Iterator<Item = (OsString, OsString)> {
    CERTIFICATES.into_iter().filter_map(move |name| {
        let file = own(name).filter(|file| Path::new(file).is_absolute() && Path::new(file).is_file())?;
        Some((name.into(), file))
    })
}

fn copy_settings(from: &Path, to: &Path) -> std::io::Result<()> {
    for name in ["config.toml", "config"] {
        let settings = fs::read_to_string(from.join(name)).unwrap_or_default();
        if !settings.is_empty() && !settings.contains(TOKEN) && !to.join(name).exists() {
            fs::create_dir_all(to)?;
            fs::write(to.join(name), settings)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locale_is_a_utf8_one_that_is_there() {
        for (listed, expected) in [
            ("C\nC.utf8\nPOSIX\n", "C.UTF-8"),
            ("C\nde_DE\nde_DE.utf8\nen_US.utf8\n", "de_DE.utf8"),
            ("C\nC.UTF-8\nen_US.utf8\n", "C.UTF-8"),
            ("", "C.UTF-8"),
        ] {
            assert_eq!(utf8_locale(listed), expected);
        }
    }

    #[test]
    fn settings_of_cargo_are_copied_unless_they_name_a_token() {
        let folder = tempfile::tempdir().unwrap();
        let (host, own) = (folder.path().join("host"), folder.path().join("own"));
        fs::create_dir_all(&host).unwrap();
        fs::write(host.join("credentials.toml"), "token").unwrap();
        fs::write(host.join("config.toml"), "[registry]\ntoken = \"x\"").unwrap();
        copy_settings(&host, &own).unwrap();
        assert!(!own.exists());
        fs::write(host.join("config.toml"), "[net]\noffline = true").unwrap();
        copy_settings(&host, &own).unwrap();
        let copied: Vec<_> = fs::read_dir(&own).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(copied, ["config.toml"]);
    }

    #[test]
    fn home_is_private_and_nothing_else_is_passed() {
        let folder = tempfile::tempdir().unwrap();
        let env = environment(folder.path(), &["HOME".to_owned(), "NO_SUCH_VARIABLE_HERE".to_owned()]).unwrap();
        let allowed = ["PATH", "LANG", "TMPDIR", "HOME", "GIT_CONFIG_NOSYSTEM", "RUSTUP_HOME"];
        let of_user = OF_USER.map(|(name, _)| name);
        let allowed = || allowed.iter().chain(&CERTIFICATES).chain(&JAVA_TOOLS).chain(&of_user);
        assert!(env.iter().all(|(name, _)| allowed().any(|fine| name == fine)));
        let homes: Vec<_> = env.iter().filter(|(name, _)| name == "HOME").map(|(_, value)| value.clone()).collect();
        assert_eq!(homes, [folder.path().join("home").into_os_string()]);
    }

    #[test]
    fn java_has_the_private_home_as_programs_see_it() {
        let folder = tempfile::tempdir().unwrap();
        let env = environment_at(folder.path(), Path::new("/seen"), &[]).unwrap();
        for (name, expected) in [
            ("HOME", "/seen/home"),
            ("TMPDIR", "/seen/tmp"),
            ("MAVEN_OPTS", "-Duser.home=/seen/home"),
            ("GRADLE_OPTS", "-Duser.home=/seen/home"),
        ] {
            let set: Vec<_> = env.iter().filter(|(known, _)| known == name).collect();
            assert_eq!(set, [&(name.into(), expected.into())]);
        }
        assert!(folder.path().join("home").is_dir());
        assert_eq!(java_home(Path::new("/with space/home")), None);
    }

    #[test]
    fn files_of_certificates_are_passed_and_nothing_else_that_is_called_so() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("organisation.pem");
        fs::write(&file, "-----BEGIN CERTIFICATE-----").unwrap();
        let own = |name: &str| match name {
            "SSL_CERT_FILE" => Some(file.clone().into_os_string()),
            "PIP_CERT" => Some("/no/such/file.pem".into()),
            "CURL_CA_BUNDLE" => Some("Cargo.toml".into()),
            "GIT_SSL_CAINFO" => Some(folder.path().into()),
            _ => None,
        };
        let passed: Vec<_> = certificates(own).collect();
        assert_eq!(passed, [("SSL_CERT_FILE".into(), file.clone().into_os_string())]);
    }
}
