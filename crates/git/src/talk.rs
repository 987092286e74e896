//! Feeds and reads one running git, and ends it together with all its helpers.

use bytes::Bytes;
use rustix::process::{Pid, Signal};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::{Child, ChildStdin},
    sync::mpsc,
};

/// The number of bytes of standard error that are kept.
const STDERR_CAP: usize = 16 << 10;

pub(crate) enum Input {
    Nothing,
    Bytes(Vec<u8>),
    Stream(mpsc::Receiver<Bytes>),
}

/// The output of a finished child, before masking.
pub(crate) struct RawOutput {
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) truncated: bool,
    pub(crate) stderr: Vec<u8>,
}

/// Feeds and reads the child until it ends. Stops it if it prints more than `cap` bytes.
pub(crate) async fn converse(mut child: Child, input: Input, cap: usize) -> std::io::Result<RawOutput> {
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let feeding = feed(stdin, input);
    let complaining = read_capped(stderr, STDERR_CAP, AtCap::Discard);
    let reading = read_capped(stdout, cap, AtCap::Stop);
    let ((), (stdout, truncated), (stderr, _)) = {
        let reading = async {
            let read = reading.await;
            if read.1 {
                // Dropping the group at once sends the signal.
                drop(Group::of(&child));
            }
            read
        };
        tokio::join!(feeding, reading, complaining)
    };
    let status = child.wait().await?;
    Ok(RawOutput { code: status.code().unwrap_or(-1), stdout, truncated, stderr })
}

/// Writes the input and closes it. If git ends without reading it, its exit code counts, not the broken pipe.
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

/// The treatment of output beyond the cap.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AtCap {
    Stop,
    Discard,
}

/// Reads up to `cap` bytes; the flag is `true` if there were more.
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

/// The process group of a running git. If it is dropped before git has ended, it sends SIGTERM to the whole group, and
/// git removes its lock files.
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

    /// Forgets the group, because its number may belong to another process from now on.
    pub(crate) fn forget(&mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::TERM);
    }
}
