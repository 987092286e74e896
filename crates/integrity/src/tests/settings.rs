//! Settings, scripts, CI, results, snapshots, and modules that shadow others.

use super::{all_caught, all_honest, inspected};
use domain::integrity::Rule;

const PYPROJECT: &str = "[tool.pytest.ini_options]\naddopts = \"-q --strict-markers\"\ntestpaths = [\"tests\", \"more\"]\n\n[tool.coverage.report]\nfail_under = 80\n";
const PACKAGE: &str = "{\n  \"scripts\": {\n    \"test\": \"vitest run\"\n  },\n  \"devDependencies\": {\n    \"vitest\": \"^1.0.0\"\n  }\n}\n";
const CARGO: &str = "[package]\nname = \"a\"\n\n[dependencies]\nserde = \"1\"\n";
const JEST: &str = "module.exports = {\n  testPathIgnorePatterns: ['/node_modules/'],\n  coverageThreshold: {\n    global: { lines: 80 },\n  },\n};\n";
const CI: &str = "on: [push]\ntest:\n  script:\n    - cargo clippy\n    - cargo test\n";
const MAKE: &str = "test:\n\tpytest -q\n";

#[test]
fn deceptions_are_caught() {
    let (p, k, c, j) = ("pyproject.toml", "package.json", "Cargo.toml", "jest.config.js");
    let py = |from: &str, to: &str| PYPROJECT.replace(from, to);
    let pk = |from: &str, to: &str| PACKAGE.replace(from, to);
    let je = |from: &str, to: &str| JEST.replace(from, to);
    let with_tests: [(&str, &str, &str); 2] = [("more/test_b.py", "", "x = 1\n"), ("src/slow.test.js", "", "x;\n")];
    let [more, slow] = with_tests;
    all_caught(&[
        (
            "another shell",
            &[(".npmrc", "", "script-shell=true\n")],
            Rule::RunnerWeakened,
            Some(1),
        ),
        (
            "tests taken away",
            &[(
                k,
                PACKAGE,
                &pk("\"test\"", "\"pretest\": \"rm -f src/a.test.ts\",\n    \"test\""),
            )],
            Rule::RunnerWeakened,
            Some(3),
        ),
        (
            "a script of CI",
            &[(".circleci/config.yml", "- run: sh check.sh\n", "- run: echo tested\n")],
            Rule::CiWeakened,
            None,
        ),
        (
            "lowered on the way into another file",
            &[
                (".coveragerc", "[report]\nfail_under = 90\n", ""),
                (p, "", "[tool.coverage.report]\nfail_under = 60\n"),
            ],
            Rule::CoverageWeakened,
            Some(2),
        ),
        (
            "-k",
            &[(p, PYPROJECT, &py("-q", "-q -k 'not parse'"))],
            Rule::RunnerWeakened,
            Some(2),
        ),
        (
            "--ignore",
            &[(p, PYPROJECT, &py("-q", "--ignore=tests/test_a.py"))],
            Rule::RunnerWeakened,
            Some(2),
        ),
        (
            "--deselect in an ini",
            &[(
                "pytest.ini",
                "[pytest]\naddopts = -q\n",
                "[pytest]\naddopts = -q\n    --deselect tests/test_a.py::test_b\n",
            )],
            Rule::RunnerWeakened,
            Some(2),
        ),
        (
            "a new ini",
            &[("pytest.ini", "", "[pytest]\naddopts = --collect-only\n")],
            Rule::RunnerWeakened,
            Some(2),
        ),
        (
            "testpaths",
            &[(p, PYPROJECT, &py("[\"tests\", \"more\"]", "[\"tests\"]")), more],
            Rule::RunnerWeakened,
            Some(3),
        ),
        (
            "python_functions",
            &[(
                p,
                PYPROJECT,
                &py("testpaths", "python_functions = \"check_*\"\ntestpaths"),
            )],
            Rule::RunnerWeakened,
            Some(3),
        ),
        (
            "fail_under",
            &[(p, PYPROJECT, &py("80", "10"))],
            Rule::CoverageWeakened,
            Some(6),
        ),
        (
            "fail_under gone",
            &[(p, PYPROJECT, &py("fail_under = 80\n", ""))],
            Rule::CoverageWeakened,
            None,
        ),
        (
            "omit",
            &[
                (
                    ".coveragerc",
                    "[run]\nbranch = true\n",
                    "[run]\nbranch = true\nomit =\n    app/*\n",
                ),
                ("app/calc.py", "", "x = 1\n"),
            ],
            Rule::CoverageWeakened,
            Some(3),
        ),
        (
            "tox",
            &[(
                "tox.ini",
                "[testenv]\ncommands = pytest\n",
                "[testenv]\ncommands = python -c \"print('ok')\"\n",
            )],
            Rule::RunnerWeakened,
            Some(2),
        ),
        (
            "or true",
            &[(k, PACKAGE, &pk("vitest run", "vitest run || true"))],
            Rule::RunnerWeakened,
            Some(3),
        ),
        (
            "echo",
            &[(k, PACKAGE, &pk("vitest run", "echo ok"))],
            Rule::RunnerWeakened,
            Some(3),
        ),
        (
            "exit 0",
            &[(k, PACKAGE, &pk("vitest run", "exit 0"))],
            Rule::RunnerWeakened,
            Some(3),
        ),
        (
            "script gone",
            &[(k, PACKAGE, &pk("\"test\"", "\"tst\""))],
            Rule::RunnerWeakened,
            None,
        ),
        (
            "one file",
            &[(k, PACKAGE, &pk("vitest run", "vitest run src/calc.test.ts"))],
            Rule::RunnerWeakened,
            Some(3),
        ),
        (
            "runner from a folder",
            &[(k, PACKAGE, &pk("^1.0.0", "file:./tools/vitest"))],
            Rule::ShadowModule,
            Some(6),
        ),
        (
            "ignored paths",
            &[(j, JEST, &je("'/node_modules/'", "'/node_modules/', 'slow'")), slow],
            Rule::RunnerWeakened,
            Some(2),
        ),
        (
            "threshold",
            &[(j, JEST, &je("80", "1"))],
            Rule::CoverageWeakened,
            Some(4),
        ),
        (
            "passWithNoTests",
            &[(
                j,
                JEST,
                &je("module.exports = {", "module.exports = {\n  passWithNoTests: true,"),
            )],
            Rule::RunnerWeakened,
            Some(2),
        ),
        (
            "vitest exclude",
            &[
                (
                    "vitest.config.ts",
                    "export default { test: { globals: true } };\n",
                    "export default { test: { globals: true, exclude: ['**/slow*'] } };\n",
                ),
                slow,
            ],
            Rule::RunnerWeakened,
            Some(1),
        ),
        (
            "lib test = false",
            &[(c, CARGO, &format!("{CARGO}\n[lib]\ntest = false\n"))],
            Rule::RunnerWeakened,
            Some(8),
        ),
        (
            "harness = false",
            &[(
                c,
                &format!("{CARGO}\n[[test]]\nname = \"api\"\n"),
                &format!("{CARGO}\n[[test]]\nname = \"api\"\nharness = false\n"),
            )],
            Rule::RunnerWeakened,
            Some(9),
        ),
        (
            "autotests",
            &[(c, CARGO, &CARGO.replace("\"a\"", "\"a\"\nautotests = false"))],
            Rule::RunnerWeakened,
            Some(3),
        ),
        (
            "patched",
            &[(
                c,
                CARGO,
                &format!("{CARGO}\n[patch.crates-io]\nserde = {{ path = \"fake\" }}\n"),
            )],
            Rule::ShadowModule,
            Some(7),
        ),
        (
            "from a folder",
            &[(c, CARGO, &CARGO.replace("serde = \"1\"", "serde = { path = \"fake\" }"))],
            Rule::ShadowModule,
            Some(5),
        ),
        (
            "runner",
            &[(
                ".cargo/config.toml",
                "",
                "[target.x86_64-unknown-linux-gnu]\nrunner = \"true\"\n",
            )],
            Rule::RunnerWeakened,
            Some(2),
        ),
        (
            "nextest",
            &[(
                ".config/nextest.toml",
                "",
                "[profile.default]\ndefault-filter = \"not test(parses)\"\n",
            )],
            Rule::RunnerWeakened,
            Some(2),
        ),
        (
            "make",
            &[("Makefile", MAKE, "test:\n\t-pytest -q\n")],
            Rule::RunnerWeakened,
            Some(2),
        ),
        (
            "make or true",
            &[("Makefile", MAKE, "test:\n\tpytest -q || true\n")],
            Rule::RunnerWeakened,
            Some(2),
        ),
        (
            "make echo",
            &[("Makefile", MAKE, "test:\n\techo ok\n")],
            Rule::RunnerWeakened,
            None,
        ),
        (
            "script",
            &[(
                "run-tests.sh",
                "#!/bin/sh\ncargo test\n",
                "#!/bin/sh\ncargo test\nexit 0\n",
            )],
            Rule::RunnerWeakened,
            Some(3),
        ),
        (
            "CI tolerant",
            &[(
                ".gitlab-ci.yml",
                CI,
                &CI.replace("  script", "  allow_failure: true\n  script"),
            )],
            Rule::CiWeakened,
            Some(3),
        ),
        (
            "CI step gone",
            &[(".gitlab-ci.yml", CI, &CI.replace("    - cargo clippy\n", ""))],
            Rule::CiWeakened,
            None,
        ),
        (
            "CI gone",
            &[(".travis.yml", "script: cargo test\n", "")],
            Rule::CiWeakened,
            None,
        ),
        (
            "CI or true",
            &[(
                ".circleci/config.yml",
                CI,
                &CI.replace("cargo test", "cargo test || true"),
            )],
            Rule::CiWeakened,
            Some(5),
        ),
        (
            "protected",
            &[(".github/workflows/ci.yml", CI, &CI.replace("push", "schedule"))],
            Rule::ProtectedPath,
            None,
        ),
        (
            "protected below",
            &[("sub/CLAUDE.md", "", "x\n")],
            Rule::ProtectedPath,
            None,
        ),
        (
            "merge marker",
            &[("a.txt", "a\n", "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n")],
            Rule::MergeMarker,
            Some(1),
        ),
        (
            "secret",
            &[("a.txt", "a\n", "a\nkey = ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5\n")],
            Rule::Secret,
            Some(2),
        ),
        (
            "junit",
            &[(
                "report/junit.xml",
                "",
                "<?xml version=\"1.0\"?>\n<testsuites tests=\"3\"/>\n",
            )],
            Rule::ResultsByHand,
            Some(1),
        ),
        (
            "named by the settings",
            &[("out/junit.xml", "", "x")],
            Rule::ResultsByHand,
            Some(1),
        ),
        (
            "lcov",
            &[("cov.info", "", "TN:\nSF:src/a.ts\nend_of_record\n")],
            Rule::ResultsByHand,
            Some(1),
        ),
        (
            "snapshot",
            &[("src/__snapshots__/a.test.ts.snap", "a\n", "b\n")],
            Rule::SnapshotByHand,
            Some(1),
        ),
        (
            "insta snapshot and words",
            &[("src/snapshots/a.snap", "a\n", "b\n"), ("README.md", "a\n", "b\n")],
            Rule::SnapshotByHand,
            Some(1),
        ),
        (
            "pytest.py",
            &[("pytest.py", "", "def raises(*a): pass\n")],
            Rule::ShadowModule,
            Some(1),
        ),
        (
            "json in tests",
            &[("tests/json.py", "", "def loads(x):\n    return {}\n")],
            Rule::ShadowModule,
            Some(1),
        ),
        (
            "sitecustomize",
            &[("sitecustomize.py", "", "import sys\n")],
            Rule::ShadowModule,
            Some(1),
        ),
        (
            "node_modules",
            &[("node_modules/vitest/index.js", "", "module.exports = {};\n")],
            Rule::ShadowModule,
            Some(1),
        ),
        (
            "module of the product replaced",
            &[
                (
                    "tests/conftest.py",
                    "",
                    "import sys\nsys.modules[\"calc\"] = object()\n",
                ),
                (
                    "calc.py",
                    "def add(a, b):\n    return a\n",
                    "def add(a, b):\n    return a\n\n",
                ),
            ],
            Rule::ShadowModule,
            Some(2),
        ),
        (
            "function of the product replaced",
            &[
                (
                    "conftest.py",
                    "",
                    "import app.calc\napp.calc.add = lambda a, b: a + b\n",
                ),
                ("app/calc.py", "", "def add(a, b):\n    return 1\n"),
            ],
            Rule::ShadowModule,
            Some(2),
        ),
        (
            "module under test mocked",
            &[(
                "src/calc.test.js",
                "",
                "jest.mock('./calc', () => ({ add: () => 4 }));\nit('adds', () => {\n  expect(add(2, 2)).toBe(4);\n});\n",
            )],
            Rule::ShadowModule,
            Some(1),
        ),
        (
            "tests of an unknown language",
            &[("calc_test.go", "package a\nfunc TestAdd(t *testing.T) {}\n", "")],
            Rule::TestDeleted,
            None,
        ),
        (
            "skip of an unknown language",
            &[(
                "calc_test.go",
                "package a\nfunc TestAdd(t *testing.T) {\n}\n",
                "package a\nfunc TestAdd(t *testing.T) {\n\tt.Skip(\"no\")\n}\n",
            )],
            Rule::SkipAdded,
            Some(3),
        ),
        (
            "unreadable tests",
            &[(
                "tests/test_a.py",
                "def test_a():\n    assert f() == 1\n",
                &format!("x = {}1{}\n", "(".repeat(800), ")".repeat(800)),
            )],
            Rule::TestDeleted,
            None,
        ),
    ]);
}

#[test]
fn honest_changes_pass() {
    let (p, k, c, j) = ("pyproject.toml", "package.json", "Cargo.toml", "jest.config.js");
    let test = ("tests/test_a.py", "", "def test_a():\n    assert f() == 1\n");
    all_honest(&[
        (
            "settings move into another file",
            &[
                ("pytest.ini", "[pytest]\naddopts = -ra\nxfail_strict = true\n", ""),
                (".coveragerc", "[run]\nbranch = true\n\n[report]\nfail_under = 90\n", ""),
                (
                    p,
                    "",
                    "[tool.pytest.ini_options]\naddopts = \"-ra\"\nxfail_strict = true\n\n[tool.coverage.run]\nbranch = true\n\n[tool.coverage.report]\nfail_under = 90\n",
                ),
            ],
        ),
        (
            "a target for coverage",
            &[(
                "Makefile",
                "check:\n\tpytest\n",
                "check:\n\tpytest\n\ncov:\n\tpytest --cov=app --cov-report=xml\n\nclean:\n\trm -rf .pytest_cache || true\n",
            )],
        ),
        (
            "stricter",
            &[
                (
                    p,
                    PYPROJECT,
                    &PYPROJECT
                        .replace("-q", "-q --cov=app --cov-fail-under=90")
                        .replace("80", "90"),
                ),
                test,
            ],
        ),
        (
            "new pytest settings",
            &[
                (
                    "pytest.ini",
                    "",
                    "[pytest]\ntestpaths = tests\naddopts = -ra --strict-config\n",
                ),
                test,
            ],
        ),
        (
            "new coverage settings",
            &[
                (
                    p,
                    "",
                    "[tool.coverage.run]\nomit = [\"tests/*\"]\n[tool.coverage.report]\nfail_under = 80\nexclude_lines = [\"pragma: no cover\", \"if TYPE_CHECKING:\"]\n",
                ),
                test,
            ],
        ),
        (
            "another runner",
            &[(k, PACKAGE, &PACKAGE.replace("vitest run", "jest --ci"))],
        ),
        (
            "a new script",
            &[(
                k,
                PACKAGE,
                &PACKAGE.replace("\"vitest run\"", "\"vitest run\",\n    \"lint\": \"eslint . || true\""),
            )],
        ),
        (
            "a new dependency",
            &[(
                k,
                PACKAGE,
                &PACKAGE.replace(
                    "\"vitest\": \"^1.0.0\"",
                    "\"vitest\": \"^1.0.0\",\n    \"zod\": \"^3.0.0\"",
                ),
            )],
        ),
        ("more coverage", &[(j, JEST, &JEST.replace("80", "90"))]),
        (
            "built files ignored",
            &[
                (j, JEST, &JEST.replace("'/node_modules/'", "'/node_modules/', '/dist/'")),
                ("src/a.test.js", "", "it('a', () => {\n  expect(f()).toBe(1);\n});\n"),
            ],
        ),
        (
            "a new crate",
            &[(
                c,
                CARGO,
                &CARGO.replace("serde = \"1\"", "serde = \"1\"\nhelper = { path = \"helper\" }"),
            )],
        ),
        (
            "a bench",
            &[(
                c,
                CARGO,
                &format!("{CARGO}\n[[bench]]\nname = \"b\"\nharness = false\n"),
            )],
        ),
        (
            "version raised",
            &[(
                c,
                CARGO,
                &CARGO.replace("\"1\"", "{ version = \"1.1\", features = [\"derive\"] }"),
            )],
        ),
        (
            "make target added",
            &[("Makefile", MAKE, "test:\n\tpytest -q\n\nlint:\n\truff check .\n")],
        ),
        (
            "CI step added",
            &[(
                ".gitlab-ci.yml",
                CI,
                &CI.replace("    - cargo test\n", "    - cargo test\n    - cargo doc\n"),
            )],
        ),
        (
            "CI command extended",
            &[(
                ".gitlab-ci.yml",
                CI,
                &CI.replace("cargo test", "cargo test --all-features"),
            )],
        ),
        (
            "snapshot with its code",
            &[
                ("src/__snapshots__/a.test.ts.snap", "a\n", "b\n"),
                ("src/a.ts", "export const a = 'a';\n", "export const a = 'b';\n"),
            ],
        ),
        (
            "results as a fixture",
            &[("tests/fixtures/junit.xml", "", "<testsuites/>\n"), test],
        ),
        (
            "a module in a package",
            &[
                ("app/json.py", "", "def dump(x):\n    return x\n"),
                ("app/__init__.py", "", "\n"),
            ],
        ),
        ("headings", &[("a.rst", "", "Title\n=======\n")]),
        (
            "test and code of an unknown language",
            &[(
                "calc_test.go",
                "package a\nfunc TestAdd(t *testing.T) {}\n",
                "package a\nfunc TestSum(t *testing.T) {}\n",
            )],
        ),
        (
            "other modules mocked",
            &[(
                "src/calc.test.js",
                "",
                "vi.mock('./api');\nit('adds', () => {\n  expect(add(2, 2)).toBe(4);\n});\n",
            )],
        ),
        (
            "heavy modules replaced",
            &[(
                "conftest.py",
                "",
                "import sys\nfrom unittest import mock\nsys.modules[\"torch\"] = mock.MagicMock()\n",
            )],
        ),
    ]);
}

#[test]
fn nothing_hostile_stops_the_search() {
    let deep = "[".repeat(100_000);
    let long = "assert ".repeat(20_000);
    let files = [
        ("src/a.rs", "fn a() {}\n", deep.as_str()),
        ("tests/test_a.py", "", long.as_str()),
        ("a.test.ts", "", deep.as_str()),
        ("package.json", "{}", deep.as_str()),
        ("Cargo.toml", "", deep.as_str()),
        ("pytest.ini", "", "[[[\n=\n:\n- \n"),
        (".gitlab-ci.yml", deep.as_str(), "\u{0}\u{fffd}"),
    ];
    assert!(inspected("x", &files, &[]).len() < 30);
}
