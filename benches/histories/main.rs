//! Judges real commits of real projects, as if a Player had done exactly what the maintainers merged. Run with
//! `.ci/thorough histories`; it prints Markdown.
//!
//! A table names the projects, one per line: the folder of the clone, then settings. These are `commits=10`,
//! `from=HEAD`, `minutes=10` for one command, and `settings=FILE` for repository settings in a file beside the table.
//! `type=feature` sets the type of all its commits, `play=COMMIT:TYPE,COMMIT` names exactly the commits to play. The
//! type of other commits is guessed from the sides that they change. Empty lines and lines that begin with `#` are
//! skipped.
//!
//! `--reading` applies only the integrity rules and runs nothing. `--running` does everything of a turn except the
//! agents: pre-flight on the parent, then all Gates on the commit. The Coach approves, and answers questions from the
//! commit's message.

#![allow(missing_docs, reason = "a program of its own")]

mod clone;
mod fair;
mod pick;
mod plain;
mod project;
mod reading;
mod repository;
mod results;
mod running;
mod summary;
mod task_type;

use project::Project;
use results::{Results, Verdict};
use running::Running;
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

/// A result. An error ends the run; the next run continues from there.
type Outcome<T> = Result<T, String>;

const USAGE: &str = "usage: histories --reading | --running FOLDER TABLE [RESULTS]

FOLDER   holds the clones
TABLE    names a clone in each line, and its settings: commits=10 from=HEAD minutes=10 settings=FILE
RESULTS  what was picked and judged, to go on from (TABLE.results); RESULTS.work holds what running keeps";

/// The way to judge commits.
enum Mode {
    Reading,
    Running(Box<Running>),
}

struct Arguments {
    is_running: bool,
    folder: PathBuf,
    table: PathBuf,
    results: PathBuf,
}

impl Arguments {
    /// Reads the arguments. Paths are relative to the folder where the script was called.
    fn read() -> Outcome<Self> {
        // Cargo adds `--bench`.
        let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
        let (modes, paths): (Vec<&String>, Vec<&String>) = words.iter().partition(|word| word.starts_with("--"));
        let from = std::env::var_os("AUTOBUILD_FROM").map(PathBuf::from).unwrap_or_default();
        match (modes.as_slice(), paths.as_slice()) {
            ([mode], [folder, table, results @ ..])
                if ["--reading", "--running"].contains(&mode.as_str()) && results.len() <= 1 =>
            {
                Ok(Self {
                    is_running: *mode == "--running",
                    folder: from.join(folder),
                    table: from.join(table),
                    results: from.join(results.first().map_or(format!("{table}.results"), |path| (*path).clone())),
                })
            }
            _ => Err(USAGE.to_owned()),
        }
    }
}

fn main() -> ExitCode {
    // With `RUST_LOG=autobuild::gates=debug`, the log says what ran and for how long.
    let chosen = tracing_subscriber::EnvFilter::from_default_env();
    tracing_subscriber::fmt().with_env_filter(chosen).with_writer(std::io::stderr).init();
    match Arguments::read().and_then(|arguments| run(&arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Outcome<()> {
    let table = std::fs::read_to_string(&arguments.table)
        .map_err(|error| format!("the table {} cannot be read: {error}", arguments.table.display()))?;
    let projects = Project::all(&table)?;
    let mut results = Results::open(&arguments.results)?;
    let mode = if arguments.is_running {
        Mode::Running(Box::new(Running::new(arguments.results.with_added_extension("work"), &arguments.table)?))
    } else {
        Mode::Reading
    };
    let mut judged = Vec::new();
    for project in &projects {
        judged.push((project, judge(project, &mode, &arguments.folder, &mut results)?));
    }
    print!("{}", summary::markdown(&judged));
    Ok(())
}

/// Judges the picked commits of one project; earlier verdicts are reused.
fn judge(project: &Project, mode: &Mode, folder: &Path, results: &mut Results) -> Outcome<Vec<Verdict>> {
    let clone = clone::ProjectClone::open(&folder.join(&project.name))?;
    let picked = match results.picked(&project.name) {
        _ if !project.play.is_empty() => {
            project.play.iter().map(|(commit, _)| clone.full_hash(commit)).collect::<Outcome<_>>()?
        }
        Some(picked) if picked.len() >= project.commits => picked.to_vec(),
        Some(_) | None => {
            let picked = pick::pick(&clone, &project.from, project.commits)?;
            results.note_picked(&project.name, &picked)?;
            picked
        }
    };
    let mut verdicts = Vec::new();
    for commit in picked.iter().take(project.commits.max(project.play.len())) {
        let known = results.verdict(&project.name, commit);
        let verdict = match (known, mode) {
            (Some(verdict), Mode::Reading) => verdict.clone(),
            (Some(verdict), Mode::Running(_)) if verdict.played.is_some() => verdict.clone(),
            (_, mode) => {
                eprintln!("{} {commit}", project.name);
                let verdict = match mode {
                    Mode::Reading => reading::judge(project.kind_of(&clone, commit)?, &clone, commit)?,
                    Mode::Running(running) => running.judge(project, &clone, commit)?,
                };
                results.note_verdict(&project.name, &verdict)?;
                verdict
            }
        };
        verdicts.push(verdict);
    }
    Ok(verdicts)
}
