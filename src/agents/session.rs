//! Runs a program that prints lines: reads each line as it arrives, and ends the program when necessary.

use crate::agents::{
    journal::Journal,
    lines::{Lines, MAX_LINE},
};
use domain::blocked::Failure;
use sandbox::{Finished, Live, Sandbox, Spec, StartError, Talk};
use std::time::Duration;
use tokio::{sync::mpsc, time::Instant};
use tokio_util::sync::CancellationToken;

/// The next step after a line.
#[derive(Debug)]
pub(crate) enum AfterLine {
    Listen,
    /// Send these bytes to the program, then read on.
    Send(Vec<u8>),
    /// End the program, which failed for this reason.
    Stop(Failure),
    /// The result is complete. The program gets a moment to end, and its output is read until then.
    Finished,
}

/// A reader of one program's lines.
pub(crate) trait Listener: Send {
    fn handle_line(&mut self, line: &[u8], journal: &mut Journal) -> AfterLine;
    /// Returns `true` if a tool that the program called has not finished yet.
    fn tool_runs(&self) -> bool;
}

/// The longest silences that are allowed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SilenceLimits {
    pub(crate) model: Duration,
    pub(crate) tool: Duration,
    /// From its last line to its end.
    pub(crate) last: Duration,
}

/// Why we ended a program.
#[derive(Debug)]
pub(crate) enum EndReason {
    /// Its output reports a failure.
    Failed(Failure),
    /// Its result was complete, but it did not end.
    Lingered,
}

#[derive(Debug)]
pub(crate) struct SessionEnd {
    /// The sandbox's report.
    pub(crate) finished: Finished,
    /// Why we ended it; `None` if we did not.
    pub(crate) stopped: Option<EndReason>,
}

/// The way in which the program gets its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputMode {
    /// All at once, at the start.
    Once,
    /// As a dialogue while it runs.
    Dialogue,
}

/// Runs the program and passes every line to `listener`.
pub(crate) async fn run(
    sandbox: &Sandbox,
    spec: &Spec,
    input_mode: InputMode,
    limits: SilenceLimits,
    listener: &mut dyn Listener,
    journal: &mut Journal,
    cancel: &CancellationToken,
) -> Result<SessionEnd, StartError> {
    let stop = cancel.child_token();
    let (live, talk) = match input_mode {
        InputMode::Once => Live::output_only(),
        InputMode::Dialogue => Live::with_input(),
    };
    let listening = async {
        let mut reader = OutputReader::new(talk, limits);
        let stopped = reader.listen(listener, journal).await;
        if stopped.is_some() {
            stop.cancel();
        }
        reader.drain().await;
        stopped
    };
    let (finished, stopped) = tokio::join!(sandbox.run_live(spec, live, &stop), listening);
    Ok(SessionEnd { finished: finished?, stopped })
}

struct OutputReader {
    output: mpsc::Receiver<Vec<u8>>,
    input: Option<mpsc::Sender<Vec<u8>>>,
    lines: Lines,
    limits: SilenceLimits,
    /// The time at which the listener had the complete result.
    finished: Option<Instant>,
}

impl OutputReader {
    fn new(talk: Talk, limits: SilenceLimits) -> Self {
        Self { output: talk.output, input: talk.input, lines: Lines::default(), limits, finished: None }
    }

    /// Listens to the end of the output. Returns a reason to end the program earlier.
    async fn listen(&mut self, listener: &mut dyn Listener, journal: &mut Journal) -> Option<EndReason> {
        let mut last = Instant::now();
        loop {
            let (since, limit) = match self.finished {
                Some(finished) => (finished, self.limits.last),
                None if listener.tool_runs() => (last, self.limits.tool),
                None => (last, self.limits.model),
            };
            let piece = match since.checked_add(limit) {
                Some(until) => tokio::time::timeout_at(until, self.output.recv()).await,
                None => Ok(self.output.recv().await),
            };
            let lines = match piece {
                Err(_) if self.finished.is_some() => return Some(EndReason::Lingered),
                Err(_) => return Some(EndReason::Failed(Failure::WentSilent { seconds: limit.as_secs() })),
                Ok(Some(piece)) => self.lines.push(&piece),
                Ok(None) => {
                    let line = self.lines.take();
                    return self.read(line, listener, journal).await;
                }
            };
            last = Instant::now();
            let stopped = match lines {
                Ok(lines) => self.read(lines, listener, journal).await,
                Err(_) => Some(EndReason::Failed(Failure::TooMuchOutput {
                    bytes: u64::try_from(MAX_LINE).unwrap_or(u64::MAX),
                })),
            };
            if stopped.is_some() {
                return stopped;
            }
        }
    }

    async fn read(
        &mut self,
        lines: impl IntoIterator<Item = Vec<u8>>,
        listener: &mut dyn Listener,
        journal: &mut Journal,
    ) -> Option<EndReason> {
        for line in lines {
            match listener.handle_line(&line, journal) {
                AfterLine::Listen => {}
                AfterLine::Send(words) => {
                    if let Some(input) = &self.input {
                        // If the program is gone, its output ends too, so the error can be ignored.
                        let _ = input.send(words).await;
                    }
                }
                AfterLine::Stop(failure) => return Some(EndReason::Failed(failure)),
                AfterLine::Finished => {
                    self.finished.get_or_insert_with(Instant::now);
                    self.input = None;
                }
            }
        }
        None
    }

    /// Reads the rest of the output, so that the program does not wait for us while it ends.
    async fn drain(&mut self) {
        self.input = None;
        while self.output.recv().await.is_some() {}
    }
}
