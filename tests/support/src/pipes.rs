//! Named pipes between a story and the programs that it starts: a program reports that it runs, and waits until it may
//! continue.

use std::{path::Path, time::Duration};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::unix::pipe,
};

/// The longest wait for a program's report.
const PATIENCE: Duration = Duration::from_secs(120);

/// The story's ends of the pipes. The program runs `echo name > started; read line < go`, with the folder before both
/// names.
pub struct Pipes {
    started: pipe::Receiver,
    /// The part of a line that was read before its reader was dropped.
    said: Vec<u8>,
    go: pipe::Sender,
}

impl Pipes {
    /// Creates both pipes. Call it before any program runs.
    pub fn new(folder: &Path) -> Self {
        for name in ["started", "go"] {
            let made = std::process::Command::new("mkfifo").arg(folder.join(name)).status().unwrap();
            assert!(made.success());
        }
        let both = |name| (pipe::OpenOptions::new().read_write(true).clone(), folder.join(name));
        let (reading, started) = both("started");
        let (writing, go) = both("go");
        Self {
            started: reading.open_receiver(started).unwrap(),
            said: Vec::new(),
            go: writing.open_sender(go).unwrap(),
        }
    }

    /// Waits until a program reports that it runs; returns its name.
    pub async fn started(&mut self) -> String {
        while !self.said.ends_with(b"\n") {
            let byte = tokio::time::timeout(PATIENCE, self.started.read_u8()).await;
            self.said.push(byte.expect("a program starts").unwrap());
        }
        let said = std::mem::take(&mut self.said);
        String::from_utf8(said).unwrap().trim().to_owned()
    }

    /// Lets a program continue.
    pub async fn go(&mut self) {
        self.go.write_all(b"go\n").await.unwrap();
    }
}
