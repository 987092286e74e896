//! `autobuild demo`: the whole service against the local forge, with everything that happens shown.

mod at_work;
mod excerpt;
mod human;
mod places;
mod rest;
mod sample;
mod stage;
mod terminal;
mod traces;
mod transcript;
mod wrap;

use crate::{
    cli::{
        assemble::agents_secrets,
        demo::{
            human::Human,
            places::{Staying, tidy},
            rest::{Ended, Rest},
            sample::Material,
            stage::Stage,
            terminal::{Terminal, Tone},
            transcript::Transcript,
        },
        models,
        serve::start_log,
    },
    config::LogFormat,
};
use clap::Args;
use domain::secret::Secrets;
use git::InstalledGit;
use std::{path::PathBuf, process::ExitCode};
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
    task::JoinHandle,
};

/// What `demo` takes.
#[derive(Debug, Args)]
#[command(
    after_help = "With no arguments: a sample repository, issue, agents and human.\n\nExamples:\n  \
autobuild demo\n  autobuild demo --repo . --issue idea.md --agent 'command:./my-agent' --approve --once"
)]
pub(super) struct Demo {
    /// A git repository to import. It is never written to.
    #[arg(long, value_name = "PATH")]
    repo: Option<PathBuf>,
    /// A Markdown file: its first `# ` line is the issue's title, the rest its body.
    #[arg(long, value_name = "FILE")]
    issue: Option<PathBuf>,
    /// The agent of all roles: claude, codex, acp:<command>, command:<command> or scripted:<file>.
    #[arg(long, value_name = "BACKEND")]
    agent: Option<String>,
    /// Lets the agent use your own log-in and settings of its program, instead of a key that it never sees.
    #[arg(long)]
    use_my_login: bool,
    /// Approves a plan that waits.
    #[arg(long)]
    approve: bool,
    /// Ends when the Feature rests: exit code 0 if it is in review or completed, else 1.
    #[arg(long)]
    once: bool,
    /// Prints the transcript as JSON lines.
    #[arg(long)]
    json: bool,
    /// The forge's port; the system chooses one if none is given.
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// Shows the log and whole texts.
    #[arg(long)]
    verbose: bool,
}

/// The keys that the environment may hold, which the log never shows.
const KEYS: [&str; 4] = [
    "ANTHROPIC_API_KEY",
    "OPENAI_API_KEY",
    "AUTOBUILD_ANTHROPIC_API_KEY",
    "AUTOBUILD_OPENAI_API_KEY",
];

pub(super) async fn demo(demo: Demo) -> ExitCode {
    match InstalledGit::look().await {
        Ok(git) => {
            if let Some(warning) = git.warning() {
                eprintln!("autobuild demo: {warning}");
            }
        }
        Err(unusable) => {
            eprintln!("autobuild demo: {unusable}");
            return ExitCode::FAILURE;
        }
    }
    let secrets = Secrets::new(&agents_secrets(&KEYS.map(str::to_owned)));
    let filter = if demo.verbose { "info" } else { "error" };
    let terminal = Terminal::open(demo.json);
    let below = terminal.clone();
    start_log(filter, LogFormat::Text, secrets.clone(), move |part| below.log(part));
    match run(&demo, &terminal, &secrets).await {
        Ok(code) => code,
        Err(error) => {
            terminal.moving("");
            eprintln!("autobuild demo: {}", secrets.mask(&format!("{error:#}")));
            ExitCode::FAILURE
        }
    }
}

async fn run(demo: &Demo, terminal: &Terminal, secrets: &Secrets) -> anyhow::Result<ExitCode> {
    let mut material = Material::gather(demo.repo.as_deref(), demo.issue.as_deref(), demo.agent.as_deref())?;
    material.access = models::access(demo.use_my_login)?;
    let stage = Stage::build(&material, demo.port, secrets).await?;
    let mut transcript = Transcript::open(&stage, terminal, demo.json, demo.verbose)?;
    transcript.isolation(&stage.engine.sandbox);
    transcript.left_out(&material.left_out().await);
    if !demo.json {
        let watch = format!("What happens can be watched at {} as well.", stage.dashboard());
        terminal.line("", "", &watch, Tone::Quiet);
    }
    let seen = transcript.seen();
    let shown = tokio::spawn(transcript.follow(stage.forge.subscribe(), stage.forge.events(), stage.closing()));
    let mut human = Human::new(material.has_story(), demo.approve);
    stage.open_issue(&material)?;
    let mut stop = Stop::listen()?;
    let rest = tokio::select! {
        rest = until_rest(&stage, &mut human) => rest?,
        () = stop.told() => Rest::Interrupted,
    };
    let ended = rest.report(&stage).await?;
    finish(
        demo,
        terminal,
        stage,
        (ended, material.has_story()),
        (seen, shown),
        &mut stop,
    )
    .await
}

/// Says how it ended, serves the pages while somebody may look at them, and leaves what stays.
async fn finish(
    demo: &Demo,
    terminal: &Terminal,
    stage: Stage,
    (ended, has_story): (Ended, bool),
    (mut seen, shown): (watch::Receiver<u64>, JoinHandle<()>),
    stop: &mut Stop,
) -> anyhow::Result<ExitCode> {
    // The sample is nobody's work; only who asked for its end wants to look at what it left.
    let staying = match (demo.once, has_story) {
        (false, true) => Staying::Until,
        _ => Staying::Kept,
    };
    let places = stage.places(staying)?;
    let serves = !demo.once && ended.may_go_on();
    if serves {
        // What happened is shown before what came of it.
        let last = stage.forge.events().last().map_or(0, |event| event.seq);
        let _ = seen.wait_for(|shown| *shown >= last).await;
        terminal.moving("");
        ended.print(&places, terminal, demo.json);
        if !demo.json {
            stage.announce_pages(terminal);
        }
        stop.told().await;
    }
    let (did, file) = (traces::gather(&stage).await?, stage.transcript_file());
    let folder = stage.close().await?;
    shown.await?;
    if !demo.json {
        traces::tell(&file, &ended.lines(), &did, demo.verbose)?;
    }
    if !serves {
        ended.print(&places, terminal, demo.json);
        if !demo.json && staying == Staying::Kept {
            let gone = "The pages are gone with this process; what was said on them stands in the transcript.";
            terminal.line("", "", gone, Tone::Quiet);
        }
    }
    tidy(&folder, staying);
    Ok(ended.code())
}

/// What tells the demo to end: Ctrl-C, a supervisor, and the terminal that is closed.
struct Stop {
    interrupt: Signal,
    terminate: Signal,
    /// None where whoever started the demo wants it to outlive the terminal, as `nohup` does.
    hangup: Option<Signal>,
}

impl Stop {
    fn listen() -> std::io::Result<Self> {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let hangup = match ignores_hangup(&status) {
            true => None,
            false => Some(signal(SignalKind::hangup())?),
        };
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup,
        })
    }

    async fn told(&mut self) {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => drop(hangup.recv().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            () = hangup => {}
        }
    }
}

/// Whether the process was started to ignore SIGHUP, by what the kernel says of it.
fn ignores_hangup(status: &str) -> bool {
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & 1 == 1))
}

/// Lets the service work and the human speak, in turn, until neither has anything to do.
async fn until_rest(stage: &Stage, human: &mut Human) -> anyhow::Result<Rest> {
    loop {
        let rest = Rest::wait(stage).await?;
        if !human.speaks(stage, &rest).await? {
            return Ok(rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ignores_hangup;

    #[test]
    fn a_hangup_that_is_ignored_stays_ignored() {
        let status = |mask: &str| format!("Name:\tx\nSigBlk:\t0000000000000001\nSigIgn:\t{mask}\n");
        assert!(ignores_hangup(&status("0000000000001001")));
        assert!(!ignores_hangup(&status("0000000000001000")));
        assert!(!ignores_hangup(""));
    }
}
