//! Python: pytest, unittest, tox, nox, coverage.

use super::ecosystem::{Ecosystem, Format, SharedFile};

/// Lists of packages for tests.
pub(super) const PACKAGES: &str = "
    requirements-dev.txt requirements-test*.txt requirements_dev.txt requirements_test*.txt dev-requirements.txt
    test-requirements.txt requirements/dev.txt requirements/test*.txt
";

pub(super) static PYTHON: Ecosystem = Ecosystem {
    paths: "
        pytest.ini .pytest.ini pytest.toml .pytest.toml tox.ini tox.toml .coveragerc noxfile.py nose.cfg unittest.cfg
        conftest.py /*.pth runtests.py run_tests.py test_utils.py testutils.py test_helpers.py
    ",
    modules: "
        pytest _pytest unittest doctest nose nose2 coverage pytest_cov pytest_asyncio pytest_mock pluggy xdist
        hypothesis mock freezegun responses testtools parameterized sitecustomize usercustomize
    ",
    shared: &[
        SharedFile {
            paths: "pyproject.toml",
            format: Format::Toml,
            tests: "
                tool.pytest tool.coverage tool.tox tool.nox tool.mutmut dependency-groups tool.uv.dev-dependencies
                tool.pdm.dev-dependencies tool.rye.dev-dependencies tool.poetry.dev-dependencies
                tool.poetry.group.dev tool.poetry.group.test* project.optional-dependencies.dev
                project.optional-dependencies.test* tool.poetry.scripts.test tool.poe.tasks.test*
                tool.taskipy.tasks.test* tool.pdm.scripts.test* tool.hatch.envs.test* tool.hatch.envs.hatch-test
                tool.hatch.envs.*.scripts.test* tool.hatch.envs.*.scripts.cov*
            ",
        },
        SharedFile {
            paths: "setup.cfg",
            format: Format::Ini,
            tests: "
                tool:pytest pytest coverage:* tox tox:* testenv* nosetests aliases.test test options.tests_require
                options.extras_require.test* options.extras_require.dev
            ",
        },
        SharedFile {
            paths: "Pipfile",
            format: Format::Toml,
            tests: "dev-packages scripts.test*",
        },
    ],
};
