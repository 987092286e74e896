//! Finds the order that a person names: a Feature, or one of its tasks.

use crate::cli::local::{orders::Order, session::Session};
use domain::ids::TaskId;
use std::collections::BTreeSet;
use text::nearest::nearest;

pub struct NamedOrder {
    pub order: Order,
    /// The task, if the name is that of a task.
    pub task: Option<TaskId>,
}

impl NamedOrder {
    /// Refuses a task, for commands that build a whole Feature.
    pub fn ensure_feature(&self) -> anyhow::Result<()> {
        let Some(task) = self.task else { return Ok(()) };
        let name = self.order.name();
        anyhow::bail!(
            "{task} is a task of {name}: `autobuild feature {name}` builds all of it, and `autobuild resume {task}` goes on \
             with it"
        )
    }
}

impl Session {
    /// Finds the order that `what` names: a Feature, or one of its tasks.
    pub async fn find(&self, what: &str, feature: Option<&str>) -> anyhow::Result<NamedOrder> {
        let orders = self.orders.all().await?;
        let is_named = |order: &Order, name: &str| {
            let number = order.number.to_string();
            order.name().eq_ignore_ascii_case(name) || number == name
        };
        if let Some(order) = orders.iter().find(|order| is_named(order, what)) {
            let (order, task) = (order.clone(), None);
            return Ok(NamedOrder { order, task });
        }
        let names: Vec<String> = orders.iter().map(Order::name).collect();
        anyhow::ensure!(
            !names.is_empty(),
            "there is no `{what}` here, because nothing is planned in this repository yet: `autobuild plan ISSUE.md` \
             plans an issue, and `autobuild run ISSUE.md` plans and builds it"
        );
        let all = names.join(", ");
        let Ok(task) = what.to_ascii_uppercase().parse::<TaskId>() else {
            return Err(self.unknown(what, &orders).await?);
        };
        let mut with = Vec::new();
        for order in orders.into_iter().filter(|order| order.ended.is_none()) {
            let wanted = feature.is_none_or(|name| is_named(&order, name));
            let report = self.orders.report(order.number).await?;
            if wanted && report.tasks.iter().any(|row| row.task == task.to_string()) {
                with.push(order);
            }
        }
        let with_names: Vec<String> = with.iter().map(Order::name).collect();
        match (with.pop(), with.is_empty()) {
            (Some(order), true) => Ok(NamedOrder { order, task: Some(task) }),
            (Some(_), false) => {
                anyhow::bail!("several Features have a {task}; choose one with --feature: {}", with_names.join(", "))
            }
            (None, _) => anyhow::bail!(
                "no open Feature has a {task}; the Features are {all}, and `autobuild status {}` shows its tasks",
                names.last().map_or("FEAT-1", String::as_str)
            ),
        }
    }

    /// Returns the error about a name that is neither a Feature's nor like a task's.
    async fn unknown(&self, what: &str, orders: &[Order]) -> anyhow::Result<anyhow::Error> {
        let names: Vec<String> = orders.iter().map(Order::name).collect();
        let (tasks, all) = (self.tasks(orders).await?, names.join(", "));
        Ok(match nearest(what, names.iter().chain(&tasks).map(String::as_str)) {
            Some(meant) => {
                anyhow::anyhow!("there is no `{what}` here; did you mean {meant}? `autobuild status` shows all")
            }
            None => {
                anyhow::anyhow!("there is no `{what}` here; the Features are {all}, and `autobuild status` shows them")
            }
        })
    }

    /// Returns the names of all tasks without duplicates.
    async fn tasks(&self, orders: &[Order]) -> anyhow::Result<BTreeSet<String>> {
        let mut tasks = BTreeSet::new();
        for order in orders {
            let report = self.orders.report(order.number).await?;
            tasks.extend(report.tasks.into_iter().map(|row| row.task));
        }
        Ok(tasks)
    }
}
