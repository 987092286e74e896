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
    pub fn shows_work(&self) -> bool {
        let shows = |kind: &TraceKind| {
            matches!(
                kind,
                TraceKind::Text { .. } | TraceKind::ToolCall { .. } | TraceKind::ToolResult { .. }
            )
        };
        self.events.iter().any(|event| shows(&event.kind))
    }

    /// What happened, with what was printed last where `ended` gave no answer, or where nothing else is known.
    pub fn told<T, E>(&self, ended: &Result<T, E>) -> Vec<TraceEvent> {
        let mut events = self.events.clone();
        let is_told = ended.is_ok() && !events.is_empty();
        if !is_told && !self.log.trim().is_empty() {
            let ms = events.last().map_or(self.usage.agent_ms, |last| last.ms);
            let text = self.log.clone();
            events.push(TraceEvent {
                ms,
                kind: TraceKind::Printed { text },
            });
        }
        events
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

#[cfg(test)]
mod tests {
    use super::Record;
    use domain::trace::{TraceEvent, TraceKind};

    #[test]
    fn what_was_printed_last_is_told_of_a_run_without_an_answer() {
        let ended = TraceEvent {
            ms: 7,
            kind: TraceKind::Ended {
                how: "exit code 1".to_owned(),
            },
        };
        let record = Record {
            log: "no such model".to_owned(),
            events: vec![ended.clone()],
            ..Record::default()
        };
        let printed = TraceEvent {
            ms: 7,
            kind: TraceKind::Printed {
                text: "no such model".to_owned(),
            },
        };
        assert_eq!(record.told(&Err::<(), ()>(())), [ended.clone(), printed]);
        assert_eq!(record.told(&Ok::<(), ()>(())), [ended]);
        let silent = Record {
            events: Vec::new(),
            ..record
        };
        assert_eq!(
            silent.told(&Ok::<(), ()>(())).len(),
            1,
            "of a run that tells no events, its answer"
        );
        assert_eq!(Record::default().told(&Err::<(), ()>(())), []);
    }
}
