//! Passes a request's body to git's HTTP back end, and git's CGI answer to the client.

use super::reply::reply;
use axum::body::Body;
use bytes::Bytes;
use futures_util::StreamExt;
use git::bare::ServedProcess;
use http::{HeaderMap, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::io::ReaderStream;

/// The most bytes that are read of git's answer to a push; the rest is cut.
const LARGEST_REPORT: u64 = 8 * 1024 * 1024;

pub(super) fn text_answer(status: u16, text: &str) -> Response<Body> {
    let mut headers = vec![("content-type", "text/plain")];
    if status == 401 {
        headers.push(("www-authenticate", "Basic realm=\"GitHub\""));
    }
    reply(status, &headers, text.to_owned())
}

/// Feeds the body to git, and returns git's whole answer once git has ended.
pub(super) async fn push(process: ServedProcess, body: Body) -> Response<Body> {
    let ServedProcess { mut child, stdin, stdout, stderr } = process;
    let (mut out, mut complaints) = (Vec::new(), Vec::new());
    let (mut stdout, mut stderr) = (stdout.take(LARGEST_REPORT), stderr.take(LARGEST_REPORT));
    let (read, _, _) =
        tokio::join!(stdout.read_to_end(&mut out), stderr.read_to_end(&mut complaints), feed(stdin, body));
    let ended = child.wait().await;
    if read.is_err() || ended.is_err() {
        return text_answer(500, "git could not be run");
    }
    if !complaints.is_empty() {
        tracing::debug!(stderr = %String::from_utf8_lossy(&complaints), "git complained about a push");
    }
    let (status, headers, rest) = cgi_head(&out);
    let body = Bytes::copy_from_slice(out.get(rest..).unwrap_or_default());
    answer(status, headers, Body::from(body))
}

/// Feeds the body to git while git's answer streams to the client.
pub(super) async fn stream(process: ServedProcess, body: Body) -> Response<Body> {
    let ServedProcess { mut child, stdin, mut stdout, mut stderr } = process;
    tokio::spawn(feed(stdin, body));
    tokio::spawn(async move {
        // git would block on a full pipe if nobody read its standard error.
        let mut complaints = Vec::new();
        let _ = stderr.read_to_end(&mut complaints).await;
    });
    let mut start = Vec::new();
    let mut chunk = [0_u8; 8192];
    while find_end(&start).is_none() {
        match stdout.read(&mut chunk).await {
            Ok(0) | Err(_) => break,
            Ok(count) => start.extend(chunk.iter().take(count)),
        }
    }
    let (status, headers, rest) = cgi_head(&start);
    let first = Bytes::copy_from_slice(start.get(rest..).unwrap_or_default());
    let more = ReaderStream::new(stdout);
    let all = futures_util::stream::once(async move { Ok(first) }).chain(more).chain(futures_util::stream::once(
        async move {
            // The child is kept until the whole answer is sent, because dropping it kills git.
            child.wait().await.map(|_| Bytes::new())
        },
    ));
    answer(status, headers, Body::from_stream(all))
}

async fn feed(mut stdin: tokio::process::ChildStdin, body: Body) {
    let mut chunks = body.into_data_stream();
    while let Some(Ok(chunk)) = chunks.next().await {
        // If git stops reading, its answer gives the reason.
        if stdin.write_all(&chunk).await.is_err() {
            return;
        }
    }
}

fn find_end(bytes: &[u8]) -> Option<usize> {
    let at = bytes.windows(4).position(|window| window == b"\r\n\r\n");
    at.map(|at| at + 4)
}

/// Returns the status and headers of a CGI answer, and the index of its body's first byte.
fn cgi_head(bytes: &[u8]) -> (u16, HeaderMap, usize) {
    let Some(end) = find_end(bytes) else {
        return (500, HeaderMap::new(), bytes.len());
    };
    let text = String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).into_owned();
    let (mut status, mut headers) = (200, HeaderMap::new());
    for line in text.lines() {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        if name.eq_ignore_ascii_case("status") {
            let code = value.trim().split(' ').next();
            status = code.and_then(|code| code.parse().ok()).unwrap_or(500);
        } else if let (Ok(name), Ok(value)) = (name.parse::<http::HeaderName>(), value.trim().parse()) {
            headers.insert(name, value);
        }
    }
    (status, headers, end)
}

pub(super) fn answer(status: u16, headers: HeaderMap, body: Body) -> Response<Body> {
    let mut response = reply(status, &[], body);
    *response.headers_mut() = headers;
    response
}
