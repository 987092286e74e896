//! The webhook inbox and senders that are not GitHub or are broken: the right 4xx, never a 5xx, and a 202 only for
//! deliveries that are on disk.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on has failed")]

mod dashboard;
mod replicas;
mod roles;
mod service;
mod sign_in;

use crate::web::service::{Request, Service};
use autobuild::web;
use futures_util::future::{join_all, select_all};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(600);

#[tokio::test]
async fn a_delivery_is_stored_once_however_often_it_comes() {
    let service = Service::start().await;
    for _ in 0..3 {
        assert_eq!(service.answers(&Request::label("one")).await, 202);
    }
    assert_eq!(service.stored().await, (1, 1));
}

#[tokio::test]
async fn both_secrets_count_while_one_is_being_changed() {
    let service = Service::start().await;
    assert_eq!(service.answers(&Request::label("one").signed_before()).await, 202);
    assert_eq!(service.stored().await, (1, 1));
}

#[tokio::test]
async fn what_is_not_signed_by_github_is_refused() {
    let service = Service::start().await;
    let zeros = format!("sha256={}", "0".repeat(64));
    for signature in [None, Some(""), Some("sha256="), Some("sha1=00"), Some(zeros.as_str())] {
        let request = Request::label("one").with("x-hub-signature-256", signature);
        assert_eq!(service.answers(&request).await, 401, "{signature:?}");
    }
    assert_eq!(service.stored().await, (0, 0));
}

#[tokio::test]
async fn a_missing_or_malformed_header_is_named() {
    let service = Service::start().await;
    for name in ["x-github-event", "x-github-delivery"] {
        for value in [None, Some("two words")] {
            let mut connected = service.connect().await;
            connected.send(&Request::label("one").with(name, value).bytes()).await;
            let (status, said) = connected.answer().await.unwrap();
            assert_eq!(status, 400);
            assert!(said.to_lowercase().contains(name), "{said}");
        }
    }
    for kind in [None, Some("text/plain"), Some("application/x-www-form-urlencoded")] {
        let request = Request::label("one").with("content-type", kind);
        assert_eq!(service.answers(&request).await, 415, "{kind:?}");
    }
    assert_eq!(service.stored().await, (0, 0));
}

#[tokio::test]
async fn a_body_that_is_no_payload_is_the_senders_mistake() {
    let service = Service::start().await;
    let deep = format!("{{\"action\": {}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let bodies: [&[u8]; 10] = [
        b"",
        b"{",
        b"null",
        b"\"text\"",
        b"[1, 2]",
        b"[]",
        b"{\"action\": \"labeled\xff\"}",
        b"{\"action\": \"labeled\"} {}",
        b"{\"action\": \"labeled\", \"issue\": 3}",
        deep.as_bytes(),
    ];
    for body in bodies {
        let status = service.answers(&Request::new("issues", "one", body)).await;
        let shown: String = String::from_utf8_lossy(body).chars().take(60).collect();
        assert_eq!(status, 400, "{shown}");
    }
    assert_eq!(service.stored().await, (0, 0));
}

#[tokio::test]
async fn what_is_not_needed_is_acknowledged_and_not_stored() {
    let service = Service::start().await;
    for (event, body) in [
        ("star", "{\"action\": \"created\"}"),
        ("ping", "{\"zen\": \"Design for failure.\", \"hook_id\": 1}"),
        ("nothing_known", "{}"),
    ] {
        assert_eq!(service.answers(&Request::new(event, "one", body)).await, 202, "{event}");
    }
    assert_eq!(service.stored().await, (0, 0));
}

#[tokio::test]
async fn an_oversized_body_is_refused_as_soon_as_it_is_known() {
    let service = Service::start().await;
    let announced = format!("{}content-length: {}\r\n\r\n", Request::label("one").head(), web::MAX_BODY + 1);
    let mut connected = service.connect().await;
    connected.send(announced.as_bytes()).await;
    assert_eq!(connected.answer().await.unwrap().0, 413);

    let streamed = format!("{}transfer-encoding: chunked\r\n\r\n", Request::label("two").head());
    let mut connected = service.connect().await;
    connected.send(streamed.as_bytes()).await;
    let chunk = [b"100000\r\n".as_slice(), &vec![b' '; 0x10_0000], b"\r\n"].concat();
    for _ in 0..=web::MAX_BODY / 0x10_0000 {
        connected.send(&chunk).await;
    }
    assert_eq!(connected.answer().await.unwrap().0, 413);
    assert_eq!(service.stored().await, (0, 0));
}

#[tokio::test]
async fn slow_senders_are_cut_off() {
    let short = Duration::from_millis(100);
    let service = Service::patient(short, LONG).await;
    for beginning in ["", "POST /webhook HTTP/1.1\r\nhost: auto"] {
        let mut connected = service.connect().await;
        connected.send(beginning.as_bytes()).await;
        let answer = connected.answer().await;
        assert!(answer.is_none_or(|(status, _)| status == 408), "{beginning:?}");
    }
    let service = Service::patient(LONG, short).await;
    let mut connected = service.connect().await;
    let beginning = format!("{}content-length: 1000\r\n\r\n{{", Request::label("one").head());
    connected.send(beginning.as_bytes()).await;
    assert_eq!(connected.answer().await.unwrap().0, 408);
    assert!(connected.answer().await.is_none(), "the connection is closed");
    assert!(web::HEADER_PATIENCE + web::BODY_PATIENCE <= Duration::from_secs(30));
}

#[tokio::test]
async fn without_anything_like_a_signature_no_body_is_waited_for() {
    let service = Service::patient(LONG, LONG).await;
    let short = format!("sha256={}", "0".repeat(63));
    let no_hexadecimal = format!("sha256={}", "x".repeat(64));
    for signature in [None, Some(short.as_str()), Some(no_hexadecimal.as_str())] {
        for body in ["content-length: 26214400", "transfer-encoding: chunked"] {
            let request = Request::label("one").with("x-hub-signature-256", signature);
            let mut connected = service.connect().await;
            connected.send(format!("{}{body}\r\n\r\n", request.head()).as_bytes()).await;
            assert_eq!(connected.answer().await.unwrap().0, 401, "{signature:?} {body}");
            assert!(connected.answer().await.is_none(), "the connection is closed");
        }
    }
}

#[tokio::test]
async fn large_bodies_share_what_memory_there_is_and_usual_ones_are_taken_all_the_same() {
    let service = Service::patient(LONG, LONG).await;
    let large = Request::new("issues", "large", vec![b' '; web::MAX_BODY]).bytes();
    // One byte of each is missing, so the accepted bytes are kept until it arrives.
    let mut senders = Vec::new();
    for _ in 0..4 {
        let mut connected = service.connect().await;
        connected.send(&large[..large.len() - 1]).await;
        senders.push(connected);
    }
    let answers = senders.iter_mut().map(|sender| Box::pin(sender.whole_answer()));
    let (refused, ..) = select_all(answers).await;
    let (head, _) = refused.unwrap();
    assert!(head.contains(" 503 ") && head.contains("\r\nretry-after: 15"), "{head}");
    assert_eq!(service.answers(&Request::label("usual")).await, 202);
}

#[tokio::test]
async fn slow_senders_keep_nobody_out() {
    let service = Service::crowded(8).await;
    let mut slow = Vec::new();
    for beginning in [
        "POST /webhook HTTP/1.1\r\nhost: auto".to_owned(),
        format!("{}content-length: 1000\r\n\r\n{{", Request::label("one").head()),
    ] {
        for _ in 0..20 {
            let mut connected = service.connect().await;
            connected.send(beginning.as_bytes()).await;
            slow.push(connected);
        }
        let mut connected = service.connect().await;
        connected.send(b"GET /healthz HTTP/1.1\r\nhost: autobuild\r\n\r\n").await;
        assert_eq!(connected.answer().await.unwrap().0, 200);
        assert_eq!(service.answers(&Request::label("usual")).await, 202);
    }
    let cut_off = join_all(slow.iter_mut().take(20).map(crate::web::service::Connected::answer)).await;
    assert!(cut_off.iter().all(Option::is_none), "{cut_off:?}");
}

#[tokio::test]
async fn what_cannot_be_stored_is_not_acknowledged_and_welcome_later() {
    let service = Service::start().await;
    service.tamper("ALTER TABLE delivery RENAME TO elsewhere").await;
    assert_eq!(service.answers(&Request::label("one")).await, 503);
    service.tamper("ALTER TABLE elsewhere RENAME TO delivery").await;
    assert_eq!(service.stored().await, (0, 0));
    assert_eq!(service.answers(&Request::label("one")).await, 202);
    assert_eq!(service.stored().await, (1, 1));
}

#[tokio::test]
async fn a_delivery_is_answered_in_time_while_the_database_does_not_answer() {
    let service = Service::hurried(Duration::from_millis(100)).await;
    let mut other = service.database().await;
    sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    let mut connected = service.connect().await;
    connected.send(&Request::label("d1").bytes()).await;
    let (status, said) = connected.answer().await.unwrap();
    assert_eq!((status, said.as_str()), (503, "the delivery could not be stored in time; send it again\n"));
    sqlx::query("ROLLBACK").execute(&mut other).await.unwrap();
    // It may have been stored meanwhile, and its repeat may be late too.
    let mut answers = Vec::new();
    while answers.len() < 20 && answers.last() != Some(&202) {
        answers.push(service.answers(&Request::label("d1")).await);
    }
    assert_eq!(answers.last(), Some(&202), "{answers:?}");
    assert_eq!(service.stored().await, (1, 1));
}

#[tokio::test]
async fn a_late_delivery_counts_as_a_body_until_it_is_stored() {
    let service = Service::hurried(Duration::from_millis(100)).await;
    let mut other = service.database().await;
    sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    let answer = async |name: &str| {
        let mut connected = service.connect().await;
        // Two of them are larger than the memory for bodies.
        connected.send(&Request::label(name).padded(17 << 20).bytes()).await;
        connected.answer().await.unwrap().1
    };
    let crowded = "too many large bodies at once; send it again\n";
    let late = "the delivery could not be stored in time; send it again\n";
    assert_eq!([answer("d1").await, answer("d2").await], [late, crowded]);
    sqlx::query("ROLLBACK").execute(&mut other).await.unwrap();
    // It comes after d1 in the queue.
    while service.answers(&Request::label("d3")).await != 202 {}
    assert_eq!(service.stored().await, (2, 2));
    assert_ne!(answer("d2").await, crowded);
}

#[tokio::test]
async fn a_thousand_deliveries_at_once_are_all_stored() {
    let service = Service::start().await;
    let sender = async |sender: usize| {
        let mut connected = service.connect().await;
        for number in 0..10 {
            // Every id is sent twice, by two senders.
            let id = format!("{}-{number}", sender % 100);
            connected.send(&Request::label(&id).bytes()).await;
            assert_eq!(connected.answer().await.unwrap().0, 202);
        }
    };
    join_all((0..200).map(sender)).await;
    assert_eq!(service.stored().await, (1_000, 1_000));
}

#[tokio::test]
async fn health_tells_alive_from_ready() {
    let service = Service::start().await;
    let asks = async |path: &str| {
        let mut connected = service.connect().await;
        connected.send(format!("GET {path} HTTP/1.1\r\nhost: autobuild\r\n\r\n").as_bytes()).await;
        connected.answer().await.unwrap().0
    };
    assert_eq!((asks("/healthz").await, asks("/readyz").await), (200, 200));
    for (shown, expected) in
        [("", 401), ("authorization: Bearer guessed\r\n", 401), ("authorization: Bearer the administrator's\r\n", 200)]
    {
        let mut connected = service.connect().await;
        let request = format!("GET /healthz?detail HTTP/1.1\r\nhost: autobuild\r\n{shown}\r\n");
        connected.send(request.as_bytes()).await;
        let (status, detail) = connected.answer().await.unwrap();
        assert_eq!((status, detail.contains("\"isolation\"")), (expected, expected == 200), "{detail}");
    }
    service.draining.cancel();
    assert_eq!((asks("/healthz").await, asks("/readyz").await), (200, 503));
    assert_eq!((asks("/nowhere").await, asks("/webhook").await), (404, 405));
}
