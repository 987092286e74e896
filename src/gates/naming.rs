//! How runners that print only numbers or dots are made to name their tests.

use crate::config::CommandLine;
use crate::gates::detect::Repository;
use serde_json::Value;
use std::ffi::OsString;

/// Variables for every test command. Each is read by one runner alone, also where a script or `make` starts it.
pub(crate) fn variables() -> Vec<(OsString, OsString)> {
    [("PYTEST_ADDOPTS", "-vv -rfEp"), ("NEXTEST_STATUS_LEVEL", "all")]
        .map(|(name, value)| (name.into(), value.into()))
        .to_vec()
}

/// Arguments after those that people wrote, for a command that plainly is one runner.
pub(crate) fn arguments(command: &CommandLine, repository: &Repository<'_>) -> Vec<String> {
    let words: Vec<&str> = std::iter::once(command.program())
        .chain(command.args().iter().map(String::as_str))
        .collect();
    if is_unittest(&words) {
        return vec!["-v".to_owned()];
    }
    let script;
    let (ran, through) = match through_script(&words) {
        Some(through) => {
            script = test_script(repository).unwrap_or_default();
            (script.split_whitespace().collect(), through)
        }
        None => (words, Vec::new()),
    };
    let Some(argument) = javascript(&ran) else {
        return Vec::new();
    };
    through.into_iter().chain([argument]).map(str::to_owned).collect()
}

/// `python3 -m unittest …`, also through `uv run`.
fn is_unittest(words: &[&str]) -> bool {
    words.windows(2).any(|pair| matches!(pair, ["-m", "unittest"])) && is_plain(words)
}

/// Whether this is one command, and not several or a pipe.
fn is_plain(words: &[&str]) -> bool {
    !words
        .iter()
        .any(|word| word.contains(['&', '|', ';', '>', '<', '$', '`']))
}

/// `npm test` and its like, with what must stand before arguments for the script itself.
fn through_script<'a>(words: &[&'a str]) -> Option<Vec<&'a str>> {
    match words {
        ["npm", "test" | "t"] | ["npm", "run", "test"] => Some(vec!["--"]),
        ["yarn" | "pnpm", "test"] | ["yarn" | "pnpm", "run", "test"] => Some(Vec::new()),
        _ => None,
    }
}

fn test_script(repository: &Repository<'_>) -> Option<String> {
    let text = (repository.read)("package.json")?;
    let manifest: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
    Some(manifest.get("scripts")?.get("test")?.as_str()?.to_owned())
}

/// What makes jest or vitest name the tests that pass.
fn javascript(words: &[&str]) -> Option<&'static str> {
    if !is_plain(words) {
        return None;
    }
    let words = match words {
        ["npx", rest @ ..] => rest,
        words => words,
    };
    // Settings such as `NODE_ENV=test` stand before the program.
    let program = words.iter().find(|word| !word.contains('='))?;
    let has = |flag: &str| words.iter().any(|word| word.starts_with(flag));
    match program.rsplit('/').next() {
        Some("jest") if !has("--verbose") && !has("--reporters") => Some("--verbose"),
        Some("vitest") if !has("--reporter") => Some("--reporter=verbose"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::arguments;
    use crate::gates::detect::Repository;

    fn told(command: &str, script: &str) -> String {
        let manifest = serde_json::json!({ "scripts": { "test": script } }).to_string();
        let repository = Repository {
            paths: &["package.json".to_owned()],
            read: &|_| Some(manifest.clone()),
        };
        arguments(&command.parse().unwrap(), &repository).join(" ")
    }

    #[test]
    fn only_what_is_plainly_one_runner_gets_arguments() {
        let table = [
            ("python3 -m unittest", "", "-v"),
            ("uv run python -m unittest discover -s tests", "", "-v"),
            ("python3 -m pytest", "", ""),
            ("npm test", "jest", "-- --verbose"),
            ("npm test", "NODE_ENV=test jest --coverage", "-- --verbose"),
            ("npm test", "jest && eslint .", ""),
            ("npm test", "jest --verbose", ""),
            ("npm test", "node --test", ""),
            ("yarn test", "vitest run", "--reporter=verbose"),
            ("pnpm test", "vitest --reporter=json", ""),
            ("npx jest", "", "--verbose"),
            ("./node_modules/.bin/vitest run", "", "--reporter=verbose"),
            ("npm run lint", "jest", ""),
            ("cargo test", "jest", ""),
        ];
        for (command, script, expected) in table {
            assert_eq!(told(command, script), expected, "{command} with {script}");
        }
    }
}
