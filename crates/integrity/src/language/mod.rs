//! Describes programming languages: a folder per language with its queries and one [`Vocabulary`].
//!
//! [`language_of`] finds the language of a path, and [`role`] the part that a path plays for tests, even if its
//! language is unknown. To add a language, add a folder and a line in [`ALL`]. Nothing here compares versions or judges.

mod assertions;
pub mod bodies;
pub mod capture;
mod go;
mod javascript;
pub mod outline;
mod python;
mod reachability;
pub mod return_values;
mod role;
mod rust;
pub mod syntax;
pub mod test_parts;
mod vocabulary;

pub use role::{Role, file_name, folders, in_support_folder, in_test_folder};
pub use vocabulary::{Grammar, Installed, Vocabulary, Words};

use std::collections::BTreeSet;

/// The known languages.
pub static ALL: &[&Vocabulary] = &[&rust::RUST, &python::PYTHON, &javascript::JAVASCRIPT, &go::GO];

/// Returns the role of a path: the one that its language defines, or else the one that names common to most languages
/// suggest.
pub fn role(path: &str) -> Role {
    let by_language = ALL.iter().find_map(|language| (language.role)(path));
    by_language.unwrap_or_else(|| role::by_name(path))
}

/// Returns the outline of a file; `None` if its language is unknown or it cannot be parsed within limits.
pub fn read(path: &str, text: &str) -> Option<outline::Outline> {
    parsed(path, text, |vocabulary, grammar, source, tree| {
        let compile = || capture::compile(&(grammar.language)(), &grammar.queries.join("\n")).ok();
        let compiled = grammar.compiled.get_or_init(compile).as_ref()?;
        let mut outline = outline::outline(source, &capture::find(compiled, tree), vocabulary);
        outline.settings = settings_of_code(source);
        Some(outline)
    })?
}

/// Returns the functions and values of a file; `None` as for [`read`].
pub fn executable_code(path: &str, text: &str) -> Option<bodies::ExecutableCode> {
    parsed(path, text, |vocabulary, _, source, _| (vocabulary.executable_code)(source))
}

/// Returns the tests inside a source file; `None` as for [`read`], and if its language has none.
pub fn test_parts(path: &str, text: &str) -> Option<test_parts::TestParts> {
    parsed(path, text, |vocabulary, _, source, _| vocabulary.test_parts.map(|read| read(source)))?
}

/// Returns the words of a file without comments, but for those that programs obey, and without statements that are only a
/// text, such as docstrings; `None` as for [`read`].
pub fn words_of_code(path: &str, text: &str) -> Option<Vec<String>> {
    parsed(path, text, |vocabulary, _, source, _| {
        let is_text = |at: &syntax::At<'_>| {
            let parts: Vec<syntax::At<'_>> = at.children().collect();
            at.is_one_of(&vocabulary.words.statements) && matches!(parts.as_slice(), [only] if only.is_one_of("string"))
        };
        let texts = source.root.below().filter(is_text).map(syntax::At::index).collect();
        let mut words = source.root.words_without(&texts);
        let is_obeyed = |line: &&str| vocabulary.words.obeyed_comments.iter().any(|start| line.starts_with(start));
        words.extend(text.lines().filter(is_obeyed).map(str::to_owned));
        words
    })
}

/// Returns two versions of the file: in one, its functions of these names return another value of the same type; in the
/// other, nothing. `None` as for [`read`], and if there is no such function.
pub fn change_return_values(path: &str, text: &str, names: &BTreeSet<String>) -> Option<[String; 2]> {
    let made = parsed(path, text, |vocabulary, _, source, _| (vocabulary.return_values)(source, names))?;
    made?.of(text)
}

fn parsed<T>(
    path: &str,
    text: &str,
    look: impl FnOnce(&Vocabulary, &'static Grammar, &outline::Source<'_>, &syntax::Syntax<'_>) -> T,
) -> Option<T> {
    let (vocabulary, grammar) = grammar_of(path)?;
    let language = (grammar.language)();
    let tree = syntax::parse(&language, text)?;
    let source = outline::Source { path, role: role(path), root: tree.root() };
    Some(look(vocabulary, grammar, &source, &tree))
}

pub fn language_of(path: &str) -> Option<&'static Vocabulary> {
    grammar_of(path).map(|(vocabulary, _)| vocabulary)
}

fn grammar_of(path: &str) -> Option<(&'static Vocabulary, &'static Grammar)> {
    let (stem, extension) = role::file_name(path).rsplit_once('.')?;
    let grammars =
        ALL.iter().flat_map(|vocabulary| vocabulary.grammars.iter().map(move |grammar| (*vocabulary, grammar)));
    let mut known = grammars.filter(|(_, grammar)| grammar.extensions.contains(&extension));
    known.next().filter(|_| !stem.is_empty())
}

/// Reads a settings file that is written in a programming language.
fn settings_of_code(source: &outline::Source<'_>) -> Vec<outline::Setting> {
    if source.role != Role::Settings {
        return Vec::new();
    }
    let pairs = source.root.below().filter(|at| at.is(&["pair"]));
    pairs.filter_map(setting).collect()
}

fn setting(at: syntax::At<'_>) -> Option<outline::Setting> {
    let plain = |text: &str| text.trim_matches(['"', '\'', '`']).to_owned();
    let value = at.field("value").filter(|value| !value.is(&["object"]))?;
    let around = at.ancestors().filter(|outer| outer.is(&["pair"]));
    let pairs = std::iter::once(at).chain(around);
    let mut names: Vec<String> = pairs.map(|pair| plain(pair.field_text("key"))).collect();
    names.reverse();
    let values = if value.is(&["array"]) {
        value.children().map(|item| plain(item.text())).collect()
    } else {
        vec![plain(value.text())]
    };
    Some(outline::Setting { name: names.join("."), values })
}

#[cfg(test)]
mod tests {
    use super::{ALL, Words, capture};

    #[test]
    fn the_words_of_every_language_are_read() {
        for vocabulary in ALL {
            let table = format!("src/language/{}/words.toml", vocabulary.name.to_lowercase());
            let read: Result<Words, _> = toml::from_str(&std::fs::read_to_string(table).unwrap());
            let read = read.unwrap_or_else(|error| panic!("{}: {error}", vocabulary.name));
            assert_eq!(read.literals, vocabulary.words.literals);
            assert!(!read.literals.is_empty() && !read.flow.functions.is_empty(), "{}", vocabulary.name);
        }
    }

    #[test]
    fn every_query_fits_its_grammar_and_captures_what_is_known() {
        for vocabulary in ALL {
            for grammar in vocabulary.grammars {
                for text in grammar.queries {
                    let compiled = capture::compile(&(grammar.language)(), text);
                    assert_eq!(compiled.err(), None, "{} {:?}:\n{text}", vocabulary.name, grammar.extensions);
                }
            }
        }
    }
}
