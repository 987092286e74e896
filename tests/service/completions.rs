//! `autobuild completions`, as a shell uses them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

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
    let said = Command::new("bash")
        .args(["-euc", asked, "bash"])
        .arg(&file)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&said.stdout), "demo\n", "{said:?}");
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
