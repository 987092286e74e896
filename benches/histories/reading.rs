//! Judges a commit by the integrity rules alone.

use crate::{
    Outcome,
    clone::ProjectClone,
    results::{Finding, Verdict},
};
use autobuild::config::{Offer, RepositorySettings};
use domain::{
    evidence::Weight,
    integrity::{IntegrityFinding, Rule},
    plan::{Factors, PlannedTask, TaskType, TestEffort},
    protected_paths::ProtectedPaths,
};
use integrity::{Change, FileChange, inspect};
use std::time::Instant;
use text::secret::Secrets;

/// The product's size limit of a file.
const MAX_FILE_BYTES: u64 = 10 << 20;

/// Judges the commit as the work on a task of this type that its message describes.
pub fn judge(kind: TaskType, clone: &ProjectClone, commit: &str) -> Outcome<Verdict> {
    let differing = clone.changed_files(commit)?;
    let mut files = differing.iter().map(|file| clone.versions(file)).collect::<Outcome<Vec<_>>>()?;
    let (base, head) = (clone.paths(&format!("{commit}^"))?, clone.paths(commit)?);
    let (subject, body) = clone.message(commit)?;
    let paths = files.iter().map(|file| file.path.clone()).collect();
    let task = task(kind, &subject, body, paths)?;
    let settings = RepositorySettings::parse("", &Offer::default()).map_err(|_| "no settings are refused")?;
    let protected_paths = ProtectedPaths::new(&settings.protected()).map_err(|error| error.to_string())?;
    let look = |files: &[FileChange]| {
        inspect(&Change {
            files,
            base: &base,
            head: &head,
            task: &task,
            protected: &protected_paths,
            known_secrets: &Secrets::default(),
            results: &[],
            max_file_bytes: MAX_FILE_BYTES,
        })
    };
    let begun = Instant::now();
    let mut findings = look(&files);
    let left_out = protected(&findings);
    if !left_out.is_empty() {
        files.retain(|file| !left_out.contains(&file.path));
        findings = look(&files);
    }
    let milliseconds = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let found = findings.into_iter().map(|finding| Finding {
        sends_back: finding.weight(task.kind) == Weight::Required,
        rule: finding.rule,
        path: finding.path,
        line: finding.line,
        what: format!("{:?}", finding.what),
    });
    Ok(Verdict {
        commit: commit.to_owned(),
        subject,
        findings: found.collect(),
        left_out,
        kind: Some(kind),
        milliseconds,
        played: None,
    })
}

/// Returns the paths that no Player may change. They are not part of its work and stay as they were.
fn protected(findings: &[IntegrityFinding]) -> Vec<String> {
    let found = findings.iter().filter(|finding| finding.rule == Rule::ProtectedPath);
    found.map(|finding| finding.path.clone()).collect()
}

/// Returns the task that a Planner would write if it knew the commit.
pub fn task(kind: TaskType, subject: &str, body: String, files: Vec<String>) -> Outcome<PlannedTask> {
    Ok(PlannedTask {
        id: "TASK-001".parse().map_err(|_| "TASK-001 is refused as an id")?,
        name: subject.to_owned(),
        kind,
        description: body,
        acceptance_criteria: Vec::new(),
        files,
        factors: Factors { integration_points: 0, tests: TestEffort::Unit, risks: Vec::new() },
        changes: Vec::new(),
        removes: Vec::new(),
        dependencies: Vec::new(),
    })
}
