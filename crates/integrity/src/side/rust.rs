//! Rust: Cargo, nextest, coverage.

use super::ecosystem::{Ecosystem, Format, SharedFile};

pub(super) static RUST: Ecosystem = Ecosystem {
    paths: "
        nextest.toml tarpaulin.toml .tarpaulin.toml insta.yaml benches/*.rs proptest-regressions/
        *.proptest-regressions test_util.rs test_utils.rs test_helpers.rs testutil.rs testutils.rs
    ",
    modules: "",
    shared: &[
        SharedFile {
            paths: "Cargo.toml",
            format: Format::Toml,
            tests: "
                dev-dependencies dev_dependencies target.*.dev-dependencies test bench package.autotests
                package.autobenches package.metadata.nextest package.metadata.tarpaulin
                workspace.metadata.nextest lib.test lib.doctest lib.harness lib.bench bin.test bin.harness
                bin.bench profile.test profile.bench
            ",
        },
        SharedFile {
            paths: ".cargo/config.toml .cargo/config",
            format: Format::Toml,
            tests: "
                target.*.runner alias.t alias.test* alias.nextest* profile.test profile.bench env.BLESS* env.INSTA_*
                env.OVERWRITE* env.TRYBUILD* env.PROPTEST_* env.QUICKCHECK_* env.NEXTEST* env.RUST_TEST* env.UPDATE*
            ",
        },
    ],
};
