//! Named pipes between a story and a program: the program says that it runs and waits until it may go on.

use std::path::Path;
use tokio::io::AsyncReadExt;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe;

/// In the program: `echo name > started; read line < go`.
pub struct Pipes {
    started: pipe::Receiver,
    go: pipe::Sender,
}

impl Pipes {
    /// Makes both pipes.
    pub fn new(folder: &Path) -> Self {
        for name in ["started", "go"] {
            let made = std::process::Command::new("mkfifo")
                .arg(folder.join(name))
                .status()
                .unwrap();
            assert!(made.success());
        }
        let both = |name| (pipe::OpenOptions::new().read_write(true).clone(), folder.join(name));
        let (reading, started) = both("started");
        let (writing, go) = both("go");
        Self {
            started: reading.open_receiver(started).unwrap(),
            go: writing.open_sender(go).unwrap(),
        }
    }

    /// Waits until a program says that it runs; gives its name. Each program writes one short line, which a pipe never
    /// tears.
    pub async fn started(&mut self) -> String {
        let mut said = [0_u8; 64];
        let length = self.started.read(&mut said).await.unwrap();
        String::from_utf8_lossy(&said[..length]).trim().to_owned()
    }

    /// Lets a program go on.
    pub async fn go(&mut self) {
        self.go.write_all(b"go\n").await.unwrap();
    }
}
