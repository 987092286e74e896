//! Files that take effect without being called. Editors run them when a folder is opened, shells when it is entered, git
//! at a commit, package managers at any install, agents follow them, and services obey them when they build a branch.
//!
//! By custom, a name that begins with a dot is one that a program looks for by itself. So it is named even if no program
//! is known to look for it, unless it is known to be harmless. Of 38,000 commits in 12 well-known repositories, one in 250
//! changes such a name, one in 50 a name that a program is known for. Other names have to be known.
//!
//! Build files that some editors run (`build.rs`, `build.gradle`, `deno.json`) are not here: nearly every change would
//! name them, and nobody would read the warning.

use crate::{
    ci_definitions::{definition, deployment},
    links::{destination, follow, split_at_folders},
};
use std::collections::{BTreeMap, BTreeSet};

/// The program that runs or obeys a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileUser {
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
    /// A service that deploys, or builds pages.
    Deployment,
    /// Some program, to judge by the dot with which the name begins.
    Unknown,
}

/// A changed file or folder that takes effect without being called.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObeyedFile {
    pub by: FileUser,
    /// The number of folders above it.
    pub depth: usize,
    /// Its path from the repository's root, up to the name that the program knows. If a link with that name leads to it,
    /// the link with what it leads to, such as `.vscode -> config/editor`.
    pub path: String,
    /// The number of other places that have a changed file or folder of this kind.
    pub others: usize,
}

/// The names of files and folders, in lower case. They count in any folder, since any folder can be opened. A star stands
/// for the rest of a name; a name with a slash is one in a folder of that name, and one that begins with a slash is at the root.
const NAMES: [(FileUser, &str); 6] = [
    (
        FileUser::Editor,
        ".vscode .devcontainer .devcontainer.json .idea .fleet .zed .vs .exrc .vimrc .lvimrc .nvimrc .nvim.lua \
         .dir-locals.el .dir-locals-2.el .gitpod.yml .gitpod .replit .idx .codesandbox devfile.yaml .devfile.yaml .helix .nova .vim .clj-kondo \
         .ycm_extra_conf.py .pylintrc pylintrc .flake8 .rubocop.yml .bsp hie.yaml .formatter.exs .lazy.lua \
         .externaltoolbuilders .vimrc.local *.code-workspace *.sublime-project .eslintrc* eslint.config.* \
         .prettierrc* prettier.config.* .stylelintrc* stylelint.config.* tailwind.config.* svelte.config.* \
         .golangci.* .latexmkrc latexmkrc .luarc.json .mypy.ini mypy.ini .php-cs-fixer* rust-analyzer.toml \
         .rust-analyzer.toml .solargraph.yml cspell.config.* .cspell.config.* cspell.json .markdownlint.cjs .markdownlint.mjs \
         .markdownlint-cli2.cjs .markdownlint-cli2.mjs .markdownlint-cli2.jsonc phpstan.neon* phpstan.dist.neon psalm.xml* \
         oxlint.config.*",
    ),
    (
        FileUser::Shell,
        ".envrc .direnv .autoenv .autoenv.zsh .autoenv_leave.zsh .mise .mise.toml mise.toml .mise.local.toml \
         mise.local.toml .config/mise .config/mise.toml mise/config.toml .env .rtx.toml .tool-versions .rvmrc \
         .gdbinit .lldbinit .pdbrc .ghci .ocamlinit .iex.exs .irbrc .pryrc .rdbgrc .byebugrc .erlang .octaverc startup.m .rprofile .renviron *-gdb.py .prototools \
         .sdkmanrc .venv .flox .shadowenv.d pkgx.yaml bin/hermit.hcl .lazygit.yml sitecustomize.py usercustomize.py flake.nix shell.nix devenv.nix devenv.yaml devbox.json",
    ),
    (
        FileUser::Git,
        ".husky .huskyrc .githooks .git-hooks .lefthook lefthook.yml lefthook.yaml lefthook.toml lefthook.json .lefthook.* lefthook-local.* \
         .pre-commit-config.yaml .pre-commit-hooks.yaml .overcommit.yml .simple-git-hooks.json simple-git-hooks.json \
         .simple-git-hooks.cjs simple-git-hooks.cjs hk.pkl prek.toml captainhook.json .trunk .lintstagedrc* \
         .rusty-hook.toml grumphp.yml .arcconfig .reviewboardrc .gitconfig .lfsconfig .hg .jj .sl commitlint.config.* .commitlintrc* lint-staged.config.*",
    ),
    (
        FileUser::PackageManager,
        ".npmrc .yarnrc .yarnrc.yml .yarn .pnpmfile.cjs .pnpmfile.mjs .pnp.cjs bunfig.toml .cargo rust-toolchain \
         rust-toolchain.toml .mvn .bundle nuget.config .bazelrc .bazeliskrc .bazelversion tools/bazel .buckconfig \
         .buckconfig.local pip.conf uv.toml .pnp.loader.mjs .corepack.env pnpm-workspace.yaml directory.build.props \
         directory.build.targets .sbtopts .jvmopts binding.gyp gradle/wrapper gradlew gradlew.bat mvnw mvnw.cmd",
    ),
    (
        FileUser::Agent,
        ".agent .cursorrules .windsurf .windsurfrules .cline .clinerules .roo .roorules .roomodes .kilocode .kiro \
         .junie .aider.conf.yml .continue .continuerules .amazonq .augment .augment-guidelines .trae .goosehints \
         .openhands .openhands_instructions .qwen qwen.md .crush.json crush.json crush.md warp.md .aiassistant \
         .factory .rules agent.md .claude-plugin mcp.json .goose .kilocodemodes .qodo .zencoder replit.md iflow.md \
         .iflow .codebuddy .lingma .tabnine .antigravity .ruler firebender.json .pi .serena .vibe .coderabbit.yaml",
    ),
    // Heroku reads an `app.json` at the root. Expo's file of that name names plugins, which run at a build.
    (FileUser::Deployment, ".readthedocs.yml .readthedocs.yaml readthedocs.yml readthedocs.yaml /app.json"),
];

/// Names that begin with a dot of which nothing is run by itself, in lower case: plain data, code that only called programs
/// read, and names with rules of their own. A star stands for the beginning or the rest of a name.
const PLAIN: &str = "
    .github .autobuild .dependabot *ignore *keep .gitattributes .gitmodules .git-blame-ignore-revs .git_archival.txt
    .mailmap .editorconfig .nojekyll .well-known .ds_store *.example *.sample *.template .env.dist
    *-version .nvmrc .ruby-gemset .browserslistrc .terraform.lock.hcl .sqlx .openapi-generator .tx .snyk
    .clang-format .clippy.toml .rustfmt.toml .scalafmt.conf .swiftformat .swift-format .swiftlint.yml .stylua.toml
    .ocamlformat .taplo.toml .typos.toml .yamllint* .hadolint.yaml .isort.cfg .jshintrc .htmlhintrc .codespellrc
    .shellcheckrc .markdownlint.json .markdownlint.yaml .markdownlint.yml .markdownlintrc
    .codecov.yml .coveragerc .coveralls.yml .codeclimate.yml .nycrc* .c8rc* .rspec .gitleaks.toml
    .changeset .changes .goreleaser.* .release-please-manifest.json .release-it* .releaserc* .bumpversion*
    .all-contributorsrc .zenodo.json .spi.yml .storybook .vitepress .vuepress .yardopts
";

/// Returns those of these changed paths that take effect without being called, by program, the shallowest first. Of each name that
/// a program knows there is one, so that no other changed file can hide it in a long list. `links` are all links of the
/// commit and their targets.
pub fn obeyed_files<'p>(paths: impl IntoIterator<Item = &'p str>, links: &BTreeMap<String, String>) -> Vec<ObeyedFile> {
    let linked = linked(links);
    let named = |path: &'p str| {
        let by_link = split_at_folders(path).filter_map(|(above, _)| linked.get(&above.to_lowercase()));
        let by_name = obeyed(path).map(|(by, name, path)| (by, name, with_target(links, path)));
        by_name.into_iter().chain(by_link.flatten().map(|((by, name), path)| (*by, name.clone(), path.clone())))
    };
    let mut places: BTreeMap<(FileUser, String), BTreeSet<(usize, String)>> = BTreeMap::new();
    for (by, name, path) in paths.into_iter().flat_map(named) {
        places.entry((by, name)).or_default().insert((path.matches('/').count(), path));
    }
    let mut files: Vec<ObeyedFile> = places
        .into_iter()
        .filter_map(|((by, _), mut places)| {
            let (depth, path) = places.pop_first()?;
            Some(ObeyedFile { by, depth, path, others: places.len() })
        })
        .collect();
    files.sort();
    files
}

/// Adds where the path leads, if it is a link.
fn with_target(links: &BTreeMap<String, String>, path: String) -> String {
    match links.get(&path) {
        Some(target) => format!("{path} -> {}", destination(&path, target).as_deref().unwrap_or(target)),
        None => path,
    }
}

/// Returns, by each path in lower case to which obeyed links lead, a link for each name that a program knows.
fn linked(links: &BTreeMap<String, String>) -> BTreeMap<String, BTreeMap<(FileUser, String), String>> {
    let mut linked: BTreeMap<String, BTreeMap<(FileUser, String), String>> = BTreeMap::new();
    for link in links.keys() {
        let Some((by, name, _)) = obeyed(link) else { continue };
        for path in follow(links, link) {
            let shown = format!("{link} -> {path}");
            linked.entry(path.to_lowercase()).or_default().entry((by, name.clone())).or_insert(shown);
        }
    }
    linked
}

/// Returns the program that knows a path, the name by which it does, and the path up to that name. Case does not count, as on
/// the machines of many people.
fn obeyed(path: &str) -> Option<(FileUser, String, String)> {
    let deployed = deployment(path).map(|path| {
        let name = path.rsplit('/').next().unwrap_or_default();
        (FileUser::Deployment, name.to_owned(), path.to_owned())
    });
    deployed.or_else(|| find_by_name(path)).or_else(|| find_by_dot(path))
}

/// Finds a name that begins with a dot and is not known to be plain.
fn find_by_dot(path: &str) -> Option<(FileUser, String, String)> {
    if definition(path).is_some() {
        return None;
    }
    let mut above = 0;
    path.split('/').find_map(|name| {
        above += name.len() + 1;
        let lower = name.to_lowercase();
        let is_plain = |known: &str| match (known.strip_prefix('*'), known.strip_suffix('*')) {
            (Some(end), _) => lower.ends_with(end),
            (None, Some(start)) => lower.starts_with(start),
            (None, None) => lower == known,
        };
        if !lower.starts_with('.') || PLAIN.split_whitespace().any(is_plain) {
            return None;
        }
        Some((FileUser::Unknown, lower, path.get(..above - 1)?.to_owned()))
    })
}

fn find_by_name(path: &str) -> Option<(FileUser, String, String)> {
    let parts: Vec<&str> = path.split('/').collect();
    (0..parts.len()).find_map(|depth| {
        let path = parts.get(..=depth)?.join("/");
        // A name that begins with a slash is one at the root.
        let lower = format!("/{}", path.to_lowercase());
        let is_last = depth + 1 == parts.len();
        let last = lower.rsplit('/').next().unwrap_or_default();
        let is_named = |name: &str| match (name.strip_prefix('*'), name.strip_suffix('*')) {
            (Some(end), _) => is_last && last.ends_with(end),
            (None, Some(start)) => is_last && last.starts_with(start),
            (None, None) => lower
                .strip_suffix(name)
                .is_some_and(|above| above.is_empty() || above.ends_with('/') && !name.starts_with('/')),
        };
        let mut named = NAMES.iter().flat_map(|(by, names)| names.split_whitespace().map(move |name| (*by, name)));
        let (by, name) = named.find(|(_, name)| is_named(name))?;
        Some((by, name.to_owned(), path))
    })
}

#[cfg(test)]
mod tests {
    use super::{FileUser, ObeyedFile};
    use std::collections::BTreeMap;

    fn obeyed_files<'p>(paths: impl IntoIterator<Item = &'p str>) -> Vec<ObeyedFile> {
        super::obeyed_files(paths, &BTreeMap::new())
    }

    #[test]
    fn a_file_that_a_link_leads_to_is_obeyed_by_the_name_of_the_link() {
        let links = [
            (".vscode", "config/editor"),
            (".idea", "config/editor"),
            (".husky/pre-commit", "../middle"),
            ("middle", "scripts/check.sh"),
            ("notes", "docs"),
            ("web/.envrc", "../../outside"),
        ];
        let links = links.map(|(link, target)| (link.to_owned(), target.to_owned())).into();
        let obeyed = |path: &str| {
            let files = super::obeyed_files([path], &links);
            files.into_iter().map(|file| file.path).collect::<Vec<_>>()
        };
        assert_eq!(obeyed("Config/editor/settings.json"), [".idea -> config/editor", ".vscode -> config/editor"],);
        assert_eq!(obeyed("scripts/check.sh"), [".husky/pre-commit -> scripts/check.sh"]);
        assert_eq!(obeyed("middle"), [".husky/pre-commit -> middle"]);
        assert_eq!(obeyed(".vscode"), [".vscode -> config/editor"]);
        assert_eq!(obeyed("web/.envrc"), ["web/.envrc -> ../../outside"]);
        for path in ["docs/a.md", "config/editors.md", "outside"] {
            assert_eq!(obeyed(path), [""; 0], "{path}");
        }
    }

    #[test]
    fn an_app_file_is_one_of_a_service_at_the_root_only() {
        let users = |path| obeyed_files([path]).iter().map(|file| file.by).collect::<Vec<_>>();
        assert_eq!(users("App.json"), [FileUser::Deployment]);
        assert_eq!(users("pages/app.json"), []);
        assert_eq!(users("my-app.json"), []);
    }

    #[test]
    fn what_takes_effect_without_a_call_is_found_in_any_folder_and_case() {
        let paths = [
            "web/.npmrc",
            ".vscode/tasks.json",
            ".vscode/launch.json",
            ".VSCode/settings.json",
            "a/.envrc",
            ".husky/pre-commit",
            "team.code-workspace",
            ".cursorrules",
            "a/.config/mise/config.toml",
            "tools/bazel",
            "src/tools/bazel.rs",
            "config/mise/config.yml",
            "hie.yaml",
            "rust-analyzer.toml",
            "web/eslint.config.mts",
            "web/commitlint.config.ts",
            "gradle/wrapper/gradle-wrapper.properties",
            "docs/npmrc.md",
            "docs/eslint.config.mts/notes.md",
            "src/vscode.rs",
            "vercel.json",
            "apps/web/netlify.toml",
            "docs/.readthedocs.yaml",
            "Makefile",
        ];
        let found = obeyed_files(paths);
        let found: Vec<(&str, FileUser)> = found.iter().map(|file| (file.path.as_str(), file.by)).collect();
        assert_eq!(
            found,
            [
                (".VSCode", FileUser::Editor),
                ("hie.yaml", FileUser::Editor),
                ("rust-analyzer.toml", FileUser::Editor),
                ("team.code-workspace", FileUser::Editor),
                ("web/eslint.config.mts", FileUser::Editor),
                ("a/.envrc", FileUser::Shell),
                ("a/.config/mise", FileUser::Shell),
                (".husky", FileUser::Git),
                ("web/commitlint.config.ts", FileUser::Git),
                ("gradle/wrapper", FileUser::PackageManager),
                ("tools/bazel", FileUser::PackageManager),
                ("web/.npmrc", FileUser::PackageManager),
                (".cursorrules", FileUser::Agent),
                ("vercel.json", FileUser::Deployment),
                ("docs/.readthedocs.yaml", FileUser::Deployment),
                ("apps/web/netlify.toml", FileUser::Deployment),
            ]
        );
    }

    #[test]
    fn many_files_of_one_name_hide_no_other() {
        let many: Vec<String> = (0..50).map(|number| format!("a/{number}/.flake8")).collect();
        let paths = many.iter().map(String::as_str).chain(["web/app/.vscode/tasks.json"]);
        let found = obeyed_files(paths);
        let found: Vec<(&str, usize)> = found.iter().map(|file| (file.path.as_str(), file.others)).collect();
        assert_eq!(found, [("a/0/.flake8", 49), ("web/app/.vscode", 0)]);
    }

    #[test]
    fn a_name_with_a_dot_is_obeyed_unless_it_is_known_to_be_plain() {
        let names = |paths: &[&str]| {
            let found = obeyed_files(paths.iter().copied());
            found.into_iter().map(|file| (file.path, file.by)).collect::<Vec<_>>()
        };
        let found = names(&["web/.oxlintrc.json", ".luacheckrc", "a/.Next-editor/tasks.json", ".stoatrc"]);
        let expected = [".Next-editor", ".luacheckrc", ".oxlintrc.json", ".stoatrc"];
        assert!(found.iter().all(|(_, by)| *by == FileUser::Unknown), "{found:?}");
        let mut last: Vec<&str> = found.iter().filter_map(|(path, _)| path.rsplit('/').next()).collect();
        last.sort_unstable();
        assert_eq!(last, expected);
        for path in [
            ".gitignore",
            "a/.gitkeep",
            ".dockerignore",
            ".env.example",
            ".python-version",
            ".changeset/brave-cats.md",
            ".github/dependabot.yml",
            ".travis.yml",
            "docs/.vitepress/config.ts",
            "src/a.rs",
        ] {
            assert_eq!(names(&[path]), [], "{path}");
        }
        assert_eq!(names(&["phpstan.neon.dist", "psalm.xml"]).len(), 2);
    }

    #[test]
    fn what_an_allowed_file_or_a_prompt_reads_takes_effect_too() {
        let paths = ["IFLOW.md", ".jj/repo/config.toml", "flake.nix", "docs/cspell.config.mjs"];
        let users: Vec<FileUser> = obeyed_files(paths).iter().map(|file| file.by).collect();
        assert_eq!(users, [FileUser::Editor, FileUser::Shell, FileUser::Git, FileUser::Agent]);
    }
}
