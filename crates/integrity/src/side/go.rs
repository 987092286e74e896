//! Go. Test files are known by their names; nothing else sets up the runner.

use super::ecosystem::Ecosystem;

pub(super) static GO: Ecosystem = Ecosystem {
    paths: ".testcoverage.yml .testcoverage.yaml testutil/*.go testutils/*.go testhelper/*.go testhelpers/*.go",
    modules: "",
    shared: &[],
};
