//! Addresses, pages, redirects and answers of unexpected shape.

use crate::world::*;
use autobuild::github::{
    AccessLevel, GithubError, IssueEdit,
    webhook::{Inbound, parse},
};
use domain::ids::{CommentId, UserId};
use serde_json::json;
use wiremock::{
    Mock, ResponseTemplate,
    matchers::{header, header_exists, method, path, query_param},
};

const COMMENTS: &str = "/repos/acme/shop/issues/42/comments";

#[tokio::test]
async fn the_next_page_is_read_with_credentials_though_its_address_is_absolute() {
    let world = World::installed().await;
    let next = format!("<{}{COMMENTS}?page=2>; rel=\"next\"", world.server.uri());
    let first = ResponseTemplate::new(200)
        .insert_header("link", next.as_str())
        .set_body_json(json!([comment(1, BOT, "<!-- autobuild:1 -->"), comment(2, 33, "<!-- autobuild:2 -->")]));
    let second = ResponseTemplate::new(200).set_body_json(json!([comment(3, BOT, "<!-- autobuild:2 -->")]));
    for (page, reply) in [("1", first), ("2", second)] {
        Mock::given(method("GET"))
            .and(path(COMMENTS))
            .and(query_param("page", page))
            .and(header("authorization", format!("Bearer {}", *TOKEN)))
            .respond_with(reply)
            .mount(&world.server)
            .await;
    }
    let found = world.repo().find_comment(ISSUE, "<!-- autobuild:2 -->").await.unwrap().unwrap();
    assert_eq!(found.id, CommentId(3));
    assert_eq!(found.author.unwrap().user.id, UserId(BOT));
}

#[tokio::test]
async fn a_full_page_is_followed_even_without_a_link() {
    let world = World::installed().await;
    let full: Vec<_> = (0..100).map(|id| comment(id, 33, "talk")).collect();
    let page = |number: &str| Mock::given(method("GET")).and(path(COMMENTS)).and(query_param("page", number));
    page("1").respond_with(ResponseTemplate::new(200).set_body_json(full)).mount(&world.server).await;
    let last = json!([comment(200, BOT, "mine")]);
    page("2").respond_with(ResponseTemplate::new(200).set_body_json(last)).mount(&world.server).await;
    assert!(world.repo().find_comment(ISSUE, "mine").await.unwrap().is_some());
}

#[tokio::test]
async fn a_list_without_an_end_is_given_up() {
    let world = World::installed().await;
    let endless = ResponseTemplate::new(200)
        .insert_header("link", "<https://x>; rel=\"next\"")
        .set_body_json(json!([comment(1, 33, "again")]));
    world.replies("GET", COMMENTS, endless).await;
    let error = world.repo().find_comment(ISSUE, "mine").await.unwrap_err();
    assert!(matches!(error, GithubError::Malformed { .. }));
    let requests = world.server.received_requests().await.unwrap();
    let asked: Vec<_> = requests.iter().filter(|request| request.url.path() == COMMENTS).collect();
    assert_eq!(asked.len(), 100);
}

#[tokio::test]
async fn an_enterprise_server_is_asked_below_api_v3_and_at_api_graphql() {
    let world = World::below("/api/v3").await;
    world.grants_tokens("/api/v3").await;
    world.answers("GET", "/api/v3/repositories/22", 200, repository("acme/shop")).await;
    let answer = json!({"data": {"repository": {"issue": {
        "lastEditedAt": "2026-01-15T10:30:00Z", "editor": {"login": "mallory"},
    }}}});
    Mock::given(method("POST"))
        .and(path("/api/graphql"))
        .and(header_exists("authorization"))
        .respond_with(ResponseTemplate::new(200).set_body_json(answer))
        .mount(&world.server)
        .await;
    let edit = IssueEdit { at: START, editor: Some("mallory".to_owned()) };
    assert_eq!(world.repo().last_edit(ISSUE).await.unwrap(), Some(edit));
}

#[tokio::test]
async fn every_request_names_the_version_of_the_api() {
    let world = World::installed().await;
    world.answers("POST", COMMENTS, 201, comment(1, BOT, "x")).await;
    world.answers("POST", "/graphql", 200, json!({"data": {"repository": null}})).await;
    world.repo().create_comment(ISSUE, "x").await.unwrap();
    assert!(matches!(world.repo().last_edit(ISSUE).await, Err(GithubError::NotFound)));
    let requests = world.server.received_requests().await.unwrap();
    assert!(requests.len() >= 4);
    for request in requests {
        assert_eq!(request.headers["x-github-api-version"], "2022-11-28", "{}", request.url);
        let agent = request.headers["user-agent"].to_str().unwrap();
        assert!(agent.starts_with("AutoBuild/"), "{agent}: {}", request.url);
    }
}

#[tokio::test]
async fn a_renamed_repository_gets_its_post_and_no_get_in_its_place() {
    let world = World::new().await;
    world.grants_tokens("").await;
    world.answers_once("GET", "/repositories/22", 200, repository("acme/shop")).await;
    world.answers("GET", "/repositories/22", 200, repository("acme/store")).await;
    let moved = ResponseTemplate::new(301)
        .insert_header("location", format!("{}/repositories/22/issues/42/comments", world.server.uri()).as_str())
        .set_body_json(json!({"message": "Moved Permanently"}));
    world.replies("POST", COMMENTS, moved).await;
    world.answers("POST", "/repos/acme/store/issues/42/comments", 201, comment(5, BOT, "x")).await;
    assert_eq!(world.repo().create_comment(ISSUE, "x").await.unwrap().id, CommentId(5));
    assert_eq!(world.bodies_sent("POST", "/repos/acme/store/issues/42/comments").await, [json!({"body": "x"})]);
    assert!(world.bodies_sent("GET", "/repositories/22/issues/42/comments").await.is_empty());
    world.repo().create_comment(ISSUE, "y").await.unwrap();
    assert_eq!(world.bodies_sent("POST", COMMENTS).await.len(), 1, "the new name is remembered");
}

#[tokio::test]
async fn a_redirect_without_a_new_name_is_refused() {
    let world = World::installed().await;
    world.replies("POST", COMMENTS, ResponseTemplate::new(307)).await;
    let error = world.repo().create_comment(ISSUE, "x").await.unwrap_err();
    assert!(matches!(error, GithubError::Refused { status: 307, .. }));
}

#[tokio::test]
async fn errors_are_texts_or_objects_or_no_json_at_all() {
    let table = [
        (json!({"message": "Validation Failed", "errors": ["Draft it"]}), "Validation Failed; Draft it"),
        (
            json!({"message": "Validation Failed", "errors": [{"resource": "Issue", "field": "title", "code": "missing"}]}),
            "Validation Failed; Issue.title: missing",
        ),
        (json!({"message": "No", "errors": [{"message": "Body is too long"}]}), "No; Body is too long"),
        (json!({"message": null, "errors": "one text"}), "one text"),
        (json!("just a text"), "\"just a text\""),
    ];
    for (body, expected) in table {
        let world = World::installed().await;
        world.answers("POST", COMMENTS, 422, body).await;
        match world.repo().create_comment(ISSUE, "x").await {
            Err(GithubError::Refused { status: 422, text }) => assert_eq!(text, expected),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn an_answer_of_another_shape_is_malformed() {
    for body in [json!([]), json!({"id": "one"}), json!(null)] {
        let world = World::installed().await;
        world.answers("POST", COMMENTS, 201, body).await;
        let error = world.repo().create_comment(ISSUE, "x").await.unwrap_err();
        assert!(matches!(error, GithubError::Malformed { .. }));
    }
}

#[tokio::test]
async fn an_answer_without_measure_is_not_read_to_its_end() {
    let world = World::installed().await;
    let huge = ResponseTemplate::new(200).set_body_bytes(vec![b' '; 33 * 1024 * 1024]);
    world.replies("GET", "/repos/acme/shop/pulls/7", huge).await;
    assert!(matches!(world.repo().pull(PULL).await, Err(GithubError::Malformed { .. })));
    assert_eq!(world.bodies_sent("GET", "/repos/acme/shop/pulls/7").await.len(), 1);
}

#[tokio::test]
async fn a_name_is_looked_up_again_after_a_while_and_when_told() {
    let world = World::installed().await;
    let lookups = async || {
        world.repo().name().await.unwrap();
        world.bodies_sent("GET", "/repositories/22").await.len()
    };
    assert_eq!((lookups().await, lookups().await), (1, 1));
    pass(10 * 60_000);
    assert_eq!(lookups().await, 2);
    world.client.forget_name(REPO);
    assert_eq!(lookups().await, 3);
}

#[tokio::test]
async fn who_is_no_user_may_do_nothing() {
    let world = World::installed().await;
    let triage = json!({"permission": "read", "role_name": "triage", "user": null});
    world.answers("GET", "/repos/acme/shop/collaborators/ada/permission", 200, triage).await;
    assert_eq!(world.repo().access_of("ada").await.unwrap(), AccessLevel::Triage);
    assert_eq!(world.repo().access_of("Copilot").await.unwrap(), AccessLevel::None);
    assert_eq!(world.repo().access_of("../../ada").await.unwrap(), AccessLevel::None);
}

#[test]
fn webhook_actions_that_octocrab_cannot_read_are_normal() {
    for (event, action) in [("issues", "typed"), ("issues", "field_added"), ("issue_comment", "pinned")] {
        let payload = json!({"action": action, "issue": {"new": "shape"}}).to_string();
        assert_eq!(parse(event, payload.as_bytes()), Ok(Inbound::Ignored));
    }
}

#[tokio::test]
async fn the_log_of_deliveries_is_read_back_to_a_time_and_no_further() {
    let world = World::installed().await;
    let entry = |id: u64, at: &str| json!({"id": id, "guid": id.to_string(), "event": "push", "delivered_at": at});
    let times = ["2026-01-03T00:00:00Z", "2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"];
    for (at, cursor) in [(0, None), (1, Some("v1_b")), (2, Some("v1_c"))] {
        let next =
            format!("<{}/app/hook/deliveries?cursor=v1_{}>; rel=\"next\"", world.server.uri(), ["b", "c", "d"][at]);
        let reply = ResponseTemplate::new(200)
            .insert_header("link", next.as_str())
            .set_body_json(json!([entry(9 - u64::try_from(at).unwrap(), times[at])]));
        let page = Mock::given(method("GET")).and(path("/app/hook/deliveries"));
        let page = match cursor {
            Some(cursor) => page.and(query_param("cursor", cursor)),
            None => page.and(wiremock::matchers::query_param_is_missing("cursor")),
        };
        page.respond_with(reply).mount(&world.server).await;
    }
    let two_hours = |newest: domain::ids::Millis| newest.plus(-2 * 3_600_000);
    let log = world.client.delivery_log(two_hours).await.unwrap();
    let ids: Vec<u64> = log.iter().map(|entry| entry.id).collect();
    assert_eq!(ids, [9, 8], "the page that begins before the time is the last");
}
