//! Who did what, as it happens: one paragraph per event, and of a comment that is edited again and again only what is
//! new in it. The same is written to a file.

use crate::cli::demo::excerpt::Change;
use crate::cli::demo::excerpt::Edited;
use crate::cli::demo::excerpt::start;
use crate::cli::demo::excerpt::whole;
use crate::cli::demo::stage::Stage;
use crate::forge::FeedEvent;
use crate::sandbox::Sandbox;
use std::collections::HashMap;
use std::collections::HashSet;
use std::fs::File;
use std::io::IsTerminal;
use std::io::Write;
use std::time::Instant;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Below what somebody did stand its address and what was said.
const MARGIN: &str = "                               ";

/// How a line is printed where the terminal has colours.
#[derive(Clone, Copy)]
enum Tone {
    Plain,
    Quiet,
    Loud,
}

/// Writes the transcript.
pub(super) struct Transcript {
    file: File,
    json: bool,
    verbose: bool,
    colours: bool,
    started: Instant,
    last: u64,
    addresses: HashSet<String>,
    edited: HashMap<String, Edited>,
    hidden: usize,
    seen: watch::Sender<u64>,
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
            addresses: HashSet::new(),
            edited: HashMap::new(),
            hidden: 0,
            seen: watch::Sender::new(0),
        })
    }

    /// Says how far everything that is run here is kept apart.
    pub(super) fn isolation(&mut self, sandbox: &Sandbox) {
        if self.json {
            return;
        }
        let level = sandbox.level();
        self.line(&format!("isolation {level}: {}", level.means()), Tone::Quiet);
        if !sandbox.missing().is_empty() {
            self.line(&format!("missing for more: {}", sandbox.missing()), Tone::Quiet);
        }
    }

    /// The number of the last event that was shown.
    pub(super) fn seen(&self) -> watch::Receiver<u64> {
        self.seen.subscribe()
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
                () = closing.cancelled() => return self.end(),
            };
            match event {
                Ok(event) => self.show(&event),
                Err(RecvError::Lagged(missed)) => {
                    self.line(&format!("({missed} events were too fast to be shown)"), Tone::Quiet)
                }
                Err(RecvError::Closed) => return self.end(),
            }
        }
    }

    /// Says how much was left out.
    fn end(mut self) {
        if self.hidden > 0 && !self.json {
            let hidden = format!(
                "\n({} edits that said nothing new are left out; --verbose shows them)",
                self.hidden
            );
            self.line(&hidden, Tone::Quiet);
        }
    }

    fn show(&mut self, event: &FeedEvent) {
        if event.seq <= self.last {
            return;
        }
        self.last = event.seq;
        if !event.repository.is_empty() {
            self.tell(event);
        }
        self.seen.send_replace(event.seq);
    }

    fn tell(&mut self, event: &FeedEvent) {
        if self.json {
            let line = serde_json::to_string(event).unwrap_or_default();
            self.line(&line, Tone::Plain);
            return;
        }
        let edit = event.kind == "comment.edited" && !self.verbose;
        if event.kind.starts_with("comment.") {
            let change = self.edited.entry(event.url.clone()).or_default().take(&event.text);
            if edit {
                self.change(&change);
                return;
            }
        }
        self.whole(event);
    }

    /// A comment was edited: only what is new in it.
    fn change(&mut self, change: &Change) {
        if change.state.is_none() && change.rows.is_empty() && change.notes.is_empty() {
            self.hidden += 1;
        }
        if let Some(state) = &change.state {
            let state = state.strip_prefix("State: ").unwrap_or(state);
            let line = format!("{:6.1}s  ── {state} ──", self.seconds());
            self.line("", Tone::Plain);
            self.line(&line, Tone::Loud);
        }
        for row in &change.rows {
            let line = format!("{:6.1}s   · {row}", self.seconds());
            self.line(&line, Tone::Quiet);
        }
        for note in &change.notes {
            let line = format!("{:6.1}s   · {note}", self.seconds());
            self.line(&line, Tone::Plain);
        }
    }

    /// One event: who did what where, the address if it was not shown yet, and the start of what was said.
    fn whole(&mut self, event: &FeedEvent) {
        let on = if event.kind == "check_run" { " on" } else { "" };
        let number = event.number.map(|number| format!("{on} #{number}")).unwrap_or_default();
        let said = if self.verbose {
            whole(&event.text)
        } else {
            start(&event.text)
        };
        let head = format!("{:6.1}s  {:<20} {}{number}", self.seconds(), event.actor, event.what);
        let brief = matches!(said.as_slice(), [_]) && !speech(event);
        match said.first() {
            Some(only) if brief => self.line(&format!("{head}: {only}"), Tone::Plain),
            _ => self.line(&head, Tone::Plain),
        }
        if (self.verbose || addressed(event)) && self.addresses.insert(event.url.clone()) {
            self.line(&format!("{MARGIN}{}", event.url), Tone::Quiet);
        }
        for line in said.iter().filter(|_| !brief) {
            self.line(&format!("{MARGIN}│ {line}"), Tone::Plain);
        }
    }

    fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// To the terminal, in its tone where there are colours, and to the file.
    fn line(&mut self, text: &str, tone: Tone) {
        let mut out = std::io::stdout().lock();
        // Whoever closed the terminal still has the file.
        let _ = match tone {
            Tone::Quiet if self.colours => writeln!(out, "\u{1b}[2m{text}\u{1b}[0m"),
            Tone::Loud if self.colours => writeln!(out, "\u{1b}[1m{text}\u{1b}[0m"),
            Tone::Quiet | Tone::Loud | Tone::Plain => writeln!(out, "{text}"),
        };
        let _ = writeln!(self.file, "{text}");
    }
}

/// Whether somebody said something in this event, rather than being named in it.
fn speech(event: &FeedEvent) -> bool {
    event.kind.starts_with("comment.") || event.kind.starts_with("review.")
}

/// Whether the event's address leads to a conversation rather than to a commit, a check or a branch.
fn addressed(event: &FeedEvent) -> bool {
    !matches!(event.kind.as_str(), "push" | "check_run" | "branch.deleted")
}
