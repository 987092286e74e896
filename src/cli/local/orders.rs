//! The orders in a repository and their progress, in the database beside it. The command that a person types writes the
//! order; the one process that works writes the report. Each is replaced as a whole.

use crate::{
    cli::{
        assemble,
        local::{order_status::OrderStatus, report::Report},
        local_repository::LocalRepository,
    },
    engine::view,
    store::{FoundDatabase, OpenError, OpenOptions, Scope, Store, StoredOrder},
};
use anyhow::Context;
use domain::{cost::Spending, feature::Feature, ids::TaskId};
use git::OwnHead;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::path::PathBuf;
use tokio::sync::OnceCell;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The Feature's number, as in `FEAT-<number>`.
    #[serde(skip)]
    pub number: u64,
    pub title: String,
    pub body: String,
    /// The stage up to which the Feature is to be built.
    #[serde(rename = "wish")]
    pub goal: BuildGoal,
    pub kind: PlanMode,
    /// The commit from which the Feature starts.
    pub base: Base,
    /// The name of the person's repository.
    pub repository: String,
    /// The branch that the result should get.
    pub branch: String,
    pub agent: String,
    /// `true` if the agent uses the person's own log-in.
    pub own_login: bool,
    /// Settings that override the repository's own.
    pub settings: serde_json::Map<String, serde_json::Value>,
    /// The commands that the person gave since, oldest first.
    #[serde(rename = "said")]
    pub commands: Vec<PassedCommand>,
    /// The way in which it was ended. Everything else of it is then cleaned up.
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
pub enum BuildGoal {
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

/// The forge's name for the branch of the base, independent of the person's name for it. It cannot clash with a name of
/// AutoBuild's.
pub const ON_FORGE: &str = "main";

impl From<OwnHead> for Base {
    fn from(head: OwnHead) -> Self {
        Self { sha: head.sha, branch: head.branch }
    }
}

/// A person's command to a Feature or one of its tasks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassedCommand {
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

    pub fn add_command(&mut self, task: Option<TaskId>, text: String) {
        self.commands.push(PassedCommand { task, text });
    }

    /// Adds the command that lets a Feature in this state continue, with these words.
    pub fn go_on(&mut self, state: OrderStatus, task: Option<TaskId>, words: &str) {
        let verb = if state == OrderStatus::Failed { "plan" } else { "resume" };
        self.add_command(task, format!("/autobuild {verb} {words}").trim_end().to_owned());
    }

    /// Returns an error if the Feature was ended, since nothing more is done for it.
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

/// The orders of a repository. Nothing is created before the first one.
pub struct Orders {
    folder: PathBuf,
    url: String,
    store: OnceCell<Store>,
}

impl Orders {
    /// Opens the orders of a repository, if anything was ordered there.
    pub async fn open(repository: &LocalRepository) -> anyhow::Result<Self> {
        let orders =
            Self { folder: repository.folder.join("features"), url: repository.database(), store: OnceCell::new() };
        if repository.has_database() {
            orders.store().await?;
        }
        Ok(orders)
    }

    /// Returns the database. Its tables are made or migrated if needed, unless another process uses it.
    async fn store(&self) -> anyhow::Result<&Store> {
        let open = || async {
            let options = OpenOptions::default;
            match Store::inspect(&self.url, options()).await? {
                FoundDatabase::Current => {}
                FoundDatabase::None | FoundDatabase::ToMigrate => {
                    Store::open(&self.url, options()).await?.close().await
                }
            }
            Store::open_beside(&self.url, options()).await
        };
        let opened = self.store.get_or_try_init::<OpenError, _, _>(open).await;
        opened.with_context(|| format!("{} cannot be read: {MEND}", self.path()))
    }

    fn path(&self) -> &str {
        self.url.trim_start_matches("sqlite:")
    }

    /// Returns all orders, oldest first.
    pub async fn all(&self) -> anyhow::Result<Vec<Order>> {
        let Some(store) = self.store.get() else {
            return Ok(Vec::new());
        };
        let stored = store.local_orders().await?;
        stored.iter().map(|stored| self.order(stored)).collect()
    }

    fn order(&self, stored: &StoredOrder) -> anyhow::Result<Order> {
        let order: Order = self.read(stored.number, &stored.order)?;
        Ok(Order { number: stored.number, ..order })
    }

    /// Saves an order under the next number, which is set in the result.
    pub async fn add(&self, order: Order) -> anyhow::Result<Order> {
        let json = serde_json::to_string(&order)?;
        let number = self.store().await?.add_local_order(&json).await?;
        Ok(Order { number, ..order })
    }

    pub async fn replace(&self, order: &Order) -> anyhow::Result<()> {
        let json = serde_json::to_string(order)?;
        Ok(self.store().await?.replace_local_order(order.number, &json).await?)
    }

    /// Returns an order's report; the default if there is none.
    pub async fn report(&self, number: u64) -> anyhow::Result<Report> {
        let Some(store) = self.store.get() else {
            return Ok(Report::default());
        };
        match store.local_order(number).await?.and_then(|stored| stored.report) {
            Some(report) => self.read(number, &report),
            None => Ok(Report::default()),
        }
    }

    pub async fn replace_report(&self, number: u64, report: &Report) -> anyhow::Result<()> {
        let json = serde_json::to_string(report)?;
        Ok(self.store().await?.replace_local_report(number, &json).await?)
    }

    /// Returns the runs of an order's Feature, each with its cost so far.
    pub async fn features(&self, number: u64) -> anyhow::Result<Vec<(Feature, Spending)>> {
        let Some(store) = self.store.get() else {
            return Ok(Vec::new());
        };
        let mut features = Vec::new();
        let rows = store.features(Scope::All).await?;
        for row in rows.iter().filter(|row| row.key.issue.0 == number) {
            features.extend(view::stored_feature(store, &row.key, assemble::clock()).await?);
        }
        Ok(features)
    }

    pub fn transcript(&self, number: u64) -> PathBuf {
        self.folder.join(format!("{number}.txt"))
    }

    fn read<T: DeserializeOwned>(&self, number: u64, json: &str) -> anyhow::Result<T> {
        serde_json::from_str(json).with_context(|| format!("{} is damaged at FEAT-{number}: {MEND}", self.path()))
    }
}

/// The remedy for a database that cannot be read.
const MEND: &str = "restore it from a backup, or move it away";

/// Returns the branch for an issue's result: its title shortened, and never a name that AutoBuild uses on the forge.
pub fn branch_of(title: &str) -> String {
    let words = title.to_lowercase();
    let words: Vec<&str> = words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
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
