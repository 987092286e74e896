//! Who did what, as it happens: one paragraph per event, also written to a file.

use crate::cli::demo::stage::Stage;
use crate::forge::FeedEvent;
use std::fs::File;
use std::io::IsTerminal;
use std::io::Write;
use std::time::Instant;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

/// Lines of a text that are shown unless all are asked for.
const LINES: usize = 4;

/// Characters of a line that are shown.
const WIDTH: usize = 110;

/// Writes the transcript.
pub(super) struct Transcript {
    file: File,
    json: bool,
    verbose: bool,
    colours: bool,
    started: Instant,
    last: u64,
}

impl Transcript {
    /// Opens the transcript's file.
    pub(super) fn open(stage: &Stage, json: bool, verbose: bool) -> anyhow::Result<Self> {
        let file = File::create(stage.transcript_file())?;
        let colours = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        Ok(Self {
            file,
            json,
            verbose,
            colours,
            started: Instant::now(),
            last: 0,
        })
    }

    /// Shows every event, those that happened before too, until `closing`.
    pub(super) async fn follow(
        mut self,
        mut news: broadcast::Receiver<FeedEvent>,
        before: Vec<FeedEvent>,
        closing: CancellationToken,
    ) {
        before.iter().for_each(|event| self.show(event));
        loop {
            let event = tokio::select! {
                biased;
                event = news.recv() => event,
                () = closing.cancelled() => return,
            };
            match event {
                Ok(event) => self.show(&event),
                Err(RecvError::Lagged(missed)) => self.line(&format!("({missed} events were too fast to be shown)")),
                Err(RecvError::Closed) => return,
            }
        }
    }

    fn show(&mut self, event: &FeedEvent) {
        if event.seq <= self.last || event.repository.is_empty() {
            return;
        }
        self.last = event.seq;
        if self.json {
            let line = serde_json::to_string(event).unwrap_or_default();
            self.line(&line);
            return;
        }
        let seconds = self.started.elapsed().as_secs_f64();
        let number = event.number.map(|number| format!(" #{number}")).unwrap_or_default();
        let head = format!("{seconds:6.1}s  {:<20} {}{number}", event.actor, event.what);
        let _ = writeln!(self.file, "{head}\n         {}", event.url);
        if self.colours {
            println!(
                "\u{1b}[2m{seconds:6.1}s\u{1b}[0m  \u{1b}[1m{:<20}\u{1b}[0m {}{number}\n         \u{1b}[2m{}\u{1b}[0m",
                event.actor, event.what, event.url
            );
        } else {
            println!("{head}\n         {}", event.url);
        }
        for line in self.excerpt(&event.text) {
            self.line(&format!("         │ {line}"));
        }
    }

    fn excerpt(&self, text: &str) -> Vec<String> {
        let visible = text
            .lines()
            .map(str::trim_end)
            .filter(|line| !line.is_empty() && !line.starts_with("<!--"));
        if self.verbose {
            return visible.map(str::to_owned).collect();
        }
        let all: Vec<&str> = visible.collect();
        let mut shown: Vec<String> = all
            .iter()
            .take(LINES)
            .map(|line| {
                let start: String = line.chars().take(WIDTH).collect();
                if start.len() < line.len() {
                    format!("{start}…")
                } else {
                    start
                }
            })
            .collect();
        if all.len() > LINES {
            shown.push("…".to_owned());
        }
        shown
    }

    fn line(&mut self, text: &str) {
        println!("{text}");
        let _ = writeln!(self.file, "{text}");
    }
}
