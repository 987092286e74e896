//! The orders in a repository and their progress, in two files for each Feature. The command that a person types writes
//! the order; the one process that works writes the report. Both files are replaced as a whole.

use crate::cli::{
    local::{report::Report, standing::OrderStatus},
    local_repository,
};
use anyhow::Context;
use domain::ids::TaskId;
use git::OwnHead;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::{
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The Feature's number, as in `FEAT-<number>`.
    pub number: u64,
    pub title: String,
    pub body: String,
    /// The stage up to which the Feature is to be built.
    pub wish: Wish,
    pub kind: PlanMode,
    /// The commit from which the Feature starts.
    pub base: Base,
    /// The name of the person's repository.
    pub repository: String,
    /// The branch that the result should get.
    pub branch: String,
    pub agent: String,
    /// Whether the agent uses the person's own log-in.
    pub own_login: bool,
    /// Settings that override the repository's own.
    pub settings: serde_json::Map<String, serde_json::Value>,
    /// The commands that the person gave since, oldest first.
    pub said: Vec<Saying>,
    /// The way in which it was ended; everything else of it is then cleaned up.
    pub ended: Option<End>,
}

/// The way in which a Feature was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The result is in the person's repository.
    Completed,
    /// A person gave the Feature up.
    GivenUp,
}

/// The stage up to which a Feature is to be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wish {
    /// Only plan it.
    Plan,
    /// Build it; people are asked if the repository's settings want that.
    Build,
    /// Build it without asking anybody.
    BuildAll,
}

/// The way in which a Feature is planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanMode {
    /// The Planner plans it.
    Planned,
    /// It is one task, without a Planner.
    OneTask,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    /// The commit's id.
    pub sha: String,
    /// The branch that was checked out.
    pub branch: Option<String>,
}

/// The forge's name for the branch of the base, whatever the person calls it: it clashes with no name of AutoBuild's.
pub const ON_FORGE: &str = "main";

impl From<OwnHead> for Base {
    fn from(head: OwnHead) -> Self {
        Self {
            sha: head.sha,
            branch: head.branch,
        }
    }
}

/// A person's command to a Feature or one of its tasks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saying {
    /// The task; `None` for the Feature.
    pub task: Option<TaskId>,
    /// The command, as in a comment on GitHub.
    pub text: String,
}

impl Order {
    /// Returns the name of the order's repository on the forge. Each Feature has its own, so nothing else moves its
    /// base.
    pub fn on_forge(&self) -> String {
        format!("{}-{}", self.repository, self.number)
    }

    /// Sets another commit as the base, from which the Feature starts or which it merges.
    pub fn stand_on(&mut self, head: OwnHead) {
        self.base.sha = head.sha;
    }

    /// Adds a command to the order.
    pub fn add_command(&mut self, task: Option<TaskId>, text: String) {
        self.said.push(Saying { task, text });
    }

    /// Adds the command that lets a Feature in this state go on, with these words.
    pub fn go_on(&mut self, state: OrderStatus, task: Option<TaskId>, words: &str) {
        let verb = if state == OrderStatus::Failed { "plan" } else { "resume" };
        self.add_command(task, format!("/autobuild {verb} {words}").trim_end().to_owned());
    }

    /// Returns an error if the Feature was ended: nothing more is done for it.
    pub fn is_open(&self) -> anyhow::Result<()> {
        let name = self.name();
        match self.ended {
            None => Ok(()),
            Some(End::Completed) => anyhow::bail!("{name} is completed: `autobuild run ISSUE.md` orders another one"),
            Some(End::GivenUp) => anyhow::bail!("{name} is given up: `autobuild run ISSUE.md` orders it again"),
        }
    }

    pub fn name(&self) -> String {
        format!("FEAT-{}", self.number)
    }
}

#[derive(Clone, Debug)]
pub struct Orders {
    folder: PathBuf,
}

impl Orders {
    /// Returns the orders in a repository's folder.
    pub fn at(folder: &Path) -> Self {
        Self {
            folder: folder.join("features"),
        }
    }

    /// Returns all orders, oldest first.
    pub fn all(&self) -> anyhow::Result<Vec<Order>> {
        let entries = match std::fs::read_dir(&self.folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.with_context(|| {
                format!(
                    "{} cannot be read: let your user read and write it",
                    self.folder.display()
                )
            })?,
        };
        let mut orders = Vec::new();
        for entry in entries {
            let name = entry?.file_name().to_string_lossy().into_owned();
            let number = name.strip_suffix(".order.json").and_then(|number| number.parse().ok());
            if let Some(number) = number {
                orders.extend(self.read::<Order>(number, "order")?);
            }
        }
        orders.sort_by_key(|order| order.number);
        Ok(orders)
    }

    /// Saves an order under the next free number, which is set in the result.
    pub fn file(&self, mut order: Order) -> anyhow::Result<Order> {
        local_repository::make_own(&self.folder)?;
        order.number = self.all()?.last().map_or(0, |last| last.number) + 1;
        loop {
            let path = self.path(order.number, "order");
            match self.written(&order)?.persist_noclobber(&path) {
                Ok(_) => return Ok(order),
                // Another process took the number first.
                Err(error) if error.error.kind() == ErrorKind::AlreadyExists => order.number += 1,
                Err(error) => return Err(error.error).with_context(|| path.display().to_string()),
            }
        }
    }

    pub fn keep(&self, order: &Order) -> anyhow::Result<()> {
        self.replace(order, &self.path(order.number, "order"))
    }

    /// Returns an order's report; the default if there is none.
    pub fn report(&self, number: u64) -> anyhow::Result<Report> {
        Ok(self.read(number, "report")?.unwrap_or_default())
    }

    /// Saves an order's report.
    pub fn keep_report(&self, number: u64, report: &Report) -> anyhow::Result<()> {
        self.replace(report, &self.path(number, "report"))
    }

    pub fn transcript(&self, number: u64) -> PathBuf {
        self.folder.join(format!("{number}.txt"))
    }

    fn path(&self, number: u64, what: &str) -> PathBuf {
        self.folder.join(format!("{number}.{what}.json"))
    }

    fn read<T: DeserializeOwned>(&self, number: u64, what: &str) -> anyhow::Result<Option<T>> {
        let path = self.path(number, what);
        match std::fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            read => {
                let bytes = read.with_context(|| {
                    format!(
                        "{} cannot be read: let your user read it, or move it away",
                        path.display()
                    )
                })?;
                let damaged = || {
                    let path = path.display();
                    format!(
                        "{path} is damaged: move it away, and `autobuild` goes on without what it says of FEAT-{number}"
                    )
                };
                Ok(Some(object(&bytes).with_context(damaged)?))
            }
        }
    }

    fn replace<T: Serialize>(&self, value: &T, path: &Path) -> anyhow::Result<()> {
        let file = self.written(value)?.persist(path).map_err(|error| error.error);
        file.map(drop).with_context(|| path.display().to_string())
    }

    fn written<T: Serialize>(&self, value: &T) -> anyhow::Result<NamedTempFile> {
        let mut file = NamedTempFile::new_in(&self.folder).with_context(|| self.folder.display().to_string())?;
        file.write_all(&serde_json::to_vec_pretty(value)?)?;
        file.as_file().sync_all()?;
        Ok(file)
    }
}

/// Reads a non-empty JSON object and nothing else: serde would also take a list of values in order for a struct, and an
/// empty object for one whose keys are all optional.
fn object<T: DeserializeOwned>(bytes: &[u8]) -> anyhow::Result<T> {
    let value: Value = serde_json::from_slice(bytes)?;
    let found = match &value {
        Value::Object(keys) if !keys.is_empty() => return Ok(serde_json::from_value(value)?),
        Value::Object(_) => "an empty object",
        Value::Array(_) => "a list",
        Value::String(_) => "a text",
        Value::Number(_) => "a number",
        Value::Bool(_) => "true or false",
        Value::Null => "null",
    };
    anyhow::bail!("it holds {found}, and an object as `autobuild` writes it was expected")
}

/// Returns the branch for an issue's result: its title shortened, and never a name that AutoBuild uses on the forge.
pub fn branch_of(title: &str) -> String {
    let words = title.to_lowercase();
    let words: Vec<&str> = words
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let slug: String = words.join("-").chars().take(40).collect();
    let slug = slug.trim_matches('-');
    if slug.starts_with(|c: char| c.is_ascii_alphabetic()) {
        format!("autobuild/{slug}")
    } else {
        format!("autobuild/feature-{slug}").trim_end_matches('-').to_owned()
    }
}

/// Returns the branch without a folder, for a repository that has a branch `autobuild`.
pub fn without_folder(branch: &str) -> String {
    branch.replace('/', "-")
}

pub fn numbered(branch: &str, number: u32) -> String {
    match number {
        ..=1 => branch.to_owned(),
        number => format!("{branch}-{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{branch_of, numbered, without_folder};

    #[test]
    fn a_branch_is_called_after_the_title() {
        assert_eq!(branch_of("Add notes, please!"), "autobuild/add-notes-please");
        assert_eq!(branch_of("42"), "autobuild/feature-42");
        assert_eq!(branch_of("日本"), "autobuild/feature");
        assert_eq!(numbered("autobuild/x", 2), "autobuild/x-2");
        assert_eq!(without_folder("autobuild/x"), "autobuild-x");
    }
}
