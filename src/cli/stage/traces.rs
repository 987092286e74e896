//! Appends the end of the work and the agents' runs to the transcript. They are shortened for people; `autobuild trace`
//! shows everything.

use crate::cli::{
    local_repository::own_file,
    stage::Stage,
    trace::{readable, task_name},
};
use domain::ids::RepoId;
use std::io::Write;

/// The most events of one run that are shown.
const MOST_EVENTS: usize = 30;

/// Returns the runs of every task of a repository, oldest first.
pub async fn gather(stage: &Stage, repo: RepoId) -> anyhow::Result<Vec<String>> {
    let store = &stage.engine.store;
    let mut features: Vec<_> = store.traced().await?.into_iter().map(|(feature, _)| feature).collect();
    features.retain(|feature| feature.repo == repo);
    features.sort_unstable();
    features.dedup();
    let mut lines = Vec::new();
    for feature in features {
        for run in store.runs_of(&feature, None).await? {
            let events = store.run_events(&run.id).await?.unwrap_or_default();
            let shown = readable(&run, &events, MOST_EVENTS);
            lines.extend(shown.iter().map(|line| stage.engine.secrets.mask(line)));
            lines.push(String::new());
        }
    }
    Ok(lines)
}

/// Returns the first work of a repository's agents, as `autobuild trace` names it: a task if there is one, else the
/// plan.
pub async fn first_work(stage: &Stage, repo: RepoId) -> anyhow::Result<Option<String>> {
    let all = stage.engine.store.traced().await?.into_iter();
    let tasks = all.filter(|(feature, _)| feature.repo == repo).map(|(_, task)| task);
    let first = tasks.min_by_key(|task| (task.is_none(), *task));
    Ok(first.map(task_name))
}

/// Appends the end of the work and the agents' runs to the transcript's file; with `verbose`, also prints the runs.
pub fn append(stage_file: &std::path::Path, ended: &[String], lines: &[String], verbose: bool) -> std::io::Result<()> {
    let mut file = own_file().append(true).open(stage_file)?;
    writeln!(file, "\n{}", ended.join("\n"))?;
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(file, "\nWhat the agents did:\n")?;
    for line in lines {
        writeln!(file, "{line}")?;
        if verbose {
            // If the terminal is closed, the file remains.
            let _ = writeln!(std::io::stdout(), "{line}");
        }
    }
    Ok(())
}
