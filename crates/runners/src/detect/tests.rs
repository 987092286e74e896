use super::{Repository, detect, detect_command};

const NPM_INIT: &str = r#"{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}"#;
const SCRIPT: &str = r#"{"scripts": {"test": "node --test"}}"#;
const NEEDS: &str = r#"{"scripts": {"test": "jest"}, "devDependencies": {"jest": "1"}}"#;

/// Paths and texts.
type Files<'a> = &'a [(&'a str, &'a str)];

fn commands(files: &[(&str, &str)]) -> Option<(String, String)> {
    let paths: Vec<String> = files.iter().map(|(path, _)| (*path).to_owned()).collect();
    let read = |path: &str| {
        let found = files.iter().find(|(known, _)| *known == path);
        found.map(|(_, text)| (*text).to_owned())
    };
    let repository = Repository::new(&paths, &read);
    let found = detect(&repository)?;
    let setup = found.setup.map(|setup| setup.text().to_owned());
    Some((setup.unwrap_or_default(), found.test.text().to_owned()))
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn each_tool_chain_is_recognised() {
    let table: [(Files<'_>, &str, &str); 57] = [
        (&[("Cargo.toml", "")], "", "cargo test"),
        (&[("Cargo.toml", ""), ("package.json", SCRIPT)], "", "cargo test"),
        (&[("package.json", SCRIPT)], "", "npm test"),
        (&[("package.json", NEEDS)], "npm install", "npm test"),
        (&[("package.json", SCRIPT), ("package-lock.json", "")], "npm ci", "npm test"),
        (&[("package.json", NEEDS), ("pnpm-lock.yaml", "")], "pnpm install --frozen-lockfile", "pnpm test"),
        (&[("package.json", NEEDS), ("yarn.lock", "")], "yarn install --frozen-lockfile", "yarn test"),
        (&[("package.json", NEEDS), ("yarn.lock", ""), (".yarnrc.yml", "")], "yarn install --immutable", "yarn test"),
        (&[("pytest.ini", "")], "", "python3 -m pytest"),
        (&[("pyproject.toml", "[tool.pytest.ini_options]")], "", "python3 -m pytest"),
        (&[("src/tests/test_a.py", "")], "", "python3 -m pytest"),
        (&[("pyproject.toml", "pytest"), ("uv.lock", "")], "uv sync --frozen", "uv run --no-sync pytest"),
        (
            &[("tests/test_a.py", "import unittest"), ("tests/more/test_b.py", "from unittest import mock")],
            "",
            "python3 -m unittest discover -s tests",
        ),
        (&[("tests/test_a.py", "import unittest"), ("tests/__init__.py", "")], "", "python3 -m unittest discover"),
        (&[("test_a.py", "import unittest"), ("x/test_b.py", "import pytest")], "", "python3 -m pytest"),
        (
            &[("tests/test_a.py", "import unittest"), ("requirements.txt", "pytest==8")],
            "VENV -r requirements.txt",
            ".venv/bin/python3 -m pytest",
        ),
        (&[("go.mod", "module x")], "", "go test ./..."),
        (&[("go.mod", "module x\n\nrequire (\n\ta v1.0.0\n)\n")], "go mod download", "go test ./..."),
        (&[("Cargo.toml", "[dependencies]\nserde = \"1\"\n")], "cargo fetch", "cargo test"),
        (
            &[("Cargo.toml", "[target.'cfg(unix)'.dev-dependencies]\nnix = {version = \"1\"}\n")],
            "cargo fetch",
            "cargo test",
        ),
        (&[("Cargo.toml", "[dependencies]\nown = {path = \"own\"}\n[build-dependencies]\n")], "", "cargo test"),
        (&[("Cargo.toml", "[workspace]\nmembers = []\n")], "cargo fetch", "cargo test"),
        (
            &[("Cargo.toml", ""), ("Cargo.lock", "name = \"a\"\nsource = \"registry+x\"\n")],
            "cargo fetch --locked",
            "cargo test",
        ),
        (&[("Cargo.toml", "[dependencies]\nx = \"1\""), ("Cargo.lock", "name = \"a\"\n")], "", "cargo test"),
        (&[("Makefile", "build:\n\tcc x.c\n\ntest check: build\n\t./x\n")], "", "make test"),
        (&[("package.json", NPM_INIT), ("Makefile", "test:\n\ttrue\n")], "", "make test"),
        (&[("package.json", "not json"), ("go.mod", "")], "", "go test ./..."),
        (&[("package.json", SCRIPT), ("pyproject.toml", "pytest")], "", "npm test"),
        (&[("Cargo.toml", "[package]\nname = \"a\"\n[workspace]\n")], "cargo fetch", "cargo test --workspace"),
        (
            &[(
                "package.json",
                r#"{"scripts": {"test": "a"}, "packageManager": "pnpm@9.1.0", "dependencies": {"a": "1"}}"#,
            )],
            "pnpm install",
            "pnpm test",
        ),
        (
            &[("package.json", r#"{"scripts": {"test": "a"}, "packageManager": "yarn@4.1.0"}"#), ("yarn.lock", "")],
            "yarn install --immutable",
            "yarn test",
        ),
        (
            &[("package.json", r#"{"workspaces": ["packages/*"]}"#), ("package-lock.json", "")],
            "npm ci",
            "npm test --workspaces --if-present",
        ),
        (
            &[("package.json", "{}"), ("pnpm-workspace.yaml", ""), ("pnpm-lock.yaml", "")],
            "pnpm install --frozen-lockfile",
            "pnpm -r test",
        ),
        (&[("go.mod", "module x\nrequire a v1"), ("vendor/modules.txt", "")], "", "go test ./..."),
        (
            &[("go.work", "go 1.22\nuse (\n\t.\n\t./tools\n)\n"), ("go.mod", "module x")],
            "go mod download",
            "go test ./... ./tools/...",
        ),
        (
            &[("pom.xml", ""), ("mvnw", "")],
            "sh ./mvnw -B -q test '-Dtest=*#NoSuchTest' -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false",
            "sh ./mvnw -B -o test",
        ),
        (
            &[("build.gradle.kts", "")],
            "gradle -q testClasses && (gradle -q test --tests NoSuchTest || true)",
            "gradle --offline test",
        ),
        (&[("GNUmakefile", "check:\n\t./x\n")], "", "make check"),
        // Python packages.
        (
            &[("pyproject.toml", "[project]\nname = \"a\"\n[tool.pytest.ini_options]"), ("src/a/__init__.py", "")],
            "",
            "PYTHONPATH=src python3 -m pytest",
        ),
        (
            &[("pyproject.toml", "[project]\nname = \"a\"\n[tool.pytest.ini_options]"), ("a/__init__.py", "")],
            "",
            "python3 -m pytest",
        ),
        (
            &[("pyproject.toml", "[project]\ndependencies = [\"b\"]"), ("conftest.py", "")],
            "VENV -e . pytest",
            ".venv/bin/python3 -m pytest",
        ),
        (
            &[(
                "pyproject.toml",
                "[project]\n[project.optional-dependencies]\ndocs = [\"sphinx\"]\ntest = [\"pytest\"]\ndev = [\"ruff\"]",
            )],
            "VENV -e '.[test]'",
            ".venv/bin/python3 -m pytest",
        ),
        (
            &[(
                "pyproject.toml",
                "[project]\n[project.optional-dependencies]\ntest = [\"mock\"]\ndev = [\"pytest>=8\"]",
            )],
            "VENV -e '.[dev]'",
            ".venv/bin/python3 -m pytest",
        ),
        (
            &[(
                "pyproject.toml",
                "[project]\n[dependency-groups]\ntests = [\"pytest\"]\ndev = [{include-group = \"tests\"}, \"ruff\"]",
            )],
            "VENV -e . --group tests",
            ".venv/bin/python3 -m pytest",
        ),
        (
            &[("pyproject.toml", "[dependency-groups]\ndev = [\"pytest\"]"), ("uv.lock", "")],
            "uv sync --frozen --group dev",
            "uv run --no-sync pytest",
        ),
        (
            &[("pyproject.toml", "[project]\n[project.optional-dependencies]\ntest = [\"pytest\"]"), ("uv.lock", "")],
            "uv sync --frozen --extra test",
            "uv run --no-sync pytest",
        ),
        (
            &[("pyproject.toml", "[tool.poetry.dependencies]\npython = \"^3\"\n[tool.pytest.ini_options]")],
            "poetry install --all-extras",
            "poetry run pytest",
        ),
        (
            &[("requirements-dev.txt", "pytest\n"), ("requirements.txt", "a"), ("tests/test_a.py", "")],
            "VENV -r requirements.txt -r requirements-dev.txt",
            ".venv/bin/python3 -m pytest",
        ),
        (
            &[
                ("pyproject.toml", "[project]\nname = \"a\""),
                ("requirements/dev.txt", "pytest==8.3.4\na==1.0"),
                ("requirements/tests.txt", "pytest==8.3.4"),
            ],
            "VENV -e . -r requirements/tests.txt",
            ".venv/bin/python3 -m pytest",
        ),
        (
            &[("tests/requirements.txt", "pytest\n"), ("tests/test_a.py", "")],
            "VENV -r tests/requirements.txt",
            ".venv/bin/python3 -m pytest",
        ),
        (
            &[
                ("requirements-dev/tests.txt", "pytest\n"),
                ("requirements-dev/docs.txt", "sphinx\n"),
                ("docs/requirements-dev.txt", "sphinx\n"),
            ],
            "VENV -r requirements-dev/tests.txt",
            ".venv/bin/python3 -m pytest",
        ),
        (
            &[("tests/requirements/py3.txt", "a\n"), ("tests/test_a.py", "")],
            "VENV -r tests/requirements/py3.txt pytest",
            ".venv/bin/python3 -m pytest",
        ),
        (
            &[
                ("setup.py", "setup(install_requires=['a'])"),
                ("tests/test_a.py", "import unittest"),
                ("tests/__init__.py", ""),
            ],
            "VENV -e .",
            ".venv/bin/python3 -m unittest discover",
        ),
        (
            &[
                (
                    "tox.ini",
                    "[tox]\nenvlist = py39,lint\n[testenv]\ndeps =\n    # tests\n    pytest>=7  # runner\n\n    -r{toxinidir}/tests.txt\n    \
                     -c c.txt\n    py39: b\ncommands = pytest {posargs}\n[testenv:lint]\ndeps = flake8\n",
                ),
                ("pyproject.toml", "[project]\nname = \"a\""),
            ],
            "VENV -e . 'pytest>=7' -r tests.txt -c c.txt",
            ".venv/bin/python3 -m pytest",
        ),
        (
            &[("tox.ini", "[testenv]\ncommands = pytest\n"), ("setup.py", "")],
            "tox run --notest",
            "tox run --skip-pkg-install",
        ),
        // Projects in a folder.
        (
            &[("README.md", ""), ("web/package.json", SCRIPT), ("web/package-lock.json", "")],
            "cd web && npm ci",
            "cd web && npm test",
        ),
        (
            &[("web/package.json", NPM_INIT), ("server/go.mod", "module x"), ("server/sub/go.mod", "module y")],
            "",
            "cd server && go test ./...",
        ),
    ];
    for (files, setup, test) in table {
        let pip = ".venv/bin/python3 -m pip install -q";
        let setup = setup.replace("VENV", &format!("python3 -m venv .venv && {pip} -U pip && {pip}"));
        assert_eq!(commands(files), Some((setup, test.to_owned())), "{files:?}");
    }
}

const DJANGO: &str = "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 's')\nfrom django.core.management import x\n";

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn tool_chains_of_other_languages_are_recognised() {
    let cmake = "project(x C)\nEnable_Testing ()\n";
    let bundle = "bundle check || (bundle config set --local path vendor/bundle && bundle install)";
    let composer = "composer install --no-interaction --no-progress";
    let built = "cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure";
    let venv = "python3 -m venv .venv && .venv/bin/python3 -m pip install -q -U pip && .venv/bin/python3 -m pip install -q -r requirements.txt";
    let table: &[(Files<'_>, &str, &str)] = &[
        // Django, in both layouts, and with pytest.
        (&[("manage.py", DJANGO), ("shop/tests/test_a.py", "")], "", "python3 manage.py test"),
        (
            &[("manage.py", DJANGO), ("requirements.txt", "Django"), ("shop/tests.py", "")],
            venv,
            ".venv/bin/python3 manage.py test",
        ),
        (
            &[("backend/manage.py", DJANGO), ("backend/shop/tests/test_a.py", "")],
            "",
            "cd backend && python3 manage.py test",
        ),
        (
            &[("src/manage.py", DJANGO), ("requirements.txt", "Django")],
            venv,
            "cd src && ../.venv/bin/python3 manage.py test",
        ),
        (
            &[("src/manage.py", DJANGO), ("pyproject.toml", "[project]"), ("uv.lock", "")],
            "uv sync --frozen",
            "cd src && uv run --no-sync python3 manage.py test",
        ),
        (&[("manage.py", DJANGO), ("pytest.ini", "[pytest]\nDJANGO_SETTINGS_MODULE = s")], "", "python3 -m pytest"),
        (&[("manage.py", "print('mine')"), ("test_a.py", "")], "", "python3 -m pytest"),
        // C and C++.
        (&[("CMakeLists.txt", cmake), ("tests/test_a.py", "")], "cmake -S . -B build", built),
        (
            &[("CMakeLists.txt", "include( CTest )"), ("build/a.sh", "")],
            "cmake -S . -B build-autobuild",
            "cmake -S . -B build-autobuild && cmake --build build-autobuild && \
             ctest --test-dir build-autobuild --output-on-failure",
        ),
        (&[("CMakeLists.txt", "project(x)"), ("Makefile", "test:\n\ttrue\n")], "", "make test"),
        (&[("meson.build", "project('x', 'c')")], "meson setup build", "meson test --print-errorlogs -C build"),
        (
            &[("meson.build", "project('x', 'c')"), ("build", "#!/bin/sh")],
            "meson setup build-autobuild",
            "meson test --print-errorlogs -C build-autobuild",
        ),
        (&[("configure.ac", ""), ("Makefile.am", "")], "autoreconf --install && sh ./configure", "make check"),
        (
            &[("configure.ac", ""), ("autogen.sh", ""), ("Makefile.am", "")],
            "NOCONFIGURE=1 sh ./autogen.sh && sh ./configure",
            "make check",
        ),
        (&[("configure", ""), ("Makefile.in", "test: all\n\t./x\n")], "sh ./configure", "make test"),
        // Ruby.
        (&[("Rakefile", "Rake::TestTask.new"), ("test/a_test.rb", "")], "", "rake test"),
        (&[("Gemfile", ""), ("Rakefile", "Rake::TestTask.new"), ("Gemfile.lock", "")], bundle, "bundle exec rake test"),
        (&[("Gemfile", ""), ("spec/a_spec.rb", "")], bundle, "bundle exec rspec"),
        (&[("Gemfile", ""), ("bin/rails", ""), ("test/models/a_test.rb", "")], bundle, "bundle exec rails test"),
        // PHP.
        (&[("phpunit.xml", "")], "", "phpunit"),
        (
            &[("composer.json", r#"{"require-dev": {"phpunit/phpunit": "^10"}}"#), ("phpunit.xml.dist", "")],
            composer,
            "vendor/bin/phpunit",
        ),
        (
            &[("composer.json", "{}"), ("tests/PriceTest.php", "")],
            composer,
            "phpunit --bootstrap vendor/autoload.php tests",
        ),
        (&[("composer.json", r#"{"scripts": {"test": "php t.php"}}"#)], composer, "composer test"),
        // Others.
        (&[("Shop.sln", ""), ("src/Shop.csproj", "")], "dotnet restore", "dotnet test --no-restore"),
        (
            &[("README.md", ""), ("api/Api.csproj", "")],
            "cd api && dotnet restore",
            "cd api && dotnet test --no-restore",
        ),
        (
            &[("deno.jsonc", "{\n  // \"tasks\": {}\n  \"test\": {\"include\": [\"a\"],}, /* end */\n}")],
            "",
            "deno test",
        ),
        (&[("deno.json", "{}")], "", "deno test"),
        (&[("deno.jsonc", r#"{"tasks": {"test": "deno test -A"}, "imports": {}}"#)], "deno install", "deno task test"),
        (&[("mix.exs", "defp deps do\n  [\n    # {:x}\n  ]")], "", "mix test"),
        (
            &[("mix.exs", "[{:jason, \"~> 1.4\"}]")],
            "mix local.hex --force --if-missing && mix local.rebar --force --if-missing && mix deps.get",
            "mix test",
        ),
        (&[("justfile", "x := '1'\ntest *args:\n    ./t\n")], "", "just test"),
        (&[("justfile", "test := 'a'\ntests: x\n"), ("Makefile", "check:\n\ttrue\n")], "", "make check"),
        (&[("Taskfile.yml", "tasks:\n  test:\n    cmds: [x]\n")], "", "task test"),
    ];
    for (files, setup, test) in table {
        let expected = Some(((*setup).to_owned(), (*test).to_owned()));
        assert_eq!(commands(files), expected, "{files:?}");
    }
}

#[test]
fn what_has_no_tests_has_no_command() {
    let table: [&[(&str, &str)]; 13] = [
        &[("A.sln", ""), ("B.sln", "")],
        &[("a/manage.py", DJANGO), ("b/manage.py", DJANGO)],
        &[("composer.json", "{}")],
        &[("Gemfile", ""), ("Rakefile", "task :build")],
        &[],
        &[("README.md", "cargo test")],
        &[("package.json", NPM_INIT)],
        &[("package.json", "{\"scripts\": {\"test\": 3}}")],
        &[("pyproject.toml", "[project]")],
        &[("Makefile", "test := 1\n.PHONY: test\nbuild: test.c\n\ttest: x\n")],
        &[("web/package.json", SCRIPT), ("server/go.mod", "")],
        &[("node_modules/x/test_a.py", "")],
        &[("examples/sub/Cargo.toml", "")],
    ];
    for files in table {
        assert_eq!(commands(files), None, "{files:?}");
    }
}

#[test]
fn runners_are_named_as_people_know_them_where_they_are_installed() {
    assert!(super::runners(|_| false).is_empty());
    let here = ["python3", "go", "ls"];
    assert_eq!(super::runners(|program| here.contains(&program)), ["unittest", "Go"]);
}

/// Returns the set-up and the test command of a repository with this workflow.
fn with_workflow(workflow: &str, files: Files<'_>) -> (String, String) {
    let workflow = [(".github/workflows/ci.yml", workflow)];
    commands(&[files, &workflow].concat()).unwrap()
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn what_a_workflow_installs_for_its_tests_is_installed() {
    let job = |steps: &str| format!("on: push\njobs:\n  test:\n    steps:\n{steps}");
    let run = |lines: &[&str]| {
        let steps: String = lines.iter().map(|line| format!("      - run: {line}\n")).collect();
        job(&steps)
    };
    let make: Files<'_> = &[("Makefile", "test:\n\t./t\n"), ("requirements.txt", "a")];
    let pytest: Files<'_> = &[("tests/test_a.py", "import pytest")];
    let python: Files<'_> = &[("setup.py", ""), ("tests/test_a.py", ""), ("ci.txt", "b")];
    let npm: Files<'_> = &[("package.json", NEEDS), ("package-lock.json", ""), ("web/package.json", "{}")];
    let table: [(String, Files<'_>, &str); 14] = [
        (run(&["pip install -r requirements.txt", "make test"]), make, "VENV -r requirements.txt"),
        (run(&["python -m pip install -U pip", "make test"]), make, ""),
        (run(&["pip install twine", "twine check"]), make, ""),
        (run(&["make test", "pip install twine"]), make, ""),
        (run(&["npm ci", "make test"]), make, ""),
        (run(&["curl x | sh", "sudo make install", "rm -rf /", "make test"]), make, ""),
        (run(&["pip install a", "pytest"]), pytest, ""),
        (run(&["pip install -r ci.txt -e .", "pytest"]), python, "VENV -e . -r ci.txt pytest"),
        (run(&["pip install '.[all]' \"b>=2\" pytest", "pytest"]), python, "VENV -e '.[all]' 'b>=2' pytest"),
        (
            run(&[
                "pip install -r none.txt",
                "pip install --index-url https://x.example a",
                "pip install git+https://x.example/a",
                "pip install ${{ matrix.django }}",
                "pip install ../a",
                "pip install b",
                "pytest",
            ]),
            python,
            "VENV -e . b pytest",
        ),
        (run(&["npm ci --legacy-peer-deps", "npm test"]), npm, "npm ci --legacy-peer-deps"),
        (run(&["npm install -g pnpm", "npm test"]), npm, "npm ci"),
        (
            job(
                "      - {run: npm ci, working-directory: ./web}\n      - run: |\n          cd web && npm ci\n          npm test\n",
            ),
            npm,
            "npm ci && (cd web && npm ci)",
        ),
        (
            job(
                "      - {run: npm ci --force, if: false}\n      - {run: npm ci --x, shell: pwsh}\n      - run: npm test\n",
            ),
            npm,
            "npm ci",
        ),
    ];
    for (workflow, files, setup) in table {
        let pip = ".venv/bin/python3 -m pip install -q";
        let setup = setup.replace("VENV", &format!("python3 -m venv .venv && {pip} -U pip && {pip}"));
        assert_eq!(with_workflow(&workflow, files).0, setup, "{workflow}");
    }
}

#[test]
fn a_workflow_that_is_no_workflow_changes_nothing() {
    let deep = "[".repeat(100_000);
    let wide = format!("jobs: {{a: {{steps: [{}]}}}}", "{run: 'pip install a'},".repeat(5_000));
    for text in ["", "[", "jobs: 3", "jobs: {a: 3}", "jobs: {a: {steps: {}}}", &deep, &wide] {
        assert_eq!(with_workflow(text, &[("go.mod", "")]).0, "", "{text:.60}");
    }
}

#[test]
fn a_folders_own_set_up_takes_what_the_workflow_installs_there() {
    let workflow =
        "jobs: {t: {defaults: {run: {working-directory: web}}, steps: [{run: npm ci --force}, {run: npm test}]}}";
    let found = with_workflow(workflow, &[("web/package.json", NEEDS), ("web/package-lock.json", "")]);
    assert_eq!(found, ("cd web && npm ci --force".to_owned(), "cd web && npm test".to_owned()));
}

#[test]
fn corepack_starts_what_is_not_installed() {
    let files = [("package.json", NEEDS), ("pnpm-lock.yaml", "")];
    let paths: Vec<String> = files.iter().map(|(path, _)| (*path).to_owned()).collect();
    let read = |path: &str| files.iter().find(|(known, _)| *known == path).map(|(_, text)| (*text).to_owned());
    let setup = |installed: &[&str]| {
        let is_installed = |program: &str| installed.contains(&program);
        let repository = Repository::new(&paths, &read).on_machine(&is_installed);
        let found = detect(&repository).unwrap();
        (found.setup.unwrap().text().to_owned(), found.test.text().to_owned())
    };
    let plain = ("pnpm install --frozen-lockfile".to_owned(), "pnpm test".to_owned());
    let started = (format!("corepack {}", plain.0), format!("corepack {}", plain.1));
    assert_eq!(setup(&["pnpm", "corepack"]), plain);
    assert_eq!(setup(&["corepack"]), started);
    assert_eq!(setup(&[]), plain, "what is missing is named when it starts");
}

#[test]
fn a_known_command_is_found_behind_another_that_comes_first() {
    let make = ("Makefile", "test:\n\tsh all.sh\n");
    let found = |files: Files<'_>, test: &str| {
        let paths: Vec<String> = files.iter().map(|(path, _)| (*path).to_owned()).collect();
        let text = |path: &str| files.iter().find(|(known, _)| *known == path).map(|(_, text)| (*text).to_owned());
        detect_command(&Repository::new(&paths, &text), &test.parse().unwrap()).map(|found| found.files)
    };
    assert_eq!(found(&[("package.json", SCRIPT), make], "make test").unwrap(), "the target test in Makefile");
    assert_eq!(found(&[("package.json", SCRIPT), ("go.mod", "module x")], "go test ./...").unwrap(), "go.mod");
    assert_eq!(found(&[("package.json", SCRIPT)], "make test"), None);
    let apart = [("web/package.json", SCRIPT), ("tools/package.json", SCRIPT), ("package.json", SCRIPT)];
    assert_eq!(found(&apart, "cd web && npm test").unwrap(), "package.json in web");
}
