//! Writes a plan as YAML that every reader understands in the same way: free text is escaped and in double quotes, on
//! one line each.

use crate::{
    complexity,
    ids::TaskId,
    plan::{Check, Intent, Plan, PlannedTask, Risk},
    wave,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use text::words;

/// The keys of a plan's YAML that AutoBuild sets itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanHeader {
    /// The Feature's name for people, such as `FEAT-42`.
    pub id: String,
    /// The time at which the Feature began, as RFC 3339.
    pub created: String,
    pub status: PlanStatus,
    /// The state words of tasks; a task that is not in the map is `pending`.
    pub task_words: BTreeMap<TaskId, String>,
}

impl PlanHeader {
    /// Returns the header of a plan that has not begun.
    pub fn planned(id: impl Into<String>, created: impl Into<String>) -> Self {
        Self { id: id.into(), created: created.into(), status: PlanStatus::Planned, task_words: BTreeMap::new() }
    }

    /// Returns the state word of a task.
    pub fn task_word(&self, id: TaskId) -> &str {
        self.task_words.get(&id).map_or("pending", String::as_str)
    }
}

words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum PlanStatus {
        /// Not begun.
        Planned = "planned",
        /// Begun and not ended.
        InProgress = "in_progress",
        /// Merged.
        Completed = "completed",
        /// Cancelled, or without a valid plan.
        Failed = "failed",
    }
}

/// Returns the plan as YAML that parses back to the same plan.
pub fn plan_yaml(plan: &Plan, header: &PlanHeader) -> String {
    let mut lines = vec![
        format!("id: {}", word(&header.id)),
        format!("name: {}", quoted(&plan.name)),
        format!("description: {}", quoted(&plan.description)),
        format!("created: {}", quoted(&header.created)),
        format!("status: {}", header.status.word()),
        format!("complexity: {}", complexity::feature(plan)),
        format!("estimated_tasks: {}", plan.tasks.len()),
        "tasks:".to_owned(),
    ];
    for task in &plan.tasks {
        task_lines(task, header.task_word(task.id), &mut lines);
    }
    lines.extend(plan.smoke.as_ref().map(|command| format!("smoke: {}", quoted(command))));
    lines.push("orchestration:".to_owned());
    lines.push(format!("  parallel_groups: {}", groups_text(&wave::waves(plan).groups)));
    lines.push(String::new());
    lines.join("\n")
}

/// Returns the waves as a YAML list of lists.
pub fn groups_text(groups: &[Vec<TaskId>]) -> String {
    list(groups.iter().map(|group| list(group.iter().map(TaskId::to_string))))
}

fn task_lines(task: &PlannedTask, state: &str, lines: &mut Vec<String>) {
    lines.push(format!("  - id: {}", task.id));
    lines.push(format!("    name: {}", quoted(&task.name)));
    lines.push(format!("    type: {}", task.kind));
    lines.push(format!("    description: {}", quoted(&task.description)));
    lines.push("    acceptance_criteria:".to_owned());
    for criterion in &task.acceptance_criteria {
        lines.push(format!("      - text: {}", quoted(&criterion.text)));
        lines.push(format!("        check: {}", check_text(&criterion.check)));
    }
    lines.push(format!("    files: {}", list(task.files.iter().map(|file| quoted(file)))));
    for (key, intents) in [("changes", &task.changes), ("removes", &task.removes)] {
        if !intents.is_empty() {
            lines.push(format!("    {key}: {}", list(intents.iter().map(intent_text))));
        }
    }
    lines.push(format!("    complexity: {}", complexity::task(task)));
    let factors = &task.factors;
    lines.push(format!(
        "    factors: {{ integration_points: {}, tests: {}, risks: {} }}",
        factors.integration_points,
        factors.tests,
        list(factors.risks.iter().map(Risk::to_string)),
    ));
    lines.push(format!("    dependencies: {}", list(task.dependencies.iter().map(TaskId::to_string))));
    lines.push(format!("    status: {}", word(state)));
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

fn intent_text(intent: &Intent) -> String {
    let name = quoted(&intent.name);
    match &intent.because {
        Some(because) => format!("{{ name: {name}, because: {} }}", quoted(because)),
        None => name,
    }
}

fn check_text(check: &Check) -> String {
    match check {
        Check::Test(name) => format!("{{ test: {} }}", quoted(name)),
        Check::Command(line) => format!("{{ command: {} }}", quoted(line)),
        Check::File(path) => format!("{{ file: {} }}", quoted(path)),
        Check::Human => "human".to_owned(),
    }
}

/// Returns a word without quotes if every YAML reader takes it for text, and with quotes otherwise.
fn word(text: &str) -> String {
    const READ_OTHERWISE: [&str; 9] = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"];
    let in_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(in_word)
        && !READ_OTHERWISE.contains(&text.to_ascii_lowercase().as_str());
    if plain { text.to_owned() } else { quoted(text) }
}

/// Returns a double-quoted scalar on one line. Characters that are invisible or not allowed are escaped.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_visible(c) => out.push(c),
            c => out.push_str(&escape(u32::from(c))),
        }
    }
    out.push('"');
    out
}

fn is_visible(c: char) -> bool {
    let code = u32::from(c);
    let control = c.is_control();
    let formatting = matches!(
        c,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
    );
    let never_a_character = code & 0xfffe == 0xfffe || matches!(code, 0xfdd0..=0xfdef);
    !control && !formatting && !never_a_character
}

fn escape(code: u32) -> String {
    match code {
        0..=0xff => format!("\\x{code:02x}"),
        0x100..=0xffff => format!("\\u{code:04x}"),
        _ => format!("\\U{code:08x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_text_is_quoted_so_that_no_reader_takes_it_for_something_else() {
        let table = [
            ("yes", "\"yes\""),
            ("a: b # c", "\"a: b # c\""),
            ("say \"hi\" \\ bye", "\"say \\\"hi\\\" \\\\ bye\""),
            ("two\r\nlines\tand tab", "\"two\\r\\nlines\\tand tab\""),
            (
                "nel\u{85} ls\u{2028} bom\u{feff} del\u{7f} esc\u{1b} rlo\u{202e}",
                "\"nel\\x85 ls\\u2028 bom\\ufeff del\\x7f esc\\x1b rlo\\u202e\"",
            ),
            ("é 漢 🎉", "\"é 漢 🎉\""),
            ("\u{ffff} \u{1fffe}", "\"\\uffff \\U0001fffe\""),
            ("", "\"\""),
        ];
        for (text, expected) in table {
            assert_eq!(quoted(text), expected, "{text:?}");
        }
    }

    #[test]
    fn only_harmless_words_go_without_quotes() {
        for plain in ["FEAT-42", "FEAT-42-R2", "in_progress", "pending"] {
            assert_eq!(word(plain), plain);
        }
        for text in ["no", "On", "null", "~", "", "42", "1e3", "-a", "a b", "a:", "é"] {
            assert!(word(text).starts_with('"'), "{text:?}");
        }
    }
}
