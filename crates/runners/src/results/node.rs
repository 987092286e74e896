//! Reads Node's own runner, in the Test Anything Protocol and in the readable form.

use crate::results::{
    failures::{Layout, NO_END, failed, is_text},
    numbers::without_time,
    runner::{ArgumentPosition, Arguments, Runner, Select, SelectedTests, any_of, escaped},
    tally::{Outcome, Tally, joined},
    tap::{directive, split_remark, unescaped},
};
use std::collections::BTreeSet;

pub(super) static NODE: Runner = Runner {
    with: Some("--test"),
    select: Some(Select { by: by_title, unless: &[] }),
    read: Some(node),
    failures: Some(Layout {
        test: |line| failed(result(line.trim_start())),
        name: str::to_owned,
        mark: Some(thrown),
        text: is_text,
        end: NO_END,
    }),
    ..Runner::only_called(&[&["node"]])
};

/// Selects tests by title. Up to version 21, Node matches a pattern against each title by itself, and runs a nested
/// test if both match; later versions match it against the joined titles down to the test.
///
/// Node runs each file as its own process, so the files are named if the command names none.
fn by_title(words: &[&str], asked: &SelectedTests<'_>) -> Option<Arguments> {
    let mut titles: BTreeSet<String> = BTreeSet::new();
    for name in asked.names {
        titles.insert(name.replace(" > ", " "));
        titles.extend(name.split(" > ").map(str::to_owned));
    }
    let pattern = any_of(titles.iter().map(|title| escaped(title)));
    let pattern = [format!("--test-name-pattern={pattern}")];
    let names_files = !words.iter().skip(1).all(|word| word.starts_with('-'));
    if asked.files.is_empty() || names_files {
        return Some(Arguments::at(ArgumentPosition::Options, pattern));
    }
    let files = asked.files.iter().map(|file| (*file).to_owned());
    Some(Arguments::at_end(pattern.into_iter().chain(files)))
}

/// Reads `# pass 2` in the Test Anything Protocol, `ℹ pass 2` in the readable form.
pub(super) fn node(text: &str) -> Option<Tally> {
    let mut tally = Tally::default();
    let (mut tests, mut passes) = (None, None);
    let mut tree = Tree::default();
    for line in text.lines() {
        let summary = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ "));
        let (word, number) = match summary.and_then(|rest| rest.split_once(' ')) {
            Some((word, number)) => (word, number.trim().parse::<u32>().ok()),
            None => ("", None),
        };
        match (word, number) {
            ("tests", Some(_)) => tests = number,
            ("pass", Some(number)) => passes = Some(passes.unwrap_or(0u32).saturating_add(number)),
            ("fail" | "cancelled", Some(number)) => tally.count(Outcome::Failed, number),
            ("skipped" | "skip" | "todo", Some(number)) => tally.count(Outcome::Skipped, number),
            // After the summary, the failures are listed again.
            _ if tests.is_none() => tree.line(line),
            _ => {}
        }
    }
    tests?;
    tally.passed = passes?;
    if text.contains("TAP version ") && !text.contains("# Subtest: ") {
        tree.forget_files();
    }
    Some(tree.add_to(tally))
}

#[derive(Default)]
struct Tree<'a> {
    /// The titles of the open groups, outermost first.
    open: Vec<(usize, &'a str)>,
    found: Vec<Entry>,
}

struct Entry {
    name: String,
    outcome: Outcome,
    kind: EntryKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EntryKind {
    /// It contains no other test.
    Test,
    /// It contains others, and may be a test itself.
    Parent,
    /// A group, which is not counted.
    Group,
}

impl<'a> Tree<'a> {
    fn line(&mut self, line: &'a str) {
        let trimmed = line.trim_start();
        let depth = line.len().saturating_sub(trimmed.len());
        if trimmed == "type: 'suite'" {
            if let Some(entry) = self.found.last_mut() {
                entry.kind = EntryKind::Group;
            }
        } else if let Some(title) = trimmed.strip_prefix("# Subtest: ").or_else(|| trimmed.strip_prefix("▶ ")) {
            self.open.retain(|(outer, _)| *outer < depth);
            self.open.push((depth, without_time(title, "ms)")));
        } else if let Some((title, outcome)) = result(trimmed) {
            self.result(depth, title, outcome);
        }
    }

    fn result(&mut self, depth: usize, title: &'a str, outcome: Outcome) {
        let inner = self.open.iter().filter(|(outer, _)| *outer > depth).count();
        self.open.retain(|(outer, _)| *outer < depth);
        let groups = self.open.iter().map(|(_, title)| *title);
        let name = unescaped(&joined(groups, " > ", title));
        let below = format!("{name} > ");
        let is_parent = inner > 0 || self.found.last().is_some_and(|last| last.name.starts_with(&below));
        self.found.push(Entry { name, outcome, kind: if is_parent { EntryKind::Parent } else { EntryKind::Test } });
    }

    /// Removes the file before a title. ava prints it only if there are several files, so tests are named by title.
    fn forget_files(&mut self) {
        for entry in &mut self.found {
            if let Some((_, title)) = entry.name.split_once(" › ") {
                entry.name = title.to_owned();
            }
        }
    }

    /// Adds the names to a tally. If the output does not show if a parent is itself a test, the counts decide.
    fn add_to(self, tally: Tally) -> Tally {
        let with = |wanted: &[EntryKind]| {
            let mut named = tally.clone();
            for entry in self.found.iter().filter(|entry| wanted.contains(&entry.kind)) {
                named.record_name(&entry.name, entry.outcome);
            }
            named
        };
        let all = with(&[EntryKind::Test, EntryKind::Parent]);
        if all.names_all() { all } else { with(&[EntryKind::Test]) }
    }
}

/// Returns the text of `  error: 'no such host'`, or of `  TypeError [ERR_X]: no such host` in the readable form. The
/// protocol's other keys are in lower case.
fn thrown(line: &str) -> Option<&str> {
    let text = line.strip_prefix("  ")?.trim_start();
    match text.strip_prefix("error: ") {
        // The text of several lines begins on the next one.
        Some(text) => Some(text.trim_start_matches(['|', '>', '-'])),
        None => text.split_once(": ").filter(|_| text.starts_with(char::is_uppercase)).map(|_| text),
    }
}

/// Reads `not ok 1 - name # SKIP`, or `✖ name (0.5ms)`.
fn result(line: &str) -> Option<(&str, Outcome)> {
    let protocol = line
        .strip_prefix("not ok ")
        .map(|rest| (rest, Outcome::Failed))
        .or_else(|| line.strip_prefix("ok ").map(|rest| (rest, Outcome::Passed)));
    if let Some((rest, outcome)) = protocol {
        let (number, name) = rest.split_once(" - ")?;
        number.parse::<u32>().ok()?;
        return Some(directed(name, outcome));
    }
    // The readable form does not escape, so a `#` may belong to a title: only a directive after the time is removed.
    let (mark, rest) = line.split_once(' ')?;
    let outcome = match mark {
        "✔" => Outcome::Passed,
        "✖" => Outcome::Failed,
        "﹣" => Outcome::Skipped,
        _ => return None,
    };
    let (name, is_directed) = match rest.rsplit_once(" # ") {
        Some((name, remark)) if directive(remark).is_some() => (name, true),
        Some(_) | None => (rest, false),
    };
    let timed = without_time(name, "ms)");
    let outcome = if is_directed { Outcome::Skipped } else { outcome };
    (timed.len() < name.len()).then_some((timed, outcome))
}

/// Returns a name without the part from `#` on. Both of TAP's directives make the test skipped.
fn directed(name: &str, outcome: Outcome) -> (&str, Outcome) {
    let (name, remark) = split_remark(name);
    (name, directive(remark).map_or(outcome, |_| Outcome::Skipped))
}
