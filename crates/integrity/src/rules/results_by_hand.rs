//! The change contains test or coverage results that should come from a run.

use crate::{
    change::{Change, FileChange, Version},
    changed_file::Reading,
    language,
    rules::rule::{ANYWHERE, ReadingRule, Violation, at, at_line},
    words::is_one_of,
};
use domain::integrity::{Detail, Rule};

pub(super) static RULE: ReadingRule = ReadingRule {
    rule: Rule::ResultsByHand,
    applies: ANYWHERE,
    refuses: &[("junit.xml", "", "<testsuites>\n</testsuites>\n")],
    accepts: &[("tests/fixtures/junit.xml", "", "<testsuites>\n</testsuites>\n")],
    check,
};

/// Names of the files in which runners and coverage tools store results.
const NAMES: &str = "
    .coverage clover.xml cobertura.xml coverage-final.json coverage-summary.json coverage.json coverage.lcov
    coverage.xml jest-results.json junit.xml lcov.info tarpaulin-report.json tarpaulin-report.xml
    test-report.xml test-results.json test-results.xml
";

/// Folders that only runners write.
const FOLDERS: &str = ".nyc_output .pytest_cache coverage-report htmlcov test-reports test-results surefire-reports";

/// The number of bytes at a file's beginning that are searched for the marks of a results format.
const BEGINNINGS: usize = 4_096;

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    let change = reading.change;
    let found = |file| in_file(change, file).or_else(|| by_code(change, file));
    change.files.iter().filter_map(found).collect()
}

/// Calls that write a file.
const WRITING: &str = "
    fs::write File::create OpenOptions write_text write_bytes open( writeFile createWriteStream appendFile
";

/// Finds code that writes files and newly names a results file from the settings.
fn by_code(change: &Change<'_>, file: &FileChange) -> Option<Violation> {
    language::of(&file.path)?;
    let text = |version: &Version| version.bytes().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let (before, after) = (text(&file.before).unwrap_or_default(), text(&file.after)?);
    let names = |line: &str| {
        change.results.iter().any(|path| {
            let path = path.trim_start_matches("./");
            let ends = |mark: &char| line.contains(&format!("{path}{mark}"));
            !path.is_empty() && ['"', '\'', '`'].iter().any(ends)
        })
    };
    let mut lines = (1_u32..).zip(after.lines());
    let line = lines.find(|(_, line)| names(line) && !before.contains(line.trim()));
    let writes = WRITING.split_whitespace().any(|word| after.contains(word));
    line.filter(|_| writes)
        .map(|(number, line)| at_line(&file.path, number, line))
}

fn in_file(change: &Change<'_>, file: &FileChange) -> Option<Violation> {
    if file.after == Version::Absent {
        return None;
    }
    let mut results = change.results.iter();
    let is_read = results.any(|path| path.trim_start_matches("./") == file.path);
    let is_new = file.before == Version::Absent;
    (is_read || is_new && looks_like_results(file)).then(|| at(&file.path, 1, Detail::Nothing))
}

/// `true` if a file looks like results. Data for tests may look so too, such as for the tests of a results parser, so
/// it is exempt.
fn looks_like_results(file: &FileChange) -> bool {
    let path = file.path.as_str();
    if language::in_test_folder(path) || language::in_support_folder(path) {
        return false;
    }
    let name = language::file_name(path);
    is_one_of(NAMES, name)
        || language::folders(path).any(|folder| is_one_of(FOLDERS, folder))
        || file.after.bytes().is_some_and(|bytes| begins_like_results(name, bytes))
}

fn begins_like_results(name: &str, bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes.get(..BEGINNINGS.min(bytes.len())).unwrap_or_default()).into_owned();
    let has_one = |words: &[&str]| words.iter().any(|word| text.contains(word));
    match name.rsplit_once('.').map(|(_, end)| end) {
        Some("xml") => has_one(&["<testsuite", "<coverage ", "<assemblies", "<test-run"]),
        Some("info" | "lcov") => text.starts_with("SF:") || text.starts_with("TN:"),
        Some("json") => has_one(&[
            "\"numPassedTests\"",
            "\"numTotalTests\"",
            "\"llvm.coverage.json.export\"",
        ]),
        Some("tap") => has_one(&["\nok 1"]),
        _ => false,
    }
}
