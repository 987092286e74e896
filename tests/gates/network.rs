//! The hosts that commands of the Gates may reach: set-up its registries, all others the hosts that the settings allow.

use crate::stage::{Case, Stage, finding};
use domain::{
    evidence::{Absence, Baseline, Evidence},
    plan::TaskType,
    refused_host::{HostRefusal, RefusedHost},
};
use sandbox::egress::Ceiling;
use std::net::TcpListener;

/// Requests a tunnel to the host of its argument from the proxy; fails without a proxy, or if it refuses.
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

/// Runs pre-flight with these hosts as the server's ceiling; all of them answer.
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
    stage.baseline(&commit, &Case::new(TaskType::Feature, settings).settings).await
}

#[tokio::test]
async fn set_up_reaches_its_registry_and_tests_reach_nothing() {
    let settings = "setup: python3 reach.py registry.npmjs.org\ntest: python3 reach.py registry.npmjs.org\n";
    let found = preflight(&["registry.npmjs.org"], settings).await;
    assert_eq!(found.setup.unwrap().word(), "passed");
    assert_eq!(found.tests.word(), "failed");
    assert!(finding(&found.tests).output.contains("no way out"));
}

/// Returns the evidence of set-up for a change of a repository whose default branch contains `base`.
async fn set_up_of_change(base: &[(&str, Option<&str>)], settings: &str, asked: &str) -> Evidence {
    let mut stage = Stage::new().await;
    let answering = TcpListener::bind("127.0.0.1:0").unwrap();
    let hosts = ["registry.npmjs.org", "proxy.golang.org"];
    let pinned = hosts.map(|host| (host.parse().unwrap(), answering.local_addr().unwrap()));
    stage.context.network.pinned = pinned.into();
    let base = stage.commit(None, base);
    let change = [("package.json", Some("{}")), ("reach.py", Some(REACH))];
    let head = stage.commit(Some(&base), &change);
    let settings = format!("test: 'true'\nsetup: if test -e reach.py; then python3 reach.py {asked}; fi\n{settings}");
    let case = Case::new(TaskType::Scaffolding, &settings);
    let report = stage.verified(&base, &head, &case).await;
    report.setup.unwrap()
}

#[tokio::test]
async fn an_ecosystem_that_only_the_change_brings_waits_for_a_person() {
    let npm = "registry.npmjs.org";
    let found = set_up_of_change(&[("go.mod", Some("module x"))], "", npm).await;
    let Evidence::Absent(Absence::HostRefused { hosts, .. }) = found else {
        panic!("a registry was opened by a change, or nobody is told: {found:?}")
    };
    let registry = RefusedHost { host: npm.to_owned(), why: HostRefusal::ClosedRegistry };
    assert_eq!(hosts, [registry]);
    let opened =
        [(("go.mod", Some("module x")), "network: {allow: [registry.npmjs.org]}"), (("package.json", Some("{ }")), "")];
    for (file, settings) in opened {
        let found = set_up_of_change(&[file], settings, npm).await;
        assert_eq!(found.word(), "passed", "{settings} {found:?}");
    }
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
    let registry = RefusedHost { host: "registry.npmjs.org".to_owned(), why: HostRefusal::AboveCeiling };
    assert_eq!(hosts, [registry]);
}
