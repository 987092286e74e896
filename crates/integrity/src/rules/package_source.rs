//! Packages come from elsewhere than before: a manifest or a lock file names a host that is no public registry and that it
//! did not name, or has another content for the same version of a package.

use crate::{
    changed_file::{ChangedFile, Reading},
    language::file_name,
    rules::rule::{ANYWHERE, ReadingRule, Violation, at_line},
    settings::flatten,
};
use domain::{integrity::Rule, registries::is_registry};
use std::collections::{BTreeMap, BTreeSet};

pub(super) static RULE: ReadingRule = ReadingRule { rule: Rule::PackageSource, applies: ANYWHERE, check };

/// Files that say where packages come from, with a part of the names of the keys that do. Without names, every line does. A
/// star stands for the beginning of a name.
const FILES: [(&str, &[&str]); 6] = [
    (
        "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock deno.lock poetry.lock uv.lock pdm.lock \
         pylock.toml Pipfile.lock Gemfile.lock Cargo.lock composer.lock mix.lock Gemfile *requirements.txt \
         *constraints.txt *requirements-dev.txt",
        &[],
    ),
    ("package.json", &["ependencies", "overrides", "resolutions"]),
    ("pyproject.toml", &["ependenc", "source", "index", "requires"]),
    ("Pipfile", &["packages", "source"]),
    ("Cargo.toml", &["dependencies", "patch", "source", "replace"]),
    ("composer.json", &["repositories"]),
];

/// The keys of a lock file that identify the content of a package.
const CONTENTS: [&str; 6] = ["checksum", "integrity", "hash", "hashes", "sha256", "resolved"];

fn check(reading: &Reading<'_>) -> Vec<Violation> {
    reading.files.iter().filter_map(|file| new_host(file).or_else(|| new_content(file))).collect()
}

/// Returns the first line with a host from which the file's packages did not come before.
fn new_host(file: &ChangedFile<'_>) -> Option<Violation> {
    let name = file_name(file.path);
    let (before, after) = file.texts();
    if name == "go.mod" {
        let new = file.new_lines(&after).into_iter();
        return first(file, new.filter(|(_, line)| line.contains("=>")));
    }
    let is_named = |known: &str| known.strip_prefix('*').map_or(known == name, |end| name.ends_with(end));
    let (_, keys) = FILES.iter().find(|(names, _)| names.split_whitespace().any(is_named))?;
    let (old, new) = (sources(file.path, keys, &before), sources(file.path, keys, &after));
    let hosts = |text: &str| hosts(text).map(str::to_owned).collect::<BTreeSet<String>>();
    let known = hosts(&old);
    let others: Vec<String> =
        hosts(&new).into_iter().filter(|host| !known.contains(host) && !is_registry(host)).collect();
    let lines = (1u32..).zip(after.lines());
    first(file, lines.filter(|(_, line)| others.iter().any(|host| line.contains(host.as_str()))))
}

/// Returns the first line with another content for a version of a package that was there before.
fn new_content(file: &ChangedFile<'_>) -> Option<Violation> {
    let (before, after) = file.texts();
    let (old, new) = (contents(file.path, &before)?, contents(file.path, &after)?);
    let is_replaced = |(package, now): &(&Package, &BTreeSet<String>)| {
        let was = old.get(*package);
        was.is_some_and(|was| was.difference(now).next().is_some() && now.difference(was).next().is_some())
    };
    let replaced: BTreeSet<&String> = new.iter().filter(is_replaced).flat_map(|(_, now)| now).collect();
    let lines = file.new_lines(&after).into_iter();
    first(file, lines.filter(|(_, line)| replaced.iter().any(|content| line.contains(content.as_str()))))
}

fn first<'l>(file: &ChangedFile<'_>, mut lines: impl Iterator<Item = (u32, &'l str)>) -> Option<Violation> {
    lines.next().map(|(number, line)| at_line(file.path, number, line))
}

/// Returns the part of a file that says where packages come from.
fn sources(path: &str, keys: &[&str], text: &str) -> String {
    if keys.is_empty() {
        let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
        return lines.collect::<Vec<_>>().join("\n");
    }
    let settings = flatten(path, text).into_iter();
    let values = settings.filter(|setting| keys.iter().any(|key| setting.name.contains(key)));
    values.flat_map(|setting| setting.values).collect::<Vec<_>>().join("\n")
}

/// Returns the hosts in addresses, and those that stand for a code forge in short forms.
fn hosts(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_alphanumeric() || "-._".contains(c);
    let by_address = text.split("://").skip(1).filter_map(move |rest| {
        let place = rest.split(['/', '"', '\'', ' ', '\n', '#', '?']).next()?;
        let host = place.rsplit('@').next()?;
        host.split(|c: char| !is_part(c)).next()
    });
    let by_user = text.split("git@").skip(1).filter_map(move |rest| rest.split(|c: char| !is_part(c)).next());
    let forges = ["github:", "gitlab:", "bitbucket:"].into_iter().filter(|forge| text.contains(forge));
    by_address.chain(by_user).chain(forges).filter(|host| !host.is_empty())
}

/// A version of a package: its name, or the names of its keys, and the version.
type Package = (String, String);

/// Returns what identifies the content of each package of a lock file; `None` for other files.
fn contents(path: &str, text: &str) -> Option<BTreeMap<Package, BTreeSet<String>>> {
    let name = file_name(path);
    let mut contents: BTreeMap<Package, BTreeSet<String>> = BTreeMap::new();
    if name == "go.sum" {
        for line in text.lines() {
            if let [module, version, hash] = line.split_whitespace().collect::<Vec<_>>().as_slice() {
                contents.entry(((*module).to_owned(), (*version).to_owned())).or_default().insert((*hash).to_owned());
            }
        }
        return Some(contents);
    }
    if !FILES[0].0.split_whitespace().any(|known| known == name) {
        return None;
    }
    // A lock file in TOML has no ending that says so.
    let path = if text.contains("[[package]]") { "lock.toml" } else { path };
    let settings = flatten(path, text);
    let versions: BTreeMap<&str, String> = settings
        .iter()
        .filter_map(|setting| Some((setting.name.strip_suffix(".version")?, setting.values.concat())))
        .collect();
    for setting in settings.iter().filter(|setting| CONTENTS.iter().any(|key| is_last(&setting.name, key))) {
        let mut above = setting.name.as_str();
        while let Some((prefix, _)) = above.rsplit_once('.') {
            above = prefix;
            if let Some(version) = versions.get(prefix) {
                contents
                    .entry((prefix.to_owned(), version.clone()))
                    .or_default()
                    .extend(setting.values.iter().cloned());
                break;
            }
        }
    }
    Some(contents)
}

fn is_last(name: &str, key: &str) -> bool {
    name.strip_suffix(key).is_some_and(|above| above.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::tests::check_examples;

    const NPM: &str = "{\"packages\": {\"node_modules/ms\": {\n\"version\": \"2.1.3\",\n\
                       \"resolved\": \"https://registry.npmjs.org/ms/-/ms-2.1.3.tgz\",\n\"integrity\": \"sha512-AAA\"}}}\n";
    const CARGO: &str = "[[package]]\nname = \"ms\"\nversion = \"1.0.0\"\n\
                         source = \"registry+https://github.com/rust-lang/crates.io-index\"\nchecksum = \"aaa\"\n";
    const SUM: &str = "example.com/a v1.0.0 h1:aaa=\n";
    const UV: &str = "[[package]]\nname = \"ms\"\nversion = \"1.0.0\"\nsource = { registry = \"https://pypi.org/simple\" }\n\
                      wheels = [\n{ url = \"https://files.pythonhosted.org/a.whl\", hash = \"sha256:aaa\" },\n]\n";

    #[test]
    fn packages_from_a_new_host_are_found_in_lock_files_and_manifests() {
        let honest = NPM.replace("2.1.3", "2.1.4").replace("AAA", "BBB");
        let mut honest = vec![("package-lock.json", NPM, honest.as_str())];
        honest.extend([
            ("requirements.txt", "a==1\n", "a==1\n# https://example.net\nb==2\n--index-url https://pypi.org/simple\n"),
            ("package.json", "{}", "{\"homepage\": \"https://example.net\", \"dependencies\": {\"a\": \"^1\"}}"),
            ("pyproject.toml", "", "[project.urls]\nhome = \"https://example.net\"\n"),
            ("Cargo.toml", "", "[package]\nrepository = \"https://example.net\"\n[dependencies]\na = \"1\"\n"),
            ("go.mod", "module a\n", "module a\n\nrequire example.com/b v1.0.0\n"),
        ]);
        for broken in [
            ("package-lock.json", NPM, NPM.replace("registry.npmjs.org", "example.net")),
            ("web/yarn.lock", "", "ms@1:\n  resolved \"https://example.net/ms.tgz\"\n".to_owned()),
            ("uv.lock", UV, UV.replace("https://pypi.org", "https://example.net")),
            ("Gemfile.lock", "", "GEM\n  remote: https://example.net/\n".to_owned()),
            ("requirements.txt", "a==1\n", "a==1\n--extra-index-url https://example.net/simple\n".to_owned()),
            ("requirements.txt", "", "a @ git+ssh://git@example.net/a\n".to_owned()),
            ("package.json", "{}", "{\"devDependencies\": {\"a\": \"github:b/a\"}}".to_owned()),
            ("pyproject.toml", "", "[tool.uv.sources]\na = { git = \"https://example.net/a\" }\n".to_owned()),
            ("Cargo.toml", "", "[patch.crates-io]\na = { git = \"https://example.net/a\" }\n".to_owned()),
            ("go.mod", "module a\n", "module a\n\nreplace example.com/b => example.net/b v1.0.0\n".to_owned()),
        ] {
            check_examples(&RULE, &[(broken.0, broken.1, &broken.2)], &honest);
        }
    }

    #[test]
    fn another_content_of_the_same_version_is_found() {
        let newer = CARGO.replace("1.0.0", "1.0.1").replace("aaa", "bbb");
        let more =
            UV.replace("},\n]", "},\n{ url = \"https://files.pythonhosted.org/b.whl\", hash = \"sha256:bbb\" },\n]");
        let more_sums = format!("{SUM}example.com/b v1.0.0 h1:bbb=\n");
        let honest = [
            ("Cargo.lock", CARGO, newer.as_str()),
            ("uv.lock", UV, more.as_str()),
            ("go.sum", SUM, more_sums.as_str()),
        ];
        for broken in [
            ("package-lock.json", NPM, NPM.replace("AAA", "BBB")),
            ("Cargo.lock", CARGO, CARGO.replace("aaa", "bbb")),
            ("go.sum", SUM, SUM.replace("aaa", "bbb")),
            ("uv.lock", UV, UV.replace("aaa", "bbb")),
        ] {
            check_examples(&RULE, &[(broken.0, broken.1, &broken.2)], &honest);
        }
    }
}
