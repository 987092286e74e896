//! Shows who did what, as it happens: one paragraph per event; of a comment that is edited repeatedly, only what is new
//! in it. A file gets the same with the full texts.

use crate::{
    cli::{
        local_repository::own_file,
        stage::{
            Stage, at_work, excerpt,
            excerpt::{Change, Edited, Room},
            picture::{Picture, Progress},
            terminal::{Terminal, Tone},
        },
    },
    config::RepositorySettings,
    engine::Engine,
    messages::{clean, without_commands},
    store::Scope,
};
use domain::{
    cost::Spending,
    ids::{FeatureKey, RepoId},
};
use forge::{EventOutcome, FeedEvent};
use sandbox::Sandbox;
use std::{
    collections::{HashMap, HashSet},
    fs::File,
    io::Write,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    sync::{broadcast, broadcast::error::RecvError, watch},
    time::MissedTickBehavior,
};
use tokio_util::sync::CancellationToken;

/// The start of the lines below an event: its address, and what was said.
const MARGIN: &str = "                               ";
const GUTTER: &str = "                               │ ";

/// The most uncommitted changes that are named.
const MOST_CHANGES: usize = 8;

/// The indentation of the text in a line that begins with the time.
const AFTER_TIME: &str = "           ";

/// The time between two drawings of the picture.
const BEAT: Duration = Duration::from_millis(125);

/// The number of drawings after which the bars are updated.
const BEATS_OF_BARS: usize = 8;

/// If nothing can be redrawn: the seconds after which running work is reported in a line, and the seconds between
/// further lines.
const FIRST_TOLD: i64 = 10;
const TOLD_EVERY: i64 = 30;

/// `true` if a line of a transcript belongs to what somebody said.
pub fn is_quoted(line: &str) -> bool {
    line.starts_with(GUTTER.trim_end())
}

/// Splits a line of a transcript into the text before it, the text before its further rows, and its own text.
pub fn parts(line: &str) -> (&str, &str, &str) {
    let lead = [GUTTER, MARGIN, AFTER_TIME]
        .into_iter()
        .find(|lead| line.starts_with(lead));
    match lead.and_then(|lead| Some((lead, line.strip_prefix(lead)?))) {
        Some((lead, text)) => (lead, lead, text),
        None => ("", AFTER_TIME, line),
    }
}

pub struct Transcript {
    file: File,
    /// `None` if the transcript is only written to the file.
    terminal: Option<Terminal>,
    /// The full name of the repository whose events are shown.
    repository: String,
    repo: RepoId,
    feature: Option<(FeatureKey, Option<Progress>)>,
    engine: Arc<Engine>,
    json: bool,
    verbose: bool,
    beats: usize,
    told: HashMap<i64, i64>,
    started: Instant,
    last: u64,
    addresses: HashSet<String>,
    edited: HashMap<String, Edited>,
    hidden: usize,
    /// `true` if the readers have pages to comment on. Commands and the note about hidden edits make sense only there.
    has_comments: bool,
    seen: watch::Sender<u64>,
}

impl Transcript {
    /// Opens a transcript of a repository's events, which is appended to a file.
    pub fn open(stage: &Stage, repository: &str, file: &Path) -> anyhow::Result<Self> {
        let file = own_file().create(true).append(true).open(file)?;
        Ok(Self {
            file,
            terminal: None,
            repository: repository.to_owned(),
            repo: RepoId(stage.forge.repo_id(repository)?),
            feature: None,
            engine: stage.engine.clone(),
            json: false,
            verbose: false,
            beats: 0,
            told: HashMap::new(),
            started: Instant::now(),
            last: 0,
            addresses: HashSet::new(),
            edited: HashMap::new(),
            hidden: 0,
            has_comments: true,
            seen: watch::Sender::new(0),
        })
    }

    /// Leaves out the commands that people could comment, and the note about hidden edits.
    pub fn without_commands(self) -> Self {
        Self {
            has_comments: false,
            ..self
        }
    }

    /// Shows the transcript on a terminal too.
    pub fn shown_on(self, terminal: &Terminal, json: bool, verbose: bool) -> Self {
        Self {
            terminal: Some(terminal.clone()),
            json,
            verbose,
            ..self
        }
    }

    /// Shows the level of isolation, and the address at which the run can be watched.
    pub fn opening(&mut self, sandbox: &Sandbox, dashboard: &str) {
        if self.json {
            return;
        }
        let level = sandbox.level();
        let isolated = format!("Agents and tests run isolated, at level {level}: {}.", level.means());
        self.line(&isolated, Tone::Quiet);
        if !sandbox.missing().is_empty() {
            self.line(&format!("For more isolation: {}", sandbox.missing()), Tone::Quiet);
        }
        // The address gives access to everything of this run. It is for the person who started it, not for a file that
        // stays.
        if let Some(terminal) = &self.terminal {
            terminal.exact(&format!("Watch it while it runs: {dashboard}"));
        }
    }

    /// Names the uncommitted changes that the import leaves out.
    pub fn left_out(&mut self, changes: &[String]) {
        if self.json || changes.is_empty() {
            return;
        }
        let named = changes.get(..MOST_CHANGES).unwrap_or(changes).join(", ");
        let more = match changes.len().saturating_sub(MOST_CHANGES) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let line = format!("The work starts from your last commit. Not included: {named}{more}");
        self.line(&clean(&line).replace('\n', " "), Tone::Loud);
    }

    /// Returns a receiver of the number of the last event that was shown.
    pub fn seen(&self) -> watch::Receiver<u64> {
        self.seen.subscribe()
    }

    /// Shows every event, including earlier ones, until `closing` is cancelled.
    pub async fn follow(
        mut self,
        mut news: broadcast::Receiver<FeedEvent>,
        before: Vec<FeedEvent>,
        closing: CancellationToken,
    ) {
        before.iter().for_each(|event| self.show(event));
        let mut beat = tokio::time::interval(BEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            let event = tokio::select! {
                biased;
                event = news.recv() => event,
                () = closing.cancelled() => return self.end(),
                _ = beat.tick() => {
                    self.beat().await;
                    continue;
                }
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

    /// Ends the transcript with the number of hidden edits.
    fn end(mut self) {
        if let Some(terminal) = &self.terminal {
            terminal.clear();
        }
        if self.hidden > 0 && !self.json && self.has_comments {
            let edits = match self.hidden {
                1 => "1 edit that said nothing new is left out; --verbose shows it".to_owned(),
                edits => format!("{edits} edits that said nothing new are left out; --verbose shows them"),
            };
            self.line(&format!("\n({edits})"), Tone::Quiet);
        }
    }

    /// Shows the current work: as a picture, or else now and then in a line.
    async fn beat(&mut self) {
        let Some(terminal) = self.terminal.clone() else { return };
        let (works, now) = (self.engine.running.at_work(), self.engine.now());
        if terminal.moves() {
            if self.beats.is_multiple_of(BEATS_OF_BARS) {
                // If the progress cannot be read now, the last one is drawn.
                self.feature = self.progress().await.unwrap_or(self.feature);
            }
            let picture = Picture {
                works: &works,
                feature: self.feature.map(|(key, _)| key),
                progress: self.feature.and_then(|(_, progress)| progress),
                now,
                beat: self.beats,
            };
            terminal.draw(|columns| picture.lines(columns));
            self.beats = self.beats.wrapping_add(1);
            return;
        }
        if self.json {
            return;
        }
        self.told
            .retain(|since, _| works.iter().any(|work| work.since.0 == *since));
        for work in works {
            let seconds = at_work::seconds(&work, now);
            let last = self.told.get(&work.since.0);
            let next = last.map_or(FIRST_TOLD, |last| last + TOLD_EVERY);
            if seconds >= next {
                self.told.insert(work.since.0, seconds);
                self.timed(&at_work::plain(&work, now), Tone::Quiet);
            }
        }
    }

    /// Returns the repository's unfinished Feature and its progress.
    async fn progress(&self) -> anyhow::Result<Option<(FeatureKey, Option<Progress>)>> {
        let store = &self.engine.store;
        let Some(row) = store.unfinished(Scope::Repo(self.repo)).await?.pop() else {
            return Ok(None);
        };
        let Some(feature) = self.engine.feature(&row.key).await? else {
            return Ok(None);
        };
        let settings: RepositorySettings = serde_json::from_value(feature.settings.clone()).unwrap_or_default();
        let spending = Spending {
            by_task: store.costs(&row.key).await?,
            ..Spending::default()
        };
        let limit = settings.budget.of_feature().usd_micros;
        Ok(Some((row.key, Progress::of(&feature, &spending.in_all(), limit))))
    }

    fn show(&mut self, event: &FeedEvent) {
        if event.seq <= self.last {
            return;
        }
        self.last = event.seq;
        if event.repository == self.repository {
            self.print_event(event);
        }
        self.seen.send_replace(event.seq);
    }

    fn print_event(&mut self, event: &FeedEvent) {
        if self.json {
            let line = serde_json::to_string(event).unwrap_or_default();
            self.line(&line, Tone::Plain);
            return;
        }
        let mut event = event.clone();
        if !self.has_comments && speech(&event) {
            event.text = without_commands(&event.text);
            if excerpt::whole(&event.text).is_empty() {
                return;
            }
        }
        let event = &event;
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

    /// Shows what is new in an edited comment.
    fn change(&mut self, change: &Change) {
        if change.state.is_none() && change.rows.is_empty() && change.notes.is_empty() {
            self.hidden += 1;
        }
        if let Some(state) = &change.state {
            let state = state.strip_prefix("State: ").unwrap_or(state);
            let lead = format!("{:6.1}s  ── ", self.seconds());
            self.line("", Tone::Plain);
            let tone = state_tone(state).unwrap_or(Tone::Loud);
            self.behind(&lead, AFTER_TIME, &format!("{state} ──"), tone);
        }
        for row in &change.rows {
            let tone = state_tone(&row.now).unwrap_or(Tone::Quiet);
            self.timed(&format!("{}: {}", row.name, row.now), tone);
        }
        for note in &change.notes {
            self.timed(note, Tone::Plain);
        }
    }

    /// Shows one event: who did what where, the address if it is new, and the start of what was said; the file gets all
    /// of it.
    fn whole(&mut self, event: &FeedEvent) {
        let lead = format!("{:6.1}s  ", self.seconds());
        let is_new = (self.verbose || addressed(event)) && self.addresses.insert(event.url.clone());
        let address = is_new.then_some(event.url.as_str());
        let all = full_quote(event);
        let shown = if self.verbose {
            all.clone()
        } else {
            shown_at_once(event)
        };
        if let Some(terminal) = &self.terminal {
            for row in paragraph(event, &lead, address, &shown) {
                terminal.line(row.lead, row.gutter, &row.text, row.tone);
            }
        }
        for row in paragraph(event, &lead, address, &all) {
            self.keep(row.lead, &row.text);
        }
    }

    fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    fn line(&mut self, text: &str, tone: Tone) {
        self.behind("", "", text, tone);
    }

    /// Writes a line with the time.
    fn timed(&mut self, text: &str, tone: Tone) {
        let lead = format!("{:6.1}s   · ", self.seconds());
        self.behind(&lead, AFTER_TIME, text, tone);
    }

    /// Writes to the terminal, wrapped to its width, and to the file.
    fn behind(&mut self, lead: &str, gutter: &str, text: &str, tone: Tone) {
        if let Some(terminal) = &self.terminal {
            terminal.line(lead, gutter, text, tone);
        }
        self.keep(lead, text);
    }

    /// Writes to the file only.
    fn keep(&mut self, lead: &str, text: &str) {
        let _ = writeln!(self.file, "{}", format!("{lead}{text}").trim_end());
    }
}

struct Row<'a> {
    lead: &'a str,
    gutter: &'static str,
    text: String,
    tone: Tone,
}

/// Returns the rows for an event: who did what where, the address, and what was said.
fn paragraph<'a>(event: &FeedEvent, lead: &'a str, address: Option<&str>, said: &[String]) -> Vec<Row<'a>> {
    let on = if event.kind == "check_run" { " on" } else { "" };
    let number = event.number.map(|number| format!("{on} #{number}")).unwrap_or_default();
    let head = format!("{:<20} {}{number}", event.actor, event.what);
    let (head, below) = match said {
        [only] if !speech(event) => (format!("{head}: {only}"), &[][..]),
        lines => (head, lines),
    };
    let row = |lead, gutter, text, tone| Row {
        lead,
        gutter,
        text,
        tone,
    };
    let address = address.map(|address| row(MARGIN, MARGIN, address.to_owned(), Tone::Quiet));
    let below = below.iter().map(|line| row(GUTTER, GUTTER, line.clone(), Tone::Plain));
    std::iter::once(row(lead, MARGIN, head, tone(event.outcome)))
        .chain(address)
        .chain(below)
        .collect()
}

/// Returns the part of what was said that is shown at once; more of it if the event sends work back.
fn shown_at_once(event: &FeedEvent) -> Vec<String> {
    let room = match event.outcome {
        EventOutcome::Bad => Room::SCREEN,
        EventOutcome::Neutral | EventOutcome::Good => Room::START,
    };
    let mut said = excerpt::start(&event.text, room);
    said.extend(excerpt::remarks(&event.remarks));
    said
}

fn full_quote(event: &FeedEvent) -> Vec<String> {
    let mut said = excerpt::whole(&event.text);
    said.extend(excerpt::whole_remarks(&event.remarks));
    said
}

/// The beginnings of state texts that mean something good or bad, as messages write them.
const TELLING: [(&str, Tone); 4] = [
    ("blocked", Tone::Bad),
    ("failed", Tone::Bad),
    ("completed", Tone::Good),
    ("in review", Tone::Good),
];

/// Returns a state's tone by its first words; `None` if it is neither good nor bad.
fn state_tone(state: &str) -> Option<Tone> {
    let telling = TELLING.iter().find(|(words, _)| state.starts_with(words));
    telling.map(|(_, tone)| *tone)
}

fn tone(outcome: EventOutcome) -> Tone {
    match outcome {
        EventOutcome::Neutral => Tone::Plain,
        EventOutcome::Good => Tone::Good,
        EventOutcome::Bad => Tone::Bad,
    }
}

/// `true` if somebody said something in this event, rather than only being named in it.
fn speech(event: &FeedEvent) -> bool {
    event.kind.starts_with("comment.") || event.kind.starts_with("review.")
}

/// `true` if the event's address leads to a conversation, not to a commit, a check or a branch.
fn addressed(event: &FeedEvent) -> bool {
    !matches!(event.kind.as_str(), "push" | "check_run" | "branch.deleted")
}

#[cfg(test)]
mod tests {
    use super::{Tone, full_quote, paragraph, shown_at_once, state_tone};
    use forge::{EventOutcome, FeedEvent, LineRemark};

    fn review(text: &str) -> FeedEvent {
        FeedEvent {
            seq: 1,
            at: serde_json::from_str("\"2026-01-01T00:00:00Z\"").unwrap(),
            actor: "coach".to_owned(),
            kind: "review.submitted".to_owned(),
            what: "requested changes on".to_owned(),
            repository: "acme/shop".to_owned(),
            number: Some(2),
            url: "http://f/2".to_owned(),
            text: text.to_owned(),
            outcome: EventOutcome::Bad,
            remarks: vec![LineRemark {
                path: "hello.txt".to_owned(),
                line: Some(1),
                text: "**must_fix** [correctness] it greets nobody".to_owned(),
            }],
        }
    }

    #[test]
    fn a_review_that_sends_work_back_says_why() {
        let event = review(
            "### Changes requested\n\n1\n\n2\n\n3\n\n4\n\n5\n\n- [test] tests failed\n\n<details>\n<summary>Gates</summary>\n\n| a | b |\n\n</details>",
        );
        let shown = shown_at_once(&event);
        assert!(shown.contains(&"- [test] tests failed".to_owned()), "{shown:?}");
        let remark = "- hello.txt, line 1: must_fix [correctness] it greets nobody";
        assert_eq!(shown.last().unwrap(), remark);
        let kept = full_quote(&event).join("\n");
        assert!(
            kept.contains("▸ Gates\n| a | b |") && kept.contains("it greets nobody"),
            "{kept}"
        );
        let rows = paragraph(&event, "0.1s ", Some("http://f/2"), &shown);
        let texts: Vec<&str> = rows.iter().take(3).map(|row| row.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "coach                requested changes on #2",
                "http://f/2",
                "Changes requested"
            ]
        );
        assert_eq!(rows[0].tone, Tone::Bad);
    }

    #[test]
    fn a_state_that_means_something_has_a_colour() {
        assert_eq!(state_tone("blocked. It needs a person to go on."), Some(Tone::Bad));
        assert_eq!(state_tone("blocked"), Some(Tone::Bad));
        assert_eq!(state_tone("in review. #7 waits"), Some(Tone::Good));
        assert_eq!(state_tone("checks run, turn 1 of 2"), None);
    }
}
