use super::*;

/// Returns the parts that a command runs, as `path` or `path: name`.
fn parts(command: &str, files: &[(&str, &str)]) -> Vec<String> {
    found_by(files, |tree| parts_of_command(command, tree))
}

fn found_by(files: &[(&str, &str)], walk: impl Fn(&Tree<'_>) -> CalledParts) -> Vec<String> {
    let paths = files.iter().map(|(path, _)| (*path).to_owned()).collect();
    let read = |path: &str| files.iter().find(|(own, _)| *own == path).map(|(_, text)| (*text).to_owned());
    let found = walk(&Tree { paths: &paths, read: &read });
    let shown = |part: CalledPart| part.name.map_or(part.path.clone(), |name| format!("{}: {name}", part.path));
    found.into_keys().map(shown).collect()
}

const MAKE: &str = "PY = python3\nall: build\n\ntest: unit lint ; @echo\nunit:\n\t-$(PY) tools/unit.py\nlint:\n\t@$(MAKE) -C web check\n\
                %.o: %.c\n\tcc $<\n# old: x\n";
const MANIFEST: &str = "{\"scripts\": {\"verify\": \"npm run -s unit && node tools/v.mjs\", \"unit\": \"sh unit.sh\", \"preunit\": \"./a\", \"prepare\": \"./a\"}}";
const FILES: [(&str, &str); 16] = [
    ("Makefile", MAKE),
    ("package.json", MANIFEST),
    ("pyproject.toml", "[tool.poe.tasks]\nverify = {cmd = \"python -m tools.check\"}\n"),
    ("tools/unit.py", ""),
    ("tools/v.mjs", ""),
    ("tools/check.py", ""),
    ("cmd/check/main.go", ""),
    ("cmd/check/deep/x.go", ""),
    ("web/Makefile", "check:\n\tbash check.bash\n"),
    ("web/check.bash", "exit 0"),
    ("web/package.json", "{\"scripts\": {\"test\": \"./run\"}}"),
    ("web/run", "#!/bin/sh\nexec ./a"),
    ("web/a", ""),
    ("unit.sh", "set -e\npython3 -W error tools/check.py\n"),
    ("a", ""),
    ("README.md", ""),
];

#[test]
fn what_a_command_runs_is_found_through_scripts_targets_and_manifests() {
    let table: [(&str, &[&str]); 15] = [
        (
            "make -s test",
            &[
                "Makefile: PY =",
                "Makefile: lint",
                "Makefile: test",
                "Makefile: unit",
                "tools/unit.py",
                "web/Makefile: check",
                "web/check.bash",
            ],
        ),
        ("make", &["Makefile: all"]),
        (
            "CI=1 npm run -s verify",
            &[
                "a",
                "package.json: scripts.preunit",
                "package.json: scripts.unit",
                "package.json: scripts.verify",
                "tools/check.py",
                "tools/v.mjs",
                "unit.sh",
            ],
        ),
        ("npm ci && yarn", &["a", "package.json: scripts.prepare"]),
        ("cd web && npm test", &["web/a", "web/package.json: scripts.test", "web/run"]),
        ("poetry run poe verify", &["pyproject.toml: tool.poe.tasks.verify", "tools/check.py"]),
        ("python3 -m tools.check --all", &["tools/check.py"]),
        ("python3 -m coverage run tools/check.py", &["tools/check.py"]),
        ("go run ./cmd/check", &["cmd/check/main.go"]),
        ("timeout 10 env X=1 ./a README.md", &["a"]),
        ("bash -c './a && true'", &["a"]),
        ("if ! ./a; then exit 1; fi", &["a"]),
        ("grep -q a README.md", &[]),
        ("python3 -m unittest tools/check.py", &[]),
        ("python3 -c 'import tools.check'", &[]),
    ];
    for (command, expected) in table {
        assert_eq!(parts(command, &FILES), expected, "{command}");
    }
}

#[test]
fn what_ci_runs_is_found_through_actions_and_included_files() {
    let workflow = "on: push\njobs:\n  a:\n    steps:\n      - uses: actions/checkout@v5\n      - uses: ./tools/setup\n      \
                    - name: Build\n        run: |\n          make build\n          ./ci/publish.sh\n";
    let files = [
        (".github/workflows/ci.yml", workflow),
        (".gitlab-ci.yml", "include:\n  - local: /ci/jobs.yml\n"),
        ("Makefile", "build:\n\tsh ci/build.sh\nrun:\n\tsh ci/run.sh\n"),
        ("ci/build.sh", ""),
        ("ci/jobs.yml", "test:\n  script: [python3 ci/test.py]\n"),
        ("ci/publish.sh", ""),
        ("ci/run.sh", ""),
        ("ci/test.py", ""),
        ("tools/setup/action.yml", "runs: {steps: [{run: 'bash ci/run.sh'}]}\n"),
        ("other/action.yml", ""),
    ];
    let expected = [
        "Makefile: build",
        "ci/build.sh",
        "ci/jobs.yml",
        "ci/publish.sh",
        "ci/run.sh",
        "ci/test.py",
        "tools/setup/action.yml",
    ];
    assert_eq!(found_by(&files, parts_of_ci), expected);
}

#[test]
fn parts_that_call_each_other_end_the_walk() {
    let files = [("Makefile", "a: b\n\t./x.sh\nb: a\n"), ("x.sh", "make a\n./x.sh\n")];
    assert_eq!(parts("make a", &files), ["Makefile: a", "Makefile: b", "x.sh"]);
}

#[test]
fn only_parts_with_another_text_differ() {
    let part = |path: &str| CalledPart { path: path.to_owned(), name: None };
    let parts = |all: &[(&str, &str)]| -> CalledParts {
        all.iter().map(|(path, text)| (part(path), (*text).to_owned())).collect()
    };
    let (before, after) = (parts(&[("a", "1"), ("b", "2"), ("c", "3")]), parts(&[("a", "1"), ("b", "4"), ("d", "5")]));
    assert_eq!(differing(&before, &after), BTreeSet::from([&part("b"), &part("c"), &part("d")]));
}
