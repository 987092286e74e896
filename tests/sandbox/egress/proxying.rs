//! The requests that the proxy passes or refuses. Each refused one is also tested where it is allowed.

use crate::egress::world::{Level, World, echo, echoes, rules};
use sandbox::egress::{Outcome, Refusal};
use std::os::unix::fs::PermissionsExt;
use tokio::{io::AsyncWriteExt, net::UnixStream};

#[tokio::test]
async fn an_allowed_host_is_reached_and_another_is_not() {
    let echo = echo().await;
    let pins = [("registry.test", echo), ("a.below.test", echo), ("other.test", echo), ("below.test", echo)];
    let world = World::open(rules(&["registry.test", "*.below.test"], &pins)).await;
    for target in ["registry.test:443", "REGISTRY.test.:443", "a.below.test:443"] {
        let (mut stream, reply) = world.tunnel(target).await;
        assert_eq!(reply.status, 200, "{target}");
        assert!(echoes(&mut stream, "hello").await, "{target}");
    }
    for target in ["other.test:443", "below.test:443", "registry.test.other.test:443", "xregistry.test:443"] {
        let (_, reply) = world.tunnel(target).await;
        assert_eq!(reply.status, 403, "{target}");
        assert!(reply.body.contains("registry.test, *.below.test"), "{}", reply.body);
    }
    assert_eq!(world.decided("registry.test"), [Outcome::Allowed]);
    assert_eq!(world.decided("other.test"), [Outcome::Refused(Refusal::NotListed)]);
    // The refused hosts are reached when they are allowed.
    let world = World::open(rules(&["other.test", "below.test"], &pins)).await;
    for target in ["other.test:443", "below.test:443"] {
        let (mut stream, _) = world.tunnel(target).await;
        assert!(echoes(&mut stream, "hello").await, "{target}");
    }
}

#[tokio::test]
async fn only_port_443_passes() {
    let echo = echo().await;
    let world = World::open(rules(&["registry.test"], &[("registry.test", echo)])).await;
    for port in [22, 80, 444, 8443, 65_535, 0] {
        let (_, reply) = world.tunnel(&format!("registry.test:{port}")).await;
        assert_eq!(reply.status, 403, "{port}");
    }
    assert_eq!(world.tunnel("registry.test:443").await.1.status, 200);
}

#[tokio::test]
async fn addresses_are_refused_in_every_spelling() {
    let world = World::open(rules(&["registry.test", "*.test"], &[])).await;
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "169.254.169.254",
        "0xa9fea9fe",
        "[fd00:ec2::254]",
        "127.0.0.1.",
        "1.2.3.4",
    ] {
        let (_, reply) = world.tunnel(&format!("{host}:443")).await;
        assert_eq!(reply.status, 400, "{host}");
    }
    for target in ["user@registry.test:443", "user:word@registry.test:443", "registry.test", "registry%2etest:443"] {
        let (_, reply) = world.tunnel(target).await;
        assert_eq!(reply.status, 400, "{target}");
    }
}

#[tokio::test]
async fn a_name_that_leads_to_loopback_is_refused_after_it_was_looked_up() {
    let world = World::open(rules(&["localhost"], &[])).await;
    let (_, reply) = world.tunnel("localhost:443").await;
    assert_eq!(reply.status, 403);
    let decided = world.decided("localhost");
    assert!(
        matches!(&decided[..], [Outcome::Refused(Refusal::NotPublic(address))] if address.is_loopback()),
        "{decided:?}"
    );
    let echo = echo().await;
    let world = World::open(rules(&["localhost"], &[("localhost", echo)])).await;
    let (mut stream, _) = world.tunnel("localhost:443").await;
    assert!(echoes(&mut stream, "an operator may say where it is").await);
}

#[tokio::test]
async fn without_the_token_nothing_passes_and_nothing_is_told() {
    let echo = echo().await;
    let world = World::open(rules(&["registry.test"], &[("registry.test", echo)])).await;
    let other = World::open(rules(&["registry.test"], &[("registry.test", echo)])).await;
    let wrong = [
        String::new(),
        "Proxy-Authorization: Basic cnVuOg==\r\n".to_owned(),
        "Proxy-Authorization: Basic !\r\n".to_owned(),
        "Proxy-Authorization: Basic\r\n".to_owned(),
        format!("Proxy-Authorization: Bearer {}\r\n", world.token()),
        format!("Authorization: Basic {}\r\n", world.token()),
        other.authorisation(),
        format!("{0}{0}", world.authorisation()),
    ];
    for header in wrong {
        for request in ["CONNECT registry.test:443", "GET http://registry.test/"] {
            let reply = world.raw(format!("{request} HTTP/1.1\r\nHost: registry.test\r\n{header}\r\n")).await;
            assert_eq!(reply.status, 407, "{request} {header}");
            assert!(reply.head.to_lowercase().contains("proxy-authenticate: basic"), "{}", reply.head);
            assert!(!reply.body.contains("registry.test"), "{}", reply.body);
        }
    }
    assert_eq!(world.tunnel("registry.test:443").await.1.status, 200);
}

#[tokio::test]
async fn plain_http_is_refused_with_what_would_pass() {
    let echo = echo().await;
    let world = World::open(rules(&["registry.test"], &[("registry.test", echo)])).await;
    for method in ["GET", "POST", "PUT"] {
        let request =
            format!("{method} http://registry.test/x HTTP/1.1\r\nHost: registry.test\r\n{}\r\n", world.authorisation());
        let reply = world.raw(request).await;
        assert_eq!(reply.status, 403);
        assert!(reply.body.contains("use https") && reply.body.contains("registry.test"), "{}", reply.body);
    }
}

#[tokio::test]
async fn the_socket_is_this_users_alone_and_leads_to_the_same_door() {
    let echo = echo().await;
    let world = World::open(rules(&["registry.test"], &[("registry.test", echo)])).await;
    let socket = world.door.socket();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&socket), mode(socket.parent().unwrap())), (0o600, 0o700));
    let mut stream = UnixStream::connect(&socket).await.unwrap();
    let request = format!("CONNECT registry.test:443 HTTP/1.1\r\nHost: x\r\n{}\r\n", world.authorisation());
    stream.write_all(request.as_bytes()).await.unwrap();
    assert_eq!(crate::egress::world::Reply::read(&mut stream).await.status, 200);
    assert!(world.door.proxy_url(Level::L3).ends_with("@127.0.0.1:17443"));
    assert!(world.door.proxy_url(Level::L1).ends_with(&format!("@127.0.0.1:{}", world.door.port())));
}

#[tokio::test]
async fn a_socket_opens_in_a_folder_with_a_very_long_path() {
    let folder = tempfile::tempdir().unwrap();
    let long = folder.path().join("a".repeat(120)).join("b".repeat(120));
    let door = sandbox::egress::Door::open(rules(&[], &[]), &long).await.unwrap();
    assert!(door.socket().exists());
}

#[tokio::test]
async fn closing_the_door_ends_what_goes_through_it() {
    let echo = echo().await;
    let world = World::open(rules(&["registry.test"], &[("registry.test", echo)])).await;
    let (mut stream, _) = world.tunnel("registry.test:443").await;
    assert!(echoes(&mut stream, "open").await);
    let (port, socket) = (world.door.port(), world.door.socket());
    drop(world.door);
    assert!(!echoes(&mut stream, "closed").await);
    assert!(!socket.exists());
    // The listener closes with its task.
    while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
        tokio::task::yield_now().await;
    }
}
