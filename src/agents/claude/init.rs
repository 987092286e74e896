//! Compares the program's report at its start with the request.

use crate::agents::json::items;
use domain::blocked::StartDifference;
use serde_json::Value;

/// The tool for the answer, which the program adds to the requested ones.
pub(crate) const ANSWER_TOOL: &str = "StructuredOutput";

/// The mode and tools with which a role's program is started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartRequest {
    pub(crate) mode: &'static str,
    pub(crate) tools: &'static [&'static str],
}

/// Returns the first difference, if there is one.
pub(crate) fn difference(init: &Value, asked: StartRequest) -> Option<StartDifference> {
    let mode = init.get("permissionMode").and_then(Value::as_str).unwrap_or("none");
    if mode != asked.mode {
        return Some(StartDifference::Mode { found: mode.to_owned(), asked: asked.mode.to_owned() });
    }
    let servers = names(init.get("mcp_servers"));
    if !servers.is_empty() {
        return Some(StartDifference::Servers(servers));
    }
    let foreign = |plugin: &&Value| plugin.get("path").and_then(Value::as_str) != Some("builtin");
    let plugins: Vec<Value> = items(init, "plugins").iter().filter(foreign).cloned().collect();
    let plugins = names(Some(&Value::Array(plugins)));
    if !plugins.is_empty() {
        return Some(StartDifference::Plugins(plugins));
    }
    let tools = names(init.get("tools"));
    let fine = |tool: &&String| *tool == ANSWER_TOOL || asked.tools.contains(&tool.as_str());
    let more: Vec<String> = tools.iter().filter(|tool| !fine(tool)).cloned().collect();
    if !more.is_empty() {
        return Some(StartDifference::MoreTools(more));
    }
    let has = |tool: &&str| tools.iter().any(|found| found == tool);
    let fewer: Vec<String> = asked.tools.iter().filter(|tool| !has(tool)).map(|tool| (*tool).to_owned()).collect();
    (!fewer.is_empty()).then_some(StartDifference::FewerTools(fewer))
}

/// Returns the names in a list of names, or of objects with a name.
pub(crate) fn names(list: Option<&Value>) -> Vec<String> {
    let items = list.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let name = |item: &Value| {
        let named = item.as_str().or_else(|| item.get("name").and_then(Value::as_str));
        named.unwrap_or("without a name").chars().take(100).collect()
    };
    items.iter().take(500).map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::{StartDifference, StartRequest, difference};
    use serde_json::json;

    const COACH: StartRequest = StartRequest { mode: "dontAsk", tools: &["Read", "Grep"] };
    const PLAYER: StartRequest = StartRequest { mode: "acceptEdits", tools: &["Bash", "Edit"] };

    #[test]
    #[allow(clippy::too_many_lines, reason = "one table")]
    fn whatever_was_not_asked_for_is_named() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let mode = |found: &str| StartDifference::Mode { found: found.to_owned(), asked: "dontAsk".to_owned() };
        let table = [
            (
                json!({"permissionMode": "dontAsk", "tools": ["Read", "Grep", "StructuredOutput"], "mcp_servers": []}),
                COACH,
                None,
            ),
            (
                json!({"permissionMode": "dontAsk", "tools": ["Read", "Grep", "Bash"]}),
                COACH,
                Some(StartDifference::MoreTools(names(&["Bash"]))),
            ),
            (
                json!({"permissionMode": "dontAsk", "tools": ["Read"]}),
                COACH,
                Some(StartDifference::FewerTools(names(&["Grep"]))),
            ),
            (json!({"permissionMode": "dontAsk"}), COACH, Some(StartDifference::FewerTools(names(&["Read", "Grep"])))),
            (json!({"permissionMode": "default", "tools": ["Read", "Grep"]}), COACH, Some(mode("default"))),
            (json!({}), COACH, Some(mode("none"))),
            (
                json!({"permissionMode": "dontAsk", "tools": ["Read", "Grep"], "mcp_servers": [{"name": "evil", "status": "failed"}]}),
                COACH,
                Some(StartDifference::Servers(names(&["evil"]))),
            ),
            (
                json!({"permissionMode": "dontAsk", "tools": ["Read", "Grep"], "plugins": [{"name": "p", "path": "/x"}]}),
                COACH,
                Some(StartDifference::Plugins(names(&["p"]))),
            ),
            (
                json!({"permissionMode": "acceptEdits", "tools": ["Bash", "Edit"], "plugins": [{"name": "own", "path": "builtin"}]}),
                PLAYER,
                None,
            ),
            (
                json!({"permissionMode": "acceptEdits", "tools": ["Bash", "Edit", "WebSearch"]}),
                PLAYER,
                Some(StartDifference::MoreTools(names(&["WebSearch"]))),
            ),
            (
                json!({"permissionMode": "acceptEdits", "tools": ["Bash", "Edit", "mcp__evil__run"]}),
                PLAYER,
                Some(StartDifference::MoreTools(names(&["mcp__evil__run"]))),
            ),
            (
                json!({"permissionMode": "acceptEdits", "tools": ["Bash"]}),
                PLAYER,
                Some(StartDifference::FewerTools(names(&["Edit"]))),
            ),
        ];
        for (init, asked, expected) in table {
            assert_eq!(difference(&init, asked), expected, "{init}");
        }
    }
}
