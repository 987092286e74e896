//! Compares what the program reports when it starts with what was requested.

use crate::agents::json::items;
use serde_json::Value;

/// The tool for the answer, which the program adds to the requested ones.
pub(crate) const ANSWER_TOOL: &str = "StructuredOutput";

/// The mode and tools that a role's program is started with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartRequest {
    pub(crate) mode: &'static str,
    pub(crate) tools: &'static [&'static str],
}

/// Describes the first difference, if there is one.
pub(crate) fn difference(init: &Value, asked: StartRequest) -> Option<String> {
    let mode = init.get("permissionMode").and_then(Value::as_str).unwrap_or("none");
    if mode != asked.mode {
        return Some(format!("its permission mode is {mode:?}, not {:?}", asked.mode));
    }
    let servers = names(init.get("mcp_servers"));
    if !servers.is_empty() {
        return Some(format!("it uses the MCP servers {}", servers.join(", ")));
    }
    let foreign = |plugin: &&Value| plugin.get("path").and_then(Value::as_str) != Some("builtin");
    let plugins: Vec<Value> = items(init, "plugins").iter().filter(foreign).cloned().collect();
    let plugins = names(Some(&Value::Array(plugins)));
    if !plugins.is_empty() {
        return Some(format!("it uses the plug-ins {}", plugins.join(", ")));
    }
    let tools = names(init.get("tools"));
    let fine = |tool: &&String| *tool == ANSWER_TOOL || asked.tools.contains(&tool.as_str());
    let foreign: Vec<&String> = tools.iter().filter(|tool| !fine(tool)).collect();
    if !foreign.is_empty() {
        let foreign: Vec<&str> = foreign.into_iter().map(String::as_str).collect();
        return Some(format!("it offers tools that nobody asked for: {}", foreign.join(", ")));
    }
    let has = |tool: &&str| tools.iter().any(|found| found == tool);
    let missing: Vec<&str> = asked.tools.iter().filter(|tool| !has(tool)).copied().collect();
    if missing.is_empty() {
        None
    } else {
        Some(format!("it lacks the tools {}", missing.join(", ")))
    }
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
    use super::{StartRequest, difference};
    use serde_json::json;

    const COACH: StartRequest = StartRequest {
        mode: "dontAsk",
        tools: &["Read", "Grep"],
    };
    const PLAYER: StartRequest = StartRequest {
        mode: "acceptEdits",
        tools: &["Bash", "Edit"],
    };

    #[test]
    #[allow(clippy::too_many_lines, reason = "one table")]
    fn whatever_was_not_asked_for_is_named() {
        let table = [
            (
                json!({"permissionMode": "dontAsk", "tools": ["Read", "Grep", "StructuredOutput"], "mcp_servers": []}),
                COACH,
                None,
            ),
            (
                json!({"permissionMode": "dontAsk", "tools": ["Read", "Grep", "Bash"]}),
                COACH,
                Some("nobody asked for: Bash"),
            ),
            (
                json!({"permissionMode": "dontAsk", "tools": ["Read"]}),
                COACH,
                Some("lacks the tools Grep"),
            ),
            (
                json!({"permissionMode": "dontAsk"}),
                COACH,
                Some("lacks the tools Read, Grep"),
            ),
            (
                json!({"permissionMode": "default", "tools": ["Read", "Grep"]}),
                COACH,
                Some("permission mode is \"default\""),
            ),
            (json!({}), COACH, Some("permission mode is \"none\"")),
            (
                json!({"permissionMode": "dontAsk", "tools": ["Read", "Grep"], "mcp_servers": [{"name": "evil", "status": "failed"}]}),
                COACH,
                Some("MCP servers evil"),
            ),
            (
                json!({"permissionMode": "dontAsk", "tools": ["Read", "Grep"], "plugins": [{"name": "p", "path": "/x"}]}),
                COACH,
                Some("plug-ins p"),
            ),
            (
                json!({"permissionMode": "acceptEdits", "tools": ["Bash", "Edit"], "plugins": [{"name": "own", "path": "builtin"}]}),
                PLAYER,
                None,
            ),
            (
                json!({"permissionMode": "acceptEdits", "tools": ["Bash", "Edit", "WebSearch"]}),
                PLAYER,
                Some("nobody asked for: WebSearch"),
            ),
            (
                json!({"permissionMode": "acceptEdits", "tools": ["Bash", "Edit", "mcp__evil__run"]}),
                PLAYER,
                Some("mcp__evil__run"),
            ),
            (
                json!({"permissionMode": "acceptEdits", "tools": ["Bash"]}),
                PLAYER,
                Some("lacks the tools Edit"),
            ),
        ];
        for (init, asked, expected) in table {
            let found = difference(&init, asked);
            match expected {
                None => assert_eq!(found, None, "{init}"),
                Some(words) => assert!(
                    found.as_ref().is_some_and(|found| found.contains(words)),
                    "{init}: {found:?}"
                ),
            }
        }
    }
}
