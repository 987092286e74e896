//! Describes how settings of runners and coverage tools can be weakened.

use crate::language::{
    outline::{Setting, Source},
    role::Role,
    syntax::At,
};

/// Settings that can be weakened in one way.
pub struct Watched {
    /// The ends of dotted names, such as `coverage.report.fail_under`, with commas between them; `*` stands for any one
    /// part.
    pub names: &'static str,
    /// Their purpose.
    pub purpose: Purpose,
    /// The way to weaken them.
    pub how: Weakening,
}

/// The purpose of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It decides which tests run, and what counts as a failure.
    Run,
    /// It decides what is measured, and how much coverage is required.
    Coverage,
    /// It decides where imports lead.
    Imports,
}

/// A way to weaken a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weakening {
    /// A required number: it is lowered or removed.
    Lowered,
    /// A list of exclusions: something that exists was added.
    LeavesOut,
    /// A list of inclusions: something that exists is no longer in it.
    LooksAt,
    /// A switch that tolerates failures: it is switched on.
    SwitchedOn,
    /// A switch that demands something: it is switched off.
    SwitchedOff,
    /// Options of a runner: one that excludes tests was added.
    Options,
    /// A command that runs tests: it does less.
    Command,
    /// A program that takes part in the run: it is now one of the repository's own.
    Program,
    /// A setting that must not be there: it is there.
    Present,
    /// The source of a package or module: it is now inside the repository.
    LeadsInside,
}

/// Defines a function that watches settings of this purpose.
macro_rules! watch {
    ($function:ident, $purpose:ident) => {
        pub(super) const fn $function(how: Weakening, names: &'static str) -> Watched {
            let purpose = Purpose::$purpose;
            Watched { names, purpose, how }
        }
    };
}
watch!(run, Run);
watch!(coverage, Coverage);
watch!(imports, Imports);

/// Returns the settings in a settings file that is written in a programming language.
pub(super) fn of_code(source: &Source<'_>) -> Vec<Setting> {
    if source.role != Role::Settings {
        return Vec::new();
    }
    let pairs = source.root.below().filter(|at| at.is(&["pair"]));
    pairs.filter_map(setting).collect()
}

/// Returns a setting, named after the objects around it.
fn setting(at: At<'_>) -> Option<Setting> {
    let plain = |text: &str| text.trim_matches(['"', '\'', '`']).to_owned();
    let value = at.field("value").filter(|value| !value.is(&["object"]))?;
    let around = at.ancestors().filter(|outer| outer.is(&["pair"]));
    let pairs = std::iter::once(at).chain(around);
    let mut names: Vec<String> = pairs.map(|pair| plain(pair.field_text("key"))).collect();
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
