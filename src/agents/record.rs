//! What is known of runs, whatever they came to.

use domain::{
    blocked::AgentFailure,
    isolation::Level,
    trace::{TraceEvent, TraceKind},
    usage::Usage,
};

/// What is known of one or more runs of one request, whether they gave an answer or not. Credentials are masked in
/// all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The end of what was printed, for people.
    pub log: String,
    /// What was used.
    pub usage: Usage,
    /// What happened, in order.
    pub events: Vec<TraceEvent>,
    /// The model that worked, as its program names it.
    pub model: Option<String>,
    /// How far it was kept apart; `None` where no program ran.
    pub level: Option<Level>,
    /// How many runs there were: 1, or 2 with a repair.
    pub runs: u32,
    /// Whether one of them worked and did not tell what it used.
    pub untold: bool,
    /// What the fallback model stood in for, where it was taken.
    pub replaced: Option<Replaced>,
}

/// A model that was not to be had, and the one that was asked in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// Why it was not to be had.
    pub failure: AgentFailure,
    /// The fallback model.
    pub by: String,
}

impl Record {
    /// Whether its events show that a model worked: it spoke, or had a tool called.
    #[must_use]
    pub fn shows_work(&self) -> bool {
        self.events.iter().any(|event| match event.kind {
            TraceKind::Text { .. } | TraceKind::ToolCall { .. } | TraceKind::ToolResult { .. } => true,
            TraceKind::Prompt { .. }
            | TraceKind::Started { .. }
            | TraceKind::Denied { .. }
            | TraceKind::Waiting { .. }
            | TraceKind::Used { .. }
            | TraceKind::Ended { .. } => false,
        })
    }

    /// What an earlier run of the same request left, followed by this one's.
    pub(super) fn after(mut self, earlier: Self) -> Self {
        let mut usage = earlier.usage;
        usage += self.usage;
        let mut events = earlier.events;
        events.append(&mut self.events);
        Self {
            usage,
            events,
            runs: earlier.runs + self.runs,
            untold: earlier.untold || self.untold,
            replaced: self.replaced.or(earlier.replaced),
            model: self.model.or(earlier.model),
            level: self.level.or(earlier.level),
            log: self.log,
        }
    }
}
