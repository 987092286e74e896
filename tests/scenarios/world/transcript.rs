//! Describes the story as a text. The text for snapshots is the same in every run: addresses, shas, ids and times are
//! masked.

use super::{World, look::text};
use serde_json::Value;
use std::fmt::Write;

impl World {
    /// Returns everything that happened, one line each, for a story that failed.
    pub fn happenings(&self) -> String {
        let events = self.forge.events();
        let lines = events.iter().map(|event| {
            let number = event.number.map(|number| format!(" #{number}")).unwrap_or_default();
            let text: String = event.text.chars().take(4000).collect();
            let text = text.replace('\n', "\n    ");
            format!("{} {} {}{number}\n    {text}", event.actor, event.kind, event.what)
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Returns the texts that a person reads in the end, by thread.
    pub async fn transcript(&self) -> String {
        let mut told = String::new();
        let mut threads = self.list("issues?state=all").await;
        threads.sort_by_key(|thread| thread["number"].as_u64());
        for thread in &threads {
            self.thread(&mut told, thread).await;
        }
        let told = told.replace(self.forge.url(), "https://forge");
        told.lines().map(mask).collect::<Vec<_>>().join("\n")
    }

    async fn thread(&self, told: &mut String, thread: &Value) {
        let number = thread["number"].as_u64().unwrap();
        let (title, state) = (text(&thread["title"]), text(&thread["state"]));
        said(told, &format!("#{number} {title} ({state})"), &thread["body"]);
        for comment in self.list(&format!("issues/{number}/comments")).await {
            said(told, &format!("#{number} {} commented", text(&comment["user"]["login"])), &comment["body"]);
        }
        if thread["pull_request"].is_null() {
            return;
        }
        for review in self.list(&format!("pulls/{number}/reviews")).await {
            let head = format!("#{number} {} {}", text(&review["user"]["login"]), text(&review["state"]));
            said(told, &head, &review["body"]);
        }
        for remark in self.list(&format!("pulls/{number}/comments")).await {
            let place = format!("{}:{}", text(&remark["path"]), remark["line"]);
            said(told, &format!("#{number} {} on {place}", text(&remark["user"]["login"])), &remark["body"]);
        }
        let sha = text(&self.pull_json(number).await["head"]["sha"]);
        for check in self.checks(&sha).await {
            writeln!(told, "=== #{number} check {check}").unwrap();
        }
    }
}

fn said(told: &mut String, head: &str, body: &Value) {
    writeln!(told, "=== {head}\n{}\n", text(body)).unwrap();
}

/// Returns a line with every id, sha and time and the isolation level replaced.
fn mask(line: &str) -> String {
    if line.starts_with("created:") {
        return "created: TIME".to_owned();
    }
    // This depends on the machine, not on the story.
    if line.trim_start().starts_with("The Gates ran isolated") {
        return line.split("The Gates").next().unwrap_or_default().to_owned() + "The Gates ran isolated, at LEVEL.";
    }
    let mut masked = String::new();
    let mut word = String::new();
    for c in line.chars().chain(['\n']) {
        if c.is_ascii_alphanumeric() {
            word.push(c);
            continue;
        }
        masked.push_str(masked_word(&word));
        word.clear();
        masked.push(c);
    }
    masked.trim_end().to_owned()
}

/// Returns the replacement of a word: a long hexadecimal one is a sha, one of at least four digits an id.
fn masked_word(word: &str) -> &str {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let hexadecimal = word.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'));
    match () {
        () if hexadecimal && word.len() >= 7 => "SHA",
        () if digits == word.len() && digits >= 4 => "ID",
        () => word,
    }
}
