//! If the change's tests newly write files, runs the tests with altered golden files. If the run rewrites a golden
//! file, and no test fails because of its altered text, the comparison checks nothing.

use crate::gates::{
    change::{Change, is_of_tests, lossy},
    mutation::{
        code::Code,
        experiment::{Experiment, Facts, Found, Material, Mutant, Mutants, Suspicious},
    },
};
use domain::integrity::Rule;
use integrity::{FileChange, language};
use std::collections::BTreeSet;

/// The text that is added to each golden file.
const OTHER: &str = "\nhollow\n";
/// Parts of a line that suggest that it writes a file.
const WRITES: [&str; 10] = [
    "write",
    "dump",
    "copy",
    "rename",
    "File::create",
    "\"w",
    "'w",
    "savetxt",
    "to_csv",
    "to_json",
];

pub(super) static EXPERIMENT: Experiment = Experiment {
    name: "golden files",
    applies: |facts| newly_writing(&facts.change).is_some(),
    needs: |_| Material::Stored,
    mutants,
    rule: Rule::GoldenFileRewritten,
};

fn mutants(facts: &Facts, stored: Vec<Code>) -> Option<Mutants> {
    let (path, line) = newly_writing(&facts.change)?;
    let stands_in = |name: &str| facts.change.after.find(name).iter().any(|site| site.path == path);
    let spoilt = stored.iter().map(|file| file.put(&format!("{}{OTHER}", file.text)));
    let spoilt: Vec<_> = spoilt.collect();
    // Other altered files may make tests fail, so a second run alters only the rewritten ones.
    let way = [Suspicious::Rewriting, Suspicious::Passing].map(|suspicious| Mutant::new(spoilt.clone(), suspicious));
    let suspect = facts.passed.iter().find(|name| stands_in(name));
    (!spoilt.is_empty()).then(|| Mutants {
        suspects: suspect.or(facts.passed.first()).into_iter().cloned().collect(),
        others: facts.passed.clone(),
        found: Found::All,
        ways: vec![way.into()],
        says: format!(
            "passes, as all others do, whatever a stored file holds: {path}:{line} writes it before it is compared"
        ),
    })
}

/// Returns the path and line of the first new line in the change's tests that writes a file, other than a temporary
/// one.
fn newly_writing(change: &Change) -> Option<(String, u32)> {
    let of_tests = |file: &&FileChange| is_of_tests(&file.path) || change.after.has_tests(&file.path);
    let mut places = change.files.iter().filter(of_tests).filter_map(|file| {
        language::of(&file.path)?;
        let (before, after) = (lossy(&file.before), lossy(&file.after));
        let known: BTreeSet<&str> = before.lines().map(str::trim).collect();
        let writes = |line: &str| {
            let lasts = !line.to_lowercase().contains("tmp") && !line.to_lowercase().contains("temp");
            lasts && !known.contains(line.trim()) && WRITES.iter().any(|word| line.contains(word))
        };
        let at = after.lines().position(writes)?;
        Some((file.path.clone(), u32::try_from(at).ok()?.saturating_add(1)))
    });
    places.next()
}
