//! Registers Apps from manifests and installs them, as a person does in a browser.

use super::world::*;
use crate::state::UserKind;
use http_body_util::BodyExt;
use serde_json::{Value, json};

/// A person's browser: it has a cookie and follows no redirects.
struct Visitor<'a> {
    world: &'a World,
    cookie: String,
}

/// Status, `Location` and page.
type Answer = (u16, String, String);

impl World {
    async fn visits(&self, login: &str) -> Visitor<'_> {
        let mut visitor = Visitor { world: self, cookie: String::new() };
        visitor.cookie = visitor.cookie_of(login).await;
        visitor
    }
}

impl Visitor<'_> {
    async fn send(&self, method: &str, path: &str, fields: &[(&str, &str)]) -> http::Response<hyper::body::Incoming> {
        let client = hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new()).build_http();
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let request = http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.world.forge.url()))
            .header("cookie", &self.cookie)
            .body(http_body_util::Full::new(bytes::Bytes::from(body)))
            .unwrap();
        client.request(request).await.unwrap()
    }

    async fn cookie_of(&self, login: &str) -> String {
        let answer = self.send("POST", "/session", &[("login", login)]).await;
        let cookie = answer.headers()["set-cookie"].to_str().unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }

    async fn asks(&self, method: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
        let answer = self.send(method, path, fields).await;
        let status = answer.status().as_u16();
        let to = answer.headers().get("location").map(|to| to.to_str().unwrap().to_owned());
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        (status, to.unwrap_or_default(), String::from_utf8(body.to_vec()).unwrap())
    }

    /// Posts a form with the token of the page at `from`.
    async fn posts(&self, page: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
        let (_, rest) = page.split_once("authenticity_token\" value=\"").unwrap();
        let token = rest.split('"').next().unwrap();
        let all: Vec<(&str, &str)> =
            [("authenticity_token", token)].into_iter().chain(fields.iter().copied()).collect();
        self.asks("POST", path, &all).await
    }

    /// Registers an App of acme; returns the answer that sends the browser back.
    async fn registers(&self, manifest: &str) -> Answer {
        let (_, _, page) =
            self.asks("POST", "/organizations/acme/settings/apps/new?state=s", &[("manifest", manifest)]).await;
        let fields = [("manifest", manifest), ("state", "s")];
        self.posts(&page, "/organizations/acme/settings/apps", &fields).await
    }
}

fn manifest(name: &str) -> String {
    json!({
        "name": name, "url": "https://example.com", "redirect_url": "http://127.0.0.1:1/back?a=b",
        "setup_url": "http://127.0.0.1:1/setup", "hook_attributes": {"url": "http://127.0.0.1:1/hook"},
        "default_permissions": {"issues": "write"}, "default_events": ["issues"],
    })
    .to_string()
}

fn code(to: &str) -> String {
    let url = url::Url::parse(to).unwrap();
    let found = url.query_pairs().find(|(name, _)| name == "code");
    found.unwrap().1.into_owned()
}

#[tokio::test]
async fn a_code_is_exchanged_once_for_an_hour_and_for_whole_credentials() {
    let world = World::new().await;
    world.forge.make_owner("acme", "ann").unwrap();
    let ann = world.visits("ann").await;
    let (status, to, _) = ann.registers(&manifest("My Builder")).await;
    assert_eq!(status, 302);
    assert!(to.starts_with("http://127.0.0.1:1/back?a=b&code=") && to.ends_with("&state=s"), "{to}");
    let path = format!("/app-manifests/{}/conversions", code(&to));
    let (status, app) = world.raw("POST", &path, None, Value::Null).await;
    assert_eq!(status, 201);
    assert_eq!((&app["slug"], &app["owner"]["login"]), (&json!("my-builder"), &json!("acme")));
    assert_eq!(app["permissions"], json!({"issues": "write"}));
    for field in ["client_id", "client_secret", "webhook_secret", "html_url", "node_id"] {
        assert!(app[field].as_str().is_some_and(|text| !text.is_empty()), "{field}");
    }
    let pem = app["pem"].as_str().unwrap();
    assert!(pem.starts_with("-----BEGIN RSA PRIVATE KEY-----\n"));
    jsonwebtoken::EncodingKey::from_rsa_pem(pem.as_bytes()).unwrap();
    world.forge.deliveries_idle().await;
    assert_eq!(world.forge.deliveries("my-builder")[0].1, "ping");

    assert_eq!(world.raw("POST", &path, None, Value::Null).await.0, 404, "used");
    let unknown = world.raw("POST", "/app-manifests/x/conversions", None, Value::Null).await;
    assert_eq!(unknown.0, 404);
    let (_, to, _) = ann.registers(&manifest("Late")).await;
    world.forge.site.change(|state| {
        for code in state.manifest_codes.values_mut() {
            code.made_at -= chrono::Duration::minutes(61);
        }
    });
    let path = format!("/app-manifests/{}/conversions", code(&to));
    assert_eq!(world.raw("POST", &path, None, Value::Null).await.0, 404, "older than an hour");
}

#[tokio::test]
async fn what_github_refuses_is_refused() {
    let world = World::new().await;
    world.forge.make_owner("acme", "ann").unwrap();
    let (ann, bob) = (world.visits("ann").await, world.visits("bob").await);
    let new = "/organizations/acme/settings/apps/new";
    assert_eq!(bob.asks("POST", new, &[("manifest", &manifest("B"))]).await.0, 404, "no owner");
    let (_, _, page) = ann.asks("POST", new, &[("manifest", "{")]).await;
    assert!(page.contains("Invalid GitHub App configuration"), "{page}");
    ann.registers(&manifest("My Builder")).await;
    let (status, _, page) = ann.registers(&manifest("my-builder")).await;
    assert!(status == 200 && page.contains("Name is already taken"), "{page}");
    let fields = [("manifest", manifest("C"))];
    let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
    let forged = ann.asks("POST", "/organizations/acme/settings/apps", &fields).await;
    assert_eq!(forged.0, 422, "a form of another site");
    let nobody = Visitor { world: &world, cookie: String::new() };
    let (_, _, page) = nobody.asks("POST", new, &fields).await;
    assert!(page.contains("Who are you") && page.contains("name=\"manifest\""), "{page}");
    assert_eq!(bob.asks("GET", "/organizations/acme/settings/apps/my-builder", &[]).await.0, 404);
    assert_eq!(bob.asks("GET", "/apps/my-builder/installations/new", &[]).await.0, 404);
}

#[tokio::test]
async fn an_app_is_installed_where_its_owner_says_and_goes_with_all_its_installations() {
    let world = World::new().await;
    world.forge.make_owner("acme", "ann").unwrap();
    let ann = world.visits("ann").await;
    ann.registers(&manifest("My Builder")).await;
    let (_, _, page) = ann.asks("GET", "/apps/my-builder/installations/new", &[]).await;
    let to = "/apps/my-builder/installations";
    let selected = ann.posts(&page, to, &[("install_target", "selected")]).await;
    assert_eq!(selected.0, 422, "none is selected");
    let repo = world.forge.repo_id(REPO).unwrap().to_string();
    let (status, back, _) = ann.posts(&page, to, &[("install_target", "selected"), ("repository_ids", &repo)]).await;
    assert_eq!(status, 302);
    assert!(back.starts_with("http://127.0.0.1:1/setup?installation_id="), "{back}");
    assert!(back.ends_with("&setup_action=install"), "{back}");
    let (status, there, _) = ann.asks("GET", "/apps/my-builder/installations/new", &[]).await;
    assert!(status == 302 && there.starts_with("/organizations/acme/settings/installations/"), "{there}");
    let settings = "/organizations/acme/settings/apps/my-builder";
    let (_, _, page) = ann.asks("GET", settings, &[]).await;
    assert_eq!(ann.posts(&page, &format!("{settings}/delete"), &[]).await.0, 302);
    assert!(world.forge.app("my-builder").is_none());
    let bots = world.forge.site.read(|state| {
        let bots = state.users.values().filter(|user| user.kind == UserKind::Bot);
        bots.filter(|user| user.login.starts_with("my-builder")).count()
    });
    assert_eq!(bots, 0);
}

#[tokio::test]
async fn an_issue_is_written_on_its_page_with_what_its_address_brings() {
    let world = World::new().await;
    let path = format!("/{REPO}/issues/new");
    let asked = format!("{path}?labels=autobuild&title=A+title&body=One%0ATwo");
    let fields = [("title", "A title"), ("body", "One\r\nTwo"), ("labels", "autobuild, other")];
    // A person who may not label can still open an issue, without labels.
    for (login, labelled) in [("ann", true), ("eve", false)] {
        let author = world.visits(login).await;
        let (status, _, page) = author.asks("GET", &asked, &[]).await;
        assert_eq!(status, 200, "{page}");
        for brought in ["value=\"A title\"", "One\nTwo", "value=\"autobuild\""] {
            assert!(page.contains(brought), "{brought}: {page}");
        }
        assert_eq!(author.asks("POST", &path, &fields).await.0, 422, "no form of this page");
        let (status, to, _) = author.posts(&page, &path, &fields).await;
        assert_eq!(status, 302);
        let (_, _, issue) = author.asks("GET", &to, &[]).await;
        assert!(issue.contains("A title"), "{issue}");
        assert_eq!(issue.contains(">other<"), labelled, "{issue}");
    }
}
