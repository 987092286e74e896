//! Functions of Python code that are only a promise.

use super::{decorators, is_nothing, statements};
use crate::language::{
    Role,
    outline::{Mark, Source, is_promise, quoted},
    syntax::At,
};
use domain::integrity::Rule;

/// The stub that a place is, if it is one.
pub(super) fn at(source: &Source<'_>, at: At<'_>, marks: &mut Vec<Mark>) {
    if source.role != Role::Source || source.path.ends_with(".pyi") {
        return;
    }
    match at.kind() {
        "raise_statement" => marks.extend(raised(source.root, at)),
        "function_definition" => marks.extend(empty(source.root, at)),
        "call" if at.field_text("function") == "NotImplementedError" => marks.extend(thrown_otherwise(at)),
        "assert_statement" | "return_statement" | "pass_statement" => marks.extend(rest_to_come(at)),
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
        "NotImplementedError" => whole || message.is_empty() || is_promise(&message) || !is_refusal(&message),
        "NotImplemented" => true,
        _ => raised.starts_with(char::is_uppercase) && (is_promise(&message) || whole && message.contains(" yet")),
    };
    let what = format!("{} stands where the work should be", quoted(at.text()));
    let class = class_of(function).filter(|_| is_refusal(&message));
    let open = class.map(|class| format!("{}.*", class.field_text("name")));
    (promise && !is_abstract(root, function)).then(|| Mark {
        open,
        ..stub(at, function.field_text("name"), what)
    })
}

/// The place in a function where the rest of its work is only promised: `assert False, "not implemented"`,
/// `return NotImplemented`, and `pass` under words that say what is to be done.
fn rest_to_come(at: At<'_>) -> Option<Mark> {
    let function = at.ancestors().find(|outer| outer.is(&["function_definition"]))?;
    let name = function.field_text("name");
    let of_function = at
        .parent()
        .is_some_and(|block| function.field("body").is_some_and(|body| body.is_same(block)));
    let under_promise = || {
        let comments = at.parent().into_iter().flat_map(At::everything);
        let above = comments
            .filter(|part| part.is(&["comment"]) && part.line() < at.line())
            .last();
        above.is_some_and(|part| {
            part.line() >= at.line().saturating_sub(2) && is_promise(part.text().trim_start_matches(['#', ' ']))
        })
    };
    let promises = match at.kind() {
        "pass_statement" => of_function && under_promise(),
        "return_statement" => {
            at.children()
                .next()
                .is_some_and(|value| value.text() == "NotImplemented")
                && !name.starts_with('_')
        }
        _ => is_note(at, false),
    };
    let what = format!("{} stands where the rest of the work should be", quoted(at.text()));
    promises.then(|| stub(at, name, what))
}

/// Whether the words of an error say that something is refused for good, not still to be done.
fn is_refusal(message: &str) -> bool {
    let message = message.to_lowercase();
    let words = [
        "support",
        "only",
        "cannot",
        "can't",
        "must",
        "subclass",
        "overrid",
        "platform",
        "available",
        "unknown",
        "invalid",
        "allowed",
        "requires",
        "no such",
    ];
    words.iter().any(|word| message.contains(word))
}

/// `NotImplementedError()` made, but not raised by a statement: thrown into a generator, given to something that raises it.
fn thrown_otherwise(at: At<'_>) -> Option<Mark> {
    let raised = at
        .ancestors()
        .any(|outer| outer.is(&["raise_statement", "except_clause"]));
    let what = format!("{} stands where the work should be", quoted(at.text()));
    (!raised).then(|| stub(at, at.text(), what))
}

/// Whether a statement does no work, only says that it is still to be done.
fn is_note(statement: At<'_>, in_dunder: bool) -> bool {
    let says = |at: At<'_>| {
        at.below()
            .any(|part| part.is(&["string_content"]) && is_promise(part.text()))
    };
    match statement.kind() {
        "return_statement" => statement
            .children()
            .next()
            .is_some_and(|value| value.text() == "..." || value.text() == "NotImplemented" && !in_dunder),
        "expression_statement" => statement
            .children()
            .next()
            .is_some_and(|call| call.is(&["call"]) && says(call)),
        "assert_statement" => statement.children().next().is_some_and(|at| at.text() == "False") && says(statement),
        _ => false,
    }
}

/// Whether a statement gives nothing back: `return`, `return None`, and the like.
fn gives_nothing(statement: At<'_>) -> bool {
    statement.is(&["delete_statement"])
        || is_nothing(statement)
        || statement.is(&["return_statement"])
            && statement.children().next().is_none_or(|value| {
                value.is(&["none", "false", "integer", "string", "list", "dictionary", "ellipsis"])
                    && value.children().count() < 3
            })
}

/// Whether nothing is done on purpose: by the name, or because nothing that is given is named.
fn is_for_nobody(function: At<'_>) -> bool {
    let name = function.field_text("name");
    let parameters = function.field("parameters").into_iter().flat_map(At::children);
    let mut taken = parameters
        .map(|at| at.below().find(|part| part.is(&["identifier"])).map_or("", At::text))
        .filter(|taken| !matches!(*taken, "self" | "cls" | "") && !taken.starts_with('_'));
    let said = [
        "noop", "nothing", "ignore", "null", "none", "dummy", "default", "discard",
    ];
    said.iter().any(|word| name.contains(word)) || taken.next().is_none()
}

/// What a body is that does no work.
fn nothing_done(function: At<'_>, statements: &[At<'_>]) -> Option<String> {
    let name = function.field_text("name");
    let in_dunder = name.starts_with("__");
    if statements.iter().all(|statement| is_nothing(*statement)) {
        return Some(match statements.first() {
            Some(first) => format!("`{name}` has no body, only {}", quoted(first.text())),
            None => format!("`{name}` has no body, only words about it"),
        });
    }
    if !statements
        .iter()
        .all(|statement| gives_nothing(*statement) || is_note(*statement, in_dunder))
    {
        return None;
    }
    let note = statements
        .iter()
        .find(|statement| is_note(**statement, in_dunder))
        .copied();
    let comment = || {
        function
            .below()
            .find(|part| part.is(&["comment"]) && is_promise(part.text().trim_start_matches(['#', ' '])))
    };
    let only_leaves = || {
        let mut leaves = statements.iter();
        let plain =
            leaves.all(|at| at.is(&["delete_statement"]) || matches!(at.phrase().as_str(), "return" | "return None"));
        plain && !is_for_nobody(function) && !in_dunder
    };
    match note.or_else(comment) {
        Some(note) => Some(format!(
            "`{name}` only says what is to be done: {}",
            quoted(note.text())
        )),
        None if only_leaves() => Some(format!("`{name}` does nothing and gives nothing back")),
        None => None,
    }
}

/// A function that does no work: its body is `pass`, `...`, a note, or a bare `return`.
fn empty(root: At<'_>, at: At<'_>) -> Option<Mark> {
    let name = at.field_text("name");
    let statements = statements(at.field("body")?);
    let what = nothing_done(at, &statements)?;
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
    let nested = at.ancestors().any(|outer| outer.is(&["function_definition"]));
    let stands_for_work = !decorated && !hook && !is_of_idle_class(at) && !nested && !is_abstract(root, at);
    stands_for_work.then(|| Mark {
        open: method_of(at),
        ..stub(at, name, what)
    })
}

/// A method as `Class.method`.
fn method_of(function: At<'_>) -> Option<String> {
    let class = class_of(function)?.field_text("name");
    Some(format!("{class}.{}", function.field_text("name")))
}

/// Whether a method is of a class that does nothing on purpose, or fills in what another class asks for.
pub(super) fn is_of_idle_class(function: At<'_>) -> bool {
    class_of(function).is_some_and(|class| {
        let name = class.field_text("name");
        class.field("superclasses").is_some()
            || ["Null", "Noop", "NoOp", "Dummy", "Fake", "Silent", "Empty", "Disabled"]
                .iter()
                .any(|word| name.contains(word))
    })
}

pub(super) fn class_of(function: At<'_>) -> Option<At<'_>> {
    let outer = function
        .ancestors()
        .find(|outer| outer.is(&["class_definition", "function_definition"]))?;
    outer.is(&["class_definition"]).then_some(outer)
}

/// Whether others are meant to fill a method in: it is marked so, its class says so, or a class of the file does it.
pub(super) fn is_abstract(root: At<'_>, function: At<'_>) -> bool {
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
