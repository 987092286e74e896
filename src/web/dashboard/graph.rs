//! The picture of a Feature's waves: a column for each wave, a box for each task, a line for each dependency.

use crate::messages;
use domain::{feature::Feature, task::Task};
use maud::{Markup, html};
use page_parts::graph::{Column, Graph, Node, draw};
use std::collections::BTreeMap;
use text::secret::Secrets;

/// The most tasks in the picture; more would be unreadable.
const MOST_TASKS: usize = 60;

/// Returns the picture, or nothing if there are no tasks or too many.
pub(super) fn waves(secrets: &Secrets, feature: &Feature) -> Markup {
    if feature.tasks.len() > MOST_TASKS {
        return html! {};
    }
    let mut waves: BTreeMap<u32, Vec<Node>> = BTreeMap::new();
    for task in &feature.tasks {
        waves.entry(task.wave).or_default().push(node(secrets, task));
    }
    let columns = waves.into_iter().map(|(wave, boxes)| {
        let title = format!("Wave {wave}");
        Column { title, boxes }
    });
    let needs = |task: &Task| {
        let own = task.id.to_string();
        let needs = task.plan.dependencies.clone();
        needs.into_iter().map(move |need| (need.to_string(), own.clone()))
    };
    let graph = Graph { columns: columns.collect(), edges: feature.tasks.iter().flat_map(needs).collect() };
    draw("waves", "Waves", &graph)
}

fn node(secrets: &Secrets, task: &Task) -> Node {
    Node {
        id: task.id.to_string(),
        name: task.id.to_string(),
        about: secrets.mask(&task.plan.name),
        state: messages::task_state(task).to_owned(),
        colour: messages::task_colour(task).to_owned(),
        href: Some(format!("#{}", task.id)),
    }
}
