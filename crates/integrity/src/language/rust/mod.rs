//! Rust: Cargo's places for tests, test attributes, the standard assertions.

mod answers;
mod bodies;
mod return_values;
mod test_parts;

use crate::{
    language::{
        assertions::{ComparisonWords, FailureTemplate, ReplacedCode},
        outline::Source,
        reachability::Flow,
        role::{Role, file_name, folders, in_support_folder},
        settings::{
            Watched,
            Weakening::{LeadsInside, LeavesOut, LooksAt, Lowered, Present, Program, SwitchedOff},
            coverage, imports, run,
        },
        syntax::At,
        vocabulary::{Grammar, Vocabulary, grammar},
    },
    words::is_one_of,
};

/// The vocabulary of Rust.
pub static RUST: Vocabulary = Vocabulary {
    name: "Rust",
    grammars: &GRAMMARS,
    test_parts: Some(test_parts::test_parts),
    role,
    is_collected,
    executable_code: bodies::executable_code,
    return_values: return_values::change_return_values,
    settings: &SETTINGS,
    reads: &["include_str!", "read_to_string", "fs::read"],
    writes: &["fs::write", "File::create", "fs::copy", "OpenOptions"],
    imports: &["use ", "mod "],
    flow: Flow {
        conditions: "if_expression while_expression let_declaration match_expression",
        arms: "",
        functions: "function_item closure_expression async_block",
        returns: "return_expression",
        leaves: "return_expression break_expression continue_expression",
        never: &["false", "!true", "cfg!(any())", "false && true", "0 > 0"],
        empty: &["[]", "0..0", "&[]", "vec![]", "Vec::new()", "std::iter::empty()"],
    },
    comparison: ComparisonWords {
        equals: "assert_eq debug_assert_eq prop_assert_eq",
        weak: "is_ok is_some is_err is_finite is_normal is_nan .. ..=",
        or: "||",
        truths: "true",
        falsities: "false",
        methods: "eq",
    },
    made_to_fail: FailureTemplate {
        text: "if true { panic!(\"made to fail\") } else { {} }",
        replaces: ReplacedCode::Statement,
    },
    literals: LITERALS,
    empties: "None, (), Ok(()), Ok(0), Ok(0.0), Ok(None), Ok(Vec::new()), Ok(vec![]), \
                  Vec::new(), vec![], String::new(), Default::default(), std::iter::empty()",
    statements: "expression_statement macro_invocation",
    nothing: &[],
    last_test_wins: false,
    modules: "",
    installed: None,
};

const LITERALS: &str = "integer_literal float_literal boolean_literal char_literal string_content unit_expression";

static GRAMMARS: [Grammar; 1] = [grammar!(["rs"], tree_sitter_rust::LANGUAGE)];

static SETTINGS: [Watched; 21] = [
    run(SwitchedOff, "lib.test, lib.doctest, lib.harness, bin.*.test"),
    run(SwitchedOff, "test.*.test, test.*.harness, package.autotests"),
    run(Present, "test.*.required-features, target.*.runner, env.UPDATE*"),
    run(LooksAt, "workspace.members, workspace.default-members"),
    run(LeavesOut, "workspace.exclude"),
    run(Present, "env.BLESS*, env.INSTA_*, env.OVERWRITE*, env.TRYBUILD*"),
    run(Present, "env.PROPTEST_*, env.QUICKCHECK_*, env.SKIP*, env.NEXTEST*"),
    run(Present, "alias.test, alias.t, profile.*.default-filter"),
    run(SwitchedOff, "profile.dev.debug-assertions"),
    run(SwitchedOff, "profile.test.debug-assertions"),
    run(SwitchedOff, "profile.dev.overflow-checks"),
    run(SwitchedOff, "profile.test.overflow-checks"),
    run(Program, "build.rustc, build.rustc-wrapper"),
    run(Program, "build.rustc-workspace-wrapper, build.rustdoc"),
    run(Present, "slow-timeout.on-timeout, overrides.*.default-filter"),
    run(Present, "overrides.*.retries, overrides.*.retries.count"),
    run(Present, "profile.*.retries, profile.*.retries.count"),
    coverage(LeavesOut, "*.exclude-files"),
    coverage(Lowered, "*.fail-under"),
    imports(LeadsInside, "patch.*.*.path, replace.*.path, dependencies.*.path"),
    imports(LeadsInside, "dev-dependencies.*.path, source.*.directory"),
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

/// `true` if Cargo compiles the file: it is below `src`, directly in `tests`, or included by another file (`includes`).
fn is_collected(path: &str, includes: &[String]) -> bool {
    let stem = file_name(path).strip_suffix(".rs").unwrap_or_default();
    let folder = folders(path).next_back().unwrap_or_default();
    let module = if stem == "mod" { folder } else { stem };
    let is_root = folder == "tests" || stem == "main";
    is_root || folders(path).any(|folder| folder == "src") || includes.iter().any(|name| name == module)
}

/// Returns the attributes of an item.
fn attributes(at: At<'_>) -> impl Iterator<Item = At<'_>> {
    let above = std::iter::successors(at.previous(), |at| at.previous());
    above.take_while(|at| at.is(&["attribute_item"]))
}

const TEST_ATTRIBUTES: &str = "test rstest test_case wasm_bindgen_test quickcheck bolero_test";

/// `true` if an attribute of an item makes it one that is only compiled for tests.
fn is_for_tests(item: At<'_>) -> bool {
    attributes(item).any(|attribute| {
        let text: String = attribute.text().split_whitespace().collect();
        let mut parts = text.trim_start_matches(['#', '[']).split(['(', ']', '=']);
        let name = parts
            .next()
            .and_then(|path| path.rsplit("::").next())
            .unwrap_or_default();
        let for_tests = ["#[cfg(test", "#[cfg(all(test"]
            .iter()
            .any(|start| text.starts_with(start));
        for_tests || is_one_of(TEST_ATTRIBUTES, name)
    })
}

/// `true` if a node is only compiled for tests.
fn is_test_code(source: &Source<'_>, at: At<'_>) -> bool {
    let mut around = std::iter::once(at).chain(at.ancestors());
    source.role != Role::Source
        || around.any(|outer| outer.is(&["function_item", "mod_item", "impl_item"]) && is_for_tests(outer))
}
