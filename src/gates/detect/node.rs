//! Detects npm, pnpm and yarn. The lock file decides which one is used, then `packageManager`; none is downloaded.

use crate::gates::detect::repository::{Found, Repository};
use domain::json;
use serde_json::Value;

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

pub(super) fn detect(repository: &Repository<'_>) -> Option<Found> {
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
    let test = match (has_tests(&manifest), is_workspace) {
        (true, _) => format!("{} test", manager.name),
        (false, true) => manager.everywhere.to_owned(),
        (false, false) => return None,
    };
    let is_modern_yarn = repository.has(".yarnrc.yml") || wanted == "yarn" && !version.starts_with('1');
    let needed = ["dependencies", "devDependencies", "optionalDependencies"];
    let setup = match locked {
        Some(_) if manager.name == "yarn" && is_modern_yarn => "yarn install --immutable".to_owned(),
        Some(_) => manager.frozen.to_owned(),
        None if is_workspace || needed.iter().any(|key| is_filled(&manifest, key)) => {
            format!("{} install", manager.name)
        }
        None => String::new(),
    };
    let evidence = match locked {
        Some((_, lock)) => format!("package.json and {lock}"),
        None => "package.json".to_owned(),
    };
    Some(Found::new(setup, test, evidence))
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
