//! How settings of runners and coverage tools can be made to do less.

use domain::integrity::Rule;

/// One kind of value in settings files, and how it can be made to do less.
pub struct Watched {
    /// The ends of its dotted name, as people write it: `coverage.report.fail_under`, `*` for any one part.
    pub name: &'static str,
    /// The rule that is broken.
    pub rule: Rule,
    /// How.
    pub how: Less,
}

/// How a value can be made to do less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Less {
    /// A number that asks for something: lowered or taken away.
    Lowered,
    /// A list of what is left out: something that is there was added.
    LeavesOut,
    /// A list of what is looked at: something that is there is not in it any more.
    LooksAt,
    /// A switch that tolerates: on.
    SwitchedOn,
    /// A switch that demands: off.
    SwitchedOff,
    /// Options of a runner: one that leaves tests out was added.
    Options,
    /// A command that runs tests.
    Command,
    /// A program that takes part in the run: one of the repository's own.
    Program,
    /// Something that has no place there: there at all.
    Present,
}

/// A kind of value.
#[must_use]
pub const fn watched(name: &'static str, rule: Rule, how: Less) -> Watched {
    Watched { name, rule, how }
}
