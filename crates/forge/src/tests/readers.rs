//! Who may read what: other names of this machine, private repositories, and a forge of one person.

use super::world::*;
use crate::{Forge, ForgeOptions, Readers, RepoSource, Role, Settings};
use secrecy::{ExposeSecret, SecretString};
use std::path::Path;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// The whole answer to a GET.
async fn get(forge: &Forge, path: &str, headers: &str) -> String {
    let address = forge.url().trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\n{headers}connection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

const HOST: &str = "host: LOCALHOST\r\n";

#[tokio::test]
async fn a_name_of_elsewhere_that_leads_here_is_refused() {
    let world = World::new().await;
    for path in [
        "/",
        "/acme/shop",
        "/api/v3/repos/acme/shop",
        "/acme/shop.git/info/refs?service=git-upload-pack",
    ] {
        for host in ["host: evil.example\r\n", "host: 127.0.0.1.evil.example:80\r\n"] {
            let refused = get(&world.forge, path, host).await;
            assert!(refused.starts_with("HTTP/1.1 403"), "{path}: {refused}");
            assert!(refused.contains("for this machine alone"), "{refused}");
        }
        let answered = get(&world.forge, path, HOST).await;
        assert!(answered.starts_with("HTTP/1.1 200"), "{path}: {answered}");
    }
}

async fn of_one_person(folder: &Path) -> Forge {
    let options = ForgeOptions {
        readers: Readers::WithKey(SecretString::from("secret")),
        ..ForgeOptions::new(folder)
    };
    let forge = Forge::start(options).await.unwrap();
    forge.create_organization("acme");
    forge.create_user("ann");
    let settings = Settings {
        private: true,
        ..Settings::default()
    };
    let files = RepoSource::Files(&[("README.md", "# Shop\n")]);
    forge.create_repo(REPO, files, settings).await.unwrap();
    forge.set_role(REPO, "ann", Role::Admin).unwrap();
    forge
}

#[tokio::test]
async fn who_shows_the_key_reads_the_pages_and_nobody_else_does() {
    let dir = tempfile::tempdir().unwrap();
    let forge = of_one_person(dir.path()).await;
    for path in ["/", "/acme/shop", "/acme/shop?key=guessed", "/nothing"] {
        let refused = get(&forge, path, HOST).await;
        assert!(
            refused.starts_with("HTTP/1.1 403") && refused.contains("?key="),
            "{path}: {refused}"
        );
    }
    let began = get(&forge, "/acme/shop?key=secret", HOST).await;
    assert!(
        began.starts_with("HTTP/1.1 303") && began.contains("location: /acme/shop\r\n"),
        "{began}"
    );
    let cookie = began
        .lines()
        .find_map(|line| line.strip_prefix("set-cookie: "))
        .unwrap();
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"),
        "{cookie}"
    );
    let session = format!("{HOST}cookie: {}\r\n", cookie.split(';').next().unwrap());
    assert!(get(&forge, "/", &session).await.contains("acme/shop"));
    assert!(get(&forge, "/acme/shop", &session).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn a_private_repository_is_fetched_with_a_token_alone() {
    let dir = tempfile::tempdir().unwrap();
    let forge = of_one_person(&dir.path().join("forge")).await;
    let url = format!("{}/acme/shop.git", forge.url());
    let refused = git(dir.path(), &["clone", &url, "stranger"]).await;
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        !refused.status.success() && said.contains("could not read Username"),
        "{said}"
    );
    let answer = get(&forge, "/api/v3/repos/acme/shop", HOST).await;
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    let token = forge.user_token("ann").unwrap().expose_secret().to_owned();
    let url = url.replace("http://", &format!("http://ann:{token}@"));
    git_ok(dir.path(), &["clone", "-q", &url, "own"]).await;
}

#[tokio::test]
async fn pages_for_everybody_leave_private_repositories_out() {
    let world = World::new().await;
    world.forge.as_user("ann").unwrap().set_private(REPO, true).unwrap();
    let all = get(&world.forge, "/", HOST).await;
    assert!(all.starts_with("HTTP/1.1 200") && !all.contains(REPO), "{all}");
    assert!(get(&world.forge, "/acme/shop", HOST).await.starts_with("HTTP/1.1 404"));
}
