//! Checks an agent's introduction at the beginning of the conversation, and chooses its mode.

use crate::{
    agents::{
        journal::Journal,
        json::{items, word},
        outcome,
        program::Version,
    },
    config::Role,
};
use domain::{
    blocked::{AgentFault, Failure},
    isolation::Level,
};
use serde_json::Value;

/// The agents that we know by their reported names: their programs, and the oldest versions known to do everything we
/// need.
const LEAST: [(&str, &str, Version); 2] = [
    ("@agentclientprotocol/claude-agent-acp", "claude-agent-acp", Version(0, 49, 0)),
    ("@agentclientprotocol/codex-acp", "codex-acp", Version(2, 6, 0)),
];

/// The version of the protocol that we speak.
pub(crate) const PROTOCOL: u64 = 1;

/// Three lists of modes. In the first, an agent changes nothing. In the second, it asks for nothing, since our sandbox
/// isolates it. In the third, it keeps to its checkout by itself, since nothing else makes it.
const READING_MODES: [&str; 1] = ["read-only"];
const FREE_MODES: [&str; 3] = ["agent-full-access", "full-access", "acceptEdits"];
const WRITING_MODES: [&str; 2] = ["workspace-write", "acceptEdits"];

/// Returns why an agent with this introduction cannot be used; `None` if it can.
pub(crate) fn unfit(result: &Value, journal: &Journal) -> Option<Failure> {
    let spoken = result.get("protocolVersion");
    if let Some(spoken) = spoken.filter(|spoken| spoken.as_u64() != Some(PROTOCOL)) {
        return Some(outcome::fault(AgentFault::Protocol {
            spoken: journal.plain(&spoken.to_string(), 20),
            ours: PROTOCOL,
        }));
    }
    let agent = result.get("agentInfo").unwrap_or(&Value::Null);
    let (_, program, least) = LEAST.iter().find(|(name, ..)| *name == word(agent, "name"))?;
    let found = word(agent, "version");
    let is_old = Version::find(found).is_none_or(|version| version < *least);
    is_old.then(|| Failure::TooOld {
        program: (*program).to_owned(),
        found: journal.plain(found, 50),
        least: least.to_string(),
    })
}

pub(crate) fn name(result: &Value) -> String {
    let agent = result.get("agentInfo").unwrap_or(&Value::Null);
    let name = format!("{} {}", word(agent, "name"), word(agent, "version"));
    name.trim().to_owned()
}

/// Returns the mode for the role among those that the session offers; `None` if it is already active or not offered.
pub(crate) fn mode(session: &Value, role: Role, level: Level) -> Option<&'static str> {
    let modes = session.get("modes").unwrap_or(&Value::Null);
    let wanted: &[&str] = match (role, level) {
        (Role::Planner | Role::Designer | Role::Coach, _) => &READING_MODES,
        (Role::Player, Level::L0) => &WRITING_MODES,
        (Role::Player, Level::L1 | Level::L2 | Level::L3) => &FREE_MODES,
    };
    let offered = items(modes, "availableModes");
    let mode = wanted.iter().find(|mode| offered.iter().any(|found| word(found, "id") == **mode))?;
    (word(modes, "currentModeId") != *mode).then_some(*mode)
}

#[cfg(test)]
mod tests {
    use super::{mode, unfit};
    use crate::{agents::journal::Journal, config::Role};
    use domain::isolation::Level;
    use serde_json::json;
    use text::secret::Secrets;

    #[tokio::test]
    async fn agents_that_are_too_old_or_speak_another_protocol_are_not_worked_with() {
        let journal = Journal::start(None, Secrets::default());
        let info = |name: &str, version: &str| json!({ "protocolVersion": 1, "agentInfo": { "name": name, "version": version } });
        let table = [
            (info("@agentclientprotocol/claude-agent-acp", "0.49.0"), ""),
            (info("@agentclientprotocol/claude-agent-acp", "0.100.0"), ""),
            (info("@agentclientprotocol/claude-agent-acp", "0.48.9"), "version 0.48.9; at least 0.49.0"),
            (info("@agentclientprotocol/codex-acp", "new"), "at least 2.6.0"),
            (info("someone-else", "0.0.1"), ""),
            (json!({}), ""),
            (json!({ "protocolVersion": 2 }), "version 2 of the Agent"),
            (json!({ "protocolVersion": "1" }), "of the Agent"),
        ];
        for (said, expected) in table {
            let found = unfit(&said, &journal).map_or_else(String::new, |failure| failure.to_string());
            let fine = found.is_empty() == expected.is_empty() && found.contains(expected);
            assert!(fine, "{said}: {found:?} is not {expected:?}");
        }
    }

    #[test]
    fn a_mode_is_set_only_where_it_is_offered_and_another_is_on() {
        let session = |now: &str, ids: &[&str]| {
            let modes: Vec<_> = ids.iter().map(|id| json!({ "id": id })).collect();
            json!({ "modes": { "currentModeId": now, "availableModes": modes } })
        };
        let codex = session("workspace-write", &["read-only", "workspace-write", "agent-full-access"]);
        assert_eq!(mode(&codex, Role::Coach, Level::L3), Some("read-only"));
        assert_eq!(mode(&codex, Role::Player, Level::L3), Some("agent-full-access"));
        assert_eq!(mode(&codex, Role::Player, Level::L0), None, "nothing else holds it there");
        let claude = session("default", &["default", "acceptEdits", "plan"]);
        assert_eq!(mode(&claude, Role::Coach, Level::L3), None);
        assert_eq!(mode(&claude, Role::Player, Level::L0), Some("acceptEdits"));
        assert_eq!(mode(&json!({}), Role::Player, Level::L3), None);
    }
}
