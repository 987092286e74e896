//! Results of tests and snapshots written by hand.

use crate::domain::integrity::IntegrityFinding;
use crate::domain::integrity::Rule;
use crate::gates::integrity::Change;
use crate::gates::integrity::FileChange;
use crate::gates::integrity::Version;
use crate::gates::integrity::finding;
use crate::gates::language::Role;
use crate::gates::language::role;
use crate::gates::language::role::file_name;
use crate::gates::language::role::folders;
use crate::gates::language::role::in_support_folder;
use crate::gates::language::role::in_test_folder;

/// Everything that the change brings instead of running something.
pub(super) fn find(change: &Change<'_>) -> Vec<IntegrityFinding> {
    let mut findings: Vec<IntegrityFinding> = change.files.iter().filter(|file| is_result(change, file)).map(|file| {
        finding(Rule::ResultsByHand, &file.path, None, "the file looks like the result of a test or coverage run; such files are made by running, not committed")
    }).collect();
    let snapshots: Vec<&FileChange> = change.files.iter().filter(|file| is_snapshot(&file.path)).collect();
    let could_change_them = |file: &FileChange| {
        !is_snapshot(&file.path)
            && !is_result(change, file)
            && !matches!(file.path.rsplit('.').next(), Some("md" | "txt" | "rst"))
            && role(&file.path) != Role::Settings
            || file_name(&file.path).contains("lock")
            || matches!(file_name(&file.path), "Cargo.toml" | "package.json" | "pyproject.toml")
    };
    if !change.files.iter().any(could_change_them) {
        findings.extend(snapshots.into_iter().map(|file| {
            finding(
                Rule::SnapshotByHand,
                &file.path,
                None,
                "the snapshot changed, and nothing that it could show did",
            )
        }));
    }
    findings
}

fn is_snapshot(path: &str) -> bool {
    let ends = [".snap", ".ambr", ".snap.new", ".approved.txt"]
        .iter()
        .any(|end| path.ends_with(end));
    ends || folders(path).any(|folder| matches!(folder, "__snapshots__" | "__image_snapshots__"))
}

fn is_result(change: &Change<'_>, file: &FileChange) -> bool {
    let Version::Bytes(bytes) = &file.after else {
        return false;
    };
    if change
        .results
        .iter()
        .any(|path| path.trim_start_matches("./") == file.path)
    {
        return true;
    }
    if in_support_folder(&file.path)
        || folders(&file.path).any(|folder| matches!(folder, "data" | "examples" | "docs" | "samples"))
    {
        return false;
    }
    let head = String::from_utf8_lossy(bytes.get(..bytes.len().min(4096)).unwrap_or_default());
    let name = file_name(&file.path).to_lowercase();
    let by_folder = folders(&file.path).any(|folder| {
        matches!(
            folder,
            ".nyc_output" | ".pytest_cache" | "htmlcov" | "test-results" | "test_results" | "test-reports"
        )
    });
    let by_name = matches!(
        name.as_str(),
        ".coverage"
            | "lcov.info"
            | "junit.xml"
            | "coverage.xml"
            | "cobertura.xml"
            | "coverage-final.json"
            | "coverage-summary.json"
            | "test-results.xml"
            | "test-results.json"
            | "test_results.json"
            | "test_results.xml"
            | "test-output.txt"
            | "test_output.txt"
            | "test-results.txt"
            | "test_results.txt"
            | "pytest.log"
            | "test.log"
            | "clover.xml"
    ) || name.starts_with("junit") && name.ends_with(".xml")
        || name.starts_with("test-") && name.ends_with(".xml");
    let begins = head.trim_start_matches('\u{feff}').trim_start();
    let by_content = name.ends_with(".xml")
        && ["<testsuites", "<testsuite", "<coverage "]
            .iter()
            .any(|root| head.contains(root))
        || name.ends_with(".json") && (head.contains("\"numPassedTests\"") || head.contains("\"numTotalTests\""))
        || begins.starts_with("TN:") && head.contains("SF:")
        || begins.starts_with("SF:/");
    by_folder || by_name || by_content && !in_test_folder(&file.path) || by_content && name.contains("result")
}
