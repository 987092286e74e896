//! Compares commands and options that run tests.

use crate::language::{file_name, outline::quoted};
use domain::integrity::SettingChange;

/// Words that start tests, with commas between them.
const RUNNERS: &str = "\
    jest, vitest, mocha, node --test, --test, ava, tap, jasmine, karma, playwright, cypress, pytest, unittest, \
    tox, nox, cargo test, cargo nextest, nextest, cargo llvm-cov, tarpaulin, go test, mvn, gradle, npm test, \
    npm run test, yarn test, pnpm test, pnpm run test, make test, make check, ctest, rspec, phpunit, bun test";
/// Words that start other checks, with commas between them.
const CHECKERS: &str = "\
    clippy, eslint, ruff, mypy, pyright, flake8, black --check, tsc, cargo fmt, cargo check, cargo build, \
    cargo deny, cargo audit, npm run lint, npm run build, npm run typecheck, make lint, coverage report, \
    coverage, prettier --check";
/// Parts of a command that hide failures, or make a run smaller, with commas between them. Other blanks count.
const WEAK: &str = "\
    pytest -c , --test-reporter=., --test-reporter ., --reporter=., --reporter ., pythonoptimize, python -o , \
    python3 -o , python3 -oo , success_codes, || true, ||true, || :, || exit 0, ; exit 0, ; true, || echo, \
    set +e, --passwithnotests, --testpathignorepatterns, --exclude, --ignore, --deselect, -k , --skip, --grep, \
    --testnamepattern, --test-name-pattern, --no-run, --listtests, --collect-only,  --co, --retries, --retry, \
    --dry-run, --no-fail-on-error, --suppress-no-test, -p no:, --continue-on-collection-errors, && exit 0, \
    --dangerouslyignoreunhandlederrors";

/// `true` if a line starts tests.
pub(super) fn runs_tests(line: &str) -> bool {
    let line = line.to_lowercase();
    let by_script = ["node ", "sh ", "./", "bash "].iter().any(|start| line.contains(start));
    RUNNERS.split(", ").any(|runner| has_word(&line, runner)) || by_script && line.contains("test")
}

/// `true` if a line starts tests or another check.
pub(super) fn runs_checks(line: &str) -> bool {
    let by_script = ["sh ", "./"].iter().any(|start| line.contains(start));
    let checks = ["check", "lint", "verify"].iter().any(|word| line.contains(word));
    runs_tests(line)
        || by_script && checks
        || CHECKERS
            .split(", ")
            .any(|checker| has_word(&line.to_lowercase(), checker))
}

fn has_word(line: &str, word: &str) -> bool {
    let ends = |at: usize| {
        let (start, rest) = line.split_at_checked(at).unwrap_or_default();
        let (before, after) = (start.chars().next_back(), rest.chars().nth(word.chars().count()));
        let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !joins(before) && !joins(after)
    };
    line.match_indices(word).any(|(at, _)| ends(at))
}

/// Returns the part of a line that hides failures, or makes a run smaller.
pub(super) fn weakness(line: &str) -> Option<&'static str> {
    let line = line.to_lowercase();
    let said = WEAK.split(", ").find(|weak| is_said(&line, weak));
    said.or_else(|| piped(&line)).or_else(|| let_go(&line))
}

/// `true` if a line contains these words, and not only as the beginning of a longer option: `--cov` is not `--co`.
fn is_said(line: &str, weak: &str) -> bool {
    let is_option = weak.trim_start().starts_with("--") && weak.ends_with(char::is_alphanumeric);
    let goes_on = |at: usize| {
        let rest = line.get(at.saturating_add(weak.len())..).unwrap_or_default();
        rest.starts_with(char::is_alphanumeric)
    };
    line.match_indices(weak).any(|(at, _)| !is_option || !goes_on(at))
}

/// Returns the operator that discards the tests' exit code: a command that always succeeds follows on the line, or the
/// tests run in the background.
fn let_go(line: &str) -> Option<&'static str> {
    let calm = ["echo ", "printf ", "true", ":", "exit 0", "ls", "date"];
    let mut parts = line.split(';').map(str::trim);
    let tests = parts.by_ref().find(|part| runs_tests(part))?;
    let last = parts.rfind(|part| !part.is_empty());
    let forgotten = last.is_some_and(|last| calm.iter().any(|word| last == word.trim() || last.starts_with(word)));
    let heard = ["set -e", "$?", "if "].iter().any(|word| line.contains(word));
    let alone = tests.ends_with('&') && !tests.ends_with("&&");
    let forgotten = (forgotten && !heard).then_some(";");
    forgotten.or(alone.then_some("&"))
}

/// Programs that succeed whatever their input is.
const CALM: &str = "cat tee sed grep awk head tail less more sort tr cut ts xargs";

/// Returns the program, which always succeeds, into which the tests' output is piped.
fn piped(line: &str) -> Option<&'static str> {
    let line = line.replace("||", " ");
    let (from, to) = line.split_once('|')?;
    let program = to.split_whitespace().next()?;
    let program = CALM.split_whitespace().find(|calm| *calm == program)?;
    (runs_tests(from) && !line.contains("pipefail")).then_some(program)
}

/// `true` if a command pipes the tests' output into another program, whose exit code then counts.
fn is_behind_a_pipe(command: &str) -> bool {
    let plain = command.replace("||", "  ");
    let runs = plain.split_once('|').is_some_and(|(before, _)| runs_tests(before));
    runs && !plain.contains("pipefail") && !plain.contains("PIPESTATUS")
}

/// Returns how a command does less than the one before.
pub(super) fn runs_less(before: Option<&str>, after: Option<&str>) -> Option<SettingChange> {
    let Some(after) = after else {
        let ran = before.filter(|before| runs_tests(before));
        return ran.map(|before| SettingChange::Ran(quoted(before)));
    };
    let is_new = |weak: &&str| before.is_none_or(|before| !before.to_lowercase().contains(*weak));
    let tolerates = weakness(after).filter(is_new).is_some() && (before.is_some() || runs_tests(after));
    let is_lost = is_behind_a_pipe(after) && before.is_none_or(|before| !is_behind_a_pipe(before));
    let is_new_rm = after.contains("rm ") && before.is_none_or(|before| !before.contains("rm "));
    let removes = is_new_rm && after.contains("test");
    let runs_none = |before: &str| runs_tests(before) && !runs_tests(after);
    let does_less = before.is_some_and(|before| runs_none(before) || runs_fewer(before, after));
    let is_less = tolerates || is_lost || removes || does_less;
    is_less.then(|| SettingChange::Is(quoted(after)))
}

/// `true` if the old command ran all test files and the new one names some, or if the new one names fewer.
fn runs_fewer(before: &str, after: &str) -> bool {
    let is_file =
        |word: &&str| word.contains("test") && (word.contains('/') || word.contains("::")) && !word.starts_with('-');
    let files = |command| -> Vec<&str> {
        let words = str::split_whitespace(command).filter(is_file);
        words.map(|word| word.trim_matches(['"', '\''])).collect()
    };
    let (old, new) = (files(before), files(after));
    let is_one = |file: &&str| file_name(file).contains('.') && !file_name(file).contains('*');
    let narrower = old.is_empty() && new.iter().any(is_one);
    let fewer = !new.is_empty() && new.len() < old.len() && new.iter().all(|file| old.contains(file));
    narrower || fewer
}
