//! The log-in of the person who started the command line, used only for `--use-my-login`. The program can read the
//! folder with the log-in but not change it. Otherwise an agent could write settings that run later as that person.

use crate::agents::{
    access::Provider,
    private::{Private, host},
    run::RunError,
};
use sandbox::Spec;
use std::{
    ffi::OsString,
    io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

/// The largest log-in file that is copied, in bytes.
const MAX_FILE: u64 = 16 << 20;

/// The place in which a provider's program keeps a person's log-in and settings.
struct Place {
    /// The variable that names the folder.
    variable: &'static str,
    /// The folder in the home if the variable is not set.
    usual: &'static str,
    /// Files that are copied for each run, because programs write to them.
    copied: &'static [&'static str],
    /// Folders that are only read.
    linked: &'static [&'static str],
    /// Prefixes of variables that are passed on.
    passed: &'static [&'static str],
}

impl Provider {
    fn place(self) -> Place {
        match self {
            Self::Anthropic => Place {
                variable: "CLAUDE_CONFIG_DIR",
                usual: ".claude",
                copied: &[".credentials.json", ".claude.json", "settings.json", "CLAUDE.md"],
                linked: &["agents", "commands", "output-styles", "plugins", "skills"],
                passed: &["ANTHROPIC_", "CLAUDE_CODE_"],
            },
            Self::OpenAi => Place {
                variable: "CODEX_HOME",
                usual: ".codex",
                copied: &["auth.json", "config.toml", "AGENTS.md"],
                linked: &["prompts", "skills"],
                passed: &["OPENAI_"],
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

/// Gives a program the log-in of the person who started the command line.
pub(crate) fn as_the_host(order: &mut Spec, private: &Private, provider: Provider) -> Result<(), RunError> {
    let own = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let Some(home) = own("HOME").map(PathBuf::from) else {
        return Ok(());
    };
    let place = provider.place();
    let named = own(place.variable).map(PathBuf::from);
    let folder = named.clone().unwrap_or_else(|| home.join(place.usual));
    let mine = private.folder(&format!("login{}", place.usual))?;
    let handed_on = place.copied.iter().try_for_each(|name| {
        // This one file is beside the default folder, not in it.
        let beside = *name == ".claude.json" && named.is_none();
        let from = if beside { home.join(name) } else { folder.join(name) };
        copy(&from, &mine.join(name))
    });
    handed_on
        .and_then(|()| link(&folder, &mine, place.linked))
        .map_err(host("handing on the log-in"))?;
    if folder.is_dir() {
        order.confine.read.push(folder);
    }
    let mut give = |name: OsString, value: OsString| {
        order.env.retain(|(known, _)| *known != name);
        order.env.push((name, value));
    };
    give("HOME".into(), home.into_os_string());
    give(place.variable.into(), mine.into_os_string());
    for (name, value) in std::env::vars_os() {
        let of_account = |name: &str| place.passed.iter().any(|prefix| name.starts_with(prefix));
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
