//! JUnit's XML, which many runners can write. Whoever wrote the file is not believed to have written it well.

use crate::gates::results::Read;
use crate::gates::results::tally::Outcome;
use crate::gates::results::tally::Tally;
use roxmltree::Document;
use roxmltree::Node;
use roxmltree::ParsingOptions;

/// The most elements, attributes and texts of a report.
const MOST_NODES: u32 = 2_000_000;

/// Why a file is not a report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotAReport {
    /// The bytes are not text.
    #[error("it is not UTF-8")]
    NotText,
    /// The text is not well-formed XML, or too large.
    #[error("it is not XML that can be read: {0}")]
    NotXml(String),
    /// Nothing in it is a suite of tests.
    #[error("it holds neither `testsuites` nor `testsuite`")]
    NoSuite,
}

/// The results of a report.
pub(crate) fn read(bytes: &[u8]) -> Result<Read, NotAReport> {
    let document_text = std::str::from_utf8(bytes).map_err(|_| NotAReport::NotText)?;
    let document = parse(document_text)?;
    let root = document.root_element();
    if !matches!(root.tag_name().name(), "testsuites" | "testsuite") {
        return Err(NotAReport::NoSuite);
    }
    let mut tally = Tally::default();
    for case in root.descendants().filter(|node| node.has_tag_name("testcase")) {
        tally.counted(&name(case), outcome(case));
    }
    Ok(tally.read())
}

/// A document that is not too large, without document type definitions.
pub(crate) fn parse(text: &str) -> Result<Document<'_>, NotAReport> {
    let options = ParsingOptions {
        allow_dtd: false,
        nodes_limit: MOST_NODES,
        ..ParsingOptions::default()
    };
    let text = text.trim_start_matches('\u{feff}');
    Document::parse_with_options(text, options).map_err(|error| NotAReport::NotXml(error.to_string()))
}

/// The class, where it says more than the name, and the name.
fn name(case: Node<'_, '_>) -> String {
    let attribute = |name| {
        case.attribute(name)
            .map(str::trim)
            .filter(|value: &&str| !value.is_empty())
    };
    let own = attribute("name").unwrap_or("a test without a name");
    match attribute("classname") {
        Some(class) if class != own && !own.starts_with(&format!("{class}.")) => format!("{class}.{own}"),
        _ => own.to_owned(),
    }
}

fn outcome(case: Node<'_, '_>) -> Outcome {
    let has = |wanted: &str| case.children().any(|node| node.has_tag_name(wanted));
    if has("failure") || has("error") {
        return Outcome::Failed;
    }
    let is_skipped = case
        .attribute("status")
        .is_some_and(|status| matches!(status, "skipped" | "disabled" | "notrun"));
    match has("skipped") || is_skipped {
        true => Outcome::Skipped,
        false => Outcome::Passed,
    }
}

#[cfg(test)]
mod tests {
    use super::NotAReport;
    use super::read;
    use crate::domain::evidence::Counts;

    #[test]
    fn a_report_names_every_test() {
        let xml = "<?xml version='1.0'?><testsuites><testsuite name='s'><testcase classname='a.B' name='adds' time='0.1'/>\
                   <testcase classname='a.B' name='halves'><failure message='no'>x</failure></testcase>\
                   <testsuite><testcase name='later'><skipped/></testcase><testcase name='later'><error/></testcase>\
                   </testsuite></testsuite></testsuites>";
        let report = read(xml.as_bytes()).unwrap();
        let names = report.names.unwrap();
        assert_eq!(names.passed, ["a.B.adds"]);
        assert_eq!(names.failed, ["a.B.halves", "later (2)"]);
        assert_eq!(names.skipped, ["later"]);
        let counts = Counts::Known {
            passed: 1,
            failed: 2,
            skipped: 1,
        };
        assert_eq!(report.counts, counts);
    }

    #[test]
    fn hostile_files_are_refused() {
        let bomb = "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;'>]><testsuite>&b;</testsuite>";
        let deep = format!("<testsuite>{}", "<a>".repeat(200_000));
        for text in [bomb, &deep, "", "{}", "<testsuite>", "<testsuite/><x/>"] {
            assert!(
                matches!(read(text.as_bytes()), Err(NotAReport::NotXml(_))),
                "{text:.60}"
            );
        }
        assert_eq!(read(b"<html/>"), Err(NotAReport::NoSuite));
        assert_eq!(read(&[0xff, 0xfe, 0]), Err(NotAReport::NotText));
    }
}
