//! Even with the most detailed settings, the log, the figures and the data for a collector contain no secret.

use crate::{
    beside::SECRET,
    play::{WATCHDOG, go_on},
    story::Story,
    world::World,
};
use forge::{Fault, Mishap};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const ADMIN: &str = "admin-Token-0123456789-of-this-test";
const KEY: &str = "sk-ant-api03-Zq4xW7vB2nM9kL5jH8gF3dS6aP1oIuYt";

/// The beginning of an installation's token, and of its credentials in base64 (`x-access-token:`).
const MINTED: [&str; 2] = ["ghs_", "eC1hY2Nlc3MtdG9rZW46"];

async fn figures(world: &World) -> String {
    let mut stream = tokio::net::TcpStream::connect(world.address()).await.unwrap();
    let request = format!("GET /metrics HTTP/1.0\r\nAuthorization: Bearer {ADMIN}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

/// Returns all texts that must not appear anywhere.
fn secrets(world: &World) -> Vec<String> {
    let keys = world.private_keys();
    let lines = keys.iter().flat_map(|key| key.lines()).filter(|line| !line.starts_with("-----"));
    let fixed = [SECRET, ADMIN, KEY].map(str::to_owned);
    lines.map(str::to_owned).chain(fixed).chain(MINTED.map(str::to_owned)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn at_its_most_talkative_and_when_everything_fails_it_says_no_secret() {
    let story = Story::paid();
    let mut world = World::new(&story).await;
    world.set("AUTOBUILD_LOG", "trace");
    world.set("AUTOBUILD_LOG_FORMAT", "json");
    world.set("AUTOBUILD_ADMIN_TOKEN", ADMIN);
    world.set("AUTOBUILD_ANTHROPIC_API_KEY", KEY);
    for (method, path) in
        [("POST", "/repos/*"), ("GET", "/repos/*"), ("POST", "/*git-receive-pack"), ("POST", "/app/*")]
    {
        for mishap in [Mishap::fail(500), Mishap::LoseReply] {
            world.forge.order(Fault::on(method, path, mishap).nth(2));
        }
    }
    world.start();
    let played = tokio::time::timeout(WATCHDOG, go_on(&mut world, &story)).await;
    assert!(played.is_ok(), "does not end: {} bytes of log", world.log().len());
    let (log, figures) = (world.log(), figures(&world).await);
    assert!(log.len() > 50_000 && log.contains("TRACE"), "{} bytes", log.len());
    assert!(figures.contains("autobuild_agent_cost_usd_total"), "{figures}");
    for (place, text) in [("the log", &log), ("the figures", &figures)] {
        for secret in secrets(&world) {
            let line = text.lines().find(|line| line.contains(&secret));
            assert!(line.is_none(), "{place}: {secret} in {line:?}");
        }
    }
}
