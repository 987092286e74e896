//! What happened during one run of an agent, event by event, in the words of no vendor. Everything in it was said or done
//! by an agent: a record for people, never a fact to decide by.

use crate::domain::usage::Usage;
use serde::Deserialize;
use serde::Serialize;

/// One event of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceEvent {
    /// Milliseconds since the run started.
    pub ms: u64,
    /// What happened.
    #[serde(flatten)]
    pub kind: TraceKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum TraceKind {
    /// It was told this.
    Prompt {
        /// Word for word, shortened.
        text: String,
    },
    /// The program said what it is and what it may use.
    Started {
        /// The model, as the program names it.
        model: Option<String>,
        /// The tools that it offers to the model.
        tools: Vec<String>,
        /// The program's version.
        version: Option<String>,
    },
    /// The model said something.
    Text {
        /// What.
        text: String,
    },
    /// A tool was called.
    ToolCall {
        /// Joins it with its result.
        id: String,
        /// The tool.
        tool: String,
        /// Its input as JSON text, shortened.
        input: String,
    },
    /// A tool came back.
    ToolResult {
        /// The call.
        id: String,
        /// Whether it failed.
        failed: bool,
        /// What it gave, shortened.
        output: String,
    },
    /// A tool was refused.
    Denied {
        /// The tool.
        tool: String,
        /// Why.
        why: String,
    },
    /// The program waits for its model's API.
    Waiting {
        /// Which try comes next.
        attempt: u32,
        /// For how long, in milliseconds.
        delay_ms: u64,
        /// Why.
        why: String,
    },
    /// What was used so far.
    Used {
        /// Sums since the start.
        usage: Usage,
    },
    /// It ended.
    Ended {
        /// How, in a sentence.
        how: String,
    },
}
