//! The content of `deploy/`: the lock of images, the packages, the unit, and the manifests of Kubernetes.
//! `.ci/image-root` tests the image itself.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a test that cannot go on has failed"
)]

use crate::doctor::PRODUCT;
use autobuild::{
    config::{PREFIX, VARIABLES},
    store::{Lane, NewEffect, OpenOptions, Ordered, Store},
};
use domain::ids::{InstallationId, Millis};
use serde_json::Value;
use sqlx::Connection;
use std::{
    collections::BTreeMap,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use support::postgres;

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// Runs `deploy/lock-images` on a lock in `folder` beside a `skopeo` that does this.
fn lock_images(folder: &Path, skopeo: &str) -> Output {
    let programs = folder.join("bin");
    std::fs::create_dir_all(&programs).unwrap();
    let program = programs.join("skopeo");
    std::fs::write(&program, format!("#!/bin/sh\n{skopeo}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    Command::new("sh")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/lock-images"))
        .arg(folder.join("images.lock"))
        .env("PATH", path)
        .output()
        .unwrap()
}

/// Runs a script of `deploy/` with a `PATH` of these programs and the system's tools that the script needs.
fn with_programs(folder: &Path, programs: &[(&str, &str)], words: &[&str]) -> Output {
    let path = folder.join("bin");
    std::fs::create_dir_all(&path).unwrap();
    for name in ["chmod", "dirname", "grep", "mktemp", "mv", "rm"] {
        let places = ["/usr/bin", "/bin"].map(|place| Path::new(place).join(name));
        let tool = places.into_iter().find(|tool| tool.exists()).unwrap();
        let _ = std::os::unix::fs::symlink(tool, path.join(name));
    }
    for (name, script) in programs {
        std::fs::write(path.join(name), format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(path.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut script = Command::new("/bin/sh");
    script.args(words).current_dir(env!("CARGO_MANIFEST_DIR"));
    script.env_clear().env("PATH", path).output().unwrap()
}

#[test]
fn podman_makes_an_image_that_holds_the_health_check() {
    let folder = tempfile::tempdir().unwrap();
    let says = |version: &str| format!("[ \"$1\" = --version ] && echo '{version}' || echo \"$*\"");
    let (podman, docker) = (says("podman version 5.4.2"), says("Docker version 28.0.1, build 068a01e"));
    for (programs, is_podman) in
        [(&[("podman", &*podman)][..], true), (&[("docker", &*docker)][..], false), (&[("docker", &*podman)][..], true)]
    {
        let _ = std::fs::remove_dir_all(folder.path().join("bin"));
        let done = with_programs(folder.path(), programs, &["deploy/build-image", "mine"]);
        let built = String::from_utf8(done.stdout).unwrap();
        assert!(built.starts_with("build ") && built.ends_with(" --tag mine .\n"), "{built}");
        assert_eq!(built.contains(" --format docker "), is_podman, "{programs:?}: {built}");
    }
}

#[test]
fn a_docker_without_buildx_is_said_to_lack_it() {
    let folder = tempfile::tempdir().unwrap();
    let lock = folder.path().join("images.lock");
    std::fs::write(&lock, LOCK).unwrap();
    let words = ["deploy/lock-images", lock.to_str().unwrap()];
    let without = "echo 'unknown flag: --format' >&2; exit 125";
    let done = with_programs(folder.path(), &[("docker", without)], &words);
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(said.contains("no buildx: install its plugin docker-buildx, or skopeo"), "{said}");
    assert_eq!(std::fs::read_to_string(&lock).unwrap(), LOCK);
    let with = format!("[ \"$2\" = version ] || echo sha256:{}", "0".repeat(64));
    let done = with_programs(folder.path(), &[("docker", &with)], &words);
    assert!(done.status.success(), "{done:?}");
}

/// The command that runs the image on a person's own repository.
const IN_THE_IMAGE: &str = "docker run --rm -it -v \"$PWD:/repository\" -w /repository \
                            -e AUTOBUILD_ANTHROPIC_API_KEY autobuild-claude run ISSUE.md";

#[test]
fn everybody_names_the_same_command_for_the_image() {
    for place in ["docs/install.md", "src/main.rs"] {
        let text = read(place).replace("\\\"", "\"").replace("\\\n", " ");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(IN_THE_IMAGE), "{place}");
        assert_eq!(text.matches("docker run ").count(), 1, "{place}");
    }
}

#[test]
fn the_actions_of_all_workflows_are_pinned_alike() {
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".github/workflows")).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for line in text.lines().filter_map(|line| line.trim().strip_prefix("- uses: ")) {
            let (action, pinned) = line.split_once('@').unwrap();
            let hash = pinned.split(' ').next().unwrap();
            assert!(hash.len() == 40 && hash.chars().all(|c| c.is_ascii_hexdigit()), "{line}");
            let first = known.entry(action.to_owned()).or_insert_with(|| pinned.to_owned());
            assert_eq!(first, pinned, "{action}");
        }
    }
    assert!(known.contains_key("actions/checkout"), "{known:?}");
}

const LOCK: &str = "# Two.\nBASE=debian:trixie-slim\nBUILD=rust:1.95-trixie@sha256:old\n";

#[test]
fn the_lock_is_filled_where_a_registry_answers() {
    let folder = tempfile::tempdir().unwrap();
    let lock = folder.path().join("images.lock");
    std::fs::write(&lock, LOCK).unwrap();
    let digest = "ab".repeat(32);
    let done = lock_images(folder.path(), &format!("echo sha256:{digest}"));
    assert!(done.status.success(), "{done:?}");
    let filled = format!("# Two.\nBASE=debian:trixie-slim@sha256:{digest}\nBUILD=rust:1.95-trixie@sha256:{digest}\n");
    assert_eq!(std::fs::read_to_string(&lock).unwrap(), filled);
}

#[test]
fn the_lock_stays_as_it_is_where_none_answers() {
    let folder = tempfile::tempdir().unwrap();
    let lock = folder.path().join("images.lock");
    let half =
        format!("case \"$*\" in *debian*) echo sha256:{};; *) echo 'no such host' >&2; exit 1;; esac", "0".repeat(64));
    for skopeo in ["echo 'no such host' >&2; exit 1", "echo nonsense", "true", half.as_str()] {
        std::fs::write(&lock, LOCK).unwrap();
        let done = lock_images(folder.path(), skopeo);
        assert_eq!(done.status.code(), Some(1), "{skopeo}");
        assert_eq!(String::from_utf8_lossy(&done.stderr).lines().count(), 1, "{done:?}");
        assert_eq!(std::fs::read_to_string(&lock).unwrap(), LOCK);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left behind");
    }
}

#[test]
fn every_image_of_the_recipe_is_a_line_of_the_lock() {
    let (recipe, lock) = (read("deploy/Containerfile"), read("deploy/images.lock"));
    let named = recipe.lines().filter_map(|line| line.strip_prefix("FROM ${"));
    let named: Vec<&str> = named.map(|rest| rest.split('}').next().unwrap()).collect();
    assert_eq!(named, ["BUILD", "BASE"]);
    for name in named {
        assert!(lock.lines().any(|line| line.starts_with(&format!("{name}="))), "{name}");
    }
    assert_eq!(recipe.lines().filter(|line| line.starts_with("FROM ")).count(), 2);
    assert!(recipe.contains("COPY deploy/packages ") && recipe.contains("\nUSER 10001\n"));
    let packages = read("deploy/packages");
    assert!(["bubblewrap", "git"].iter().all(|name| packages.lines().any(|line| line == *name)));
}

/// Returns a folder with the files that the recipe's build copies.
fn copied() -> tempfile::TempDir {
    let (recipe, ignore) = (read("deploy/Containerfile"), read(".dockerignore"));
    let (nothing, but) = ignore.split_once('\n').unwrap();
    assert_eq!(nothing, "*");
    assert!(but.lines().all(|line| line.starts_with('!')), "{but}");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let image = tempfile::tempdir().unwrap();
    let build = recipe.split("\nFROM ").nth(1).unwrap();
    for line in build.lines().filter_map(|line| line.strip_prefix("COPY ")) {
        let (sources, target) = line.rsplit_once(' ').unwrap();
        let into = image.path().join(target);
        std::fs::create_dir_all(into.parent().unwrap()).unwrap();
        for source in sources.split(' ') {
            assert!(but.lines().any(|line| line == format!("!{source}")), "{source}");
            let copied = Command::new("cp").arg("-r").arg(root.join(source)).arg(&into).status();
            assert!(copied.unwrap().success(), "{source}");
        }
    }
    image
}

#[test]
fn what_the_recipe_copies_is_a_workspace_that_cargo_loads() {
    let image = copied();
    let loaded = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--locked", "--format-version=1"])
        .current_dir(image.path())
        .output()
        .unwrap();
    assert!(loaded.status.success(), "{}", String::from_utf8_lossy(&loaded.stderr));
}

/// Returns every Rust file below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    let all = entries.flat_map(below);
    all.filter(|path| path.extension().is_some_and(|end| end == "rs")).collect()
}

/// Returns the files that a Rust file includes at build time. If a macro joins the name, or takes it from its callers,
/// returns the folder.
fn included(source: &Path) -> Vec<PathBuf> {
    let text = std::fs::read_to_string(source).unwrap();
    let calls = ["include!(", "include_str!(", "include_bytes!(", "include_dir!("];
    let named = calls.into_iter().flat_map(|call| text.split(call).skip(1));
    // Files that the build script makes are also made in the image.
    let named = named.filter(|rest| !rest.starts_with("concat!(env!(\"OUT_DIR\")"));
    let folder = source.parent().unwrap();
    let has_macro = text.contains("macro_rules!");
    let place = |rest: &str| {
        let rest = rest.trim_start();
        if has_macro && rest.starts_with('$') {
            return folder.to_path_buf();
        }
        let (joined, rest) = rest.strip_prefix("concat!(").map_or((false, rest), |rest| (true, rest));
        let name = rest.trim_start().strip_prefix('"').and_then(|rest| rest.split_once('"'));
        let name = name.unwrap_or_else(|| panic!("{}: {rest:.60}", source.display())).0;
        let name = if joined { name.rsplit_once('/').unwrap().0 } else { name };
        let file = folder.join(name);
        // A bare name may be relative to the macro's caller.
        if has_macro && !name.contains('/') && !file.exists() { folder.to_path_buf() } else { file }
    };
    named.map(place).collect()
}

#[test]
fn what_the_recipe_copies_holds_all_that_the_sources_include() {
    let image = copied();
    let root = image.path().canonicalize().unwrap();
    let mut looked_at = Vec::new();
    for source in sources(&root) {
        for file in included(&source) {
            let found = file.canonicalize();
            let is_copied = found.as_ref().is_ok_and(|found| found.starts_with(&root));
            assert!(is_copied, "{} includes {}", source.display(), file.display());
            looked_at.extend(found.unwrap().strip_prefix(&root).map(Path::to_path_buf));
        }
    }
    for known in ["app-manifest.yml", "agents/coach.md", "migrations/sqlite", "migrations/postgres"] {
        assert!(looked_at.contains(&PathBuf::from(known)), "{known}: {looked_at:?}");
    }
}

#[test]
fn the_unit_is_hardened_as_far_as_bubblewrap_lets_it() {
    let unit = read("deploy/autobuild.service");
    let has = |line: &str| unit.lines().any(|known| known == line);
    for line in
        ["NoNewPrivileges=yes", "ProtectSystem=strict", "ProtectProc=invisible", "CapabilityBoundingSet=", "UMask=0077"]
    {
        assert!(has(line), "{line}");
    }
    // bubblewrap makes its own namespaces, host name, /proc and control groups. With any of these settings it does not
    // start, or isolates less.
    for name in [
        "RestrictNamespaces",
        "PrivateUsers",
        "ProtectHostname",
        "ProtectKernelTunables",
        "ProtectKernelLogs",
        "ProcSubset",
        "ProtectControlGroups",
    ] {
        assert!(!unit.lines().any(|line| line.starts_with(&format!("{name}="))), "{name}");
    }
}

/// Returns the documents of the manifests.
fn manifests() -> Vec<Value> {
    let files = ["serve", "worker", "scaling", "network-policy"];
    let texts = files.map(|file| read(&format!("deploy/kubernetes/{file}.yml")));
    let documents = texts.iter().flat_map(|text| text.split("\n---\n"));
    documents.map(|text| serde_saphyr::from_str(text).unwrap()).collect()
}

/// Returns the document of this kind and name.
fn manifest(kind: &str, name: &str) -> Value {
    let found =
        manifests().into_iter().find(|document| document["kind"] == kind && document["metadata"]["name"] == name);
    found.unwrap_or_else(|| panic!("no {kind} {name}"))
}

#[test]
fn the_pods_run_commands_with_settings_that_there_are() {
    for name in ["autobuild", "autobuild-worker"] {
        let pod = &manifest("Deployment", name)["spec"]["template"]["spec"];
        let container = &pod["containers"][0];
        let args = container["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap());
        let help = Command::new(PRODUCT.program).args(args).arg("--help").output().unwrap();
        assert!(help.status.success(), "{name}: {help:?}");
        let mut grace = 30;
        for variable in container["env"].as_array().unwrap() {
            let full = variable["name"].as_str().unwrap();
            let known = full.strip_prefix(PREFIX).unwrap().trim_end_matches("_FILE");
            assert!(VARIABLES.iter().any(|variable| variable.name == known), "{full}");
            if known == "GRACE_SECONDS" {
                grace = variable["value"].as_str().unwrap().parse().unwrap();
            }
        }
        // After the agents' grace, the process itself needs up to 30 seconds.
        assert!(pod["terminationGracePeriodSeconds"].as_u64().unwrap() >= grace + 30, "{name}");
        let budget = manifest("PodDisruptionBudget", name);
        let pods = &manifest("Deployment", name)["spec"]["template"]["metadata"]["labels"];
        assert_eq!(&budget["spec"]["selector"]["matchLabels"], pods);
    }
}

#[tokio::test]
async fn workers_are_counted_by_a_query_that_the_database_answers() {
    let scaled = manifest("ScaledObject", "autobuild-worker");
    let trigger = &scaled["spec"]["triggers"][0]["metadata"];
    let worker = manifest("Deployment", "autobuild-worker");
    let variables = worker["spec"]["template"]["spec"]["containers"][0]["env"].as_array().unwrap().clone();
    let slots = variables.iter().find(|variable| variable["name"] == "AUTOBUILD_CONCURRENCY").unwrap();
    assert_eq!(trigger["targetQueryValue"], slots["value"]);
    let url = postgres::database().await;
    let store = Store::open(&url, OpenOptions::default()).await.unwrap();
    let mut effects = ["waits", "is not due"].map(agent_effect);
    effects[1].run_at = Millis(i64::MAX / 2);
    store.add_effects(&effects).await.unwrap();
    let mut database = sqlx::PgConnection::connect(&url).await.unwrap();
    let query = sqlx::AssertSqlSafe(trigger["query"].as_str().unwrap().to_owned());
    let count: i64 = sqlx::query_scalar(query).fetch_one(&mut database).await.unwrap();
    assert_eq!(count, 1);
}

fn agent_effect(id: &str) -> NewEffect {
    NewEffect {
        id: id.to_owned(),
        kind: "Kind".to_owned(),
        lane: Lane::Agent,
        subject: id.to_owned(),
        feature: None,
        feature_limit: None,
        ordered: Ordered::InOrder,
        waits: true,
        installation: InstallationId(1),
        repo: None,
        payload: "{}".to_owned(),
        priority: 0,
        run_at: Millis(0),
    }
}
