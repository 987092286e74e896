//! Reads JUnit's XML, which many runners can write. The file may be malformed, since its author is not trusted.

use crate::{
    results::tally::{Outcome, RunResults, Tally},
    xml,
    xml::{Element, NotXml, Part},
};
use text::shorten;

/// The longest test name that is kept, in characters.
const LONGEST_NAME: usize = 4_000;

/// A reason why a file is not a report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAReport {
    /// It is not well-formed XML, or too large.
    #[error(transparent)]
    NotXml(#[from] NotXml),
    /// Its root is not a suite of tests.
    #[error("it holds neither `testsuites` nor `testsuite`")]
    NoSuite,
}

pub fn read(bytes: &[u8]) -> Result<RunResults, NotAReport> {
    let mut report = JunitReport::default();
    xml::read(bytes, |part| report.take(part))?;
    if report.has_suites { Ok(report.tally.into_results()) } else { Err(NotAReport::NoSuite) }
}

/// Returns the results of several reports of one run; `None` if there are none. A report that could not be read leaves
/// the number of tests unknown.
pub fn read_all(reports: &[Option<Vec<u8>>]) -> Option<RunResults> {
    let one = |bytes: &Option<Vec<u8>>| {
        let mut report = JunitReport::default();
        let read = bytes.as_ref().map(|bytes| xml::read(bytes, |part| report.take(part)));
        report.tally.has_uncounted = !matches!(read, Some(Ok(()))) || !report.has_suites;
        report.tally
    };
    Tally::sum_of(reports.iter().map(one).collect()).map(Tally::into_results)
}

/// Returns the results of every report in a command's output.
pub(super) fn printed(text: &str) -> Option<Tally> {
    const END: &str = "</testsuites>";
    let mut tallies = Vec::new();
    let mut rest = text;
    while let Some((_, from)) = rest.split_once("<testsuites") {
        let Some((inside, after)) = from.split_once(END) else {
            break;
        };
        let mut report = JunitReport::default();
        let xml = format!("<testsuites{inside}{END}");
        if xml::read(xml.as_bytes(), |part| report.take(part)).is_ok() && report.has_suites {
            tallies.push(report.tally);
        }
        rest = after;
    }
    Tally::sum_of(tallies)
}

/// The part of the report that was read so far.
#[derive(Default)]
struct JunitReport {
    tally: Tally,
    /// `true` if the root is one or several suites.
    has_suites: bool,
    depth: usize,
    /// The open test. Elements inside a test are not tests.
    case: Option<Case>,
}

struct Case {
    depth: usize,
    name: String,
    outcome: Outcome,
    /// The first line of its failure; empty until it was read.
    failure: Option<String>,
}

impl Case {
    /// Takes the first line of a failure without a message. It may repeat the test's name.
    fn text(&mut self, text: &str) {
        if let Some(line) = self.failure.as_mut().filter(|line| line.is_empty()) {
            let method = self.name.rsplit('.').next().unwrap_or_default();
            let mut lines = text.lines().map(str::trim);
            if let Some(first) = lines.find(|line| !line.is_empty() && !line.ends_with(method)) {
                *line = shorten::start(first, LONGEST_NAME);
            }
        }
    }
}

impl JunitReport {
    fn take(&mut self, part: Part<'_>) {
        match part {
            Part::Start(element) => {
                self.start(&element);
                self.depth = self.depth.saturating_add(1);
            }
            Part::End => {
                self.depth = self.depth.saturating_sub(1);
                if let Some(case) = self.case.take_if(|case| case.depth == self.depth) {
                    self.tally.record(&case.name, case.outcome);
                    if let Some(line) = case.failure.filter(|line| !line.is_empty()) {
                        self.tally.record_failure(&case.name, &line);
                    }
                }
            }
            Part::Text(text) => {
                if let Some(case) = &mut self.case {
                    case.text(&text);
                }
            }
        }
    }

    fn start(&mut self, element: &Element<'_>) {
        let depth = self.depth;
        match (&mut self.case, element.name()) {
            (None, "testcase") => {
                let (name, outcome) = (name(element), outcome(element));
                self.case = Some(Case { depth, name, outcome, failure: None });
            }
            (None, "testsuites" | "testsuite") if depth == 0 => self.has_suites = true,
            (Some(case), result) if case.depth.saturating_add(1) == depth => match result {
                "failure" | "error" => {
                    case.outcome = Outcome::Failed;
                    case.failure.get_or_insert_with(|| message(element));
                }
                "skipped" if case.outcome != Outcome::Failed => case.outcome = Outcome::Skipped,
                _ => {}
            },
            (None | Some(_), _) => {}
        }
    }
}

/// Returns the test's name, after its class if the class adds something.
fn name(case: &Element<'_>) -> String {
    let attribute = |name| case.attribute(name).filter(|value| !value.is_empty());
    let own = attribute("name").unwrap_or_else(|| "a test without a name".to_owned());
    let whole = match attribute("classname") {
        Some(class) if class != own && !own.starts_with(&format!("{class}.")) => format!("{class}.{own}"),
        Some(_) | None => own,
    };
    shorten::middle(&whole, LONGEST_NAME)
}

/// Returns the first line of a failure's message, after its type if the message does not name it; empty if it has no
/// message.
fn message(failure: &Element<'_>) -> String {
    let attribute = |name| failure.attribute(name).unwrap_or_default();
    let (message, class) = (attribute("message"), attribute("type"));
    let line = message.lines().next().unwrap_or_default();
    let line = if line.is_empty() || line.contains(&class) { line.to_owned() } else { format!("{class}: {line}") };
    shorten::start(&line, LONGEST_NAME)
}

/// Returns the outcome that the test's own attributes give.
fn outcome(case: &Element<'_>) -> Outcome {
    match case.attribute("status").as_deref() {
        Some("skipped" | "disabled" | "notrun") => Outcome::Skipped,
        Some(_) | None => Outcome::Passed,
    }
}

#[cfg(test)]
mod tests {
    use super::{NotAReport, NotXml, read, read_all};
    use domain::evidence::Counts;

    #[test]
    fn a_report_names_every_test() {
        let xml = "<?xml version='1.0'?><testsuites><testsuite name='s'><testcase classname='a.B' name='adds' time='0.1'/>\
                   <testcase classname='a.B' name='halves'><failure message='no'>x</failure></testcase>\
                   <testsuite><testcase name='later'><skipped/></testcase><testcase name='later'><error/></testcase>\
                   </testsuite></testsuite></testsuites>";
        let report = read(xml.as_bytes()).unwrap();
        let names = report.names.unwrap();
        assert_eq!(names.passed, ["a.B.adds"]);
        assert_eq!(names.failed, ["a.B.halves", "later ⟨2⟩"]);
        assert_eq!(names.skipped, ["later"]);
        let counts = Counts::Known { passed: 1, failed: 2, skipped: 1 };
        assert_eq!(report.counts, counts);
    }

    #[test]
    fn several_reports_add_up() {
        let suite =
            |test: &str| Some(format!("<testsuite><testcase classname='a.B' name='{test}'/></testsuite>").into_bytes());
        let sum = read_all(&[suite("adds"), suite("halves")]).unwrap();
        let counts = |passed| Counts::Known { passed, failed: 0, skipped: 0 };
        assert_eq!(
            (sum.counts, sum.names.unwrap().passed),
            (counts(2), vec!["a.B.adds".to_owned(), "a.B.halves".to_owned()])
        );
        for broken in [None, Some(b"<testsuite>".to_vec()), Some(b"<html/>".to_vec())] {
            let sum = read_all(&[suite("adds"), broken]).unwrap();
            assert_eq!((sum.counts, sum.names.unwrap().passed.len()), (Counts::Unknown, 1));
        }
        assert_eq!(read_all(&[]), None);
    }

    #[test]
    fn hostile_files_are_refused() {
        let bomb = "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;'>]><testsuite>&b;</testsuite>";
        let deep = format!("<testsuite>{}", "<a>".repeat(200_000));
        for text in [bomb, &deep, "", "{}", "<testsuite>", "<testsuite/><x/>"] {
            assert!(matches!(read(text.as_bytes()), Err(NotAReport::NotXml(_))), "{text:.60}");
        }
        assert_eq!(read(b"<html/>"), Err(NotAReport::NoSuite));
        assert_eq!(read(&[0xff, 0xfe, 0]), Err(NotAReport::NotXml(NotXml::NotText)));
    }
}
