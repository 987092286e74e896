//! Common programs, through the door, against our own registry.

use crate::egress::world::{Level, World, read_head, rules};
use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    process::Output,
    sync::Arc,
};
use tokio::{io::AsyncWriteExt, net::TcpListener, process::Command};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::aws_lc_rs,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    },
};

pub fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/egress").join(name)
}

/// Starts a server for `registry.test`, whose certificate is only trusted by clients with a setting for it. It answers
/// with the result of `body` for the head of a request, else with 404.
pub async fn https(body: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> SocketAddr {
    https_with(("cert.pem", "key.pem"), body).await
}

/// The same with another certificate and its key.
pub async fn https_with(
    (certificate, key): (&str, &str),
    body: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
) -> SocketAddr {
    let certificate = CertificateDer::from_pem_file(data(certificate)).unwrap();
    let key = PrivateKeyDer::from_pem_file(data(key)).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let body = Arc::new(body);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, body) = (acceptor.clone(), body.clone());
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(stream).await else {
                    return;
                };
                while let Some(head) = read_head(&mut stream).await {
                    let answer = answer(body(&head));
                    if stream.write_all(answer.as_bytes()).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

fn answer(body: Option<String>) -> String {
    let (status, body) = body.map_or(("404 Not Found", String::new()), |body| ("200 OK", body));
    let kind = if body.starts_with('<') { "text/html" } else { "application/json" };
    format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

/// Returns the answers of a small registry for all programs.
fn registry(head: &str) -> Option<String> {
    let path = head.split(' ').nth(1)?;
    let body = match path {
        "/hello" => "hello",
        "/crates/config.json" => r#"{"dl": "https://registry.test/dl"}"#,
        "/crates/le/af/leafy" => {
            r#"{"name":"leafy","vers":"1.2.3","deps":[],"cksum":"0000000000000000000000000000000000000000000000000000000000000000","features":{},"yanked":false}"#
        }
        "/leafy" => {
            r#"{"name":"leafy","dist-tags":{"latest":"1.2.3"},"versions":{"1.2.3":{"name":"leafy","version":"1.2.3"}}}"#
        }
        "/simple/leafy/" => {
            "<!DOCTYPE html><html><body><a href=\"https://registry.test/leafy-1.2.3-py3-none-any.whl\">leafy-1.2.3-py3-none-any.whl</a></body></html>"
        }
        _ => return None,
    };
    Some(body.to_owned())
}

const MANIFEST: &str =
    "[package]\nname = \"tree\"\n\n[dependencies]\nleafy = { version = \"1\", registry = \"own\" }\n";

/// A door to the registry or to nothing, and a home for programs.
struct Stage {
    world: World,
}

impl Stage {
    async fn new(allowed: &[&str]) -> Self {
        let address = https(registry).await;
        let world = World::open(rules(allowed, &[("registry.test", address)])).await;
        let home = world.folder.path();
        std::fs::create_dir(home.join("src")).unwrap();
        std::fs::write(home.join("src/lib.rs"), "").unwrap();
        std::fs::write(home.join("Cargo.toml"), MANIFEST).unwrap();
        Self { world }
    }

    async fn run(&self, program: &str, args: &[&str]) -> Option<Output> {
        let home = self.world.folder.path();
        let mut command = Command::new(program);
        command.args(args).current_dir(home).env_clear().env("HOME", home);
        for name in ["PATH", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        if let (None, Some(real)) = (std::env::var_os("RUSTUP_HOME"), std::env::var_os("HOME")) {
            command.env("RUSTUP_HOME", PathBuf::from(real).join(".rustup"));
        }
        command.env("CARGO_HTTP_CAINFO", data("cert.pem"));
        command.envs(self.world.door.environment(Level::L0, home));
        match command.output().await {
            Ok(output) => Some(output),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => panic!("{program}: {error}"),
        }
    }
}

/// Runs a program with a door that allows the registry, where it must print `expected`, and with one that does not,
/// where it must fail. Programs that this machine does not have are skipped.
async fn passes_where_it_may(program: &str, args: &[&str], expected: &str) {
    let open = Stage::new(&["registry.test"]).await;
    let Some(output) = open.run(program, args).await else {
        return;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains(expected), "{program}: {output:?}");
    let closed = Stage::new(&["other.test"]).await;
    let output = closed.run(program, args).await.unwrap();
    assert!(!output.status.success(), "{program}: {output:?}");
}

#[tokio::test]
async fn curl_passes_where_it_may() {
    let cert = data("cert.pem");
    let args = ["-sS", "--cacert", cert.to_str().unwrap(), "https://registry.test/hello"];
    passes_where_it_may("curl", &args, "hello").await;
}

#[tokio::test]
async fn npm_passes_where_it_may() {
    let cafile = format!("--cafile={}", data("cert.pem").display());
    let args = ["view", "leafy", "version", "--registry=https://registry.test/", &cafile, "--fetch-retries=0"];
    passes_where_it_may("npm", &args, "1.2.3").await;
}

#[tokio::test]
async fn pip_passes_where_it_may() {
    let cert = data("cert.pem");
    let index = ["--index-url", "https://registry.test/simple/", "--cert", cert.to_str().unwrap(), "--retries", "0"];
    let args = [["-m", "pip", "index", "versions"].as_slice(), &index, &["leafy"]].concat();
    // Without pip, there is nothing to test.
    let is_there = Stage::new(&[]).await.run("python3", &["-m", "pip", "--version"]).await;
    if is_there.is_some_and(|output| output.status.success()) {
        passes_where_it_may("python3", &args, "leafy (1.2.3)").await;
    }
}

#[tokio::test]
async fn cargo_passes_where_it_may() {
    let own = "registries.own.index = 'sparse+https://registry.test/crates/'";
    let args = ["generate-lockfile", "--config", own, "--config", "net.retry = 0"];
    passes_where_it_may("cargo", &args, "").await;
}
