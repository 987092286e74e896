//! Feeding and reading one running git, and ending it with all its helpers.

use bytes::Bytes;
use rustix::process::{Pid, Signal};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::{Child, ChildStdin},
    sync::mpsc,
};

/// What is kept of git's complaints.
const STDERR_CAP: usize = 16 << 10;

/// What a call reads on its standard input.
pub(crate) enum Input {
    Nothing,
    Bytes(Vec<u8>),
    Stream(mpsc::Receiver<Bytes>),
}

/// What a finished child left, before masking.
pub(crate) struct RawOutput {
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) truncated: bool,
    pub(crate) stderr: Vec<u8>,
}

/// Feeds and reads the child until it ends, or stops it where it prints more than `cap`.
pub(crate) async fn converse(mut child: Child, input: Input, cap: usize) -> std::io::Result<RawOutput> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let feeding = feed(stdin, input);
    let complaining = read_capped(stderr, STDERR_CAP, AtCap::Discard);
    let reading = read_capped(stdout, cap, AtCap::Stop);
    let ((), (stdout, truncated), (stderr, _)) = {
        let reading = async {
            let read = reading.await;
            if read.1 {
                // Dropped at once: this is the signal.
                drop(Group::of(&child));
            }
            read
        };
        tokio::join!(feeding, reading, complaining)
    };
    let status = child.wait().await?;
    Ok(RawOutput {
        code: status.code().unwrap_or(-1),
        stdout,
        truncated,
        stderr,
    })
}

/// Writes the input and closes it. A git that ends without reading is judged by its exit code, not by the broken pipe.
async fn feed(stdin: Option<ChildStdin>, input: Input) {
    let Some(mut stdin) = stdin else { return };
    match input {
        Input::Nothing => {}
        Input::Bytes(bytes) => {
            let _ = stdin.write_all(&bytes).await;
        }
        Input::Stream(mut chunks) => {
            while let Some(chunk) = chunks.recv().await {
                if stdin.write_all(&chunk).await.is_err() {
                    return;
                }
            }
        }
    }
    let _ = stdin.shutdown().await;
}

/// What to do with more output than is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AtCap {
    Stop,
    Discard,
}

/// Reads up to `cap` bytes; says whether there were more.
async fn read_capped(source: Option<impl AsyncRead + Unpin>, cap: usize, at_cap: AtCap) -> (Vec<u8>, bool) {
    let (mut kept, mut more) = (Vec::new(), false);
    let Some(mut source) = source else { return (kept, more) };
    let mut buffer = vec![0; 64 << 10];
    while let Ok(count) = source.read(&mut buffer).await {
        let room = cap.saturating_sub(kept.len()).min(count);
        kept.extend_from_slice(buffer.get(..room).unwrap_or_default());
        more |= room < count;
        if count == 0 || (more && at_cap == AtCap::Stop) {
            break;
        }
    }
    (kept, more)
}

/// The process group of a running git. Dropped before its end, it tells the whole group to stop: on SIGTERM git takes its
/// lock files away.
pub(crate) struct Group(Option<Pid>);

impl Group {
    pub(crate) fn of(child: &Child) -> Self {
        let raw = child.id().and_then(|id| i32::try_from(id).ok());
        Self(raw.and_then(Pid::from_raw))
    }

    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(group) = self.0 {
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }

    /// The number may belong to another process from now on.
    pub(crate) fn ended(&mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::TERM);
    }
}
