//! A conversation with a running program: its standard output as it arrives, and input while it runs.

use crate::protocol::{INPUT, INPUT_END};
use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    sync::mpsc,
};

/// How many pieces may wait on either side before the sender must wait.
const PIECES: usize = 64;

/// The sandbox's side of a conversation with a running program. [`Talk`] is the caller's side.
#[derive(Debug, Default)]
pub struct Live {
    pub(crate) output: Option<mpsc::Sender<Vec<u8>>>,
    pub(crate) input: Option<mpsc::Receiver<Vec<u8>>>,
}

/// The caller's side of a conversation with a running program.
#[derive(Debug)]
pub struct Talk {
    /// Receives every piece of standard output as it arrives. It closes when the output ends.
    pub output: mpsc::Receiver<Vec<u8>>,
    /// Sends input to the program after its first input. Dropping it ends the program's standard input. Sending fails
    /// once the program is gone.
    pub input: Option<mpsc::Sender<Vec<u8>>>,
}

impl Live {
    /// Makes a conversation in which the caller only reads. The program's input is complete from the start.
    pub fn output_only() -> (Self, Talk) {
        let (to_us, output) = mpsc::channel(PIECES);
        let live = Self { output: Some(to_us), input: None };
        (live, Talk { output, input: None })
    }

    /// Makes a conversation in which the caller can send input while the program runs.
    pub fn with_input() -> (Self, Talk) {
        let (live, talk) = Self::output_only();
        let (input, to_program) = mpsc::channel(PIECES);
        let live = Self { input: Some(to_program), ..live };
        let talk = Talk { input: Some(input), ..talk };
        (live, talk)
    }
}

/// Forwards the caller's input until `watching` returns a reason to stop, and returns that reason.
pub(crate) async fn feed<T>(
    lifeline: &mut (impl AsyncWrite + Unpin),
    input: Option<&mut mpsc::Receiver<Vec<u8>>>,
    watching: impl Future<Output = T>,
) -> T {
    let feeding = async {
        let Some(input) = input else { return };
        while let Some(piece) = input.recv().await {
            let Some(frame) = frame(&piece) else { continue };
            if lifeline.write_all(&frame).await.is_err() {
                return;
            }
        }
        // If the launcher is gone, the closed socket already shows it to the reader.
        let _ = lifeline.write_all(&[INPUT_END]).await;
    };
    let mut watching = std::pin::pin!(watching);
    tokio::select! {
        reason = &mut watching => reason,
        () = feeding => watching.await,
    }
}

fn frame(piece: &[u8]) -> Option<Vec<u8>> {
    let length = u32::try_from(piece.len()).ok()?;
    Some([&[INPUT], &length.to_be_bytes()[..], piece].concat())
}
