//! The bridge inside a sandbox: it copies from a loopback port of its network namespace to the door's socket.
//!
//! It is one thread without an async runtime, so that the launcher can run it, and holds two small buffers per
//! connection. It does not inspect the data; all rules are enforced at the door.

use rustix::event::{PollFd, PollFlags, poll};
use std::{
    io,
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    os::unix::net::UnixStream,
    path::Path,
    time::Duration,
};

const MAX_CONNECTIONS: usize = 64;
const BUFFER: usize = 32 * 1024;
/// The most rounds of reading and writing for one connection before the others get their turn.
const TURNS: usize = 16;
/// The pause in accepting connections if the system has no file handle left.
const PAUSE: Duration = Duration::from_millis(50);

/// Copies every connection to `listener` to the socket and back. Returns only with the error that ended it.
///
/// It runs in a process of its own inside the sandbox, started before the program and before system calls are filtered.
/// It needs `accept4`, `connect` to a unix socket, `poll`, `read`, `write` and `shutdown`. It ends with the PID
/// namespace; if there is none, its starter asks for a signal at its own death. The starter binds the listener to
/// [`INSIDE_PORT`](super::INSIDE_PORT) on `127.0.0.1`, so that no program can take the port first.
pub fn bridge(listener: &TcpListener, socket: &Path) -> io::Error {
    if let Err(error) = listener.set_nonblocking(true) {
        return error;
    }
    let mut pairs: Vec<Pair> = Vec::new();
    loop {
        let ready = match wait(listener, &pairs) {
            Ok(ready) => ready,
            Err(error) => return error,
        };
        for (pair, is_ready) in pairs.iter_mut().zip(ready.pairs) {
            if is_ready {
                pair.turn();
            }
        }
        pairs.retain(|pair| !pair.is_over());
        if ready.listener {
            pairs.extend(accept(listener, socket));
        }
    }
}

/// The listener and the pairs that have something to do.
struct Ready {
    listener: bool,
    pairs: Vec<bool>,
}

fn wait(listener: &TcpListener, pairs: &[Pair]) -> io::Result<Ready> {
    let mut polled: Vec<PollFd<'_>> = Vec::new();
    let mut owners: Vec<Option<usize>> = Vec::new();
    if pairs.len() < MAX_CONNECTIONS {
        polled.push(PollFd::new(listener, PollFlags::IN));
        owners.push(None);
    }
    for (number, pair) in pairs.iter().enumerate() {
        // A handle that waits for nothing is left out: once its peer has ended, it would wake us again and again.
        for handle in pair.wanted_polls().into_iter().flatten() {
            polled.push(handle);
            owners.push(Some(number));
        }
    }
    match poll(&mut polled, None) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let mut ready = Ready { listener: false, pairs: vec![false; pairs.len()] };
    for (handle, owner) in polled.iter().zip(owners) {
        let is_ready = !handle.revents().is_empty();
        match owner {
            None => ready.listener |= is_ready,
            Some(number) => {
                if let Some(slot) = ready.pairs.get_mut(number) {
                    *slot |= is_ready;
                }
            }
        }
    }
    Ok(ready)
}

fn accept(listener: &TcpListener, socket: &Path) -> Option<Pair> {
    match listener.accept() {
        // If the door cannot be reached, the connection is closed without a message.
        Ok((inside, _)) => Pair::new(inside, socket).ok(),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
        Err(_) => {
            std::thread::sleep(PAUSE);
            None
        }
    }
}

/// One connection from inside and its counterpart at the door.
struct Pair {
    inside: TcpStream,
    door: UnixStream,
    out: OneDirection,
    back: OneDirection,
}

impl Pair {
    fn new(inside: TcpStream, socket: &Path) -> io::Result<Self> {
        let door = UnixStream::connect(socket)?;
        door.set_nonblocking(true)?;
        inside.set_nonblocking(true)?;
        inside.set_nodelay(true)?;
        Ok(Self { inside, door, out: OneDirection::new(), back: OneDirection::new() })
    }

    fn wanted_polls(&self) -> [Option<PollFd<'_>>; 2] {
        let flags = |reading: &OneDirection, writing: &OneDirection| {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, reading.has_room());
            flags.set(PollFlags::OUT, writing.has_bytes());
            flags
        };
        let (inside, door) = (flags(&self.out, &self.back), flags(&self.back, &self.out));
        [
            (!inside.is_empty()).then(|| PollFd::new(&self.inside, inside)),
            (!door.is_empty()).then(|| PollFd::new(&self.door, door)),
        ]
    }

    fn turn(&mut self) {
        if self.out.turn(&mut &self.inside, &mut &self.door) {
            let _ = self.door.shutdown(Shutdown::Write);
        }
        if self.back.turn(&mut &self.door, &mut &self.inside) {
            let _ = self.inside.shutdown(Shutdown::Write);
        }
    }

    fn is_over(&self) -> bool {
        self.out.is_shut && self.back.is_shut
    }
}

/// One direction of a connection, with the bytes that were read but not yet written.
struct OneDirection {
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    has_ended: bool,
    is_shut: bool,
}

impl OneDirection {
    fn new() -> Self {
        Self { buffer: vec![0; BUFFER].into_boxed_slice(), start: 0, end: 0, has_ended: false, is_shut: false }
    }

    fn has_room(&self) -> bool {
        !self.has_ended && self.end < self.buffer.len()
    }

    fn has_bytes(&self) -> bool {
        self.start < self.end
    }

    /// Copies the bytes that can be copied now. Returns `true` if the direction has just ended.
    fn turn(&mut self, from: &mut impl Read, to: &mut impl Write) -> bool {
        for _ in 0..TURNS {
            let moved = self.fill(from) | self.drain(to);
            if !moved {
                break;
            }
        }
        let ends = self.has_ended && !self.has_bytes() && !self.is_shut;
        self.is_shut |= ends;
        ends
    }

    fn fill(&mut self, from: &mut impl Read) -> bool {
        if !self.has_room() {
            return false;
        }
        let room = self.buffer.get_mut(self.end..).unwrap_or_default();
        match from.read(room) {
            Ok(count @ 1..) => {
                self.end = self.end.saturating_add(count);
                true
            }
            Err(error) if is_passing(&error) => false,
            Ok(_) | Err(_) => {
                self.has_ended = true;
                false
            }
        }
    }

    fn drain(&mut self, to: &mut impl Write) -> bool {
        let bytes = self.buffer.get(self.start..self.end).unwrap_or_default();
        if bytes.is_empty() {
            return false;
        }
        match to.write(bytes) {
            Ok(count @ 1..) => self.start = self.start.saturating_add(count),
            Err(error) if is_passing(&error) => return false,
            // Nobody reads any more, so the rest is dropped.
            Ok(_) | Err(_) => {
                self.has_ended = true;
                self.start = self.end;
            }
        }
        if !self.has_bytes() {
            (self.start, self.end) = (0, 0);
        }
        true
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
