//! Tests that stand in the tokens of macros, or that a macro of the file makes.

use super::{checks, work};
use crate::language::{
    outline::{Mark, Test},
    syntax::At,
};

/// Tests inside a macro such as `proptest!`, where nothing but tokens is known.
pub(super) fn tests_in_tokens(at: At<'_>, skips: &[Mark]) -> Vec<Test> {
    let marked = at
        .below()
        .filter(|word| word.text() == "fn" && word.previous().is_some_and(|mark| mark.text() == "[test]"));
    let test = |word: At<'_>| {
        let name = word.next()?;
        let body = std::iter::successors(Some(name), |part| part.next()).find(|part| part.text().starts_with('{'))?;
        Some(Test {
            name: name.text().to_owned(),
            scope: Vec::new(),
            line: name.line(),
            words: body.words(),
            work: work(body),
            skips: skips.to_vec(),
            checks: checks::in_body(body),
        })
    };
    marked.filter_map(test).collect()
}

/// A macro of the file whose rules hold `#[test] fn $name`.
pub(super) struct Maker<'t> {
    name: &'t str,
    /// What the tests do.
    body: At<'t>,
}

/// The macros of the file that make tests.
pub(super) fn makers(root: At<'_>) -> Vec<Maker<'_>> {
    let definitions = root.below().filter(|at| at.is(&["macro_definition"]));
    definitions.filter_map(maker).collect()
}

fn maker(definition: At<'_>) -> Option<Maker<'_>> {
    let mut names = definition.below().filter(|word| {
        let marked = word.previous().is_some_and(|mark| mark.text() == "[test]");
        word.text() == "fn" && marked && word.next().is_some_and(|name| name.text().starts_with('$'))
    });
    let name = names.next()?;
    let body = std::iter::successors(Some(name), |part| part.next()).find(|part| part.text().starts_with('{'))?;
    Some(Maker {
        name: definition.field_text("name"),
        body,
    })
}

/// The tests that one call of such a macro makes: each begins with its name, and a sign behind it.
pub(super) fn made(at: At<'_>, makers: &[Maker<'_>], skips: &[Mark]) -> Vec<Test> {
    let Some(maker) = makers.iter().find(|maker| maker.name == at.field_text("macro")) else {
        return Vec::new();
    };
    let Some(tokens) = at.children().find(|part| part.is(&["token_tree"])) else {
        return Vec::new();
    };
    let parts: Vec<At<'_>> = tokens.parts().collect();
    let inner = parts.get(1..parts.len().saturating_sub(1)).unwrap_or_default();
    let sign = |at: usize| inner.get(at).map_or("", |part| part.text());
    let begins = |at: &usize| {
        let named = inner.get(*at).is_some_and(|part| part.is(&["identifier"]));
        let behind = sign(at.saturating_add(1));
        let first = *at == 0
            || matches!(sign(at.saturating_sub(1)), "," | ";" | "{" | "}")
            || sign(at.saturating_sub(1)).ends_with('}');
        named && first && (matches!(behind, ":" | "=>") || *at == 0 && behind == ",")
    };
    let starts: Vec<usize> = (0..inner.len()).filter(begins).collect();
    let test = |(place, start): (usize, &usize)| {
        let end = starts.get(place.saturating_add(1)).copied().unwrap_or(inner.len());
        let name = inner.get(*start)?;
        let rows = inner
            .get(start.saturating_add(1)..end)?
            .iter()
            .flat_map(|part| part.words());
        Some(Test {
            name: name.text().to_owned(),
            scope: Vec::new(),
            line: name.line(),
            words: rows.chain(maker.body.words()).collect(),
            work: work(maker.body),
            skips: skips.to_vec(),
            checks: checks::in_body(maker.body),
        })
    };
    starts.iter().enumerate().filter_map(test).collect()
}
