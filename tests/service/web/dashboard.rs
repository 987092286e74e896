//! The dashboard: who may see it, and its pages about a whole demo.

use crate::web::service::{Connected, Service};
use autobuild::cli::assemble;
use futures_util::future::join_all;
use page_parts::session::{Reach, Session};
use secrecy::SecretString;
use std::process::Stdio;
use support::postgres;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    process::{Child, Command},
};

fn get(path: &str, cookie: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncookie: {cookie}\r\n\r\n").into_bytes()
}

fn form(path: &str, cookie: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncookie: {cookie}\r\n\
         content-type: application/x-www-form-urlencoded\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

async fn ask(service: &Service, request: &[u8]) -> (String, String) {
    let mut connected: Connected = service.connect().await;
    connected.send(request).await;
    connected.whole_answer().await.unwrap()
}

#[tokio::test]
async fn who_shows_the_token_sees_the_work_and_nobody_else_does() {
    let service = Service::start().await;
    for path in ["/", "/features/1/2/3", "/features/1/2/3/run?id=x"] {
        let (head, _) = ask(&service, &get(path, "autobuild_session=9999999999999.00")).await;
        assert!(head.contains("303") && head.contains("location: /sign-in"), "{path}: {head}");
    }
    for path in ["/live", "/features/1/2/3/live"] {
        assert!(ask(&service, &get(path, "")).await.0.contains(" 401 "), "{path}");
    }
    let (head, page) = ask(&service, &form("/sign-in", "", "token=guessed")).await;
    assert!(head.contains(" 403 ") && page.contains("This is not the token."), "{head}");
    let (head, _) = ask(&service, &form("/sign-in", "", "token=the+administrator%27s")).await;
    let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    assert!(
        cookie.contains("HttpOnly; Max-Age=43200; SameSite=Lax") && !head.contains("the administrator's"),
        "{head}"
    );
    let session = cookie.split(';').next().unwrap();
    let (head, page) = ask(&service, &get("/", session)).await;
    assert!(head.contains(" 200 ") && head.contains("script-src 'self'"), "{head}");
    assert!(page.contains("Nothing waits for you.") && page.contains("Sign out"), "{page}");
    for path in ["/features/1/2/3", "/features/1/2/3/run?id=x", "/features/1/2/3/run"] {
        assert!(ask(&service, &get(path, session)).await.0.contains(" 404 "), "{path}");
    }
}

#[tokio::test]
async fn only_the_pages_own_form_signs_out() {
    let service = Service::start().await;
    let (head, _) = ask(&service, &form("/sign-in", "", "token=the+administrator%27s")).await;
    let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    let session = cookie.split(';').next().unwrap();
    let (head, _) = ask(&service, &form("/sign-out", session, "token=forged")).await;
    assert!(!head.contains("set-cookie"), "{head}");
    let (_, page) = ask(&service, &get("/", session)).await;
    let token = page.split_once("name=\"token\" value=\"").unwrap().1.split('"').next().unwrap();
    let (head, _) = ask(&service, &form("/sign-out", session, &format!("token={token}"))).await;
    assert!(head.contains("Max-Age=0"), "{head}");
}

/// Returns a session of the administrator.
async fn signed_in(service: &Service) -> String {
    let (head, _) = ask(service, &form("/sign-in", "", "token=the+administrator%27s")).await;
    let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    cookie.split(';').next().unwrap().to_owned()
}

async fn sign_out(service: &Service, session: &str) {
    let (_, page) = ask(service, &get("/", session)).await;
    let (_, rest) = page.split_once("name=\"token\" value=\"").unwrap();
    let token = rest.split('"').next().unwrap();
    ask(service, &form("/sign-out", session, &format!("token={token}"))).await;
}

/// Features that appear, one after the other.
const BUILT: [(&str, &str); 2] = [
    (
        "INSERT INTO feature (id, installation_id, repo_id, issue_number, run, state, version, data) \
         VALUES ('22/41/1', 11, 22, 41, 1, 'building', 1, '{}')",
        "issue #41",
    ),
    (
        "INSERT INTO feature (id, installation_id, repo_id, issue_number, run, state, version, data) \
         VALUES ('22/42/1', 11, 22, 42, 1, 'building', 1, '{}')",
        "issue #42",
    ),
];

#[tokio::test]
async fn a_stream_follows_the_work_and_ends_with_its_session() {
    let service = Service::start().await;
    let (session, other) = (signed_in(&service).await, signed_in(&service).await);
    let mut stream = service.connect().await;
    stream.send(&get("/live", &session)).await;
    let begun = stream.until("<h1>Work</h1>").await;
    assert!(begun.contains("text/event-stream"), "{begun}");
    for (insert, shown) in BUILT {
        service.tamper(insert).await;
        stream.until(shown).await;
    }
    sign_out(&service, &session).await;
    stream.until("event: gone").await;
    let (head, _) = ask(&service, &get("/", &session)).await;
    assert!(head.contains("location: /sign-in"), "{head}");
    assert!(ask(&service, &get("/", &other)).await.0.contains(" 200 "));
}

#[tokio::test]
async fn who_comes_to_an_open_page_is_not_shown_what_it_was_before() {
    let service = Service::start().await;
    let session = signed_in(&service).await;
    let (mut first, mut later) = (service.connect().await, service.connect().await);
    first.send(&get("/live", &session)).await;
    first.until("<h1>Work</h1>").await;
    for (insert, _) in BUILT {
        service.tamper(insert).await;
    }
    later.send(&get("/live", &session)).await;
    let begun = later.until("\n\n").await;
    assert!(begun.contains(BUILT[BUILT.len() - 1].1), "{begun}");
}

#[tokio::test]
async fn wrong_tokens_are_slowed_down_and_keep_the_right_one_out_of_nothing() {
    let service = Service::start().await;
    let guess = form("/sign-in", "", "token=guessed");
    let heads = join_all((0..60).map(async |_| ask(&service, &guess).await.0)).await;
    let count = |status: &str| heads.iter().filter(|head| head.contains(status)).count();
    assert!(count(" 403 ") >= 30 && count(" 429 ") > 0 && count(" 303 ") == 0, "{heads:?}");
    let session = signed_in(&service).await;
    assert!(ask(&service, &get("/", &session)).await.0.contains(" 200 "));
}

#[tokio::test]
async fn who_knows_the_token_cannot_make_sessions_without_the_service() {
    let service = Service::start().await;
    let session = signed_in(&service).await;
    let (name, _) = session.split_once('=').unwrap();
    let token = SecretString::from("the administrator's");
    let forged = Session::begin(&token, assemble::clock().0, 0, None).cookie(Reach::Plain);
    let (own_name, value) = forged.split(';').next().unwrap().split_once('=').unwrap();
    for name in [name, own_name] {
        let (head, _) = ask(&service, &get("/", &format!("{name}={value}"))).await;
        assert!(head.contains("location: /sign-in"), "{head}");
    }
}

#[tokio::test]
async fn who_signs_out_is_out_of_every_replica() {
    let database = postgres::database().await;
    let (one, other) = (Service::on(&database).await, Service::on(&database).await);
    let session = signed_in(&one).await;
    let mut stream = other.connect().await;
    stream.send(&get("/live", &session)).await;
    stream.until("<h1>Work</h1>").await;
    sign_out(&one, &session).await;
    stream.until("event: gone").await;
    let (head, _) = ask(&other, &get("/", &session)).await;
    assert!(head.contains("location: /sign-in"), "{head}");
}

#[tokio::test]
async fn after_signing_in_people_see_the_page_that_they_asked_for() {
    let service = Service::start().await;
    let wanted = "/sign-in?to=%2Fdoctor%3Frepo%3Dacme%252Fshop";
    let (head, _) = ask(&service, &get("/doctor?repo=acme%2Fshop", "")).await;
    assert!(head.contains(&format!("location: {wanted}\r\n")), "{head}");
    let (_, page) = ask(&service, &get(wanted, "")).await;
    assert!(page.contains("name=\"to\" value=\"/doctor?repo=acme%2Fshop\""), "{page}");
    let lands = async |to: &str| {
        let body = format!("token=the+administrator%27s&to={to}");
        let (head, _) = ask(&service, &form("/sign-in", "", &body)).await;
        let location = head.lines().find_map(|line| line.strip_prefix("location: "));
        location.unwrap_or_else(|| panic!("{head}")).to_owned()
    };
    assert_eq!(lands("%2Fdoctor%3Frepo%3Dacme%252Fshop").await, "/doctor?repo=acme%2Fshop");
    for elsewhere in ["https%3A%2F%2Fevil.example", "%2F%2Fevil.example", "%2F%5Cevil.example", "%2F%0D%0Aa%3A+b"] {
        assert_eq!(lands(elsewhere).await, "/", "{elsewhere}");
    }
    let (_, page) = ask(&service, &form("/sign-in", "", "token=guessed&to=%2Fqueue")).await;
    assert!(page.contains("name=\"to\" value=\"/queue\""), "a second try leads there too: {page}");
}

#[tokio::test]
async fn a_feature_that_cannot_be_read_hides_no_other_and_says_so() {
    let service = Service::start().await;
    let session = signed_in(&service).await;
    service
        .tamper(
            "INSERT INTO feature (id, installation_id, repo_id, issue_number, run, state, version, data) \
             VALUES ('22/42/1', 11, 22, 42, 1, 'building', 1, '{\"key\": \"of another version\"}')",
        )
        .await;
    let (head, page) = ask(&service, &get("/", &session)).await;
    assert!(head.contains(" 200 "), "{head}");
    assert!(
        page.contains("<h4>repository 22</h4>")
            && page.contains("issue #42 · AutoBuild cannot read what it stored")
            && page.contains("At work"),
        "{page}"
    );
    let (head, page) = ask(&service, &get("/features/22/42/1", &session)).await;
    assert!(head.contains(" 500 "), "{head}");
    assert!(page.contains("This page cannot be shown") && !page.contains("database"), "{page}");
}

#[tokio::test]
async fn an_address_without_a_page_answers_with_one() {
    let service = Service::start().await;
    let session = signed_in(&service).await;
    for path in ["/nowhere", "/features/x/y/z", "/features/1", "/features/1/2/99999999999/run?id=x"] {
        let (head, page) = ask(&service, &get(path, &session)).await;
        assert!(head.contains(" 404 ") && head.contains("text/html"), "{path}: {head}");
        assert!(page.contains("There is no such page") && page.contains("Sign out"), "{path}: {page}");
    }
    let (_, page) = ask(&service, &get("/nowhere", "")).await;
    assert!(!page.contains("Sign out"), "{page}");
}

#[tokio::test]
async fn a_failed_step_is_tried_again_by_the_pages_own_button_alone() {
    let service = Service::start().await;
    let session = signed_in(&service).await;
    service
        .tamper(
            "INSERT INTO effect (id, kind, lane, subject, feature_id, ordered, installation_id, payload, state, priority, \
             run_at, first_due, attempt, last_error) VALUES \
             ('say', 'living', 'forge', '22/42/1', '22/42/1', 0, 11, '{\"living\":{\"emission\":1}}', 'failed', 1, 1, 1, 9, \
              'refused <b>twice</b>'), \
             ('plan', 'plan', 'agent', '22/42/1', '22/42/1', 1, 11, '{\"plan\":{\"emission\":1}}', 'failed', 1, 1, 1, 0, 'x')",
        )
        .await;
    let (_, page) = ask(&service, &get("/queue", &session)).await;
    assert!(page.contains("refused &lt;b&gt;twice&lt;/b&gt;") && page.contains("10 tries"), "{page}");
    assert_eq!(page.matches(">Try again<").count(), 1, "nobody waits for a comment; a plan's Feature knows: {page}");
    let ready = "SELECT count(*) FROM effect WHERE state = 'ready'";
    let token = page.rsplit_once("name=\"token\" value=\"").unwrap().1.split('"').next().unwrap();
    let press = |token: &str| form("/queue/try-again", &session, &format!("token={token}&id=say"));
    let foreign = String::from_utf8(press(token)).unwrap();
    let foreign = foreign.replace("\r\ncookie", "\r\norigin: http://elsewhere.example\r\ncookie");
    let elsewhere = foreign.replace("\r\ncookie", "\r\nsec-fetch-site: cross-site\r\ncookie");
    for refused in [press("forged"), foreign.clone().into_bytes(), elsewhere.into_bytes()] {
        let (head, _) = ask(&service, &refused).await;
        assert!(head.contains(" 403 "), "{head}");
        assert_eq!(service.count(ready).await, 0);
    }
    let (head, _) = ask(&service, &form("/queue/try-again", "", &format!("token={token}&id=say"))).await;
    assert!(head.contains("location: /sign-in"), "{head}");
    // Behind a proxy that uses another name for us, the browser's own header still shows it.
    let behind = foreign.replace("\r\ncookie", "\r\nsec-fetch-site: same-origin\r\ncookie");
    for pressed in [behind.into_bytes(), press(token)] {
        let (head, _) = ask(&service, &pressed).await;
        assert!(head.contains("location: /queue"), "{head}");
        assert_eq!(service.count(ready).await, 1);
    }
    let plan = form("/queue/try-again", &session, &format!("token={token}&id=plan"));
    ask(&service, &plan).await;
    assert_eq!(service.count(ready).await, 1, "its end would change nothing");
}

#[tokio::test]
async fn spending_is_shown_against_time_also_as_a_table() {
    let service = Service::start().await;
    let session = signed_in(&service).await;
    let (_, page) = ask(&service, &get("/spending", &session)).await;
    assert!(page.contains("not enough yet") && page.contains("$0.00, no limit"), "{page}");
    service
        .tamper(
            "INSERT INTO run (id, effect_id, fence, installation_id, repo_id, feature_id, turn, role, agent, state, \
             usd_micros, prompt_chars, started_at, ended_at) SELECT 'r', 'e', 1, 11, 22, '22/42/1', 1, 'player', 'claude', 'ended', \
             1250000, 0, unixepoch() * 1000, unixepoch() * 1000",
        )
        .await;
    let (_, page) = ask(&service, &get("/spending", &session)).await;
    for shown in [
        "<svg",
        "As a table",
        "$1.25, no limit",
        "<td data-label=\"agent runs\">1</td><td data-label=\"spent\">$1.25</td>",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
}

/// Returns the answer of a demo's server; for a stream, its first event.
async fn page_of(address: &str, path: &str, (host, cookie): (&str, &str), until: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\ncookie: {cookie}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut read = Vec::new();
    let mut piece = [0; 65_536];
    loop {
        let count = stream.read(&mut piece).await.unwrap();
        read.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&read);
        if count == 0 || text.contains(until) {
            return text.into_owned();
        }
    }
}

/// Starts a demo; also returns the address of its dashboard, from the line with this text before it, and the path with
/// the key.
async fn demo(arguments: &[&str], before: &str) -> (Child, String, String) {
    let mut demo = Command::new(env!("CARGO_BIN_EXE_autobuild"))
        .arg("demo")
        .args(arguments)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(demo.stdout.take().unwrap()).lines();
    loop {
        let line = lines.next_line().await.unwrap().unwrap();
        if let Some((_, rest)) = line.split_once(before) {
            // The output must be read, or the program would stop.
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            let (address, path) = rest.split_once('/').unwrap();
            return (demo, address.to_owned(), format!("/{path}"));
        }
    }
}

/// Returns the session that the key begins; asserts that there is none without the key or under another host name.
async fn session(address: &str, opening: &str) -> String {
    let stranger = (address, "");
    for path in ["/", "/live", "/features/1/2/3", "/?key=guessed"] {
        let refused = page_of(address, path, stranger, "?key=").await;
        assert!(refused.contains(" 403 "), "{path}: {refused}");
    }
    let elsewhere = page_of(address, opening, ("elsewhere.example", ""), "this machine alone").await;
    assert!(elsewhere.contains(" 403 ") && !elsewhere.contains("set-cookie"), "{elsewhere}");
    let began = page_of(address, opening, stranger, "\r\n\r\n").await;
    assert!(began.contains("refresh: 0; url=/\r\n"), "{began}");
    let cookie = began.lines().find_map(|line| line.strip_prefix("set-cookie: "));
    cookie.unwrap().split(';').next().unwrap().to_owned()
}

/// Asserts that the forge's pages to which a dashboard's page links open with the same session, and that its
/// repositories do not.
async fn pages_of_the_forge(page: &str, cookie: &str) {
    let on_forge = page.split_once("href=\"http://").unwrap().1.split('"').next().unwrap();
    let (forge, issue) = on_forge.split_once('/').unwrap();
    let (path, _) = issue.split_once('#').unwrap_or((issue, ""));
    let path = format!("/{path}");
    let refused = page_of(forge, &path, (forge, ""), "?key=").await;
    assert!(refused.contains(" 403 "), "{refused}");
    let fetch = "/acme/tally.git/info/refs?service=git-upload-pack";
    let fetched = page_of(forge, fetch, (forge, ""), "required").await;
    assert!(fetched.contains(" 401 "), "the source is fetched with a token alone: {fetched}");
    let shown = page_of(forge, &path, (forge, cookie), "</html>").await;
    assert!(shown.contains(" 200 "), "one key opens the forge's pages too: {shown}");
}

#[tokio::test]
async fn a_whole_demo_can_be_watched() {
    let (_demo, address, opening) = demo(&[], "dashboard   http://").await;
    let cookie = session(&address, &opening).await;
    let own = (address.as_str(), cookie.as_str());
    let all = page_of(&address, "/", own, "</html>").await;
    let feature = all.split_once("href=\"/features/").unwrap().1.split('"').next().unwrap();
    let path = format!("/features/{feature}");
    let page = page_of(&address, &path, own, "</html>").await;
    for shown in ["State: completed.", "<svg", "TASK-005", "changes requested", "red before green"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let run = page.split_once("/run?id=").unwrap().1.split('"').next().unwrap();
    let run = page_of(&address, &format!("{path}/run?id={run}"), own, "</html>").await;
    assert!(run.contains("prints") && run.contains("ready_for_validation"), "{run}");
    let live = page_of(&address, &format!("{path}/live"), own, "State: completed.").await;
    assert!(live.contains("text/event-stream") && live.contains("data: <h1>"), "{live}");
    pages_of_the_forge(&page, own.1).await;
}
