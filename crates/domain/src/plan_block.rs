//! Finds a plan that a person wrote into an issue or a comment. It checks nothing; `plan` does.

use text::markdown;

/// Returns the first fenced `yaml` or `yml` block with a top-level `tasks`. A block that is not valid YAML counts too:
/// its author meant a plan, and the reply names its mistakes.
pub fn find_plan_block(markdown_text: &str) -> Option<String> {
    let is_yaml = |language: &str| ["yaml", "yml"].contains(&language.to_ascii_lowercase().as_str());
    let mut blocks = markdown::fenced_blocks(markdown_text).into_iter();
    let found = blocks.find(|(language, body)| is_yaml(language) && has_tasks(body));
    found.map(|(_, body)| body)
}

fn has_tasks(body: &str) -> bool {
    if body.trim_start().starts_with('{') {
        outer_keys(body).any(|key| is_tasks(key.trim_start()))
    } else {
        body.lines().any(is_tasks)
    }
}

fn is_tasks(text: &str) -> bool {
    let mut after = ["tasks", "\"tasks\"", "'tasks'"].iter().filter_map(|key| text.strip_prefix(key));
    after.any(|after| after.trim_start().starts_with(':'))
}

/// Returns the rest of the text from each place where a key of the outermost `{` may begin.
fn outer_keys(body: &str) -> impl Iterator<Item = &str> {
    let (mut depth, mut quote, mut is_escaped, mut before) = (0_usize, None, false, ',');
    body.char_indices().filter_map(move |(at, c)| {
        let is_plain = !std::mem::take(&mut is_escaped);
        // Inside a plain text, as in `{name: Don't panic}`, a quote is a character like any other.
        let begins_token = ['{', '[', ',', ':'].contains(&before);
        if !c.is_whitespace() {
            before = c;
        }
        match (quote, c) {
            (Some('"'), '\\') => is_escaped = is_plain,
            (Some(open), c) if c == open && is_plain => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') if begins_token => quote = Some(c),
            (None, '{' | '[') => depth = depth.saturating_add(1),
            (None, '}' | ']') => depth = depth.saturating_sub(1),
            (None, _) => {}
        }
        let begins = quote.is_none() && depth == 1 && ['{', ','].contains(&c);
        begins.then(|| body.get(at.saturating_add(1)..)).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_yaml_block_with_tasks_is_the_plan() {
        let table = [
            ("text\n\n```yaml\ntasks:\n  - id: TASK-001\n```\n", Some("tasks:\n  - id: TASK-001\n")),
            ("```YML\nname: x\n\"tasks\" : []\n```", Some("name: x\n\"tasks\" : []\n")),
            ("```yaml\n{tasks: []}\n```", Some("{tasks: []}\n")),
            ("```yaml\n{\"name\": \"a, b\", \"tasks\": []}\n```", Some("{\"name\": \"a, b\", \"tasks\": []}\n")),
            ("```yaml\n{\n  name: x,\n  tasks: [\n```", Some("{\n  name: x,\n  tasks: [\n")),
            ("```yaml\n{name: Don't panic, tasks: []}\n```", Some("{name: Don't panic, tasks: []}\n")),
            ("```yaml\n{name: 'a, tasks: []'}\n```", None),
            ("```yaml\n{a: {b: 1, tasks: []}}\n```", None),
            ("```yaml\n{a: \"\\\", tasks: []\"}\n```", None),
            ("```yaml\ntasks: [unclosed\n```", Some("tasks: [unclosed\n")),
            ("```yaml\na: 1\n```\n\n~~~yaml title\ntasks: []\n~~~", Some("tasks: []\n")),
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
