//! Finds the examples in docstrings, which doctest runs.

use crate::language::{outline::Source, syntax::At, test_parts::TestParts};

pub(super) fn test_parts(source: &Source<'_>) -> TestParts {
    let text = source.root.text();
    let mut parts = TestParts::default();
    for at in source.root.below() {
        let Some((owner, docstring)) = docstring(at) else {
            continue;
        };
        let container = names(owner);
        let inside = docstring.children().find(|part| part.is(&["string_content"]));
        let Some(inside) = inside.map(At::range) else { continue };
        examples(text, &container, inside.start, text.get(inside.clone()).unwrap_or_default(), &mut parts);
        let before = text.get(..inside.end).unwrap_or_default();
        let is_own_line =
            before.rfind('\n').is_some_and(|at| before.get(at..).is_some_and(|line| line.trim().is_empty()));
        let end = before.rfind('\n').filter(|_| is_own_line).map_or(inside.end, |at| at.saturating_add(1));
        parts.ends.push((container, end));
    }
    parts
}

/// Returns the module, class or function whose docstring this is.
fn docstring(at: At<'_>) -> Option<(At<'_>, At<'_>)> {
    let statement = at.parent().filter(|parent| at.is(&["string"]) && parent.is(&["expression_statement"]))?;
    let block = statement.parent().filter(|_| statement.previous().is_none())?;
    if block.is(&["module"]) {
        Some((block, at))
    } else {
        Some((block.parent().filter(|owner| owner.is(&["function_definition", "class_definition"]))?, at))
    }
}

fn names(owner: At<'_>) -> String {
    let around = std::iter::once(owner).chain(owner.ancestors());
    let mut names: Vec<&str> = around.map(|at| at.field_text("name")).filter(|name| !name.is_empty()).collect();
    names.reverse();
    format!("/{}", names.join("/"))
}

/// Adds each example: the lines from `>>>` to an empty one.
fn examples(text: &str, container: &str, start: usize, docstring: &str, parts: &mut TestParts) {
    let (mut at, mut begun) = (start, None);
    for line in docstring.split_inclusive('\n') {
        let plain = line.trim();
        if plain.starts_with(">>>") {
            begun = begun.or(Some(at));
        } else if plain.is_empty()
            && let Some(from) = begun.take()
        {
            parts.add(text, container, "example".to_owned(), from..at);
        }
        at = at.saturating_add(line.len());
    }
    if let Some(from) = begun {
        parts.add(text, container, "example".to_owned(), from..at);
    }
}
