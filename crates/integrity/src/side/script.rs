//! Finds the scripts of a repository that a command calls.

/// Programs that run the script after them.
const INTERPRETERS: &str = "sh bash dash zsh ksh python python3 node ruby perl php tsx ts-node deno bun env time exec";

/// `true` if a command runs the file of this path, rather than passing it to a program.
pub(super) fn is_called(path: &str, command: &str) -> bool {
    command.split(['\n', ';', '|', '&', '(', ')']).any(|call| calls(path, call))
}

fn calls(path: &str, call: &str) -> bool {
    let words = shell_words::split(call).unwrap_or_else(|_| call.split_whitespace().map(str::to_owned).collect());
    let is_assignment = |word: &&String| word.split_once('=').is_some_and(|(name, _)| !name.contains('/'));
    for word in words.iter().skip_while(is_assignment) {
        let program = word.rsplit('/').next().unwrap_or(word);
        if word.trim_start_matches("./") == path {
            return true;
        }
        // A word after such an option is code or a module.
        let is_script_next = crate::words::is_one_of(INTERPRETERS, program)
            || word.starts_with('-') && !matches!(word.as_str(), "-m" | "-c" | "-e" | "--test" | "--eval");
        if !is_script_next {
            return false;
        }
    }
    false
}
