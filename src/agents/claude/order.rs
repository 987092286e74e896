//! Prepares the program for a role: its command line and its environment.

use crate::{
    agents::{
        access::Provider,
        claude::{ClaudeAgent, init::StartRequest},
        private::{AccountVariables, Private},
        run::{COMMAND, RunError, RunSpec, limit},
        schema,
    },
    config::Role,
};
use sandbox::Spec;
use std::ffi::OsString;

/// Returns the mode and tools with which a role's program is started.
pub(crate) fn request_for(role: Role) -> StartRequest {
    match role {
        Role::Player => StartRequest {
            mode: "acceptEdits",
            // The description of each tool costs tokens in every call. No run has the web, a schedule, or anyone to
            // message.
            tools: &["Bash", "Edit", "Glob", "Grep", "NotebookEdit", "Read", "Write"],
        },
        Role::Planner | Role::Designer | Role::Coach => {
            StartRequest { mode: "dontAsk", tools: &["Glob", "Grep", "Read"] }
        }
    }
}

impl ClaudeAgent {
    pub(super) async fn order(&self, spec: &RunSpec, prompt: String, private: &Private) -> Result<Spec, RunError> {
        let system = private.write("system.md", spec.prompt.system.as_bytes())?;
        let mut order = Spec::new(self.program.name, &spec.checkout);
        order.args = args(spec, system.into());
        order.env = private.environment(spec, &self.context.environment, AccountVariables::Ours)?;
        let command_ms = COMMAND.as_millis().to_string();
        for name in ["BASH_DEFAULT_TIMEOUT_MS", "BASH_MAX_TIMEOUT_MS"] {
            order.env.push((name.into(), command_ms.clone().into()));
        }
        order.stdin = prompt.into_bytes();
        limit(&mut order, spec);
        let config = private.folder("claude")?;
        order.env.push(("CLAUDE_CONFIG_DIR".into(), config.into_os_string()));
        self.context
            .access
            .open_door(&mut order, spec, private, &[Provider::Anthropic], self.context.sandbox.level())
            .await?;
        Ok(order)
    }
}

fn args(spec: &RunSpec, system: OsString) -> Vec<OsString> {
    let mut args: Vec<OsString> = ["-p", "--output-format", "stream-json", "--verbose"].map(OsString::from).to_vec();
    let mut add = |name: &str, value: OsString| args.extend([OsString::from(name), value]);
    if let Some(model) = &spec.model {
        add("--model", model.into());
    }
    add("--max-turns", spec.agent_turns.to_string().into());
    if let Some(micros) = spec.usd_micros {
        add("--max-budget-usd", dollars(micros).into());
    }
    add("--permission-mode", request_for(spec.role).mode.into());
    add("--tools", request_for(spec.role).tools.join(",").into());
    match spec.role {
        Role::Player => {
            add("--allowedTools", "Bash".into());
            add("--append-system-prompt-file", system);
        }
        Role::Planner | Role::Designer | Role::Coach => add("--system-prompt-file", system),
    }
    add("--json-schema", schema::bare(&spec.schema).to_string().into());
    add("--setting-sources", "".into());
    args.extend(["--strict-mcp-config", "--no-session-persistence"].map(OsString::from));
    args
}

/// Writes millionths of a dollar in the form that the program reads, without rounding.
fn dollars(micros: u64) -> String {
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::{args, dollars};
    use crate::{
        agents::{RunSpec, prompt::Prompt},
        config::Role,
    };
    use domain::ids::TurnNumber;
    use sandbox::egress::Rules;
    use serde_json::json;
    use std::time::Duration;
    use text::secret::Secrets;

    fn spec(role: Role) -> RunSpec {
        RunSpec {
            role,
            task: None,
            turn: TurnNumber::FIRST,
            checkout: "/nowhere".into(),
            objects: None,
            prompt: Prompt::new("you are", "your answer"),
            schema: json!({}),
            deadline: Duration::from_secs(1),
            idle: None,
            model: None,
            fallback_model: None,
            agent_turns: 30,
            usd_micros: None,
            most_usd_micros: None,
            tokens: None,
            time: None,
            network: Rules::default(),
            activity: None,
            secrets: Secrets::default(),
            request: String::new(),
            run_key: String::new(),
        }
    }

    #[test]
    fn every_role_is_given_the_tools_that_it_can_use_and_no_other() {
        let line = |role| {
            let args = args(&spec(role), "/system.md".into());
            let words: Vec<String> = args.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            words.join(" ")
        };
        let player = line(Role::Player);
        assert!(
            player.contains(
                "--permission-mode acceptEdits --tools Bash,Edit,Glob,Grep,NotebookEdit,Read,Write --allowedTools Bash \
                 --append-system-prompt-file /system.md --json-schema"
            ),
            "{player}"
        );
        for role in [Role::Planner, Role::Designer, Role::Coach] {
            let reader = line(role);
            assert!(
                reader.contains("--permission-mode dontAsk --tools Glob,Grep,Read --system-prompt-file /system.md"),
                "{reader}"
            );
            assert!(!reader.contains("allowedTools"), "that would let it read anything: {reader}");
        }
    }

    #[test]
    fn money_is_written_exactly() {
        assert_eq!([0, 1, 2_500_000, 123_456_789].map(dollars), ["0.000000", "0.000001", "2.500000", "123.456789"]);
    }
}
