//! Knows the scripts of bash that run nothing but known programs.
//!
//! Bash takes some values for code: it runs the commands in the index of a name, such as `a[$(make)]`, wherever it reads
//! a value as a name or as arithmetic. So a builtin must take its names literally, and only numbers are calculated with.

use crate::{
    exposure::known::lists,
    shell::{arguments, literal, tree},
};
use integrity::language::syntax::At;

/// Programs and builtins of the shell that read and write text. Those with names among their arguments have rules of
/// their own, too.
const PROGRAMS: &str = "
    : basename break cat cd continue cut date dirname echo exit false grep head jq ls mkdir printf pwd read return set shift
    sleep sort tail test tr true uniq wc
";

/// Commands of `gh` that only call GitHub's API, by their group. `pr checkout`, `pr diff` and `issue develop` bring code.
const OF_GH: [(&str, &str); 3] = [
    ("issue", "close comment create delete edit list lock pin reopen status transfer unlock unpin view"),
    ("label", "clone create delete edit list"),
    ("pr", "checks close comment create edit list lock merge ready reopen review status unlock update-branch view"),
];

/// Commands of `git` that bring no other code into a checkout.
const OF_GIT: &str = "add commit config diff log push rev-parse show status tag";

/// Words by which a step changes the programs that the steps after it find, or what these load.
const OF_SURROUNDINGS: [&str; 2] = ["PATH", "_ENV"];

/// Variables whose values bash itself calculates with or expands.
const OF_BASH: &str = "HISTCMD OPTIND PS4 RANDOM SRANDOM";

/// Parts of a script without a rule of their own. A part that is not here is not known, such as `arithmetic_expansion`.
const PARTS: &str = "
    ansi_c_string array brace_expression case_item case_statement command_name command_substitution comment
    do_group elif_clause else_clause file_descriptor file_redirect for_statement
    function_definition heredoc_body heredoc_end heredoc_redirect heredoc_start herestring_redirect if_statement list
    negated_command number pipeline process_substitution program raw_string redirected_statement simple_expansion
    special_variable_name string subshell test_operator translated_string variable_assignments variable_name while_statement
";

/// Parts whose value only a shell can compute.
const VALUES: [&str; 4] = ["simple_expansion", "expansion", "command_substitution", "process_substitution"];

/// Parts that the grammar takes for text. It does not look for expansions in all of them, although bash does.
const TEXTS: [&str; 5] = ["word", "string_content", "heredoc_content", "regex", "extglob_pattern"];

/// Operators whose operand is the name of a variable.
const OF_NAMES: [&str; 2] = ["-v", "-R"];

/// `true` if a script calls only known programs, and bash evaluates no value in it.
pub(super) fn is_harmless(script: &str) -> bool {
    let is_known = |root: At<'_>| {
        let has_arrays = root.below().any(|part| part.is(&["array"]));
        // Bash reads a value such as `([a[$(make)]]=)` as the new content of an array that is declared again.
        let is_filled = |part: At<'_>| has_arrays && part.is(&["declaration_command"]) && has_value(part);
        root.below().filter(|part| part.is_named()).all(|part| is_plain(part) && !is_filled(part))
    };
    !OF_SURROUNDINGS.iter().any(|word| script.contains(word)) && tree(script, is_known).unwrap_or_default()
}

fn is_plain(part: At<'_>) -> bool {
    match part.kind() {
        "command" => is_known_command(part),
        "declaration_command" => declares_names(part),
        "unset_command" => names_are_plain(part) && part.children().all(is_name_to_unset),
        "for_statement" => names_are_plain(part),
        "variable_assignment" => names_are_plain(part) && !has_chosen_index(part),
        "test_command" => tests_plainly(part),
        "expansion" => expands_plainly(part),
        "subscript" => part.field("index").is_some_and(is_fixed_index),
        // It may be an element of an array that a redirection fills, as in `{a[$i]}>file`.
        "concatenation" => !(part.text().starts_with('{') && part.text().contains('[')),
        "compound_statement" => !part.parts().any(|token| token.kind() == "(("),
        "binary_expression" | "unary_expression" | "parenthesized_expression" => is_in_test(part),
        _ if part.is(&TEXTS) => !holds_expansion(part),
        _ => part.is_one_of(PARTS),
    }
}

fn is_known_command(command: At<'_>) -> bool {
    let arguments: Vec<At<'_>> = arguments(command).collect();
    let words: Vec<Option<String>> = arguments.iter().map(|argument| literal(*argument)).collect();
    let Some(program) = command.field("name").and_then(literal) else { return false };
    match (program.as_str(), words.as_slice()) {
        ("gh", [Some(group), Some(command), ..]) => {
            OF_GH.iter().any(|(known, commands)| known == group && lists(commands, command))
        }
        ("git", [Some(command), ..]) => lists(OF_GIT, command),
        ("printf", _) => prints_plainly(&arguments),
        // An option `a` makes an array, whose elements can have an index.
        ("read", words) => words.iter().all(|word| {
            let is_option = |word: &str| word.starts_with('-') && !word.contains('a');
            word.as_deref().is_some_and(|word| is_option(word) || is_plain_name(word) || !word.contains(is_of_name))
        }),
        ("test", _) => asks_plainly(&arguments),
        (program, _) => lists(PROGRAMS, program),
    }
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphabetic() || letter == '_' || letter == '['
}

/// `true` for the name of a variable with no meaning for bash.
fn is_plain_name(word: &str) -> bool {
    let is_name = word.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    is_name && !lists(OF_BASH, word)
}

/// `true` if the format of `printf`, and the variable that it sets, are fixed.
fn prints_plainly(arguments: &[At<'_>]) -> bool {
    match arguments {
        [option, name, rest @ ..] if fixed(*option).as_deref() == Some("-v") => {
            fixed(*name).is_some_and(|name| is_plain_name(&name)) && prints_plainly(rest)
        }
        [format, ..] => fixed(*format).is_some_and(|format| format == "--" || !format.starts_with('-')),
        [] => true,
    }
}

/// `true` if no value becomes an operator of `test`, or the name of a variable.
fn asks_plainly(arguments: &[At<'_>]) -> bool {
    let pairs = arguments.iter().zip(arguments.iter().skip(1));
    let mut pairs = pairs.map(|(operator, operand)| (*operator, *operand));
    let is_plain_pair = |(operator, operand)| {
        let takes_operand = has_value(operator) && has_value(operand);
        !takes_operand && (!names_variable(operator) || fixed(operand).is_some_and(|name| is_plain_name(&name)))
    };
    let mut values = arguments.iter().flat_map(|argument| argument.below().map(|value| is_split(*argument, value)));
    pairs.all(is_plain_pair) && !values.any(|is_split| is_split)
}

fn names_variable(operator: At<'_>) -> bool {
    fixed(operator).is_some_and(|operator| OF_NAMES.contains(&operator.as_str()))
}

/// `true` if `export`, `local` and the like take names, with options that let no value be calculated or taken for a name.
fn declares_names(declaration: At<'_>) -> bool {
    let is_option = |part: At<'_>| {
        let letters = part.text().strip_prefix('-');
        part.is(&["word"]) && letters.is_some_and(|letters| letters.chars().all(|letter| "fgprx".contains(letter)))
    };
    let mut parts = declaration.children();
    names_are_plain(declaration)
        && parts.all(|part| part.is(&["variable_name", "variable_assignment"]) || is_option(part))
}

/// `true` if the variables that a part sets have no meaning for bash.
fn names_are_plain(part: At<'_>) -> bool {
    part.children().filter(|child| child.is(&["variable_name"])).all(|name| is_plain_name(name.text()))
}

fn is_name_to_unset(part: At<'_>) -> bool {
    part.is(&["variable_name"]) || matches!(part.text(), "-f" | "-v")
}

/// `true` if an array is filled at an index.
fn has_chosen_index(assignment: At<'_>) -> bool {
    let arrays = assignment.children().filter(|part| part.is(&["array"]));
    arrays.flat_map(At::children).any(|element| element.text().starts_with('['))
}

fn is_fixed_index(index: At<'_>) -> bool {
    index.is(&["number"]) || matches!(index.text(), "@" | "*")
}

/// `true` if `[` or `[[` calculates with no value, and takes none for an operator or a name.
fn tests_plainly(test: At<'_>) -> bool {
    let is_double = test.parts().any(|token| token.kind() == "[[");
    let is_single = test.parts().any(|token| token.kind() == "[");
    test.below().filter(|part| part.is(&["binary_expression", "unary_expression"])).all(|expression| {
        let mut operands = expression.children().filter(|part| !part.is(&["test_operator"]));
        let operators = || expression.children().filter(|part| part.is(&["test_operator"]));
        let takes_name = operators().any(names_variable);
        let calculates = is_double && operators().any(|operator| is_of_numbers(operator.text()));
        operands
            .all(|operand| (!takes_name || is_plain_name(operand.text())) && (!calculates || operand.is(&["number"])))
    }) && (is_double || is_single && !test.below().any(|value| is_split(test, value)))
}

fn is_of_numbers(operator: &str) -> bool {
    matches!(operator, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge")
}

/// `true` if a value inside `test` may become several words, because no quotation marks are around it.
fn is_split(test: At<'_>, value: At<'_>) -> bool {
    let is_number = |value: At<'_>| matches!(value.text(), "$#" | "$?" | "$$" | "$!");
    let mut around = value.ancestors().take_while(|part| test.holds(*part));
    value.is(&VALUES) && !is_number(value) && !around.any(|part| part.is(&["string"]))
}

/// `true` if an expansion takes no value for a name, for a prompt or for a number.
fn expands_plainly(expansion: At<'_>) -> bool {
    let parts: Vec<At<'_>> = expansion.parts().collect();
    let mut after_colon = parts.iter().skip_while(|part| part.kind() != ":").filter(|part| part.is_named());
    !parts.iter().any(|part| !part.is_named() && matches!(part.kind(), "!" | "P"))
        && after_colon.all(|part| part.is(&["number"]))
}

fn is_in_test(expression: At<'_>) -> bool {
    let is_operand = |part: &At<'_>| part.is(&["binary_expression", "unary_expression", "parenthesized_expression"]);
    expression.ancestors().find(|part| !is_operand(part)).is_some_and(|part| part.is(&["test_command"]))
}

/// `true` if bash expands something in a text that the grammar has not read as an expansion.
fn holds_expansion(text: At<'_>) -> bool {
    let is_quoted = |heredoc: At<'_>| {
        heredoc.below().any(|part| part.is(&["heredoc_start"]) && part.text().contains(['"', '\'', '\\']))
    };
    let heredoc = || text.ancestors().find(|part| part.is(&["heredoc_redirect"]));
    if text.is(&["heredoc_content"]) && heredoc().is_some_and(is_quoted) {
        return false;
    }
    let unescaped = text.text().replace("\\\\", "").replace("\\$", "").replace("\\`", "");
    ["$(", "${", "$[", "`"].iter().any(|start| unescaped.contains(start))
}

/// Returns a word without quotes, if it holds no value.
fn fixed(word: At<'_>) -> Option<String> {
    let words = shell_words::split(word.text()).ok().filter(|_| !has_value(word))?;
    words.into_iter().next()
}

fn has_value(part: At<'_>) -> bool {
    part.below().any(|part| part.is(&VALUES))
}

#[cfg(test)]
mod tests {
    use super::is_harmless;

    /// Bash 5.2 runs a command that is the index in the value of `T`, or of the other variables, in nearly all of these.
    const EVALUATED: &[&str] = &[
        "read -r \"$T\" <<< x",
        "printf -v \"$T\" x",
        "printf \"$V\" \"$T\" x",
        "printf $VT x",
        "mapfile -C \"$T\" -c 1 < /etc/passwd",
        "let \"$T\"",
        "let x=T",
        "[ -v \"$T\" ]",
        "test -v \"$T\"",
        "[[ -v $T ]]",
        "[[ -v \"$T\" ]]",
        "[ \"$O\" \"$T\" ]",
        "[ $VT ]",
        "[ -n $NVT ]",
        "[[ $T -eq 1 ]]",
        "[[ T -eq 1 ]]",
        "echo ${!T}",
        "x=${!T}",
        "echo ${a[$T]}",
        "echo ${a[T]}",
        "a[$T]=1",
        "a[T]=1",
        "b=([$T]=1)",
        "b=([T]=1)",
        "declare -A m; m[\"$T\"]=1; unset \"m[$T]\"",
        "trap \"$T2\" EXIT",
        "sleep 0 & wait -p \"$T\" $!",
        "echo ${T:T}",
        "echo ${T:0:T}",
        "echo ${T:$T}",
        "echo ${T2@P}",
        "PS4=\"$T2\"; set -x; echo",
        "RANDOM=$T",
        "OPTIND=$T",
        "HISTCMD=$T",
        "SRANDOM=$T",
        "declare -i n=$T",
        "declare -i n; n=$T",
        "declare -n n=$T; n=1",
        "declare -n n=$T; echo $n",
        "declare -a n=\"$TC\"",
        "n=(); declare n=\"$TC\"",
        "for ((i=T;i<1;i++)); do :; done",
        "echo $((T))",
        "echo $(($T))",
        "echo $[T]",
        "((T))",
        "echo x {a[T]}>y",
        "echo \"${@:T}\"",
        "declare \"$TE\"",
        "declare -g \"$TE\"",
        "f() { local \"$TE\"; }; f",
        "[ a -a -v \"$T\" ]",
        "[ \"$O\" \"$T\" -o x ]",
        "[ ! \"$O\" \"$T\" ]",
        "test \"$O\" \"$T\"",
        "[ \"(\" \"$O\" \"$T\" \")\" ]",
        "[ -n \"$O\" -a \"$O\" \"$T\" ]",
        "unset \"$T\"",
        "unset -v \"$T\"",
        "export \"$T\"",
        "readonly \"$T\"",
        "typeset \"$T\"",
        "declare -x \"$T\"",
        "export $(cat f)",
        "echo ${x/$(make)/y}",
        "echo \"${x#$(make)}\"",
        "case $x in $(make)) echo;; esac",
        "[[ $x == $(make) ]]",
        "echo \"$[T]\"",
        "cat <<E\n$((T))\nE",
        "cat <<E\n$(make)\nE",
        "\\export \"$T\"",
        "[ x$T = y ]",
        "test x$T",
        "read -a x < f",
        "printf -v x -v \"$T\"",
        "mapfile -t x < f",
        "getopts a \"$T\"",
        "b=(1); export \"$T\"",
        "wait -p \"$T\"",
        "coproc make",
        "time make",
        "eval \"$T\"",
        ". f",
        "trap \"$T\" EXIT",
        "read PS4 < f",
        "for OPTIND in $T; do :; done",
        "declare -A m",
        "echo ${!a[@]}",
        "f() { make; }",
    ];

    #[test]
    fn a_script_in_which_bash_evaluates_a_value_is_not_harmless() {
        let harmless: Vec<&&str> = EVALUATED.iter().filter(|script| is_harmless(script)).collect();
        assert_eq!(harmless, [&""; 0]);
    }

    #[test]
    fn a_script_that_passes_values_on_is_harmless() {
        let scripts = [
            "export X=\"$T\" Y; readonly Z; f() { local a=$1; echo \"$a\"; }",
            "unset X; unset -f f",
            "printf '%s\\n' \"$T\"; printf -v x '%s' \"$T\"; printf -- \"$T\"",
            "IFS= read -r a b <<< \"$T\"; read -d '' -t 5 x",
            "[ \"$T\" = \"$O\" ] || [ ! -f x ] && [ \"$T\" -gt 1 ]",
            "[ -z \"$O\" -a -n \"$T\" ]",
            "[[ $T == a* && $O =~ ^[0-9]+$ && -n $X ]]",
            "[[ -v X ]] || [ -v X ] || test -v X",
            "test -n \"$T\" && test \"$T\" = x",
            "[ $# -gt 1 ]",
            "echo \"${T:0:7}\" \"${T: -3}\" ${T:-$X} ${#T} \"${T//a/b}\" ${T%%.*} \"$@\"",
            "x=(a \"$T\"); for i in \"${x[@]}\"; do echo \"${x[0]}\" \"$i\"; done",
            "cat <<'E'\n$(make) `make`\nE",
            "cat <<E > out\n$T and $(date) \\`x\\`\nE",
            "echo \"Use \\`make\\`\" '$(make)' $'\\n'",
            "case $T in a*|b) echo;; esac",
            "while read -r line; do echo \"$line\"; done < f",
            "x=$T; y=\"$(echo \"$x\" | tr a b)\"",
            "if ! grep -q x f; then exit 1; fi; { echo; } 2>&1 | cat",
            "echo {1..3}",
        ];
        let harmful: Vec<&str> = scripts.into_iter().filter(|script| !is_harmless(script)).collect();
        assert_eq!(harmful, [""; 0]);
    }
}
