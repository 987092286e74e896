//! Finds a plan that a person wrote into an issue or a comment. It checks nothing; `plan` does.

use crate::markdown;

/// Returns the first fenced `yaml` or `yml` block with a top-level `tasks`. A block that is not valid YAML counts too:
/// its author meant a plan, and the reply names its mistakes.
pub fn find_plan_block(markdown_text: &str) -> Option<String> {
    let is_yaml = |language: &str| ["yaml", "yml"].contains(&language.to_ascii_lowercase().as_str());
    let mut blocks = markdown::fenced_blocks(markdown_text).into_iter();
    let found = blocks.find(|(language, body)| is_yaml(language) && has_tasks(body));
    found.map(|(_, body)| body)
}

fn has_tasks(body: &str) -> bool {
    let flow = body.trim_start().starts_with('{');
    body.lines().any(|line| {
        let key = line.trim_start_matches(['{', ' ', '\t', ',']);
        let line = if flow { key } else { line };
        let after = ["tasks", "\"tasks\"", "'tasks'"]
            .iter()
            .filter_map(|key| line.strip_prefix(key));
        after.into_iter().any(|after| after.trim_start().starts_with(':'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_yaml_block_with_tasks_is_the_plan() {
        let table = [
            (
                "text\n\n```yaml\ntasks:\n  - id: TASK-001\n```\n",
                Some("tasks:\n  - id: TASK-001\n"),
            ),
            (
                "```YML\nname: x\n\"tasks\" : []\n```",
                Some("name: x\n\"tasks\" : []\n"),
            ),
            ("```yaml\n{tasks: []}\n```", Some("{tasks: []}\n")),
            ("```yaml\ntasks: [unclosed\n```", Some("tasks: [unclosed\n")),
            (
                "```yaml\na: 1\n```\n\n~~~yaml title\ntasks: []\n~~~",
                Some("tasks: []\n"),
            ),
            ("```yaml\na:\n  tasks: []\n```", None),
            ("```yaml\n# tasks: []\ntasks_of: 1\n```", None),
            ("```json\ntasks: []\n```", None),
            ("> ```yaml\n> tasks: []\n> ```", None),
            ("tasks: []", None),
            ("", None),
        ];
        for (body, expected) in table {
            assert_eq!(find_plan_block(body).as_deref(), expected, "{body:?}");
        }
    }
}
