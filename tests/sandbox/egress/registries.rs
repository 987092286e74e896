//! Registries behind the door, which ends TLS to them: the data that a hostile program can send through it.

use crate::egress::world::{Reply, World, read_head, rules, server};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use sandbox::egress::{Outcome, Refusal, Rules};
use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::{
    TlsAcceptor, TlsConnector,
    client::TlsStream,
    rustls::{
        ClientConfig, RootCertStore, ServerConfig,
        crypto::aws_lc_rs,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    },
};
use uplink::{Authorities, Uplink};

/// The host names of the registry on loopback. The last one is a mirror that the settings name.
pub const HOSTS: [&str; 13] = [
    "github.com",
    "release-assets.githubusercontent.com",
    "services.gradle.org",
    "index.crates.io",
    "static.crates.io",
    "registry.npmjs.org",
    "registry.yarnpkg.com",
    "pypi.org",
    "files.pythonhosted.org",
    "proxy.golang.org",
    "sum.golang.org",
    "repo.maven.apache.org",
    "mirror.test",
];

/// A registry's answer to a path: a body, or `None` if there is nothing. A body such as `-> /leafy` is a redirect.
pub type Shelf = Arc<dyn Fn(&str) -> Option<Vec<u8>> + Send + Sync>;

/// The registry has nothing newer than the answer with this tag.
const KEPT: &str = "\"of-an-answer-that-the-program-has-already\"";

/// After a path with this end the registry closes the connection, and says nothing about that.
const LAST: &str = "/last.tgz";
/// It closes the connection in the middle of the body.
const CUT: &str = "/cut.tgz";

/// A registry on loopback with its authority, and all bytes of the requests that it got.
pub struct Registry {
    pub address: SocketAddr,
    authority: String,
    got: Arc<Mutex<Vec<String>>>,
}

impl Registry {
    pub async fn open(shelf: Shelf) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // A certificate with its issuer's name would look self-signed.
        params.distinguished_name.push(DnType::CommonName, "an organisation");
        let (key, own_key) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
        let authority = params.self_signed(&key).unwrap().der().clone();
        let hosts = HOSTS.map(str::to_owned).to_vec();
        let issuer = Issuer::new(params, key);
        let own = CertificateParams::new(hosts).unwrap().signed_by(&own_key, &issuer).unwrap();
        let own_key = PrivateKeyDer::Pkcs8(own_key.serialize_der().into());
        let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![own.der().clone()], own_key)
            .unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let got = Arc::default();
        let (acceptor, kept) = (TlsAcceptor::from(Arc::new(config)), Arc::clone(&got));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(acceptor.clone(), stream, Arc::clone(&shelf), Arc::clone(&kept)));
            }
        });
        let authority = uplink::pem([&authority]);
        Self { address, authority, got }
    }

    /// Returns rules that lead to it under the names of these hosts.
    pub fn rules(&self, allowed: &[&str]) -> Rules {
        let authorities = Authorities::from_pem(&self.authority).unwrap();
        Rules {
            uplink: Uplink::new(None, Some(authorities)),
            ..rules(allowed, &HOSTS.map(|host| (host, self.address)))
        }
    }

    pub fn requests(&self) -> Vec<String> {
        self.got.lock().unwrap().clone()
    }
}

async fn serve(acceptor: TlsAcceptor, stream: TcpStream, shelf: Shelf, got: Arc<Mutex<Vec<String>>>) {
    let Ok(mut stream) = acceptor.accept(stream).await else {
        return;
    };
    while let Some(head) = read_head(&mut stream).await {
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let is_head = head.starts_with("HEAD ");
        let is_kept = head.contains(KEPT);
        got.lock().unwrap().push(head);
        let body = if is_kept { Some(Vec::new()) } else { shelf(&path) };
        let to = body.as_ref().and_then(|body| String::from_utf8_lossy(body).strip_prefix("-> ").map(str::to_owned));
        let status = match (&body, to) {
            _ if is_kept => format!("304 Not Modified\r\netag: {KEPT}"),
            (_, Some(to)) => format!("302 Found\r\nlocation: {to}"),
            (Some(_), None) => "200 OK".to_owned(),
            (None, None) => "404 Not Found".to_owned(),
        };
        let body = body.unwrap_or_default();
        let kind = match body.first() {
            Some(b'<') => "text/html",
            Some(b'{') => "application/json",
            _ => "application/octet-stream",
        };
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nx-kept: as it is\r\ncontent-length: {length}\r\n\r\n"
        );
        let body = if is_head { &[][..] } else { &body };
        let is_last = path.ends_with(LAST);
        let sent = if path.ends_with(CUT) { &body[..body.len() / 2] } else { body };
        let answered = stream.write_all(&[head.as_bytes(), sent].concat()).await;
        if answered.is_err() || stream.flush().await.is_err() || is_last || sent.len() < body.len() {
            return;
        }
    }
}

/// Returns the settings of a client that trusts the same certificates as programs of the run.
fn trusting(world: &World) -> Arc<ClientConfig> {
    let [file, _] = world.door.certificates().unwrap();
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(CertificateDer::pem_file_iter(file).unwrap().map(Result::unwrap));
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap();
    Arc::new(config.with_root_certificates(store).with_no_client_auth())
}

async fn connected(world: &World, host: &str) -> TlsStream<TcpStream> {
    let (stream, reply) = world.unnamed_tunnel(&format!("{host}:443")).await;
    assert_eq!(reply.status, 200, "{host}");
    let name = host.to_owned().try_into().unwrap();
    TlsConnector::from(trusting(world)).connect(name, stream).await.unwrap()
}

/// Sends a request over a new connection; returns everything that is answered.
async fn said(world: &World, host: &str, request: &str) -> String {
    let mut stream = connected(world, host).await;
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut all = Vec::new();
    let _ = stream.read_to_end(&mut all).await;
    String::from_utf8_lossy(&all).into_owned()
}

fn get(path: &str, host: &str, more: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n")
}

fn leafy() -> Shelf {
    Arc::new(|path| (path == "/leafy" || path == "/upload").then(|| b"{\"name\": \"leafy\"}".to_vec()))
}

const NPM: &str = "registry.npmjs.org";

#[tokio::test]
async fn a_package_is_read_and_its_answer_passes_unchanged() {
    let registry = Registry::open(leafy()).await;
    let world = World::open(registry.rules(&[NPM])).await;
    let more = "Accept: application/json\r\nAuthorization: Bearer secret\r\nUser-Agent: secret\r\nCookie: secret\r\n\
                X-Secret: secret\r\nIf-None-Match: \"1\"\r\n";
    let answer = said(&world, NPM, &get("/leafy", NPM, more)).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("{\"name\": \"leafy\"}"), "{answer}");
    assert!(answer.contains("x-kept: as it is"), "{answer}");
    let head = said(&world, NPM, &get("/leafy", NPM, "").replacen("GET", "HEAD", 1)).await;
    assert!(head.contains("content-length: 17") && !head.contains("leafy"), "{head}");
    let got = registry.requests();
    let expected = "GET /leafy HTTP/1.1\r\naccept: application/json\r\nif-none-match: \"1\"\r\nhost: registry.npmjs.org\r\n\
                    user-agent: AutoBuild\r\n\r\n";
    assert_eq!(got[0], expected);
    assert_eq!(got.len(), 2);
}

#[tokio::test]
async fn several_requests_share_a_connection() {
    let registry = Registry::open(leafy()).await;
    let world = World::open(registry.rules(&[NPM])).await;
    let mut stream = connected(&world, NPM).await;
    for path in ["/leafy", "/nothing", "/leafy"] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {NPM}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let reply = Reply::read(&mut stream).await;
        assert_eq!(reply.status, if path == "/leafy" { 200 } else { 404 });
    }
    assert_eq!(registry.requests().len(), 3);
}

#[tokio::test]
async fn a_connection_that_the_registry_closed_is_opened_again() {
    let shelf: Shelf = Arc::new(|_| Some(b"a file".to_vec()));
    let registry = Registry::open(shelf).await;
    let (is_first, address) = (AtomicBool::new(true), registry.address);
    let closes_the_first = server(move |mut stream| {
        let is_first = is_first.swap(false, Ordering::Relaxed);
        async move {
            if !is_first {
                let mut onward = TcpStream::connect(address).await.unwrap();
                let _ = copy_bidirectional(&mut stream, &mut onward).await;
            }
        }
    });
    let mut rules = registry.rules(&[NPM]);
    rules.pinned.insert(NPM.parse().unwrap(), closes_the_first.await);
    let world = World::open(rules).await;
    let mut stream = connected(&world, NPM).await;
    for path in ["/leafy", &format!("/leafy/-{LAST}"), "/leafy"] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {NPM}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let reply = Reply::read(&mut stream).await;
        assert_eq!((reply.status, reply.body.as_str()), (200, "a file"), "{path}");
    }
    assert_eq!(registry.requests().len(), 3);
}

#[tokio::test]
async fn a_file_that_the_registry_cuts_off_does_not_look_whole() {
    let shelf: Shelf = Arc::new(|_| Some(b"a whole file".to_vec()));
    let registry = Registry::open(shelf).await;
    let world = World::open(registry.rules(&[NPM])).await;
    let answer = said(&world, NPM, &get(&format!("/leafy/-{CUT}"), NPM, "")).await;
    assert!(answer.contains("content-length: 12") && answer.ends_with("\r\n\r\na whol"), "{answer}");
}

#[tokio::test]
async fn nothing_but_reading_packages_reaches_a_registry() {
    let registry = Registry::open(leafy()).await;
    let world = World::open(registry.rules(&[NPM, "proxy.golang.org", "mirror.test"])).await;
    let body = "Content-Length: 6\r\nConnection: close\r\n\r\nsecret";
    let long = format!("/{}", "a".repeat(600));
    let requests = [
        format!("POST /upload HTTP/1.1\r\nHost: {NPM}\r\n{body}"),
        format!("PUT /upload HTTP/1.1\r\nHost: {NPM}\r\n{body}"),
        format!("DELETE /leafy HTTP/1.1\r\nHost: {NPM}\r\nConnection: close\r\n\r\n"),
        format!("GET /leafy HTTP/1.1\r\nHost: {NPM}\r\n{body}"),
        format!(
            "GET /leafy HTTP/1.1\r\nHost: {NPM}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n6\r\nsecret\r\n0\r\n\r\n"
        ),
        format!("GET https://{NPM}/leafy HTTP/1.1\r\nHost: {NPM}\r\nConnection: close\r\n\r\n"),
        get("/leafy", "evil.test", ""),
        get("/leafy?text=secret", NPM, ""),
        get(&long, NPM, ""),
        get("/a/../leafy", NPM, ""),
    ];
    for request in &requests {
        let answer = said(&world, NPM, request).await;
        assert!(answer.starts_with("HTTP/1.1 403 "), "{request} {answer}");
    }
    let module = get("/evil.test/secret/@v/list", "proxy.golang.org", "");
    let answer = said(&world, "proxy.golang.org", &module).await;
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
    let decided = world.decided("proxy.golang.org/evil.test/secret");
    assert_eq!(decided, [Outcome::Refused(Refusal::UnnamedModule)]);
    assert_eq!(registry.requests(), Vec::<String>::new());
    // The same bytes reach a host that is not a public registry.
    let mut stream = connected(&world, "mirror.test").await;
    let request = requests[0].replace(NPM, "mirror.test");
    stream.write_all(request.as_bytes()).await.unwrap();
    Reply::read(&mut stream).await;
    assert!(registry.requests()[0].starts_with("POST /upload "));
}

#[tokio::test]
async fn paths_that_lead_to_nothing_are_counted() {
    let registry = Registry::open(leafy()).await;
    let world = World::open(registry.rules(&[NPM])).await;
    let mut stream = connected(&world, NPM).await;
    let path = format!("/{}", "a".repeat(500));
    let request = format!("GET {path} HTTP/1.1\r\nHost: {NPM}\r\n\r\n");
    let mut missed = 0;
    loop {
        stream.write_all(request.as_bytes()).await.unwrap();
        match Reply::read(&mut stream).await.status {
            404 => missed += 1,
            status => break assert_eq!(status, 403),
        }
    }
    assert_eq!(missed, 131, "64 KiB");
    assert_eq!(world.decided(NPM), [Outcome::Allowed, Outcome::Refused(Refusal::TooManyMisses)]);
}

/// services.gradle.org leads to github.com, which leads to a signed address.
#[tokio::test]
async fn the_door_follows_gradles_redirect_to_hosts_that_are_closed() {
    let shelf = |path: &str| {
        let answer = match path {
            "/distributions/gradle-8.5-bin.zip" => {
                "-> https://github.com/gradle/gradle-distributions/releases/download/x"
            }
            "/distributions/evil.zip" => "-> https://mirror.test/file",
            "/gradle/gradle-distributions/releases/download/x" => {
                "-> https://release-assets.githubusercontent.com/file?sig=s"
            }
            "/file?sig=s" | "/file" => "a zip",
            _ => return None,
        };
        Some(answer.as_bytes().to_vec())
    };
    let gradle = "services.gradle.org";
    let registry = Registry::open(Arc::new(shelf)).await;
    let world = World::open(registry.rules(&[gradle])).await;
    let answer = said(&world, gradle, &get("/distributions/gradle-8.5-bin.zip", gradle, "Range: bytes=0-\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("a zip"), "{answer}");
    let last = registry.requests().pop().unwrap();
    let expected = "GET /file?sig=s HTTP/1.1\r\nrange: bytes=0-\r\nhost: release-assets.githubusercontent.com\r\n\
                    user-agent: AutoBuild\r\n\r\n";
    assert_eq!(last, expected);
    let answer = said(&world, gradle, &get("/distributions/evil.zip", gradle, "")).await;
    assert!(answer.starts_with("HTTP/1.1 302 "), "another host is not followed: {answer}");
}

/// crates.io redirects every version of a crate to a file, also one that is not there.
#[tokio::test]
async fn of_redirected_paths_the_first_is_free_once_its_address_answers() {
    let redirected = |path: &str| Some(format!("-> https://{NPM}/{}", path.strip_prefix("/to/")?.split('/').next()?));
    let shelf: Shelf = Arc::new(move |path| redirected(path).map(String::into_bytes).or_else(|| leafy()(path)));
    for (name, most) in [("leafy", 1 + 132), ("nothing", 129)] {
        let registry = Registry::open(Arc::clone(&shelf)).await;
        let world = World::open(registry.rules(&[NPM])).await;
        let mut stream = connected(&world, NPM).await;
        let mut ask = async |path: &str| {
            let request = format!("GET {path} HTTP/1.1\r\nHost: {NPM}\r\n\r\n");
            stream.write_all(request.as_bytes()).await.unwrap();
            Reply::read(&mut stream).await.status
        };
        let words = "a".repeat(490);
        let mut redirects = 0;
        while ask(&format!("/to/{name}/{words}")).await == 302 {
            redirects += 1;
            ask(&format!("/{name}")).await;
        }
        assert_eq!(redirects, most, "64 KiB: {name}");
    }
}

#[tokio::test]
async fn words_beside_a_tag_that_the_registry_gave_are_counted() {
    let registry = Registry::open(leafy()).await;
    let world = World::open(registry.rules(&[NPM])).await;
    let mut stream = connected(&world, NPM).await;
    let mut ask = async |tags: &str| {
        let request = format!("GET /leafy HTTP/1.1\r\nHost: {NPM}\r\nIf-None-Match: {tags}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        Reply::read(&mut stream).await.status
    };
    assert_eq!([ask(KEPT).await, ask(KEPT).await], [304, 304]);
    let mut asked = 0;
    while ask(&format!("\"{asked:0>width$}\", {KEPT}", width = 246 - KEPT.len())).await == 304 {
        asked += 1;
    }
    assert_eq!(asked, 263, "64 KiB in values of 250 bytes, and the tag itself is free");
}

#[tokio::test]
async fn words_in_headers_are_counted_once_each() {
    let registry = Registry::open(leafy()).await;
    let world = World::open(registry.rules(&[NPM])).await;
    let mut stream = connected(&world, NPM).await;
    let mut asked = 0;
    loop {
        // Each value twice, as from a program that reads two packages.
        let tag = format!("{:0>250}", asked / 2);
        let request = format!("GET /leafy HTTP/1.1\r\nHost: {NPM}\r\nIf-None-Match: {tag}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        match Reply::read(&mut stream).await.status {
            200 => asked += 1,
            status => break assert_eq!(status, 403),
        }
    }
    assert_eq!(asked, 2 * 262 + 1, "64 KiB in values of 250 bytes");
}

#[tokio::test]
async fn a_registry_with_an_unknown_certificate_is_not_believed() {
    let registry = Registry::open(leafy()).await;
    let believed = registry.rules(&[NPM]);
    let uplink = Uplink::default();
    let world = World::open(Rules { uplink, ..believed }).await;
    let answer = said(&world, NPM, &get("/leafy", NPM, "")).await;
    assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
    assert!(world.decided(NPM).contains(&Outcome::Refused(Refusal::Certificate)));
    assert_eq!(registry.requests(), Vec::<String>::new());
}

#[tokio::test]
async fn only_programs_of_the_run_trust_its_authority() {
    let registry = Registry::open(leafy()).await;
    let (world, other) = (World::open(registry.rules(&[NPM])).await, World::open(registry.rules(&[NPM])).await);
    let (stream, _) = world.unnamed_tunnel(&format!("{NPM}:443")).await;
    let connecting = TlsConnector::from(trusting(&other)).connect(NPM.try_into().unwrap(), stream);
    assert!(connecting.await.is_err());
    let without = World::open(registry.rules(&["mirror.test"])).await;
    assert_eq!(without.door.certificates(), None);
    let files = world.door.certificates().unwrap().map(PathBuf::from);
    drop(world);
    assert!(files.iter().all(|file| !file.exists()));
}
