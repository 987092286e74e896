//! The tests that pytest and unittest collect from a Python file.

use super::{
    FLOW, checks, decorators, is_nothing,
    skips::skips_of_test,
    statements,
    swallows::{is_async, is_never_awaited},
};
use crate::language::{
    outline::{Function, Outline, Strength, Test, Work},
    syntax::At,
};

/// Names that the module takes from the runner: `test_x.__test__ = False`, `del test_x`, `test_x = None`.
pub(super) fn unwanted(root: At<'_>) -> Vec<&str> {
    let mut names = Vec::new();
    for statement in root.children() {
        let assignment = statement.children().next().filter(|at| at.is(&["assignment"]));
        if statement.is(&["delete_statement"]) {
            names.extend(
                statement
                    .children()
                    .flat_map(|at| at.below().filter(|at| at.is(&["identifier"])))
                    .map(At::text),
            );
        } else if let Some(assignment) = assignment {
            let (left, right) = (assignment.field_text("left"), assignment.field_text("right"));
            match left.strip_suffix(".__test__") {
                Some(name) if right == "False" => names.push(name),
                _ if right == "None" || right == "False" => names.push(left),
                _ => {}
            }
        }
    }
    names
}

/// Whether the runner takes a function for a test.
fn is_collected(at: At<'_>, classes: &[At<'_>], unwanted: &[&str]) -> bool {
    let name = at.field_text("name");
    let in_function = at.ancestors().any(|outer| outer.is(&["function_definition"]));
    let dropped = |name: &str| unwanted.contains(&name) || unwanted.contains(&"__test__");
    let fixture = decorators(at).any(|decorator| decorator.text().contains("fixture"));
    name.starts_with("test")
        && !fixture
        && !in_function
        && !dropped(name)
        && classes
            .iter()
            .all(|class| is_test_class(*class) && !dropped(class.field_text("name")))
        && is_defined(at)
}

/// A function of a file: a test, or one that tests may call.
pub(super) fn function(at: At<'_>, unwanted: &[&str], outline: &mut Outline) {
    let Some(body) = at.field("body") else { return };
    let name = at.field_text("name").to_owned();
    let classes: Vec<At<'_>> = at.ancestors().filter(|outer| outer.is(&["class_definition"])).collect();
    if !is_collected(at, &classes, unwanted) {
        outline.defines.push(name.clone());
        if at
            .ancestors()
            .any(|outer| outer.is(&["function_definition"]) && outer.field_text("name").starts_with("test"))
        {
            return;
        }
        let mut checks = checks::in_body(body);
        if is_async(at) && is_never_awaited(at) {
            checks
                .iter_mut()
                .for_each(|check| check.strength = check.strength.min(Strength::Silenced));
        }
        outline.functions.push(Function {
            name,
            line: at.line(),
            words: body.words(),
            checks,
        });
        return;
    }
    outline.tests.push(Test {
        name,
        scope: classes
            .iter()
            .rev()
            .map(|class| class.field_text("name").to_owned())
            .collect(),
        line: at.line(),
        words: decorators(at).flat_map(|at| at.words()).chain(body.words()).collect(),
        work: work(body),
        skips: skips_of_test(at, &classes, body),
        checks: checks::in_body(body),
    });
}

/// pytest and unittest keep the last of several tests with one name.
pub(super) fn keep_last(outline: &mut Outline) {
    let mut seen = std::collections::BTreeSet::new();
    let mut kept = Vec::new();
    for test in std::mem::take(&mut outline.tests).into_iter().rev() {
        if seen.insert((test.scope.clone(), test.name.clone())) {
            kept.push(test);
        } else {
            outline.functions.push(Function {
                name: test.name,
                line: test.line,
                words: test.words,
                checks: Vec::new(),
            });
        }
    }
    kept.reverse();
    outline.tests = kept;
}

fn is_test_class(class: At<'_>) -> bool {
    let bases = class.field_text("superclasses");
    let named = class.field_text("name").starts_with("Test");
    let off = class.field("body").is_some_and(|body| {
        body.children().any(|at| {
            at.phrase().starts_with("__test__ = False")
                || at.is(&["function_definition"]) && named && at.field_text("name") == "__init__" && bases.is_empty()
        })
    });
    // Test cases of a project's own are derived from unittest's elsewhere; what really ran is compared besides.
    !off && (named || bases.contains("Test") || bases.contains("Case"))
}

/// Whether no condition that never holds stands around a definition.
fn is_defined(at: At<'_>) -> bool {
    let conditions = at.ancestors().filter(|outer| outer.is(&["if_statement"]));
    conditions
        .map(|outer| outer.field_text("condition"))
        .all(|condition| !FLOW.never.contains(&condition.trim_matches(['(', ')'])))
}

fn work(body: At<'_>) -> Work {
    let nothing = |at: At<'_>| is_nothing(at) || at.is(&["return_statement"]) && at.children().next().is_none();
    if statements(body).into_iter().all(nothing) {
        Work::None
    } else {
        Work::Some
    }
}
