//! Detects Maven and Gradle, and uses their wrappers if the repository has them.

use crate::gates::detect::{Found, Repository};

pub(super) const FILES: &[&str] = &["pom.xml", "build.gradle", "build.gradle.kts"];

pub(super) fn detect(repository: &Repository<'_>) -> Option<Found> {
    let file = repository.first(FILES)?;
    let program = |wrapper: &str, installed: &str| match repository.has(wrapper) {
        true => format!("sh ./{wrapper}"),
        false => installed.to_owned(),
    };
    let (setup, test) = match file {
        // Both fetch their test engines only when tests run, so set-up asks for a test that does not exist.
        "pom.xml" => {
            let maven = program("mvnw", "mvn");
            let none = "-Dtest=NoSuchTest -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false";
            (format!("{maven} -B -q test {none}"), format!("{maven} -B -o test"))
        }
        _ => {
            let gradle = program("gradlew", "gradle");
            let none = format!("({gradle} -q test --tests NoSuchTest || true)");
            (
                format!("{gradle} -q testClasses && {none}"),
                format!("{gradle} --offline test"),
            )
        }
    };
    Some(Found {
        setup,
        test,
        evidence: file.to_owned(),
    })
}
