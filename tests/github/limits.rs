//! Limits, GitHub's own errors, lost replies: which calls are retried, and by whom.

use crate::world::*;
use autobuild::github::{App, Client, GithubError, GithubUrls};
use axum::{
    Json, Router,
    body::Body,
    routing::{get, post},
};
use domain::ids::{AppId, Millis};
use secrecy::SecretString;
use serde_json::json;
use std::time::Duration;
use tokio::net::TcpListener;
use wiremock::ResponseTemplate;

const COMMENTS: &str = "/repos/acme/shop/issues/42/comments";

async fn refused_comment(reply: ResponseTemplate) -> (World, GithubError) {
    let world = World::installed().await;
    world.replies("POST", COMMENTS, reply).await;
    let refused = world.repo().create_comment(ISSUE, "hello").await.unwrap_err();
    (world, refused)
}

#[tokio::test]
async fn a_post_is_sent_once_whatever_the_answer() {
    for status in [429, 500, 502, 503, 504] {
        let (world, error) = refused_comment(ResponseTemplate::new(status)).await;
        assert_eq!(world.bodies_sent("POST", COMMENTS).await.len(), 1, "{status}");
        match status {
            429 => assert!(matches!(error, GithubError::RateLimited { .. })),
            _ => assert!(matches!(error, GithubError::Uncertain { .. }), "{status}"),
        }
    }
}

#[tokio::test]
async fn a_read_is_tried_again() {
    let world = World::installed().await;
    world.answers_once("GET", "/repos/acme/shop/pulls/7", 502, json!({})).await;
    world.answers("GET", "/repos/acme/shop/pulls/7", 200, pull(7, "b", 22)).await;
    world.repo().pull(PULL).await.unwrap();
    assert_eq!(world.bodies_sent("GET", "/repos/acme/shop/pulls/7").await.len(), 2);
}

#[tokio::test]
async fn a_read_that_is_asked_to_wait_waits_in_the_database() {
    let world = World::installed().await;
    let busy = ResponseTemplate::new(503).insert_header("retry-after", "30");
    world.replies("GET", "/repos/acme/shop/pulls/7", busy).await;
    let error = world.repo().pull(PULL).await.unwrap_err();
    assert!(matches!(error, GithubError::Transient { retry_after, .. } if retry_after == Some(START.plus(30_000))));
    assert_eq!(world.bodies_sent("GET", "/repos/acme/shop/pulls/7").await.len(), 1);
}

#[tokio::test]
async fn a_limit_is_obeyed_in_githubs_order() {
    let reset = (START.0 / 1000 + 600).to_string();
    let secondary = json!({"message": "You have exceeded a secondary rate limit. Please wait a few minutes."});
    let blocked = json!({"message": "You have been temporarily blocked from content creation."});
    let healthy = || {
        ResponseTemplate::new(403)
            .insert_header("x-ratelimit-remaining", "4999")
            .insert_header("x-ratelimit-reset", reset.as_str())
    };
    let used_up = |status| {
        ResponseTemplate::new(status)
            .insert_header("x-ratelimit-remaining", "0")
            .insert_header("x-ratelimit-reset", reset.as_str())
    };
    let table = [
        (used_up(403).insert_header("retry-after", "7"), 7_000),
        (used_up(403), 600_000),
        (used_up(429), 600_000),
        (ResponseTemplate::new(429), 60_000),
        (ResponseTemplate::new(403).set_body_json(&secondary), 60_000),
        (healthy().set_body_json(&secondary), 60_000),
        (healthy().set_body_json(&blocked), 60_000),
        (ResponseTemplate::new(429).insert_header("retry-after", "soon"), 60_000),
        (ResponseTemplate::new(429).insert_header("retry-after", "999999999999999"), 2 * 3_600_000),
        (ResponseTemplate::new(429).insert_header("retry-after", "-5"), 1_000),
    ];
    for (reply, wait) in table {
        let (world, error) = refused_comment(reply).await;
        assert!(matches!(error, GithubError::RateLimited { until } if until == START.plus(wait)), "{wait}: {error:?}");
        assert_eq!(world.bodies_sent("POST", COMMENTS).await.len(), 1);
    }
}

#[tokio::test]
async fn a_real_prohibition_is_no_limit() {
    let reply = ResponseTemplate::new(403)
        .insert_header("x-ratelimit-remaining", "4999")
        .insert_header("x-accepted-github-permissions", "issues=write")
        .set_body_json(json!({"message": "Resource not accessible by integration"}));
    let (_, error) = refused_comment(reply).await;
    assert!(
        matches!(&error, GithubError::Forbidden { what } if what.contains("integration") && what.contains("issues=write"))
    );
}

#[tokio::test]
async fn graphql_reports_a_limit_with_status_200() {
    let world = World::installed().await;
    let limited = json!({"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]});
    let reset = (START.0 / 1000 + 90).to_string();
    let reply = ResponseTemplate::new(200)
        .insert_header("x-ratelimit-remaining", "0")
        .insert_header("x-ratelimit-reset", reset.as_str())
        .set_body_json(limited);
    world.replies("POST", "/graphql", reply).await;
    let error = world.repo().last_edit(ISSUE).await.unwrap_err();
    assert!(matches!(error, GithubError::RateLimited { until: Millis(ms) } if ms == START.0 + 90_000));
}

#[tokio::test]
async fn a_server_that_falls_silent_is_given_up() {
    let world = World::installed().await;
    let never = || ResponseTemplate::new(201).set_delay(Duration::from_secs(3600));
    world.replies("POST", COMMENTS, never()).await;
    world.replies("GET", "/repos/acme/shop/pulls/7", never()).await;
    // Everything that the calls need first is fetched before the clock is stopped. From then on, only waiting advances
    // it.
    world.client.bot(INSTALLATION).await.unwrap();
    world.repo().repository().await.unwrap();
    world.client.token(INSTALLATION, REPO, autobuild::github::Rights::Converse).await.unwrap();
    tokio::time::pause();
    let lost = world.repo().create_comment(ISSUE, "hello").await.unwrap_err();
    assert!(matches!(lost, GithubError::Uncertain { .. }), "{lost:?}");
    let unread = world.repo().pull(PULL).await.unwrap_err();
    assert!(matches!(unread, GithubError::Transient { .. }), "{unread:?}");
}

#[tokio::test]
async fn a_reply_that_breaks_off_leaves_a_write_uncertain() {
    let broken =
        || async { Body::from_stream(futures_util::stream::iter([Err::<&str, _>(std::io::Error::other("cut"))])) };
    let forge = Router::new()
        .route("/app/installations/11/access_tokens", post(|| async { Json(token("ghs_x")) }))
        .route("/repositories/22", get(|| async { Json(repository("acme/shop")) }))
        .route(COMMENTS, post(broken));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, forge).await });
    let client = client_of(&address);
    let error = client.repo(INSTALLATION, REPO).create_comment(ISSUE, "hello").await.unwrap_err();
    assert!(matches!(error, GithubError::Uncertain { .. }), "{error:?}");
}

#[tokio::test]
async fn a_write_that_never_left_is_not_uncertain() {
    let world = World::installed().await;
    world.repo().repository().await.unwrap();
    world.client.token(INSTALLATION, REPO, autobuild::github::Rights::Converse).await.unwrap();
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nobody = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let error = client_of(&nobody).repo(INSTALLATION, REPO).create_comment(ISSUE, "hello").await.unwrap_err();
    assert!(matches!(error, GithubError::Transient { .. }), "{error:?}");
}

fn client_of(address: &str) -> Client {
    let urls = GithubUrls::new(address, address).unwrap();
    Client::new(&App::new(AppId(7), &SecretString::from(PEM.as_str())).unwrap(), &urls, now).unwrap()
}
