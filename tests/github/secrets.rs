//! Tokens and keys stay out of errors and logs for any answer of GitHub.

use crate::{log, world::*};
use autobuild::github::{GithubError, Rights};
use secrecy::ExposeSecret;
use serde_json::json;
use std::error::Error;
use text::secret::Secrets;
use wiremock::ResponseTemplate;

const COMMENTS: &str = "/repos/acme/shop/issues/42/comments";

/// Returns every printable form of an error.
fn printed(error: &GithubError) -> String {
    let mut text = format!("{error} {error:?}");
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(" {error} {error:?}"));
        cause = error.source();
    }
    text
}

#[tokio::test]
async fn no_error_and_no_line_of_the_log_holds_a_token_or_a_key() {
    let echo = format!("you sent Bearer {}", *TOKEN);
    let mut errors = String::new();
    for reply in [
        ResponseTemplate::new(403).set_body_json(json!({"message": echo})),
        ResponseTemplate::new(422).set_body_json(json!({"message": "no", "errors": [echo, {"message": echo}]})),
        ResponseTemplate::new(500).set_body_string(echo.clone()),
        ResponseTemplate::new(404).set_body_string(echo.clone()),
        ResponseTemplate::new(401).set_body_string(echo.clone()),
        ResponseTemplate::new(201).set_body_string("not json"),
    ] {
        let world = World::installed().await;
        world.replies("POST", COMMENTS, reply).await;
        errors.push_str(&printed(&world.repo().create_comment(ISSUE, "x").await.unwrap_err()));
    }
    let world = World::new().await;
    let odd = json!({"token": [*TOKEN], "expires_at": 5});
    world.answers("POST", "/app/installations/11/access_tokens", 201, odd).await;
    errors.push_str(&printed(&world.repo().repository().await.unwrap_err()));
    let log = log::recorded();
    let key_line = PEM.lines().nth(1).unwrap();
    assert!(log.contains("GitHub answered"), "the log was recorded");
    for (name, text) in [("errors", errors), ("log", log)] {
        assert!(!text.contains(TOKEN.as_str()), "a token in the {name}");
        assert!(!text.contains("eyJ"), "a JWT in the {name}");
        assert!(!text.contains(key_line), "the key in the {name}");
    }
}

#[tokio::test]
async fn what_holds_a_token_is_not_printed_by_accident() {
    let world = World::installed().await;
    let token = world.client.token(INSTALLATION, REPO, Rights::Push).await.unwrap();
    assert!(!format!("{token:?}").contains("ghs_"));
}

#[tokio::test]
async fn a_token_of_any_form_that_was_minted_is_let_out_nowhere_until_it_ends() {
    let odd = "v9.Qw3rtyUiop-asdfGhjk";
    let secrets = Secrets::default();
    let mut world = World::new().await;
    world.client = world.client.masking(secrets.clone());
    let answer = json!({"token": odd, "expires_at": "2026-01-15T11:30:00Z"});
    world.answers("POST", "/app/installations/11/access_tokens", 201, answer).await;
    assert_eq!(secrets.mask(odd), odd);
    let mint = world.client.token(INSTALLATION, REPO, Rights::Push).await.unwrap();
    assert_eq!(mint.expose_secret(), odd);
    for said in [odd.to_owned(), format!("{{\"t\":\"{odd}\"}}"), odd.replace('.', "%2E")] {
        assert!(secrets.mask(&said).contains("[masked]"), "{said}");
    }
    let comment = json!({"id": 5, "user": {"id": BOT, "login": "autobuild[bot]", "type": "Bot"}});
    world.answers("GET", "/repositories/22", 200, repository("acme/shop")).await;
    world.answers("POST", COMMENTS, 201, comment).await;
    let _ = world.repo().create_comment(ISSUE, &format!("it printed {odd}")).await;
    let requests = world.server.received_requests().await.unwrap();
    let posted = requests.last().map(|request| String::from_utf8_lossy(&request.body).into_owned());
    assert_eq!(posted.as_deref(), Some("{\"body\":\"it printed [masked]\"}"));
}
