//! A change can bring a file that leads to another test command, for example a `package.json` beside a `Makefile`. It must
//! not choose alone what judges it. So the earlier command runs too while the files still suggest it
//! ([`beside_earlier_command`](crate::gates::run::prepared::Prepared::beside_earlier_command)), and the new one is asked
//! about.

use crate::gates::{commands, run::context::GateError, turn::Run};
use domain::integrity::{Author, Detail, IntegrityFinding, Rule};
use runners::detect;
use std::collections::BTreeSet;

/// Returns a finding if a change leads to another test command than the commit from which it starts.
pub(crate) async fn replaced(run: &Run<'_>) -> Result<Option<IntegrityFinding>, GateError> {
    let subject = run.subject;
    let test_at = async |commit| commands::choose_at(subject.mirror, commit, subject.settings).await;
    let (before, after) = (test_at(subject.fork).await?.test, test_at(subject.head).await?.test);
    let Some(before) = before.filter(|before| after.as_ref() != Some(before)) else { return Ok(None) };
    let after = after.map_or_else(|| "–".to_owned(), |after| format!("`{after}`"));
    Ok(Some(IntegrityFinding {
        rule: Rule::RunnerWeakened,
        path: file_to_name(run).unwrap_or_default(),
        line: None,
        what: Detail::Code(format!("`{before}` → {after}")),
        by: Author::Player,
    }))
}

/// Returns the first changed file that detection reads, or else the first changed file.
fn file_to_name(run: &Run<'_>) -> Option<String> {
    let sides = [&run.change.base, &run.change.head].map(|side| side.iter().cloned().collect::<Vec<String>>());
    let read: BTreeSet<&String> = sides.iter().flat_map(|side| detect::files_to_read(side)).collect();
    let mut changed = run.change.files.iter().map(|file| &file.path);
    let first = changed.clone().next();
    changed.find(|path| read.contains(path)).or(first).cloned()
}
