//! Collects the output of a running program as it arrives.

use crate::capture::{Capture, OutputCap};
use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;
use text::shorten;
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    sync::mpsc,
    time::Instant,
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

/// The longest error output that is added to a reason, in bytes.
const MAX_COMPLAINT: usize = 500;

/// Adds the error output to `reason`, since bubblewrap's messages tell most about the cause.
pub(crate) fn with_complaint(reason: String, pipes: &Pipes) -> String {
    let complaint = pipes.stderr().output().text();
    match complaint.trim() {
        "" => reason,
        complaint => format!("{reason}: {}", shorten::middle(complaint, MAX_COMPLAINT)),
    }
}

/// The output of both streams so far.
pub(crate) struct Pipes {
    stdout: Mutex<Capture>,
    stderr: Mutex<Capture>,
    last: Mutex<Instant>,
    pub(crate) too_much: CancellationToken,
}

impl Pipes {
    pub(crate) fn new(stdout: OutputCap, stderr: OutputCap) -> Self {
        Self {
            stdout: Mutex::new(Capture::new(stdout)),
            stderr: Mutex::new(Capture::new(stderr)),
            last: Mutex::new(Instant::now()),
            too_much: CancellationToken::new(),
        }
    }

    pub(crate) fn stdout(&self) -> MutexGuard<'_, Capture> {
        self.stdout.lock()
    }

    pub(crate) fn stderr(&self) -> MutexGuard<'_, Capture> {
        self.stderr.lock()
    }

    pub(crate) fn last(&self) -> Instant {
        *self.last.lock()
    }

    fn took(&self, mut capture: MutexGuard<'_, Capture>, bytes: &[u8]) {
        capture.push(bytes);
        if capture.too_much() {
            self.too_much.cancel();
        }
        *self.last.lock() = Instant::now();
    }
}

/// Reads one stream to its end. Bytes over the cap are read and dropped, so that the program never waits for us.
pub(crate) fn pump(
    source: Option<impl AsyncRead + Unpin + Send + 'static>,
    pipes: Arc<Pipes>,
    stream: fn(&Pipes) -> MutexGuard<'_, Capture>,
    output: Option<mpsc::Sender<Vec<u8>>>,
) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(async move {
        let Some(mut source) = source else { return };
        let mut buffer = vec![0; 64 << 10];
        while let Ok(count @ 1..) = source.read(&mut buffer).await {
            let piece = buffer.get(..count).unwrap_or_default();
            pipes.took(stream(&pipes), piece);
            if let Some(output) = &output {
                // If the receiver is gone, the output is still counted and kept.
                let _ = output.send(piece.to_vec()).await;
            }
        }
    }))
}
