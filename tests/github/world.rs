//! A wiremock server in the role of GitHub, and a client of it.

use autobuild::github::{App, Client, GithubUrls, Repo};
use aws_lc_rs::{
    encoding::{AsDer, Pkcs8V1Der},
    rsa::{KeyPair, KeySize},
    signature::KeyPair as _,
};
use base64::Engine;
use domain::ids::{AppId, InstallationId, IssueNumber, Millis, PullNumber, RepoId, Sha};
use secrecy::SecretString;
use serde_json::{Value, json};
use std::{cell::Cell, sync::LazyLock};
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{method, path},
};

pub const APP: AppId = AppId(7);
pub const INSTALLATION: InstallationId = InstallationId(11);
pub const REPO: RepoId = RepoId(22);
pub const ISSUE: IssueNumber = IssueNumber(42);
pub const PULL: PullNumber = PullNumber(7);
pub const BOT: u64 = 101;

/// 2026-01-15T10:30:00Z.
pub const START: Millis = Millis(1_768_473_000_000);

/// A token with the length and the dots of GitHub's tokens since 2026.
pub static TOKEN: LazyLock<String> =
    LazyLock::new(|| format!("ghs_7_{}.{}.{}", "a".repeat(100), "b".repeat(300), "c".repeat(112)));

static KEY: LazyLock<KeyPair> = LazyLock::new(|| KeyPair::generate(KeySize::Rsa2048).unwrap());

pub static PEM: LazyLock<String> = LazyLock::new(|| {
    let der = AsDer::<Pkcs8V1Der<'_>>::as_der(&*KEY).unwrap();
    let text = base64::engine::general_purpose::STANDARD.encode(der.as_ref());
    let lines: Vec<&str> = text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", lines.join("\n"))
});

/// Returns the public key as PKCS#1.
pub fn public_key() -> &'static [u8] {
    KEY.public_key().as_ref()
}

thread_local! {
    static NOW: Cell<Millis> = const { Cell::new(START) };
}

/// Each test has its own thread, and so its own clock.
pub fn now() -> Millis {
    NOW.get()
}

pub fn pass(ms: i64) {
    NOW.set(now().plus(ms));
}

pub fn sha() -> Sha {
    "0123456789abcdef0123456789abcdef01234567".parse().unwrap()
}

pub struct World {
    pub server: MockServer,
    pub client: Client,
}

impl World {
    /// Creates a GitHub at the root of a server.
    pub async fn new() -> Self {
        Self::below("").await
    }

    /// Creates a GitHub below a path, as an Enterprise Server.
    pub async fn below(base: &str) -> Self {
        crate::log::record();
        let server = MockServer::start().await;
        let urls = GithubUrls::new(&format!("{}{base}", server.uri()), &server.uri()).unwrap();
        let app = App::new(APP, &SecretString::from(PEM.as_str())).unwrap();
        let client = Client::new(&app, &urls, now).unwrap();
        Self { server, client }
    }

    /// Creates a GitHub with an installation, a repository and a bot user.
    pub async fn installed() -> Self {
        let world = Self::new().await;
        world.grants_tokens("").await;
        world.answers("GET", "/repositories/22", 200, repository("acme/shop")).await;
        world.answers("GET", "/app", 200, json!({"id": 7, "slug": "autobuild"})).await;
        let bot = json!({"id": BOT, "login": "autobuild[bot]", "type": "Bot"});
        world.answers("GET", "/users/autobuild%5Bbot%5D", 200, bot).await;
        world
    }

    pub fn repo(&self) -> Repo<'_> {
        self.client.repo(INSTALLATION, REPO)
    }

    pub async fn grants_tokens(&self, base: &str) {
        let mint = format!("{base}/app/installations/11/access_tokens");
        self.answers("POST", &mint, 201, token(&TOKEN)).await;
    }

    pub async fn answers(&self, verb: &str, at: &str, status: u16, body: Value) {
        self.replies(verb, at, ResponseTemplate::new(status).set_body_json(body)).await;
    }

    pub async fn replies(&self, verb: &str, at: &str, reply: ResponseTemplate) {
        Mock::given(method(verb)).and(path(at)).respond_with(reply).mount(&self.server).await;
    }

    /// Answers the first such request; later ones get the answers that are mounted afterwards.
    pub async fn answers_once(&self, verb: &str, at: &str, status: u16, body: Value) {
        Mock::given(method(verb))
            .and(path(at))
            .respond_with(ResponseTemplate::new(status).set_body_json(body))
            .up_to_n_times(1)
            .mount(&self.server)
            .await;
    }

    /// Returns the bodies of all requests to this path.
    pub async fn bodies_sent(&self, verb: &str, at: &str) -> Vec<Value> {
        let requests = self.server.received_requests().await.unwrap();
        requests
            .iter()
            .filter(|request| request.method.as_str() == verb && request.url.path() == at)
            .map(|request| serde_json::from_slice(&request.body).unwrap_or(Value::Null))
            .collect()
    }
}

pub fn token(text: &str) -> Value {
    json!({"token": text, "expires_at": "2026-01-15T11:30:00Z", "permissions": {}, "repository_selection": "selected"})
}

pub fn repository(name: &str) -> Value {
    json!({"id": 22, "full_name": name, "default_branch": "main", "private": false, "archived": false})
}

pub fn comment(id: u64, author: u64, body: &str) -> Value {
    json!({"id": id, "body": body, "user": {"id": author, "login": "somebody"}})
}

pub fn pull(number: u64, branch: &str, repo: u64) -> Value {
    json!({
        "number": number, "node_id": "PR_7", "state": "open", "draft": true, "title": "TASK-001",
        "head": {"ref": branch, "sha": sha(), "repo": {"id": repo}},
        "base": {"ref": "autobuild/42/integration", "sha": sha(), "repo": {"id": 22}},
    })
}
