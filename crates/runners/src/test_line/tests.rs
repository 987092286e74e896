use super::{Named, TestLine};
use crate::detect::Repository;
use domain::evidence::Additions;
use std::collections::BTreeSet;

fn line(command: &str, script: &str) -> TestLine {
    let manifest = serde_json::json!({ "scripts": { "test": script } }).to_string();
    let paths = ["package.json".to_owned()];
    let read = |_: &str| Some(manifest.clone());
    TestLine::new(&command.parse().unwrap(), &Repository::new(&paths, &read))
}

#[test]
fn only_what_is_plainly_one_runner_gets_arguments() {
    let table = [
        ("python3 -m unittest", "", "python3 -m unittest -v"),
        ("uv run python -m unittest discover -s tests", "", "uv run python -m unittest discover -s tests -v"),
        ("python3 -m pytest", "", "python3 -m pytest"),
        ("npm test", "jest", "npm test -- --verbose"),
        ("corepack pnpm test", "jest", "corepack pnpm test --verbose"),
        ("npm test -- --coverage", "jest", "npm test -- --coverage --verbose"),
        ("npm test", "NODE_ENV=test jest --coverage", "npm test -- --verbose"),
        ("npm test", "cross-env NODE_ENV=test c8 mocha test", "npm test -- --reporter=spec"),
        ("npm test", "nyc -r lcov mocha --exit test/*.test.js", "npm test -- --reporter=spec"),
        ("npm test", "jest && eslint .", "npm test"),
        ("npm test", "jest --verbose", "npm test"),
        ("npm test", "node --test", "npm test"),
        ("npm test", "ava", "npm test -- --tap"),
        ("yarn test", "vitest run", "yarn test --reporter=verbose"),
        ("yarn jest", "", "yarn jest --verbose"),
        ("pnpm test", "vitest --reporter=json", "pnpm test"),
        ("npx jest", "", "npx jest --verbose"),
        ("NODE_ENV='a b' npx jest", "", "NODE_ENV='a b' npx jest --verbose"),
        ("cd web && npx jest", "", "cd web && npx jest"),
        ("npx jest *.test.js", "", "npx jest *.test.js"),
        ("npx eslint jest", "", "npx eslint jest"),
        ("./node_modules/.bin/vitest run", "", "./node_modules/.bin/vitest run --reporter=verbose"),
        ("npm run lint", "jest", "npm run lint"),
        ("cargo test", "jest", "cargo test --no-fail-fast"),
        ("cargo +nightly test -- --nocapture", "", "cargo +nightly test --no-fail-fast -- --nocapture"),
        ("cargo nextest run --no-fail-fast", "", "cargo nextest run --no-fail-fast"),
        ("cargo build", "", "cargo build"),
        ("go test ./...", "", "go test ./... -v"),
        ("python3 manage.py test", "", "python3 manage.py test --verbosity=2"),
        ("../.venv/bin/python3 manage.py test shop -v 2", "", "../.venv/bin/python3 manage.py test shop -v 2"),
        ("bundle exec rake test", "", "bundle exec rake test TESTOPTS=-v"),
        ("vendor/bin/phpunit", "", "vendor/bin/phpunit --log-junit=php://stdout"),
        ("mix test", "", "mix test --trace"),
        ("dotnet test --no-restore", "", "dotnet test --no-restore '--logger:console;verbosity=normal'"),
    ];
    for (command, script, expected) in table {
        assert_eq!(line(command, script).naming(), expected, "{command} with {script}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn each_runner_is_told_which_tests_to_run() {
    let table: [(&str, &str, &[&str], &str); 25] = [
        (
            "cargo test --lib",
            "",
            &["tests::adds", "tests::adds ⟨2⟩"],
            "cargo test --lib --no-fail-fast -- tests::adds tests::adds --exact",
        ),
        (
            "cargo test -- --nocapture",
            "",
            &["src/lib.rs - add"],
            "cargo test --no-fail-fast -- --nocapture 'src/lib.rs - add'",
        ),
        ("cargo test", "", &["src/lib.rs - add"], "cargo test --no-fail-fast --doc -- 'src/lib.rs - add'"),
        ("cargo test", "", &["src/lib.rs - add", "adds"], "cargo test --no-fail-fast -- 'src/lib.rs - add' adds"),
        (
            "cargo nextest run",
            "",
            &["demo tests::adds", "demo::it b"],
            "cargo nextest run --no-fail-fast -E 'test(=tests::adds) + test(=b)'",
        ),
        ("pytest -q tests", "", &["tests/test_a.py::test_x[a b]"], "pytest -q tests/test_a.py::test_x"),
        (
            "uv run --group dev pytest -n auto",
            "",
            &["tests/test_a.py::T::test_x", "tests/test_a.py::T::test_x (error)"],
            "uv run --group dev pytest -n auto tests/test_a.py::T::test_x",
        ),
        ("python3 -m pytest", "", &["t.py::a"], "python3 -m pytest t.py::a"),
        (
            "python3 -m unittest",
            "",
            &["tests.test_a.T.test_x (i=1)"],
            "python3 -m unittest -v -k tests.test_a.T.test_x",
        ),
        (
            "npm test",
            "jest",
            &["./a.test.js › sum › 1+1", "./b.test.js › retries (3)"],
            "npm test -- --verbose -t '^(retries \\(3\\)|sum( | › )1\\+1)$'",
        ),
        (
            "npx vitest run",
            "",
            &["test/a.test.ts > sum > adds", "test/a.test.ts > top (a)"],
            "npx vitest run --reporter=verbose test/a.test.ts -t '^(sum( | > )adds|top \\(a\\))$'",
        ),
        ("npx mocha", "", &["sum adds"], "npx mocha --reporter=spec -g '^(sum adds)$'"),
        ("npm test", "ava", &["!adds", "b"], "npm test -- --tap '--match=*adds' --match=b"),
        (
            "node --test test/a.js",
            "",
            &["sum > adds"],
            "node '--test-name-pattern=^(adds|sum|sum adds)$' --test test/a.js",
        ),
        ("npm test", "node --test", &["a"], "npm test -- '--test-name-pattern=^(a)$'"),
        ("go test ./...", "", &["x/sub.TestAdd/one_two", "TestOther"], "go test ./... -v -run '^(TestAdd|TestOther)$'"),
        (
            "./mvnw -q test",
            "",
            &["a.B.adds(int)[1]", "a.C.x"],
            "./mvnw -q test '-Dtest=a.B#adds,a.C#x' -Dsurefire.failIfNoSpecifiedTests=false -DfailIfNoTests=false",
        ),
        ("./gradlew test", "", &["a.B.adds()"], "./gradlew test --tests a.B.adds"),
        ("npm test", "node --test test/*.js", &["a"], ""),
        ("pytest --cov tests", "", &["tests/test_a.py::test_x"], ""),
        ("make test", "", &["a"], ""),
        ("pytest", "", &["--nope/test_n.py::test_x"], ""),
        ("pytest", "", &["@more/test_n.py::test_x"], ""),
        ("cargo test", "", &["a", "--nope"], ""),
        ("npx vitest run", "", &["unit --nope.test.ts > top"], ""),
    ];
    let paths = ["tests/test_a.py".to_owned()];
    for (command, script, names, expected) in table {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let wanted = Named { names, files: BTreeSet::new() };
        let found = line(command, script).selecting(Additions::Harmless, &wanted, &paths);
        let found = found.map(|found| found.line).unwrap_or_default();
        assert_eq!(found, expected, "{command} with {script}");
    }
}

/// Returns the line that runs one test, which is in this file.
fn selecting(command: &str, script: &str, (name, file): (&str, &str)) -> String {
    let wanted = Named { names: vec![name.to_owned()], files: [file.to_owned()].into() };
    let paths = [
        "tests/all/main.rs",
        "src/lib.rs",
        "tool/Cargo.toml",
        "tool/src/main.rs",
        "both/Cargo.toml",
        "both/src/lib.rs",
        "both/tests/it.rs",
    ]
    .map(str::to_owned);
    let found = line(command, script).selecting(Additions::Harmless, &wanted, &paths);
    found.unwrap().line
}

#[test]
fn only_the_files_of_the_selected_tests_are_run() {
    let adds = |file: &'static str| ("adds", file);
    assert_eq!(
        selecting("npm test", "node --test", adds("test/a.test.js")),
        "npm test -- '--test-name-pattern=^(adds)$' test/a.test.js"
    );
    assert_eq!(
        selecting("node --test test/a.js test/b.js", "", adds("test/a.js")),
        "node '--test-name-pattern=^(adds)$' --test test/a.js test/b.js"
    );
    assert_eq!(
        selecting("npx jest", "", ("test/[id].test.js › adds", "test/[id].test.js")),
        "npx jest --verbose 'test\\/\\[id\\]\\.test\\.js' -t '^(adds)$'"
    );
    assert_eq!(selecting("npx ava", "", adds("test/a.js")), "npx ava --tap --match=adds test/a.js");
}

#[test]
fn only_the_test_binaries_of_the_selected_tests_are_built() {
    let table = [
        ("cargo test", "tests/sum.rs", "--test=sum -- adds --exact"),
        ("cargo test --workspace", "tests/all/sub.rs", "--test=all -- adds --exact"),
        ("cargo test", "tests/common/sub.rs", "-- adds --exact"),
        ("cargo test", "src/sum.rs", "--bins --lib -- adds --exact"),
        ("cargo test", "tool/src/sum.rs", "--bins -- adds --exact"),
        ("cargo test", "both/src/sum.rs", "--bins --lib -- adds --exact"),
        ("cargo test", "both/tests/it.rs", "--test=it -- adds --exact"),
        ("cargo test", "build.rs", "-- adds --exact"),
        ("cargo test --doc", "src/sum.rs", "-- adds --exact"),
        ("cargo test --lib", "tests/sum.rs", "-- adds --exact"),
        ("cargo nextest run", "tests/sum.rs", "--test=sum -E 'test(=adds)'"),
    ];
    for (command, file, expected) in table {
        let expected = format!("{command} --no-fail-fast {expected}");
        assert_eq!(selecting(command, "", ("adds", file)), expected, "{file}");
    }
}

#[test]
fn tests_are_built_apart_where_the_runner_can() {
    let built = |command: &str| line(command, "").building();
    assert_eq!(built("cargo test --lib -- x").as_deref(), Some("cargo test --lib --no-run"));
    assert_eq!(built("go test ./...").as_deref(), Some("go test ./... -exec=true"));
    assert_eq!(built("pytest"), None);
}

#[test]
fn a_line_that_runs_after_another_runs_both_with_their_additions() {
    let both = line("npm test", "jest").after(line("python3 -m unittest", ""));
    assert_eq!(both.text(), "(python3 -m unittest) || s=1; (npm test) && exit ${s:-0}");
    assert_eq!(both.naming(), "(python3 -m unittest -v) || s=1; (npm test -- --verbose) && exit ${s:-0}");
    let wanted = Named { names: vec!["adds".to_owned()], files: BTreeSet::new() };
    assert_eq!(both.selecting(Additions::Harmless, &wanted, &[]), None);
    let ends = |first: &str, then: &str| {
        let line = line(then, "").after(line(first, "")).text();
        std::process::Command::new("sh").args(["-ec", &line]).status().unwrap().success()
    };
    let table = [("true", "true", true), ("false", "true", false), ("true", "false", false), ("false", "false", false)];
    for (first, then, expected) in table {
        assert_eq!(ends(first, then), expected, "{first}, {then}");
    }
}
