//! Signing in with GitHub, against the forge: the pages that each person sees, and the results of forged, foreign and
//! used sign-ins.

use crate::{
    doctor::PRODUCT,
    web::service::{Github, Service},
};
use autobuild::github::OAuthApp;
use domain::ids::Millis;
use forge::Role;
use secrecy::ExposeSecret;
use std::{
    collections::BTreeMap,
    fs::File,
    sync::atomic::{AtomicI64, Ordering},
};
use support::beside::{Beside, MONA, REPO};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use url::Url;

const EVE: &str = "eve";
const CALLBACK: &str = "/sign-in/github";

/// A browser that keeps cookies by host and follows no redirects.
#[derive(Clone, Default)]
pub struct Browser(pub BTreeMap<String, BTreeMap<String, String>>);

pub struct Answer {
    pub status: u16,
    pub location: String,
    pub text: String,
}

impl Browser {
    pub async fn get(&mut self, address: &str) -> Answer {
        self.ask("GET", address, None, "</html>").await
    }

    pub async fn post(&mut self, address: &str, form: &str) -> Answer {
        self.ask("POST", address, Some(form), "</html>").await
    }

    async fn ask(&mut self, method: &str, address: &str, form: Option<&str>, until: &str) -> Answer {
        let mut stream = self.open(method, address, form).await;
        let mut text = String::new();
        let mut piece = [0; 16_384];
        loop {
            let count = stream.read(&mut piece).await.unwrap();
            text.push_str(&String::from_utf8_lossy(&piece[..count]));
            if count == 0 || text.contains(until) {
                break;
            }
        }
        let head = text.split_once("\r\n\r\n").unwrap().0.to_owned();
        let cookies = self.0.entry(host(address)).or_default();
        for cookie in head.lines().filter_map(|line| line.strip_prefix("set-cookie: ")) {
            let (name, value) = cookie.split(';').next().unwrap().split_once('=').unwrap();
            cookies.insert(name.to_owned(), value.to_owned());
        }
        Answer {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            location: head.lines().find_map(|line| line.strip_prefix("location: ")).unwrap_or_default().to_owned(),
            text,
        }
    }

    pub async fn open(&self, method: &str, address: &str, form: Option<&str>) -> TcpStream {
        let url = Url::parse(address).unwrap();
        let path = &address[url.origin().ascii_serialization().len()..];
        let cookies: Vec<String> =
            self.0.get(&host(address)).into_iter().flatten().map(|(name, value)| format!("{name}={value}")).collect();
        let (kind, body) = match form {
            Some(form) => ("content-type: application/x-www-form-urlencoded\r\n", form),
            None => ("", ""),
        };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\ncookie: {}\r\n{kind}content-length: {}\r\nconnection: close\r\n\r\n{body}",
            host(address),
            cookies.join("; "),
            body.len()
        );
        let mut stream = TcpStream::connect(host(address)).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    }

    /// Begins to sign in; returns the page of GitHub to which this leads.
    async fn begins(&mut self, service: &str, to: &str) -> String {
        let begun = self.get(&format!("{service}{CALLBACK}{to}")).await;
        assert_eq!(begun.status, 303, "{}", begun.text);
        begun.location
    }

    /// Begins to sign in and answers on GitHub's page; returns the address to which GitHub sends the browser back.
    async fn comes_back(&mut self, service: &str, forge: &str, login: &str, answer: &str) -> String {
        let begun = self.begins(service, "").await;
        self.answers(&begun, forge, login, answer).await
    }

    /// Agrees on GitHub's page, or not; returns the address to which GitHub sends the browser back.
    async fn answers(&mut self, begun: &str, forge: &str, login: &str, answer: &str) -> String {
        self.post(&format!("{forge}/session"), &format!("login={login}&return_to=/")).await;
        let page = self.get(begun).await;
        assert!(page.text.contains("Authorize autobuild") && page.text.contains(login), "{}", page.text);
        let field = page.text.split_once("name=\"authenticity_token\" value=\"").unwrap().1;
        let token = field.split('"').next().unwrap();
        let form = format!("authenticity_token={token}&authorize={answer}");
        let back = self.post(begun, &form).await;
        assert_eq!(back.status, 302, "{}", back.text);
        back.location
    }

    async fn signs_in(&mut self, service: &str, forge: &str, login: &str) {
        let back = self.comes_back(service, forge, login, "1").await;
        let done = self.get(&back).await;
        assert_eq!((done.status, done.location.as_str()), (303, "/"), "{}", done.text);
    }
}

pub fn host(address: &str) -> String {
    let url = Url::parse(address).unwrap();
    format!("{}:{}", url.host_str().unwrap(), url.port().unwrap())
}

async fn beside() -> Beside {
    let beside =
        Beside::new(PRODUCT, support::folder::folder("autobuild-sign-in-"), &[("README.md", "# Tally\n")]).await;
    beside.forge.create_user(EVE);
    beside.forge.as_user(MONA).unwrap().make_private(REPO).unwrap();
    beside
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::too_many_lines, reason = "one story, told in order")]
async fn people_see_what_they_may_read_on_github_and_nothing_else() {
    let beside = beside().await;
    let service = format!("http://{}", beside.listen);
    let secret = beside.forge.let_sign_in("autobuild", &format!("{service}{CALLBACK}")).unwrap();
    let log = beside.folder.path().join("log");
    let mut process = beside.service("0", File::create(&log).unwrap());
    process
        .env("AUTOBUILD_AGENT", "command:false")
        .env("AUTOBUILD_ADMIN_TOKEN", "the-administrators-token")
        .env("AUTOBUILD_CLIENT_ID", &beside.apps[0].client_id)
        .env("AUTOBUILD_CLIENT_SECRET", secret.expose_secret());
    let _process = process.spawn().unwrap();
    let forge = beside.forge.url();
    let person = beside.forge.as_user(MONA).unwrap();
    let issue = person.open_issue(REPO, "Count", "Please", &[]).unwrap();
    person.label(REPO, issue, "autobuild").unwrap();
    while beside.forge.deliveries("autobuild").iter().any(|(.., arrived)| !arrived) {
        beside.forge.redeliver_failed().await;
    }

    let (mut mona, mut eve, mut operator) = (Browser::default(), Browser::default(), Browser::default());
    assert_eq!(operator.post(&format!("{service}/sign-in"), "token=the-administrators-token").await.status, 303);
    let feature = loop {
        let page = operator.get(&format!("{service}/")).await.text;
        if let Some((_, rest)) = page.split_once("href=\"/features/") {
            break format!("/features/{}", rest.split('"').next().unwrap());
        }
    };
    let offered = eve.get(&format!("{service}/sign-in")).await.text;
    assert!(offered.contains("Sign in with GitHub"), "{offered}");

    // A person who does not agree is not signed in, nor a person whose sign-in began in another browser.
    let denied = eve.comes_back(&service, forge, EVE, "0").await;
    let denied = eve.get(&denied).await;
    assert!(denied.status == 403 && denied.text.contains("You did not let GitHub tell"), "{}", denied.text);
    let begun = mona.begins(&service, "").await;
    let back = mona.answers(&begun, forge, MONA, "1").await;
    let before = mona.clone();
    let _began_too = eve.get(&format!("{service}{CALLBACK}")).await;
    let foreign = eve.get(&back).await;
    assert!(foreign.status == 400 && foreign.text.contains("did not begin in this browser"), "{}", foreign.text);
    assert_eq!(eve.get(&format!("{service}/")).await.status, 303);
    assert_eq!(mona.get(&back).await.status, 303);
    // A used sign-in is over, also with another code.
    let other_code = mona.answers(&begun, forge, MONA, "1").await;
    assert_ne!(other_code, back);
    for used in [&back, &other_code] {
        let again = before.clone().get(used).await;
        assert!(again.status == 403 && again.text.contains("was used before"), "{}", again.text);
    }
    let bent = before.clone().get(&format!("{back}0")).await;
    assert_eq!(bent.status, 400);

    eve.signs_in(&service, forge, EVE).await;
    for (to, lands) in [("?to=%2Fqueue", "/queue"), ("?to=https%3A%2F%2Fevil.example", "/")] {
        let begun = eve.begins(&service, to).await;
        let back = eve.answers(&begun, forge, EVE, "1").await;
        assert_eq!(eve.get(&back).await.location, lands);
    }
    assert!(mona.get(&format!("{service}/")).await.text.contains(&feature));
    assert_eq!(mona.get(&format!("{service}{feature}")).await.status, 200);
    let stream = mona.ask("GET", &format!("{service}{feature}/live"), None, "data: ").await;
    assert!(stream.text.contains("text/event-stream") && stream.text.contains("Count"), "{}", stream.text);
    let page = eve.get(&format!("{service}/")).await;
    assert!(page.status == 200 && !page.text.contains("/features/"), "{}", page.text);
    assert!(!page.text.contains("step at work") && !page.text.contains("/queue"), "{}", page.text);
    for path in ["", "/live", "/run?id=1"] {
        assert_eq!(eve.get(&format!("{service}{feature}{path}")).await.status, 404, "{path}");
    }
    for browser in [&mut mona, &mut eve] {
        for path in ["/queue", "/queue/live", "/spending", "/spending/live", "/doctor"] {
            assert_eq!(browser.get(&format!("{service}{path}")).await.status, 404, "{path}");
        }
        assert_eq!(browser.post(&format!("{service}/queue/try-again"), "token=x&id=1").await.status, 404);
    }

    // A modified cookie does not count.
    let mut own = eve.0[&host(&service)].iter();
    let (name, own) = own.find(|(name, _)| name.starts_with("autobuild_session")).unwrap();
    let (name, own) = (name.clone(), own.clone());
    for forged in [own.replace("-eve.", "-mona."), own.replace("-eve.", "."), own[1..].to_owned()] {
        let mut bent = eve.clone();
        let cookies = bent.0.get_mut(&host(&service)).unwrap();
        cookies.insert(name.clone(), forged.clone());
        assert_eq!(bent.get(&format!("{service}/")).await.location, "/sign-in", "{forged}");
    }
    // The service's secret is no longer the App's.
    beside.forge.revoke_client_secret("autobuild").unwrap();
    let back = eve.comes_back(&service, forge, EVE, "1").await;
    let refused = eve.get(&back).await;
    assert!(refused.status == 502 && refused.text.contains("Its log names the cause"), "{}", refused.text);
    let log = std::fs::read_to_string(log).unwrap();
    assert!(log.contains("incorrect_client_credentials") && !log.contains("ghu_"), "{log}");
}

static NOW: AtomicI64 = AtomicI64::new(0);

fn clock() -> Millis {
    Millis(NOW.load(Ordering::SeqCst))
}

#[tokio::test(flavor = "multi_thread")]
async fn who_loses_the_right_to_read_stops_seeing_within_minutes() {
    let beside = beside().await;
    let (app, forge) = (&beside.apps[0], beside.forge.url());
    let secret = beside.forge.let_sign_in("autobuild", "http://127.0.0.1:1/sign-in/github").unwrap();
    let service = Service::over(Github {
        api: beside.forge.api_url(),
        web: forge.to_owned(),
        app: app.id,
        private_key: app.private_key.clone(),
        clock,
        oauth: Some(OAuthApp { id: app.client_id.clone(), secret }),
    })
    .await;
    let address = format!("http://{}", service.address);
    beside.forge.let_sign_in("autobuild", &format!("{address}{CALLBACK}")).unwrap();
    let repo = beside.forge.repo_id(REPO).unwrap();
    let installation = beside.forge.installation_of("autobuild", "acme").unwrap();
    service.has_feature(installation, repo).await;
    beside.forge.set_role(REPO, EVE, Role::Read).unwrap();
    let mut eve = Browser::default();
    let feature = "issue #1 · ";
    eve.signs_in(&address, forge, EVE).await;
    assert!(eve.get(&format!("{address}/")).await.text.contains(feature));
    let mut stream = eve.open("GET", &format!("{address}/live"), None).await;
    let shown = read_until(&mut stream, "Nothing has ended yet.").await;
    assert!(shown.contains(feature) && !shown.contains("Nothing waits for you."), "{shown}");

    // With six more streams the limit is exceeded: the oldest one ends, and its page reconnects later.
    let mut oldest = stream;
    let mut more = Vec::new();
    for _ in 0..6 {
        let mut stream = eve.open("GET", &format!("{address}/live"), None).await;
        read_until(&mut stream, "Nothing has ended yet.").await;
        more.push(stream);
    }
    let told = read_until(&mut oldest, "retry: ").await;
    assert!(told.contains("retry: 15000"), "{told}");
    let mut stream = more.pop().unwrap();

    beside.forge.set_role(REPO, EVE, Role::None).unwrap();
    assert!(eve.get(&format!("{address}/")).await.text.contains(feature), "remembered");
    NOW.fetch_add(120_000, Ordering::SeqCst);
    assert!(!eve.get(&format!("{address}/")).await.text.contains(feature));
    let told = read_until(&mut stream, "Nothing has ended yet.").await;
    assert!(!told.contains(feature) && told.contains("Nothing waits for you."), "{told}");
    beside.forge.set_role(REPO, EVE, Role::Read).unwrap();
    NOW.fetch_add(120_000, Ordering::SeqCst);
    assert!(eve.get(&format!("{address}/")).await.text.contains(feature));
    NOW.fetch_add(12 * 3_600_000, Ordering::SeqCst);
    assert_eq!(eve.get(&format!("{address}/")).await.location, "/sign-in");
}

pub async fn read_until(stream: &mut TcpStream, wanted: &str) -> String {
    let mut text = String::new();
    let mut piece = [0; 16_384];
    while !text.contains(wanted) {
        let count = stream.read(&mut piece).await.unwrap();
        assert_ne!(count, 0, "{text}");
        text.push_str(&String::from_utf8_lossy(&piece[..count]));
    }
    text
}
