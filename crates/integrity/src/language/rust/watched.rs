//! Values of the settings of cargo, nextest and tarpaulin that decide what is run and what counts.

use crate::language::settings::Less;
use crate::language::settings::Watched;
use crate::language::settings::watched;
use domain::integrity::Rule;

pub(super) static WATCHED: [Watched; 40] = [
    watched("lib.test", Rule::RunnerWeakened, Less::SwitchedOff),
    watched("lib.doctest", Rule::RunnerWeakened, Less::SwitchedOff),
    watched("lib.harness", Rule::RunnerWeakened, Less::SwitchedOff),
    watched("bin.*.test", Rule::RunnerWeakened, Less::SwitchedOff),
    watched("test.*.test", Rule::RunnerWeakened, Less::SwitchedOff),
    watched("test.*.harness", Rule::RunnerWeakened, Less::SwitchedOff),
    watched("test.*.required-features", Rule::RunnerWeakened, Less::Present),
    watched("package.autotests", Rule::RunnerWeakened, Less::SwitchedOff),
    watched("workspace.members", Rule::RunnerWeakened, Less::LooksAt),
    watched("workspace.default-members", Rule::RunnerWeakened, Less::LooksAt),
    watched("workspace.exclude", Rule::RunnerWeakened, Less::LeavesOut),
    watched("target.*.runner", Rule::RunnerWeakened, Less::Present),
    watched("env.UPDATE*", Rule::RunnerWeakened, Less::Present),
    watched("env.BLESS*", Rule::RunnerWeakened, Less::Present),
    watched("env.INSTA_*", Rule::RunnerWeakened, Less::Present),
    watched("env.OVERWRITE*", Rule::RunnerWeakened, Less::Present),
    watched("env.TRYBUILD*", Rule::RunnerWeakened, Less::Present),
    watched("env.PROPTEST_*", Rule::RunnerWeakened, Less::Present),
    watched("env.QUICKCHECK_*", Rule::RunnerWeakened, Less::Present),
    watched("env.SKIP*", Rule::RunnerWeakened, Less::Present),
    watched("env.NEXTEST*", Rule::RunnerWeakened, Less::Present),
    watched("alias.test", Rule::RunnerWeakened, Less::Present),
    watched("alias.t", Rule::RunnerWeakened, Less::Present),
    watched("profile.*.default-filter", Rule::RunnerWeakened, Less::Present),
    watched("profile.dev.debug-assertions", Rule::RunnerWeakened, Less::SwitchedOff),
    watched("profile.test.debug-assertions", Rule::RunnerWeakened, Less::SwitchedOff),
    watched("profile.dev.overflow-checks", Rule::RunnerWeakened, Less::SwitchedOff),
    watched("profile.test.overflow-checks", Rule::RunnerWeakened, Less::SwitchedOff),
    watched("build.rustc", Rule::RunnerWeakened, Less::Program),
    watched("build.rustc-wrapper", Rule::RunnerWeakened, Less::Program),
    watched("build.rustc-workspace-wrapper", Rule::RunnerWeakened, Less::Program),
    watched("build.rustdoc", Rule::RunnerWeakened, Less::Program),
    watched("slow-timeout.on-timeout", Rule::RunnerWeakened, Less::Present),
    watched("overrides.*.default-filter", Rule::RunnerWeakened, Less::Present),
    watched("overrides.*.retries", Rule::RunnerWeakened, Less::Present),
    watched("overrides.*.retries.count", Rule::RunnerWeakened, Less::Present),
    watched("profile.*.retries", Rule::RunnerWeakened, Less::Present),
    watched("profile.*.retries.count", Rule::RunnerWeakened, Less::Present),
    watched("*.exclude-files", Rule::CoverageWeakened, Less::LeavesOut),
    watched("*.fail-under", Rule::CoverageWeakened, Less::Lowered),
];
