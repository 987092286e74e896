//! Go: `go test`, with testify's assertions.

mod bodies;
mod return_values;

use crate::language::{
    assertions::{ComparisonWords, FailureTemplate, ReplacedCode},
    reachability::Flow,
    role::{Role, file_name, folders},
    vocabulary::{Grammar, Installed, Vocabulary, grammar},
};

/// The vocabulary of Go.
pub static GO: Vocabulary = Vocabulary {
    name: "Go",
    grammars: &GRAMMARS,
    test_parts: None,
    role,
    executable_code: bodies::executable_code,
    return_values: return_values::change_return_values,
    local: &[],
    redirects: "replace",
    writes: &["os.WriteFile", "os.Create(", "os.OpenFile"],
    environment: &["os.Getenv", "os.LookupEnv"],
    imports: &["import "],
    flow: Flow {
        conditions: "if_statement",
        arms: "expression_case type_case default_case",
        functions: "function_declaration method_declaration func_literal",
        returns: "return_statement",
        leaves: "return_statement break_statement continue_statement goto_statement",
        perhaps: "",
        never: &["false", "1 == 2"],
        empty: &[],
    },
    comparison: ComparisonWords {
        equals: "",
        weak: "nil",
        or: "||",
        falls_back: "",
        truths: "true",
        falsities: "false nil",
        reshapes: "len",
        methods: "Equal Equals",
    },
    made_to_fail: FailureTemplate {
        text: "if true { panic(\"made to fail\") } else { {} }",
        replaces: ReplacedCode::Statement,
        around: "",
    },
    literals: LITERALS,
    empties: "",
    statements: "expression_statement if_statement",
    last_test_wins: false,
    installed: Some(Installed {
        folder: "vendor",
        manifest: "go.mod",
        // Without it, Go reads no package of the folder.
        index: Some("modules.txt"),
    }),
};

const LITERALS: &str = "
    int_literal float_literal interpreted_string_literal_content raw_string_literal_content rune_literal true
    false nil
";

static GRAMMARS: [Grammar; 1] = [grammar!(["go"], tree_sitter_go::LANGUAGE)];

fn role(path: &str) -> Option<Role> {
    let name = file_name(path);
    if matches!(name, "go.mod" | ".testcoverage.yml") {
        return Some(Role::Settings);
    }
    let stem = name.strip_suffix(".go")?;
    let is_support = folders(path).any(|folder| matches!(folder, "testdata" | "testutil" | "testutils" | "testhelper"));
    Some(match (stem.ends_with("_test"), is_support) {
        (true, _) => Role::Test,
        (false, true) => Role::Support,
        (false, false) => Role::Source,
    })
}
