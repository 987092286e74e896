//! Named pipes between a story and an agent: the agent says that it runs and waits until it may go on.

use std::path::Path;
use tokio::io::AsyncReadExt;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe;

/// In the agent: `echo > $WORLD/started; read line < $WORLD/go`.
pub struct Pipes {
    started: pipe::Receiver,
    go: pipe::Sender,
}

impl Pipes {
    /// Makes both pipes; before the agent runs.
    pub fn new(folder: &Path) -> Self {
        for name in ["started", "go"] {
            let made = std::process::Command::new("mkfifo")
                .arg(folder.join(name))
                .status()
                .unwrap();
            assert!(made.success());
        }
        Self {
            started: pipe::OpenOptions::new()
                .read_write(true)
                .open_receiver(folder.join("started"))
                .unwrap(),
            go: pipe::OpenOptions::new()
                .read_write(true)
                .open_sender(folder.join("go"))
                .unwrap(),
        }
    }

    /// Waits until the agent says that it runs; gives what it said.
    pub async fn started(&mut self) -> String {
        let mut said = Vec::new();
        while !said.ends_with(b"\n") {
            let byte = tokio::time::timeout(super::PATIENCE, self.started.read_u8()).await;
            said.push(byte.expect("the agent starts").unwrap());
        }
        String::from_utf8(said).unwrap().trim().to_owned()
    }

    /// Lets the agent go on.
    pub async fn go(&mut self) {
        self.go.write_all(b"go\n").await.unwrap();
    }
}
