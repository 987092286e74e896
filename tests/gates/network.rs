//! What commands of the Gates may reach: set-up its registries, everything else what the settings allow.

use crate::stage::{Case, Stage, finding};
use domain::{
    evidence::{Absence, Baseline, Evidence},
    plan::TaskType,
    refused_host::{HostRefusal, RefusedHost},
};
use sandbox::egress::Ceiling;
use std::net::TcpListener;

/// Asks the proxy for a tunnel to the host of its argument; fails without a proxy and where it refuses.
const REACH: &str = r#"
import base64, os, socket, sys, urllib.parse
proxy = os.environ.get("HTTPS_PROXY") or sys.exit("no way out")
url = urllib.parse.urlsplit(proxy)
credentials = base64.b64encode(f"{url.username}:{url.password}".encode()).decode()
way = socket.create_connection((url.hostname, url.port))
way.sendall(f"CONNECT {sys.argv[1]}:443 HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic {credentials}\r\n\r\n".encode())
answer = way.recv(100).decode().splitlines()[0]
print(answer)
sys.exit(0 if " 200 " in answer else 1)
"#;

/// What pre-flight finds where these hosts are the server's ceiling and all of them answer.
async fn preflight(ceiling: &[&str], settings: &str) -> Baseline {
    let mut stage = Stage::new().await;
    let answering = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = answering.local_addr().unwrap();
    let hosts = ["registry.npmjs.org", "own.test", "other.test"];
    stage.context.network = Ceiling {
        hosts: ceiling.iter().map(|host| host.parse().unwrap()).collect(),
        pinned: hosts.iter().map(|host| (host.parse().unwrap(), address)).collect(),
        ..Ceiling::default()
    };
    let files = [("package.json", Some("{}")), ("reach.py", Some(REACH))];
    let commit = stage.commit(None, &files);
    stage
        .baseline(&commit, &Case::new(TaskType::Feature, settings).settings)
        .await
}

#[tokio::test]
async fn set_up_reaches_its_registry_and_tests_reach_nothing() {
    let settings = "setup: python3 reach.py registry.npmjs.org\ntest: python3 reach.py registry.npmjs.org\n";
    let found = preflight(&["registry.npmjs.org"], settings).await;
    assert_eq!(found.setup.unwrap().word(), "passed");
    assert_eq!(found.tests.word(), "failed");
    assert!(finding(&found.tests).output.contains("no way out"));
}

#[tokio::test]
async fn tests_reach_what_the_settings_allow_and_a_refusal_is_named() {
    let ceiling = ["registry.npmjs.org", "own.test"];
    let allow = "network: {allow: [own.test]}\nsetup: python3 reach.py own.test\n";
    let found = preflight(&ceiling, &format!("{allow}test: python3 reach.py own.test\n")).await;
    assert_eq!((found.setup.unwrap().word(), found.tests.word()), ("passed", "passed"));
    let found = preflight(&ceiling, &format!("{allow}test: python3 reach.py other.test\n")).await;
    assert_eq!(found.tests.word(), "failed");
    let output = &finding(&found.tests).output;
    let line = "autobuild: not reached: other.test: the host is not among those that may be reached";
    assert!(output.lines().any(|said| said == line), "{output}");
}

#[tokio::test]
async fn what_lies_above_the_servers_ceiling_stays_closed() {
    let settings =
        "network: {allow: [own.test]}\nsetup: python3 reach.py registry.npmjs.org\ntest: python3 reach.py own.test\n";
    let found = preflight(&["registry.npmjs.org"], settings).await;
    assert_eq!(found.tests.word(), "failed");
    assert!(finding(&found.tests).output.contains("no way out"));
    let found = preflight(&["own.test"], settings).await;
    let Some(Evidence::Absent(Absence::HostRefused { hosts, .. })) = found.setup else {
        panic!("set-up is held to the ceiling as well: {:?}", found.setup)
    };
    let registry = RefusedHost {
        host: "registry.npmjs.org".to_owned(),
        why: HostRefusal::AboveCeiling,
    };
    assert_eq!(hosts, [registry]);
}
