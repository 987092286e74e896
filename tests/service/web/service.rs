//! The real router on a real socket over a real database. No worker runs, so stored deliveries stay unchanged.

use autobuild::{
    agents::Access,
    cli::{
        assemble,
        assemble::{Agents, Blueprint},
    },
    config::{AgentCommand, AppKey, ModelSettings, ProcessLimits},
    engine::settings::EngineSettings,
    github::{Caps, OAuthApp},
    web,
    web::{Inbox, Listener},
};
use aws_lc_rs::{
    encoding::{AsDer, Pkcs8V1Der},
    rsa::{KeyPair, KeySize},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use domain::{
    ids::{AppId, Millis},
    isolation::Level,
};
use hmac::{Hmac, Mac};
use sandbox::SandboxOptions;
use secrecy::SecretString;
use serde_json::json;
use sha2::Sha256;
use sqlx::{Connection, SqliteConnection};
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tempfile::TempDir;
use text::secret::Secrets;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

const SECRET: &str = "the present secret";
const PREVIOUS: &str = "the secret before";

/// The time limits for a body and for the store.
const PATIENCE: (Duration, Duration) = (web::BODY_PATIENCE, web::STORE_PATIENCE);

pub struct Service {
    pub address: SocketAddr,
    pub draining: CancellationToken,
    database: String,
    server: JoinHandle<()>,
    _folder: TempDir,
}

/// The GitHub of a service, and the App there.
pub struct Github {
    pub api: String,
    pub web: String,
    pub app: u64,
    pub private_key: SecretString,
    pub clock: fn() -> Millis,
    pub oauth: Option<OAuthApp>,
}

impl Github {
    /// Returns an address that nobody reaches.
    fn nowhere() -> Self {
        Self {
            api: "http://127.0.0.1:9".to_owned(),
            web: "http://127.0.0.1:9".to_owned(),
            app: 7,
            private_key: private_key(),
            clock: assemble::clock,
            oauth: None,
        }
    }
}

impl Service {
    pub async fn start() -> Self {
        Self::patient(web::HEADER_PATIENCE, web::BODY_PATIENCE).await
    }

    /// Starts a service with these time limits for slow headers and bodies.
    pub async fn patient(headers: Duration, body: Duration) -> Self {
        Self::with(|listener| listener.patience = headers, body).await
    }

    /// Starts a service without limits for slow senders, and with this many connections.
    pub async fn crowded(most: usize) -> Self {
        let long = Duration::from_secs(600);
        Self::with(|listener| (listener.patience, listener.most) = (long, most), long).await
    }

    /// Starts a service that waits for its database only this long.
    pub async fn hurried(store: Duration) -> Self {
        Self::build(|_| {}, (web::BODY_PATIENCE, store), (Github::nowhere(), None)).await
    }

    /// Starts a service with an App of this GitHub, and with its own clock.
    pub async fn over(github: Github) -> Self {
        Self::build(|_| {}, PATIENCE, (github, None)).await
    }

    /// Starts a service that shares a database of PostgreSQL with others.
    pub async fn on(database: &str) -> Self {
        let database = Some(database.to_owned());
        Self::build(|_| {}, PATIENCE, (Github::nowhere(), database)).await
    }

    async fn with(listening: impl FnOnce(&mut Listener), body: Duration) -> Self {
        Self::build(listening, (body, web::STORE_PATIENCE), (Github::nowhere(), None)).await
    }

    #[allow(clippy::too_many_lines, reason = "everything that a service is made of")]
    async fn build(
        listening: impl FnOnce(&mut Listener),
        (body, store): (Duration, Duration),
        (github, database): (Github, Option<String>),
    ) -> Self {
        let folder = support::folder::folder("autobuild-service-");
        let own = format!("sqlite:{}", folder.path().join("autobuild.db").display());
        let database = database.unwrap_or(own);
        let agent: AgentCommand = "command:true".parse().unwrap();
        let settings = EngineSettings::service(assemble::worker_name(), folder.path().to_owned(), github.clock);
        let engine = assemble::engine(Blueprint {
            app: AppKey { id: AppId(github.app), private_key: github.private_key },
            coach: None,
            api_url: github.api,
            web_url: github.web,
            database_url: SecretString::from(database.clone()),
            connections: ProcessLimits::default().connections,
            data_dir: folder.path().to_owned(),
            agents: Agents::all(agent, Access::service(ModelSettings::default())),
            secrets: Secrets::default(),
            settings,
            caps: Caps::Github,
            sandbox: SandboxOptions::with_launcher(env!("CARGO_BIN_EXE_autobuild")),
            isolation: Level::L0.or_more(),
        })
        .await
        .unwrap();
        let mut listener = Listener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
        listening(&mut listener);
        let address = listener.address().unwrap();
        let draining = CancellationToken::new();
        let secrets = [SECRET, PREVIOUS].map(SecretString::from).to_vec();
        let mut inbox = Inbox::new(engine, secrets, draining.clone())
            .with_admin(SecretString::from("the administrator's"), &SecretString::from("own"));
        (inbox.patience, inbox.store_patience, inbox.oauth) = (body, store, github.oauth);
        let router = web::router(Arc::new(inbox));
        let server = tokio::spawn(web::serve(listener, router, CancellationToken::new()));
        Self { address, draining, database, server, _folder: folder }
    }

    pub async fn connect(&self) -> Connected {
        Connected(TcpStream::connect(self.address).await.unwrap())
    }

    /// Sends a request on its own connection; returns the status of the answer.
    pub async fn answers(&self, request: &Request) -> u16 {
        let mut connected = self.connect().await;
        connected.send(&request.bytes()).await;
        connected.answer().await.unwrap().0
    }

    /// Returns the first column of the first row.
    pub async fn count(&self, sql: &'static str) -> i64 {
        let mut connection = self.database().await;
        sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap()
    }

    /// Changes the database as only an operator can.
    pub async fn tamper(&self, sql: &'static str) {
        let mut connection = self.database().await;
        sqlx::query(sql).execute(&mut connection).await.unwrap();
    }

    /// Stores a Feature that this version cannot read.
    pub async fn has_feature(&self, installation: u64, repo: u64) {
        let sql = "INSERT INTO feature (id, installation_id, repo_id, issue_number, run, state, version, data) \
                   VALUES ($1, $2, $3, 1, 1, 'building', 1, '{}')";
        let query = sqlx::query(sql).bind(format!("{repo}/1/1"));
        let query = query.bind(i64::try_from(installation).unwrap()).bind(i64::try_from(repo).unwrap());
        query.execute(&mut self.database().await).await.unwrap();
    }

    pub async fn database(&self) -> SqliteConnection {
        SqliteConnection::connect(&self.database).await.unwrap()
    }

    /// Counts the stored deliveries, and the effects that will read them.
    pub async fn stored(&self) -> (i64, i64) {
        (self.count("SELECT count(*) FROM delivery").await, self.count("SELECT count(*) FROM effect").await)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn private_key() -> SecretString {
    let pair = KeyPair::generate(KeySize::Rsa2048).unwrap();
    let der: Pkcs8V1Der<'_> = pair.as_der().unwrap();
    let text = BASE64_STANDARD.encode(der.as_ref());
    let lines: Vec<&str> = text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    SecretString::from(format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", lines.join("\n")))
}

/// A raw connection.
pub struct Connected(TcpStream);

impl Connected {
    /// Sends bytes, if the other side still reads.
    pub async fn send(&mut self, bytes: &[u8]) {
        let _cut_off = self.0.write_all(bytes).await;
    }

    /// Returns status and body of the next answer; `None` if the connection is closed without one.
    pub async fn answer(&mut self) -> Option<(u16, String)> {
        let (head, body) = self.whole_answer().await?;
        Some((head.split(' ').nth(1).unwrap().parse().unwrap(), body))
    }

    /// Returns everything up to this text.
    pub async fn until(&mut self, awaited: &str) -> String {
        let mut read = Vec::new();
        loop {
            let mut piece = [0; 4_096];
            let count = self.0.read(&mut piece).await.unwrap();
            read.extend_from_slice(&piece[..count]);
            let text = String::from_utf8_lossy(&read);
            assert!(count > 0 || text.contains(awaited), "{text}");
            if text.contains(awaited) {
                return text.into_owned();
            }
        }
    }

    /// Returns head and body of the next answer.
    pub async fn whole_answer(&mut self) -> Option<(String, String)> {
        let mut read = Vec::new();
        loop {
            let mut piece = [0; 4_096];
            match self.0.read(&mut piece).await {
                Ok(0) | Err(_) => return None,
                Ok(count) => read.extend_from_slice(&piece[..count]),
            }
            let text = String::from_utf8_lossy(&read);
            let Some((head, body)) = text.split_once("\r\n\r\n") else {
                continue;
            };
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))
                .map_or(0, |length| length.parse().unwrap());
            if body.len() >= length {
                return Some((head.to_owned(), body.to_owned()));
            }
        }
    }
}

/// A delivery as GitHub sends it, which tests then modify.
#[derive(Clone)]
pub struct Request {
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Request {
    pub fn new(event: &str, id: &str, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        let headers = vec![
            ("content-type", "application/json".to_owned()),
            ("x-github-event", event.to_owned()),
            ("x-github-delivery", id.to_owned()),
            ("x-hub-signature-256", signature(SECRET, &body)),
        ];
        Self { headers, body }
    }

    /// Returns the delivery of a label on an issue.
    pub fn label(id: &str) -> Self {
        let person = json!({"id": 33, "login": "ada", "type": "User"});
        let payload = json!({
            "action": "labeled",
            "installation": {"id": 11},
            "repository": {
                "id": 22, "full_name": "acme/shop", "default_branch": "main", "private": true, "archived": false,
                "owner": {"id": 5, "login": "acme", "type": "Organization"},
            },
            "sender": person,
            "issue": {
                "number": 42, "id": 4200, "title": "Sign-in", "body": "Please", "state": "open", "user": person,
                "labels": [{"name": "autobuild"}], "updated_at": "2026-01-15T10:30:00Z", "closed_at": null,
            },
            "label": {"name": "autobuild"},
        });
        Self::new("issues", id, payload.to_string())
    }

    /// Adds white space, which means nothing, up to this size.
    pub fn padded(mut self, bytes: usize) -> Self {
        self.body.resize(self.body.len().max(bytes), b' ');
        let signature = signature(SECRET, &self.body);
        self.with("x-hub-signature-256", Some(&signature))
    }

    /// Removes a header, or sets its value.
    pub fn with(mut self, name: &'static str, value: Option<&str>) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        self.headers.extend(value.map(|value| (name, value.to_owned())));
        self
    }

    pub fn signed_before(self) -> Self {
        let signature = signature(PREVIOUS, &self.body);
        self.with("x-hub-signature-256", Some(&signature))
    }

    /// Returns the request line and the headers, without a length.
    pub fn head(&self) -> String {
        let headers = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
        format!("POST /webhook HTTP/1.1\r\nhost: autobuild\r\n{}", headers.collect::<String>())
    }

    pub fn bytes(&self) -> Vec<u8> {
        let head = format!("{}content-length: {}\r\n\r\n", self.head(), self.body.len());
        [head.as_bytes(), &self.body].concat()
    }
}

fn signature(secret: &str, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(body);
    let digest = mac.finalize().into_bytes();
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}
