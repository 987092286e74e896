//! Integrity: joins the findings from reading the change and from running tests in one result.

use crate::gates::{
    called,
    change::Change,
    earlier_command, gate_result,
    run::context::{GateError, host},
    setup_reads::hooks_of,
    turn::Run,
};
use domain::{
    evidence::{Baseline, Fact, Gate, GateResult, Weight},
    ids::Sha,
    integrity::{Author, Detail, IntegrityFinding, Rule},
    problem::{Problem, ReviewItem},
    protected_paths::ProtectedPaths,
    question::Question,
};
use git::{TakeOutLimits, blocking};
use integrity::{
    Change as Looked, FileChange, FileContent, inspect,
    language::{Role, file_name, role},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    sync::Arc,
};

/// The most rewritten files of each kind that are named.
const MOST_REWRITTEN: usize = 20;

/// The lines around a finding that its question shows.
const LINES_BEFORE: usize = 3;
const LINES_AFTER: usize = 12;

/// Judges the change, and returns the questions that its findings ask. `by_running` are findings of other runs, and
/// `shown` their informational items.
pub(crate) async fn integrity(
    run: &Run<'_>,
    weight: Weight,
    by_running: Vec<IntegrityFinding>,
    mut shown: Vec<ReviewItem>,
) -> Result<(GateResult, Vec<Question>), GateError> {
    let kind = run.subject.task.kind;
    let mut findings = read_change(run).await?;
    findings.extend(by_running);
    for called in called::changed(run).await? {
        if !findings.iter().any(|known| (known.rule, &known.path) == (called.rule, &called.path)) {
            findings.push(called);
        }
    }
    if let Some(replaced) = earlier_command::replaced(run).await? {
        findings.retain(|known| (known.rule, &known.path) != (replaced.rule, &replaced.path));
        findings.push(replaced);
    }
    shown.extend(install_hooks(&run.change.files));
    People::read(run).await?.mark(run.change, &mut findings);
    let asked = findings.extract_if(.., |finding| finding.weight(kind) == Weight::Asked);
    let questions = asked.map(|finding| question(run.change, &finding)).collect();
    let is_required = |finding: &&IntegrityFinding| finding.weight(kind) == Weight::Required;
    let required = findings.iter().filter(is_required);
    let rules: Vec<Rule> = required.map(|finding| finding.rule).collect();
    let held = rules.len();
    let fact = Fact::RuleFindings {
        required: rules.into_iter().collect::<BTreeSet<Rule>>().into_iter().collect(),
        held,
        shown: findings.len().saturating_sub(held),
    };
    let mut result = match held {
        0 => gate_result::passed(Gate::Integrity, weight, fact),
        _ => gate_result::failed(Gate::Integrity, weight, fact),
    };
    let items = findings.iter().map(|finding| {
        let mut item = finding.item(kind);
        item.file = item.file.filter(|file| !file.is_empty());
        item
    });
    result.items = items.chain(shown).collect();
    Ok((result, questions))
}

/// Returns the question that a finding asks, with the code around its line or, without a line, its own.
fn question(change: &Change, finding: &IntegrityFinding) -> Question {
    if let (None, Detail::Code(code)) = (finding.line, &finding.what) {
        return Question::about_finding(finding, code.clone());
    }
    let line = finding.line.and_then(|line| usize::try_from(line).ok()).unwrap_or(1);
    let first = line.saturating_sub(LINES_BEFORE).max(1);
    let text = change.text_after(&finding.path).unwrap_or_default();
    let lines = (1..).zip(text.lines()).skip(first - 1).take(LINES_BEFORE + LINES_AFTER);
    let lines = lines.map(|(number, line)| format!("{number}: {line}"));
    let command = match &finding.what {
        Detail::RunBy(command) => Some(format!("$ {command}")),
        Detail::Nothing | Detail::Code(_) | Detail::Test(_) | Detail::Tests { .. } | Detail::InTest { .. } => None,
        Detail::Function(_) | Detail::Size { .. } | Detail::Restored(_) => None,
    };
    Question::about_finding(finding, command.into_iter().chain(lines).collect::<Vec<_>>().join("\n"))
}

/// Returns the findings from reading the change. Parsing takes a while, so it runs on a blocking thread.
async fn read_change(run: &Run<'_>) -> Result<Vec<IntegrityFinding>, GateError> {
    let (change, task) = (Arc::clone(run.change), run.subject.task.clone());
    let settings = run.subject.settings;
    let protected = ProtectedPaths::new(&settings.protected());
    let protected = protected.map_err(|error| host("reading the protected paths")(io::Error::other(error)))?;
    let secrets = run.context.secrets.clone();
    let results: Vec<String> = settings.test_report.iter().chain(&settings.coverage.file).cloned().collect();
    let looking = blocking(move || {
        inspect(&Looked {
            files: &change.files,
            base: &change.base,
            head: &change.head,
            task: &task,
            protected: &protected,
            known_secrets: &secrets,
            results: &results,
            max_file_bytes: TakeOutLimits::default().file_bytes,
        })
    });
    looking.await.map_err(|error| host("looking at a change")(error.into()))
}

/// Returns items for new scripts that run when packages are installed, since they may alter the packages that tests
/// use.
fn install_hooks(files: &[FileChange]) -> Vec<ReviewItem> {
    let manifests = files.iter().filter(|file| file_name(&file.path) == "package.json");
    let new = manifests.filter_map(|file| {
        let of = |version: &FileContent| version.bytes().map(|bytes| hooks_of(&String::from_utf8_lossy(bytes)));
        let now = of(&file.after).filter(|now| !now.is_empty())?;
        let script = Problem::InstallScript(now.replace('\n', "; "));
        (of(&file.before).as_ref() != Some(&now)).then(|| gate_result::should_fix(script, Some((file.path.clone(), 1))))
    });
    new.collect()
}

/// Lines by file.
type Lines = BTreeMap<String, BTreeSet<String>>;

/// The lines that people wrote, and those that the Player wrote; both are empty if no person pushed.
struct People {
    persons: Lines,
    player: Lines,
}

impl People {
    async fn read(run: &Run<'_>) -> Result<Self, GateError> {
        let subject = run.subject;
        let (mut persons, mut player) = (Lines::new(), Lines::new());
        let mut at = subject.fork;
        for (before, after) in subject.people {
            add(run, at, before, &mut player).await?;
            add(run, before, after, &mut persons).await?;
            at = after;
        }
        if !subject.people.is_empty() {
            add(run, at, subject.head, &mut player).await?;
        }
        Ok(Self { persons, player })
    }

    /// Marks the findings on lines that only people touched.
    fn mark(&self, change: &Change, findings: &mut [IntegrityFinding]) {
        for finding in findings {
            let Some(persons) = self.persons.get(&finding.path) else {
                continue;
            };
            let is_persons = match (self.player.get(&finding.path), finding.line) {
                (None, _) => true,
                (Some(_), None) => false,
                (Some(player), Some(line)) => line_of(change, &finding.path, line)
                    .is_some_and(|text| persons.contains(text) && !player.contains(text)),
            };
            if is_persons {
                finding.by = Author::Person;
            }
        }
    }
}

/// Returns a line of a changed file after the change; the first is 1.
fn line_of<'a>(change: &'a Change, path: &str, line: u32) -> Option<&'a str> {
    let at = usize::try_from(line.checked_sub(1)?).ok()?;
    change.text_after(path)?.split('\n').nth(at)
}

async fn add(run: &Run<'_>, from: &Sha, to: &Sha, lines: &mut Lines) -> Result<(), GateError> {
    if from == to {
        return Ok(());
    }
    for change in run.subject.mirror.diff_raw(from, to).await? {
        lines.entry(change.path.to_string()).or_default();
    }
    for (path, added) in run.subject.mirror.added_lines(from, to).await?.files() {
        let known = lines.entry(path.to_string()).or_default();
        known.extend(added.values().cloned());
    }
    Ok(())
}

/// Returns the findings and the informational items about files that set-up rewrote and that were restored. Rewriting
/// files of tests or settings is a finding, unless set-up already did so before the change. Rewriting lock files or
/// sources is only informational.
pub(super) fn rewritten_by_setup(
    rewritten: &[String],
    baseline: &Baseline,
) -> (Vec<IntegrityFinding>, Vec<ReviewItem>) {
    let decides = |path: &String| {
        matches!(role(path), Role::Test | Role::Support | Role::Settings) && !baseline.rewritten.contains(path)
    };
    let (held, shown): (Vec<&String>, Vec<&String>) = rewritten.iter().partition(|path| decides(path));
    let finding = |path: &String| IntegrityFinding {
        rule: Rule::RewrittenBySetup,
        path: path.clone(),
        line: None,
        what: Detail::Restored(path.clone()),
        by: Author::Player,
    };
    let item = |path: &String| gate_result::should_fix(Problem::Restored(path.clone()), None);
    (
        held.into_iter().take(MOST_REWRITTEN).map(finding).collect(),
        shown.into_iter().take(MOST_REWRITTEN).map(item).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::{install_hooks, rewritten_by_setup};
    use crate::config::{Offer, RepositorySettings};
    use domain::{
        evidence::{Absence, Additions, Baseline, Evidence},
        integrity::Rule,
        plan::{Factors, PlannedTask, TaskType, TestEffort},
        protected_paths::ProtectedPaths,
    };
    use integrity::{Change, FileChange, FileContent};
    use std::collections::BTreeSet;
    use text::secret::Secrets;

    #[test]
    fn scripts_that_run_when_packages_are_installed_are_shown_when_they_are_new() {
        let manifest = |script: &str| FileContent::Bytes(format!("{{\"scripts\": {{{script}}}}}").into_bytes());
        let patch = r#""postinstall": "node tools/patch.mjs""#;
        let table = [
            (FileContent::Absent, manifest(patch), 1),
            (manifest(""), manifest(patch), 1),
            (manifest(patch), manifest(patch), 0),
            (manifest(patch), manifest(""), 0),
            (manifest(""), manifest(r#""test": "vitest""#), 0),
        ];
        for (before, after, expected) in table {
            let file = FileChange { path: "web/package.json".to_owned(), before, after };
            assert_eq!(install_hooks(std::slice::from_ref(&file)).len(), expected, "{file:?}");
        }
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table")]
    fn instructions_of_agents_are_protected_at_any_depth_whatever_the_settings_list() {
        let settings = "protected_paths: [infra/**, a/b/*, 'c/', '**/d/**', 'e/**/*']";
        let settings = RepositorySettings::parse(settings, &Offer::default()).unwrap();
        let task = PlannedTask {
            id: "TASK-001".parse().unwrap(),
            name: "t".to_owned(),
            kind: TaskType::Feature,
            description: String::new(),
            acceptance_criteria: Vec::new(),
            files: Vec::new(),
            factors: Factors { integration_points: 0, tests: TestEffort::Unit, risks: Vec::new() },
            changes: Vec::new(),
            removes: Vec::new(),
            dependencies: Vec::new(),
        };
        let protected = ProtectedPaths::new(&settings.protected()).unwrap();
        let (none, secrets) = (BTreeSet::new(), Secrets::default());
        let is_protected = |path: &str| {
            let file = FileChange {
                path: path.to_owned(),
                before: FileContent::Absent,
                after: FileContent::Bytes(b"x".to_vec()),
            };
            let change = Change {
                files: &[file],
                base: &none,
                head: &none,
                task: &task,
                protected: &protected,
                known_secrets: &secrets,
                results: &[],
                max_file_bytes: 1024,
            };
            let findings = integrity::inspect(&change);
            findings.iter().any(|found| found.rule == Rule::ProtectedPath)
        };
        let yes = [
            "AGENTS.md",
            "sub/AGENTS.md",
            "agents.md",
            ".GitHub/workflows/ci.yml",
            "AGENTS.override.md",
            "sub/AGENTS.override.md",
            "CLAUDE.md",
            "CLAUDE.local.md",
            "GEMINI.md",
            "x/y/GEMINI.md",
            ".claude",
            ".claude/settings.json",
            "web/.claude/skills/x/SKILL.md",
            ".codex",
            ".codex/config.toml",
            ".agents",
            ".agents/skills/x",
            ".gemini",
            ".gemini/settings.json",
            ".cursor",
            ".cursor/rules/x.mdc",
            "web/.cursor/rules/x.mdc",
            "opencode.json",
            ".mcp.json",
            "sub/.mcp.json",
            ".github",
            ".github/copilot-instructions.md",
            ".github/workflows/ci.yml",
            ".autobuild",
            ".autobuild/x",
            "infra",
            "infra/x/y",
            "a/b",
            "a/b/c",
            "c",
            "c/x",
            "x/d",
            "x/d/y",
            "e",
            "e/x/y",
        ];
        for path in yes {
            assert!(is_protected(path), "{path}");
        }
        let no = ["src/infra", "x/a/b", "docs/github", "vendor/x/.github/ci.yml", "src/claude.rs", "AGENTS.md.txt"];
        for path in no {
            assert!(!is_protected(path), "{path}");
        }
    }

    #[test]
    fn tests_that_a_new_set_up_rewrites_send_the_work_back_and_the_rest_is_shown() {
        let owned = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
        let baseline = Baseline {
            commit: "a".repeat(40).parse().unwrap(),
            setup: None,
            tests: Evidence::Absent(Absence::NoCommand),
            rewritten: owned(&["tests/test_old.py"]),
            additions: Additions::None,
            made: std::collections::BTreeSet::new(),
        };
        let all = owned(&["package-lock.json", "src/gen.py", "tests/test_a.py", "tests/test_old.py"]);
        let (held, shown) = rewritten_by_setup(&all, &baseline);
        let held: Vec<_> = held.into_iter().map(|finding| finding.path).collect();
        assert_eq!(held, ["tests/test_a.py"]);
        assert_eq!(shown.len(), 3);
    }
}
