//! A conversation with a running program: its standard output as it comes, and input while it runs.

use crate::protocol::{INPUT, INPUT_END};
use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    sync::mpsc,
};

/// How many pieces may wait on either side before the other waits too.
const PIECES: usize = 64;

/// The sandbox's side of a conversation with a running program; made with [`Talk`], the caller's side.
#[derive(Debug, Default)]
pub struct Live {
    pub(crate) heard: Option<mpsc::Sender<Vec<u8>>>,
    pub(crate) said: Option<mpsc::Receiver<Vec<u8>>>,
}

/// The caller's side of a conversation with a running program.
#[derive(Debug)]
pub struct Talk {
    /// Brings every piece of standard output as it comes, and ends with it.
    pub heard: mpsc::Receiver<Vec<u8>>,
    /// Takes what the program is to read after its first input; its standard input ends when this is dropped. A piece
    /// that cannot be sent any more finds the program gone.
    pub said: Option<mpsc::Sender<Vec<u8>>>,
}

impl Live {
    /// A conversation in which the program only speaks: its input is all there from the start.
    #[must_use]
    pub fn listening() -> (Self, Talk) {
        let (to_us, heard) = mpsc::channel(PIECES);
        let live = Self {
            heard: Some(to_us),
            said: None,
        };
        (live, Talk { heard, said: None })
    }

    /// A conversation in which input follows while the program runs.
    #[must_use]
    pub fn talking() -> (Self, Talk) {
        let (live, talk) = Self::listening();
        let (said, to_program) = mpsc::channel(PIECES);
        let live = Self {
            said: Some(to_program),
            ..live
        };
        let talk = Talk {
            said: Some(said),
            ..talk
        };
        (live, talk)
    }
}

/// Passes on what the caller says, for as long as `watching` sees no reason to stop; gives that reason.
pub(crate) async fn feed<T>(
    lifeline: &mut (impl AsyncWrite + Unpin),
    said: Option<&mut mpsc::Receiver<Vec<u8>>>,
    watching: impl Future<Output = T>,
) -> T {
    let feeding = async {
        let Some(said) = said else { return };
        while let Some(piece) = said.recv().await {
            let Some(frame) = frame(&piece) else { continue };
            if lifeline.write_all(&frame).await.is_err() {
                return;
            }
        }
        // A launcher that is gone already shows in what we hear.
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
