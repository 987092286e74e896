//! Selects tests of Maven and Gradle. Their names come from the results files that they write.

use crate::results::runner::{Arguments, Runner, Select};
use std::collections::BTreeSet;

pub(super) static MAVEN: Runner = Runner {
    select: Some(Select {
        by: |_, asked| {
            Some(Arguments::at_end([
                format!("-Dtest={}", Vec::from_iter(methods(asked.names, '#')?).join(",")),
                "-Dsurefire.failIfNoSpecifiedTests=false".to_owned(),
                "-DfailIfNoTests=false".to_owned(),
            ]))
        },
        unless: &["-Dtest="],
    }),
    ..Runner::called(&[&["mvn"], &["mvnw"], &["sh", "./mvnw"]])
};

pub(super) static GRADLE: Runner = Runner {
    with: Some("test"),
    select: Some(Select {
        by: |_, asked| {
            let tests = methods(asked.names, '.')?.into_iter();
            Some(Arguments::at_end(tests.flat_map(|test| ["--tests".to_owned(), test])))
        },
        unless: &["--tests"],
    }),
    ..Runner::called(&[&["gradle"], &["gradlew"], &["sh", "./gradlew"]])
};

/// Returns the classes and methods such as `a.B.adds`, without parameters and with this separator.
fn methods(names: &[&str], separator: char) -> Option<BTreeSet<String>> {
    let is_plain = |c: char| c.is_alphanumeric() || "_$.".contains(c);
    let method = |name: &&str| {
        let name = name.split(['(', '[', '{']).next()?.trim_end();
        let (class, method) = name.rsplit_once('.')?;
        (name.chars().all(is_plain) && !method.is_empty()).then(|| format!("{class}{separator}{method}"))
    };
    names.iter().map(method).collect()
}
