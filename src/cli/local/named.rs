//! The order that a person names: a Feature, or a task of one.

use crate::cli::local::{Session, orders::Order};
use domain::ids::TaskId;

/// What a name stands for.
pub struct Found {
    /// The order.
    pub order: Order,
    /// Its task, where a task is named.
    pub task: Option<TaskId>,
}

impl Session {
    /// The order that `what` names: a Feature, or a task of one.
    pub fn find(&self, what: &str, feature: Option<&str>) -> anyhow::Result<Found> {
        let orders = self.orders.all()?;
        let is_named = |order: &Order, name: &str| {
            let number = order.number.to_string();
            order.name().eq_ignore_ascii_case(name) || number == name
        };
        if let Some(order) = orders.iter().find(|order| is_named(order, what)) {
            let (order, task) = (order.clone(), None);
            return Ok(Found { order, task });
        }
        let names: Vec<String> = orders.iter().map(Order::name).collect();
        let there = match names.is_empty() {
            true => "nothing is ordered in this repository yet: `autobuild run ISSUE.md` does".to_owned(),
            false => format!("there are {}", names.join(", ")),
        };
        let Ok(task) = what.to_ascii_uppercase().parse::<TaskId>() else {
            anyhow::bail!("`{what}` is no Feature of this repository; {there}");
        };
        let mut with = Vec::new();
        for order in orders.into_iter().filter(|order| order.ended.is_none()) {
            let wanted = feature.is_none_or(|name| is_named(&order, name));
            let report = self.orders.report(order.number)?;
            if wanted && report.tasks.iter().any(|row| row.task == task.to_string()) {
                with.push(order);
            }
        }
        let with_names: Vec<String> = with.iter().map(Order::name).collect();
        match (with.pop(), with.is_empty()) {
            (Some(order), true) => Ok(Found {
                order,
                task: Some(task),
            }),
            (Some(_), false) => anyhow::bail!(
                "several Features have a {task}; choose one with --feature: {}",
                with_names.join(", ")
            ),
            (None, _) => anyhow::bail!("no open Feature has a {task}; {there}"),
        }
    }
}
