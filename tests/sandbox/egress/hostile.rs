//! A program in the sandbox that breaks every rule on purpose.

use crate::egress::world::{Reply, World, echo, echoes, hello, record, rules, server, skip_hello};
use proptest::prelude::*;
use sandbox::egress::{Caps, HelloFault, Outcome, Refusal, Rules};
use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Opens a door to one echoing host with these caps.
async fn door(caps: Caps) -> World {
    let echo = echo().await;
    let rules = rules(&["registry.test"], &[("registry.test", echo)]);
    World::open(Rules { caps, ..rules }).await
}

/// Reads until the other side closes.
async fn hung_up(mut stream: impl AsyncReadExt + Unpin) -> Vec<u8> {
    let mut all = Vec::new();
    let _ = stream.read_to_end(&mut all).await;
    all
}

#[tokio::test]
async fn a_body_before_the_tunnel_is_refused() {
    let world = door(Caps::default()).await;
    for body in ["Content-Length: 5\r\n", "Content-Length: 0\r\n", "Transfer-Encoding: chunked\r\n"] {
        let request =
            format!("CONNECT registry.test:443 HTTP/1.1\r\nHost: x\r\n{}{body}\r\n0\r\n\r\n", world.authorisation());
        let reply = world.raw(request).await;
        assert_eq!(reply.status, 400, "{body}");
    }
    assert_eq!(world.decided("registry.test"), []);
}

#[tokio::test]
async fn two_lengths_of_one_request_never_make_two_requests() {
    let seen = Arc::new(AtomicUsize::new(0));
    let count = seen.clone();
    let api = server(move |mut stream| {
        let count = count.clone();
        async move {
            while crate::egress::world::read_head(&mut stream).await.is_some() {
                count.fetch_add(1, Ordering::SeqCst);
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
            }
        }
    })
    .await;
    let mut rules = rules(&[], &[]);
    rules.models.push(sandbox::egress::ModelRoute {
        name: "main".to_owned(),
        upstream: format!("http://{api}").parse().unwrap(),
        header: (http::HeaderName::from_static("x-api-key"), "key".into()),
        beside: http::HeaderMap::new(),
        paths: vec!["/v1".to_owned()],
        terms: sandbox::egress::Terms::Priced { model: Arc::default() },
    });
    let world = World::open(rules).await;
    let smuggled = format!("GET /{0}/main/v1/two HTTP/1.1\r\nHost: x\r\n\r\n", world.token());
    for lengths in [
        "Content-Length: 4\r\nContent-Length: 0\r\n",
        "Content-Length: 4, 0\r\n",
        "Content-Length: +4\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
    ] {
        let request =
            format!("POST /{}/main/v1/one HTTP/1.1\r\nHost: x\r\n{lengths}\r\n0\r\n\r\n{smuggled}", world.token());
        let before = seen.load(Ordering::SeqCst);
        let status = world.raw(request).await.status;
        assert!(matches!(status, 0 | 400), "{lengths}: {status}");
        assert_eq!(seen.load(Ordering::SeqCst), before, "{lengths}");
    }
}

#[tokio::test]
async fn a_head_that_does_not_end_is_not_waited_for() {
    let caps = Caps { head: Duration::from_millis(50), ..Caps::default() };
    let world = door(caps).await;
    let mut stream = world.connection().await;
    stream.write_all(b"CONNECT registry.test:443 HTTP/1.1\r\nX: ").await.unwrap();
    hung_up(stream).await;
    hung_up(world.connection().await).await;
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let world = door(Caps { head: Duration::from_millis(500), ..Caps::default() }).await;
    let start = format!("CONNECT registry.test:443 HTTP/1.1\r\nHost: x\r\n{}", world.authorisation());
    let long = format!("{start}X: {}\r\n\r\n", "a".repeat(1 << 20));
    let many = format!("{start}{}\r\n", "X: a\r\n".repeat(5_000));
    let target = format!("CONNECT {}:443 HTTP/1.1\r\nHost: x\r\n{}\r\n", "a.".repeat(20_000), world.authorisation());
    for head in [long, many, target] {
        let mut stream = world.connection().await;
        let _ = stream.write_all(head.as_bytes()).await;
        let said = String::from_utf8_lossy(&hung_up(stream).await).into_owned();
        assert!(!said.starts_with("HTTP/1.1 200"), "{said}");
    }
    assert_eq!(world.tunnel("registry.test:443").await.1.status, 200, "the door is still open");
}

#[tokio::test]
async fn a_silent_tunnel_ends() {
    let world = door(Caps { idle: Duration::from_millis(50), ..Caps::default() }).await;
    let (stream, reply) = world.tunnel("registry.test:443").await;
    assert_eq!(reply.status, 200);
    assert_eq!(hung_up(stream).await, b"");
}

#[tokio::test]
async fn an_old_tunnel_ends_however_busy_it_is() {
    let world = door(Caps { lifetime: Duration::from_millis(200), ..Caps::default() }).await;
    let (mut stream, _) = world.tunnel("registry.test:443").await;
    while echoes(&mut stream, "busy").await {}
}

#[tokio::test]
async fn a_run_that_has_used_up_its_bytes_gets_no_more() {
    let world = door(Caps { bytes: 100_000, ..Caps::default() }).await;
    let (mut stream, _) = world.tunnel("registry.test:443").await;
    let mut passed = 0;
    while echoes(&mut stream, &"x".repeat(1_000)).await {
        passed += 1;
    }
    assert!((40..=50).contains(&passed), "{passed}");
    assert_eq!(world.tunnel("registry.test:443").await.1.status, 0);
    assert_eq!(world.decided(""), [Outcome::Refused(Refusal::UsedUp)]);
}

#[tokio::test]
async fn connections_beyond_the_cap_wait_and_others_places_are_not_theirs() {
    let world = door(Caps { connections: 3, ..Caps::default() }).await;
    let mut open = Vec::new();
    for _ in 0..3 {
        open.push(world.tunnel("registry.test:443").await.0);
    }
    let mut waiting = Vec::new();
    for _ in 0..100 {
        waiting.push(world.connection().await);
    }
    for stream in &mut open {
        assert!(echoes(stream, "held").await);
    }
    // The socket has its own limit of connections.
    let mut inside = tokio::net::UnixStream::connect(world.door.socket()).await.unwrap();
    let request = format!("CONNECT registry.test:443 HTTP/1.1\r\nHost: x\r\n{}\r\n", world.authorisation());
    inside.write_all(request.as_bytes()).await.unwrap();
    assert_eq!(Reply::read(&mut inside).await.status, 200);
    drop((open, waiting));
    assert_eq!(world.tunnel("registry.test:443").await.1.status, 200);
}

#[tokio::test]
async fn the_other_way_goes_on_after_one_side_has_said_all() {
    let answers = server(|mut stream| async move {
        skip_hello(&mut stream).await;
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all).await;
        let _ = stream.write_all(format!("{} bytes", all.len()).as_bytes()).await;
    })
    .await;
    let world = World::open(rules(&["registry.test"], &[("registry.test", answers)])).await;
    let (mut stream, _) = world.tunnel("registry.test:443").await;
    stream.write_all(&record(&[0; 5_000])).await.unwrap();
    stream.shutdown().await.unwrap();
    assert_eq!(hung_up(stream).await, b"5005 bytes");
}

#[tokio::test]
async fn a_token_is_not_guessed_by_its_parts() {
    let mut rules = rules(&[], &[]);
    rules.models.push(sandbox::egress::ModelRoute {
        name: "main".to_owned(),
        upstream: format!("http://{}", echo().await).parse().unwrap(),
        header: (http::HeaderName::from_static("x-api-key"), "key".into()),
        beside: http::HeaderMap::new(),
        paths: vec!["/v1".to_owned()],
        terms: sandbox::egress::Terms::Priced { model: Arc::default() },
    });
    let world = World::open(rules).await;
    let token = world.token();
    assert!(token.len() == 64 && token.bytes().all(|byte| byte.is_ascii_hexdigit()));
    for guess in [&token[..63], &token[1..], &format!("{token}0"), &token.to_uppercase(), &"0".repeat(64)] {
        if guess != token {
            let reply = world.raw(format!("GET /{guess}/main/v1 HTTP/1.1\r\nHost: x\r\n\r\n")).await;
            assert_eq!(reply.status, 404, "{guess}");
        }
    }
}

#[tokio::test]
async fn a_tunnel_that_does_not_begin_with_its_hosts_name_leads_nowhere() {
    let got = Arc::new(AtomicUsize::new(0));
    let count = got.clone();
    let origin = server(move |mut stream| {
        let count = count.clone();
        async move {
            let mut all = Vec::new();
            let _ = stream.read_to_end(&mut all).await;
            count.fetch_add(all.len(), Ordering::SeqCst);
        }
    })
    .await;
    let caps = Caps { head: Duration::from_millis(200), ..Caps::default() };
    let rules = rules(&["registry.test"], &[("registry.test", origin)]);
    let world = World::open(Rules { caps, ..rules }).await;
    let named = hello("registry.test");
    let (other, half) = (hello("evil.test"), named[..60].to_vec());
    let second = [named.clone(), other.clone()].concat();
    let is_refused = |fault| {
        let refused = Outcome::Refused(Refusal::Hello(fault));
        world.decided("registry.test").contains(&refused)
    };
    for (sent, fault) in [
        (other, HelloFault::OtherName),
        (b"POST / HTTP/1.1\r\nHost: registry.test\r\n\r\n".to_vec(), HelloFault::NotTls),
        (half, HelloFault::Endless),
        (second, HelloFault::OtherName),
    ] {
        let (mut stream, reply) = world.unnamed_tunnel("registry.test:443").await;
        assert_eq!(reply.status, 200);
        stream.write_all(&sent).await.unwrap();
        assert_eq!(hung_up(stream).await, b"", "{fault:?}");
        assert!(is_refused(fault), "{:?}", world.door.log());
    }
    let (mut stream, _) = world.unnamed_tunnel("registry.test:443").await;
    stream.write_all(&named[..60]).await.unwrap();
    stream.shutdown().await.unwrap();
    hung_up(stream).await;
    assert!(is_refused(HelloFault::Closed), "{:?}", world.door.log());
    assert_eq!(got.load(Ordering::SeqCst), 0);
    // With the host's own name, everything after it passes.
    let (mut stream, _) = world.tunnel("registry.test:443").await;
    stream.write_all(&record(b"more")).await.unwrap();
    stream.shutdown().await.unwrap();
    hung_up(stream).await;
    assert_eq!(got.load(Ordering::SeqCst), named.len() + 9);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_a_program_sends_without_the_token_nothing_passes(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let world = door(Caps { head: Duration::from_millis(20), ..Caps::default() }).await;
            let mut stream = world.connection().await;
            let _ = stream.write_all(&bytes).await;
            let said = hung_up(stream).await;
            assert!(!said.starts_with(b"HTTP/1.1 200"));
            assert!(world.door.log().iter().all(|decision| decision.outcome != Outcome::Allowed));
        });
    }
}
