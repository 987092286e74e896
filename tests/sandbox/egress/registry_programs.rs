//! Real package managers through the door, which ends TLS, against a registry on loopback.
//!
//! They trust the run's authority only because of the variables that the door and the sandbox set.

use crate::{
    egress::{
        registries::{HOSTS, Registry, Shelf},
        world::{Level, World},
    },
    sandbox,
};
use domain::registries::GoModules;
use sandbox::{Exit, Finished, Spec, egress::Rules};
use sha2::{Digest, Sha256};
use std::{collections::BTreeMap, ffi::OsString, fs, path::Path, process::Command, sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

/// Makes the archives of one small package in a folder: `.crate`, `.tgz`, `.whl`, `.zip`. Prints the SHA-1 of the `.tgz`.
const PACKAGES: &str = r#"
import hashlib, io, os, sys, tarfile, zipfile
os.chdir(sys.argv[1])
def tar(name, files):
    with tarfile.open(name, "w:gz") as out:
        for path, text in files.items():
            info = tarfile.TarInfo(path)
            info.size = len(text)
            out.addfile(info, io.BytesIO(text.encode()))
def zipped(name, files):
    with zipfile.ZipFile(name, "w") as out:
        for path, text in files.items():
            out.writestr(path, text)
manifest = '[package]\nname = "leafy"\nversion = "1.2.3"\nedition = "2021"\n'
tar("leafy.crate", {"leafy-1.2.3/Cargo.toml": manifest, "leafy-1.2.3/src/lib.rs": "pub fn leaf() {}\n"})
tar("leafy.tgz", {"package/package.json": '{"name": "leafy", "version": "1.2.3"}', "package/index.js": "module.exports = 7"})
info = "leafy-1.2.3.dist-info/"
zipped("leafy.whl", {"leafy.py": "LEAF = 7\n", info + "METADATA": "Metadata-Version: 2.1\nName: leafy\nVersion: 1.2.3\n",
    info + "WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    info + "RECORD": "leafy.py,,\n" + "".join(f"{info}{name},,\n" for name in ["METADATA", "WHEEL", "RECORD"])})
zipped("leafy.zip", {"rsc.io/Leafy@v1.2.3/go.mod": "module rsc.io/Leafy\n", "rsc.io/Leafy@v1.2.3/leafy.go": "package leafy\n"})
print(hashlib.sha1(open("leafy.tgz", "rb").read()).hexdigest(), end="")
"#;

/// Requests an address through the proxy with Java's own client and the options in `MAVEN_OPTS`.
const JAVA: &str = r#"
import java.net.*;
public class Get {
    public static void main(String[] args) throws Exception {
        Authenticator.setDefault(new Authenticator() {
            protected PasswordAuthentication getPasswordAuthentication() {
                return new PasswordAuthentication(System.getProperty("https.proxyUser"),
                    System.getProperty("https.proxyPassword").toCharArray());
            }
        });
        System.out.print(new String(new URL(args[0]).openStream().readAllBytes()));
    }
}
"#;

/// A project of Maven, and the one on which it is based. Anything more needs dozens of plug-ins.
const CHILD: &str = "<project><modelVersion>4.0.0</modelVersion><artifactId>tree</artifactId><packaging>pom</packaging>\
    <parent><groupId>org.leafy</groupId><artifactId>leafy</artifactId><version>1.2.3</version></parent></project>";
const PARENT: &str = "<project><modelVersion>4.0.0</modelVersion><groupId>org.leafy</groupId>\
    <artifactId>leafy</artifactId><version>1.2.3</version><packaging>pom</packaging></project>";

/// Returns the files of the registry by path.
fn shelf(folder: &Path) -> Shelf {
    let made = Command::new("python3").args(["-c", PACKAGES]).arg(folder).output().unwrap();
    assert!(made.status.success());
    let sha1 = String::from_utf8(made.stdout).unwrap();
    let file = |name: &str| fs::read(folder.join(name)).unwrap();
    let text = |text: &str| text.as_bytes().to_vec();
    let sum: String = Sha256::digest(file("leafy.crate")).iter().map(|byte| format!("{byte:02x}")).collect();
    let index =
        format!(r#"{{"name":"leafy","vers":"1.2.3","deps":[],"cksum":"{sum}","features":{{}},"yanked":false}}"#);
    let npm = format!(
        r#"{{"name":"leafy","dist-tags":{{"latest":"1.2.3"}},"versions":{{"1.2.3":{{"name":"leafy","version":"1.2.3","dist":{{"shasum":"{sha1}","tarball":"https://registry.npmjs.org/leafy/-/leafy-1.2.3.tgz"}}}}}}}}"#
    );
    let pip = "<!DOCTYPE html><html><body><a href=\"https://files.pythonhosted.org/packages/aa/bb/leafy-1.2.3-py3-none-any.whl\">leafy-1.2.3-py3-none-any.whl</a></body></html>";
    let has: BTreeMap<&str, Vec<u8>> = [
        ("/config.json", text(r#"{"dl": "https://static.crates.io/crates"}"#)),
        ("/le/af/leafy", text(&index)),
        ("/crates/leafy/1.2.3/download", file("leafy.crate")),
        ("/leafy", text(&npm)),
        ("/leafy/-/leafy-1.2.3.tgz", file("leafy.tgz")),
        ("/simple/leafy/", text(pip)),
        ("/packages/aa/bb/leafy-1.2.3-py3-none-any.whl", file("leafy.whl")),
        ("/rsc.io/%21leafy/@v/v1.2.3.info", text(r#"{"Version":"v1.2.3","Time":"2026-01-02T03:04:05Z"}"#)),
        ("/rsc.io/%21leafy/@v/v1.2.3.mod", text("module rsc.io/Leafy\n")),
        ("/rsc.io/%21leafy/@v/v1.2.3.zip", file("leafy.zip")),
        ("/maven2/leafy.pom", text("<project>leafy</project>")),
        ("/maven2/org/leafy/leafy/1.2.3/leafy-1.2.3.pom", text(PARENT)),
    ]
    .into();
    Arc::new(move |path| has.get(path).cloned())
}

/// A registry, and a folder with a project that needs its package.
struct Stage {
    registry: Registry,
    folder: tempfile::TempDir,
}

impl Stage {
    async fn new() -> Self {
        let folder = support::folder::folder("autobuild-registries-");
        let packages = folder.path().join("packages");
        fs::create_dir(&packages).unwrap();
        let project = folder.path().join("project");
        fs::create_dir_all(project.join("src")).unwrap();
        for (path, text) in [
            ("src/lib.rs", ""),
            ("Cargo.toml", "[package]\nname = \"tree\"\n\n[dependencies]\nleafy = \"1\"\n"),
            ("package.json", r#"{"name":"tree","version":"1.0.0","dependencies":{"leafy":"^1.0.0"}}"#),
            ("go.mod", "module tree\n\ngo 1.18\n\nrequire rsc.io/Leafy v1.2.3\n"),
            ("Get.java", JAVA),
            ("pom.xml", CHILD),
        ] {
            fs::write(project.join(path), text).unwrap();
        }
        Self { registry: Registry::open(shelf(&packages)).await, folder }
    }

    /// Runs a line in the project, in the sandbox, with the registry behind the door.
    async fn run(&self, line: &str, level: Level) -> Finished {
        let rules =
            Rules { go_modules: GoModules::of_sums(["rsc.io/Leafy v1.2.3 h1:x="]), ..self.registry.rules(&HOSTS) };
        let world = World::open(rules).await;
        let private = self.folder.path().join("private");
        let mut spec = Spec::new("sh", self.folder.path().join("project")).args(["-c", line]);
        spec.env = sandbox::environment(&private, &[]).unwrap();
        // The machine's own Cargo settings may name a mirror.
        let _ = fs::remove_dir_all(private.join("home/.cargo"));
        spec.env.extend(world.door.environment(level, &private.join("home")));
        world.door.leave_settings(level, &private.join("home"));
        spec.env.push((OsString::from("GONOSUMDB"), "*".into()));
        spec.confine.write = vec![self.folder.path().to_path_buf()];
        spec.confine.door = Some(Arc::new(world.door));
        let cancel = CancellationToken::new();
        sandbox(level).run(&spec, &cancel).await.unwrap()
    }
}

/// The number of packages of an install, their size in bytes, and the number of measurements.
const MANY: usize = 40;
const SIZE: usize = 300_000;
const ROUNDS: usize = 7;

/// Returns many packages for npm, with archives at `host`.
fn many(host: &'static str, folder: &Path) -> Shelf {
    fs::write(folder.join("index.js"), "x".repeat(SIZE)).unwrap();
    let archive = format!("{}/a.tgz", folder.display());
    let script = "import os, sys, tarfile\nout = tarfile.open(sys.argv[1], 'w:gz')\nopen('package.json', 'w').write('{}')\n\
                  for name in ['index.js', 'package.json']: out.add(name, 'package/' + name)\nout.close()";
    let made = Command::new("python3").current_dir(folder).args(["-c", script, &archive]).status().unwrap();
    assert!(made.success());
    let archive = fs::read(archive).unwrap();
    Arc::new(move |path| {
        let name = path.trim_start_matches('/').split('/').next()?;
        let manifest = format!(
            r#"{{"name":"{name}","dist-tags":{{"latest":"1.0.0"}},"versions":{{"1.0.0":{{"name":"{name}","version":"1.0.0","dist":{{"tarball":"https://{host}/{name}/-/{name}-1.0.0.tgz"}}}}}}}}"#
        );
        Some(if path.contains("/-/") { archive.clone() } else { manifest.into_bytes() })
    })
}

/// Returns the time of one install from a registry under the name `host`.
async fn install_from(host: &'static str) -> Duration {
    let folder = support::folder::folder("autobuild-registries-");
    let stage = Stage { registry: Registry::open(many(host, folder.path())).await, folder };
    let project = stage.folder.path().join("project");
    fs::create_dir_all(&project).unwrap();
    let needed: Vec<String> = (0..MANY).map(|number| format!(r#""p{number}":"1.0.0""#)).collect();
    let manifest = format!(r#"{{"name":"tree","version":"1.0.0","dependencies":{{{}}}}}"#, needed.join(","));
    fs::write(project.join("package.json"), manifest).unwrap();
    let line = format!("npm install --silent --registry=https://{host}/");
    let finished = stage.run(&line, Level::L3).await;
    assert_eq!(finished.exit, Exit::Exited(0), "{}", finished.stderr.text());
    assert_eq!(stage.registry.requests().len(), 2 * MANY);
    finished.duration
}

#[tokio::test]
#[ignore = "it measures, and says what it found"]
async fn an_install_takes_as_long_as_through_a_tunnel() {
    if !is_here("npm") || !crate::is_offered(Level::L3).await {
        return;
    }
    let (mut read, mut tunnelled) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        read.push(install_from("registry.npmjs.org").await.as_secs_f64());
        tunnelled.push(install_from("mirror.test").await.as_secs_f64());
    }
    let median = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[ROUNDS / 2]
    };
    eprintln!("{read:?} {tunnelled:?}");
    let (read, tunnelled) = (median(&mut read), median(&mut tunnelled));
    eprintln!(
        "npm, {MANY} packages: {read:.2} s where TLS ends, {tunnelled:.2} s in a tunnel, {:.3} times",
        read / tunnelled
    );
}

fn is_here(program: &str) -> bool {
    let is_here = autobuild::gates::is_installed(program);
    if !is_here {
        eprintln!("{program} is not on this machine and was not tried");
    }
    is_here
}

/// Runs an install at every level of the machine, and asserts that the registry only got these requests, some of them
/// also as `HEAD`.
async fn installs(program: &str, line: &str, expected: &[&str]) {
    installs_at(&[Level::L1, Level::L3], program, line, expected).await;
}

async fn installs_at(levels: &[Level], program: &str, line: &str, expected: &[&str]) {
    if !is_here(program) {
        return;
    }
    for level in levels.iter().copied() {
        if !crate::is_offered(level).await {
            continue;
        }
        let stage = Stage::new().await;
        let finished = stage.run(line, level).await;
        let said = format!("{}{}", finished.stdout.text(), finished.stderr.text());
        assert_eq!(finished.exit, Exit::Exited(0), "{level} {program}: {said}");
        let mut asked: Vec<String> = stage.registry.requests().iter().map(|head| first_line(head)).collect();
        asked.sort();
        asked.dedup();
        assert_eq!(asked, expected, "{level} {program}: {said}");
    }
}

fn first_line(head: &str) -> String {
    let line = head.lines().next().unwrap_or_default();
    line.trim_end_matches(" HTTP/1.1").replacen("HEAD ", "GET ", 1)
}

#[tokio::test]
async fn cargo_installs() {
    let expected = ["GET /config.json", "GET /crates/leafy/1.2.3/download", "GET /le/af/leafy"];
    installs("cargo", "cargo build --quiet", &expected).await;
}

#[tokio::test]
async fn npm_installs_without_its_audit() {
    let expected = ["GET /leafy", "GET /leafy/-/leafy-1.2.3.tgz"];
    let line = "npm install --audit && node -e 'process.exit(require(\"leafy\") - 7)'";
    installs("npm", line, &expected).await;
}

#[tokio::test]
async fn pnpm_installs() {
    let line = "pnpm install --silent && node -e 'process.exit(require(\"leafy\") - 7)'";
    let expected = ["GET /leafy", "GET /leafy/-/leafy-1.2.3.tgz"];
    // Since version 12 it keeps locks in `/tmp` and ignores `TMPDIR`, and L1 has no `/tmp`.
    installs_at(&[Level::L3], "pnpm", line, &expected).await;
}

#[tokio::test]
async fn yarn_installs() {
    let line = "yarn install --silent && node -e 'process.exit(require(\"leafy\") - 7)'";
    installs("yarn", line, &["GET /leafy", "GET /leafy/-/leafy-1.2.3.tgz"]).await;
}

#[tokio::test]
async fn uv_installs() {
    let wheel = "GET /packages/aa/bb/leafy-1.2.3-py3-none-any.whl";
    let line = "uv pip install --quiet --target here leafy && PYTHONPATH=here python3 -c 'import leafy'";
    installs("uv", line, &[wheel, "GET /simple/leafy/"]).await;
}

#[tokio::test]
async fn pip_installs() {
    let expected = ["GET /packages/aa/bb/leafy-1.2.3-py3-none-any.whl", "GET /simple/leafy/"];
    // A shim of pyenv writes into its own folder after an install.
    let line = "$(python3 -c 'import sys; print(sys.executable)') -m pip install --quiet --target here leafy && \
                PYTHONPATH=here python3 -c 'import leafy'";
    installs("pip", line, &expected).await;
}

#[tokio::test]
async fn go_downloads_modules_that_are_named() {
    let paths = ["info", "mod", "zip"].map(|kind| format!("GET /rsc.io/%21leafy/@v/v1.2.3.{kind}"));
    installs("go", "go mod download -x", &paths.each_ref().map(String::as_str)).await;
}

#[tokio::test]
async fn java_reads_a_file() {
    let line =
        "java $MAVEN_OPTS Get.java https://repo.maven.apache.org/maven2/leafy.pom | grep '<project>leafy</project>'";
    installs("java", line, &["GET /maven2/leafy.pom"]).await;
}

#[tokio::test]
async fn maven_reads_what_a_project_is_based_on() {
    let parent = "GET /maven2/org/leafy/leafy/1.2.3/leafy-1.2.3.pom";
    let [md5, sha1] = ["md5", "sha1"].map(|sum| format!("{parent}.{sum}"));
    installs("mvn", "mvn --batch-mode validate", &[parent, &md5, &sha1]).await;
}
