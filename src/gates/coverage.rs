//! Measures the coverage of the lines that a change adds or modifies, from the file that the settings name.

use crate::{
    config::RepositorySettings,
    gates::{
        change::is_of_tests,
        files, gate_result,
        run::{context::GateError, ready::Ready},
        subject::Subject,
    },
};
use base64::{Engine, engine::general_purpose::STANDARD};
use domain::{
    evidence::{Absence, Evidence, Fact, FailedCommand, Gate, GateResult, Weight},
    plan::TaskType,
    problem::{Problem, ReviewItem, Severity},
};
use git::blocking;
use runners::coverage::Measured;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The largest coverage file that is read, in bytes.
const MAX_FILE: u64 = 128 * 1024 * 1024;

/// The largest coverage file that is cached with a result, in base64 characters.
const MAX_KEPT: usize = 16 * 1024 * 1024;

/// The most files with uncovered lines that become items.
const MOST_ITEMS: usize = 30;

/// The coverage file's content after the tests ran, or why there is none.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Measurement {
    File {
        /// The content, in base64.
        bytes: String,
        /// The checkout's path at the time, to which the file's paths refer.
        root: String,
        /// The coverage command's result, if it failed.
        failure: Option<FailedCommand>,
    },
    Nothing(Evidence),
}

impl Measurement {
    /// `true` if it is small enough to cache.
    pub(crate) fn is_small(&self) -> bool {
        match self {
            Self::File { bytes, .. } => bytes.len() <= MAX_KEPT,
            Self::Nothing(_) => true,
        }
    }
}

/// Measures coverage in the checkout in which the tests ran, if the settings name a coverage file.
pub(crate) async fn measure(
    ready: &Ready<'_>,
    settings: &RepositorySettings,
) -> Result<Option<Measurement>, GateError> {
    let settings = &settings.coverage;
    let Some(path) = &settings.file else { return Ok(None) };
    let work = ready.checkout.path();
    let mut failure = None;
    if let Some(command) = &settings.command {
        let evidence = match files::clear(work, path) {
            Ok(()) => ready.command(command.text()).await?,
            Err(reason) => unreadable(path, reason.to_string(), None),
        };
        match &evidence {
            Evidence::Passed(_) => {}
            // Tools also fail if coverage is below their own threshold. If they wrote the file, it is judged here.
            Evidence::Failed(finding) => {
                failure = Some(FailedCommand { command: finding.command.clone(), exit_code: finding.exit_code });
            }
            Evidence::Absent(_) => return Ok(Some(Measurement::Nothing(evidence))),
        }
    }
    let (work, file) = (work.to_path_buf(), path.clone());
    let reading = blocking(move || files::read(&work, &file, MAX_FILE).map_err(|reason| reason.to_string()));
    let measurement = match reading.await.unwrap_or_else(|error| Err(error.to_string())) {
        Ok(bytes) => Measurement::File {
            bytes: STANDARD.encode(bytes),
            root: ready.checkout.visible_path().to_string_lossy().into_owned(),
            failure,
        },
        Err(reason) => Measurement::Nothing(unreadable(path, reason, failure)),
    };
    Ok(Some(measurement))
}

/// Returns the weight of coverage: it is required of changes that add behaviour or tests.
pub(crate) fn weight(kind: TaskType) -> Weight {
    match kind {
        TaskType::Feature | TaskType::Testing => Weight::Required,
        TaskType::Scaffolding | TaskType::Refactoring | TaskType::Documentation => Weight::Informational,
    }
}

/// Judges the coverage of the lines that a change adds or modifies.
pub(crate) async fn judge(
    measurement: &Measurement,
    subject: &Subject<'_>,
    weight: Weight,
) -> Result<GateResult, GateError> {
    let settings = &subject.settings.coverage;
    let path = settings.file.as_deref().unwrap_or_default();
    let absent = |evidence| gate_result::result(Gate::Coverage, weight, evidence);
    let (bytes, root, failure) = match measurement {
        Measurement::File { bytes, root, failure } => (bytes.clone(), root, failure),
        Measurement::Nothing(evidence) => return Ok(absent(evidence.clone())),
    };
    let reading = blocking(move || Measured::read(&STANDARD.decode(bytes).map_err(|error| error.to_string())?));
    let measured = match reading.await.unwrap_or_else(|error| Err(error.to_string())) {
        Ok(measured) => measured,
        Err(reason) => return Ok(absent(unreadable(path, reason, failure.clone()))),
    };
    let added = subject.mirror.added_lines(subject.fork, subject.head).await?;
    let mut sum = Sum::default();
    for (path, lines) in added.files() {
        let path = path.to_string();
        if let Some(hits) = measured.of(&path, root).filter(|_| !is_of_tests(&path)) {
            sum.add(&path, lines.keys().copied(), hits);
        }
    }
    Ok(sum.judge(settings.threshold, weight))
}

fn unreadable(path: &str, reason: String, after: Option<FailedCommand>) -> Evidence {
    Evidence::Absent(Absence::Unreadable { path: path.to_owned(), reason, after })
}

#[derive(Debug, Default)]
struct Sum {
    covered: u32,
    uncovered: BTreeMap<String, Vec<u32>>,
}

impl Sum {
    fn add(&mut self, path: &str, lines: impl Iterator<Item = u32>, hits: &BTreeMap<u32, u64>) {
        for line in lines {
            match hits.get(&line) {
                None => {}
                Some(0) => self.uncovered.entry(path.to_owned()).or_default().push(line),
                Some(_) => self.covered = self.covered.saturating_add(1),
            }
        }
    }

    fn judge(self, threshold: f64, weight: Weight) -> GateResult {
        let gate = Gate::Coverage;
        let missed: usize = self.uncovered.values().map(Vec::len).sum();
        let missed = u32::try_from(missed).unwrap_or(u32::MAX);
        let all = self.covered.saturating_add(missed);
        if all == 0 {
            return gate_result::passed(gate, weight, Fact::NoLineMeasured);
        }
        let (covered, percent) = (self.covered, f64::from(self.covered) * 100.0 / f64::from(all));
        let asked = format!("{threshold:.0}");
        let fact = Fact::Covered { covered, all, asked };
        if percent + 1e-9 >= threshold {
            return gate_result::passed(gate, weight, fact);
        }
        let uncovered = self.uncovered.iter().take(MOST_ITEMS);
        GateResult {
            items: uncovered.map(|(path, lines)| item(path, lines, weight)).collect(),
            ..gate_result::failed(gate, weight, fact)
        }
    }
}

fn item(path: &str, lines: &[u32], weight: Weight) -> ReviewItem {
    let uncovered = Problem::Uncovered(ranges(lines));
    let at = lines.first().map(|line| (path.to_owned(), *line));
    let severity = match weight {
        Weight::Asked | Weight::Informational => Severity::ShouldFix,
        Weight::Required => Severity::MustFix,
    };
    ReviewItem { severity, ..gate_result::should_fix(uncovered, at) }
}

fn ranges(lines: &[u32]) -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for line in lines.iter().copied() {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(line) => *last = line,
            _ => ranges.push((line, line)),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::{Sum, ranges};
    use domain::{
        evidence::{Evidence, Fact, Weight},
        problem::Problem,
    };
    use runners::coverage::Measured;

    #[test]
    fn the_share_is_of_measured_lines_and_what_is_missed_is_named() {
        let measured = Measured::read(b"SF:a.py\nDA:1,1\nDA:2,0\nDA:3,0\nDA:5,0\nDA:6,1\n").unwrap();
        let judge = |lines: &[u32], threshold: f64| {
            let mut sum = Sum::default();
            sum.add("a.py", lines.iter().copied(), measured.of("a.py", "/w").unwrap());
            sum.judge(threshold, Weight::Required)
        };
        let low = judge(&[1, 2, 3, 4, 5, 6], 80.0);
        let fact = Fact::Covered { covered: 2, all: 5, asked: "80".to_owned() };
        assert_eq!(low.evidence.failure().unwrap().facts, [fact]);
        assert_eq!(low.items.len(), 1);
        assert_eq!(low.items[0].problem, Problem::Uncovered(vec![(2, 3), (5, 5)]));
        assert_eq!(low.items[0].line, Some(2));
        assert!(matches!(judge(&[1, 2, 3, 4, 5, 6], 40.0).evidence, Evidence::Passed(_)));
        assert!(matches!(judge(&[4], 80.0).evidence, Evidence::Passed(_)));
        assert_eq!(ranges(&[4]), [(4, 4)]);
    }
}
