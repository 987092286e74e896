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

words! {
    /// The subject of a row, in the order of the table.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Topic {
        Program = "AutoBuild",
        Git = "git",
        Settings = "settings",
        DataFolder = "data folder",
        Database = "database",
        Steps = "steps",
        Address = "address",
        OwnRepository = "this repository",
        Isolation = "isolation",
        Agent = "agent",
        Proxy = "proxy",
        App = "App",
        CoachApp = "Coach App",
        Clock = "clock",
        Webhook = "webhook",
        Deliveries = "deliveries",
        Installation = "installation",
        Repository = "repository",
        BranchRules = "branch rules",
        Approval = "approval",
        MergeMethods = "merge methods",
        Workflows = "workflows",
        SettingsFile = "settings file",
        Labels = "labels",
        TestCommand = "test command",
    }
}

/// One row: the subject, its state, the finding, and the next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub topic: Topic,
    /// The agent, the repository or the App on an account, if the subject has several.
    pub of: Option<String>,
    pub status: RowStatus,
    pub found: String,
    /// The next step; `None` if nothing needs to be done.
    pub remedy: Option<String>,
}

impl Row {
    /// A row for a subject in order.
    pub fn ok(topic: Topic, found: impl Into<String>) -> Self {
        Self { topic, of: None, status: RowStatus::Ok, found: found.into(), remedy: None }
    }

    /// A row for a subject that works and could be improved.
    pub fn warning(topic: Topic, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { status: RowStatus::Warning, remedy: Some(remedy.into()), ..Self::ok(topic, found) }
    }

    /// A row for a subject that does not work until the remedy is applied.
    pub fn broken(topic: Topic, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { status: RowStatus::Broken, ..Self::warning(topic, found, remedy) }
    }

    /// Returns the row with the name of one among several, such as an agent.
    pub fn of(self, name: impl Into<String>) -> Self {
        Self { of: Some(name.into()), ..self }
    }

    /// Returns the subject's name for people, for example `agent claude`.
    pub fn what(&self) -> String {
        let name = self.topic.word();
        match &self.of {
            Some(of) if self.topic == Topic::Installation => format!("{name} of {of}"),
            Some(of) => format!("{name} {of}"),
            None => name.to_owned(),
        }
    }

    /// Returns the row with each text on one line, without characters that act on a terminal, and passed through `mask`.
    pub fn masked(&self, mask: impl Fn(&str) -> String) -> Self {
        let clean = |words: &str| mask(&text::clean::clean(words).split_whitespace().collect::<Vec<_>>().join(" "));
        Self {
            topic: self.topic,
            of: self.of.as_deref().map(clean),
            status: self.status,
            found: clean(&self.found),
            remedy: self.remedy.as_deref().map(clean),
        }
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "what": self.topic.word(), "of": self.of, "state": self.status, "found": self.found, "remedy": self.remedy,
        })
    }
}

/// Returns all rows as JSON, with `ok`, which is `true` if nothing is broken.
pub fn report(rows: &[Row]) -> serde_json::Value {
    let rows_json: Vec<_> = rows.iter().map(Row::json).collect();
    serde_json::json!({ "ok": !is_broken(rows), "rows": rows_json })
}

/// `true` if a row is broken.
pub fn is_broken(rows: &[Row]) -> bool {
    rows.iter().any(|row| row.status == RowStatus::Broken)
}
