//! `autobuild demo`: runs the whole service against the local forge and shows everything that happens.

mod files;
mod sample;

use crate::{
    cli::{
        assemble::agents_secrets,
        demo::{
            files::{DemoFiles, FileFate, tidy},
            sample::Material,
        },
        local,
        log::{LogOutput, start_log},
        models, open,
        own_agent::KEYS,
        stage::{
            FiledIssue, LABEL, Setup, Stage,
            human::{Human, HumanPart},
            settled::{SettledOutcome, SettledReport, SettledState},
            stop::Stop,
            terminal::{Terminal, Tone},
            traces,
            transcript::{Following, Transcript},
        },
    },
    config::{KNOWN_AGENTS, LogFormat},
};
use clap::Args;
use domain::ids::RepoId;
use forge::Saving;
use page_parts::session::with_key;
use serde_json::Map;
use std::{path::PathBuf, process::ExitCode};
use text::secret::Secrets;

/// The arguments of `demo`.
#[derive(Debug, Args)]
#[command(after_help = "Without options it plays a sample: repository, issue, agents and a person.\n\nExamples:\n  \
autobuild demo\n  autobuild demo --repo . --issue idea.md --agent 'command:./my-agent' --approve --once")]
pub(super) struct Demo {
    /// A git repository to import. The demo never writes to it.
    #[arg(long, value_name = "PATH")]
    repo: Option<PathBuf>,
    /// A Markdown file: its first `# ` line is the issue's title, the rest its body.
    #[arg(long, value_name = "FILE")]
    issue: Option<PathBuf>,
    #[arg(long, value_name = "BACKEND", help = format!("The agent: {KNOWN_AGENTS}"))]
    agent: Option<String>,
    /// Lets the agent use your own log-in, instead of an API key that it never sees.
    #[arg(long)]
    use_my_login: bool,
    /// Approves a plan that waits, and goes on if many tests fail on the default branch.
    #[arg(long)]
    approve: bool,
    /// Ends when the Feature rests: exit code 0 if it is in review or completed, else 1.
    #[arg(long)]
    once: bool,
    /// Prints the transcript as JSON lines.
    #[arg(long)]
    json: bool,
    /// Opens the dashboard in your browser.
    #[arg(long)]
    open: bool,
    /// The forge's port; the system chooses one if none is given.
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// Shows the log, and texts in full.
    #[arg(long)]
    verbose: bool,
}

pub(super) async fn demo(demo: Demo) -> ExitCode {
    let secrets = Secrets::new(&agents_secrets(&KEYS.map(str::to_owned)));
    let filter = if demo.verbose { "info" } else { "error" };
    let terminal = Terminal::open(demo.json);
    let below = terminal.clone();
    start_log(filter, LogFormat::Text, LogOutput::StandardError, secrets.clone(), move |part| below.log(part));
    let code = run(&demo, &terminal, &secrets).await.unwrap_or_else(|error| {
        terminal.clear();
        eprintln!("autobuild demo: {}", secrets.mask(&format!("{error:#}")));
        ExitCode::FAILURE
    });
    local::session::written("demo").unwrap_or(code)
}

async fn run(demo: &Demo, terminal: &Terminal, secrets: &Secrets) -> anyhow::Result<ExitCode> {
    local::session::look_for_git("demo").await?;
    let mut material = Material::gather(demo.repo.as_deref(), demo.issue.as_deref(), demo.agent.as_deref())?;
    material.can_be_imported().await?;
    material.access = models::access(demo.use_my_login, material.agent.as_ref())?;
    let folder = files::private_folder()?;
    let mut stage = Stage::build(Setup {
        person: material.person().await,
        folder: folder.path(),
        data_dir: folder.path().join("data"),
        port: demo.port,
        saving: Saving::Soon,
        agent: material.agent(folder.path())?,
        access: material.access.clone(),
        secrets,
    })
    .await?;
    stage.begin();
    let repository = stage.repository(&material.name(), material.source()).await?;
    stage.hold(RepoId(stage.forge.repo_id(&repository)?), &Map::new());
    // From here on, the end of the demo decides which files remain.
    let mut files = DemoFiles::new(folder.keep(), &stage, &repository, &material)?;
    let transcript = Transcript::open(&stage, &repository, &files.transcript).await?;
    let mut transcript = transcript.shown_on(terminal, demo.json, demo.verbose);
    transcript.opening(&stage.engine.sandbox, &stage.dashboard);
    let _leading = demo.open.then(|| open::open(&stage.dashboard));
    transcript.left_out(&material.left_out().await);
    let following = transcript.follow(stage.forge.subscribe(), stage.forge.events(), stage.closing.clone());
    let mut human = Human::new(part(demo, &material));
    let filed = stage.file(&repository, &material.title, &material.body)?;
    stage.label(&filed, LABEL)?;
    let mut stop = Stop::listen()?;
    let rest = tokio::select! {
        rest = until_rest(&stage, &filed, &mut human) => rest?,
        () = stop.requested() => interrupted(terminal),
    };
    let ended = rest.report(&stage, &filed, &approving(demo, &stage, &filed)).await?;
    files.fate = fate(demo, &material, &ended);
    PlayedDemo { demo, terminal, stage, filed, files, ended }.finish(following, &mut stop).await
}

/// Returns the fate of the demo's files. The sample is only an example, so its files remain only with `--once`, for a
/// look afterwards.
fn fate(demo: &Demo, material: &Material, ended: &SettledReport) -> FileFate {
    if material.has_story() && !demo.once {
        return FileFate::DeletedAtEnd;
    }
    match ended.how {
        SettledOutcome::Interrupted if ended.branches.is_empty() => FileFate::NothingYet,
        SettledOutcome::Well | SettledOutcome::Otherwise | SettledOutcome::Interrupted => FileFate::Kept,
    }
}

/// Describes how to approve a waiting plan. With `--once` nobody sees the pages.
fn approving(demo: &Demo, stage: &Stage, filed: &FiledIssue) -> String {
    if demo.once {
        return "start the demo with --approve".to_owned();
    }
    let page = format!("{}/{}/issues/{}", stage.forge.url(), filed.repository, filed.issue);
    let page = with_key(&page, &stage.key);
    format!("press \"Approve the plan\" at {page}, or start the demo with --approve")
}

/// Returns the scripted person's part: that of the sample's story, or of a person who watches.
fn part(demo: &Demo, material: &Material) -> HumanPart {
    match (material.has_story(), demo.approve) {
        (true, _) => HumanPart::Sample,
        (false, true) => HumanPart::ApprovesPlan,
        (false, false) => HumanPart::Silent,
    }
}

/// A demo whose issue rests.
struct PlayedDemo<'a> {
    demo: &'a Demo,
    terminal: &'a Terminal,
    stage: Stage,
    filed: FiledIssue,
    files: DemoFiles,
    ended: SettledReport,
}

impl PlayedDemo<'_> {
    /// Prints how the demo ended, serves the pages until the person stops it, and tidies up.
    async fn finish(mut self, following: Following, stop: &mut Stop) -> anyhow::Result<ExitCode> {
        let (demo, terminal) = (self.demo, self.terminal);
        self.files.traced = traces::first_work(&self.stage, self.filed.repo).await?;
        let serves = !demo.once && self.ended.may_go_on();
        // The events are shown before the result.
        following.catch_up().await;
        if serves {
            self.serve_pages(stop).await?;
        }
        let Self { stage, filed, files, ended, .. } = self;
        let did = traces::gather(&stage, filed.repo).await?;
        stage.close().await?;
        following.wait().await?;
        if !demo.json {
            traces::append(&files.transcript, &ended.lines(), &did, demo.verbose)?;
        }
        if !serves {
            files.print(&ended, terminal, demo.json);
            if !demo.json && files.fate == FileFate::Kept {
                let gone = "The pages are gone with this process; what was said on them stands in the transcript.";
                terminal.line("", "", gone, Tone::Quiet);
            }
        }
        tidy(&files);
        Ok(ended.code())
    }

    /// Serves the pages until the person stops it. They may continue the work there.
    async fn serve_pages(&mut self, stop: &mut Stop) -> anyhow::Result<()> {
        let (demo, terminal) = (self.demo, self.terminal);
        terminal.clear();
        self.files.print(&self.ended, terminal, demo.json);
        if !demo.json {
            self.files.announce_pages(terminal);
        }
        stop.requested().await;
        let Some(rest) = SettledState::now(&self.stage, &self.filed).await? else {
            return Ok(());
        };
        let now = rest.report(&self.stage, &self.filed, &approving(demo, &self.stage, &self.filed)).await?;
        self.files.traced = traces::first_work(&self.stage, self.filed.repo).await?;
        if now.how != self.ended.how {
            self.files.print(&now, terminal, demo.json)
        } else {
            self.files.remind(&now, terminal, demo.json)
        }
        self.ended = now;
        Ok(())
    }
}

fn interrupted(terminal: &Terminal) -> SettledState {
    terminal.below("Stopping: agents that work are told to end.");
    SettledState::Interrupted
}

/// Lets the service and the scripted person act in turn until neither has anything to do.
async fn until_rest(stage: &Stage, filed: &FiledIssue, human: &mut Human) -> anyhow::Result<SettledState> {
    loop {
        let rest = SettledState::wait(stage, filed).await?;
        if !human.speaks(stage, filed, &rest).await? {
            return Ok(rest);
        }
    }
}
