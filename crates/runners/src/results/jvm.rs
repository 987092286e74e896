//! Selects tests of Maven and Gradle. Their names come from the results files that these tools write by default.

use crate::results::runner::{Arguments, Runner, Select};
use std::collections::BTreeSet;

/// Files that show that a repository is built by Maven, Gradle or sbt.
const MANIFESTS: [&str; 6] =
    ["pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "build.sbt"];

/// The folders of a module in which results are stored, by Maven's Surefire and Failsafe, Gradle and sbt.
const FOLDERS: [&str; 4] =
    ["target/surefire-reports", "target/failsafe-reports", "build/test-results", "target/test-reports"];

const MOST_MODULES: usize = 500;

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
    ..Runner::only_called(&[&["mvn"], &["mvnw"], &["sh", "./mvnw"]])
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
    ..Runner::only_called(&[&["gradle"], &["gradlew"], &["sh", "./gradlew"]])
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

/// Returns the folders in which the modules of a repository with these paths may store results.
pub fn report_folders(paths: &[String]) -> Vec<String> {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    if !paths.iter().any(|path| MANIFESTS.contains(&name(path).as_str())) {
        return Vec::new();
    }
    let is_whole = |above: &str| above.is_empty() || above.ends_with('/');
    // A module without a manifest of its own is recognised by its sources.
    let sources =
        |path: &str| path.match_indices("src/").map(|(at, _)| at).find(|at| path.get(..*at).is_some_and(is_whole));
    let module = |path: &String| match sources(path) {
        Some(at) => path.get(..at).map(str::to_owned),
        None if MANIFESTS.contains(&name(path).as_str()) => path.strip_suffix(&name(path)).map(str::to_owned),
        None => None,
    };
    let modules: BTreeSet<String> = paths.iter().filter_map(module).collect();
    let all = modules.into_iter().take(MOST_MODULES);
    all.flat_map(|module| FOLDERS.map(|folder| format!("{module}{folder}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::report_folders;

    #[test]
    fn modules_are_those_with_a_manifest_or_sources() {
        let paths = |all: &[&str]| all.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
        let of = |all: &[&str]| report_folders(&paths(all));
        assert_eq!(of(&["Makefile", "src/main.c"]), Vec::<String>::new());
        let found = of(&["settings.gradle", "api/src/test/java/A.java", "web/pom.xml", "xsrc/a"]);
        for folder in ["build/test-results", "api/build/test-results", "web/target/surefire-reports"] {
            assert!(found.contains(&folder.to_owned()), "{folder}: {found:?}");
        }
        assert_eq!(found.len(), 3 * 4);
    }
}
