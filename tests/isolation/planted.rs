//! Files that are planted in a checkout from within the sandbox, and their effect on a git without precautions and on
//! ours.

use crate::{
    origin::{World, careless, git, request, write},
    stage::{Way, end, processes_with},
};
use domain::{problem::Forbidden, protected_paths::ProtectedPaths};
use git::{BranchName, Checkout, ForbiddenChange, ForgeAccess, Lease, Policy, Prepared, TakeOutLimits, TreeFinding};
use sandbox::{Exit, Sandbox, SandboxOptions, Spec};
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use text::secret::Secrets;
use tokio_util::sync::CancellationToken;

const PLANT: &str = include_str!("plant.sh");

/// Something to plant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plant {
    /// 28: everything that makes git run a program.
    Programs,
    /// 29: the objects of somebody else's repository.
    Alternates,
    /// 30: special files, links that lead out, nested repositories, files that grow, names that mean `.git`.
    OddFiles,
    /// 31: names of branches that are options or paths.
    Names,
    /// 32: remotes that are commands or files.
    Remotes,
}

/// A checkout with something planted in it.
struct Field {
    world: World,
    checkout: Checkout,
    marker: PathBuf,
    private: PathBuf,
    stolen: String,
    growing: String,
}

impl Drop for Field {
    fn drop(&mut self) {
        end(&self.growing);
    }
}

/// Plants it, and returns `true` if it had an effect: on a careless git without the sandbox, otherwise on ours.
pub async fn leads_anywhere(plant: Plant, way: Way) -> bool {
    let field = Field::new(way).await;
    match plant {
        Plant::Programs => {
            field.plant("programs", way).await;
            match way {
                Way::Without => drop(careless(field.checkout.path()).args(["add", "-A"]).output().unwrap()),
                Way::At(_) => drop(field.taken_to_the_forge().await),
            }
            field.marker.exists()
        }
        Plant::Alternates => field.alternates(way).await,
        Plant::OddFiles => field.odd_files(way).await | Field::new(way).await.rejected_files(way).await,
        Plant::Names => field.names(way).await,
        Plant::Remotes => field.remotes(way).await,
    }
}

impl Field {
    async fn new(way: Way) -> Self {
        let world = World::with(&[("a", "1")]).await;
        let private = world.folder().join("private");
        git(world.folder(), &["init", "-q", "-b", "main", "private"]);
        write(&private, "secret", b"private content");
        git(&private, &["add", "-A"]);
        git(&private, &["commit", "-q", "-m", "private"]);
        Self {
            stolen: git(&private, &["rev-parse", "HEAD"]),
            private,
            marker: world.folder().join("marker"),
            checkout: world.mirror.checkout(&world.main().await).await.unwrap(),
            growing: format!("growing-{}-{way:?}", std::process::id()),
            world,
        }
    }

    /// Runs the script that plants the files: as an ordinary child process, or in the sandbox.
    async fn plant(&self, what: &str, way: Way) {
        let address = self.world.remote.url().strip_suffix("/o/r.git").unwrap();
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let variables = [
            ("PATH", "/usr/bin:/bin".to_owned()),
            ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
            ("MARKER", text(&self.marker)),
            ("PRIVATE", text(&self.private)),
            ("STOLEN", self.stolen.clone()),
            ("ADDRESS", address.to_owned()),
            ("GROWING", self.growing.clone()),
        ];
        let args = ["-c", PLANT, "sh", what];
        match way {
            Way::Without => {
                let mut command = Command::new("sh");
                command.args(args).envs(variables).current_dir(self.checkout.path());
                assert!(command.stdin(Stdio::null()).status().unwrap().success(), "{what}");
            }
            Way::At(level) => {
                let mut spec = Spec::new("sh", self.checkout.path()).args(args);
                spec.env = variables.map(|(name, value)| (name.into(), value.into())).to_vec();
                spec.confine.write = vec![self.checkout.path().to_path_buf()];
                let options = SandboxOptions::with_launcher(env!("CARGO_BIN_EXE_autobuild"));
                let ran = Sandbox::at(options, level).run(&spec, &CancellationToken::new()).await;
                let ran = ran.unwrap();
                assert_eq!(ran.exit, Exit::Exited(0), "{what} at {level}: {}", ran.stderr.text());
            }
        }
    }

    /// Does everything that the service does with a turn's work.
    async fn taken_to_the_forge(&self) -> Prepared {
        let mirror = &self.world.mirror;
        let changes = self.checkout.take_out(&TakeOutLimits::default(), []).await.unwrap();
        assert!(!changes.rejected(), "{:?}", changes.findings);
        let asked = request(&[self.checkout.head()]);
        let prepared = mirror.commit_changes(&self.checkout, &changes, &asked).await;
        let prepared = prepared.unwrap().unwrap();
        policy().check(&prepared).await.unwrap();
        prepared.keep("k").await.unwrap();
        let branch: BranchName = "autobuild/1/x".parse().unwrap();
        let pushed = mirror.push(&self.world.remote, &branch, prepared.sha(), &Lease::Absent);
        pushed.await.unwrap();
        self.world.fetch().await;
        let (from, to) = (self.checkout.head(), prepared.sha());
        mirror.diff_text(from, to, 1 << 20).await.unwrap();
        mirror.hunks(from, to).await.unwrap();
        let coach = mirror.checkout(to).await.unwrap();
        assert_eq!(coach.changed_paths().await.unwrap(), []);
        let arrived = self.world.forge_tip(branch.as_str());
        assert_eq!(arrived, to.as_str(), "the work itself must arrive");
        prepared
    }

    async fn alternates(&self, way: Way) -> bool {
        self.plant("alternates", way).await;
        match way {
            Way::Without => {
                let own = self.world.folder().join("own");
                git(self.world.folder(), &["init", "-q", "--bare", "own"]);
                git(&own, &["fetch", "-q", self.checkout.path().to_str().unwrap(), "main:taken"]);
                git(&own, &["rev-parse", "taken"]) == self.stolen
            }
            Way::At(_) => {
                self.taken_to_the_forge().await;
                self.world.mirror.has_commit(&self.stolen.parse().unwrap()).await.unwrap()
            }
        }
    }

    async fn odd_files(&self, way: Way) -> bool {
        self.plant("odd", way).await;
        let here = self.checkout.path();
        let grows = !processes_with(&self.growing).is_empty();
        if way == Way::Without {
            git(here, &["add", "nested"]);
            let nested = git(here, &["ls-files", "--stage", "nested"]);
            let followed = fs::read_to_string(here.join("passwd")).unwrap();
            return grows && nested.starts_with("160000") && followed.contains("root:");
        }
        let changes = self.checkout.take_out(&TakeOutLimits::default(), []).await.unwrap();
        let is_special = |path: &str| {
            let special = TreeFinding::Special { path: path.into() };
            changes.findings.contains(&special)
        };
        let left_out = is_special("fifo") && (is_special("device") || !here.join("device").exists());
        let prepared = self.taken_to_the_forge().await;
        let escapes = ForbiddenChange::file("passwd", Forbidden::EscapingLink);
        let found = policy().check(&prepared).await.unwrap().contains(&escapes);
        let tree = self.world.tree(prepared.sha());
        let whole = ["100644 a", "100644 changing", "100644 nested/file", "120000 passwd", "100644 work"];
        grows || !left_out || !found || tree != whole
    }

    async fn rejected_files(&self, way: Way) -> bool {
        self.plant("rejected", way).await;
        let here = self.checkout.path();
        if way == Way::Without {
            // If names are not checked, the result is a tree that other systems check out as a `.git` folder.
            let inner = tree(here, "100644 blob", &git(here, &["hash-object", "-w", ".GIT/config"]), "config");
            let outer = tree(here, "040000 tree", &inner, ".GIT");
            return git(here, &["ls-tree", "-r", "--name-only", &outer]) == ".GIT/config";
        }
        let changes = self.checkout.take_out(&TakeOutLimits::default(), []).await.unwrap();
        let refused = TreeFinding::RefusedName { path: ".GIT/config".into() };
        let large = |finding: &TreeFinding| matches!(finding, TreeFinding::FileTooLarge { .. });
        !changes.rejected() || !changes.findings.contains(&refused) || !changes.findings.iter().any(large)
    }

    async fn names(&self, way: Way) -> bool {
        self.plant("names", way).await;
        let head = fs::read_to_string(self.checkout.path().join(".git/HEAD")).unwrap();
        let name = head.trim().strip_prefix("ref: refs/heads/").unwrap();
        if way == Way::Without {
            let forge = self.world.forge_repository();
            let mut fetch = careless(self.world.folder());
            fetch.args(["-C", "people", "fetch", "-q"]).arg(forge).arg(name);
            fetch.output().unwrap();
            return self.marker.exists();
        }
        self.taken_to_the_forge().await;
        let mut taken = self.marker.exists();
        for name in [name, "--upload-pack=x", "a..b", "refs/../x"] {
            taken |= name.parse::<BranchName>().is_ok();
            taken |= self.world.mirror.fetch(&self.world.remote, &[name]).await.is_ok();
        }
        taken || self.marker.exists()
    }

    async fn remotes(&self, way: Way) -> bool {
        self.plant("remotes", way).await;
        if way == Way::Without {
            let here = self.checkout.path();
            careless(here).args(["fetch", "-q", "origin"]).output().unwrap();
            git(here, &["fetch", "-q", "other"]);
            return self.marker.exists() && git(here, &["rev-parse", "other/main"]) == self.stolen;
        }
        self.taken_to_the_forge().await;
        let command = format!("ext::{}", self.checkout.path().join("trap.sh").display());
        let file = format!("file://{}", self.private.display());
        let accepted = [command, file].iter().any(|address| ForgeAccess::new(address).is_ok());
        let stolen = self.stolen.parse().unwrap();
        accepted || self.marker.exists() || self.world.mirror.has_commit(&stolen).await.unwrap()
    }
}

/// Makes a tree with one entry.
fn tree(repository: &Path, kind: &str, id: &str, name: &str) -> String {
    let mut command = careless(repository);
    command.arg("mktree").stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut running = command.spawn().unwrap();
    let line = format!("{kind} {id}\t{name}\n");
    running.stdin.take().unwrap().write_all(line.as_bytes()).unwrap();
    let output = running.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn policy() -> Policy {
    Policy::new(ProtectedPaths::new(&[]).unwrap(), Secrets::default())
}
