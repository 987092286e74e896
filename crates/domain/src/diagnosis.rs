//! The rows of `doctor`: one result for each subject that it checked.

use serde::Serialize;
use text::words;

words! {
    /// The state of a subject.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum RowStatus {
        /// Everything is in order.
        Ok = "ok",
        /// It works, but somebody should look at it.
        Warning = "warning",
        /// It does not work, or it cannot be used.
        Broken = "broken",
    }
}

/// The topics as a table: the variant, its name in rows, and the question that its rows answer.
macro_rules! topics {
    ($($topic:ident = $name:literal, $about:literal;)*) => {
        /// The subject of a row.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Topic {
            $(#[doc = $about] $topic),*
        }

        impl Topic {
            /// All topics, in the order of the table.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$topic),*];

            /// Returns the topic's name in the table.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$topic => $name),*
                }
            }

            /// Returns the question that the topic's rows answer, for the docs.
            pub fn about(self) -> &'static str {
                match self {
                    $(Self::$topic => $about),*
                }
            }
        }
    };
}

topics! {
    Program = "AutoBuild", "Which version runs? Was its file replaced since it started?";
    Git = "git", "Is git there, new enough and patched?";
    Settings = "settings", "Can every server setting be read, and does this version use it?";
    DataFolder = "data folder", "Can the service write to its data folder? Has its disk room?";
    Database = "database", "Does the database answer? Are its tables those of this version?";
    OwnRepository = "this repository", "On a laptop: is there a repository with a commit here?";
    Isolation = "isolation", "Which isolation level does this machine offer, and what keeps it from more?";
    Agent = "agent", "Is each agent's program installed and new enough? Is its key set?";
    Proxy = "proxy", "If your organisation has a proxy: does it connect the service with GitHub?";
    App = "App", "Does GitHub accept the App's id and key? Does the App ask for every permission and event?";
    CoachApp = "Coach App", "The same for the Coach App.";
    Clock = "clock", "How far is this machine's clock from GitHub's?";
    Webhook = "webhook", "Where does GitHub send deliveries? Can it reach that address?";
    Deliveries = "deliveries", "How were the last deliveries answered?";
    Installation = "installation", "For each account: did it grant every permission and event? Is it suspended?";
    Repository = "repository", "With `--repo`: is the App installed there? Is it read-only?";
    BranchRules = "branch rules", "With `--repo`: does a rule keep AutoBuild from making or pushing `autobuild/**`?";
    Approval = "approval", "With `--repo`: do rules ask for approvals, and does the Coach's count?";
    MergeMethods = "merge methods", "With `--repo`: which ways of merging are allowed?";
    Workflows = "workflows", "With `--repo`: which workflows would run what an agent wrote?";
    SettingsFile = "settings file", "Is `.github/autobuild.yml` there, and without mistakes?";
    Labels = "labels", "With `--repo`: are the labels there that start AutoBuild?";
    TestCommand = "test command", "Which command runs the tests?";
}

/// One row: the subject, its state, the finding, and the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The subject.
    pub topic: Topic,
    /// The agent, the repository or the App on an account, if the subject has several.
    pub of: Option<String>,
    /// The state.
    pub standing: RowStatus,
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
            standing: RowStatus::Ok,
            found: found.into(),
            remedy: None,
        }
    }

    /// A row for a subject that works and could be improved.
    pub fn warning(topic: Topic, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            standing: RowStatus::Warning,
            remedy: Some(remedy.into()),
            ..Self::ok(topic, found)
        }
    }

    /// A row for a subject that does not work until the remedy is applied.
    pub fn broken(topic: Topic, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            standing: RowStatus::Broken,
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
    rows.iter().any(|row| row.standing == RowStatus::Broken)
}
