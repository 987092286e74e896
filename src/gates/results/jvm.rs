//! Selects tests of Maven and Gradle. Their names come from the results files that they write.

use crate::gates::results::runner::{Arguments, Runner};
use std::collections::BTreeSet;

pub(super) static MAVEN: Runner = Runner {
    select: Some(|words, asked| {
        let is_taken = words.iter().any(|word| word.starts_with("-Dtest="));
        let tests: Option<BTreeSet<String>> = asked.names.iter().map(|name| method(name, '#')).collect();
        let tests: Vec<String> = tests.filter(|_| !is_taken)?.into_iter().collect();
        Arguments::at_end(vec![
            format!("-Dtest={}", tests.join(",")),
            "-Dsurefire.failIfNoSpecifiedTests=false".to_owned(),
            "-DfailIfNoTests=false".to_owned(),
        ])
    }),
    ..Runner::called(&[&["mvn"], &["mvnw"]])
};

pub(super) static GRADLE: Runner = Runner {
    with: Some("test"),
    select: Some(|words, asked| {
        let is_taken = words.iter().any(|word| word.starts_with("--tests"));
        let tests: Option<BTreeSet<String>> = asked.names.iter().map(|name| method(name, '.')).collect();
        let tests = tests.filter(|_| !is_taken)?;
        Arguments::at_end(
            tests
                .into_iter()
                .flat_map(|test| ["--tests".to_owned(), test])
                .collect(),
        )
    }),
    ..Runner::called(&[&["gradle"], &["gradlew"]])
};

/// Returns a class and method such as `a.B.adds`, without parameters and with this separator.
fn method(name: &str, separator: char) -> Option<String> {
    let name = name.split(['(', '[', '{']).next()?.trim_end();
    let (class, method) = name.rsplit_once('.')?;
    let is_plain = |c: char| c.is_alphanumeric() || "_$.".contains(c);
    (name.chars().all(is_plain) && !method.is_empty()).then(|| format!("{class}{separator}{method}"))
}
