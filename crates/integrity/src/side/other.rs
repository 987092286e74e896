//! Go, and everything without a file of its own: C and C++, .NET, Swift, Elixir, Perl, make and just.

use super::ecosystem::{Ecosystem, Format, SharedFile};

pub(super) static OTHER: Ecosystem = Ecosystem {
    paths: "
        codecov.yml .codecov.yml codecov.yaml .codecov.yaml coveralls.json .coveralls.yml CTestConfig.cmake
        CTestCustom.cmake .lcovrc .gcovr gcovr.cfg *.runsettings xunit.runner.json .proverc /t/ /xt/ /fixtures/
        /fixture/ *.Tests/ *.Test/ *.UnitTests/ *.IntegrationTests/ /Tests/ /*Tests/ golden/ goldens/
    ",
    modules: "",
    shared: &[SharedFile {
        paths: "Makefile makefile GNUmakefile justfile Justfile .justfile",
        format: Format::Make,
        tests: "test test-* test_* tests check check-* coverage =MAKEFLAGS* =GNUMAKEFLAGS* =SHELL*",
    }],
};

/// Test files are known by their names; nothing else sets up the runner.
pub(super) static GO: Ecosystem = Ecosystem {
    paths: ".testcoverage.yml .testcoverage.yaml testutil/*.go testutils/*.go testhelper/*.go testhelpers/*.go",
    modules: "",
    shared: &[],
};
