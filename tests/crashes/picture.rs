//! Everything that people can see in the end, without the parts that differ between runs (ids, names of commits,
//! times), and the number of paid agent runs.

use crate::{beside::REPO, world::World};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fmt::Write,
    hash::{DefaultHasher, Hash, Hasher},
};

/// The detail of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Everything.
    Texts,
    /// Only the facts, without texts: another version may have different texts.
    Facts,
}

/// Takes a picture of the world with this detail.
struct Camera<'w> {
    world: &'w World,
    detail: Detail,
}

/// Takes the picture with its texts.
pub async fn take(world: &World) -> String {
    take_with(world, Detail::Texts).await
}

/// Takes the picture.
pub async fn take_with(world: &World, detail: Detail) -> String {
    let mut picture = String::new();
    let camera = Camera { world, detail };
    let issues = look(world, "issues?state=all&direction=asc&sort=created").await;
    let mut issues: Vec<Value> = issues.as_array().unwrap().clone();
    issues.sort_by_key(|issue| issue["number"].as_u64());
    for issue in &issues {
        camera.conversation(issue, &mut picture).await;
    }
    camera.branches(&mut picture);
    happened(world, &mut picture);
    for (role, runs) in finished_runs(world).await {
        writeln!(picture, "{runs} runs of the {role} were paid and kept").unwrap();
    }
    picture
}

/// Counts, by role, the runs that ended with a result that was kept.
async fn finished_runs(world: &World) -> Vec<(String, i64)> {
    let mut database = world.open_database().await.unwrap();
    let sql = "SELECT role, count(*) FROM run WHERE state = 'ended' AND coalesce(failure, '') <> 'result_lost' \
               GROUP BY role ORDER BY role";
    database.rows(sql).await.unwrap()
}

async fn look(world: &World, path: &str) -> Value {
    world.forge.look(REPO, path).await.unwrap()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().unwrap().iter()
}

fn login(value: &Value) -> &str {
    value["user"]["login"].as_str().unwrap_or("?")
}

impl Camera<'_> {
    fn text(&self, value: &Value) -> String {
        self.steady(value.as_str().unwrap_or_default()).replace('\n', "\n    ")
    }

    /// Returns the stable form of a text, or nothing if texts are left out.
    fn steady(&self, text: &str) -> String {
        match self.detail {
            Detail::Texts => steady(text),
            Detail::Facts => String::new(),
        }
    }

    async fn conversation(&self, issue: &Value, picture: &mut String) {
        let number = issue["number"].as_u64().unwrap();
        let labels: Vec<&str> = list(&issue["labels"]).filter_map(|label| label["name"].as_str()).collect();
        let (title, state) = (self.text(&issue["title"]), &issue["state"]);
        writeln!(picture, "#{number} {title} {state} {labels:?} by {}", login(issue)).unwrap();
        writeln!(picture, "    {}", self.text(&issue["body"])).unwrap();
        for comment in list(&look(self.world, &format!("issues/{number}/comments")).await) {
            writeln!(picture, "  {} said: {}", login(comment), self.text(&comment["body"])).unwrap();
            let id = comment["id"].as_u64().unwrap();
            for reaction in list(&look(self.world, &format!("issues/comments/{id}/reactions")).await) {
                writeln!(picture, "    {} reacted {}", login(reaction), reaction["content"]).unwrap();
            }
        }
        for reaction in list(&look(self.world, &format!("issues/{number}/reactions")).await) {
            writeln!(picture, "  {} reacted {}", login(reaction), reaction["content"]).unwrap();
        }
        if issue.get("pull_request").is_some() {
            self.pull(number, picture).await;
        }
    }

    async fn pull(&self, number: u64, picture: &mut String) {
        let pull = look(self.world, &format!("pulls/{number}")).await;
        let (draft, merged) = (&pull["draft"], &pull["merged"]);
        let (head, base) = (&pull["head"]["ref"], &pull["base"]["ref"]);
        writeln!(picture, "  {head} into {base}, draft {draft}, merged {merged}").unwrap();
        for review in list(&look(self.world, &format!("pulls/{number}/reviews")).await) {
            let body = self.text(&review["body"]);
            writeln!(picture, "  {} reviewed {}: {body}", login(review), review["state"]).unwrap();
        }
        for remark in list(&look(self.world, &format!("pulls/{number}/comments")).await) {
            let (path, line, body) = (&remark["path"], &remark["line"], self.text(&remark["body"]));
            writeln!(picture, "  {} on {path}:{line}: {body}", login(remark)).unwrap();
        }
        for commit in list(&look(self.world, &format!("pulls/{number}/commits")).await) {
            let sha = commit["sha"].as_str().unwrap();
            writeln!(picture, "  commit {}", self.text(&commit["commit"]["message"])).unwrap();
            for run in list(&look(self.world, &format!("commits/{sha}/check-runs")).await["check_runs"]) {
                let output = &run["output"];
                let (title, summary) = (self.text(&output["title"]), self.text(&output["summary"]));
                let (name, conclusion) = (&run["name"], &run["conclusion"]);
                writeln!(picture, "    check {name} {conclusion}: {title}\n    {summary}").unwrap();
                writeln!(picture, "    {} annotations", output["annotations_count"]).unwrap();
            }
        }
    }

    /// Describes every branch and every commit on a branch: its files, its parents' files, its message.
    fn branches(&self, picture: &mut String) {
        let mut blobs = BTreeMap::new();
        for branch in git(self.world, &["for-each-ref", "--format=%(refname) %(tree)", "refs/heads"]).lines() {
            let (name, tree) = branch.split_once(' ').unwrap();
            writeln!(picture, "{name}").unwrap();
            for file in self.files(tree, &mut blobs) {
                writeln!(picture, "  {file}").unwrap();
            }
        }
        let log = git(self.world, &["log", "--branches", "--format=%H %T %P%x01%an%x01%B%x00"]);
        let commits: Vec<(&str, &str)> =
            log.split('\0').filter_map(|entry| entry.trim_start().split_once('\u{1}')).collect();
        let mut trees = BTreeMap::new();
        for (names, _) in &commits {
            let mut names = names.split(' ');
            let (commit, tree) = (names.next().unwrap(), names.next().unwrap());
            let mut hasher = DefaultHasher::new();
            self.files(tree, &mut blobs).hash(&mut hasher);
            trees.insert(commit, format!("{:x}", hasher.finish()));
        }
        let mut shown: Vec<String> = commits
            .iter()
            .map(|(names, rest)| {
                let mut names = names.split(' ');
                let tree = names.next().and_then(|commit| trees.get(commit));
                let parents: Vec<_> = names.skip(1).filter_map(|parent| trees.get(parent)).collect();
                format!("files {tree:?} on {parents:?} {}", self.steady(rest))
            })
            .collect();
        shown.sort();
        shown.iter().for_each(|commit| writeln!(picture, "{commit}").unwrap());
    }

    /// Returns the files of a tree with their texts.
    fn files(&self, tree: &str, blobs: &mut BTreeMap<String, String>) -> Vec<String> {
        let folder = self.world.folder.path().display().to_string();
        git(self.world, &["ls-tree", "-r", tree])
            .lines()
            .map(|line| {
                let (entry, path) = line.split_once('\t').unwrap();
                let (mode, blob) = entry.split_once(" blob ").unwrap();
                let text = blobs
                    .entry(blob.to_owned())
                    .or_insert_with(|| self.steady(&git(self.world, &["cat-file", "blob", blob])));
                let text = text.replace(&folder, "…");
                format!("{mode} {path}: {}", text.replace('\n', "\n    "))
            })
            .collect()
    }
}

fn git(world: &World, arguments: &[&str]) -> String {
    let output = std::process::Command::new("git")
        .arg("--git-dir")
        .arg(world.forge.repository_dir(REPO).unwrap())
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Counts the events by kind. Edits are left out, since their number depends on timing.
fn happened(world: &World, picture: &mut String) {
    let mut counts = BTreeMap::new();
    for event in world.forge.events() {
        if !event.what.contains("edited") {
            let number = event.number.map(|number| format!("#{number}")).unwrap_or_default();
            *counts.entry(format!("{} {} {number}", event.actor, event.what)).or_insert(0) += 1;
        }
    }
    for (what, count) in counts {
        writeln!(picture, "{count} × {what}").unwrap();
    }
}

/// Returns a text without ids, names of commits and times: replaces times, four or more digits, and seven or more
/// hexadecimal digits.
fn steady(text: &str) -> String {
    let mut steady = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some(after) = rest.get(INSTANT.len()..).filter(|_| starts_with_instant(rest)) {
            steady.push('…');
            rest = after;
            continue;
        }
        let word: &str = rest.find(|c: char| !c.is_ascii_alphanumeric()).map_or(rest, |end| &rest[..end]);
        if word.is_empty() {
            steady.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        // A run that a kill interrupted also counts in the cost, so the number of runs may differ.
        let after = &rest[word.len()..];
        let counted = after.strip_prefix(" runs)").or_else(|| after.strip_prefix(" run)"));
        if let Some(after) = counted.filter(|_| word.bytes().all(|byte| byte.is_ascii_digit())) {
            steady.push_str("… runs)");
            rest = after;
            continue;
        }
        let number = word.len() >= 4 && word.bytes().all(|byte| byte.is_ascii_digit());
        let commit = word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        steady.push_str(if number || commit { "…" } else { word });
        rest = &rest[word.len()..];
    }
    steady
}

const INSTANT: &str = "0000-00-00T00:00:00Z";

fn starts_with_instant(text: &str) -> bool {
    let fits = |(found, wanted): (u8, u8)| match wanted {
        b'0' => found.is_ascii_digit(),
        other => found == other,
    };
    text.len() >= INSTANT.len() && text.bytes().zip(INSTANT.bytes()).all(fits)
}
