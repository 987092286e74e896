//! Rust: cargo's places for tests, test attributes, the standard assertions, stubs and exits.

mod answers;
mod bodies;
mod checks;
mod conditions;
mod constants;
mod examples;
mod macros;
mod marks;
mod otherwise;
mod perhaps;
mod reached;
mod shadows;
mod skips;
mod strength;
mod stubs;
mod watched;

use crate::language::{
    Language, Role,
    flow::Flow,
    outline::{Check, Function, Mark, Outline, Source, Table, Test, Work},
    role::{file_name, folders, in_support_folder},
    syntax::At,
};
use skips::{condition_mark, file_skips, ignore_mark};

/// What the Gates know of Rust.
pub static RUST: Language = Language {
    name: "Rust",
    extensions: &["rs"],
    inline_tests: true,
    role,
    grammar: |_| tree_sitter_rust::LANGUAGE.into(),
    outline,
    doing: bodies::doing,
    otherwise: otherwise::otherwise,
    is_collected,
    watched: &watched::WATCHED,
    shadows: shadows::shadows,
};

static FLOW: Flow = Flow {
    conditions: &["if_expression", "while_expression"],
    loops: (&["for_expression"], "value"),
    is_empty: reached::is_nothing,
    arms: &[],
    functions: &["function_item", "closure_expression", "async_block"],
    leaves: &["return_expression", "break_expression", "continue_expression"],
    never: &["false", "!true", "cfg!(any())", "false && true", "0 > 0"],
    always: &["true", "!false", "cfg!(all())"],
    swallows: reached::swallows,
};

const TEST_ATTRIBUTES: [&str; 6] = [
    "test",
    "rstest",
    "test_case",
    "wasm_bindgen_test",
    "quickcheck",
    "bolero_test",
];

fn role(path: &str) -> Option<Role> {
    let name = file_name(path);
    let folder = folders(path).next_back();
    match (name, folder) {
        ("Cargo.toml" | "clippy.toml" | "tarpaulin.toml" | ".tarpaulin.toml" | "rust-toolchain.toml", _) => {
            return Some(Role::Settings);
        }
        ("config.toml" | "config", Some(".cargo")) | ("nextest.toml", Some(".config")) => return Some(Role::Settings),
        _ => {}
    }
    let stem = name.strip_suffix(".rs")?;
    let below_tests = folders(path).any(|folder| folder == "tests");
    let in_src = folders(path).any(|folder| folder == "src");
    let named = matches!(stem, "tests" | "test") || stem.ends_with("_test") || stem.ends_with("_tests");
    Some(match (below_tests, in_src) {
        (true, false) if in_support_folder(path) || matches!(folder, Some("common" | "util" | "utils")) => {
            Role::Support
        }
        (true, _) => Role::Test,
        (false, _) if named => Role::Test,
        (false, _) => Role::Source,
    })
}

/// Whether cargo compiles the file: below `src`, directly in `tests`, or named by another file (`includes`).
fn is_collected(path: &str, includes: &[String]) -> bool {
    let stem = file_name(path).strip_suffix(".rs").unwrap_or_default();
    let module = if stem == "mod" {
        folders(path).next_back().unwrap_or_default()
    } else {
        stem
    };
    let is_root = matches!(folders(path).next_back(), Some("tests")) || stem == "main";
    is_root || folders(path).any(|folder| folder == "src") || includes.iter().any(|name| name == module)
}

fn outline(source: &Source<'_>) -> Outline {
    let mut outline = Outline {
        examples: examples::in_text(source.root.text()),
        ..Outline::default()
    };
    let file_skips = file_skips(source.root);
    let makers = macros::makers(source.root);
    for at in source.root.below() {
        match at.kind() {
            "function_item" => function(source, at, &file_skips, &mut outline),
            "mod_item" if at.field("body").is_none() => outline.includes.push(at.field_text("name").to_owned()),
            "struct_item" | "enum_item" | "trait_item" | "const_item" | "static_item" | "type_item" | "mod_item" => {
                outline.defines.push(at.field_text("name").to_owned());
            }
            "array_expression"
                if is_test_code(source, at)
                    && !at
                        .ancestors()
                        .any(|outer| outer.is(&["array_expression", "function_item"])) =>
            {
                outline.tables.push(Table::at(at))
            }
            "macro_invocation" if is_item(at) => {
                let (name, body) = (at.field_text("macro").to_owned(), at);
                outline.functions.push(Function {
                    name,
                    line: at.line(),
                    words: body.words(),
                    checks: checks::in_body(body),
                });
                outline.tests.extend(macros::tests_in_tokens(at, &file_skips));
                outline.tests.extend(macros::made(at, &makers, &file_skips));
            }
            _ => {}
        }
        marks::at(source, at, &mut outline.marks);
    }
    outline
}

fn is_item(at: At<'_>) -> bool {
    let outer = at
        .parent()
        .filter(|outer| outer.is(&["expression_statement"]))
        .and_then(At::parent)
        .or_else(|| at.parent());
    outer.is_some_and(|outer| outer.is(&["source_file", "declaration_list"]))
}

fn function(source: &Source<'_>, at: At<'_>, file_skips: &[Mark], outline: &mut Outline) {
    let Some(body) = at.field("body") else { return };
    let name = at.field_text("name").to_owned();
    let nested = at
        .ancestors()
        .any(|outer| outer.is(&["function_item", "macro_definition"]));
    if !is_test(at) || nested {
        if !is_test_code(source, at) {
            outline.defines.push(name.clone());
        }
        if at
            .ancestors()
            .any(|outer| outer.is(&["function_item"]) && is_test(outer))
        {
            return;
        }
        constants::constant(source, at, outline);
        outline.functions.push(Function {
            name,
            line: at.line(),
            words: body.words(),
            checks: checks::in_body(body),
        });
        return;
    }
    let mut skips = file_skips.to_vec();
    let modules: Vec<At<'_>> = at.ancestors().filter(|outer| outer.is(&["mod_item"])).collect();
    skips.extend(
        modules
            .iter()
            .flat_map(|module| attributes(*module))
            .filter_map(condition_mark),
    );
    skips.extend(attributes(at).filter_map(condition_mark));
    skips.extend(attributes(at).filter_map(ignore_mark));
    skips.extend(skips::early_return(body));
    let panics: Vec<Check> = attributes(at).filter_map(checks::expected_panic).collect();
    skips.extend(skips::own_panic(body).filter(|_| !panics.is_empty()));
    outline.tests.push(Test {
        name,
        scope: modules
            .iter()
            .rev()
            .map(|module| module.field_text("name").to_owned())
            .collect(),
        line: at.line(),
        words: rows(at).chain(body.words()).collect(),
        work: work(body),
        skips,
        checks: checks::in_body(body).into_iter().chain(panics).collect(),
    });
}

/// The words of attributes such as `#[case(1, 2)]`, each a test of its own.
fn rows(at: At<'_>) -> impl Iterator<Item = String> {
    let cases = attributes(at).filter(|item| {
        ["case", "test_case", "values"]
            .iter()
            .any(|name| attribute(*item).starts_with(name))
    });
    cases.flat_map(At::words)
}

fn work(body: At<'_>) -> Work {
    if body.children().next().is_some() {
        Work::Some
    } else {
        Work::None
    }
}

/// The attributes of an item.
fn attributes(at: At<'_>) -> impl Iterator<Item = At<'_>> {
    let above = std::iter::successors(at.previous(), |at| at.previous());
    above.take_while(|at| at.is(&["attribute_item"]))
}

/// The words of an attribute without brackets.
fn attribute(at: At<'_>) -> String {
    at.phrase()
        .trim_start_matches(['#', '!', '[', ' '])
        .trim_end_matches([']', ' '])
        .to_owned()
}

fn is_test(at: At<'_>) -> bool {
    attributes(at).any(|attribute_item| {
        let text = attribute(attribute_item);
        let path: String = text
            .split(['=', '['])
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .take_while(|word| *word != "{")
            .collect();
        let first = text
            .split_whitespace()
            .take_while(|word| *word == "::" || word.chars().all(|c| c.is_alphanumeric() || c == '_'));
        let name = last_of_path(first.collect());
        TEST_ATTRIBUTES.contains(&name.as_str())
            || TEST_ATTRIBUTES.contains(&path.rsplit("::").next().unwrap_or_default())
    })
}

/// The last name of the path that an attribute begins with: `tokio :: test flavor = …` has the arguments behind it.
fn last_of_path(words: Vec<&str>) -> String {
    let mut last = String::new();
    let mut wanted = true;
    for word in words {
        match (word, wanted) {
            ("::", _) => wanted = true,
            (name, true) => {
                name.clone_into(&mut last);
                wanted = false;
            }
            (_, false) => break,
        }
    }
    last
}

/// Whether the place is only compiled for tests.
fn is_test_code(source: &Source<'_>, at: At<'_>) -> bool {
    let for_tests = |item: At<'_>| attributes(item).any(|item| attribute(item).starts_with("cfg test"));
    source.role != Role::Source
        || std::iter::once(at).chain(at.ancestors()).any(|outer| {
            outer.is(&["function_item", "mod_item", "impl_item"])
                && (for_tests(outer) || outer.is(&["function_item"]) && is_test(outer))
        })
}
