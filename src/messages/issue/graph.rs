//! The Mermaid graph of a Feature's waves.

use domain::{
    feature::Feature,
    ids::TaskId,
    task::{State, Task},
    wave::AddedEdge,
};
use std::collections::BTreeMap;

/// The most tasks and edges; GitHub stops drawing larger graphs, and nobody could read them.
const MOST_TASKS: usize = 60;
const MOST_EDGES: usize = 200;
const LABEL: usize = 36;

const COLOURS: &str = "    classDef pending fill:#eaeef2,stroke:#57606a,color:#24292f
    classDef working fill:#ddf4ff,stroke:#0969da,color:#24292f
    classDef approved fill:#dafbe1,stroke:#2da44e,color:#24292f
    classDef completed fill:#2da44e,stroke:#116329,color:#ffffff
    classDef blocked fill:#ffebe9,stroke:#cf222e,color:#24292f
    classDef gone fill:#ffffff,stroke:#8c959f,color:#57606a,stroke-dasharray:4";

/// Returns the graph as a fenced block, or nothing if there are no tasks or too many.
pub(crate) fn waves(feature: &Feature, added: &[AddedEdge]) -> String {
    if feature.tasks.is_empty() || feature.tasks.len() > MOST_TASKS {
        return String::new();
    }
    let mut by_wave: BTreeMap<u32, Vec<&Task>> = BTreeMap::new();
    for task in &feature.tasks {
        by_wave.entry(task.wave).or_default().push(task);
    }
    let mut lines = vec!["flowchart LR".to_owned()];
    for (wave, tasks) in &by_wave {
        lines.push(format!("    subgraph wave{wave} [\"Wave {wave}\"]"));
        lines.extend(tasks.iter().map(|task| node(task)));
        lines.push("    end".to_owned());
    }
    lines.extend(edges(feature, added));
    lines.push(COLOURS.to_owned());
    format!("```mermaid\n{}\n```", lines.join("\n"))
}

fn node(task: &Task) -> String {
    let id = task.id;
    let label = match label(&task.plan.name) {
        name if name.is_empty() => id.to_string(),
        name => format!("{id}<br/>{name}"),
    };
    format!("        {}[\"{label}\"]:::{}", node_id(task.id), colour(task))
}

/// Returns a name without dashes, which Mermaid may parse as part of an arrow.
fn node_id(task: TaskId) -> String {
    task.slug().replace('-', "_")
}

/// Reduces a name to letters, digits and blanks, which have no meaning in Mermaid, HTML or Markdown.
fn label(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words = words.collect::<Vec<_>>().join(" ");
    if words.chars().count() > LABEL {
        format!("{}…", words.chars().take(LABEL).collect::<String>().trim_end())
    } else {
        words
    }
}

fn edges(feature: &Feature, added: &[AddedEdge]) -> Vec<String> {
    let needs = feature.tasks.iter().flat_map(|task| {
        let needs = task.plan.dependencies.iter();
        needs.map(|need| format!("    {} --> {}", node_id(*need), node_id(task.id)))
    });
    let same_file = added.iter();
    let same_file = same_file.map(|edge| format!("    {} -.->|same file| {}", node_id(edge.first), node_id(edge.then)));
    needs.chain(same_file).take(MOST_EDGES).collect()
}

/// Returns the CSS class for a task's state, which sets the colour of its box.
pub fn colour(task: &Task) -> &'static str {
    match task.state {
        State::Pending => "pending",
        State::PreLoop { .. } | State::PlayerTurn { .. } | State::CoachTurn { .. } => "working",
        State::Approved { .. } => "approved",
        State::Completed { .. } => "completed",
        State::Blocked { .. } => "blocked",
        State::Skipped { .. } | State::Cancelled => "gone",
    }
}
