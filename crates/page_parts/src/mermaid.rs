//! Reads Mermaid flowcharts that consist of boxes in titled groups, to draw them as GitHub does.

use crate::graph::{Column, Graph, Node};

/// The most lines of a flowchart; more would not be readable.
const MOST: usize = 200;

/// Reads a flowchart; `None` if it is anything else, or uses other syntax than these few forms.
pub(crate) fn read(text: &str) -> Option<Graph> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    if !lines.next()?.starts_with("flowchart") {
        return None;
    }
    let mut graph = Graph::default();
    for (at, line) in lines.enumerate() {
        if at >= MOST {
            return None;
        }
        if let Some(title) = line.strip_prefix("subgraph ") {
            let title = quoted(title)?.to_owned();
            let boxes = Vec::new();
            graph.columns.push(Column { title, boxes });
        } else if line == "end" || line.starts_with("classDef ") {
            continue;
        } else if let Some((from, to)) = line.split_once(" --> ").or_else(|| line.split_once(" -.->")) {
            let to = to.rsplit('|').next().unwrap_or(to);
            graph.edges.push((word(from)?.to_owned(), word(to.trim())?.to_owned()));
        } else {
            graph.columns.last_mut()?.boxes.push(node(line)?);
        }
    }
    (!graph.columns.is_empty()).then_some(graph)
}

/// Reads a box: `id["first line<br/>second line"]:::colour`.
fn node(line: &str) -> Option<Node> {
    let (id, rest) = line.split_once('[')?;
    let label = quoted(rest)?;
    let (name, about) = label.split_once("<br/>").unwrap_or((label, ""));
    let colour = rest.rsplit_once(":::").map_or("pending", |(_, colour)| colour);
    Some(Node {
        id: word(id)?.to_owned(),
        name: name.to_owned(),
        about: about.to_owned(),
        state: colour.to_owned(),
        colour: word(colour)?.to_owned(),
        href: None,
    })
}

/// Returns the text between the first and the last quotation mark.
fn quoted(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once('"')?;
    let (inner, _) = rest.rsplit_once('"')?;
    Some(inner)
}

fn word(text: &str) -> Option<&str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    (!text.is_empty() && text.chars().all(is_plain)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn groups_boxes_and_lines_are_read() {
        let text = "flowchart LR\n    subgraph wave1 [\"Wave 1\"]\n        task_001[\"TASK-001<br/>Parse\"]:::completed\n    \
                    end\n    subgraph wave2 [\"Wave 2\"]\n        task_002[\"TASK-002\"]:::working\n    end\n    \
                    task_001 --> task_002\n    task_001 -.->|same file| task_002\n    classDef working fill:#ddf4ff";
        let graph = read(text).unwrap();
        assert_eq!(graph.columns.len(), 2);
        let first = &graph.columns[0].boxes[0];
        assert_eq!(
            (first.name.as_str(), first.about.as_str(), first.colour.as_str(), first.state.as_str()),
            ("TASK-001", "Parse", "completed", "completed")
        );
        let line = ("task_001".to_owned(), "task_002".to_owned());
        assert_eq!(graph.edges, [line.clone(), line]);
    }

    #[test]
    fn whatever_else_it_is_stays_a_text() {
        for text in ["", "graph TD; A-->B", "flowchart LR\n  a((b))", "flowchart LR\n x --> \"><script>"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
