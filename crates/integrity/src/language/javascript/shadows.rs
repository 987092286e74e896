//! Modules that take the place of real ones: installed packages that are committed, and settings that lead imports away.

use crate::language::{
    glance::{Glance, Shadow},
    role,
};
use serde_json::{Map, Value};

/// Packages that run tests or check things for them.
const TOOLS: [&str; 14] = [
    "vitest",
    "jest",
    "mocha",
    "chai",
    "ava",
    "tap",
    "tape",
    "jasmine",
    "sinon",
    "@jest/globals",
    "expect",
    "@playwright/test",
    "cypress",
    "assert",
];

pub(super) fn shadows(glance: &Glance<'_>) -> Vec<Shadow> {
    if role::folders(glance.path).any(|folder| folder == "node_modules") {
        let what = "a package below `node_modules` is committed, and imported in place of the installed one".to_owned();
        return vec![Shadow { line: 1, what }];
    }
    match role::file_name(glance.path) {
        "package.json" => {
            let mut found = manifest(glance);
            found.extend(mapped_by_the_runner(glance));
            found
        }
        name if name.starts_with("tsconfig") && name.ends_with(".json") => paths_of_types(glance),
        name if is_settings(name) => mapped_by_the_runner(glance),
        _ => Vec::new(),
    }
}

fn is_settings(name: &str) -> bool {
    [
        "jest.config.",
        "vitest.config.",
        "vite.config.",
        "jest.setup.",
        "vitest.setup.",
    ]
    .iter()
    .any(|start| name.starts_with(start))
}

/// Entries of `package.json` that lead an import to a file of the repository that only looks real.
fn manifest(glance: &Glance<'_>) -> Vec<Shadow> {
    let now = object(glance.after);
    let was = glance.before.map(object).unwrap_or_default();
    let mut found = Vec::new();
    for section in ["dependencies", "devDependencies", "overrides", "resolutions", "imports"] {
        let entries = |manifest: &Map<String, Value>| manifest.get(section).and_then(Value::as_object).cloned();
        let (now, was) = (entries(&now).unwrap_or_default(), entries(&was).unwrap_or_default());
        for (name, target) in &now {
            let target = target.as_str().unwrap_or_default();
            let before = was.get(name).and_then(Value::as_str);
            let is_local = ["file:", "link:", "portal:", "./", "../"]
                .iter()
                .any(|start| target.starts_with(start));
            let was_real =
                before.is_some_and(|before| !before.starts_with("file:") && !before.starts_with("workspace:"));
            let is_tool = TOOLS.contains(&name.as_str()) && section != "imports";
            let is_fake = is_tool || glance.leads_to_a_fake(target) || section != "imports" && was_real;
            if is_local && is_fake && before != Some(target) {
                found.push(Shadow {
                    line: glance.line_of(&format!("\"{name}\"")),
                    what: format!("`{name}` is taken from `{target}` instead of the real package"),
                });
            }
        }
    }
    found
}

/// `paths` that lead a package or a module of the platform into the repository. Short names for one's own sources begin
/// with a sign, or have a star.
fn paths_of_types(glance: &Glance<'_>) -> Vec<Shadow> {
    let paths = |text: &str| {
        let settings = object(text);
        let found = settings.get("compilerOptions").and_then(|options| options.get("paths"));
        found.and_then(Value::as_object).cloned().unwrap_or_default()
    };
    let was = glance.before.map(paths).unwrap_or_default();
    let own = |name: &str| name.starts_with(['@', '~', '#', '.', '/', '$']) && !name.starts_with("@types/");
    let leads = |target: &Value| {
        let targets = target.as_array().into_iter().flatten().filter_map(Value::as_str);
        targets.into_iter().any(|target| glance.leads_to_a_fake(target))
    };
    paths(glance.after)
        .iter()
        .filter(|(name, target)| was.get(*name) != Some(target))
        .filter(|(name, target)| name.starts_with("node:") || !own(name) && leads(target) || own(name) && leads(target))
        .map(|(name, target)| Shadow {
            line: glance.line_of(&format!("\"{name}\"")),
            what: format!("imports of `{name}` lead to {target}"),
        })
        .collect()
}

/// A mapping of the runner's that leads imports of code to files that only look real; pictures and styles are none.
fn mapped_by_the_runner(glance: &Glance<'_>) -> Vec<Shadow> {
    const NO_CODE: [&str; 8] = ["css", "scss", "less", "svg", "png", "jpg", "woff", "sass"];
    let is_manifest = role::file_name(glance.path) == "package.json";
    let mut in_mapping = false;
    let mut found = Vec::new();
    for (number, line) in (1_u32..).zip(glance.after.lines()) {
        in_mapping = match line.trim_start() {
            ends if is_manifest && ends.starts_with('}') => false,
            line => in_mapping || line.contains("moduleNameMapper") || !is_manifest && line.contains("alias"),
        };
        let is_new = glance.before.is_none_or(|before| !before.contains(line.trim()));
        let mut texts = line.split(['"', '\'', '`']).skip(1).step_by(2);
        let (Some(from), Some(to)) = (texts.next(), texts.next()) else {
            continue;
        };
        let no_code = NO_CODE.iter().any(|kind| from.contains(kind));
        let is_fake = || glance.leads_to_a_fake(to) || leads_away(glance, from, to);
        if in_mapping && is_new && !no_code && is_fake() {
            let what = format!("imports of `{from}` lead to `{to}` while the tests run");
            found.push(Shadow { line: number, what });
        }
    }
    found
}

/// Whether imports of a source file of the repository lead to another file.
fn leads_away(glance: &Glance<'_>, from: &str, to: &str) -> bool {
    let plain = from.trim_matches(['^', '$']).replace('\\', "");
    let wanted = plain.trim_start_matches(['.', '/']);
    let stem = wanted.trim_end_matches(".js").trim_end_matches(".ts");
    let ends = [".js", ".ts", ".mjs", ".cjs", ".jsx", ".tsx", "/index.js", "/index.ts"];
    let is_source = stem.contains('/') && ends.iter().any(|end| glance.exists(&format!("{stem}{end}")));
    is_source && !to.contains(stem)
}

/// JSON as tools of this language read it: with comments and commas too many.
fn object(text: &str) -> Map<String, Value> {
    let plain = serde_json::from_str::<Value>(text).or_else(|_| serde_json::from_str(&without_comments(text)));
    match plain {
        Ok(Value::Object(object)) => object,
        Ok(_) | Err(_) => Map::new(),
    }
}

fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    let mut in_text = false;
    while let Some(c) = rest.next() {
        match (c, in_text, rest.peek()) {
            ('\\', true, _) => {
                plain.push(c);
                plain.extend(rest.next());
            }
            ('"', _, _) => {
                in_text = !in_text;
                plain.push(c);
            }
            ('/', false, Some('/')) => {
                rest.by_ref().find(|next| *next == '\n');
            }
            ('/', false, Some('*')) => {
                let mut last = ' ';
                rest.by_ref().find(|next| {
                    let ends = last == '*' && *next == '/';
                    last = *next;
                    ends
                });
            }
            (']' | '}', false, _) => {
                let kept = plain.trim_end().trim_end_matches(',').len();
                plain.truncate(kept);
                plain.push(c);
            }
            _ => plain.push(c),
        }
    }
    plain
}
