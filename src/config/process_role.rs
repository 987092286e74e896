//! The roles of processes, and the settings that only some of them need.

use crate::config::{
    server::ServerSettings,
    variables::{ServerMistake, SettingSource, mistake},
};
use secrecy::ExposeSecret;

/// The part of the work that one process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessRole {
    /// Receives webhooks, writes to GitHub, decides, and runs agents and Gates.
    Everything,
    /// Does everything except agents and Gates, which other processes on the same database run.
    NoAgents,
    /// Runs only agents and Gates. GitHub does not reach it.
    Worker,
}

impl ProcessRole {
    /// `true` if GitHub sends webhooks to the process, and people open its pages.
    pub fn is_reached(self) -> bool {
        match self {
            Self::Everything | Self::NoAgents => true,
            Self::Worker => false,
        }
    }

    /// `true` if the process runs agents and Gates.
    pub fn runs_agents(self) -> bool {
        match self {
            Self::Everything | Self::Worker => true,
            Self::NoAgents => false,
        }
    }
}

impl ServerSettings {
    /// Returns the settings if a process of this role can work with them.
    pub fn for_role(self, role: ProcessRole) -> Result<Self, Vec<ServerMistake>> {
        let wrong = |name: &str, problem: &str| mistake(name, SettingSource::Unplaced, problem.to_owned());
        let mut mistakes = Vec::new();
        let lacks_secret = self.app.as_ref().is_some_and(|app| app.webhook_secrets.is_empty());
        if role.is_reached() && lacks_secret {
            let problem = "is missing beside AUTOBUILD_APP_ID, AUTOBUILD_PRIVATE_KEY";
            mistakes.push(wrong("WEBHOOK_SECRET", problem));
        }
        if !role.is_reached() && self.app.is_none() {
            let problem = "is missing: a worker needs the App's id and AUTOBUILD_PRIVATE_KEY, and has no set-up page";
            mistakes.push(wrong("APP_ID", problem));
        }
        if role != ProcessRole::Everything && self.database_url.expose_secret().starts_with("sqlite:") {
            let problem = "must lead to PostgreSQL: a SQLite database belongs to one process, which does everything";
            mistakes.push(wrong("DATABASE_URL", problem));
        }
        if mistakes.is_empty() { Ok(self) } else { Err(mistakes) }
    }
}
