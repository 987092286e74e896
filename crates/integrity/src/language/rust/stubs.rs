//! Rust functions that are only a promise.

use super::{is_test_code, marks::within};
use crate::language::{
    outline::{Mark, Source, is_promise, quoted},
    syntax::At,
};
use domain::integrity::Rule;

/// Macros that make or give an error from a message.
const ERRORS: [&str; 5] = ["bail", "anyhow", "eyre", "ensure", "whatever"];

/// `todo!()` and whatever else says the same.
pub(super) fn by_macro(source: &Source<'_>, at: At<'_>, name: &str, tokens: At<'_>) -> Option<Mark> {
    let words = tokens.words();
    let says = || is_promise(&words.join(" "));
    let nothing = || words.is_empty() || words.iter().all(|word| word == "\"\"");
    let never = || words.first().is_some_and(|word| word == "false");
    let stub = match name {
        "todo" | "unimplemented" => true,
        "panic" => says() || is_put_off(&words) || nothing() && is_whole_body(at),
        "unreachable" => is_whole_body(at) || says() || is_put_off(&words),
        "assert" | "debug_assert" => {
            never() && (is_promise(&words.get(1..).unwrap_or_default().join(" ")) || is_whole_body(at))
        }
        _ if ERRORS.contains(&name) => says(),
        _ => false,
    };
    if !stub || is_test_code(source, at) {
        return None;
    }
    let what = format!(
        "{} stands where the work should be",
        quoted(&format!("{name}!{}", tokens.text()))
    );
    Some(Mark {
        key: format!("{} {name}", within(at)),
        ..Mark::at(Rule::Stub, at, what)
    })
}

/// Whether a panic says that something will come later.
fn is_put_off(words: &[String]) -> bool {
    let text = words.join(" ").to_lowercase();
    let later = [
        "not supported yet",
        "not yet supported",
        "not handled yet",
        "not yet handled",
        "not done yet",
    ];
    later.iter().any(|said| text.contains(said))
}

/// `Err("not implemented".into())`, or a function that is nothing but an error of that name.
pub(super) fn as_error(source: &Source<'_>, at: At<'_>) -> Option<Mark> {
    let function = at.field_text("function");
    let arguments = at.field("arguments")?;
    let texts = || arguments.below().filter(|part| part.is(&["string_content"]));
    let named = || {
        let last = arguments
            .below()
            .filter(|part| part.kind().ends_with("identifier"))
            .last();
        last.is_some_and(|name| is_promise(name.text()))
    };
    let stub = function == "Err" && (texts().any(|text| is_promise(text.text())) || is_whole_body(at) && named())
        || function.ends_with("process::abort") && is_whole_body(at);
    let what = format!("{} stands where the work should be", quoted(at.text()));
    (stub && !is_test_code(source, at)).then(|| Mark {
        key: format!("{} {function}", within(at)),
        ..Mark::at(Rule::Stub, at, what)
    })
}

/// A function that gives a constant, and says in a comment that the work is still to be done.
pub(super) fn with_excuse(source: &Source<'_>, function: At<'_>) -> Option<Mark> {
    let body = function.field("body")?;
    let text = |comment: At<'_>| comment.text().trim_start_matches(['/', '*', '!', ' ']).to_owned();
    let comment = body
        .everything()
        .filter(|at| at.kind().ends_with("_comment"))
        .find(|comment| is_promise(&text(*comment)) && !comment.text().contains("!("))?;
    let mut rest = body.children();
    let (first, second) = (rest.next(), rest.next());
    let is_constant = |at: At<'_>| {
        at.kind().ends_with("_literal") && !at.is(&["string_literal"])
            || [
                "Default::default()",
                "None",
                "Ok(())",
                "String::new()",
                "Vec::new()",
                "vec![]",
                "Ok(vec![])",
                "Some(())",
            ]
            .contains(&at.text())
    };
    let stub = second.is_none() && first.is_none_or(is_constant) && !is_test_code(source, function);
    let what = format!("{} stands where the work should be", quoted(comment.text()));
    stub.then(|| Mark {
        key: format!("{} comment", function.field_text("name")),
        ..Mark::at(Rule::Stub, comment, what)
    })
}

/// Answers that say that there is nothing.
const NOTHING: [&str; 13] = [
    "0",
    "0.0",
    "None",
    "Ok(0)",
    "Ok(0.0)",
    "Ok(None)",
    "Ok(Vec::new())",
    "Ok(vec![])",
    "Vec::new()",
    "vec![]",
    "String::new()",
    "Default::default()",
    "std::iter::empty()",
];

/// A function of no type's that answers that there is nothing, whatever it is given: methods may do that for a trait.
pub(super) fn idle(source: &Source<'_>, function: At<'_>) -> Option<Mark> {
    let body = function.field("body")?;
    let beside = |at: At<'_>| at.is(&["impl_item", "trait_item", "function_item", "macro_definition"]);
    let is_free = !function.ancestors().any(beside) && !super::attributes(function).any(|at| at.text().contains("cfg"));
    let takes = function
        .field("parameters")
        .is_some_and(|all| all.children().any(|at| at.is(&["parameter"])));
    let is_let_go = |at: &At<'_>| at.is(&["let_declaration"]) && at.field_text("pattern") == "_";
    let mut work = body
        .children()
        .filter(|at| !is_let_go(at) && !at.kind().ends_with("_comment"));
    let (answer, more) = (work.next()?, work.next());
    let says_nothing = more.is_none() && NOTHING.contains(&answer.text());
    let what = format!(
        "`{}` answers {} whatever it is given",
        function.field_text("name"),
        quoted(answer.text())
    );
    (is_free && takes && says_nothing && !is_test_code(source, function)).then(|| Mark {
        key: format!("{} idle", function.field_text("name")),
        ..Mark::at(Rule::Stub, function, what)
    })
}

/// Names of types that do nothing on purpose.
const IDLE: [&str; 8] = [
    "null", "noop", "no_op", "void", "dummy", "silent", "disabled", "discard",
];

/// What a type that holds something does for a trait, where that is nothing in every method, whatever it is given.
pub(super) fn idle_impl(source: &Source<'_>, at: At<'_>) -> Option<Mark> {
    let (named, asked) = (at.field_text("type"), at.field("trait")?);
    let mut types = source.root.below().filter(|item| item.is(&["struct_item"]));
    let of_type = types.find(|item| item.field_text("name") == named)?;
    let holds = of_type
        .field("body")
        .is_some_and(|body| body.children().next().is_some());
    let methods = at.field("body")?.children().filter(|item| item.is(&["function_item"]));
    let methods: Vec<At<'_>> = methods.collect();
    let on_purpose = IDLE.iter().any(|word| named.to_lowercase().contains(word));
    let stub = holds && !on_purpose && methods.len() > 1 && methods.iter().all(|method| ignores_all(*method));
    let what = format!(
        "`{named}` does nothing of what `{}` asks, whatever it is given",
        asked.text()
    );
    (stub && !is_test_code(source, at)).then(|| Mark {
        key: format!("{named} idle"),
        ..Mark::at(Rule::Stub, at, what)
    })
}

/// Whether a method is given something, looks at none of it, and gives nothing back.
fn ignores_all(method: At<'_>) -> bool {
    let parameters = method.field("parameters").into_iter().flat_map(At::children);
    let mut given = parameters.filter(|part| part.is(&["parameter"])).peekable();
    let is_given = given.peek().is_some();
    let ignored = given.all(|part| part.field_text("pattern").starts_with('_'));
    let body = method.field("body").into_iter().flat_map(At::children);
    let mut work = body.filter(|part| !part.kind().ends_with("_comment"));
    let (answer, more) = (work.next(), work.next());
    let nothing =
        answer.is_none_or(|answer| NOTHING.contains(&answer.text()) || matches!(answer.text(), "Ok(())" | "false"));
    is_given && ignored && nothing && more.is_none()
}

/// `use std::todo as later`.
pub(super) fn renamed(source: &Source<'_>, at: At<'_>) -> Option<Mark> {
    let words = at.words();
    let promise = words.iter().any(|word| word == "todo" || word == "unimplemented");
    let what = format!("{} gives a promise another name", quoted(at.text()));
    let other = promise && words.iter().any(|word| word == "as");
    (other && !is_test_code(source, at)).then(|| Mark::at(Rule::Stub, at, what))
}

/// Whether it is all that a function does that promises to give something.
fn is_whole_body(at: At<'_>) -> bool {
    let mut outer = at
        .ancestors()
        .skip_while(|outer| outer.is(&["macro_invocation", "expression_statement", "unsafe_block"]));
    let Some(block) = outer.next().filter(|outer| outer.is(&["block"])) else {
        return false;
    };
    let function = block.parent().filter(|outer| outer.is(&["function_item"]));
    block.children().count() == 1 && function.is_some_and(|function| function.field_text("return_type") != "!")
}
