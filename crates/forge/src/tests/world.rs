//! A forge with one repository, three people and two Apps, and helpers for tests.

use crate::{AppCredentials, Clock, Forge, ForgeOptions, NewApp, RepoSource, Role, Settings, state::Token};
use octocrab::Octocrab;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use std::{
    path::Path,
    process::Output,
    sync::{Arc, Mutex},
};
use tokio::net::TcpListener;

pub(super) const REPO: &str = "acme/shop";

pub(super) const WORKER: &[(&str, &str)] = &[
    ("contents", "write"),
    ("issues", "write"),
    ("pull_requests", "write"),
    ("checks", "write"),
    ("statuses", "write"),
];
pub(super) const EVENTS: &[&str] =
    &["issues", "issue_comment", "pull_request", "pull_request_review", "push", "repository", "check_run"];

pub(super) struct World {
    pub(super) forge: Forge,
    pub(super) worker: AppCredentials,
    pub(super) coach: AppCredentials,
    pub(super) worker_at: u64,
    pub(super) coach_at: u64,
    pub(super) inbox: Inbox,
    pub(super) dir: tempfile::TempDir,
}

/// One request: headers and body.
pub(super) type Received = (http::HeaderMap, Vec<u8>);

/// The requests that a receiver of webhooks got.
#[derive(Clone, Default)]
pub(super) struct Inbox {
    pub(super) got: Arc<Mutex<Vec<Received>>>,
    pub(super) answers: Arc<Mutex<Vec<u16>>>,
}

impl Inbox {
    /// Returns `event.action` of everything received.
    pub(super) fn kinds(&self) -> Vec<String> {
        let got = self.got.lock().unwrap();
        let kind = |(headers, body): &Received| {
            let event = headers["x-github-event"].to_str().unwrap();
            let body: Value = serde_json::from_slice(body).unwrap();
            match body["action"].as_str() {
                Some(action) => format!("{event}.{action}"),
                None => event.to_owned(),
            }
        };
        got.iter().map(kind).collect()
    }

    pub(super) fn payload(&self, kind: &str) -> Value {
        let place = self.kinds().iter().position(|known| known == kind).expect(kind);
        serde_json::from_slice(&self.got.lock().unwrap()[place].1).unwrap()
    }
}

pub(super) async fn receiver(inbox: Inbox) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let router = axum::Router::new().fallback(move |headers: http::HeaderMap, body: bytes::Bytes| {
        let inbox = inbox.clone();
        async move {
            inbox.got.lock().unwrap().push((headers, body.to_vec()));
            let mut answers = inbox.answers.lock().unwrap();
            let code = if answers.is_empty() { 202 } else { answers.remove(0) };
            http::StatusCode::from_u16(code).unwrap()
        }
    });
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    url
}

impl World {
    pub(super) async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut options = ForgeOptions::new(dir.path().join("forge"));
        options.clock = Clock::Ticking("2026-01-15T10:00:00Z".parse().unwrap());
        options.seed = Some(7);
        let forge = Forge::start(options).await.unwrap();
        forge.create_organization("acme");
        for login in ["ann", "bob", "eve"] {
            forge.create_user(login);
        }
        let files = [("README.md", "# Shop\n"), ("src/lib.rs", "pub fn one() -> u8 {\n    1\n}\n")];
        forge.create_repo(REPO, RepoSource::Files(&files), Settings::default()).await.unwrap();
        forge.set_role(REPO, "ann", Role::Admin).unwrap();
        forge.set_role(REPO, "bob", Role::Write).unwrap();
        let inbox = Inbox::default();
        let url = receiver(inbox.clone()).await;
        let new = |slug, permissions, hook| NewApp { slug, owner: "acme", permissions, events: EVENTS, hook };
        let worker = forge.create_app(&new("worker", WORKER, Some((url.as_str(), "s3cret")))).unwrap();
        let coach = forge.create_app(&new("coach", &[("contents", "read"), ("pull_requests", "write")], None)).unwrap();
        let worker_at = forge.install("worker", "acme", None).unwrap();
        let coach_at = forge.install("coach", "acme", None).unwrap();
        Self { forge, worker, coach, worker_at, coach_at, inbox, dir }
    }

    /// Returns octocrab with an App's credentials.
    pub(super) fn app(&self, app: &AppCredentials) -> Octocrab {
        let key = jsonwebtoken::EncodingKey::from_rsa_pem(app.private_key.expose_secret().as_bytes()).unwrap();
        Octocrab::builder().base_uri(self.forge.api_url()).unwrap().app(app.id.into(), key).build().unwrap()
    }

    /// Returns octocrab with the working App's installation token.
    pub(super) fn crab(&self) -> Octocrab {
        self.app(&self.worker).installation(self.worker_at.into()).unwrap()
    }

    pub(super) fn coach_crab(&self) -> Octocrab {
        self.app(&self.coach).installation(self.coach_at.into()).unwrap()
    }

    /// Mints an installation token with these permissions.
    pub(super) async fn token(&self, permissions: Value) -> String {
        let path = format!("/app/installations/{}/access_tokens", self.worker_at);
        let answer: Value =
            self.app(&self.worker).post(path, Some(&json!({"permissions": permissions}))).await.unwrap();
        answer["token"].as_str().unwrap().to_owned()
    }

    pub(super) fn remote(&self, token: &str) -> String {
        self.forge.url().replace("http://", &format!("http://x-access-token:{token}@")) + "/acme/shop.git"
    }

    /// Sends a call with any token and body; returns status and JSON.
    pub(super) async fn raw(&self, method: &str, path: &str, token: Option<&str>, body: Value) -> (u16, Value) {
        use http_body_util::BodyExt;
        let client = hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new()).build_http();
        let mut request = http::Request::builder().method(method).uri(format!("{}{path}", self.forge.api_url()));
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let request = request.body(http_body_util::Full::new(bytes::Bytes::from(text))).unwrap();
        match client.request(request).await {
            Ok(answer) => {
                let status = answer.status().as_u16();
                let bytes = answer.into_body().collect().await.unwrap().to_bytes();
                (status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
            }
            Err(_) => (0, Value::Null),
        }
    }
}

/// Creates a token with which a person calls the API and git.
pub(super) fn user_token(forge: &Forge, login: &str) -> String {
    let user = forge.user_id(login).unwrap();
    let token = format!("ghp_{login}");
    forge.site.change(|state| state.tokens.insert(token.clone(), Token::Person(user)));
    token
}

/// Runs git as a person would, without the machine's configuration.
pub(super) async fn git(dir: &Path, args: &[&str]) -> Output {
    tokio::process::Command::new("git")
        .args(["-c", "user.name=Bob", "-c", "user.email=bob@example.com", "-c", "commit.gpgsign=false"])
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .output()
        .await
        .unwrap()
}

pub(super) async fn git_ok(dir: &Path, args: &[&str]) -> String {
    let done = git(dir, args).await;
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}
