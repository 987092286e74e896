//! Detects npm, pnpm and yarn. The lock file decides which one is used, then `packageManager`. If pnpm or yarn is not
//! installed, Corepack fetches the version that `packageManager` names.

use crate::detect::repository::{Detection, Repository};
use serde_json::Value;
use text::json;

pub(super) const FILES: &[&str] = &["package.json", "lerna.json"];

/// A package manager: its lock files, its install command with one, and its command to test all packages of a
/// workspace.
struct Manager {
    name: &'static str,
    locks: &'static [&'static str],
    frozen: &'static str,
    everywhere: &'static str,
}

const MANAGERS: [Manager; 3] = [
    Manager {
        name: "pnpm",
        locks: &["pnpm-lock.yaml"],
        frozen: "pnpm install --frozen-lockfile",
        everywhere: "pnpm -r test",
    },
    Manager {
        name: "yarn",
        locks: &["yarn.lock"],
        frozen: "yarn install --frozen-lockfile",
        everywhere: "yarn workspaces run test",
    },
    Manager {
        name: "npm",
        locks: &["package-lock.json", "npm-shrinkwrap.json"],
        frozen: "npm ci",
        everywhere: "npm test --workspaces --if-present",
    },
];

pub(super) fn detect(repository: &Repository<'_>) -> Option<Detection> {
    let text = repository.text("package.json")?;
    let manifest: Value = json::read(text.as_bytes()).ok()?;
    let [.., npm] = &MANAGERS;
    let mut all = MANAGERS.iter();
    let locked = all.find_map(|manager| Some((manager, repository.first(manager.locks)?)));
    let wanted = manifest.get("packageManager").and_then(Value::as_str);
    let (wanted, version) = wanted.and_then(|wanted| wanted.split_once('@')).unwrap_or_default();
    let named = MANAGERS.iter().find(|manager| manager.name == wanted);
    let manager = locked.map(|(manager, _)| manager).or(named).unwrap_or(npm);
    let is_workspace = repository.has("pnpm-workspace.yaml") || is_filled(&manifest, "workspaces");
    let starter = starter(repository, manager.name);
    let test = match (has_tests(&manifest), is_workspace) {
        (true, _) => format!("{starter}{} test", manager.name),
        (false, true) => format!("{starter}{}", manager.everywhere),
        (false, false) => return None,
    };
    let is_modern_yarn = repository.has(".yarnrc.yml") || wanted == "yarn" && !version.starts_with('1');
    let needed = ["dependencies", "devDependencies", "optionalDependencies"];
    let setup = match locked {
        Some(_) if manager.name == "yarn" && is_modern_yarn => format!("{starter}yarn install --immutable"),
        Some(_) => format!("{starter}{}", manager.frozen),
        None if is_workspace || needed.iter().any(|key| is_filled(&manifest, key)) => {
            format!("{starter}{} install", manager.name)
        }
        None => String::new(),
    };
    let files = match locked {
        Some((_, lock)) => format!("package.json and {lock}"),
        None => "package.json".to_owned(),
    };
    Some(Detection::new(setup, test, files))
}

/// Returns `corepack` and a blank for a program that only Corepack has; usually nothing.
pub(super) fn starter(repository: &Repository<'_>, program: &str) -> &'static str {
    const COREPACK: &str = "corepack";
    let is_served = ["pnpm", "yarn"].contains(&program);
    if is_served && !repository.is_installed(program) && repository.is_installed(COREPACK) { "corepack " } else { "" }
}

/// `true` if there is a test script other than the placeholder that `npm init` writes.
fn has_tests(manifest: &Value) -> bool {
    let script = manifest.pointer("/scripts/test").and_then(Value::as_str);
    script.is_some_and(|script| !script.trim().is_empty() && !script.contains("no test specified"))
}

fn is_filled(manifest: &Value, key: &str) -> bool {
    match manifest.get(key) {
        Some(Value::Object(packages)) => !packages.is_empty(),
        Some(Value::Array(folders)) => !folders.is_empty(),
        _ => false,
    }
}
