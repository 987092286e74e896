//! Finds the words in command position of a line: the programs that a shell will look for.
//!
//! Only literal words count. Words with variables, and the commands of functions, sourced scripts and lines that the
//! grammar cannot parse, are left to the shell.

use integrity::language::{syntax, syntax::At};
use std::collections::BTreeSet;

/// The deepest nesting of `sh -c 'sh -c …'` that is read.
const DEEPEST: usize = 3;

/// Nodes whose commands run in their own shell: their changes end with them.
const SCOPES: [&str; 6] =
    ["subshell", "command_substitution", "process_substitution", "pipeline", "function_definition", "program"];

/// Nodes whose value only a shell can compute.
const WORKED_OUT: [&str; 5] =
    ["simple_expansion", "expansion", "command_substitution", "process_substitution", "arithmetic_expansion"];

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Named {
    /// The earlier changes in the line that affect which program the word means.
    pub(super) after: Vec<Change>,
    pub(super) written: String,
    /// The word without quotes.
    pub(super) word: String,
}

/// A part of a line that changes which program a later word means.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Change {
    Folder(String),
    /// Variable assignments.
    Settings(String),
    /// A sourced script, which may do anything else too.
    Script(String),
    /// A change that cannot be known without running it.
    Unknown,
}

pub(super) struct Line {
    pub(super) named: Vec<Named>,
    /// `true` if it pipes the output of one command to another.
    pub(super) has_pipe: bool,
}

/// The words found so far, each once.
#[derive(Default)]
struct Words {
    named: Vec<Named>,
    all: BTreeSet<Named>,
}

/// The parts of a line that are collected.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// Words alone.
    Names,
    /// Words with the changes before each of them. This takes quadratic work, so it is for lines of limited length.
    Changes,
}

/// Returns the words in command position, whatever the length of the line.
pub(super) fn names(line: &str) -> Vec<String> {
    let found = tree(line, |root| {
        let mut words = Words::default();
        collect(root, &[], Detail::Names, DEEPEST, &mut words);
        words.named
    });
    found.unwrap_or_default().into_iter().map(|named| named.word).collect()
}

/// Returns the words of every command in a text of a shell, without quotes. A word that only a shell can compute is as it is
/// written. What the grammar cannot parse is split at the signs between commands.
pub(crate) fn commands(text: &str) -> Vec<Vec<String>> {
    let word = |at: At<'_>| literal(at).unwrap_or_else(|| at.text().to_owned());
    let of = |at: At<'_>| at.field("name").into_iter().chain(arguments(at)).map(word).collect();
    let parsed = tree(text, |root| root.below().filter(|at| at.is(&["command"])).map(of).collect());
    parsed.unwrap_or_else(|| {
        let lines = text.split(['\n', ';', '|', '&', '(', ')']);
        lines.map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
    })
}

pub(super) fn read(line: &str) -> Line {
    let parsed = tree(line, |root| {
        let mut words = Words::default();
        collect(root, &[], Detail::Changes, DEEPEST, &mut words);
        let has_pipe = root.below().any(|at| at.is(&["pipeline"]));
        Line { named: words.named, has_pipe }
    });
    parsed.unwrap_or_else(|| Line { named: Vec::new(), has_pipe: line.replace("||", "  ").contains('|') })
}

/// The words that begin a compound command.
const COMPOUND: [&str; 9] = ["{", "(", "[[", "if", "while", "until", "for", "case", "select"];
/// The words after which a command begins.
const BEFORE: [&str; 8] = ["then", "do", "else", "elif", "if", "while", "until", "time"];

/// Replaces each `!` before a compound command by a blank, because the grammar only accepts it before a simple command.
/// The `!` does not affect which words are commands, and all positions stay the same.
fn without_negations(line: &str) -> String {
    let mut out = line.to_owned();
    for (at, _) in line.match_indices("! ") {
        let (before, after) = line.split_at(at);
        let after = after.trim_start_matches('!').trim_start();
        let is_compound = COMPOUND.iter().any(|word| {
            let rest = after.strip_prefix(word);
            rest.is_some_and(|rest| *word == "(" || rest.starts_with(char::is_whitespace))
        });
        let text = before.trim_end();
        let last_word = text.rsplit(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        let follows_word = BEFORE.contains(&last_word) && before.ends_with([' ', '\n']);
        let is_first = text.is_empty() || text.ends_with([';', '&', '|', '(', '{', '\n']);
        if is_compound && (is_first || follows_word) {
            out.replace_range(at..=at, " ");
        }
    }
    out
}

/// Passes on the syntax tree of a line; `None` if the grammar cannot parse all of it.
pub(crate) fn tree<T>(line: &str, look: impl FnOnce(At<'_>) -> T) -> Option<T> {
    let grammar: tree_sitter::Language = tree_sitter_bash::LANGUAGE.into();
    let line = without_negations(line);
    let tree = syntax::parse(&grammar, &line)?;
    let root = tree.root();
    // A token that the grammar only assumes has an empty text.
    let is_guessed = |at: At<'_>| {
        let is_sign = !at.kind().contains(char::is_alphanumeric) && at.kind() != "\n";
        at.text().is_empty() && (is_sign || at.is(&["word", "then", "do", "fi", "done", "esac"]))
    };
    let is_parsed = !root.below().any(|at| at.is(&["ERROR"]) || is_guessed(at));
    is_parsed.then(|| look(root))
}

fn collect(root: At<'_>, outer: &[Change], detail: Detail, depth: usize, named: &mut Words) {
    let functions: BTreeSet<&str> =
        root.below().filter(|at| at.is(&["function_definition"])).map(|at| at.field_text("name")).collect();
    // Each change with the part of the line in which it applies.
    let mut changes: Vec<(At<'_>, Change)> = Vec::new();
    for at in root.below() {
        if detail == Detail::Changes
            && let Some(change) = change(at)
        {
            changes.push((scope(at), change));
        }
        if !at.is(&["command"]) {
            continue;
        }
        let Some(name) = at.field("name") else { continue };
        let here = changes.iter().filter(|(scope, _)| scope.holds(at));
        let mut after: Vec<Change> = outer.iter().chain(here.map(|(_, change)| change)).cloned().collect();
        let settings = at.children().filter(|part| part.is(&["variable_assignment"]));
        let paths = settings.map(|part| part.text()).filter(|text| text.starts_with("PATH="));
        after.extend(paths.map(|text| Change::Settings(text.to_owned())));
        let mut words = vec![name];
        words.extend(arguments(at));
        chain(&words, &after, &functions, detail, depth, named);
        if detail == Detail::Changes
            && let Some(value) = literal(name)
            && let Some(change) = changed_by(at, &value)
        {
            changes.push((scope(at), change));
        }
    }
}

/// Parts of a command that are not arguments.
const NO_ARGUMENT: [&str; 5] =
    ["command_name", "variable_assignment", "file_redirect", "heredoc_redirect", "herestring_redirect"];

/// Returns the arguments of a command.
pub(crate) fn arguments(command: At<'_>) -> impl Iterator<Item = At<'_>> {
    command.children().filter(|part| !part.is(&NO_ARGUMENT))
}

/// Records the word in command position, and that of the command that it starts in turn.
fn chain(
    words: &[At<'_>],
    after: &[Change],
    functions: &BTreeSet<&str>,
    detail: Detail,
    depth: usize,
    named: &mut Words,
) {
    let mut words = words;
    while let [first, rest @ ..] = words {
        let Some(word) = literal(*first) else { return };
        if functions.contains(word.as_str()) {
            return;
        }
        let one = Named { after: after.to_vec(), written: first.text().to_owned(), word: word.clone() };
        if named.all.insert(one.clone()) {
            named.named.push(one);
        }
        if let ("sh" | "bash" | "dash", Some(line)) = (base(&word), script(rest))
            && depth > 0
        {
            tree(&line, |root| collect(root, after, detail, depth.saturating_sub(1), named));
            return;
        }
        words = started_by(base(&word), rest);
    }
}

fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Returns the words that form a command of their own, if the program only starts another one, such as `nohup`.
fn started_by<'w, 't>(program: &str, rest: &'w [At<'t>]) -> &'w [At<'t>] {
    let (with_value, more): (&[&str], usize) = match program {
        "command" | "exec" | "builtin" | "nohup" | "time" | "setsid" | "xargs" | "stdbuf" | "env" => (&[], 0),
        "nice" => (&["-n"], 0),
        "timeout" => (&["-k", "-s"], 1),
        _ => return &[],
    };
    let mut rest = rest;
    loop {
        let Some(word) = rest.first().and_then(|word| literal(*word)) else {
            return &[];
        };
        let is_option = word.starts_with('-');
        let is_plain_option = match program {
            "command" | "time" => word == "-p",
            "env" => matches!(word.as_str(), "-" | "-i"),
            "timeout" => word.starts_with("--") || word == "-v",
            "stdbuf" => word.len() > 2,
            _ => false,
        };
        let skipped = match word.as_str() {
            word if with_value.contains(&word) || program == "env" && word == "-u" => 2,
            _ if is_plain_option || program == "env" && !is_option && word.contains('=') => 1,
            _ if is_option => return &[],
            _ => break,
        };
        rest = rest.get(skipped..).unwrap_or_default();
    }
    rest.get(more..).unwrap_or_default()
}

/// Returns the line that `sh -c` runs.
fn script(words: &[At<'_>]) -> Option<String> {
    let mut words = words.iter();
    while let Some(word) = words.next().and_then(|word| literal(*word)) {
        let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        match letters {
            Some(letters) if letters.ends_with('c') => return literal(*words.next()?),
            Some(letters) if letters.ends_with('o') => drop(words.next()),
            Some(_) => {}
            None if word.starts_with("--") => {}
            None => return None,
        }
    }
    None
}

/// Returns the word without quotes, if it contains nothing that the shell expands.
pub(crate) fn literal(at: At<'_>) -> Option<String> {
    let is_worked_out = at.below().any(|part| part.is(&WORKED_OUT));
    let text = at.text();
    if is_worked_out || text.contains(['*', '?', '`']) || text.starts_with(['$', '~']) {
        return None;
    }
    match shell_words::split(text).ok()?.as_slice() {
        [word] => Some(word.clone()),
        _ => None,
    }
}

fn scope(at: At<'_>) -> At<'_> {
    at.ancestors().find(|part| part.is(&SCOPES)).unwrap_or(at)
}

/// Returns the change that a statement other than a command makes: to variables.
fn change(at: At<'_>) -> Option<Change> {
    let is_part = |at: At<'_>| at.parent().is_some_and(|above| above.is(&["command", "declaration_command"]));
    let is_statement = at.is(&["variable_assignment"]) && !is_part(at) || at.is(&["declaration_command"]);
    let text = at.text();
    let matters = is_statement && (text.contains("PATH=") || !at.below().any(runs_something));
    matters.then(|| Change::Settings(text.to_owned()))
}

fn runs_something(at: At<'_>) -> bool {
    at.is(&["command_substitution", "process_substitution"])
}

/// Returns the change that a command makes for those after it.
fn changed_by(at: At<'_>, name: &str) -> Option<Change> {
    let text = at.text().to_owned();
    let change = match name {
        "cd" | "pushd" | "popd" => Change::Folder(text),
        "source" | "." | "eval" => Change::Script(text),
        _ => return None,
    };
    Some(if at.below().any(runs_something) { Change::Unknown } else { change })
}

#[cfg(test)]
mod tests {
    use super::{Change, read};

    fn words(line: &str) -> Vec<String> {
        read(line).named.into_iter().map(|named| named.word).collect()
    }

    #[test]
    fn every_word_in_command_position_is_found() {
        let table: [(&str, &[&str]); 31] = [
            ("! grpe -q x f", &["grpe"]),
            ("cd web && npm test", &["cd", "npm"]),
            ("test \"$(cmd --x)\" = 0", &["test", "cmd"]),
            ("a | b |& c; d & e || f", &["a", "b", "c", "d", "e", "f"]),
            ("if a; then b; elif c; then d; else e; fi", &["a", "b", "c", "d", "e"]),
            ("while a; do b; done; for x in 1 2; do c \"$x\"; done", &["a", "b", "c"]),
            ("(a; { b; }) && [[ -n x ]] && [ -f y ]", &["a", "b"]),
            ("case x in a) b;; *) c;; esac", &["b", "c"]),
            ("echo `a` \"$(b $(c))\" <(d) ${X:-$(e)}", &["echo", "a", "b", "c", "d", "e"]),
            ("f() { a; }; f x", &["a"]),
            ("X=1 Y=$(a) b c=d", &["b", "a"]),
            ("$RUN a; \"${X}\" b; ~/bin/c", &[]),
            ("'my tool' x; \"b\"", &["my tool", "b"]),
            ("env -i X=1 -u Y a b", &["env", "a"]),
            ("env -S 'a b'; command -v c; command d", &["env", "command", "d"]),
            ("exec timeout -k 5 10 nice -n 3 a b", &["exec", "timeout", "nice", "a"]),
            ("time a; nohup b >out 2>&1 <in; xargs c", &["time", "a", "nohup", "b", "xargs", "c"]),
            ("sh -c '! grpe x f'", &["sh", "grpe"]),
            ("bash -euo pipefail -c \"a && sh -c 'b | c'\"", &["bash", "a", "sh", "b", "c"]),
            ("sh script.sh -c x; bash --norc -c 'y'", &["sh", "bash", "y"]),
            ("cat <<E\n$(a)\nE\nb", &["cat", "a", "b"]),
            ("# a\nb # c", &["b"]),
            ("! { grpe x f; }", &["grpe"]),
            ("! if grpe x f; then a; else b; fi", &["grpe", "a", "b"]),
            ("a && ! (b; c) || ! while d; do e; done", &["a", "b", "c", "d", "e"]),
            ("if ! { a; }; then ! case x in x) b;; esac; fi", &["a", "b"]),
            ("sh -c '! { grpe x f; }'", &["sh", "grpe"]),
            ("! { echo \"what! { is\"; }", &["echo"]),
            ("if then", &[]),
            ("echo 'x", &[]),
            ("./a/b && ../c", &["./a/b", "../c"]),
        ];
        for (line, expected) in table {
            assert_eq!(words(line), expected, "{line}");
        }
    }

    #[test]
    fn what_the_line_changes_before_a_word_goes_with_it() {
        let after = |line: &str, word: &str| {
            let named = read(line).named.into_iter().find(|named| named.word == word);
            named.unwrap().after
        };
        let folder = |text: &str| Change::Folder(text.to_owned());
        let settings = |text: &str| Change::Settings(text.to_owned());
        assert_eq!(after("cd web && ./run", "./run"), [folder("cd web")]);
        assert_eq!(after("(cd web && a); ./run", "./run"), []);
        assert_eq!(after("(cd web; ./run)", "./run"), [folder("cd web")]);
        assert_eq!(after("./run; cd web", "./run"), []);
        assert_eq!(after(". .venv/bin/activate && a", "a"), [Change::Script(". .venv/bin/activate".to_owned())]);
        assert_eq!(after("export PATH=$PWD/bin:$PATH; a", "a"), [settings("export PATH=$PWD/bin:$PATH")]);
        assert_eq!(after("PATH=bin:$PATH a; b", "a"), [settings("PATH=bin:$PATH")]);
        assert_eq!(after("PATH=bin:$PATH a; b", "b"), []);
        assert_eq!(after("D=web; cd $D; a", "a"), [settings("D=web"), folder("cd $D")]);
        assert_eq!(after("eval \"$(x)\"; a", "a"), [Change::Unknown]);
        assert_eq!(after("cd web && sh -c './run'", "./run"), [folder("cd web")]);
    }

    #[test]
    fn a_pipe_is_seen_wherever_it_stands() {
        for line in ["a | b", "x=$(a | b)", "if a | b; then c; fi", "(a|b)", "a |& b", "if | x"] {
            assert!(read(line).has_pipe, "{line}");
        }
        for line in ["a || b", "grep 'a|b' f", "case x in a|b) c;; esac", "[[ a || b ]]", "sh -c 'a | b'"] {
            assert!(!read(line).has_pipe, "{line}");
        }
    }
}
