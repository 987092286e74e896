//! The environment of a foreign program: empty, then what it needs to find its tools, and a home of its own.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::path::PathBuf;

/// Where programs are looked for if the service itself was told nothing.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// `PATH`, `LANG`, `TMPDIR`, a private `HOME` below `private`, the Rust tool chain where the host has one, and the
/// variables of the service that `named` lists. Never the host's home, never a file with credentials.
pub fn environment(private: &Path, named: &[String]) -> std::io::Result<Vec<(OsString, OsString)>> {
    let (home, tmp) = (private.join("home"), private.join("tmp"));
    fs::create_dir_all(&home)?;
    fs::create_dir_all(&tmp)?;
    let own = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let mut env: Vec<(OsString, OsString)> = vec![
        ("PATH".into(), own("PATH").unwrap_or_else(|| DEFAULT_PATH.into())),
        ("LANG".into(), own("LANG").unwrap_or_else(|| "C.UTF-8".into())),
        ("TMPDIR".into(), tmp.into()),
        ("HOME".into(), home.into()),
    ];
    let host_home = own("HOME").map(PathBuf::from);
    let host_folder = |name: &str, usual: &str| {
        let folder = own(name)
            .map(PathBuf::from)
            .or_else(|| Some(host_home.as_ref()?.join(usual)));
        folder.filter(|folder| folder.is_dir())
    };
    if let Some(rustup) = host_folder("RUSTUP_HOME", ".rustup") {
        env.push(("RUSTUP_HOME".into(), rustup.into()));
    }
    if let Some(cargo) = host_folder("CARGO_HOME", ".cargo") {
        env.push(("CARGO_HOME".into(), without_credentials(cargo, private)?.into()));
    }
    let known: Vec<OsString> = env.iter().map(|(name, _)| name.clone()).collect();
    let passed = named.iter().filter(|name| !known.contains(&OsString::from(name)));
    env.extend(passed.filter_map(|name| Some((name.into(), own(name)?))));
    Ok(env)
}

/// The host's Cargo folder itself, or, where it holds credentials, a folder of links to everything else in it.
fn without_credentials(cargo: PathBuf, private: &Path) -> std::io::Result<PathBuf> {
    let secret = ["credentials", "credentials.toml"];
    if !secret.iter().any(|name| cargo.join(name).exists()) {
        return Ok(cargo);
    }
    let view = private.join("cargo");
    fs::create_dir_all(&view)?;
    for entry in fs::read_dir(&cargo)?.flatten() {
        let link = view.join(entry.file_name());
        if !secret.iter().any(|name| entry.file_name() == *name) && fs::symlink_metadata(&link).is_err() {
            symlink(entry.path(), link)?;
        }
    }
    Ok(view)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_left_out_of_the_cargo_folder() {
        let folder = tempfile::tempdir().unwrap();
        let cargo = folder.path().join("host");
        fs::create_dir_all(cargo.join("registry")).unwrap();
        assert_eq!(without_credentials(cargo.clone(), folder.path()).unwrap(), cargo);
        fs::write(cargo.join("credentials.toml"), "token").unwrap();
        let view = without_credentials(cargo.clone(), folder.path()).unwrap();
        assert!(view != cargo && view.join("registry").is_dir() && !view.join("credentials.toml").exists());
        assert_eq!(without_credentials(cargo, folder.path()).unwrap(), view);
    }

    #[test]
    fn home_is_private_and_nothing_else_is_passed() {
        let folder = tempfile::tempdir().unwrap();
        let env = environment(folder.path(), &["HOME".to_owned(), "NO_SUCH_VARIABLE_HERE".to_owned()]).unwrap();
        let allowed = ["PATH", "LANG", "TMPDIR", "HOME", "RUSTUP_HOME", "CARGO_HOME"];
        assert!(env.iter().all(|(name, _)| allowed.iter().any(|fine| name == fine)));
        let homes: Vec<_> = env
            .iter()
            .filter(|(name, _)| name == "HOME")
            .map(|(_, value)| value.clone())
            .collect();
        assert_eq!(homes, [folder.path().join("home").into_os_string()]);
    }
}
