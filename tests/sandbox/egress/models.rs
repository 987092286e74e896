//! The reverse proxy: the key is added outside, a request is judged whole, its answer is streamed, nothing else passes.

use crate::egress::world::{Level, Reply, World, read_head, server};
use http::HeaderName;
use sandbox::egress::{Door, ModelRoute, Rules, Terms};
use std::{net::SocketAddr, sync::Arc, time::Duration};
use text::{
    price,
    usage::{Tokens, Usage},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::{Mutex, mpsc},
};

const KEY: &str = "sk-the-real-key";

fn route(upstream: &str) -> Rules {
    Rules {
        models: vec![ModelRoute {
            name: "main".to_owned(),
            upstream: upstream.parse().unwrap(),
            header: (HeaderName::from_static("x-api-key"), KEY.into()),
            beside: http::HeaderMap::new(),
            paths: ["/v1/messages", "/v1/messages/count_tokens"].map(str::to_owned).to_vec(),
            terms: Terms::Messages { model: Arc::default() },
        }],
        ..Rules::default()
    }
}

/// Starts an API that records the heads of requests and answers each with the same bytes.
async fn api(answer: String) -> (SocketAddr, mpsc::UnboundedReceiver<String>) {
    let (heads, recorded) = mpsc::unbounded_channel();
    let address = server(move |mut stream| {
        let (heads, answer) = (heads.clone(), answer.clone());
        async move {
            while let Some(head) = read_head(&mut stream).await {
                heads.send(head).unwrap();
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        }
    })
    .await;
    (address, recorded)
}

fn ok(headers: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n{headers}\r\n{{}}")
}

impl World {
    async fn get(&self, path: &str, headers: &str) -> Reply {
        self.asks("GET", path, headers).await
    }

    async fn asks(&self, method: &str, path: &str, headers: &str) -> Reply {
        let token = self.token();
        self.raw(format!("{method} /{token}{path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n")).await
    }
}

#[tokio::test]
async fn the_key_is_added_outside_and_other_credentials_are_dropped() {
    let (address, mut heads) = api(ok("set-cookie: a=b\r\nanthropic-organization-id: org\r\nretry-after: 3\r\n")).await;
    let world = World::open(route(&format!("http://{address}/llm"))).await;
    let inside =
        "x-api-key: inside\r\nAuthorization: Bearer inside\r\nCookie: inside\r\nanthropic-version: 2023-06-01\r\n";
    let reply = world.get("/main/v1/messages?beta=true", inside).await;
    assert_eq!((reply.status, reply.body.as_str()), (200, "{}"));
    let head = heads.recv().await.unwrap();
    assert!(head.starts_with("GET /llm/v1/messages?beta=true HTTP/1.1\r\n"), "{head}");
    assert!(head.contains(&format!("x-api-key: {KEY}")) && head.contains("anthropic-version: 2023-06-01"), "{head}");
    assert!(!head.contains("inside") && !head.contains(&world.token()), "{head}");
    let answered = reply.head.to_lowercase();
    assert!(answered.contains("retry-after: 3"), "{answered}");
    assert!(!answered.contains("org") && !answered.contains("cookie"), "{answered}");
}

#[tokio::test]
async fn only_the_routes_paths_and_methods_pass() {
    let (address, mut heads) = api(ok("")).await;
    let world = World::open(route(&format!("http://{address}"))).await;
    let refused = [
        ("GET", "/main/v1/files", 403),
        ("GET", "/main/v1/messages/../files", 403),
        ("POST", "/main/v1/messages/batches", 403),
        ("GET", "/main/v1/messages/%2e%2e/files", 403),
        ("GET", "/main//v1/messages", 403),
        ("GET", "/main", 403),
        ("DELETE", "/main/v1/messages", 403),
        ("PUT", "/main/v1/messages", 403),
        ("GET", "/other/v1/messages", 404),
        ("GET", "", 404),
    ];
    for (method, path, status) in refused {
        let reply = world.asks(method, path, "").await;
        assert_eq!(reply.status, status, "{method} {path}");
        let body: serde_json::Value = serde_json::from_str(&reply.body).unwrap();
        assert!(body["type"] == "error" && body["error"]["message"].is_string(), "{body}");
    }
    for wrong in ["", "/", "/x/main/v1/messages", "/main/v1/messages", "//main/v1/messages"] {
        let reply = world.raw(format!("GET {wrong} HTTP/1.1\r\nHost: x\r\n\r\n")).await;
        assert!(matches!(reply.status, 400 | 404), "{wrong}");
    }
    assert!(heads.try_recv().is_err(), "nothing of it reached the API");
    assert_eq!(world.get("/main/v1/messages/count_tokens", "").await.status, 200);
    assert!(heads.try_recv().is_ok());
}

/// Events of an answer. One ends as if the key came next.
const EVENTS: [&str; 4] =
    ["data: {\"text\":\"a sk-\"}\n\n", "event: ping\ndata: {}\n\n", "data: {\"text\":\"y\"}\n\n", "data: b\n\n"];

fn chunk(piece: &str) -> String {
    format!("{:x}\r\n{piece}\r\n", piece.len())
}

#[tokio::test]
async fn events_arrive_one_by_one_while_the_answer_goes_on() {
    let (received, next) = mpsc::channel::<()>(1);
    let next = Arc::new(Mutex::new(next));
    let address = server(move |mut stream| {
        let next = next.clone();
        async move {
            read_head(&mut stream).await.unwrap();
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
            stream.write_all(head.as_bytes()).await.unwrap();
            for event in EVENTS {
                stream.write_all(chunk(event).as_bytes()).await.unwrap();
                // The next event is sent only when this one has arrived, so nothing on the way may wait for more.
                next.lock().await.recv().await.unwrap();
            }
            stream.write_all(b"0\r\n\r\n").await.unwrap();
        }
    })
    .await;
    let world = World::open(route(&format!("http://{address}"))).await;
    let mut stream = world.connection().await;
    let request = format!("GET /{}/main/v1/messages HTTP/1.1\r\nHost: x\r\n\r\n", world.token());
    stream.write_all(request.as_bytes()).await.unwrap();
    assert!(read_head(&mut stream).await.unwrap().starts_with("HTTP/1.1 200"));
    for event in EVENTS {
        let mut arrived = vec![0; chunk(event).len()];
        stream.read_exact(&mut arrived).await.unwrap();
        assert_eq!(arrived, chunk(event).as_bytes());
        received.send(()).await.unwrap();
    }
}

/// Returns the silence of an API that gets the request `body` and sends the partial `answer`.
async fn silence(body: &str, answer: &'static str) -> Duration {
    let (arrived, mut heads) = mpsc::unbounded_channel();
    let address = server(move |mut stream| {
        let arrived = arrived.clone();
        async move {
            read_head(&mut stream).await.unwrap();
            stream.write_all(answer.as_bytes()).await.unwrap();
            arrived.send(()).unwrap();
            let _ = stream.read_to_end(&mut Vec::new()).await;
        }
    })
    .await;
    let world = World::open(route(&format!("http://{address}"))).await;
    let mut stream = world.connection().await;
    stream.write_all(world.post(body).as_bytes()).await.unwrap();
    heads.recv().await.unwrap();
    if let Some((_, body)) = answer.split_once("\r\n\r\n") {
        read_head(&mut stream).await.unwrap();
        stream.read_exact(&mut vec![0; body.len()]).await.unwrap();
    }
    world.door.close().await;
    world.door.tally().silence()
}

#[tokio::test]
async fn an_api_that_says_nothing_is_silent_unless_it_may_be_at_work() {
    let streamed = r#"{"model":"m","stream":true}"#;
    let answers =
        ["", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{\"a\":"];
    for answer in answers {
        assert!(silence(streamed, answer).await > Duration::ZERO, "{answer}");
    }
    let answered = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
    assert_eq!(silence(streamed, answered).await, Duration::ZERO);
    let in_one_piece = r#"{"model":"m"}"#;
    assert_eq!(silence(in_one_piece, "").await, Duration::ZERO, "the model may be at work all the time");
}

/// Starts an API that records all that it gets before the connection ends, and answers each request.
async fn recorder() -> (SocketAddr, mpsc::UnboundedReceiver<String>) {
    let (sent, recorded) = mpsc::unbounded_channel();
    let address = server(move |mut stream| {
        let sent = sent.clone();
        async move {
            let mut all = Vec::new();
            while !all.ends_with(b"}") && stream.read_buf(&mut all).await.unwrap_or(0) > 0 {}
            let _ = stream.write_all(ok("connection: close\r\n").as_bytes()).await;
            let _ = stream.read_to_end(&mut all).await;
            sent.send(String::from_utf8_lossy(&all).into_owned()).unwrap();
        }
    })
    .await;
    (address, recorded)
}

#[tokio::test]
async fn a_request_arrives_byte_by_byte_as_it_was_judged() {
    let (address, mut sent) = recorder().await;
    let world = World::open(route(&format!("http://{address}"))).await;
    let body = r#"{ "model":"m", "messages":[0.10000000000000000555, 123456789012345678901234567890, "\u0041"]}"#;
    let mut stream = world.connection().await;
    let head =
        format!("POST /{}/main/v1/messages HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", world.token());
    stream.write_all(head.as_bytes()).await.unwrap();
    for piece in body.as_bytes().chunks(7) {
        let chunk = format!("{:x}\r\n{}\r\n", piece.len(), std::str::from_utf8(piece).unwrap());
        stream.write_all(chunk.as_bytes()).await.unwrap();
    }
    stream.write_all(b"0\r\n\r\n").await.unwrap();
    assert_eq!(Reply::read(&mut stream).await.status, 200);
    let sent = sent.recv().await.unwrap();
    assert!(sent.ends_with(&format!("\r\n\r\n{body}")), "{sent}");
    assert!(sent.contains(&format!("content-length: {}", body.len())), "{sent}");
}

#[tokio::test]
async fn what_is_too_large_or_too_deep_is_refused_with_the_reason() {
    let (address, mut sent) = recorder().await;
    let world = World::open(route(&format!("http://{address}"))).await;
    let large = world.post("").replace("content-length: 0", "content-length: 33554433");
    let deep = world.post(&format!(r#"{{"model":"m","messages":{}"#, "[".repeat(100_000)));
    for (request, why) in [(large, "larger than 32 MiB"), (deep, "nested too deeply")] {
        let reply = world.raw(request).await;
        assert_eq!(reply.status, 400);
        assert!(reply.body.contains(why), "{}", reply.body);
    }
    world.door.close().await;
    assert!(sent.try_recv().is_err(), "nothing of it reached the API");
    assert_eq!(world.door.tally().list(), []);
}

#[tokio::test]
async fn the_bodies_in_memory_are_bounded_and_further_ones_wait() {
    let (address, _heads) = api(ok("connection: close\r\n")).await;
    let world = World::open(route(&format!("http://{address}"))).await;
    let announced = |length: &str| {
        let expects = format!("content-length: {length}\r\nexpect: 100-continue");
        world.post("").replace("content-length: 0", &expects)
    };
    let mut held = Vec::new();
    for _ in 0..2 {
        let mut stream = world.connection().await;
        stream.write_all(announced("33554432").as_bytes()).await.unwrap();
        assert!(read_head(&mut stream).await.unwrap().contains("100"), "it is being read");
        held.push(stream);
    }
    let body = r#"{"model":"m"}"#;
    let mut waiting = world.connection().await;
    waiting.write_all(announced(&body.len().to_string()).as_bytes()).await.unwrap();
    assert_eq!(world.get("/main/v1/messages", "").await.status, 200, "without a body, nothing is held");
    assert!(waiting.try_read(&mut [0; 1]).is_err(), "it waits");
    held.pop();
    assert!(read_head(&mut waiting).await.unwrap().contains("100"));
    waiting.write_all(body.as_bytes()).await.unwrap();
    assert_eq!(Reply::read(&mut waiting).await.status, 200);
}

#[tokio::test]
async fn nothing_is_reached_through_the_model() {
    let (address, mut sent) = recorder().await;
    let world = World::open(route(&format!("http://{address}"))).await;
    let fetch = r#"{"model":"m","messages":[],"tools":[{"type":"web_fetch_20250910","name":"web_fetch"}]}"#;
    let request = |headers: &str, body: &str| {
        let (token, length) = (world.token(), body.len());
        format!("POST /{token}/main/v1/messages HTTP/1.1\r\nHost: x\r\ncontent-length: {length}\r\n{headers}\r\n{body}")
    };
    let reply = world.raw(request("", fetch)).await;
    assert_eq!(reply.status, 400);
    assert!(reply.body.contains("nothing through it"), "{}", reply.body);
    let packed = world.raw(request("content-encoding: gzip\r\n", "{}")).await;
    assert_eq!(packed.status, 400, "what is packed cannot be read");
    world.door.close().await;
    assert!(sent.try_recv().is_err(), "nothing of it reached the API");
}

/// Returns rules with a route that only accepts calls of one model with a known price.
fn priced(upstream: &str) -> Rules {
    let mut rules = route(upstream);
    rules.models[0].terms = Terms::Priced { model: Arc::new("gpt-5.4".to_owned().into()) };
    rules
}

impl World {
    fn post(&self, body: &str) -> String {
        let (token, length) = (self.token(), body.len());
        format!("POST /{token}/main/v1/messages HTTP/1.1\r\nHost: x\r\ncontent-length: {length}\r\n\r\n{body}")
    }
}

#[tokio::test]
async fn what_cannot_be_priced_or_bounded_is_refused_and_costs_nothing() {
    let address = server(|mut stream| async move {
        let _ = stream.read_to_end(&mut Vec::new()).await;
    })
    .await;
    let world = World::open(priced(&format!("http://{address}"))).await;
    for (body, why) in [
        (r#"{"model":"gpt-5.4","input":"x","background":true}"#, "background"),
        (r#"{"model":"gpt-5.4","tools":[{"type":"code_interpreter"}]}"#, "tools"),
        (r#"{"model":"gpt-5.4-pro","input":"x"}"#, "model"),
        (r#"{"input":"x"}"#, "model"),
    ] {
        let reply = world.raw(world.post(body)).await;
        assert_eq!(reply.status, 400, "{body}");
        assert!(reply.body.contains(why), "{body}: {}", reply.body);
    }
    assert_eq!(world.door.tally().list(), []);
}

/// Asserts that the door refuses these members of a request, and that the API itself would answer.
async fn refuses(rules: impl Fn(&str) -> Rules, plain: &str, members: &[&str]) {
    let (address, _heads) = api(ok("connection: close\r\n")).await;
    let world = World::open(rules(&format!("http://{address}"))).await;
    assert_eq!(world.raw(world.post(&format!("{{{plain}}}"))).await.status, 200);
    for member in members {
        let request = world.post(&format!("{{{plain},{member}}}"));
        let reply = world.raw(&request).await;
        assert_eq!(reply.status, 400, "{member}: {}", reply.body);
        let mut past_the_door = TcpStream::connect(address).await.unwrap();
        past_the_door.write_all(request.as_bytes()).await.unwrap();
        assert_eq!(Reply::read(&mut past_the_door).await.status, 200, "{member}");
    }
}

#[tokio::test]
async fn what_costs_more_or_reaches_further_is_refused_and_only_by_the_door() {
    let of_anthropic = [
        r#""model":"claude-opus-4-1""#,
        r#""speed":"fast""#,
        r#""inference_geo":"us""#,
        r#""container":"c""#,
        r#""tools":[{"type":"code_execution_20250825","name":"x"}]"#,
        r#""tools":[{"type":"advisor_20260301","name":"x"}]"#,
    ];
    refuses(route, r#""model":"claude-opus-4-8","messages":[]"#, &of_anthropic).await;
    let of_gateways = [
        r#""models":["o1-pro"]"#,
        r#""fallbacks":["o1-pro"]"#,
        r#""plugins":[{"id":"web"}]"#,
        r#""api_base":"https://evil.example""#,
    ];
    refuses(priced, r#""model":"gpt-5.4","messages":[]"#, &of_gateways).await;
}

#[tokio::test]
async fn an_answer_that_is_broken_off_before_it_tells_its_usage_counts_as_the_most() {
    let begun = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {\"type\":\"response.created\"}\n\n";
    let (address, _heads) = api(begun.to_owned()).await;
    let world = World::open(priced(&format!("http://{address}"))).await;
    let body = r#"{"model":"gpt-5.4","input":"x","max_output_tokens":900}"#;
    let mut stream = world.connection().await;
    stream.write_all(world.post(body).as_bytes()).await.unwrap();
    assert!(read_head(&mut stream).await.unwrap().starts_with("HTTP/1.1 200"));
    drop(stream);
    world.door.close().await;
    let most = Tokens { input: u64::try_from(body.len()).unwrap(), output: 900, ..Tokens::default() };
    assert_eq!(world.door.tally().list(), [("gpt-5.4".to_owned(), most)]);
}

#[tokio::test]
async fn a_program_that_hangs_up_pays_for_the_answer_that_it_asked_for() {
    let begun = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {\"type\":\"message_start\",\
                 \"message\":{\"model\":\"claude-opus-4-8\",\"usage\":{\"input_tokens\":12,\"output_tokens\":1}}}\n\n";
    for (answer, input) in [(begun, Some(12)), ("", None)] {
        let (address, mut heads) = api(answer.to_owned()).await;
        let mut rules = route(&format!("http://{address}"));
        rules.models[0].terms = Terms::Messages { model: Arc::default() };
        rules.caps.usd_micros = Some(1_000_000);
        let world = World::open(rules).await;
        let body = r#"{"model":"claude-opus-4-8","max_tokens":50000,"messages":[]}"#;
        let mut stream = world.connection().await;
        stream.write_all(world.post(body).as_bytes()).await.unwrap();
        heads.recv().await.unwrap();
        if !answer.is_empty() {
            read_head(&mut stream).await.unwrap();
            stream.read_exact(&mut [0; 40]).await.unwrap();
        }
        drop(stream);
        let input = input.unwrap_or_else(|| u64::try_from(body.len()).unwrap());
        let most = Tokens { input, output: 50_000, ..Tokens::default() };
        let refused = world.raw(world.post(body)).await;
        assert!(refused.body.contains("have cost as much as they may"), "{}", refused.body);
        assert_eq!(world.door.tally().list(), [("claude-opus-4-8".to_owned(), most)]);
    }
}

#[tokio::test]
async fn a_request_that_the_program_breaks_off_is_no_outage_of_the_api() {
    let (address, _heads) = api(String::new()).await;
    let world = World::open(route(&format!("http://{address}"))).await;
    let head = format!("POST /{}/main/v1/messages HTTP/1.1\r\nHost: x\r\n", world.token());
    for broken in ["transfer-encoding: chunked\r\n\r\n2\r\n{}\r\nno length\r\n", "content-length: 9\r\n\r\n{}"] {
        let mut stream = world.connection().await;
        stream.write_all(format!("{head}{broken}").as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let _ = stream.read_to_end(&mut Vec::new()).await;
    }
    world.door.close().await;
    assert!(!world.door.tally().has_failed());
    assert_eq!(world.door.tally().list(), []);
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_leads_nowhere() {
    let moved = "HTTP/1.1 307 Moved\r\nlocation: http://127.0.0.1:1/steal\r\ncontent-length: 0\r\n\r\n";
    let (address, mut heads) = api(moved.to_owned()).await;
    let world = World::open(route(&format!("http://{address}"))).await;
    let reply = world.get("/main/v1/messages", "").await;
    assert_eq!(reply.status, 307);
    assert!(!reply.head.to_lowercase().contains("location"), "{}", reply.head);
    assert!(heads.recv().await.is_some() && heads.try_recv().is_err(), "asked once");
}

#[tokio::test]
async fn errors_of_the_api_pass_as_they_are() {
    for (status, body) in [(429, "{\"a\":1}"), (529, "{\"b\":2}"), (401, "{}"), (500, "oops")] {
        let answer = format!("HTTP/1.1 {status} X\r\nretry-after: 7\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        let (address, _heads) = api(answer).await;
        let world = World::open(route(&format!("http://{address}"))).await;
        let reply = world.get("/main/v1/messages", "").await;
        assert_eq!((reply.status, reply.body.as_str()), (status, body));
        assert!(reply.head.to_lowercase().contains("retry-after: 7"));
    }
}

#[tokio::test]
async fn an_api_that_gives_no_answer_is_a_bad_gateway_that_tells_nothing() {
    let closed = {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap()
    };
    let breaks = server(|mut stream| async move {
        read_head(&mut stream).await;
    })
    .await;
    let garbage = server(|mut stream| async move {
        read_head(&mut stream).await;
        let _ = stream.write_all(b"SSH-2.0-no\r\n").await;
    })
    .await;
    for address in [closed, breaks, garbage] {
        let world = World::open(route(&format!("http://{address}"))).await;
        let reply = world.get("/main/v1/messages", "").await;
        assert_eq!(reply.status, 502, "{address}");
        let body: serde_json::Value = serde_json::from_str(&reply.body).unwrap();
        assert_eq!((&body["type"], &body["error"]["type"]), (&"error".into(), &"api_error".into()));
        assert!(!reply.body.contains(KEY) && !reply.body.contains(&address.to_string()), "{body}");
    }
}

#[tokio::test]
async fn an_api_that_nobody_vouches_for_never_sees_the_key() {
    let seen = Arc::new(Mutex::new(String::new()));
    let address = crate::egress::programs::https({
        let seen = seen.clone();
        move |head: &str| {
            if let Ok(mut seen) = seen.try_lock() {
                seen.push_str(head);
            }
            Some("{}".to_owned())
        }
    })
    .await;
    let world = World::open(route(&format!("https://localhost:{}", address.port()))).await;
    assert_eq!(world.get("/main/v1/messages", "").await.status, 502);
    assert_eq!(*seen.lock().await, "");
}

#[tokio::test]
async fn a_route_that_would_send_its_key_in_clear_text_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let opened = Door::open(route("http://api.example.com"), folder.path()).await;
    assert_eq!(opened.unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
}

#[tokio::test]
async fn neither_key_nor_token_shows_in_what_is_printed_of_a_door() {
    let (address, _heads) = api(ok("")).await;
    let world = World::open(route(&format!("http://{address}"))).await;
    world.get("/main/v1/messages", "").await;
    let shown = format!("{:?} {:?}", world.door, world.door.log());
    assert!(!shown.contains(KEY) && !shown.contains(&world.token()), "{shown}");
    let environment = format!("{:?}", world.door.environment(Level::L1, "/home".as_ref()));
    assert!(!environment.contains(KEY));
    let url = world.door.model_url(Level::L3, "main").unwrap();
    assert!(url.starts_with("http://127.0.0.1:17443/") && url.ends_with("/main") && !url.contains(KEY));
    assert_eq!(world.door.model_url(Level::L3, "other"), None);
}

#[tokio::test]
async fn many_calls_at_once_overrun_what_they_may_cost_by_one() {
    let body = r#"{"model":"claude-opus-4-8","usage":{"input_tokens":1,"output_tokens":50000}}"#;
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let (address, mut heads) = api(answer).await;
    let mut rules = route(&format!("http://{address}"));
    rules.caps.usd_micros = Some(1_000_000);
    let world = World::open(rules).await;
    let calls = (0..20).map(|_| world.asks("POST", "/main/v1/messages", "content-length: 0\r\n"));
    let replies = futures_util::future::join_all(calls).await;
    let served = replies.iter().filter(|reply| reply.status == 200).count();
    assert_eq!((served, replies.len()), (1, 20));
    assert!(heads.recv().await.is_some() && heads.try_recv().is_err());
}

#[tokio::test]
async fn every_call_of_a_model_is_counted_whoever_makes_it_and_ends_at_what_they_may_cost() {
    let body = r#"{"model":"claude-sonnet-5","usage":{"input_tokens":1000000,"output_tokens":1}}"#;
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let (address, mut heads) = api(answer).await;
    let mut rules = route(&format!("http://{address}"));
    let one = Usage { tokens: Tokens { input: 1_000_000, output: 1, ..Tokens::default() }, ..Usage::default() };
    let cost = price::priced(one, Some("claude-sonnet-5")).usd_micros.unwrap();
    rules.caps.usd_micros = Some(cost + 1);
    let world = World::open(rules).await;
    for _ in 0..2 {
        assert_eq!(world.asks("POST", "/main/v1/messages", "").await.status, 200);
    }
    let used = world.door.tally().list();
    let [(model, tokens)] = used.as_slice() else { panic!("{used:?}") };
    assert_eq!((model.as_str(), tokens.input), ("claude-sonnet-5", 2_000_000));
    let refused = world.asks("POST", "/main/v1/messages", "").await;
    assert_eq!(refused.status, 400, "{}", refused.body);
    assert!(refused.body.contains("have cost as much as they may"), "{}", refused.body);
    let free = world.asks("POST", "/main/v1/messages/count_tokens", "").await;
    assert_eq!(free.status, 200, "what costs nothing goes on");
    let mut plain = 0;
    while let Ok(head) = heads.try_recv() {
        assert!(head.contains("accept-encoding: identity"), "{head}");
        plain += 1;
    }
    assert_eq!(plain, 3);
}

#[tokio::test]
async fn a_key_that_the_api_repeats_does_not_come_inside() {
    let body = format!("no such key: {KEY}");
    let (length, escaped) = (body.len(), KEY.replace('-', "%2D"));
    let headers = format!("x-request-id: {KEY}\r\nx-ratelimit-key: a {escaped}\r\nretry-after: 3\r\n");
    let (address, _heads) =
        api(format!("HTTP/1.1 401 Unauthorized\r\ncontent-length: {length}\r\n{headers}\r\n{body}")).await;
    let world = World::open(route(&format!("http://{address}"))).await;
    let reply = world.asks("POST", "/main/v1/messages", "").await;
    assert_eq!((reply.status, reply.body), (401, format!("no such key: {}", "*".repeat(KEY.len()))));
    let head = reply.head.to_lowercase();
    assert!(
        head.contains("retry-after: 3") && !head.contains("x-request-id") && !head.contains("x-ratelimit"),
        "{head}"
    );
    assert!(world.door.tally().list().is_empty(), "what was refused costs nothing");
    let mut past_the_door = TcpStream::connect(address).await.unwrap();
    past_the_door.write_all(world.post("").as_bytes()).await.unwrap();
    assert_eq!(Reply::read(&mut past_the_door).await.body, body);
}

#[tokio::test]
async fn a_key_that_the_events_of_an_answer_spell_does_not_come_inside() {
    let event = |text: &str| format!("event: delta\ndata: {{\"delta\":\"{text}\"}}\n\n");
    let body = ["it is sk-the", "-real", "-key."].map(event).concat();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: Text/Event-Stream\r\ncontent-length: {}\r\n\r\n", body.len());
    let (address, _heads) = api(format!("{head}{body}")).await;
    let world = World::open(route(&format!("http://{address}"))).await;
    let reply = world.asks("POST", "/main/v1/messages", "").await;
    assert_eq!(reply.body, ["it is ******", "*****", "****."].map(event).concat());
}
