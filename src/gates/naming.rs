//! How runners that print only numbers or dots are made to name their tests.

use crate::gates::detect::Repository;
use domain::shell_command::{ShellCommand, SimpleCommand};
use serde_json::Value;
use std::ffi::OsString;

/// Variables for every test command. Each is read by one runner alone, also where a script or `make` starts it.
///
/// pytest goes on where a file cannot be loaded: what failed before must not keep the rest from running.
pub(crate) fn variables() -> Vec<(OsString, OsString)> {
    [
        ("PYTEST_ADDOPTS", "-vv -rfEp --continue-on-collection-errors"),
        ("NEXTEST_STATUS_LEVEL", "all"),
    ]
    .map(|(name, value)| (name.into(), value.into()))
    .to_vec()
}

/// The line that runs the tests: the command as it was written, or, where it plainly is one known runner, that runner
/// with what makes it name every test, and run every test also where one fails.
pub(crate) fn line(command: &ShellCommand, repository: &Repository<'_>) -> String {
    let with_more = command.simple().and_then(|simple| named(simple, repository));
    with_more.map_or_else(|| command.text().to_owned(), |simple| simple.to_string())
}

/// The line that builds the tests and runs none, where the command plainly is a runner that can.
pub(crate) fn building(command: &ShellCommand) -> Option<String> {
    let mut simple = command.simple()?;
    let words: Vec<&str> = simple.words.iter().map(String::as_str).collect();
    cargo(&words).filter(|_| !words.contains(&"--no-run"))?;
    let end = words.iter().position(|word| *word == "--").unwrap_or(words.len());
    simple.words.truncate(end);
    simple.words.push("--no-run".to_owned());
    Some(simple.to_string())
}

/// The runner with more arguments; `None` where it needs none.
fn named(mut simple: SimpleCommand, repository: &Repository<'_>) -> Option<SimpleCommand> {
    let words: Vec<&str> = simple.words.iter().map(String::as_str).collect();
    if let Some(flag) = cargo(&words).filter(|_| !words.contains(&"--no-fail-fast")) {
        // Arguments after `--` are the test binaries' own.
        let end = words.iter().position(|word| *word == "--").unwrap_or(words.len());
        simple.words.insert(end, flag.to_owned());
        return Some(simple);
    }
    let more = more(&words, repository);
    let is_any = !more.is_empty();
    simple.words.extend(more.into_iter().map(str::to_owned));
    is_any.then_some(simple)
}

/// What is added behind what people wrote.
fn more(words: &[&str], repository: &Repository<'_>) -> Vec<&'static str> {
    match words {
        ["go", "test", ..] if !words.contains(&"-v") && !words.contains(&"-args") => return vec!["-v"],
        _ if is_unittest(words) => return vec!["-v"],
        _ => {}
    }
    match through_script(words) {
        Some(through) => {
            let script = test_script(repository).unwrap_or_default();
            let ran: Vec<&str> = script.split_whitespace().collect();
            javascript(&ran).map_or_else(Vec::new, |flag| through.iter().copied().chain([flag]).collect())
        }
        None => javascript(words).into_iter().collect(),
    }
}

/// `cargo test` and `cargo nextest run`, which leave out the other test binaries when one fails.
fn cargo(words: &[&str]) -> Option<&'static str> {
    let words = match words {
        ["cargo", toolchain, rest @ ..] if toolchain.starts_with('+') => rest,
        ["cargo", rest @ ..] => rest,
        _ => return None,
    };
    match words {
        ["test" | "t", ..] | ["nextest", "run" | "r", ..] => Some("--no-fail-fast"),
        _ => None,
    }
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
fn through_script(words: &[&str]) -> Option<&'static [&'static str]> {
    match words {
        ["npm", "test" | "t"] | ["npm", "run", "test"] => Some(&["--"]),
        ["yarn" | "pnpm", "test"] | ["yarn" | "pnpm", "run", "test"] => Some(&[]),
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
    use super::line;
    use crate::gates::detect::Repository;

    fn told(command: &str, script: &str) -> String {
        let manifest = serde_json::json!({ "scripts": { "test": script } }).to_string();
        let repository = Repository {
            paths: &["package.json".to_owned()],
            read: &|_| Some(manifest.clone()),
        };
        line(&command.parse().unwrap(), &repository)
    }

    #[test]
    fn only_what_is_plainly_one_runner_gets_arguments() {
        let table = [
            ("python3 -m unittest", "", "python3 -m unittest -v"),
            (
                "uv run python -m unittest discover -s tests",
                "",
                "uv run python -m unittest discover -s tests -v",
            ),
            ("python3 -m pytest", "", "python3 -m pytest"),
            ("npm test", "jest", "npm test -- --verbose"),
            ("npm test", "NODE_ENV=test jest --coverage", "npm test -- --verbose"),
            ("npm test", "jest && eslint .", "npm test"),
            ("npm test", "jest --verbose", "npm test"),
            ("npm test", "node --test", "npm test"),
            ("yarn test", "vitest run", "yarn test --reporter=verbose"),
            ("pnpm test", "vitest --reporter=json", "pnpm test"),
            ("npx jest", "", "npx jest --verbose"),
            ("NODE_ENV='a b' npx jest", "", "NODE_ENV='a b' npx jest --verbose"),
            ("cd web && npx jest", "", "cd web && npx jest"),
            ("npx jest *.test.js", "", "npx jest *.test.js"),
            (
                "./node_modules/.bin/vitest run",
                "",
                "./node_modules/.bin/vitest run --reporter=verbose",
            ),
            ("npm run lint", "jest", "npm run lint"),
            ("cargo test", "jest", "cargo test --no-fail-fast"),
            (
                "cargo +nightly test -- --nocapture",
                "",
                "cargo +nightly test --no-fail-fast -- --nocapture",
            ),
            (
                "cargo nextest run --no-fail-fast",
                "",
                "cargo nextest run --no-fail-fast",
            ),
            ("cargo build", "", "cargo build"),
            ("go test ./...", "", "go test ./... -v"),
        ];
        for (command, script, expected) in table {
            assert_eq!(told(command, script), expected, "{command} with {script}");
        }
    }
}
