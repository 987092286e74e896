//! The record of runs, with any outcome.

use domain::{
    blocked::Failure,
    isolation::Level,
    trace::{TraceEvent, TraceKind},
};
use text::usage::Usage;

/// The facts about one or more runs of one request, with or without an answer. Credentials are masked in all its texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The end of the output, for people.
    pub log: String,
    pub usage: Usage,
    pub events: Vec<TraceEvent>,
    /// The model that was used, as its program names it.
    pub model: Option<String>,
    /// The isolation level; `None` if no program ran.
    pub level: Option<Level>,
    /// The number of runs: 1, or more after a repair or a fallback.
    pub runs: u32,
    /// `true` if a model worked in one of the runs without reporting its usage.
    pub has_unreported_usage: bool,
    /// The replaced model, if the fallback model was used.
    pub replaced: Option<Replaced>,
}

/// A model that was not available, replaced by another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// Why it was not available.
    pub failure: Failure,
    pub by: String,
}

impl Record {
    /// Returns `true` if the events show that a model worked: it wrote text or called a tool.
    pub fn shows_work(&self) -> bool {
        let shows = |kind: &TraceKind| {
            matches!(kind, TraceKind::Text { .. } | TraceKind::ToolCall { .. } | TraceKind::ToolResult { .. })
        };
        self.events.iter().any(|event| shows(&event.kind))
    }

    /// Returns the events. If `ended` has no answer, or if there are no events, adds the end of the output.
    pub fn trace_events<T, E>(&self, ended: &Result<T, E>) -> Vec<TraceEvent> {
        let mut events = self.events.clone();
        let is_told = ended.is_ok() && !events.is_empty();
        if !is_told && !self.log.trim().is_empty() {
            let ms = events.last().map_or(self.usage.agent_ms, |last| last.ms);
            let text = self.log.clone();
            events.push(TraceEvent { ms, kind: TraceKind::Printed { text } });
        }
        events
    }

    /// Combines an earlier record of the same request with this one.
    pub(super) fn after(mut self, earlier: Self) -> Self {
        let mut usage = earlier.usage;
        usage += self.usage;
        let mut events = earlier.events;
        events.append(&mut self.events);
        Self {
            usage,
            events,
            runs: earlier.runs + self.runs,
            has_unreported_usage: earlier.has_unreported_usage || self.has_unreported_usage,
            replaced: self.replaced.or(earlier.replaced),
            model: self.model.or(earlier.model),
            level: self.level.or(earlier.level),
            log: self.log,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Record;
    use domain::trace::{TraceEvent, TraceKind};

    #[test]
    fn what_was_printed_last_is_told_of_a_run_without_an_answer() {
        let ended = TraceEvent { ms: 7, kind: TraceKind::Ended { how: "exit code 1".to_owned() } };
        let record = Record { log: "no such model".to_owned(), events: vec![ended.clone()], ..Record::default() };
        let printed = TraceEvent { ms: 7, kind: TraceKind::Printed { text: "no such model".to_owned() } };
        assert_eq!(record.trace_events(&Err::<(), ()>(())), [ended.clone(), printed]);
        assert_eq!(record.trace_events(&Ok::<(), ()>(())), [ended]);
        let silent = Record { events: Vec::new(), ..record };
        assert_eq!(silent.trace_events(&Ok::<(), ()>(())).len(), 1, "of a run that tells no events, its answer");
        assert_eq!(Record::default().trace_events(&Err::<(), ()>(())), []);
    }
}
