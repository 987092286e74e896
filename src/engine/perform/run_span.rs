//! Sends the span of an agent's run to the collector, if there is one.

use crate::{
    agents::{Answered, RunError, RunSpec},
    engine::{perform::EffectContext, spans},
};
use domain::ids::Millis;

impl EffectContext<'_> {
    /// Sends the span of a run that began at `from` and has just ended. One that never ran has none.
    pub(super) fn send_run_span<T>(&self, spec: &RunSpec, from: Millis, ended: &Result<Answered<T>, RunError>) {
        let (record, failure) = match ended {
            Ok(answered) => (&answered.record, None),
            Err(RunError::Agent { failure, record }) => (record.as_ref(), Some(failure)),
            Err(RunError::Cancelled { .. } | RunError::Host { .. }) => return,
        };
        self.engine.settings.telemetry.send(spans::run(&spans::Ran {
            feature: &self.key(),
            task: spec.task,
            turn: spec.turn,
            role: spec.role,
            run: &spec.run_key,
            from,
            to: self.engine.now(),
            record,
            failure,
        }));
    }
}
