//! A person's folder with their own repository, and the program as they start it there.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs, reason = "a test that cannot go on has failed")]

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Output,
};
use tempfile::TempDir;
use tokio::process::Command;

pub const ISSUE: &str = "# Notes

```yaml
tasks:
  - id: TASK-001
    name: Write the notes
    type: documentation
    acceptance_criteria:
      - text: There are notes
        check: { file: notes.md }
    files: [notes.md]
    dependencies: []
```
";

pub const AGENTS: &str = "
- role: player
  write: { notes.md: \"# Notes\\n\" }
  answer: { summary: Notes, files_modified: [], files_created: [notes.md], ready_for_validation: true }
- role: coach
  answer: { decision: approve, summary: Fine, criteria: [{ criterion: 1, met: true, evidence: notes.md }] }
";

/// A person's folder: with a blank in its path, a repository with one commit, and uncommitted files.
pub struct Own {
    pub folder: TempDir,
    pub repository: PathBuf,
}

impl Own {
    pub async fn new(setup: Option<&str>) -> Self {
        let folder = support::folder::folder("own folder ");
        let repository = folder.path().join("a repository");
        fs::create_dir_all(repository.join(".github")).unwrap();
        fs::write(folder.path().join("issue.md"), ISSUE).unwrap();
        fs::write(folder.path().join("agents.yml"), AGENTS).unwrap();
        fs::create_dir(folder.path().join("tmp")).unwrap();
        fs::write(repository.join("README.md"), "# Mine\n").unwrap();
        if let Some(script) = setup {
            fs::write(repository.join("setup.sh"), script).unwrap();
            fs::set_permissions(repository.join("setup.sh"), fs::Permissions::from_mode(0o755)).unwrap();
            fs::write(repository.join(".github/autobuild.yml"), "setup: ./setup.sh\n").unwrap();
        }
        let own = Self { folder, repository };
        own.git("init -q -b main && git add -A && git -c user.name=me -c user.email=me@example.com commit -q -m Begin")
            .await;
        own
    }

    /// Makes the folder of AutoBuild's state as the person's own, before any command does.
    pub fn state(&self) -> PathBuf {
        let state = self.repository.join(".git/autobuild");
        let marks = self.folder.path().join(".local/share/autobuild/repositories");
        let mark = "0123456789abcdef0123456789abcdef";
        fs::create_dir_all(&state).unwrap();
        fs::create_dir_all(&marks).unwrap();
        fs::write(state.join("mark"), mark).unwrap();
        fs::write(marks.join(mark), "").unwrap();
        state
    }

    /// Sets the script of the agents.
    pub fn agents(&self, script: &str) {
        fs::write(self.folder.path().join("agents.yml"), script).unwrap();
    }

    /// Commits these settings.
    pub async fn commits_settings(&self, settings: &str) {
        fs::write(self.repository.join(".github/autobuild.yml"), settings).unwrap();
        self.git("add -A && git -c user.name=me -c user.email=me@example.com commit -q -m Settings").await;
    }

    /// Runs `git <rest>` as a person would type it.
    pub async fn git(&self, rest: &str) -> String {
        self.types(&format!("git {rest}")).await
    }

    /// Runs a line in a shell, in the repository.
    pub async fn types(&self, line: &str) -> String {
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(&self.repository);
        let output = shell.env("HOME", self.folder.path()).output().await.unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns `autobuild <command> ...` for a folder of the repository.
    pub fn autobuild(&self, below: &str, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_autobuild"));
        command.args(words).current_dir(self.repository.join(below));
        command
            .env("HOME", self.folder.path())
            .env_remove("XDG_CACHE_HOME")
            .env("TMPDIR", self.folder.path().join("tmp"))
            .kill_on_drop(true);
        command
    }

    /// Returns the name of the scripted agent.
    pub fn agent(&self) -> String {
        format!("scripted:{}", self.folder.path().join("agents.yml").display())
    }
}

pub fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}
