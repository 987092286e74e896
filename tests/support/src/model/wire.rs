//! HTTP by hand, because tests need a server that breaks off in the middle of an answer.

use super::{Reply, Seen, Shared, anthropic, openai};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};

type Socket = BufReader<TcpStream>;

/// Answers the requests of one connection.
pub(super) async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let mut socket = BufReader::new(stream);
    while let Some((method, seen)) = request(&mut socket).await {
        if answer(&mut socket, &method, seen, &shared).await.is_none() {
            return;
        }
    }
}

async fn request(socket: &mut Socket) -> Option<(String, Seen)> {
    let first = line(socket).await?;
    let mut words = first.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let header = line(socket).await?;
        let Some((name, value)) = header.split_once(':') else {
            break;
        };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let header = |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    let mut body = Vec::new();
    if header("transfer-encoding").is_some_and(|value| value.contains("chunked")) {
        loop {
            let size = usize::from_str_radix(line(socket).await?.split(';').next()?.trim(), 16).ok()?;
            let mut chunk = vec![0; size];
            socket.read_exact(&mut chunk).await.ok()?;
            line(socket).await?;
            if size == 0 {
                break;
            }
            body.extend(chunk);
        }
    } else {
        body = vec![0; header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0)];
        socket.read_exact(&mut body).await.ok()?;
    }
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Some((method, Seen { path, headers, body }))
}

async fn line(socket: &mut Socket) -> Option<String> {
    let mut line = String::new();
    let read = socket.read_line(&mut line).await.ok()?;
    (read > 0).then(|| line.trim_end().to_owned())
}

/// Answers a request; `None` if the connection must end.
async fn answer(socket: &mut Socket, method: &str, seen: Seen, shared: &Shared) -> Option<()> {
    let path = seen.path.split('?').next().unwrap_or_default().to_owned();
    let streams = seen.body["stream"] == true;
    let model = seen.body["model"].as_str().unwrap_or_default().to_owned();
    if path.ends_with("/count_tokens") {
        return whole(socket, 200, &json!({ "input_tokens": 100 }), None).await;
    }
    let of_anthropic = path.ends_with("/messages");
    if method != "POST" || !(of_anthropic || path.ends_with("/responses")) {
        return whole(socket, 404, &problem("not_found_error", "no such path"), None).await;
    }
    let reply = shared.reply(seen);
    if let Reply::Status(status, text, wait) = reply {
        let kind = match status {
            401 => "authentication_error",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            400 => "invalid_request_error",
            _ => "api_error",
        };
        return whole(socket, status, &problem(kind, text), wait).await;
    }
    if let Reply::Raw(status, headers, body) = reply {
        let head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
        send(socket, head.as_bytes()).await?;
        return send(socket, body.as_bytes()).await;
    }
    let events = match of_anthropic {
        true if !streams => return whole(socket, 200, &anthropic::message(&model, &reply), None).await,
        true => anthropic::events(&model, &reply),
        false => openai::events(&model, &reply),
    };
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    send(socket, head.as_bytes()).await?;
    for (at, (name, data)) in events.iter().enumerate() {
        match reply {
            Reply::Drop if at == 2 => return None,
            Reply::Stall if at == 2 => {
                // Wait until the other side gives up.
                let _ = socket.read_u8().await;
                return None;
            }
            _ => {}
        }
        let event = format!("event: {name}\ndata: {data}\n\n");
        send(socket, format!("{:x}\r\n{event}\r\n", event.len()).as_bytes()).await?;
    }
    send(socket, b"0\r\n\r\n").await
}

fn problem(kind: &str, text: &str) -> Value {
    json!({ "type": "error", "error": { "type": kind, "message": text } })
}

async fn whole(socket: &mut Socket, status: u16, body: &Value, wait: Option<u32>) -> Option<()> {
    let body = body.to_string();
    let wait = wait.map(|seconds| format!("retry-after: {seconds}\r\n")).unwrap_or_default();
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{wait}\r\n",
        body.len()
    );
    send(socket, head.as_bytes()).await?;
    send(socket, body.as_bytes()).await
}

async fn send(socket: &mut Socket, bytes: &[u8]) -> Option<()> {
    socket.get_mut().write_all(bytes).await.ok()?;
    socket.get_mut().flush().await.ok()
}
