//! Functions of Python code that are only a promise.

use super::decorators;
use super::is_nothing;
use super::statements;
use crate::domain::integrity::Rule;
use crate::gates::language::Role;
use crate::gates::language::outline::Mark;
use crate::gates::language::outline::Source;
use crate::gates::language::outline::is_promise;
use crate::gates::language::outline::quoted;
use crate::gates::language::syntax::At;

/// The stub that a place is, if it is one.
pub(super) fn at(source: &Source<'_>, at: At<'_>, marks: &mut Vec<Mark>) {
    if source.role != Role::Source || source.path.ends_with(".pyi") {
        return;
    }
    match at.kind() {
        "raise_statement" => marks.extend(raised(source.root, at)),
        "function_definition" => marks.extend(empty(source.root, at)),
        _ => {}
    }
}

fn stub(at: At<'_>, name: &str, what: String) -> Mark {
    Mark {
        key: name.to_owned(),
        ..Mark::at(Rule::Stub, at, what)
    }
}

/// `raise NotImplementedError` as all that a function does, or with words that promise the rest.
fn raised(root: At<'_>, at: At<'_>) -> Option<Mark> {
    let words = at.words();
    let raised = words.get(1).map(String::as_str)?;
    let function = at.ancestors().find(|outer| outer.is(&["function_definition"]))?;
    let body = function.field("body")?;
    let whole = statements(body).first().is_some_and(|first| first.is_same(at));
    let message = words.get(2..).unwrap_or_default().join(" ");
    let promise = match raised {
        "NotImplementedError" => whole || message.is_empty() || is_promise(&message),
        "Exception" | "RuntimeError" | "AssertionError" => is_promise(&message),
        _ => false,
    };
    let what = format!("{} stands where the work should be", quoted(at.text()));
    (promise && !is_abstract(root, function)).then(|| stub(at, function.field_text("name"), what))
}

/// A function whose body is `pass` or `...`.
fn empty(root: At<'_>, at: At<'_>) -> Option<Mark> {
    let name = at.field_text("name");
    let statements = statements(at.field("body")?);
    let nothing = !statements.is_empty() && statements.iter().all(|statement| is_nothing(*statement));
    let decorated = decorators(at).any(|decorator| {
        let name = decorator
            .text()
            .trim_start_matches('@')
            .rsplit('.')
            .next()
            .unwrap_or_default()
            .trim();
        !matches!(
            name,
            "property" | "staticmethod" | "classmethod" | "cache" | "lru_cache" | "setter"
        )
    });
    let hook = (name.starts_with("__") && name.ends_with("__"))
        || [
            "on_", "handle_", "visit_", "setup", "teardown", "pre_", "post_", "before_", "after_", "noop", "_noop",
        ]
        .iter()
        .any(|start| name.starts_with(start));
    let class = class_of(at);
    let does_nothing_on_purpose = class.is_some_and(|class| {
        let name = class.field_text("name");
        class.field("superclasses").is_some()
            || ["Null", "Noop", "NoOp", "Dummy", "Fake", "Silent", "Empty", "Disabled"]
                .iter()
                .any(|word| name.contains(word))
    });
    let nested = at.ancestors().any(|outer| outer.is(&["function_definition"]));
    let what = format!(
        "`{name}` has no body, only {}",
        quoted(statements.first().map_or("", |statement| statement.text()))
    );
    let stands_for_work =
        nothing && !decorated && !hook && !does_nothing_on_purpose && !nested && !is_abstract(root, at);
    stands_for_work.then(|| stub(at, name, what))
}

fn class_of(function: At<'_>) -> Option<At<'_>> {
    let outer = function
        .ancestors()
        .find(|outer| outer.is(&["class_definition", "function_definition"]))?;
    outer.is(&["class_definition"]).then_some(outer)
}

/// Whether others are meant to fill a method in: it is marked so, its class says so, or a class of the file does it.
fn is_abstract(root: At<'_>, function: At<'_>) -> bool {
    let marked = decorators(function).any(|at| {
        ["abstractmethod", "abstractproperty", "overload"]
            .iter()
            .any(|mark| at.text().contains(mark))
    });
    let by_class = class_of(function).is_some_and(|class| {
        let (bases, name) = (class.field_text("superclasses"), class.field_text("name"));
        let said = ["ABC", "Protocol", "Interface", "Enum"]
            .iter()
            .any(|word| bases.contains(word));
        let named = ["Abstract", "Base", "Interface", "Mixin"]
            .iter()
            .any(|word| name.starts_with(word) || name.ends_with(word));
        said || named || is_filled_in(root, name, function.field_text("name"))
    });
    let checked_only = function
        .ancestors()
        .any(|outer| outer.is(&["if_statement"]) && outer.field_text("condition").ends_with("TYPE_CHECKING"));
    marked || by_class || checked_only
}

fn is_filled_in(root: At<'_>, class: &str, method: &str) -> bool {
    let derives = |at: &At<'_>| {
        at.is(&["class_definition"])
            && at
                .field("superclasses")
                .is_some_and(|bases| bases.children().any(|base| base.text() == class))
    };
    let mut derived = root.below().filter(derives);
    derived.any(|at| {
        at.below()
            .any(|part| part.is(&["function_definition"]) && part.field_text("name") == method)
    })
}
