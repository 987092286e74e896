//! `autobuild completions`, as a shell uses them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::process::Command;

fn script(shell: &str) -> String {
    let program = env!("CARGO_BIN_EXE_autobuild");
    let said = Command::new(program).args(["completions", shell]).output().unwrap();
    assert!(said.status.success(), "{said:?}");
    String::from_utf8(said.stdout).unwrap()
}

#[test]
fn bash_completes_the_beginning_of_a_command() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("completions.bash");
    std::fs::write(&file, script("bash")).unwrap();
    let asked = "source \"$1\"; COMP_WORDS=(autobuild de); COMP_CWORD=1; \
                 \"$(complete -p autobuild | grep -o '_[a-z]*')\" autobuild de autobuild; echo \"${COMPREPLY[*]}\"";
    let said = Command::new("bash").args(["-euc", asked, "bash"]).arg(&file).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&said.stdout), "demo\n", "{said:?}");
}

/// Returns a shell's answer, if it is installed.
fn complete(shell: &str, arguments: &[&str]) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(format!("completions.{shell}"));
    std::fs::write(&file, script(shell)).unwrap();
    let file = file.display().to_string();
    let arguments = arguments.iter().map(|argument| argument.replace("FILE", &file));
    match Command::new(shell).args(arguments).env("HOME", folder.path()).output() {
        Ok(said) => {
            assert!(said.status.success() && said.stderr.is_empty(), "{said:?}");
            Some(String::from_utf8(said.stdout).unwrap())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => panic!("{shell}: {error}"),
    }
}

#[test]
fn zsh_and_fish_load_their_scripts() {
    let fish = ["--no-config", "-c", "source FILE; complete -C 'autobuild se'; complete -C 'autobuild run --js'"];
    if let Some(said) = complete("fish", &fish) {
        let words: Vec<&str> = said.lines().filter_map(|line| line.split('\t').next()).collect();
        assert_eq!(words, ["serve", "setup", "--json"]);
    }
    let zsh = [
        "-f",
        "-c",
        "autoload -U compinit; compinit -u -D; source FILE; echo $_comps[autobuild]; whence -w _autobuild",
    ];
    if let Some(said) = complete("zsh", &zsh) {
        assert_eq!(said, "_autobuild\n_autobuild: function\n");
    }
}

#[test]
fn zsh_and_fish_know_every_command_too() {
    for shell in ["zsh", "fish"] {
        let script = script(shell);
        for command in ["serve", "demo", "trace", "completions"] {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
}
