//! Detects Maven and Gradle, and uses their wrappers if the repository has them.

use crate::detect::repository::{Detection, Repository};

pub(super) const FILES: &[&str] = &["pom.xml", "build.gradle", "build.gradle.kts"];

pub(super) fn detect(repository: &Repository<'_>) -> Option<Detection> {
    let file = repository.first(FILES)?;
    let program = |wrapper: &str, installed: &str| {
        if repository.has(wrapper) { format!("sh ./{wrapper}") } else { installed.to_owned() }
    };
    // Both fetch their test engines only when tests run, so set-up asks for a test that does not exist. Maven needs a
    // class that does, or it skips the engine.
    if file == "pom.xml" {
        let maven = program("mvnw", "mvn");
        let none = "'-Dtest=*#NoSuchTest' -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false";
        let setup = format!("{maven} -B -q test {none}");
        return Some(Detection::new(setup, format!("{maven} -B -o test"), file));
    }
    let gradle = program("gradlew", "gradle");
    let setup = format!("{gradle} -q testClasses && ({gradle} -q test --tests NoSuchTest || true)");
    Some(Detection::new(setup, format!("{gradle} --offline test"), file))
}
