//! Files that take effect on a person's machine without being called: an editor runs them when a folder is opened, a shell
//! when it is entered, git at a commit, a package manager at any install, and an agent follows them.
//!
//! A build file is none of these: nothing of it runs before a person asks for a build.

/// The program that runs or obeys a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obeys {
    /// An editor or a development environment.
    Editor,
    /// A shell, a version manager or a debugger.
    Shell,
    /// Git, through its hooks and filters.
    Git,
    /// A package manager or a compiler's driver.
    PackageManager,
    /// An agent that writes code.
    Agent,
}

/// A changed file that takes effect without being called.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObeyedFile {
    /// Its path from the repository's root.
    pub path: String,
    /// The program.
    pub by: Obeys,
}

/// The names of files and folders, in lower case. They count in any folder, since any folder can be opened. A name that
/// starts with `*` is the end of a file's name.
const NAMES: [(Obeys, &str); 5] = [
    (
        Obeys::Editor,
        ".vscode .devcontainer .devcontainer.json .idea .fleet .zed .vs .exrc .vimrc .lvimrc .nvimrc .nvim.lua \
         .dir-locals.el .dir-locals-2.el .gitpod.yml .replit *.code-workspace *.sublime-project",
    ),
    (
        Obeys::Shell,
        ".envrc .direnv .autoenv .autoenv.zsh .mise .mise.toml mise.toml .rtx.toml .tool-versions .gdbinit .lldbinit",
    ),
    (
        Obeys::Git,
        ".husky .huskyrc .githooks .git-hooks .lefthook lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml \
         .pre-commit-config.yaml .pre-commit-hooks.yaml .overcommit.yml .simple-git-hooks.json .gitconfig .lfsconfig",
    ),
    (
        Obeys::PackageManager,
        ".npmrc .yarnrc .yarnrc.yml .yarn .pnpmfile.cjs .pnpmfile.mjs .pnp.cjs bunfig.toml .cargo rust-toolchain \
         rust-toolchain.toml .mvn .bundle nuget.config .bazelrc pip.conf uv.toml",
    ),
    (
        Obeys::Agent,
        ".cursorrules .windsurf .windsurfrules .cline .clinerules .roo .roorules .roomodes .kilocode .kiro .junie \
         .aider.conf.yml .continue .continuerules .amazonq .augment .augment-guidelines .trae .goosehints .openhands \
         .openhands_instructions .qwen qwen.md .crush.json crush.json crush.md warp.md .aiassistant .factory .rules",
    ),
];

/// Returns the files among these paths that take effect without being called, in the order of their paths.
pub fn obeyed_files<'p>(paths: impl IntoIterator<Item = &'p str>) -> Vec<ObeyedFile> {
    let found = |path: &str| {
        Some(ObeyedFile {
            path: path.to_owned(),
            by: obeys(path)?,
        })
    };
    let mut files: Vec<ObeyedFile> = paths.into_iter().filter_map(found).collect();
    files.sort();
    files
}

/// Returns the program that runs or obeys a file of this path. Case does not count, as on the machines of many people.
fn obeys(path: &str) -> Option<Obeys> {
    let path = path.to_lowercase();
    let is_named = |name: &str| match name.strip_prefix('*') {
        Some(end) => path.ends_with(end),
        None => path.split('/').any(|part| part == name),
    };
    let mut table = NAMES.iter();
    table
        .find(|(_, names)| names.split_whitespace().any(is_named))
        .map(|(program, _)| *program)
}

#[cfg(test)]
mod tests {
    use super::{Obeys, obeyed_files};

    #[test]
    fn what_takes_effect_without_a_call_is_found_in_any_folder_and_case() {
        let paths = [
            "web/.npmrc",
            ".vscode/tasks.json",
            ".VSCode/settings.json",
            "a/.envrc",
            ".husky/pre-commit",
            "team.code-workspace",
            ".cursorrules",
            "docs/npmrc.md",
            "src/vscode.rs",
            "Makefile",
            "package.json",
        ];
        let found = obeyed_files(paths);
        let found: Vec<(&str, Obeys)> = found.iter().map(|file| (file.path.as_str(), file.by)).collect();
        assert_eq!(
            found,
            [
                (".VSCode/settings.json", Obeys::Editor),
                (".cursorrules", Obeys::Agent),
                (".husky/pre-commit", Obeys::Git),
                (".vscode/tasks.json", Obeys::Editor),
                ("a/.envrc", Obeys::Shell),
                ("team.code-workspace", Obeys::Editor),
                ("web/.npmrc", Obeys::PackageManager),
            ]
        );
    }
}
