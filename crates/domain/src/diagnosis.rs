//! The rows of `doctor`: one result for each subject that it checked.

use serde::Serialize;

/// The state of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Everything is in order.
    Ok,
    /// It works, but somebody should look at it.
    Warning,
    /// It does not work, or it cannot be used.
    Broken,
}

impl Standing {
    /// Returns the word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Broken => "broken",
        }
    }
}

/// The subject of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// The program itself.
    Program,
    /// git.
    Git,
    /// The server's settings.
    Settings,
    /// The folder of mirrors and checkouts.
    DataFolder,
    /// The database and its tables.
    Database,
    /// The repository in the current folder.
    OwnRepository,
    /// The isolation of programs.
    Isolation,
    /// An agent's program and key.
    Agent,
    /// The AutoBuild App.
    App,
    /// The Coach App.
    CoachApp,
    /// This machine's clock.
    Clock,
    /// The address to which GitHub sends deliveries.
    Webhook,
    /// The answers to the last deliveries.
    Deliveries,
    /// One installation of an App.
    Installation,
    /// A repository on GitHub.
    Repository,
    /// Rules for AutoBuild's branches.
    BranchRules,
    /// The weight of the Coach's approval under the rules.
    Approval,
    /// The allowed ways of merging pull requests.
    MergeMethods,
    /// GitHub Actions workflows that would run what an agent wrote.
    Workflows,
    /// The repository's settings file.
    SettingsFile,
    /// The labels that start something.
    Labels,
    /// The command that runs the tests.
    TestCommand,
}

impl Topic {
    /// All topics, in the order of the table.
    pub const ALL: [Self; 22] = [
        Self::Program,
        Self::Git,
        Self::Settings,
        Self::DataFolder,
        Self::Database,
        Self::OwnRepository,
        Self::Isolation,
        Self::Agent,
        Self::App,
        Self::CoachApp,
        Self::Clock,
        Self::Webhook,
        Self::Deliveries,
        Self::Installation,
        Self::Repository,
        Self::BranchRules,
        Self::Approval,
        Self::MergeMethods,
        Self::Workflows,
        Self::SettingsFile,
        Self::Labels,
        Self::TestCommand,
    ];

    /// Returns the topic's name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Program => "AutoBuild",
            Self::Git => "git",
            Self::Settings => "settings",
            Self::DataFolder => "data folder",
            Self::Database => "database",
            Self::OwnRepository => "this repository",
            Self::Isolation => "isolation",
            Self::Agent => "agent",
            Self::App => "App",
            Self::CoachApp => "Coach App",
            Self::Clock => "clock",
            Self::Webhook => "webhook",
            Self::Deliveries => "deliveries",
            Self::Installation => "installation",
            Self::Repository => "repository",
            Self::BranchRules => "branch rules",
            Self::Approval => "approval",
            Self::MergeMethods => "merge methods",
            Self::Workflows => "workflows",
            Self::SettingsFile => "settings file",
            Self::Labels => "labels",
            Self::TestCommand => "test command",
        }
    }

    /// Returns the question that the topic's rows answer, for the docs.
    pub fn about(self) -> &'static str {
        match self {
            Self::Program => "Which version runs? Was its file replaced since it started?",
            Self::Git => "Is git there, new enough and patched?",
            Self::Settings => "Can every server setting be read, and does this version use it?",
            Self::DataFolder => "Can the service write to its data folder?",
            Self::Database => "Does the database answer? Are its tables those of this version?",
            Self::OwnRepository => "On a laptop: is there a repository with a commit here?",
            Self::Isolation => "Which isolation level does this machine offer, and what keeps it from more?",
            Self::Agent => "Is each agent's program installed and new enough? Is its key set?",
            Self::App => "Does GitHub accept the App's id and key? Does the App ask for every permission and event?",
            Self::CoachApp => "The same for the Coach App.",
            Self::Clock => "How far is this machine's clock from GitHub's?",
            Self::Webhook => "Where does GitHub send deliveries? Can it reach that address?",
            Self::Deliveries => "How were the last deliveries answered?",
            Self::Installation => "For each account: did it grant every permission and event? Is it suspended?",
            Self::Repository => "With `--repo`: is the App installed there? Is it read-only?",
            Self::BranchRules => "With `--repo`: does a rule keep AutoBuild from making or pushing `autobuild/**`?",
            Self::Approval => "With `--repo`: do rules ask for approvals, and does the Coach's count?",
            Self::MergeMethods => "With `--repo`: which ways of merging are allowed?",
            Self::Workflows => "With `--repo`: which workflows would run what an agent wrote?",
            Self::SettingsFile => "Is `.github/autobuild.yml` there, and without mistakes?",
            Self::Labels => "With `--repo`: are the labels there that start AutoBuild?",
            Self::TestCommand => "Which command runs the tests?",
        }
    }
}

/// One row: the subject, its state, the finding, and the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The subject.
    pub topic: Topic,
    /// The agent, the repository or the App on an account, if the subject has several.
    pub of: Option<String>,
    /// The state.
    pub standing: Standing,
    /// The finding.
    pub found: String,
    /// The next step; `None` if nothing needs to be done.
    pub remedy: Option<String>,
}

impl Row {
    /// A row for a subject in order.
    pub fn ok(topic: Topic, found: impl Into<String>) -> Self {
        Self {
            topic,
            of: None,
            standing: Standing::Ok,
            found: found.into(),
            remedy: None,
        }
    }

    /// A row for a subject that works and could be improved.
    pub fn warning(topic: Topic, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            standing: Standing::Warning,
            remedy: Some(remedy.into()),
            ..Self::ok(topic, found)
        }
    }

    /// A row for a subject that does not work until the remedy is applied.
    pub fn broken(topic: Topic, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            standing: Standing::Broken,
            ..Self::warning(topic, found, remedy)
        }
    }

    /// Returns the row with the name of one among several, such as an agent.
    #[must_use]
    pub fn of(self, name: impl Into<String>) -> Self {
        Self {
            of: Some(name.into()),
            ..self
        }
    }

    /// Returns the subject's name for people, for example `agent claude`.
    pub fn what(&self) -> String {
        let name = self.topic.name();
        match &self.of {
            Some(of) if self.topic == Topic::Installation => format!("{name} of {of}"),
            Some(of) => format!("{name} {of}"),
            None => name.to_owned(),
        }
    }

    /// Returns the row with each text on one line and passed through `mask`.
    #[must_use]
    pub fn masked(&self, mask: impl Fn(&str) -> String) -> Self {
        let clean = |text: &str| mask(&text.split_whitespace().collect::<Vec<_>>().join(" "));
        Self {
            topic: self.topic,
            of: self.of.as_deref().map(clean),
            standing: self.standing,
            found: clean(&self.found),
            remedy: self.remedy.as_deref().map(clean),
        }
    }

    /// Returns the row as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "what": self.topic.name(), "of": self.of, "state": self.standing, "found": self.found, "remedy": self.remedy,
        })
    }
}

/// Returns all rows as JSON, with `ok`: whether nothing is broken.
pub fn report(rows: &[Row]) -> serde_json::Value {
    let rows_json: Vec<_> = rows.iter().map(Row::json).collect();
    serde_json::json!({ "ok": !is_broken(rows), "rows": rows_json })
}

/// `true` if a row is broken.
pub fn is_broken(rows: &[Row]) -> bool {
    rows.iter().any(|row| row.standing == Standing::Broken)
}
