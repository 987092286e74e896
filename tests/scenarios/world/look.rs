//! Reads the things that people see on the forge.

use super::{REPO, World};
use serde_json::Value;

impl World {
    /// Returns the answer of GitHub's API for a path below the repository.
    pub async fn get(&self, path: &str) -> Value {
        self.forge.look(REPO, path).await.unwrap()
    }

    /// Returns the list that GitHub's API answers for a path below the repository.
    pub async fn list(&self, path: &str) -> Vec<Value> {
        self.get(path).await.as_array().expect("a list").clone()
    }

    /// The comments of an issue or pull request as (author, text).
    pub async fn comments(&self, number: u64) -> Vec<(String, String)> {
        let all = self.list(&format!("issues/{number}/comments")).await;
        all.iter().map(|one| (text(&one["user"]["login"]), text(&one["body"]))).collect()
    }

    /// The comments that a bot made, joined.
    pub async fn answers(&self, number: u64) -> String {
        let all = self.comments(number).await;
        let ours = all.into_iter().filter(|(author, _)| author.ends_with("[bot]"));
        ours.map(|(_, body)| body).collect::<Vec<_>>().join("\n----\n")
    }

    /// The last comment of a bot.
    pub async fn last_answer(&self, number: u64) -> String {
        let all = self.comments(number).await;
        let ours = all.into_iter().rfind(|(author, _)| author.ends_with("[bot]"));
        ours.map(|(_, body)| body).unwrap_or_default()
    }

    /// The comment that shows plan and progress of the story's issue.
    pub async fn living(&self) -> String {
        let all = self.comments(super::ISSUE).await;
        let living = all.into_iter().find(|(_, body)| body.contains("/living -->"));
        living.map(|(_, body)| body).unwrap_or_default()
    }

    /// The reactions to a comment.
    pub async fn reactions(&self, comment: u64) -> Vec<String> {
        let all = self.list(&format!("issues/comments/{comment}/reactions")).await;
        all.iter().map(|one| text(&one["content"])).collect()
    }

    /// The reactions to an issue or a pull request.
    pub async fn issue_reactions(&self, number: u64) -> Vec<String> {
        let all = self.list(&format!("issues/{number}/reactions")).await;
        all.iter().map(|one| text(&one["content"])).collect()
    }

    /// The reviews of a pull request as (author, state, text).
    pub async fn reviews(&self, number: u64) -> Vec<(String, String, String)> {
        let all = self.list(&format!("pulls/{number}/reviews")).await;
        all.iter().map(|one| (text(&one["user"]["login"]), text(&one["state"]), text(&one["body"]))).collect()
    }

    /// The states of a pull request's reviews.
    pub async fn review_states(&self, number: u64) -> Vec<String> {
        self.reviews(number).await.into_iter().map(|(_, state, _)| state).collect()
    }

    /// A pull request.
    pub async fn pull_json(&self, number: u64) -> Value {
        self.get(&format!("pulls/{number}")).await
    }

    /// The conclusions of `AutoBuild` on a commit.
    pub async fn checks(&self, sha: &str) -> Vec<String> {
        let all = self.get(&format!("commits/{sha}/check-runs")).await;
        let runs = all["check_runs"].as_array().cloned().unwrap_or_default();
        runs.iter().map(|run| format!("{} {}", text(&run["name"]), text(&run["conclusion"]))).collect()
    }

    /// A file on a branch of the forge's repository.
    pub fn file(&self, revision: &str, path: &str) -> Option<String> {
        let shown = self.git(&["show", &format!("{revision}:{path}")]);
        shown.status.success().then(|| String::from_utf8(shown.stdout).unwrap())
    }

    /// Returns the output of git in the forge's repository; fails the story if git fails.
    pub fn git_says(&self, arguments: &[&str]) -> String {
        let done = self.git(arguments);
        assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    }

    fn git(&self, arguments: &[&str]) -> std::process::Output {
        let dir = self.engine_repository();
        std::process::Command::new("git").arg("--git-dir").arg(dir).args(arguments).output().unwrap()
    }

    /// Returns the forge's bare repository under its current name.
    fn engine_repository(&self) -> std::path::PathBuf {
        let folder = self.folder.path().join("forge/repositories");
        let named = self.forge.repository_dir(REPO);
        named.unwrap_or(folder)
    }
}

/// Returns a JSON text, or an empty one.
pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
