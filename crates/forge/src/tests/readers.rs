//! The view of readers: other host names of this machine, private repositories, and a forge of one person.

use super::world::*;
use crate::{Forge, ForgeOptions, Hands, QuickReply, Readers, Replies, RepoSource, Role, Settings, Topic};
use secrecy::SecretString;
use std::path::Path;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// Sends a GET and returns the whole answer.
async fn get(forge: &Forge, path: &str, headers: &str) -> String {
    let address = forge.url().trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\n{headers}connection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

const HOST: &str = "host: LOCALHOST\r\n";

#[tokio::test]
async fn a_name_of_elsewhere_that_leads_here_is_refused() {
    let world = World::new().await;
    for path in ["/", "/acme/shop", "/api/v3/repos/acme/shop", "/acme/shop.git/info/refs?service=git-upload-pack"] {
        for host in ["host: evil.example\r\n", "host: 127.0.0.1.evil.example:80\r\n"] {
            let refused = get(&world.forge, path, host).await;
            assert!(refused.starts_with("HTTP/1.1 403"), "{path}: {refused}");
            assert!(refused.contains("for this machine alone"), "{refused}");
        }
        let answered = get(&world.forge, path, HOST).await;
        assert!(answered.starts_with("HTTP/1.1 200"), "{path}: {answered}");
    }
}

async fn of_one_person(folder: &Path) -> Forge {
    let options = ForgeOptions {
        readers: Readers::WithKey {
            key: SecretString::from("secret"),
            hands: Hands {
                login: "ann".to_owned(),
                replies: Replies::by(|topic| Box::pin(async move { vec![offered(topic)] })),
            },
        },
        ..ForgeOptions::new(folder)
    };
    let forge = Forge::start(options).await.unwrap();
    forge.create_organization("acme");
    forge.create_user("ann");
    let settings = Settings { private: true, ..Settings::default() };
    let files = RepoSource::Files(&[("README.md", "# Shop\n")]);
    forge.create_repo(REPO, files, settings).await.unwrap();
    forge.set_role(REPO, "ann", Role::Admin).unwrap();
    forge
}

#[tokio::test]
async fn who_shows_the_key_reads_the_pages_and_nobody_else_does() {
    let dir = tempfile::tempdir().unwrap();
    let forge = of_one_person(dir.path()).await;
    for path in ["/", "/acme/shop", "/acme/shop?key=guessed", "/nothing"] {
        let refused = get(&forge, path, HOST).await;
        assert!(refused.starts_with("HTTP/1.1 403") && refused.contains("?key="), "{path}: {refused}");
    }
    let began = get(&forge, "/acme/shop?key=secret", HOST).await;
    assert!(began.starts_with("HTTP/1.1 200") && began.contains("refresh: 0; url=/acme/shop\r\n"), "{began}");
    let cookie = began.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let session = format!("{HOST}cookie: {}\r\n", cookie.split(';').next().unwrap());
    assert!(get(&forge, "/", &session).await.contains("acme/shop"));
    assert!(get(&forge, "/acme/shop", &session).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn a_private_repository_is_fetched_with_a_token_alone() {
    let dir = tempfile::tempdir().unwrap();
    let forge = of_one_person(&dir.path().join("forge")).await;
    let url = format!("{}/acme/shop.git", forge.url());
    let refused = git(dir.path(), &["clone", &url, "stranger"]).await;
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("could not read Username"), "{said}");
    let answer = get(&forge, "/api/v3/repos/acme/shop", HOST).await;
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    let token = user_token(&forge, "ann");
    let url = url.replace("http://", &format!("http://ann:{token}@"));
    git_ok(dir.path(), &["clone", "-q", &url, "own"]).await;
}

#[tokio::test]
async fn pages_for_everybody_leave_private_repositories_out() {
    let world = World::new().await;
    world.forge.as_user("ann").unwrap().make_private(REPO).unwrap();
    let all = get(&world.forge, "/", HOST).await;
    assert!(all.starts_with("HTTP/1.1 200") && !all.contains(REPO), "{all}");
    assert!(get(&world.forge, "/acme/shop", HOST).await.starts_with("HTTP/1.1 404"));
}

/// Offers one reply on the world's first pull request, and another one on later ones.
fn offered(topic: Topic) -> QuickReply {
    match topic.number {
        1 => QuickReply { label: "Again", text: "/again", like: None },
        _ => QuickReply { label: "Go on", text: "/go on", like: None },
    }
}

/// Sends what a browser sends when a button is pressed; returns the whole answer.
async fn press(forge: &Forge, path: &str, headers: &str, body: &str) -> String {
    let address = forge.url().trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request =
        format!("POST {path} HTTP/1.1\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

async fn session(forge: &Forge) -> String {
    let began = get(forge, "/?key=secret", HOST).await;
    let mut lines = began.lines();
    let cookie = lines.find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    format!("{HOST}cookie: {}\r\n", cookie.split(';').next().unwrap())
}

fn token_of(page: &str) -> String {
    let (_, rest) = page.split_once("name=\"token\" value=\"").unwrap();
    rest.split('"').next().unwrap().to_owned()
}

/// Opens a pull request by Bob that adds a file; returns its number.
async fn with_pull(forge: &Forge) -> u64 {
    forge.create_user("bob");
    forge.set_role(REPO, "bob", Role::Write).unwrap();
    let bob = forge.as_user("bob").unwrap();
    let files = [("list.txt", Some("one\n"))];
    bob.push(REPO, "list", "Begin a list", &files).await.unwrap();
    bob.open_pull(REPO, "list", "main", "A list", "").await.unwrap()
}

#[tokio::test]
async fn who_shows_the_key_acts_as_the_person_and_github_s_rules_hold() {
    let dir = tempfile::tempdir().unwrap();
    let forge = of_one_person(dir.path()).await;
    let pull = with_pull(&forge).await;
    let (own, at) = (session(&forge).await, format!("/acme/shop/pull/{pull}"));
    let page = get(&forge, &at, &own).await;
    for shown in ["Approve", "Request changes", "Merge", "Commit to list", ">Again<", "Comment or review as ann"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(!page.contains(">Go on<"), "that one stands on issues");
    let token = token_of(&page);
    let act = |fields: &str| {
        let (path, body) = (format!("{at}/act"), format!("token={token}&{fields}"));
        let (forge, own) = (&forge, &own);
        async move { press(forge, &path, own, &body).await }
    };
    let done = act("act=comment&body=Well+done%0D%0Aindeed").await;
    assert!(done.contains("303") && done.contains(&format!("location: {at}\r\n")), "{done}");
    let text = "act=commit&path=docs%2Flist.md&text=two%0D%0Athree&message=";
    assert!(act(text).await.contains("303"));
    let head = forge.head(REPO, "list").unwrap().unwrap();
    let file = forge.look(REPO, &format!("contents/docs/list.md?ref={head}")).await.unwrap();
    assert_eq!(file["size"], "two\nthree\n".len());
    for path in ["..%2Fx", ".git%2Fconfig", "a%2F%2Fb", "%2Fetc"] {
        let refused = act(&format!("act=commit&path={path}&text=x")).await;
        assert!(refused.contains(" 422 ") && refused.contains("This was not done"), "{refused}");
    }
    let opened = get(&forge, &format!("{at}?file=docs%2Flist.md"), &own).await;
    assert!(opened.contains("two\nthree"), "{opened}");
    assert!(act("act=approve&body=").await.contains("303"));
    let page = get(&forge, &at, &own).await;
    assert!(page.contains("Well done\nindeed") && page.contains("approved"), "{page}");
    assert!(act("act=merge").await.contains("303"));
    let refused = act("act=merge").await;
    assert!(refused.contains(" 405 ") && refused.contains("not mergeable"), "{refused}");
    let refused = act("act=commit&path=late.md&text=x").await;
    assert!(refused.contains(" 422 ") && refused.contains("is closed"), "{refused}");
    assert!(act("act=explode").await.contains(" 404 "));
    let events = forge.events();
    let by_ann = |kind: &str| events.iter().any(|event| event.actor == "ann" && event.kind == kind);
    for kind in ["comment.created", "push", "review.submitted", "pull_request.merged"] {
        assert!(by_ann(kind), "{kind}: {events:?}");
    }
}

#[tokio::test]
async fn what_was_closed_is_opened_again_unless_it_was_merged() {
    let dir = tempfile::tempdir().unwrap();
    let forge = of_one_person(dir.path()).await;
    let ann = forge.as_user("ann").unwrap();
    let (pull, issue) = (with_pull(&forge).await, ann.open_issue(REPO, "A list", "", &[]).unwrap());
    let own = session(&forge).await;
    for (number, at) in [(pull, format!("pull/{pull}")), (issue, format!("issues/{issue}"))] {
        let at = format!("/acme/shop/{at}");
        assert!(!has(&get(&forge, &at, &own).await, "reopen"));
        ann.close(REPO, number).unwrap();
        let page = get(&forge, &at, &own).await;
        assert!(has(&page, "reopen"), "{page}");
        let body = format!("token={}&act=reopen", token_of(&page));
        assert!(press(&forge, &format!("{at}/act"), &own, &body).await.contains("303"));
        assert!(!has(&get(&forge, &at, &own).await, "reopen"));
    }
    let at = format!("/acme/shop/pull/{pull}");
    let body = format!("token={}&act=merge", token_of(&get(&forge, &at, &own).await));
    assert!(press(&forge, &format!("{at}/act"), &own, &body).await.contains("303"));
    assert!(!has(&get(&forge, &at, &own).await, "reopen"));
}

#[tokio::test]
async fn nobody_else_acts() {
    let dir = tempfile::tempdir().unwrap();
    let forge = of_one_person(dir.path()).await;
    let pull = with_pull(&forge).await;
    let (own, at) = (session(&forge).await, format!("/acme/shop/pull/{pull}"));
    let token = token_of(&get(&forge, &at, &own).await);
    let body = |token: &str| format!("token={token}&act=merge");
    let path = format!("{at}/act");
    let foreign = format!("{own}origin: http://elsewhere.example\r\n");
    for (headers, body) in [(HOST, body(&token)), (own.as_str(), body("forged")), (foreign.as_str(), body(&token))] {
        let refused = press(&forge, &path, headers, &body).await;
        assert!(refused.starts_with("HTTP/1.1 403"), "{refused}");
    }
    let world = World::new().await;
    let refused = press(&world.forge, "/acme/shop/issues/1/act", HOST, &body(&token)).await;
    assert!(refused.starts_with("HTTP/1.1 403"), "{refused}");
}

#[tokio::test]
async fn an_open_page_follows_what_happens() {
    let dir = tempfile::tempdir().unwrap();
    let forge = of_one_person(dir.path()).await;
    let ann = forge.as_user("ann").unwrap();
    let issue = ann.open_issue(REPO, "A list", "", &[]).unwrap();
    let own = session(&forge).await;
    let address = forge.url().trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET /acme/shop/issues/{issue}/live HTTP/1.1\r\n{own}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut read = String::new();
    let mut piece = [0; 4_096];
    for awaited in ["data: <p>", "Hello from elsewhere"] {
        while !read.contains(awaited) {
            let count = stream.read(&mut piece).await.unwrap();
            assert!(count > 0, "{read}");
            read.push_str(&String::from_utf8_lossy(&piece[..count]));
        }
        ann.comment(REPO, issue, "Hello from elsewhere").unwrap();
    }
    assert!(has(&read, "say-again"), "its buttons stay: {read}");
    assert!(!read.contains("Comment as ann"), "what one writes in is left alone: {read}");
}

/// Returns `true` if a page has a button of this id.
fn has(page: &str, button: &str) -> bool {
    page.contains(&format!("id=\"{button}\""))
}

#[tokio::test]
async fn a_page_offers_what_can_be_done_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let forge = of_one_person(dir.path()).await;
    let (bobs, own) = (with_pull(&forge).await, session(&forge).await);
    let ann = forge.as_user("ann").unwrap();
    ann.push(REPO, "mine", "Mine", &[("list.txt", Some("other\n"))]).await.unwrap();
    let mine = ann.open_pull(REPO, "mine", "main", "Mine", "").await.unwrap();
    let page = async |number: u64| get(&forge, &format!("/acme/shop/pull/{number}"), &own).await;
    let offers = |page: &str| [has(page, "approve"), has(page, "merge"), page.contains("Request changes")];
    assert_eq!(offers(&page(bobs).await), [true, true, true]);
    assert_eq!(offers(&page(mine).await), [false, true, false], "nobody reviews their own");
    ann.merge(REPO, bobs, "merge").await.unwrap();
    let merged = page(bobs).await;
    assert_eq!(offers(&merged), [false, false, false]);
    assert!(!merged.contains("Commit by hand") && merged.contains("Comment as ann"), "{merged}");
    let conflicting = page(mine).await;
    assert_eq!(offers(&conflicting), [false, false, false]);
    assert!(conflicting.contains("It conflicts with <code>main</code>"), "{conflicting}");
}
