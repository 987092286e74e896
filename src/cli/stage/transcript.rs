//! Shows events as they happen: the acts on the forge, and the changes in each Feature. A file gets the same and, if
//! there are pages, also the texts posted on them, word for word.

use crate::{
    cli::{
        local_repository::own_file,
        stage::{
            Stage, at_work,
            news::{AFTER_TIME, GUTTER, MOST_ROWS, News, NewsEntry, Place, clipped},
            picture::{Picture, Progress},
            terminal::{Terminal, Tone},
        },
    },
    engine::Engine,
    messages,
    messages::clean,
    store::Scope,
};
use domain::ids::{FeatureKey, RepoId};
use forge::{EventOutcome, FeedEvent, LineRemark};
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
    sync::{broadcast, broadcast::error::RecvError, mpsc, oneshot},
    task::JoinHandle,
    time::MissedTickBehavior,
};
use tokio_util::sync::CancellationToken;

/// The start of the address below an event.
const MARGIN: &str = "                               ";
/// The most uncommitted changes that are named.
const MOST_CHANGES: usize = 8;

/// The time between two drawings of the picture.
const BEAT: Duration = Duration::from_millis(125);

/// The number of drawings after which the bars are updated.
const BEATS_OF_BARS: usize = 8;

/// If nothing can be redrawn: the seconds after which running work is reported in a line, and the seconds between
/// further lines.
const FIRST_TOLD: i64 = 10;
const TOLD_EVERY: i64 = 30;

/// The longest wait for a transcript that lags behind.
const LAG: Duration = Duration::from_secs(2);

/// A transcript that is being written.
pub struct Following {
    catch_up: mpsc::Sender<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Following {
    /// Waits until everything that happened so far is shown, or for a short time.
    pub async fn catch_up(&self) {
        let (done, is_done) = oneshot::channel();
        if self.catch_up.send(done).await.is_ok() {
            let _ = tokio::time::timeout(LAG, is_done).await;
        }
    }

    /// Waits until the transcript has ended.
    pub async fn wait(self) -> anyhow::Result<()> {
        Ok(self.task.await?)
    }

    /// Ends the transcript at once.
    pub fn abort(&self) {
        self.task.abort();
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
    shown_seconds: HashMap<i64, i64>,
    started: Instant,
    last: u64,
    addresses: HashSet<String>,
    news: HashMap<FeatureKey, News>,
    /// The number of the last reply that was shown.
    replied: i64,
    /// `true` if the readers have pages. Posted texts are kept only then.
    pub has_pages: bool,
}

impl Transcript {
    /// Opens a transcript of a repository's events, which is appended to a file. Earlier changes in the repository's
    /// Features are not shown.
    pub async fn open(stage: &Stage, repository: &str, file: &Path) -> anyhow::Result<Self> {
        let file = own_file().create(true).append(true).open(file)?;
        let mut transcript = Self {
            file,
            terminal: None,
            repository: repository.to_owned(),
            repo: RepoId(stage.forge.repo_id(repository)?),
            feature: None,
            engine: stage.engine.clone(),
            json: false,
            verbose: false,
            beats: 0,
            shown_seconds: HashMap::new(),
            started: Instant::now(),
            last: 0,
            addresses: HashSet::new(),
            news: HashMap::new(),
            replied: 0,
            has_pages: true,
        };
        transcript.take_news().await?;
        Ok(transcript)
    }

    /// Shows the transcript on a terminal too.
    pub fn shown_on(self, terminal: &Terminal, json: bool, verbose: bool) -> Self {
        Self { terminal: Some(terminal.clone()), json, verbose, ..self }
    }

    /// Shows the level of isolation, and the address at which the run can be watched.
    pub fn opening(&mut self, sandbox: &Sandbox, dashboard: &str) {
        if self.json {
            return;
        }
        let level = sandbox.level();
        let means = messages::isolation_level(level);
        let isolated = format!("Agents and tests run isolated, at level {level}: {means}.");
        self.line(&isolated, Tone::Quiet);
        if !sandbox.missing().is_empty() {
            let missing = messages::missing_isolation(sandbox.missing());
            self.line(&format!("For more isolation: {missing}"), Tone::Quiet);
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

    /// Shows every event, including earlier ones, until `closing` is cancelled.
    pub fn follow(
        self,
        news: broadcast::Receiver<FeedEvent>,
        before: Vec<FeedEvent>,
        closing: CancellationToken,
    ) -> Following {
        let (catch_up, asked) = mpsc::channel(1);
        let task = tokio::spawn(self.run(news, asked, before, closing));
        Following { catch_up, task }
    }

    async fn run(
        mut self,
        mut news: broadcast::Receiver<FeedEvent>,
        mut asked: mpsc::Receiver<oneshot::Sender<()>>,
        before: Vec<FeedEvent>,
        closing: CancellationToken,
    ) {
        before.iter().for_each(|event| self.show(event));
        let mut wakeups = self.engine.store.wakeups();
        let mut beat = tokio::time::interval(BEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            tokio::select! {
                biased;
                event = news.recv() => match event {
                    Ok(event) => self.show(&event),
                    Err(RecvError::Lagged(missed)) => {
                        self.line(&format!("({missed} events were too fast to be shown)"), Tone::Quiet)
                    }
                    Err(RecvError::Closed) => break,
                },
                () = closing.cancelled() => break,
                Some(done) = asked.recv() => {
                    self.look().await;
                    let _ = done.send(());
                }
                () = wakeups.next() => self.look().await,
                _ = beat.tick() => self.beat().await,
            }
        }
        if let Some(terminal) = &self.terminal {
            terminal.clear();
        }
    }

    /// Shows the changes in the repository's Features.
    async fn look(&mut self) {
        match self.take_news().await {
            Ok(entries) if !self.json => entries.iter().for_each(|entry| self.entry(entry)),
            Ok(_) => {}
            Err(error) => tracing::warn!(error = format!("{error:#}"), "what is new in the Features could not be read"),
        }
    }

    async fn take_news(&mut self) -> anyhow::Result<Vec<NewsEntry>> {
        let mut entries = Vec::new();
        for row in self.engine.store.features(Scope::Repo(self.repo)).await? {
            if let Some(view) = self.engine.feature_view(&row.key).await? {
                let news = self.news.entry(row.key).or_default();
                entries.extend(news.take(&view.feature, &view.spending));
            }
        }
        for (number, reply, feature) in self.engine.replies(self.repo, self.replied).await? {
            self.replied = number;
            let feature = match feature {
                Some(key) => self.engine.feature(&key).await?,
                None => None,
            };
            entries.extend(messages::reply_in_terminal(&reply, feature.as_ref()).map(|below| NewsEntry {
                place: Place::Row,
                text: "AutoBuild answers".to_owned(),
                tone: Tone::Bad,
                below,
            }));
        }
        Ok(entries)
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
        self.shown_seconds.retain(|since, _| works.iter().any(|work| work.since.0 == *since));
        for work in works {
            let seconds = at_work::seconds(&work, now);
            let last = self.shown_seconds.get(&work.since.0);
            let next = last.map_or(FIRST_TOLD, |last| last + TOLD_EVERY);
            if seconds >= next {
                self.shown_seconds.insert(work.since.0, seconds);
                let lead = self.lead("   · ");
                self.behind(&lead, AFTER_TIME, &at_work::plain(&work, now), Tone::Quiet);
            }
        }
    }

    /// Returns the repository's unfinished Feature and its progress.
    async fn progress(&self) -> anyhow::Result<Option<(FeatureKey, Option<Progress>)>> {
        let Some(row) = self.engine.store.unfinished(Scope::Repo(self.repo)).await?.pop() else {
            return Ok(None);
        };
        let view = self.engine.feature_view(&row.key).await?;
        Ok(view.map(|view| {
            let progress = Progress::of(&view.feature, &view.spending.total(), view.limit);
            (row.key, progress)
        }))
    }

    fn show(&mut self, event: &FeedEvent) {
        if event.seq <= self.last {
            return;
        }
        self.last = event.seq;
        if event.repository != self.repository {
            return;
        }
        if self.json {
            let line = serde_json::to_string(event).unwrap_or_default();
            self.line(&line, Tone::Plain);
        } else if event.kind != "comment.edited" || !is_ours(event) || self.verbose {
            self.event(event);
        }
    }

    /// Shows one event of the forge: the actor, the act and its place, the address if it is new, and the words of
    /// people. Words of the two Apps are left to the pages, since the changes in the Feature say the same.
    fn event(&mut self, event: &FeedEvent) {
        let lead = self.lead("  ");
        let is_conversation = !matches!(event.kind.as_str(), "push" | "check_run" | "branch.deleted");
        let is_new = (self.verbose || is_conversation) && self.addresses.insert(event.url.clone());
        let address = is_new.then_some(event.url.as_str());
        let words = words(event);
        let of_page = speech(event) && is_ours(event);
        let shown = match (of_page, self.verbose && self.has_pages) {
            (true, false) => Vec::new(),
            (_, true) => words.clone(),
            (false, false) => clipped(words.clone(), MOST_ROWS),
        };
        if let Some(terminal) = &self.terminal {
            for row in paragraph(event, &lead, address, &shown) {
                terminal.line(row.lead, row.gutter, &row.text, row.tone);
            }
        }
        let kept = if of_page && !self.has_pages { Vec::new() } else { words };
        for row in paragraph(event, &lead, address, &kept) {
            self.keep(row.lead, &row.text);
        }
    }

    /// Shows one piece of news; the file gets all of it.
    fn entry(&mut self, entry: &NewsEntry) {
        let entry = entry.masked(&self.engine.secrets);
        let lead = self.lead("  ");
        if let Some(terminal) = &self.terminal {
            entry.print(terminal, &lead, self.verbose);
        }
        for (lead, text) in entry.lines(&lead) {
            self.keep(&lead, &text);
        }
    }

    /// Returns the time since the start, before a line.
    fn lead(&self, after: &str) -> String {
        format!("{:6.1}s{after}", self.started.elapsed().as_secs_f64())
    }

    fn line(&mut self, text: &str, tone: Tone) {
        self.behind("", "", text, tone);
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

struct TranscriptRow<'a> {
    lead: &'a str,
    gutter: &'static str,
    text: String,
    tone: Tone,
}

/// Returns the rows for an event: the act, the address, and the words.
fn paragraph<'a>(event: &FeedEvent, lead: &'a str, address: Option<&str>, said: &[String]) -> Vec<TranscriptRow<'a>> {
    let on = if event.kind == "check_run" { " on" } else { "" };
    let number = event.number.map(|number| format!("{on} #{number}")).unwrap_or_default();
    let head = format!("{:<20} {}{number}", event.actor, event.what);
    let (head, below) = match said {
        [only] if !speech(event) => (format!("{head}: {only}"), &[][..]),
        lines => (head, lines),
    };
    let row = |lead, gutter, text, tone| TranscriptRow { lead, gutter, text, tone };
    let address = address.map(|address| row(MARGIN, MARGIN, address.to_owned(), Tone::Quiet));
    let below = below.iter().map(|line| row(GUTTER, GUTTER, line.clone(), Tone::Plain));
    std::iter::once(row(lead, MARGIN, head, tone(event.outcome))).chain(address).chain(below).collect()
}

/// Returns the words of an event, line by line, without characters that control a terminal.
fn words(event: &FeedEvent) -> Vec<String> {
    let text = clean(&event.text);
    let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let remark = |remark: &LineRemark| {
        let line = remark.line.map_or_else(String::new, |line| format!(", line {line}"));
        let said = clean(&format!("- {}{line}: {}", remark.path, remark.text));
        said.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    lines.map(str::to_owned).chain(event.remarks.iter().flat_map(remark)).collect()
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

/// `true` if an App did it; on the stage, both Apps are ours.
fn is_ours(event: &FeedEvent) -> bool {
    event.actor.ends_with("[bot]")
}

#[cfg(test)]
mod tests {
    use super::{Tone, paragraph, words};
    use forge::{EventOutcome, FeedEvent, LineRemark};

    #[test]
    fn a_review_of_a_person_says_why() {
        let event = FeedEvent {
            seq: 1,
            at: serde_json::from_str("\"2026-01-01T00:00:00Z\"").unwrap(),
            actor: "mona".to_owned(),
            kind: "review.submitted".to_owned(),
            what: "requested changes on".to_owned(),
            repository: "acme/shop".to_owned(),
            number: Some(2),
            url: "http://f/2".to_owned(),
            text: "It greets\u{1b}[2J\n\nnobody".to_owned(),
            outcome: EventOutcome::Bad,
            remarks: vec![LineRemark { path: "hello.txt".to_owned(), line: Some(1), text: "say a name".to_owned() }],
        };
        let rows = paragraph(&event, "0.1s ", Some("http://f/2"), &words(&event));
        let texts: Vec<&str> = rows.iter().map(|row| row.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "mona                 requested changes on #2",
                "http://f/2",
                "It greets",
                "nobody",
                "- hello.txt, line 1: say a name"
            ]
        );
        assert_eq!(rows[0].tone, Tone::Bad);
    }
}
