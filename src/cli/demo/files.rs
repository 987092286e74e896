//! The files of a demo: keeps or deletes them, and lists them for people.

use crate::cli::{
    demo::sample::Material,
    stage::{
        Stage,
        settled::{SettledOutcome, SettledReport},
        terminal::{Terminal, Tone},
    },
};
use page_parts::session::with_key;
use std::{
    fs::Permissions,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

pub(super) struct DemoFiles {
    folder: PathBuf,
    repository: PathBuf,
    page: String,
    dashboard: String,
    pub transcript: PathBuf,
    /// The person's own repository, if that was imported.
    own: Option<PathBuf>,
    /// The first work of the agents, as `autobuild trace` names it; `None` if no agent worked.
    pub traced: Option<String>,
    pub fate: FileFate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileFate {
    /// The files remain after the demo.
    Kept,
    /// The files are deleted when the demo ends.
    DeletedAtEnd,
    /// The files are deleted when the demo ends, since there is no work yet.
    NothingYet,
}

/// Makes a folder that only its owner can read; it is deleted when the value is dropped.
pub(super) fn private_folder() -> std::io::Result<TempDir> {
    tempfile::Builder::new().prefix("autobuild-demo-").permissions(Permissions::from_mode(0o700)).tempdir()
}

/// Removes checkouts, mirrors and caches, or all files.
pub(super) fn tidy(files: &DemoFiles) {
    match files.fate {
        FileFate::Kept => {
            git::delete(&files.folder.join("data"));
            let _ = std::fs::remove_file(files.folder.join("agents.yml"));
        }
        FileFate::DeletedAtEnd | FileFate::NothingYet => git::delete(&files.folder),
    }
}

impl DemoFiles {
    pub(super) fn new(folder: PathBuf, stage: &Stage, repository: &str, material: &Material) -> anyhow::Result<Self> {
        Ok(Self {
            repository: stage.forge.repository_dir(repository)?,
            page: with_key(&format!("{}/{repository}", stage.forge.url()), &stage.key),
            dashboard: stage.dashboard.clone(),
            transcript: folder.join("transcript.txt"),
            own: material.repository.clone(),
            traced: None,
            fate: FileFate::Kept,
            folder,
        })
    }

    pub(super) fn announce_pages(&self, terminal: &Terminal) {
        terminal.exact("");
        terminal.line("", "", "Open these pages; Ctrl-C ends them:", Tone::Plain);
        terminal.exact(&format!("  dashboard   {}", self.dashboard));
        terminal.exact(&format!("  repository  {}", self.page));
        if self.fate == FileFate::Kept {
            let act = "There you can comment, approve, merge and commit by hand. AutoBuild goes on from what you do.";
            terminal.line("", "", act, Tone::Quiet);
        }
    }

    /// Prints how the demo ended, why, and where the remaining files are.
    pub(super) fn print(&self, ended: &SettledReport, terminal: &Terminal, json: bool) {
        if json {
            terminal.exact(&self.json(ended).to_string());
            return;
        }
        ended.print(terminal);
        let gone = match self.fate {
            FileFate::DeletedAtEnd => "Nothing of the sample is kept once the demo ends; --once keeps it.",
            FileFate::NothingYet => "Nothing is kept, since there is no work yet.",
            FileFate::Kept => {
                terminal.exact(&format!("\n  repository  {}", self.repository.display()));
                terminal.exact(&format!("  transcript  {}", self.transcript.display()));
                if let Some(trace) = self.trace() {
                    terminal.exact(&format!("  agents      {trace}"));
                }
                return self.print_fetches(ended, terminal);
            }
        };
        terminal.exact("");
        terminal.line("", "", gone, Tone::Quiet);
    }

    /// Prints once more, at the end, how to fetch the work.
    pub(super) fn remind(&self, ended: &SettledReport, terminal: &Terminal, json: bool) {
        if !json && self.fate == FileFate::Kept {
            self.print_fetches(ended, terminal);
        }
    }

    fn print_fetches(&self, ended: &SettledReport, terminal: &Terminal) {
        let commands = self.fetches(ended);
        if commands.is_empty() {
            return;
        }
        let what = match ended.how {
            SettledOutcome::Well => "the result",
            SettledOutcome::Otherwise | SettledOutcome::Interrupted => "the work so far",
        };
        let how = format!("To fetch {what} into your repository, as FETCH_HEAD:");
        terminal.exact("");
        terminal.line("", "", &how, Tone::Plain);
        commands.iter().for_each(|command| terminal.exact(&format!("  {command}")));
    }

    /// Returns, for each branch, the command that fetches it into the imported repository.
    fn fetches(&self, ended: &SettledReport) -> Vec<String> {
        let Some(own) = &self.own else { return Vec::new() };
        let quoted = |path: &Path| shell_words::quote(&path.to_string_lossy()).into_owned();
        let (own, from) = (quoted(own), quoted(&self.repository));
        let fetch = |branch: &String| format!("git -C {own} fetch {from} {}", shell_words::quote(branch));
        ended.branches.iter().map(fetch).collect()
    }

    /// Returns the command that shows the agents' actions.
    fn trace(&self) -> Option<String> {
        let folder = self.folder.to_string_lossy();
        let folder = shell_words::quote(&folder);
        let traced = self.traced.as_ref()?;
        Some(format!("autobuild trace {traced} --data-dir {folder}"))
    }

    fn json(&self, ended: &SettledReport) -> serde_json::Value {
        let sentence = match ended.how {
            SettledOutcome::Well | SettledOutcome::Otherwise => ended.sentence.as_str(),
            SettledOutcome::Interrupted => "interrupted",
        };
        let kept = self.fate == FileFate::Kept;
        serde_json::json!({
            "ended": sentence,
            "ok": ended.how == SettledOutcome::Well,
            "why": ended.details,
            "repository": kept.then_some(&self.repository),
            "transcript": kept.then_some(&self.transcript),
            "trace": kept.then(|| self.trace()).flatten(),
            "fetch": self.fetches(ended),
        })
    }
}
