//! Telling the collector of an agent's run, where there is a collector.

use crate::{
    agents::{Answered, RunError, RunSpec},
    engine::{perform::Scene, spans},
};
use domain::ids::Millis;

impl Scene<'_> {
    /// Sends the span of a run that began at `from` and has just ended. One that never ran has none.
    pub(super) fn tell_run<T>(&self, spec: &RunSpec, from: Millis, ended: &Result<Answered<T>, RunError>) {
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
