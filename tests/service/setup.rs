//! The set-up through the program, against a forge: from a start without credentials to a Feature that is built.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::expect_used,
    clippy::too_many_lines,
    missing_docs,
    reason = "a test that cannot go on has failed"
)]

mod browser;

use crate::own::{AGENTS, ISSUE};
use browser::{Browser, Page};
use forge::{Fault, Forge, ForgeOptions, Mishap, NewApp, RepoSource, Role, Settings};
use secrecy::ExposeSecret;
use std::{
    os::unix::fs::PermissionsExt,
    path::PathBuf,
    process::Stdio,
    sync::{Arc, Mutex},
    time::Duration,
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

const WORKFLOW: &str = "on: push\njobs: {}\n";

/// A forge with an organisation, its owner, somebody else, and a repository.
struct World {
    forge: Forge,
    folder: TempDir,
}

impl World {
    async fn new() -> Self {
        let folder = support::folder::folder("autobuild-setup-");
        let forge = Forge::start(ForgeOptions::new(folder.path().join("forge"))).await.unwrap();
        forge.create_organization("acme");
        for login in ["ann", "eve"] {
            forge.create_user(login);
        }
        forge.make_owner("acme", "ann").unwrap();
        let files = [
            ("package.json", "{\"scripts\": {\"test\": \"node --test\"}}"),
            ("package-lock.json", "{}"),
            (".github/workflows/ci.yml", WORKFLOW),
        ];
        let bare = [("README.md", "# Other\n")];
        for (name, files) in [("acme/shop", &files[..]), ("acme/other", &bare)] {
            forge.create_repo(name, RepoSource::Files(files), Settings::default()).await.unwrap();
            forge.set_role(name, "ann", Role::Admin).unwrap();
        }
        std::fs::write(folder.path().join("agents.yml"), AGENTS).unwrap();
        Self { forge, folder }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.data().join(name)
    }

    fn command(&self, words: &[&str], listen: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_autobuild"));
        let agents = self.folder.path().join("agents.yml");
        command
            .args(words)
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .env_remove("BROWSER")
            .env("AUTOBUILD_DATA_DIR", self.data())
            .env("AUTOBUILD_LISTEN", listen)
            .env("AUTOBUILD_AGENT", format!("scripted:{}", agents.display()))
            .env("AUTOBUILD_SANDBOX_MIN_LEVEL", "0")
            .env("AUTOBUILD_WRITE_SPACING_MS", "0")
            .kill_on_drop(true);
        command
    }

    async fn serve(&self) -> Service {
        self.serve_at("127.0.0.1:0").await
    }

    /// `autobuild serve`, until it listens.
    async fn serve_at(&self, listen: &str) -> Service {
        Service::of(self.command(&["serve"], listen)).await
    }

    /// Returns a browser of the organisation's owner who opened the page and chose the organisation.
    async fn chosen(&self, service: &Service) -> (Browser, Page) {
        let mut browser = Browser::default();
        browser.sign_in(self.forge.url(), "ann").await;
        let page = browser.get(service.link.as_ref().unwrap()).await;
        let fields = [("organization", "acme"), ("address", service.address.as_str()), ("github", self.forge.url())];
        let page = browser.send(&page, "/setup/choice", &fields).await;
        (browser, page)
    }

    /// Registers an App with its button; returns the page to which GitHub sends the browser, on which the App is
    /// installed.
    async fn registers(&self, browser: &mut Browser, page: &Page, name: &str) -> Page {
        let asked = browser.press(page, &format!("Register {name} on GitHub"), &[]).await;
        assert!(asked.text.contains("Create GitHub App for acme"), "{}", asked.text);
        browser.press(&asked, "Create GitHub App for acme", &[]).await
    }
}

struct Service {
    child: Child,
    link: Option<String>,
    address: String,
    said: Arc<Mutex<String>>,
}

impl Service {
    async fn of(mut command: Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (said, mut link, mut address) = (Arc::new(Mutex::new(String::new())), None, None);
        while address.is_none() {
            let line = lines.next_line().await.unwrap().expect("it ended");
            said.lock().unwrap().push_str(&format!("{line}\n"));
            if let Some((_, found)) = line.split_once("GitHub: open ") {
                link = Some(found.trim().to_owned());
            }
            if let Some((_, found)) = line.split_once("listening on ") {
                address = Some(found.trim().to_owned());
            }
        }
        let heard = Arc::clone(&said);
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                heard.lock().unwrap().push_str(&format!("{line}\n"));
            }
        });
        Self { child, link, address: address.unwrap(), said }
    }

    fn at(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }

    fn log(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    async fn stop(self) {
        self.terminate();
        self.ends().await;
    }

    async fn ends(mut self) {
        assert!(self.child.wait().await.unwrap().success(), "{}", self.log());
    }

    fn terminate(&self) {
        let id = i32::try_from(self.child.id().unwrap()).unwrap();
        rustix::process::kill_process(rustix::process::Pid::from_raw(id).unwrap(), rustix::process::Signal::TERM)
            .unwrap();
    }
}

/// Waits for an event in another process.
pub async fn until<T>(mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let found = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), found).await.expect("nothing happened")
}

#[tokio::test(flavor = "multi_thread")]
async fn both_apps_are_registered_and_a_feature_is_built_without_another_step() {
    let world = World::new().await;
    let service = world.serve().await;
    let (mut browser, page) = world.chosen(&service).await;
    let install = world.registers(&mut browser, &page, "AutoBuild").await;
    assert!(install.text.contains("All repositories"), "GitHub is next: {}", install.text);
    let page = browser.press(&install, "Install", &[]).await;
    assert!(page.address.starts_with(&service.at("/setup")), "{}", page.address);
    assert!(page.text.contains("AutoBuild is installed on 2 repositories"), "{}", page.text);

    let install = world.registers(&mut browser, &page, "AutoBuild Coach").await;
    let page = browser.press(&install, "Install", &[]).await;
    assert!(page.text.contains("The Coach is installed."), "{}", page.text);
    let boxes = page.text.split("<input").filter(|tag| tag.contains("type=\"checkbox\""));
    let boxes: Vec<&str> = boxes.map(|tag| tag.split('>').next().unwrap()).collect();
    assert_eq!(boxes.len(), 2);
    assert!(!boxes.iter().any(|tag| tag.contains("checked")), "none is ticked beforehand");
    let page = until(async || {
        let page = browser.get(&service.at("/setup")).await;
        page.text.contains("GitHub reached").then_some(page)
    })
    .await;
    for secret in ["apps.json", "setup.json"] {
        let mode = std::fs::metadata(world.file(secret)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{secret}");
    }

    let shop = world.forge.repo_id("acme/shop").unwrap().to_string();
    let page = browser.press(&page, "Finish", &[("repository", &shop)]).await;
    assert!(page.text.contains("AutoBuild is set up"), "{}", page.text);
    assert_eq!(browser.get(&service.at("/setup")).await.status, 410);
    assert!(!world.file("setup.json").exists() && !world.file("setup-link.json").exists());
    let pull = browser.get(&format!("{}/acme/shop/pull/1", world.forge.url())).await;
    for said in ["settings", "npm ci", "ci.yml", "push"] {
        assert!(pull.text.contains(said), "{said}: {}", pull.text);
    }
    let other = browser.get(&format!("{}/acme/other/pull/1", world.forge.url())).await;
    assert_eq!(other.status, 404, "nothing is made where nobody ticked");

    let ann = world.forge.as_user("ann").unwrap();
    let issue = ann.open_issue("acme/other", "Notes", ISSUE, &[]).unwrap();
    ann.label("acme/other", issue, "autobuild").unwrap();
    let page = until(async || {
        let page = browser.get(&format!("{}/acme/other/pull/2", world.forge.url())).await;
        (page.status == 200).then_some(page)
    })
    .await;
    assert!(page.text.contains("autobuild"), "{}", page.text);
    assert!(world.forge.unknown_calls().is_empty(), "{:?}", world.forge.unknown_calls());
    let log = service.log();
    assert!(!log.contains("PRIVATE KEY") && !log.contains("panic"), "{log}");
    // Things that the person has not created yet are not logged as errors.
    for not_said in ["ERROR", "deliveries:", "Coach App", "installed nowhere"] {
        assert!(!log.contains(not_said), "{not_said}: {log}");
    }
    service.stop().await;
    // The next start needs nothing more.
    let service = world.serve().await;
    assert!(service.link.is_none());
    let ready = until(async || {
        let page = browser.get(&service.at("/readyz")).await;
        (page.status == 200).then_some(page)
    });
    assert!(ready.await.text.starts_with("ready"));
    assert_eq!(browser.get(&service.at("/setup")).await.status, 410);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_missing_is_added_after_the_set_up_on_the_same_page() {
    let world = World::new().await;
    let service = world.serve().await;
    let (mut browser, page) = world.chosen(&service).await;
    assert!(page.text.contains("This machine"), "{}", page.text);
    let install = world.registers(&mut browser, &page, "AutoBuild").await;
    browser.press(&install, "Install", &[]).await;
    let finish = async |browser: &mut Browser, service: &Service| {
        until(async || {
            let page = browser.get(&service.at("/setup")).await;
            let page = browser.press(&page, "Finish", &[]).await;
            page.text.contains("AutoBuild is set up").then_some(())
        })
        .await;
        let over = browser.get(&service.at("/setup")).await;
        assert_eq!(over.status, 410);
        assert!(over.text.contains("autobuild setup"), "{}", over.text);
    };
    finish(&mut browser, &service).await;
    let listen = service.address.strip_prefix("http://").unwrap().to_owned();
    service.stop().await;

    let service = world.serve_at(&listen).await;
    // Only a new link opens it again.
    let guessed = browser.get(&service.at("/setup?token=guess")).await;
    assert_eq!(guessed.status, 410);
    let again = world.command(&["setup"], &listen).output().await.unwrap();
    let said = String::from_utf8(again.stdout).unwrap();
    assert!(said.contains("AutoBuild is set up."), "{said}");
    let page = browser.get(said.lines().last().unwrap()).await;
    for there in ["Registered as", "<dd>acme</dd>", "installed on 2 repositories"] {
        assert!(page.text.contains(there), "{there}: {}", page.text);
    }
    let install = world.registers(&mut browser, &page, "AutoBuild Coach").await;
    let page = browser.press(&install, "Install", &[]).await;
    assert!(page.text.contains("The Coach is installed."), "{}", page.text);
    // A restart in between does not change that.
    service.stop().await;
    let service = world.serve_at(&listen).await;
    finish(&mut browser, &service).await;
    assert!(world.file("apps.json").exists());
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_missing_key_of_an_agent_is_told_before_any_app() {
    let world = World::new().await;
    let mut command = world.command(&["serve"], "127.0.0.1:0");
    command.env("AUTOBUILD_AGENT", "claude").env_remove("ANTHROPIC_API_KEY");
    let service = Service::of(command).await;
    let mut browser = Browser::default();
    browser.get(service.link.as_ref().unwrap()).await;
    let page = until(async || {
        let page = browser.get(&service.at("/setup")).await;
        (!page.text.contains("still looked at")).then_some(page)
    });
    let page = page.await;
    for said in ["agent claude", "broken", "Continue"] {
        assert!(page.text.contains(said), "{said}: {}", page.text);
    }
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_file_of_the_set_up_is_named_with_what_to_do() {
    let world = World::new().await;
    for (file, text) in [("apps.json", "{\"api\": 1"), ("setup.json", ""), ("apps.json", "{}")] {
        let _ = std::fs::remove_dir_all(world.data());
        std::fs::create_dir(world.data()).unwrap();
        std::fs::write(world.file(file), text).unwrap();
        let ended = world.command(&["serve"], "127.0.0.1:0").output().await.unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert!(!ended.status.success(), "{said}");
        let line = said.lines().last().unwrap();
        assert!(line.contains(file) && line.contains("is damaged") && line.contains("move it away"), "{said}");
    }
    // Every start makes a new link.
    let _ = std::fs::remove_dir_all(world.data());
    std::fs::create_dir(world.data()).unwrap();
    std::fs::write(world.file("setup-link.json"), "{").unwrap();
    let service = world.serve().await;
    assert_eq!(Browser::default().get(service.link.as_ref().unwrap()).await.status, 200);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_program_is_started_with_the_key_of_a_page() {
    let world = World::new().await;
    let service = world.serve().await;
    let folder = world.folder.path();
    let (home, script) = (folder.join("home"), folder.join("browser"));
    std::fs::create_dir(&home).unwrap();
    let does = format!(
        "#!/bin/sh\ncd {}\nfile=${{1#file://}}\nprintf '%s ' \"$@\" $(stat -c %a \"$file\" \"${{file%/*}}\") > args\n\
         cp \"$file\" page && mv args started\n",
        folder.display()
    );
    std::fs::write(&script, does).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o700)).unwrap();
    let listen = service.address.strip_prefix("http://").unwrap();
    let mut command = world.command(&["setup"], listen);
    command.env("BROWSER", &script).env("HOME", &home).stdout(Stdio::piped());
    let opening = command.spawn().unwrap();
    let started = until(async || std::fs::read_to_string(folder.join("started")).ok()).await;
    let link = service.link.clone().unwrap();
    let token = link.rsplit('=').next().unwrap();
    assert!(!started.contains(token) && started.ends_with(" 600 700 "), "{started}");
    let page = std::fs::read_to_string(folder.join("page")).unwrap();
    assert!(page.contains(&format!("url={link}\"")), "{page}");
    assert_eq!(Browser::default().get(&link).await.status, 200);
    let opened = opening.wait_with_output().await.unwrap();
    assert!(opened.status.success() && opened.stdout.ends_with(format!("{link}\n").as_bytes()));
    assert!(std::fs::read_dir(&home).unwrap().next().is_none(), "what led there is gone");
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_is_for_the_one_browser_that_showed_the_link() {
    let world = World::new().await;
    let service = world.serve().await;
    let mut stranger = Browser::default();
    for path in ["/setup", "/setup?token=", "/setup?token=guess", "/setup/registered?code=a&state=b"] {
        let page = stranger.get(&service.at(path)).await;
        assert_eq!(page.status, 403, "{path}");
        assert!(page.text.contains("autobuild setup"), "{}", page.text);
    }
    let mut own = Browser::default();
    let link = service.link.clone().unwrap();
    let opened = own.once("GET", &link, &[]).await;
    assert_eq!((opened.status, &opened.headers["location"]), (303, &"/setup".parse().unwrap()));
    assert_eq!(opened.headers["referrer-policy"], "strict-origin");
    let page = own.get(&service.at("/setup")).await;
    assert_eq!(page.status, 200);
    for (name, value) in [("cache-control", "no-store"), ("x-content-type-options", "nosniff")] {
        assert_eq!(page.headers[name], value);
    }
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("frame-ancestors 'none'") && policy.contains("default-src 'none'"), "{policy}");
    // The link is used up; `autobuild setup` makes another one.
    assert_eq!(stranger.get(&link).await.status, 403);
    let listen = service.address.strip_prefix("http://").unwrap().to_owned();
    let again = world.command(&["setup"], &listen).output().await.unwrap();
    let said = String::from_utf8(again.stdout).unwrap();
    let fresh = said.lines().last().unwrap();
    assert!(fresh.starts_with(&service.at("/setup?token=")), "{said}");
    assert_eq!(stranger.get(fresh).await.status, 200);
    // No other site can send the page's forms.
    for path in ["choice", "retry", "forget", "import", "prove", "finish", "stored"] {
        let sent = own.request("POST", &service.at(&format!("/setup/{path}")), &[("form", "guess")]).await;
        assert_eq!(sent.status, 403, "{path}");
    }
    assert!(!service.log().contains(fresh.rsplit('=').next().unwrap()));
    service.stop().await;
    let none = world.command(&["setup"], &listen).output().await.unwrap();
    assert!(!none.status.success());
    assert!(String::from_utf8(none.stderr).unwrap().contains("start `autobuild serve`"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_github_returns_counts_once_for_who_was_sent_and_for_the_app_that_was_meant() {
    let world = World::new().await;
    let service = world.serve().await;
    let (mut browser, page) = world.chosen(&service).await;
    let asked = browser.press(&page, "Register AutoBuild on GitHub", &[]).await;
    let made = browser.press_once(&asked, "Create GitHub App for acme").await;
    let back = made.headers["location"].to_str().unwrap().to_owned();
    let (_, code) = back.split_once("code=").unwrap();
    let (code, state) = code.split_once("&state=").unwrap();
    // No other browser may use it, nor may it be used with another state.
    assert_eq!(Browser::default().get(&back).await.status, 403);
    let forged = service.at(&format!("/setup/registered?code={code}&state=forged"));
    assert_eq!(browser.get(&forged).await.status, 400);
    let empty = service.at(&format!("/setup/registered?code=&state={state}"));
    assert_eq!(browser.get(&empty).await.status, 400);
    let page = browser.get(&back).await;
    assert!(page.text.contains("All repositories"), "{}", page.text);
    // To load the address again does no harm.
    let page = browser.get(&back).await;
    assert!(page.text.contains("Registered as"), "{}", page.text);

    // The code of an App that is neither of the two.
    let asked = browser.press(&page, "Register AutoBuild Coach on GitHub", &[]).await;
    let weak = asked.value("manifest").replace("\"pull_requests\":\"write\"", "\"pull_requests\":\"read\"");
    let page = browser.press(&asked, "Create GitHub App for acme", &[("manifest", &weak)]).await;
    assert!(page.text.contains("lacks the permissions pull_requests: write"), "{}", page.text);
    let page = browser.press(&page, "Register again (AutoBuild Coach)", &[]).await;
    assert!(page.text.contains("Register AutoBuild Coach on GitHub"), "{}", page.text);

    // The organisation has an owner; for others, there is no such page.
    let mut eve = Browser::default();
    eve.sign_in(world.forge.url(), "eve").await;
    let page = browser.get(&service.at("/setup")).await;
    let refused = eve.press(&page, "Register AutoBuild Coach on GitHub", &[]).await;
    assert_eq!(refused.status, 404);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_lost_between_github_and_the_disk_is_said() {
    let world = World::new().await;
    let service = world.serve().await;
    let (mut browser, page) = world.chosen(&service).await;
    let conversions = "/app-manifests/*/conversions";
    world.forge.order(Fault::on("POST", conversions, Mishap::fail(502)));
    let chosen = page;
    let page = world.registers(&mut browser, &chosen, "AutoBuild").await;
    assert!(page.text.contains("did not answer when it was asked"), "{}", page.text);
    // The code belongs to the choice; an older page cannot change it.
    let elsewhere = [("address", "http://127.0.0.1:1")];
    let refused = browser.send(&chosen, "/setup/choice", &elsewhere).await;
    assert!(refused.text.contains("Forget the App first"), "{}", refused.text);
    assert!(!refused.text.contains("http://127.0.0.1:1/"), "{}", refused.text);
    // GitHub obeys, and its answer is lost.
    world.forge.order(Fault::on("POST", conversions, Mishap::LoseReply));
    let page = browser.press(&page, "Try to fetch the key (AutoBuild)", &[]).await;
    assert!(page.text.contains("did not answer when it was asked"), "{}", page.text);
    let page = browser.press(&page, "Try to fetch the key (AutoBuild)", &[]).await;
    assert!(page.text.contains("its key is lost"), "{}", page.text);
    let apps = format!("{}/organizations/acme/settings/apps", world.forge.url());
    assert!(page.text.contains(&apps), "{}", page.text);
    let page = browser.press(&page, "I deleted it: register again (AutoBuild)", &[]).await;

    // The process is killed after GitHub sent the key and before the key is on disk.
    let order = world.forge.order(Fault::on("POST", conversions, Mishap::HoldReply));
    let asked = browser.press(&page, "Register AutoBuild on GitHub", &[]).await;
    let made = browser.press_once(&asked, "Create GitHub App for acme").await;
    let back = made.headers["location"].to_str().unwrap().to_owned();
    let mut other = browser.clone();
    let returning = tokio::spawn(async move { other.get(&back).await });
    until(async || (order.hits() > 0).then_some(())).await;
    let listen = service.address.strip_prefix("http://").unwrap().to_owned();
    service.kill().await;
    let _ = returning.await;
    let service = world.serve_at(&listen).await;
    let page = browser.get(&service.at("/setup")).await;
    assert!(page.text.contains("stopped before the App's key was here"), "{}", page.text);
    let page = browser.press(&page, "Try to fetch the key (AutoBuild)", &[]).await;
    assert!(page.text.contains("its key is lost"), "{}", page.text);
    let page = browser.press(&page, "I deleted it: register again (AutoBuild)", &[]).await;
    let install = world.registers(&mut browser, &page, "AutoBuild").await;
    assert!(install.text.contains("All repositories"), "{}", install.text);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_leaves_during_the_exchange_costs_no_key() {
    let world = World::new().await;
    let service = world.serve().await;
    let (mut browser, page) = world.chosen(&service).await;
    let conversions = "/app-manifests/*/conversions";
    let kept = async |which: &str| {
        until(async || {
            let text = std::fs::read(world.file("apps.json")).ok()?;
            let kept: serde_json::Value = serde_json::from_slice(&text).unwrap();
            kept[which]["private_key"].is_string().then_some(())
        })
        .await;
    };
    let order = world.forge.order(Fault::on("POST", conversions, Mishap::HoldReply));
    let asked = browser.press(&page, "Register AutoBuild on GitHub", &[]).await;
    let made = browser.press_once(&asked, "Create GitHub App for acme").await;
    let back = made.headers["location"].to_str().unwrap();
    browser.leave("GET", back, &[], order.struck()).await;
    order.release().await;
    kept("autobuild").await;

    world.forge.order(Fault::on("POST", conversions, Mishap::fail(502)));
    let page = browser.get(&service.at("/setup")).await;
    let page = world.registers(&mut browser, &page, "AutoBuild Coach").await;
    let order = world.forge.order(Fault::on("POST", conversions, Mishap::HoldReply));
    let fields = [("form", page.value("form")), ("which", "coach".to_owned())];
    let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
    browser.leave("POST", &service.at("/setup/retry"), &fields, order.struck()).await;
    order.release().await;
    kept("coach").await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_exchange_that_has_begun_is_finished_before_the_process_ends() {
    let world = World::new().await;
    let conversions = "/app-manifests/*/conversions";
    let service = world.serve().await;
    let (mut browser, mut page) = world.chosen(&service).await;
    let listen = service.address.strip_prefix("http://").unwrap().to_owned();
    let mut service = Some(service);
    // The first App without a service behind the page; then the other one with a service.
    for (name, key) in [("AutoBuild", "autobuild"), ("AutoBuild Coach", "coach")] {
        let order = world.forge.order(Fault::on("POST", conversions, Mishap::HoldReply));
        let asked = browser.press(&page, &format!("Register {name} on GitHub"), &[]).await;
        let made = browser.press_once(&asked, "Create GitHub App for acme").await;
        let back = made.headers["location"].to_str().unwrap();
        browser.leave("GET", back, &[], order.struck()).await;
        let told = service.take().unwrap();
        told.terminate();
        until(async || told.log().contains("an exchange with GitHub goes on").then_some(())).await;
        order.release().await;
        told.ends().await;
        let kept: serde_json::Value = serde_json::from_slice(&std::fs::read(world.file("apps.json")).unwrap()).unwrap();
        assert!(kept[key]["private_key"].is_string(), "{name}");
        let again = world.serve_at(&listen).await;
        page = browser.get(&again.at("/setup")).await;
        assert!(page.text.contains("Registered as"), "{}", page.text);
        service = Some(again);
    }
    service.unwrap().stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_holds_the_old_service_ends_nothing() {
    let world = World::new().await;
    let service = world.serve().await;
    let (mut browser, page) = world.chosen(&service).await;
    world.registers(&mut browser, &page, "AutoBuild").await;
    let ready = async |browser: &mut Browser| {
        until(async || {
            let page = browser.get(&service.at("/readyz")).await;
            page.text.starts_with("ready").then_some(())
        })
        .await;
    };
    ready(&mut browser).await;
    let _slow = browser.begins("POST", &service.at("/sign-in")).await;
    let page = browser.get(&service.at("/setup")).await;
    world.registers(&mut browser, &page, "AutoBuild Coach").await;
    until(async || service.log().contains("left behind").then_some(())).await;
    ready(&mut browser).await;
    let _slow = browser.begins("POST", &service.at("/sign-in")).await;
    let page = browser.get(&service.at("/setup")).await;
    browser.press(&page, "Forget it here (AutoBuild)", &[]).await;
    let log = until(async || Some(service.log()).filter(|log| log.contains("no App is set up yet"))).await;
    assert!(!log.contains("cannot start"), "{log}");
    assert_eq!(browser.get(&service.at("/setup")).await.status, 200);
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn registered_apps_are_imported_and_credentials_handed_out_until_they_are_stored() {
    let world = World::new().await;
    let service = world.serve().await;
    let (mut browser, page) = world.chosen(&service).await;
    let permissions = [
        ("checks", "write"),
        ("contents", "write"),
        ("issues", "write"),
        ("pull_requests", "write"),
        ("statuses", "read"),
    ];
    let hook = service.at("/webhook");
    let made = |slug, permissions| NewApp {
        slug,
        owner: "acme",
        permissions,
        events: &["issues"],
        hook: Some((&hook, "hush-hush")),
    };
    let weak = world.forge.create_app(&made("weak", &permissions[..2])).unwrap();
    let good = world.forge.create_app(&made("good", &permissions)).unwrap();
    world.forge.install("good", "acme", None).unwrap();
    for (id, key, said) in [
        ("x", "", "the App id is a number"),
        (&weak.id.to_string(), "no key", "not an RSA key"),
        (&good.id.to_string(), weak.private_key.expose_secret(), "does not accept our credentials"),
        (&weak.id.to_string(), weak.private_key.expose_secret(), "lacks the permissions"),
    ] {
        let fields = [("which", "autobuild"), ("id", id), ("key", key), ("secret", "hush-hush")];
        let page = browser.send(&page, "/setup/import", &fields).await;
        assert!(page.text.contains("The App was not imported") && page.text.contains(said), "{said}: {}", page.text);
        for typed in [format!("value=\"{id}\""), "value=\"hush-hush\"".to_owned(), key.trim().to_owned()] {
            assert!(page.text.contains(&typed), "{typed} is kept: {}", page.text);
        }
    }
    let (id, key) = (good.id.to_string(), good.private_key.expose_secret().to_owned());
    let fields = [("which", "autobuild"), ("id", &id), ("key", &key), ("secret", "hush-hush")];
    let page = browser.send(&page, "/setup/import", &fields).await;
    assert!(page.text.contains("Registered as"), "{}", page.text);
    let shown = async |browser: &mut Browser, page: &Page| {
        let page = until(async || {
            let page = browser.send(page, "/setup/finish", &[("keep", "show")]).await;
            page.text.contains("Store the credentials").then_some(page)
        })
        .await;
        for said in [format!("AUTOBUILD_APP_ID={id}"), "AUTOBUILD_WEBHOOK_SECRET=hush-hush".to_owned()] {
            assert!(page.text.contains(&said), "{said}: {}", page.text);
        }
        page
    };
    shown(&mut browser, &page).await;
    shown(&mut browser, &page).await;
    // Nobody confirmed yet that they arrived, so a crash loses nothing.
    let listen = service.address.strip_prefix("http://").unwrap().to_owned();
    assert!(!service.log().contains("hush-hush"), "{}", service.log());
    service.kill().await;
    let service = world.serve_at(&listen).await;
    let page = browser.get(&service.at("/setup")).await;
    let page = shown(&mut browser, &page).await;
    // Credentials that were not shown are not removed.
    let other = [("shown", "other")];
    let page = browser.press(&page, "I have stored them", &other).await;
    assert!(page.text.contains("Store the credentials"), "{}", page.text);
    assert!(world.file("apps.json").exists());
    let page = browser.press(&page, "I have stored them", &[]).await;
    assert!(page.text.contains("does GitHub reach AutoBuild?"), "{}", page.text);
    assert!(!world.file("apps.json").exists() && !world.file("setup.json").exists());
    assert_eq!(browser.get(&service.at("/setup")).await.status, 410);
    assert!(!service.log().contains("hush-hush"), "{}", service.log());
    service.stop().await;
}
