//! Pushes, their refusals, and their consequences.

use super::world::*;
use crate::{BranchRule, RuleKind};
use serde_json::{Value, json};

async fn clone(world: &World, token: &str) -> std::path::PathBuf {
    git_ok(world.dir.path(), &["clone", "-q", &world.remote(token), "work"]).await;
    world.dir.path().join("work")
}

async fn commit(work: &std::path::Path, path: &str, text: &str) {
    let file = work.join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
    git_ok(work, &["add", "-A"]).await;
    git_ok(work, &["commit", "-qm", path]).await;
}

#[tokio::test]
async fn pushes_need_a_token_that_may_write() {
    let world = World::new().await;
    world.forge.as_user("ann").unwrap().make_private(REPO).unwrap();
    let reader = world.token(json!({"contents": "read"})).await;
    let work = clone(&world, &reader).await;
    commit(&work, "a.txt", "1").await;
    let done = git(&work, &["push", "origin", "HEAD:refs/heads/x"]).await;
    assert!(String::from_utf8_lossy(&done.stderr).contains("403"), "{}", String::from_utf8_lossy(&done.stderr));
    let none = world.token(json!({"issues": "write"})).await;
    assert!(!git(world.dir.path(), &["clone", "-q", &world.remote(&none), "no"]).await.status.success());
    assert!(!git(world.dir.path(), &["clone", "-q", &world.remote("ghs_wrong"), "no"]).await.status.success());
    assert_eq!(world.forge.head(REPO, "x").unwrap(), None);
}

#[tokio::test]
async fn rules_and_workflow_files_stop_a_push_and_say_why() {
    let world = World::new().await;
    let token = world.token(json!({"contents": "write"})).await;
    let work = clone(&world, &token).await;
    let rule = |pattern: &str, kind| BranchRule { pattern: pattern.to_owned(), kind };
    world.forge.add_rule(REPO, rule("bot/*", RuleKind::Creation)).unwrap();
    world.forge.add_rule(REPO, rule("main", RuleKind::PullRequest { approvals: 0 })).unwrap();
    commit(&work, "a.txt", "1").await;
    let said = async |target: &str| {
        let done = git(&work, &["push", "origin", &format!("HEAD:{target}")]).await;
        String::from_utf8_lossy(&done.stderr).into_owned()
    };
    let told = said("refs/heads/bot/1").await;
    assert!(told.contains("GH013") && told.contains("remote rejected"), "{told}");
    assert!(said("refs/heads/main").await.contains("Changes must be made through a pull request."));
    assert!(said("refs/pull/9/head").await.contains("hidden ref"));
    commit(&work, ".github/workflows/x.yml", "on: push").await;
    let told = said("refs/heads/free").await;
    assert!(
        told.contains("refusing to allow a GitHub App to create or update workflow `.github/workflows/x.yml`"),
        "{told}"
    );
    let id = world.forge.repo_id(REPO).unwrap();
    let branches = world.forge.site.read(|state| state.repo(id).unwrap().branches.len());
    assert_eq!(branches, 1);
}

#[tokio::test]
async fn a_push_moves_its_pull_request_and_a_lease_guards_it() {
    let world = World::new().await;
    let token = world.token(json!({"contents": "write", "pull_requests": "write"})).await;
    let work = clone(&world, &token).await;
    commit(&work, "a.txt", "1").await;
    git_ok(&work, &["push", "-q", "origin", "HEAD:refs/heads/x"]).await;
    let first = git_ok(&work, &["rev-parse", "HEAD"]).await;
    let new = json!({"title": "x", "head": "x", "base": "main"});
    let (_, pull) = world.raw("POST", "/repos/acme/shop/pulls", Some(&token), new).await;
    let number = pull["number"].as_u64().unwrap();
    world.forge.as_user("bob").unwrap().push(REPO, "x", "Bob's", &[("b.txt", Some("b"))]).await.unwrap();
    commit(&work, "c.txt", "1").await;
    let lease = format!("--force-with-lease=refs/heads/x:{first}");
    assert!(!git(&work, &["push", "-q", &lease, "origin", "HEAD:refs/heads/x"]).await.status.success());
    git_ok(&work, &["push", "-q", "--force", "origin", "HEAD:refs/heads/x"]).await;
    world.forge.deliveries_idle().await;
    let moved = world.inbox.payload("pull_request.synchronize");
    assert_eq!((&moved["before"], &moved["number"]), (&json!(first), &json!(number)));
    let kinds = world.inbox.kinds();
    assert_eq!(kinds.iter().filter(|kind| *kind == "pull_request.synchronize").count(), 2);
    let last = world.forge.events().into_iter().rev().find(|event| event.kind == "push").unwrap();
    assert_eq!((last.actor.as_str(), last.what.as_str()), ("worker[bot]", "force-pushed to x"));
}

#[tokio::test]
async fn a_head_pushed_to_its_base_is_merged_and_a_deleted_branch_closes_the_pull_request() {
    let world = World::new().await;
    let bob = world.forge.as_user("bob").unwrap();
    let head = bob.push(REPO, "x", "x", &[("x.txt", Some("x"))]).await.unwrap();
    let merged = bob.open_pull(REPO, "x", "main", "x", "").await.unwrap();
    bob.push(REPO, "y", "y", &[("y.txt", Some("y"))]).await.unwrap();
    let closed = bob.open_pull(REPO, "y", "main", "y", "").await.unwrap();
    bob.set_branch(REPO, "main", &head).await.unwrap();
    bob.delete_branch(REPO, "y").await.unwrap();
    let look = async |number: u64| world.forge.look(REPO, &format!("pulls/{number}")).await.unwrap();
    let pull = look(merged).await;
    assert_eq!(
        (&pull["merged"], &pull["merged_by"]["login"], &pull["state"]),
        (&json!(true), &json!("bob"), &json!("closed"))
    );
    let pull = look(closed).await;
    assert_eq!((&pull["merged"], &pull["state"]), (&json!(false), &json!("closed")));
    assert!(bob.reopen(REPO, closed).await.is_err(), "its branch is gone");
    let commits = world.forge.look(REPO, &format!("pulls/{closed}/commits")).await.unwrap();
    assert_eq!(commits.as_array().map(Vec::len), Some(1), "its commits stay");
}

#[tokio::test]
async fn a_renamed_repository_answers_with_redirects_and_git_follows_its_old_name() {
    let world = World::new().await;
    let ann = world.forge.as_user("ann").unwrap();
    let number = ann.open_issue(REPO, "One", "", &[]).unwrap();
    ann.rename_repo(REPO, "store").unwrap();
    let token = world.token(json!({"contents": "write", "issues": "write"})).await;
    let (status, body) =
        world.raw("GET", &format!("/repos/acme/shop/issues/{number}"), Some(&token), Value::Null).await;
    let id = world.forge.repo_id(REPO).unwrap();
    let to = format!("{}/repositories/{id}/issues/{number}", world.forge.api_url());
    assert_eq!((status, &body["url"]), (301, &json!(to)));
    let path = format!("/repositories/{id}/issues/{number}");
    assert_eq!(world.raw("GET", &path, Some(&token), Value::Null).await.1["title"], "One");
    assert_eq!(
        world.raw("POST", "/repos/acme/shop/issues/1/comments", Some(&token), json!({"body": "x"})).await.0,
        307
    );
    clone(&world, &token).await;
}

#[tokio::test]
async fn the_feed_tells_what_a_review_says_on_lines() {
    let world = World::new().await;
    let changed = [("src/lib.rs", Some("pub fn one() -> u8 {\n    2\n}\n"))];
    let bob = world.forge.as_user("bob").unwrap();
    bob.push(REPO, "x", "x", &changed).await.unwrap();
    let pull = bob.open_pull(REPO, "x", "main", "Two", "").await.unwrap();
    let remark = crate::LineRemark { path: "src/lib.rs".to_owned(), line: Some(2), text: "Why two?".to_owned() };
    let ann = world.forge.as_user("ann").unwrap();
    ann.review(REPO, pull, "REQUEST_CHANGES", "Not yet.", &[remark]).await.unwrap();
    let told = world.forge.events();
    let told = told.iter().find(|event| event.kind == "review.submitted").unwrap();
    let on_line = crate::LineRemark { path: "src/lib.rs".to_owned(), line: Some(2), text: "Why two?".to_owned() };
    assert_eq!((told.text.as_str(), told.remarks.as_slice()), ("Not yet.", &[on_line][..]));
}

#[tokio::test]
async fn pages_show_the_conversation_and_nothing_that_acts() {
    let world = World::new().await;
    let ann = world.forge.as_user("ann").unwrap();
    let number = ann.open_issue(REPO, "A <script> title", "<script>x</script>\n\n**bold**", &[]).unwrap();
    ann.comment(REPO, number, "<!-- hidden -->Hello").unwrap();
    let bob = world.forge.as_user("bob").unwrap();
    bob.push(REPO, "x", "x", &[("src/lib.rs", Some("pub fn one() -> u8 {\n    2\n}\n"))]).await.unwrap();
    let pull = bob.open_pull(REPO, "x", "main", "Two", "").await.unwrap();
    let remark = crate::LineRemark { path: "src/lib.rs".to_owned(), line: Some(2), text: "Why two?".to_owned() };
    ann.review(REPO, pull, "REQUEST_CHANGES", "Not yet.", &[remark]).await.unwrap();
    let page = async |path: &str| {
        let client = hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new()).build_http();
        let uri = format!("{}{path}", world.forge.url()).parse().unwrap();
        let answer: http::Response<hyper::body::Incoming> = {
            let client: hyper_util::client::legacy::Client<_, http_body_util::Empty<bytes::Bytes>> = client;
            client.get(uri).await.unwrap()
        };
        use http_body_util::BodyExt;
        String::from_utf8(answer.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
    };
    let issue = page(&format!("/acme/shop/issues/{number}")).await;
    assert!(issue.contains("A &lt;script&gt; title") && issue.contains("<strong>bold</strong>"), "{issue}");
    assert!(!issue.contains("<script>") && !issue.contains("hidden"), "{issue}");
    let shown = page(&format!("/acme/shop/pull/{pull}")).await;
    assert!(shown.contains("changes requested") && shown.contains("Why two?") && shown.contains("Not yet."), "{shown}");
    assert!(page("/").await.contains("/acme/shop"));
    assert!(page("/acme/shop").await.contains("Two"));
    assert!(page("/acme/nothing").await.contains("no such page"));
}

#[tokio::test]
async fn a_move_whose_client_goes_away_is_followed_up_all_the_same() {
    use tokio::io::AsyncWriteExt;
    let world = World::new().await;
    let token = world.token(json!({"contents": "write"})).await;
    let main = world.forge.head(REPO, "main").unwrap();
    let refs = format!("/repos/{REPO}/git/refs");
    let body = json!({"ref": "refs/heads/x", "sha": main});
    assert_eq!(world.raw("POST", &refs, Some(&token), body).await.0, 201);
    let address = world.forge.api_url().trim_start_matches("http://").to_owned();
    let (host, _) = address.split_once('/').unwrap();
    let file = |name: &str| format!("/repos/{REPO}/contents/{name}");
    let body = json!({"message": "Count", "content": "", "branch": "x"});
    let (path, sent) = (file("one"), body.to_string());
    let request = format!(
        "PUT /api/v3{path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\ncontent-length: {}\r\n\r\n{sent}",
        sent.len()
    );
    let mut client = tokio::net::TcpStream::connect(host).await.unwrap();
    client.write_all(request.as_bytes()).await.unwrap();
    drop(client);
    let moved = async {
        while world.forge.head(REPO, "x").unwrap() == main {
            tokio::task::yield_now().await;
        }
    };
    let watchdog = std::time::Duration::from_secs(60);
    tokio::time::timeout(watchdog, moved).await.expect("never moved");
    let (status, answer) = world.raw("PUT", &file("two"), Some(&token), body).await;
    assert_eq!(status, 201, "{answer}");
    let pushes = world
        .forge
        .events()
        .into_iter()
        .filter(|event| event.kind == "push" && event.actor == "worker[bot]" && event.what.ends_with('x'));
    assert_eq!(pushes.count(), 3);
}
