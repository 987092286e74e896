//! How settings of runners and coverage tools can be made to do less.

use crate::language::{
    outline::{Setting, Source},
    role::Role,
    syntax::At,
};

/// One kind of value in settings files, and how it can be made to do less.
pub struct Watched {
    /// The ends of its dotted name, as people write it: `coverage.report.fail_under`, `*` for any one part.
    pub name: &'static str,
    /// What it is about.
    pub purpose: Purpose,
    /// How.
    pub how: Less,
}

/// What a value of a settings file is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Which tests run, and what counts as a failure.
    Run,
    /// What is measured, and how much of it is asked.
    Coverage,
    /// What imports lead to.
    Imports,
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
    /// Where a package or a module comes from: out of the repository now.
    LeadsInside,
}

/// A value that decides what runs.
#[must_use]
pub const fn run(name: &'static str, how: Less) -> Watched {
    Watched {
        name,
        purpose: Purpose::Run,
        how,
    }
}

/// A value that decides what is measured.
#[must_use]
pub const fn coverage(name: &'static str, how: Less) -> Watched {
    Watched {
        name,
        purpose: Purpose::Coverage,
        how,
    }
}

/// A value that decides what imports lead to.
#[must_use]
pub const fn imports(name: &'static str, how: Less) -> Watched {
    Watched {
        name,
        purpose: Purpose::Imports,
        how,
    }
}

/// The values of a settings file that is written in a programming language, as pairs of names and values.
pub(super) fn of_code(source: &Source<'_>) -> Vec<Setting> {
    if source.role != Role::Settings {
        return Vec::new();
    }
    let pairs = source.root.below().filter(|at| at.is(&["pair"]));
    pairs.filter_map(setting).collect()
}

/// A value, under the names of the objects around it.
fn setting(at: At<'_>) -> Option<Setting> {
    let plain = |text: &str| text.trim_matches(['"', '\'', '`']).to_owned();
    let value = at.field("value").filter(|value| !value.is(&["object"]))?;
    let around = at.ancestors().filter(|outer| outer.is(&["pair"]));
    let mut names: Vec<String> = std::iter::once(at)
        .chain(around)
        .map(|pair| plain(pair.field_text("key")))
        .collect();
    names.reverse();
    let values = match value.is(&["array"]) {
        true => value.children().map(|item| plain(item.text())).collect(),
        false => vec![plain(value.text())],
    };
    Some(Setting {
        name: names.join("."),
        values,
        line: at.line(),
    })
}
