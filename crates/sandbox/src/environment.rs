//! The environment of a foreign program: empty, then what it needs to find its tools, and a home of its own.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

/// Where programs are looked for if the service itself was told nothing.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Settings of Cargo that may hold a token.
const TOKEN: &str = "token";

/// `PATH`, `LANG`, `TMPDIR`, a private `HOME` below `private`, the Rust tool chain where the host has one, and the
/// variables of the service that `named` lists. Never the host's home, never a file with credentials: what Cargo fetches
/// lies in the private home, beside a copy of the host's settings of Cargo where they name no token.
pub fn environment(private: &Path, named: &[String]) -> std::io::Result<Vec<(OsString, OsString)>> {
    let (home, tmp) = (private.join("home"), private.join("tmp"));
    fs::create_dir_all(&home)?;
    fs::create_dir_all(&tmp)?;
    let own = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let host_home = own("HOME").map(PathBuf::from);
    let host_folder = |name: &str, usual: &str| {
        let folder = own(name)
            .map(PathBuf::from)
            .or_else(|| Some(host_home.as_ref()?.join(usual)));
        folder.filter(|folder| folder.is_dir())
    };
    if let Some(cargo) = host_folder("CARGO_HOME", ".cargo") {
        copy_settings(&cargo, &home.join(".cargo"))?;
    }
    let mut env: Vec<(OsString, OsString)> = vec![
        ("PATH".into(), own("PATH").unwrap_or_else(|| DEFAULT_PATH.into())),
        ("LANG".into(), own("LANG").unwrap_or_else(|| "C.UTF-8".into())),
        ("TMPDIR".into(), tmp.into()),
        ("HOME".into(), home.into()),
        // Git stops at settings that it may not read.
        ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
    ];
    if let Some(rustup) = host_folder("RUSTUP_HOME", ".rustup") {
        env.push(("RUSTUP_HOME".into(), rustup.into()));
    }
    let known: Vec<OsString> = env.iter().map(|(name, _)| name.clone()).collect();
    let passed = named.iter().filter(|name| !known.contains(&OsString::from(name)));
    env.extend(passed.filter_map(|name| Some((name.into(), own(name)?))));
    Ok(env)
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
        let copied: Vec<_> = fs::read_dir(&own)
            .unwrap()
            .flatten()
            .map(|entry| entry.file_name())
            .collect();
        assert_eq!(copied, ["config.toml"]);
    }

    #[test]
    fn home_is_private_and_nothing_else_is_passed() {
        let folder = tempfile::tempdir().unwrap();
        let env = environment(folder.path(), &["HOME".to_owned(), "NO_SUCH_VARIABLE_HERE".to_owned()]).unwrap();
        let allowed = ["PATH", "LANG", "TMPDIR", "HOME", "GIT_CONFIG_NOSYSTEM", "RUSTUP_HOME"];
        assert!(env.iter().all(|(name, _)| allowed.iter().any(|fine| name == fine)));
        let homes: Vec<_> = env
            .iter()
            .filter(|(name, _)| name == "HOME")
            .map(|(_, value)| value.clone())
            .collect();
        assert_eq!(homes, [folder.path().join("home").into_os_string()]);
    }
}
