//! Every call of the client against the local forge, which answers and refuses as GitHub does.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails where it stands, also in its helpers"
)]

use autobuild::github::{
    AUTOBUILD_EVENTS, AUTOBUILD_PERMISSIONS, AccessLevel, AnnotationLevel, App, COACH_PERMISSIONS, CheckAction,
    CheckAnnotation, CheckConclusion, CheckOutput, CheckReport, Client, GithubError, GithubUrls, MOST_ANNOTATIONS,
    Merge, MergeMethod, MergeRefusal, NewPull, NewReview, OpenedPull, PostedReview, PullChange, Repo, ReviewEvent,
    lacking, model::OpenState,
};
use domain::{
    effect::{Reaction, ReactionTarget},
    ids::{AppId, InstallationId, IssueNumber, Millis, PullNumber, RepoId, Sha},
    inline_comment::InlineComment,
};
use forge::{AppCredentials, Forge, ForgeOptions, NewApp, RepoSource, Role, Settings};

const REPO: &str = "acme/shop";
const BASE: &str = "autobuild/1/integration";
const HEAD: &str = "autobuild/1/task-001-a";

/// The forge's tokens expire in real time, so the client uses real time too.
#[allow(clippy::disallowed_methods, reason = "the forge's clock is the real one")]
fn now() -> Millis {
    Millis(chrono::Utc::now().timestamp_millis())
}

struct World {
    forge: Forge,
    main: Client,
    coach: Client,
    main_at: InstallationId,
    coach_at: InstallationId,
    repo: RepoId,
    _folder: tempfile::TempDir,
}

impl World {
    async fn new() -> Self {
        let folder = support::folder::folder("autobuild-github-");
        let forge = Forge::start(ForgeOptions::new(folder.path())).await.unwrap();
        forge.create_organization("acme");
        for login in ["ada", "eve"] {
            forge.create_user(login);
        }
        let files = RepoSource::Files(&[("src/auth.rs", "one\ntwo\nthree\n")]);
        let repo = forge.create_repo(REPO, files, Settings::default()).await.unwrap();
        forge.set_role(REPO, "ada", Role::Write).unwrap();
        let app = |slug, permissions, events| {
            let new = NewApp { slug, owner: "acme", permissions, events, hook: None };
            let credentials = forge.create_app(&new).unwrap();
            let installation = forge.install(slug, "acme", None).unwrap();
            (client(&forge, &credentials), InstallationId(installation))
        };
        let (main, main_at) = app("autobuild", AUTOBUILD_PERMISSIONS, AUTOBUILD_EVENTS);
        let (coach, coach_at) = app("autobuild-coach", COACH_PERMISSIONS, &[]);
        Self { forge, main, coach, main_at, coach_at, repo: RepoId(repo), _folder: folder }
    }

    fn main(&self) -> Repo<'_> {
        self.main.repo(self.main_at, self.repo)
    }

    fn coach(&self) -> Repo<'_> {
        self.coach.repo(self.coach_at, self.repo)
    }

    fn issue(&self, title: &str) -> IssueNumber {
        let ada = self.forge.as_user("ada").unwrap();
        IssueNumber(ada.open_issue(REPO, title, "Please", &[]).unwrap())
    }

    /// Creates an integration branch, and a task branch with one more commit.
    async fn branches(&self) -> Sha {
        let main = self.main().branch_head("main").await.unwrap().unwrap();
        self.branch(BASE, &main).await;
        self.branch(HEAD, &main).await;
        self.push("one\n2\nthree\n").await
    }

    async fn branch(&self, branch: &str, at: &Sha) {
        let ada = self.forge.as_user("ada").unwrap();
        ada.set_branch(REPO, branch, at.as_str()).await.unwrap();
    }

    async fn push(&self, text: &str) -> Sha {
        let ada = self.forge.as_user("ada").unwrap();
        let pushed = ada.push(REPO, HEAD, "Change", &[("src/auth.rs", Some(text))]).await.unwrap();
        pushed.parse().unwrap()
    }

    async fn pull(&self) -> PullNumber {
        match self.main().create_pull(NEW).await.unwrap() {
            OpenedPull::Opened(pull) => pull.number,
            other => panic!("{other:?}"),
        }
    }
}

const NEW: NewPull<'static> = NewPull { title: "TASK-001", body: "Part of #1", head: HEAD, base: BASE, ready: false };

fn client(forge: &Forge, credentials: &AppCredentials) -> Client {
    let urls = GithubUrls::new(&forge.api_url(), forge.url()).unwrap();
    let app = App::new(AppId(credentials.id), &credentials.private_key).unwrap();
    Client::new(&app, &urls, now).unwrap()
}

#[tokio::test]
async fn an_app_knows_itself_and_its_bot_and_is_told_that_it_may_not_work() {
    let world = World::new().await;
    let identity = world.main.identity().await.unwrap();
    assert_eq!(lacking(&identity.permissions, AUTOBUILD_PERMISSIONS), []);
    let bot = world.main.bot(world.main_at).await.unwrap();
    assert_eq!(bot.login, "autobuild[bot]");
    assert_eq!(bot.id.0, world.forge.user_id("autobuild[bot]").unwrap());
    world.forge.suspend(world.main_at.0).unwrap();
    assert!(matches!(world.main().issue(IssueNumber(1)).await, Err(GithubError::Suspended)));
    world.forge.uninstall(world.main_at.0).unwrap();
    assert!(matches!(world.main().issue(IssueNumber(1)).await, Err(GithubError::Uninstalled)));
}

#[tokio::test]
async fn a_repository_is_the_same_under_another_name() {
    let world = World::new().await;
    let issue = world.issue("Sign-in");
    let repository = world.main().repository().await.unwrap();
    assert_eq!((repository.name.to_string().as_str(), repository.default_branch.as_str()), (REPO, "main"));
    world.forge.set_role(REPO, "ada", Role::Admin).unwrap();
    world.forge.as_user("ada").unwrap().rename_repo(REPO, "store").unwrap();
    world.main().create_comment(issue, "still here").await.unwrap();
    assert_eq!(world.main().name().await.unwrap().to_string(), "acme/store");
    assert_eq!(world.main().rules_for("autobuild/1/x").await.unwrap(), []);
}

#[tokio::test]
async fn an_expired_token_is_replaced() {
    let world = World::new().await;
    let issue = world.issue("Sign-in");
    world.main().issue(issue).await.unwrap();
    world.forge.expire_tokens();
    assert_eq!(world.main().issue(issue).await.unwrap().title, "Sign-in");
}

#[tokio::test]
async fn who_may_do_what_is_asked() {
    let world = World::new().await;
    assert_eq!(world.main().access_of("ada").await.unwrap(), AccessLevel::Write);
    assert!(world.main().access_of("eve").await.unwrap() <= AccessLevel::Read);
    assert_eq!(world.main().access_of("autobuild[bot]").await.unwrap(), AccessLevel::None);
    assert_eq!(world.main().access_of("nobody-at-all").await.unwrap(), AccessLevel::None);
}

#[tokio::test]
async fn an_issue_tells_its_text_and_its_last_edit() {
    let world = World::new().await;
    let issue = world.issue("Sign-in");
    assert_eq!(world.main().last_edit(issue).await.unwrap(), None);
    let ada = world.forge.as_user("ada").unwrap();
    ada.edit_issue(REPO, issue.0, None, Some("Please do")).unwrap();
    let edit = world.main().last_edit(issue).await.unwrap().unwrap();
    assert_eq!(edit.editor.as_deref(), Some("ada"));
    assert_eq!(world.main().issue(issue).await.unwrap().body.as_deref(), Some("Please do"));
    assert!(matches!(world.main().issue(IssueNumber(999)).await, Err(GithubError::NotFound)));
}

#[tokio::test]
async fn comments_are_found_changed_and_missed() {
    let world = World::new().await;
    let issue = world.issue("Sign-in");
    let marker = "<!-- autobuild:e1 -->";
    let ada = world.forge.as_user("ada").unwrap();
    ada.comment(REPO, issue.0, marker).unwrap();
    assert_eq!(world.main().find_comment(issue, marker).await.unwrap(), None);
    let made = world.main().create_comment(issue, &format!("{marker}\nPlan")).await.unwrap();
    let found = world.main().find_comment(issue, marker).await.unwrap();
    assert_eq!(found.map(|comment| comment.id), Some(made.id));
    assert_eq!(world.main().update_comment(made.id, "changed").await.unwrap().body, "changed");
    for _ in 0..2 {
        world.main().react(ReactionTarget::Issue(issue), Reaction::Eyes).await.unwrap();
        world.main().react(ReactionTarget::Comment(made.id), Reaction::Rocket).await.unwrap();
    }
    ada.delete_comment(REPO, made.id.0).unwrap();
    assert!(matches!(world.main().update_comment(made.id, "x").await, Err(GithubError::Gone)));
    let long = world.main().create_comment(issue, &"x".repeat(70_000)).await;
    assert!(matches!(long, Err(GithubError::Refused { status: 422, .. })));
}

#[tokio::test]
async fn a_pull_request_is_opened_once_made_ready_and_merged() {
    let world = World::new().await;
    let main = world.main().branch_head("main").await.unwrap().unwrap();
    world.branch("autobuild/1/empty", &main).await;
    let head = world.branches().await;
    let empty = NewPull { head: "autobuild/1/empty", ..NEW };
    assert_eq!(world.main().create_pull(empty).await.unwrap(), OpenedPull::NoCommits);
    let number = world.pull().await;
    match world.main().create_pull(NEW).await.unwrap() {
        OpenedPull::Adopted(pull) => assert_eq!((pull.number, pull.draft), (number, true)),
        other => panic!("{other:?}"),
    }
    let found = world.main().find_pull(HEAD).await.unwrap().unwrap();
    assert_eq!((found.number, &found.head.sha), (number, &head));
    let merge =
        async |sha: &Sha| world.main().merge_pull(number, sha, MergeMethod::Squash, "TASK-001", "").await.unwrap();
    assert!(matches!(merge(&head).await, Merge::Refused { why: MergeRefusal::Draft, .. }));
    world.main().mark_ready(number).await.unwrap();
    world.main().mark_ready(number).await.unwrap();
    assert!(!world.main().pull(number).await.unwrap().draft);
    assert!(matches!(merge(&main).await, Merge::Refused { why: MergeRefusal::HeadMoved, .. }));
    assert!(matches!(merge(&head).await, Merge::Merged { .. }));
    assert!(world.main().pull(number).await.unwrap().is_merged());
}

#[tokio::test]
async fn a_pull_request_is_closed_and_opened_again() {
    let world = World::new().await;
    world.branches().await;
    let number = world.pull().await;
    let to = |state| PullChange { state: Some(state), title: Some("Another title"), body: None };
    let closed = world.main().update_pull(number, to(OpenState::Closed)).await.unwrap();
    assert_eq!((closed.state, closed.title.as_str()), (OpenState::Closed, "Another title"));
    assert_eq!(world.main().find_pull(HEAD).await.unwrap(), None);
    let opened = world.main().update_pull(number, to(OpenState::Open)).await.unwrap();
    assert_eq!(opened.state, OpenState::Open);
}

#[tokio::test]
async fn the_coach_may_reject_what_autobuild_may_only_comment_on() {
    let world = World::new().await;
    let head = world.branches().await;
    let number = world.pull().await;
    let on_line = |line| [InlineComment { path: "src/auth.rs".to_owned(), line, body: "Why?".to_owned() }];
    let (off_the_diff, in_the_diff) = (on_line(400), on_line(2));
    let review = |event, inline| NewReview { event, commit: &head, body: "<!-- autobuild:e2 --> No.", inline };
    let own = world.main().create_review(number, review(ReviewEvent::RequestChanges, &[])).await.unwrap();
    assert_eq!(own, PostedReview::OwnPullRequest);
    let off = world.coach().create_review(number, review(ReviewEvent::RequestChanges, &off_the_diff)).await.unwrap();
    assert!(matches!(off, PostedReview::InlineRefused { .. }), "{off:?}");
    let posted = world.coach().create_review(number, review(ReviewEvent::RequestChanges, &in_the_diff)).await.unwrap();
    let PostedReview::Posted(posted) = posted else {
        panic!("{posted:?}");
    };
    assert_eq!(posted.commit.as_ref(), Some(&head));
    let found = world.coach().find_reviews(number, "<!-- autobuild:e2 -->").await.unwrap();
    assert_eq!(found.iter().map(|review| review.id).collect::<Vec<_>>(), [posted.id]);
    world.main().dismiss_review(number, posted.id, "overridden by @ada").await.unwrap();
    let comment = world.main().create_review(number, review(ReviewEvent::Comment, &[])).await.unwrap();
    assert!(matches!(comment, PostedReview::Posted(_)), "{comment:?}");
    assert_eq!(world.coach().reviews(number).await.unwrap().len(), 2);
}

#[tokio::test]
async fn annotations_are_appended_fifty_at_a_time_and_a_repeat_goes_on() {
    let world = World::new().await;
    let head = world.branches().await;
    let output = CheckOutput { title: "Turn 1".to_owned(), summary: "Three findings".to_owned() };
    let report = CheckReport {
        name: "AutoBuild",
        head: &head,
        external_id: "e9",
        conclusion: CheckConclusion::Failure,
        output: output.clone(),
        actions: Vec::new(),
    };
    let annotation = |line: u32| CheckAnnotation {
        path: "README.md".to_owned(),
        line,
        level: AnnotationLevel::Warning,
        title: "should_fix: design".to_owned(),
        message: "The name says nothing".to_owned(),
    };
    let all: Vec<CheckAnnotation> = (1..=60).map(annotation).collect();
    let (repo, most) = (world.main(), MOST_ANNOTATIONS);
    let id = repo.create_check(&report).await.unwrap();
    assert_eq!(repo.annotations_of_check(id).await.unwrap(), 0);
    repo.annotate_check(id, &output, &all[..most]).await.unwrap();
    assert_eq!(repo.annotations_of_check(id).await.unwrap(), most);
    repo.annotate_check(id, &output, &all[most..]).await.unwrap();
    assert_eq!(repo.annotations_of_check(id).await.unwrap(), 60);
    assert!(repo.annotate_check(id, &output, &all).await.is_err(), "too many at once");
    assert_eq!(repo.annotations_of_check(id).await.unwrap(), 60);
}

#[tokio::test]
async fn a_check_run_is_made_found_and_ended() {
    let world = World::new().await;
    let head = world.branches().await;
    let mut report = CheckReport {
        name: "AutoBuild",
        head: &head,
        external_id: "e3",
        conclusion: CheckConclusion::Failure,
        output: CheckOutput { title: "Turn 1".to_owned(), summary: "The Coach reads".to_owned() },
        actions: Vec::new(),
    };
    assert_eq!(world.main().find_check(&head, "AutoBuild", "e3").await.unwrap(), None);
    let id = world.main().create_check(&report).await.unwrap();
    assert_eq!(world.main().find_check(&head, "AutoBuild", "e3").await.unwrap(), Some(id));
    assert_eq!(world.main().find_check(&head, "AutoBuild", "e4").await.unwrap(), None);
    report.conclusion = CheckConclusion::ActionRequired;
    report.actions.push(CheckAction {
        label: "Resume".to_owned(),
        description: "Grant more turns".to_owned(),
        identifier: "resume".to_owned(),
    });
    world.main().create_check(&report).await.unwrap();
    assert!(matches!(world.coach().create_check(&report).await, Err(GithubError::Forbidden { .. })));
    assert!(world.forge.unknown_calls().is_empty(), "{:?}", world.forge.unknown_calls());
}
