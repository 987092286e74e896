//! Rates how much an assertion checks: for every language alike, from the words on both sides.

use crate::{
    language::{
        capture::{Capture, QueryMatch},
        outline::{Check, ExpectedOutcome, FailingReplacement, Strength},
        reachability::reached,
        syntax::At,
        vocabulary::Vocabulary,
    },
    words::is_one_of,
};
use serde::Deserialize;

/// The way to make an assertion fail.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FailureTemplate {
    /// The replacement; `{}` stands for the assertion itself.
    pub text: String,
    pub replaces: ReplacedCode,
    /// The kinds of nodes between an assertion around a block and its whole statement, between blanks.
    pub around: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReplacedCode {
    /// The statement that consists of the assertion; an assertion within another statement cannot be replaced.
    #[default]
    Statement,
    Itself,
}

/// A language's words for comparisons, with blanks between them.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ComparisonWords {
    /// Words that compare with one value.
    pub equals: String,
    /// Words that only check the existence or the type of something.
    pub weak: String,
    /// Words that join two alternatives.
    pub or: String,
    /// Operators and methods between a value and its default, such as `??`.
    pub falls_back: String,
    /// Values that count as true.
    pub truths: String,
    /// Values that count as false.
    pub falsities: String,
    /// Functions and methods that give a value another shape, in which more values are equal.
    pub reshapes: String,
    /// Methods that compare two values.
    pub methods: String,
}

pub(super) fn check(at: At<'_>, found: &QueryMatch<'_>, body: At<'_>, vocabulary: &Vocabulary) -> Check {
    let strength = reached(&vocabulary.words.flow, at, body, strength(at, found, body, vocabulary));
    let mut words = at.words();
    let condition = found.first(Capture::AssertionCondition);
    words.extend(condition.filter(|condition| !at.holds(*condition)).into_iter().flat_map(At::words));
    Check {
        line: at.line(),
        words,
        strength,
        failing: failing(at, found, vocabulary),
        expects: match found.first(Capture::AssertionReversed) {
            Some(_) => ExpectedOutcome::Failure,
            None => ExpectedOutcome::Success,
        },
    }
}

fn failing(at: At<'_>, found: &QueryMatch<'_>, vocabulary: &Vocabulary) -> Option<FailingReplacement> {
    let made = &vocabulary.words.made_to_fail;
    let place = match made.replaces {
        ReplacedCode::Itself => Some(at),
        ReplacedCode::Statement if at.is_one_of(&vocabulary.words.statements) => Some(at),
        ReplacedCode::Statement => {
            let is_around = |outer: &At<'_>| outer.is_one_of(&made.around);
            let around = at.ancestors().take_while(is_around).last();
            around.or_else(|| at.parent().filter(|outer| outer.is_one_of(&vocabulary.words.statements)))
        }
    }?;
    // An assertion of a constant, such as `assert false`, marks code that must not be reached, so it must not be
    // replaced.
    let condition = found.first(Capture::AssertionCondition);
    let is_apart =
        condition.is_some_and(|condition| !at.holds(condition) || is_constant(&Operand::of(condition), vocabulary));
    (!is_apart && found.first(Capture::AssertionGuard).is_none())
        .then(|| FailingReplacement { range: place.range(), text: made.text.replace("{}", place.text()) })
}

#[derive(Clone)]
struct Operand {
    words: Vec<String>,
    calls: bool,
}

impl Operand {
    fn of(at: At<'_>) -> Self {
        Self { words: at.words(), calls: at.text().trim_start_matches('(').contains('(') }
    }

    /// If this is only a variable of the test that is assigned once, returns the value that is assigned to it.
    fn looked_up(&self, body: At<'_>) -> Self {
        let [name] = self.words.as_slice() else {
            return self.clone();
        };
        let value = |at: At<'_>| {
            let left = ["pattern", "name", "left"].iter().find_map(|field| at.field(field))?;
            let right = ["value", "right"].iter().find_map(|field| at.field(field))?;
            (left.text() == name).then(|| Self::of(right))
        };
        let mut values = body.below().filter_map(value);
        match (values.next(), values.next()) {
            (Some(only), None) if only.calls => only,
            _ => self.clone(),
        }
    }

    fn split_at(&self, words: &str) -> Option<[Self; 2]> {
        let mut in_text = false;
        let at = self.words.iter().position(|word| {
            in_text ^= word == "\"";
            !in_text && is_one_of(words, word)
        })?;
        let part = |words: &[String]| Self { words: words.to_vec(), calls: self.calls };
        Some([part(self.words.get(..at)?), part(self.words.get(at.saturating_add(1)..)?)])
    }
}

fn strength(at: At<'_>, found: &QueryMatch<'_>, body: At<'_>, vocabulary: &Vocabulary) -> Strength {
    if found.first(Capture::AssertionTrivial).is_some() {
        return Strength::Trivial;
    }
    let sides: Vec<Operand> = match found.first(Capture::AssertionCondition) {
        Some(tokens) if tokens.is(&["token_tree"]) => sides(tokens),
        Some(condition) => vec![Operand::of(condition)],
        None => Vec::new(),
    };
    let actual = found.first(Capture::AssertionActual);
    let pair = actual.zip(found.first(Capture::AssertionExpected));
    let of_sides = match (pair, sides.as_slice()) {
        (Some((actual, expected)), _) => {
            let [one, other] = [actual, expected].map(Operand::of);
            equality(&one, &other, body, vocabulary)
        }
        (None, [one, other, ..]) if is_equality(at, vocabulary) => equality(one, other, body, vocabulary),
        (None, [one, ..]) => condition(one, body, vocabulary),
        (None, []) => Strength::Strong,
    };
    match found.first(Capture::AssertionWeak) {
        Some(_) => of_sides.min(Strength::Weak),
        None => of_sides,
    }
}

/// Splits a macro's tokens, which the grammar does not parse further, into its arguments.
fn sides(tokens: At<'_>) -> Vec<Operand> {
    let parts: Vec<At<'_>> = tokens.parts().collect();
    let inner = parts.get(1..parts.len().saturating_sub(1)).unwrap_or_default();
    let sides = inner.split(|part| part.text() == ",").map(|tokens| Operand {
        words: tokens.iter().flat_map(|at| at.words()).collect(),
        calls: tokens.iter().any(|at| at.text().starts_with('(')),
    });
    sides.collect()
}

/// `true` if the assertion's name compares with one value.
fn is_equality(at: At<'_>, vocabulary: &Vocabulary) -> bool {
    let mut begin = at.words().into_iter().take(3);
    begin.any(|word| is_one_of(&vocabulary.words.comparison.equals, &word))
}

/// Rates the equality of two values.
fn equality(left: &Operand, right: &Operand, body: At<'_>, vocabulary: &Vocabulary) -> Strength {
    let [left, right] = [left, right].map(|side| side.looked_up(body));
    let (left, right) = (&left, &right);
    let is = |side: &Operand, list: &str| matches!(side.words.as_slice(), [only] if is_one_of(list, only));
    let copies = ["&", "clone", "to_owned", "to_string", "to_vec", "."];
    let plain = |side: &Operand| -> Vec<String> {
        let words = side.words.iter().filter(|word| !copies.contains(&word.as_str()));
        words.cloned().collect()
    };
    if is_constant(left, vocabulary) && is_constant(right, vocabulary) {
        return Strength::Trivial;
    }
    if plain(left) == plain(right) {
        return if left.calls { Strength::Same } else { Strength::Trivial };
    }
    if is_reshaped(left, right, vocabulary) {
        return Strength::Reshaped;
    }
    if let Some([_, otherwise]) = left.split_at(&vocabulary.words.comparison.falls_back)
        && plain(&otherwise) == plain(right)
    {
        return Strength::Weak;
    }
    if is(right, &vocabulary.words.comparison.truths) {
        return condition(left, body, vocabulary);
    }
    match left.words.first().map(String::as_str) {
        Some("typeof" | "type") => Strength::Weak,
        Some(_) | None => Strength::Strong,
    }
}

/// `true` if both sides begin or end with the same word that gives a value another shape.
fn is_reshaped(left: &Operand, right: &Operand, vocabulary: &Vocabulary) -> bool {
    let ends = |side: &Operand| [side.words.first().cloned(), side.words.last().cloned()];
    let mut both = ends(left).into_iter().zip(ends(right));
    both.any(|pair| matches!(pair, (Some(one), Some(other)) if one == other && is_one_of(&vocabulary.words.comparison.reshapes, &one)))
}

fn is_constant(side: &Operand, vocabulary: &Vocabulary) -> bool {
    let mut in_text = false;
    let constant = |word: &String| {
        if word == "\"" {
            in_text = !in_text;
            return true;
        }
        let comparison = &vocabulary.words.comparison;
        let plain = word.replace('_', "");
        in_text
            || plain.starts_with(|c: char| c.is_ascii_digit())
            || word.starts_with(['"', '\''])
            || is_one_of(&comparison.truths, word)
            || is_one_of(&comparison.falsities, word)
            || word.chars().all(|c| !c.is_alphanumeric() && c != '_')
    };
    !side.words.is_empty() && side.words.iter().all(constant)
}

fn condition(side: &Operand, body: At<'_>, vocabulary: &Vocabulary) -> Strength {
    let comparison = &vocabulary.words.comparison;
    let words = side.words.as_slice();
    let has = |list: &str| words.iter().any(|word| is_one_of(list, word));
    if is_constant(side, vocabulary) {
        let is_false = matches!(words, [only] if is_one_of(&comparison.falsities, only));
        return if is_false { Strength::Strong } else { Strength::Trivial };
    }
    if let Some([one, other]) = side.split_at(&comparison.or) {
        return condition(&one, body, vocabulary).min(condition(&other, body, vocabulary));
    }
    if let Some([left, right]) = side.split_at("== === is") {
        let is_not = right.words.first().is_some_and(|word| word == "not");
        return if is_not { Strength::Weak } else { equality(&left, &right, body, vocabulary) };
    }
    let orders = has("< > <= >=") && !words.iter().any(|word| word.ends_with("abs")) && !has("::");
    let is_name = |word: &String| word == "." || word.chars().all(|c| c.is_alphanumeric() || c == '_');
    if orders || has("!= !==") || has(&comparison.weak) || !side.calls && words.iter().all(is_name) {
        return Strength::Weak;
    }
    Strength::Strong
}
