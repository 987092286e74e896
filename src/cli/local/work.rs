//! Works on orders: runs the service on the local forge until every order that can continue rests. The process that
//! holds the lock works for all terminals.

use crate::{
    agents::Access,
    cli::{
        effects,
        local::{
            orders::{BuildGoal, ON_FORGE, Order, Orders, PlanMode, numbered, without_folder},
            report::Report,
        },
        local_repository::{LocalRepository, own_file},
        stage::{
            FiledIssue, LABEL, Setup, Stage, StagePerson,
            human::{Human, HumanPart},
            settled::{SettledOutcome, SettledState},
            stop::Stop,
            terminal::{Terminal, Tone},
            traces,
            transcript::{Following, Transcript},
        },
    },
    config::{AgentCommand, RepositorySettings, SETTINGS_FILE},
    engine::{queue::Queue, repository_settings::TASK_LABEL},
    messages,
};
use anyhow::Context;
use domain::{
    feature::{Feature, State},
    ids::RepoId,
};
use forge::{RepoSource, Saving};
use git::{GiveOutcome, NameIs, bare::BareRepo};
use std::{
    collections::BTreeMap,
    io::{Read, Write},
    net::{Ipv4Addr, TcpListener},
    path::PathBuf,
    time::Duration,
};
use tempfile::NamedTempFile;
use text::secret::Secrets;

/// The time between two reads of orders and Features.
const LOOK: Duration = Duration::from_millis(200);

/// The most numbered branch names that are tried before giving up.
const MOST_NAMES: u32 = 100;

/// The most bytes of the file with the port that are read.
const LONGEST_PORT: u64 = 8;

/// The output that a person sees.
pub struct Screen {
    pub terminal: Terminal,
    pub json: bool,
    pub verbose: bool,
    /// `true` if events are not shown.
    pub quiet: bool,
}

/// The work for a person's command.
pub struct Job<'a> {
    pub repository: &'a LocalRepository,
    pub orders: &'a Orders,
    pub number: u64,
    pub agent: AgentCommand,
    /// The way in which the agent's program reaches a model.
    pub access: Access,
    pub secrets: &'a Secrets,
    pub screen: &'a Screen,
    /// The person's uncommitted files, if the Feature starts now.
    pub left_out: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkOutcome {
    Rests,
    /// The person ended the command.
    Interrupted,
}

impl Job<'_> {
    /// Works until every order rests. The caller holds the lock.
    pub async fn work(&self, stop: &mut Stop) -> anyhow::Result<WorkOutcome> {
        let mut stage = self.stage().await?;
        let mut players = BTreeMap::new();
        let worked = tokio::select! {
            worked = self.begin(&mut stage, &mut players) => worked,
            () = stop.requested() => Ok(WorkOutcome::Interrupted),
        };
        let interrupted = matches!(worked, Ok(WorkOutcome::Interrupted));
        if interrupted {
            self.screen.below("Stopping: agents that work are told to end.");
        }
        let mut did = Vec::new();
        for player in players.values_mut() {
            if interrupted {
                player.note_work(self, &stage).await?;
            }
            did.push((player.order.number, traces::gather(&stage, player.filed.repo).await?));
        }
        stage.close().await?;
        for player in players.into_values() {
            player.following.wait().await?;
        }
        for (number, lines) in did {
            let report = self.orders.report(number).await?;
            if report.rests || interrupted {
                let ended = if report.rests { report.sentence } else { "Interrupted.".to_owned() };
                traces::append(&self.orders.transcript(number), &[ended], &lines, false)?;
            }
        }
        worked
    }

    /// Makes the stage of this repository. Its service does not work yet.
    async fn stage(&self) -> anyhow::Result<Stage> {
        self.repository.make()?;
        let stage = Stage::build(Setup {
            person: StagePerson::Own(self.repository.own.person().await),
            folder: &self.repository.folder,
            data_dir: self.repository.cache.clone(),
            port: self.port(),
            saving: Saving::First,
            agent: self.agent.clone(),
            access: self.access.clone(),
            secrets: self.secrets,
        })
        .await?;
        self.keep_port(stage.forge.url());
        Ok(stage)
    }

    /// Takes the orders, starts the service, and works until every order rests.
    async fn begin(&self, stage: &mut Stage, players: &mut BTreeMap<u64, Player>) -> anyhow::Result<WorkOutcome> {
        // The service must know which agents it leaves to other processes before it starts to work.
        self.take_orders(stage, players).await?;
        stage.begin();
        self.until_rest(stage, players).await
    }

    async fn until_rest(&self, stage: &Stage, players: &mut BTreeMap<u64, Player>) -> anyhow::Result<WorkOutcome> {
        let mut is_reported = false;
        loop {
            self.take_orders(stage, players).await?;
            for player in players.values_mut().filter(|player| !player.rested()) {
                player.step(self, stage).await?;
            }
            let mine = players.get_mut(&self.number);
            if let Some(mine) = mine.filter(|mine| !is_reported && mine.rested()) {
                is_reported = true;
                mine.following.catch_up().await;
                self.screen.print(&mine.order, &mine.report);
            }
            let busy = players.values().filter(|player| !player.rested());
            let busy: Vec<String> = busy.map(|player| player.order.name()).collect();
            if busy.is_empty() {
                return Ok(WorkOutcome::Rests);
            }
            if is_reported {
                self.screen.below(&format!("works on {}; Ctrl-C leaves it", busy.join(", ")));
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Opens new orders on the forge, and passes changed orders on.
    async fn take_orders(&self, stage: &Stage, players: &mut BTreeMap<u64, Player>) -> anyhow::Result<()> {
        for order in self.orders.all().await? {
            let mine = order.number == self.number;
            let begun = stage.forge.repo_id(&stage.full_name(&order.on_forge()));
            // An order that names another agent waits for that agent, even if it was begun before.
            let is_ours = mine || order.agent == self.agent.to_string();
            if let Ok(repo) = begun {
                stage.engine.settings.others.set(RepoId(repo), !is_ours);
            }
            if !is_ours {
                if let Some(player) = players.remove(&order.number) {
                    player.following.abort();
                }
                continue;
            }
            if let Some(player) = players.get_mut(&order.number) {
                player.hear(stage, order);
                continue;
            }
            let report = self.orders.report(order.number).await?;
            if order.ended.is_some() || report.answers(&order) {
                continue;
            }
            let number = order.number;
            if !mine {
                let name = order.name();
                self.screen.note(&format!("{name} ({}) goes on here too.", order.title));
            }
            players.insert(number, Player::enter(self, stage, order, report).await?);
        }
        Ok(())
    }

    /// Reports the state of a Feature that continues, and its waits, since nothing may happen for a while.
    async fn report_status(&self, stage: &Stage, filed: &FiledIssue) -> anyhow::Result<()> {
        let Some(feature) = stage.latest(filed).await?.filter(Feature::is_unfinished) else {
            return Ok(());
        };
        let (name, state) = (feature.key.name(), messages::feature_state(&feature));
        self.screen.note(&format!("{name} goes on; its state: {state}."));
        let queue = Queue::of(&stage.engine.store, stage.engine.now()).await?;
        let own = queue.steps.iter().filter(|step| step.effect.feature == Some(feature.key));
        for step in own.filter(|step| step.effect.run_at > stage.engine.now()) {
            let (what, why) = (messages::step(&step.effect.kind), effects::reason(step));
            let until = effects::until(step).unwrap_or_default();
            self.screen.note(&format!("It waits until {until}: {what}. {why}"));
        }
        Ok(())
    }

    /// Returns the port of the last run if it is free, so that addresses in older texts still work; else 0.
    fn port(&self) -> u16 {
        let mut text = String::new();
        // If the port cannot be read, any other will do.
        let file = own_file().read(true).open(self.repository.folder.join("port"));
        let _ = file.and_then(|file| file.take(LONGEST_PORT).read_to_string(&mut text));
        let port = text.trim().parse().unwrap_or(0);
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
        if free { port } else { 0 }
    }

    fn keep_port(&self, url: &str) {
        let port = url.rsplit(':').next().unwrap_or_default();
        let folder = &self.repository.folder;
        let kept = NamedTempFile::new_in(folder).and_then(|mut file| {
            file.write_all(port.as_bytes())?;
            file.persist(folder.join("port")).map_err(|error| error.error)
        });
        if let Err(error) = kept {
            tracing::warn!(%error, "the forge's port could not be kept");
        }
    }
}

impl Screen {
    pub fn print(&self, order: &Order, report: &Report) {
        self.terminal.clear();
        if self.quiet {
            return;
        }
        if self.json {
            self.terminal.exact(&report.json(order).to_string())
        } else {
            report.print(order, &self.terminal)
        }
    }

    /// Prints how to continue an interrupted order.
    pub fn print_interrupted(&self, order: &Order, report: &Report) {
        let name = order.name();
        match self.json {
            true => {
                let mut report = report.clone();
                report.sentence = format!("interrupted: `autobuild resume {name}` goes on");
                self.print(order, &report);
            }
            // A quiet command's output holds only its result.
            false if self.quiet => eprintln!("Interrupted: `autobuild resume {name}` goes on where it stopped."),
            false => {
                let how = format!("Interrupted. {name} goes on where it stopped, whenever you like.");
                self.terminal.exact("");
                self.terminal.line("", "", &how, Tone::Plain);
                report.print_commands(order, &self.terminal);
            }
        }
    }

    /// Prints a line for people.
    pub fn note(&self, text: &str) {
        if !self.json && !self.quiet {
            let text = messages::clean(text).replace('\n', " ");
            self.terminal.line("", "", &text, Tone::Quiet);
        }
    }

    /// Shows a note below everything else.
    pub fn below(&self, text: &str) {
        if !self.json {
            self.terminal.below(text);
        }
    }
}

struct Player {
    order: Order,
    report: Report,
    filed: FiledIssue,
    human: Human,
    following: Following,
}

impl Player {
    /// Opens an order on the forge, if it is not open yet, and shows its events from now on.
    async fn enter(job: &Job<'_>, stage: &Stage, order: Order, mut report: Report) -> anyhow::Result<Self> {
        let source = RepoSource::Commit(&job.repository.own.work_tree, &order.base.sha, ON_FORGE);
        let repository = stage.repository(&order.on_forge(), source).await?;
        let path = job.orders.transcript(order.number);
        let mut transcript = Transcript::open(stage, &repository, &path).await?;
        transcript.has_pages = false;
        let screen = job.screen;
        if order.number == job.number && !screen.quiet {
            transcript = transcript.shown_on(&screen.terminal, screen.json, screen.verbose);
            transcript.opening(&stage.engine.sandbox, &stage.dashboard);
            transcript.left_out(&job.left_out);
        }
        let repo = RepoId(stage.forge.repo_id(&repository)?);
        stage.hold(repo, &order.settings);
        let following = transcript.follow(stage.forge.subscribe(), Vec::new(), stage.closing.clone());
        let filed = file(stage, &repository, &order).await?;
        if order.number == job.number {
            job.report_status(stage, &filed).await?;
        }
        report.goes_on();
        Ok(Self { human: human(order.goal), order, report, filed, following })
    }

    /// `true` if the order rests.
    fn rested(&self) -> bool {
        self.report.answers(&self.order)
    }

    /// Takes over a changed order.
    fn hear(&mut self, stage: &Stage, order: Order) {
        if order.goal != self.order.goal {
            self.human = human(order.goal);
        }
        if order != self.order {
            stage.hold(self.filed.repo, &order.settings);
            self.report.goes_on();
            self.order = order;
        }
    }

    /// Does one step: passes a command on, acts in the person's place, or records that the Feature rests.
    async fn step(&mut self, job: &Job<'_>, stage: &Stage) -> anyhow::Result<()> {
        if let Some(saying) = self.order.commands.get(self.report.passed_on) {
            self.take_base(job, stage).await?;
            match stage.latest(&self.filed).await? {
                None => label(stage, &self.filed, &self.order).await?,
                Some(feature) => {
                    let pull = saying.task.and_then(|task| feature.task(task)?.pull);
                    let place = pull.map_or(self.filed.issue.0, |pull| pull.0);
                    let person = stage.forge.as_user(&stage.person)?;
                    person.comment(&self.filed.repository, place, &saying.text)?;
                }
            }
            self.report.passed_on += 1;
            return self.keep(job).await;
        }
        let rest = SettledState::now(stage, &self.filed).await?;
        let spoke = match &rest {
            None => true,
            Some(rest) => self.human.speaks(stage, &self.filed, rest).await?,
        };
        let before = self.report.clone();
        if let Some(feature) = stage.latest(&self.filed).await? {
            let costs = stage.engine.store.costs(&feature.key).await?;
            self.report.update(&feature, costs);
            self.report.plan = messages::plan_file(&feature);
        }
        if before != self.report {
            self.note_work(job, stage).await?;
        }
        if let Some(rest) = rest.filter(|_| !spoke) {
            self.rests(job, stage, &rest).await?;
        }
        if before != self.report {
            self.keep(job).await?;
        }
        Ok(())
    }

    /// Saves the location of the work so far, for a look after an interruption.
    async fn note_work(&mut self, job: &Job<'_>, stage: &Stage) -> anyhow::Result<()> {
        self.report.repository = Some(self.copy(stage)?.display().to_string());
        if let Some(feature) = stage.latest(&self.filed).await?.filter(|_| !self.report.rests) {
            self.report.unfinished = stage.branches(&self.filed, &feature)?;
        }
        self.keep(job).await
    }

    /// Moves the forge's default branch to the order's base, if the person committed since.
    async fn take_base(&self, job: &Job<'_>, stage: &Stage) -> anyhow::Result<()> {
        let (repository, base) = (&self.filed.repository, &self.order.base);
        let branch = stage.forge.default_branch(repository)?;
        if stage.forge.head(repository, &branch)?.as_deref() == Some(base.sha.as_str()) {
            return Ok(());
        }
        let work_tree = job.repository.own.work_tree.to_string_lossy();
        BareRepo::at(self.copy(stage)?).copy_commit(&work_tree, &base.sha).await?;
        let person = stage.forge.as_user(&stage.person)?;
        Ok(person.set_branch(repository, &branch, &base.sha).await?)
    }

    /// Records that nothing more happens by itself, and brings a finished result into the person's repository.
    async fn rests(&mut self, job: &Job<'_>, stage: &Stage, rest: &SettledState) -> anyhow::Result<()> {
        let name = self.order.name();
        let approving = format!("`autobuild feature {name}` builds it");
        let ended = rest.report(stage, &self.filed, &approving).await?;
        self.report.repository = Some(self.copy(stage)?.display().to_string());
        (self.report.sentence, self.report.why) = (ended.sentence, ended.details);
        (self.report.ok, self.report.unfinished) = (ended.how == SettledOutcome::Well, ended.branches);
        if let SettledState::At(feature) = rest {
            if matches!(feature.state, State::InReview | State::Completed) {
                self.give(job, stage, feature).await?;
            } else if matches!(feature.state, State::AwaitingApproval) && self.order.goal == BuildGoal::Plan {
                self.report.ok = true;
                self.report.sentence = format!("{name} is planned: {}", self.report.tasks_in_words());
            }
        }
        (self.report.rests, self.report.goal) = (true, Some(self.order.goal));
        Ok(())
    }

    /// Leaves the result as a branch. If somebody moved that branch, it stays, and another name is used.
    async fn give(&mut self, job: &Job<'_>, stage: &Stage, feature: &Feature) -> anyhow::Result<()> {
        let (own, forge) = (&job.repository.own, &stage.forge);
        let integration = feature.integration_branch();
        let head = forge.head(&self.filed.repository, &integration)?;
        let head = head.with_context(|| format!("the forge has lost {integration}"))?;
        let from = self.copy(stage)?;
        own.copy(&from, &head).await?;
        let ours = self.report.branch.clone().zip(self.report.head.clone());
        // A clashing branch may have been made since the order.
        let wanted = match own.name(&self.order.branch).await? {
            NameIs::Below(_) => without_folder(&self.order.branch),
            NameIs::Free | NameIs::Taken => self.order.branch.clone(),
        };
        let names = (1..=MOST_NAMES).map(|number| (numbered(&wanted, number), None));
        let first = ours.map(|(name, head)| (name, Some(head)));
        let mut given = None;
        for (name, was) in first.into_iter().chain(names) {
            match own.give(&name, &head, was.as_deref()).await? {
                GiveOutcome::Done => {
                    given = Some(name);
                    break;
                }
                GiveOutcome::Taken => {}
                GiveOutcome::Refused(why) => anyhow::bail!(
                    "git cannot make the branch {name}: {why}; the result is in {}, as {integration}",
                    from.display()
                ),
            }
        }
        let branch = given.with_context(|| format!("every name like {wanted} is taken"))?;
        let tasks = self.report.approved();
        self.report.sentence = format!("{}: {tasks}, the result is on the branch {branch}", self.order.name());
        (self.report.branch, self.report.head, self.report.unfinished) = (Some(branch), Some(head), Vec::new());
        Ok(())
    }

    fn copy(&self, stage: &Stage) -> anyhow::Result<PathBuf> {
        Ok(stage.forge.repository_dir(&self.filed.repository)?)
    }

    async fn keep(&self, job: &Job<'_>) -> anyhow::Result<()> {
        job.orders.replace_report(self.order.number, &self.report).await
    }
}

fn human(goal: BuildGoal) -> Human {
    Human::new(match goal {
        BuildGoal::Plan => HumanPart::Silent,
        BuildGoal::Build => HumanPart::ApprovesPlan,
        BuildGoal::BuildAll => HumanPart::ApprovesAll,
    })
}

/// Returns the order's issue, filed and labelled if needed: an earlier process may have been killed halfway.
async fn file(stage: &Stage, repository: &str, order: &Order) -> anyhow::Result<FiledIssue> {
    let filed = match stage.forge.look(repository, &format!("issues/{}", order.number)).await {
        Ok(issue) => {
            let filed = stage.filed(repository, order.number)?;
            let labels = issue.get("labels").and_then(serde_json::Value::as_array);
            if labels.is_some_and(|labels| !labels.is_empty()) {
                return Ok(filed);
            }
            filed
        }
        Err(_) => {
            stage.forge.number_after(repository, order.number.saturating_sub(1))?;
            stage.file(repository, &order.title, &order.body)?
        }
    };
    label(stage, &filed, order).await?;
    Ok(filed)
}

/// Sets the label that the repository's settings name, even if the issue already has it.
async fn label(stage: &Stage, filed: &FiledIssue, order: &Order) -> anyhow::Result<()> {
    let bare = BareRepo::at(stage.forge.repository_dir(&filed.repository)?);
    let settings = bare.file(&order.base.sha, SETTINGS_FILE).await?.unwrap_or_default();
    let label = RepositorySettings::label_in(&String::from_utf8_lossy(&settings));
    let label = match order.kind {
        PlanMode::Planned => label.unwrap_or_else(|| LABEL.to_owned()),
        PlanMode::OneTask => TASK_LABEL.to_owned(),
    };
    let person = stage.forge.as_user(&stage.person)?;
    // The label must be set anew even if the issue had it.
    let _ = person.unlabel(&filed.repository, filed.issue.0, &label);
    stage.label(filed, &label)
}
