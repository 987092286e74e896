//! The log-in of the person who started the command line, used only for `--use-my-login`. The program can read the
//! folder with the log-in but not change it. Otherwise an agent could write settings that run later as that person.

use crate::agents::{
    access::Provider,
    private::{Private, host},
    run::RunError,
};
use sandbox::Spec;
use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

/// The largest log-in file that is copied, in bytes.
const MAX_FILE: u64 = 16 << 20;

/// The folder, files and variables in which a provider's program keeps a person's log-in and settings.
struct LoginStorage {
    variable: &'static str,
    /// The folder in the home if the variable is not set.
    usual: &'static str,
    /// Files that are copied for each run, because programs write to them.
    copied: &'static [&'static str],
    /// Folders that are only read.
    linked: &'static [&'static str],
    passed: &'static [&'static str],
    /// Prefixes of variables that can hold an account or select one.
    account: &'static [&'static str],
    /// Files that can hold an account. If a file has words here, it holds an account only if it contains one of them: a
    /// settings file can set variables, or name a program that prints a key.
    accounts: &'static [(&'static str, &'static [&'static str])],
    /// The folder of the settings that an administrator made for all users. They can hold an account too.
    managed: &'static str,
}

impl Provider {
    fn storage(self) -> LoginStorage {
        match self {
            Self::Anthropic => LoginStorage {
                variable: "CLAUDE_CONFIG_DIR",
                usual: ".claude",
                copied: &[".credentials.json", ".claude.json", "settings.json", "CLAUDE.md"],
                linked: &["agents", "commands", "output-styles", "plugins", "skills"],
                passed: &["ANTHROPIC_", "CLAUDE_CODE_"],
                account: &["ANTHROPIC_", "CLAUDE_CODE_OAUTH_", "CLAUDE_CODE_USE_"],
                accounts: &[
                    (".credentials.json", &[]),
                    (".claude.json", &["\"primaryApiKey\""]),
                    ("settings.json", &["\"apiKeyHelper\"", "\"env\""]),
                ],
                managed: "/etc/claude-code",
            },
            Self::OpenAi => LoginStorage {
                variable: "CODEX_HOME",
                usual: ".codex",
                copied: &["auth.json", "config.toml", "AGENTS.md"],
                linked: &["prompts", "skills"],
                passed: &["OPENAI_"],
                account: &["OPENAI_"],
                accounts: &[("auth.json", &[]), ("config.toml", &["model_provider"])],
                managed: "/etc/codex",
            },
        }
    }
}

/// Variables that we always set ourselves.
const OURS: [&str; 7] = [
    "CLAUDE_CODE_DISABLE_ATTACHMENTS",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS",
    "CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_MAX_RETRIES",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB",
];

/// `true` if a provider's program may be logged in, as far as this shows without starting it.
pub(crate) fn may_be_there(provider: Provider) -> bool {
    // On macOS the log-in can be in the key chain, which is not searched.
    cfg!(target_os = "macos") || is_there(&provider.storage(), &std::env::vars_os().collect())
}

/// Settings of an administrator are not read, since they can stand in several files that only root may read. If there are
/// any, the program decides.
fn is_there(storage: &LoginStorage, variables: &BTreeMap<OsString, OsString>) -> bool {
    if Path::new(storage.managed).exists() {
        return true;
    }
    let value = |name: &str| variables.get(OsStr::new(name)).filter(|value| !value.is_empty());
    let Some(home) = value("HOME").map(Path::new) else {
        return false;
    };
    let of_account = |name: &OsString| {
        let name = name.to_string_lossy();
        storage.account.iter().any(|prefix| name.starts_with(prefix))
    };
    let named = value(storage.variable).map(Path::new);
    let holds_one = |(name, words): &(&str, &[&str])| {
        let text = std::fs::read_to_string(storage.file(home, named, name));
        text.is_ok_and(|text| words.is_empty() || words.iter().any(|word| text.contains(word)))
    };
    variables.keys().any(of_account) || storage.accounts.iter().any(holds_one)
}

impl LoginStorage {
    /// Returns the path of a file; `named` is the folder that the variable names.
    fn file(&self, home: &Path, named: Option<&Path>, name: &str) -> PathBuf {
        match named {
            Some(folder) => folder.join(name),
            // This one file is beside the default folder, not in it.
            None if name == ".claude.json" => home.join(name),
            None => home.join(self.usual).join(name),
        }
    }
}

/// Gives a program the log-in of the person who started the command line.
pub(crate) fn as_the_host(order: &mut Spec, private: &Private, provider: Provider) -> Result<(), RunError> {
    let own = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let Some(home) = own("HOME").map(PathBuf::from) else {
        return Ok(());
    };
    let storage = provider.storage();
    let named = own(storage.variable).map(PathBuf::from);
    let folder = named.clone().unwrap_or_else(|| home.join(storage.usual));
    let mine = private.folder(&format!("login{}", storage.usual))?;
    let copied = |name: &&str| copy(&storage.file(&home, named.as_deref(), name), &mine.join(name));
    let handed_on = storage.copied.iter().try_for_each(copied);
    handed_on
        .and_then(|()| link(&folder, &mine, storage.linked))
        .map_err(host("handing on the log-in"))?;
    if folder.is_dir() {
        order.confine.read.push(folder);
    }
    let mut give = |name: OsString, value: OsString| {
        order.env.retain(|(known, _)| *known != name);
        order.env.push((name, value));
    };
    give("HOME".into(), home.into_os_string());
    give(storage.variable.into(), mine.into_os_string());
    for (name, value) in std::env::vars_os() {
        let of_account = |name: &str| storage.passed.iter().any(|prefix| name.starts_with(prefix));
        let passes = name
            .to_str()
            .is_some_and(|name| of_account(name) && !OURS.contains(&name));
        if passes {
            give(name, value);
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::metadata(from) {
        Ok(found) if found.is_file() && found.len() <= MAX_FILE => std::fs::copy(from, to).map(drop),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn link(folder: &Path, mine: &Path, names: &[&str]) -> io::Result<()> {
    let mut there = names.iter().filter(|name| folder.join(name).is_dir());
    there.try_for_each(|name| symlink(folder.join(name), mine.join(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_in_is_seen_by_its_file_or_its_variable_alone() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".claude");
        std::fs::create_dir(&folder).unwrap();
        let with = |more: &[(&str, &str)]| {
            let all = more.iter().chain(&[("CLAUDE_CODE_ENTRYPOINT", "cli")]);
            let mut variables: BTreeMap<OsString, OsString> =
                all.map(|(name, value)| (name.into(), value.into())).collect();
            variables.insert("HOME".into(), home.path().into());
            let storage = LoginStorage {
                managed: "/nowhere",
                ..Provider::Anthropic.storage()
            };
            is_there(&storage, &variables)
        };
        assert!(!with(&[]));
        assert!(with(&[("ANTHROPIC_API_KEY", "key")]) && with(&[("CLAUDE_CODE_OAUTH_TOKEN", "token")]));
        // The program writes this file before anybody logs in.
        std::fs::write(home.path().join(".claude.json"), r#"{"numStartups":1}"#).unwrap();
        std::fs::write(folder.join("settings.json"), r#"{"theme":"dark"}"#).unwrap();
        assert!(!with(&[]));
        std::fs::write(folder.join("settings.json"), r#"{"apiKeyHelper":"give-key"}"#).unwrap();
        assert!(with(&[]));
        std::fs::remove_file(folder.join("settings.json")).unwrap();
        std::fs::write(folder.join(".credentials.json"), "{}").unwrap();
        assert!(with(&[]));
        assert!(!with(&[("CLAUDE_CONFIG_DIR", "/nowhere")]), "the log-in is elsewhere");
    }

    #[test]
    fn settings_of_an_administrator_may_hold_an_account() {
        let storage = LoginStorage {
            managed: "/proc",
            ..Provider::Anthropic.storage()
        };
        assert!(is_there(&storage, &BTreeMap::new()));
    }
}
