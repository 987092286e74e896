use super::*;
use crate::github::model::{AccountType, Conversation, OpenState, ReviewState};
use domain::ids::{AppId, InstallationId, IssueNumber, Millis, PullNumber, RepoId, User, UserId};
use effort::{Reader, Text, assert_linear};
use proptest::prelude::*;
use serde_json::{Value, json};

const SHA: &str = "0123456789abcdef0123456789abcdef01234567";
const NEXT: &str = "89abcdef0123456789abcdef0123456789abcdef";
const ZERO: &str = "0000000000000000000000000000000000000000";

fn base(action: &str) -> Value {
    json!({
        "action": action,
        "installation": {"id": 11, "node_id": "x"},
        "repository": {
            "id": 22, "full_name": "Acme/shop", "default_branch": "main", "private": true, "archived": false,
            "owner": {"id": 5, "login": "Acme", "type": "Organization"}, "created_at": 1_700_000_000,
        },
        "sender": {"id": 33, "login": "ada", "type": "User"},
        "organization": {"id": 5},
    })
}

fn with(action: &str, fields: Value) -> Value {
    let mut payload = base(action);
    for (name, value) in fields.as_object().unwrap() {
        payload[name] = value.clone();
    }
    payload
}

fn issue() -> Value {
    json!({
        "number": 42, "id": 4200, "title": "Sign-in", "body": "Please", "state": "open",
        "user": {"id": 34, "login": "bob", "type": "User"}, "labels": [{"name": "autobuild"}, "bare", {"name": null}],
        "updated_at": "2026-01-15T10:30:00Z", "closed_at": null,
    })
}

fn pull() -> Value {
    json!({
        "number": 7, "node_id": "PR_7", "state": "closed", "draft": false, "merged": true,
        "merged_at": "2026-01-15T10:30:00Z",
        "merge_commit_sha": NEXT, "title": "TASK-001", "body": null, "user": null,
        "head": {"ref": "autobuild/42/task-001-a", "sha": SHA, "repo": {"id": 22}},
        "base": {"ref": "autobuild/42/integration", "sha": NEXT, "repo": {"id": 22}},
        "closed_at": "2026-01-15T10:30:00Z",
    })
}

fn comment(body: &str) -> Value {
    json!({
        "id": 900, "body": body, "user": {"id": 33, "login": "ada", "type": "User"},
        "performed_via_github_app": null, "created_at": "2026-01-15T10:30:00Z", "updated_at": "2026-01-15T10:30:00Z",
    })
}

fn review() -> Value {
    json!({
        "id": 800, "state": "changes_requested", "commit_id": SHA, "body": null,
        "user": {"id": 33, "login": "ada", "type": "User"}, "submitted_at": "2026-01-15T10:30:00Z",
    })
}

/// One valid delivery of every event and action that AutoBuild acts on.
fn deliveries() -> Vec<(&'static str, Value)> {
    let push = json!({"ref": "refs/heads/autobuild/42/x", "before": SHA, "after": NEXT, "forced": true});
    let of_issue = json!({"issue": issue(), "label": {"name": "autobuild"}});
    let of_comment = json!({"issue": issue(), "comment": comment("/autobuild status")});
    let of_pull = json!({"number": 7, "pull_request": pull(), "before": SHA, "after": NEXT});
    let of_review = json!({"pull_request": pull(), "review": review()});
    let run = json!({"id": 600, "external_id": "22/42/1", "head_sha": SHA, "app": {"id": 1}});
    let suite = json!({"check_suite": {"id": 601, "head_sha": SHA, "head_branch": null, "app": {"id": 1}, "pull_requests": []}});
    let of_run = json!({"check_run": run, "requested_action": {"identifier": "resume"}});
    let of_default_branch = json!({"changes": {"default_branch": {"from": "master"}}});
    let of_repositories = json!({
        "repositories_added": [{"id": 22, "full_name": "Acme/shop"}],
        "repositories_removed": [{"id": 23, "full_name": "Acme/old"}],
    });
    let nothing = json!({});
    let table = [
        ("issues", "labeled unlabeled closed deleted transferred", &of_issue),
        ("issue_comment", "created", &of_comment),
        ("pull_request", "closed reopened", &of_pull),
        ("pull_request_review", "submitted dismissed", &of_review),
        ("check_run", "rerequested requested_action", &of_run),
        ("check_suite", "rerequested", &suite),
        ("push", "", &push),
        ("repository", "renamed transferred archived unarchived deleted", &nothing),
        ("repository", "edited", &of_default_branch),
        ("installation", "created deleted suspend unsuspend", &nothing),
        ("installation_repositories", "added removed", &of_repositories),
    ];
    let ping = ("ping", json!({"zen": "Keep it logically awesome.", "hook_id": 1}));
    table
        .into_iter()
        .flat_map(|(event, actions, fields)| {
            actions.split(' ').map(move |action| (event, with(action, fields.clone())))
        })
        .chain([ping])
        .collect()
}

fn read(event: &str, payload: &Value) -> Result<Inbound, WebhookError> {
    parse(event, payload.to_string().as_bytes())
}

#[test]
fn every_event_that_we_act_on_is_read() {
    for (event, payload) in deliveries() {
        let inbound = read(event, &payload).unwrap();
        assert!(!matches!(inbound, Inbound::Ignored), "{event} {}", payload["action"]);
        if let Some(origin) = inbound.origin() {
            assert_eq!(origin.installation, InstallationId(11));
            assert_eq!(origin.repo.id, RepoId(22));
            assert_eq!(origin.repo.name.to_string(), "Acme/shop");
            assert_eq!(origin.sender.kind, AccountType::Person);
        }
    }
}

#[test]
fn a_label_names_the_one_label_and_snapshots_the_issue() {
    let (event, payload) = deliveries().remove(0);
    let Inbound::Repo(_, RepoEvent::Issue { issue, event, .. }) = read(event, &payload).unwrap() else {
        panic!("not an issue event");
    };
    assert_eq!(event, IssueEvent::Labeled(Some("autobuild".to_owned())));
    assert_eq!(issue.number, IssueNumber(42));
    assert_eq!(issue.body.as_deref(), Some("Please"));
    assert_eq!(issue.labels, ["autobuild", "bare"]);
    assert_eq!(issue.updated_at, Some(Millis(1_768_473_000_000)));
    assert_eq!((issue.state, issue.conversation), (OpenState::Open, Conversation::Issue));
}

#[test]
fn a_comment_on_a_pull_request_is_told_by_its_issue() {
    let mut under = issue();
    under["pull_request"] = json!({"url": "x"});
    let payload = with("created", json!({"issue": under, "comment": comment("hi")}));
    let Inbound::Repo(_, RepoEvent::CommentCreated { issue, .. }) = read("issue_comment", &payload).unwrap() else {
        panic!("not a comment");
    };
    assert_eq!(issue.conversation, Conversation::Pull);
}

#[test]
fn a_merge_tells_who_and_what() {
    let Inbound::Repo(_, RepoEvent::Pull { pull, event, .. }) =
        read("pull_request", &with("closed", json!({"pull_request": pull()}))).unwrap()
    else {
        panic!("not a pull request event");
    };
    assert_eq!(event, PullEvent::Closed);
    assert!(pull.is_merged() && pull.is_from(RepoId(22)));
    assert_eq!(pull.number, PullNumber(7));
    assert_eq!(pull.merge_commit_sha.unwrap().as_str(), NEXT);
}

#[test]
fn a_lone_inline_reply_is_a_review_without_text() {
    let Inbound::Repo(_, RepoEvent::Review { review, event, .. }) =
        read("pull_request_review", &with("submitted", json!({"pull_request": pull(), "review": review()}))).unwrap()
    else {
        panic!("not a review");
    };
    assert_eq!(event, ReviewChange::Submitted);
    assert_eq!(review.state, ReviewState::ChangesRequested);
    assert_eq!((review.body.as_str(), review.commit.unwrap().as_str()), ("", SHA));
}

#[test]
fn a_push_tells_how_the_branch_moved() {
    let table = [
        (json!({"before": SHA, "after": NEXT}), PushKind::FastForward),
        (json!({"before": SHA, "after": NEXT, "forced": true}), PushKind::Forced),
        (json!({"before": ZERO, "after": NEXT, "created": true}), PushKind::Created),
        (json!({"before": SHA, "after": ZERO, "deleted": true, "forced": true}), PushKind::Deleted),
        (json!({"before": SHA, "after": ZERO}), PushKind::Deleted),
    ];
    for (fields, expected) in table {
        let mut payload = with("", fields);
        payload["ref"] = json!("refs/heads/autobuild/42/task-001-a");
        let Inbound::Repo(_, RepoEvent::Push(push)) = read("push", &payload).unwrap() else {
            panic!("not a push");
        };
        assert_eq!(push.kind, expected);
        assert_eq!(push.branch, "autobuild/42/task-001-a");
        assert_eq!(push.after.is_none(), expected == PushKind::Deleted);
    }
}

#[test]
fn a_pushed_tag_is_not_needed() {
    let payload = with("", json!({"ref": "refs/tags/v1", "before": ZERO, "after": SHA}));
    assert!(matches!(read("push", &payload), Ok(Inbound::Ignored)));
}

#[test]
fn an_event_or_action_that_nobody_knows_is_normal() {
    for (event, payload) in [
        ("issues", base("typed")),
        ("issues", base("field_added")),
        ("issue_comment", base("pinned")),
        ("issue_comment", base("edited")),
        ("issues", base("edited")),
        ("pull_request", base("synchronize")),
        ("repository", with("edited", json!({"changes": {"description": {"from": "x"}}}))),
        ("some_event_of_next_year", json!({"action": {"not": "a text"}, "issue": 7, "sender": []})),
        ("star", json!({})),
    ] {
        assert!(matches!(read(event, &payload), Ok(Inbound::Ignored)), "{event}");
    }
}

#[test]
fn deleted_accounts_and_forks_leave_holes_that_are_read() {
    let mut holed = pull();
    holed["head"]["repo"] = Value::Null;
    let Inbound::Repo(_, RepoEvent::Pull { pull, .. }) =
        read("pull_request", &with("closed", json!({"pull_request": holed}))).unwrap()
    else {
        panic!("not a pull request event");
    };
    assert!(!pull.is_from(RepoId(22)));
}

#[test]
fn a_missing_field_is_named() {
    for (event, payload) in deliveries() {
        for field in ["issue", "comment", "pull_request", "review", "check_run", "check_suite", "sender"] {
            let mut payload = payload.clone();
            let was_there = payload.as_object_mut().unwrap().remove(field).is_some();
            let needed = was_there && event != "ping";
            let result = read(event, &payload);
            if needed {
                assert_eq!(result, Err(WebhookError::Lacks(field)), "{event}");
            } else {
                assert!(result.is_ok(), "{event} {field}");
            }
        }
    }
}

fn without(mut payload: Value, fields: &[&str]) -> Value {
    for field in fields {
        let (holder, name) =
            field.rsplit_once('/').map_or((String::new(), *field), |(holder, name)| (format!("/{holder}"), name));
        let object = payload.pointer_mut(&holder).and_then(Value::as_object_mut);
        object.unwrap().remove(name).unwrap();
    }
    payload
}

#[test]
fn what_githubs_description_lets_be_absent_may_be_absent() {
    for (event, payload) in deliveries().into_iter().filter(|(event, _)| *event != "ping") {
        let unplaced = read(event, &without(payload, &["installation"]));
        let needed = event == "installation" || event == "installation_repositories";
        assert!(needed || matches!(unplaced, Ok(Inbound::Ignored)), "{event}: {unplaced:?}");
    }
    let of_issue = json!({"issue": issue(), "label": {"name": "autobuild"}});
    for (action, event) in [("labeled", IssueEvent::Labeled(None)), ("unlabeled", IssueEvent::Unlabeled(None))] {
        let unnamed = without(with(action, of_issue.clone()), &["label", "issue/labels", "organization"]);
        let Ok(Inbound::Repo(_, RepoEvent::Issue { event: told, .. })) = read("issues", &unnamed) else {
            panic!("{action}")
        };
        assert_eq!(told, event);
    }
    let suite = json!({"check_suite": {"head_sha": SHA, "app": {"id": null}}});
    let suite = read("check_suite", &with("rerequested", suite)).unwrap();
    assert!(matches!(suite, Inbound::Repo(_, RepoEvent::Rerun { app: None, .. })));
    let (whole, lacking) = (json!({"id": 23, "full_name": "Acme/old"}), json!({"name": "x"}));
    let created = json!({"repositories": [whole.clone(), lacking.clone()]});
    let told = read("installation", &with("created", created)).unwrap();
    let Inbound::Installation { event: InstallationEvent::Created(covered), .. } = &told else { panic!("{told:?}") };
    assert_eq!(covered.len(), 1);
    let removed = json!({"repositories_added": [], "repositories_removed": [whole, lacking]});
    let told = read("installation_repositories", &with("removed", removed)).unwrap();
    let Inbound::Installation { event: InstallationEvent::RepositoriesRemoved(removed), .. } = &told else {
        panic!("{told:?}")
    };
    assert_eq!(removed.len(), 1);
    let pressed = json!({
        "check_run": {"id": 600, "external_id": null, "head_sha": SHA, "app": null},
        "requested_action": {"identifier": "resume"},
    });
    let pressed = with("requested_action", pressed);
    for fields in ["requested_action", "requested_action/identifier"] {
        let read = read("check_run", &without(pressed.clone(), &[fields]));
        assert!(matches!(read, Ok(Inbound::Ignored)), "{fields}: {read:?}");
    }
}

#[test]
fn a_push_without_a_sender_is_of_who_pushed() {
    let push = json!({"ref": "refs/heads/autobuild/42/x", "before": SHA, "after": NEXT, "pusher": {"name": "ada", "email": null}});
    let push = without(with("", push), &["sender"]);
    let told = read("push", &push).unwrap();
    let sender = &told.origin().unwrap().sender;
    assert_eq!((sender.user.login.as_str(), sender.kind), ("ada", AccountType::Person));
    assert!(matches!(admitted("push", &push), Admission::Keep(_)));
    let mut ours = push.clone();
    ours["pusher"]["name"] = json!("AutoBuild[bot]");
    assert_eq!(admitted("push", &ours), Admission::Own);
    assert_eq!(read("push", &without(push, &["pusher"])), Err(WebhookError::Lacks("sender")));
}

#[test]
fn a_re_run_of_one_check_and_of_all_mean_the_same() {
    let check = json!({"id": 600, "head_sha": SHA, "app": {"id": 1}});
    let one = read("check_run", &with("rerequested", json!({"check_run": check}))).unwrap();
    let all = read("check_suite", &with("rerequested", json!({"check_suite": check}))).unwrap();
    let Inbound::Repo(_, RepoEvent::Rerun { head, app }) = &one else { panic!("{one:?}") };
    assert_eq!((head.as_str(), *app), (SHA, Some(AppId(1))));
    assert_eq!(one, all);
    let requested = with("requested", json!({"check_suite": check}));
    assert!(matches!(read("check_suite", &requested), Ok(Inbound::Ignored)));
}

#[test]
fn a_field_of_the_wrong_kind_is_malformed() {
    let cases = [
        json!({"issue": 7}),
        json!({"issue": {"number": -1, "title": "x"}}),
        json!({"issue": {"number": 1e300, "title": "x"}}),
        json!({"label": "autobuild"}),
        json!({"sender": {"id": "33", "login": "ada"}}),
        json!({"repository": {"id": 22, "full_name": "../etc", "default_branch": "main"}}),
        json!({"installation": []}),
    ];
    for fields in cases {
        let mut payload = with("labeled", json!({"issue": issue(), "label": {"name": "autobuild"}}));
        for (name, value) in fields.as_object().unwrap() {
            payload[name] = value.clone();
        }
        assert!(matches!(read("issues", &payload), Err(WebhookError::Malformed(_))), "{fields}");
    }
}

#[test]
fn what_is_not_a_json_object_is_refused() {
    let deep = format!("{{\"x\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let brackets_in_a_text = format!("{{\"x\":\"{}\\\"{}\"}}", "[".repeat(1000), "{".repeat(1000));
    let parse = |body: &[u8]| parse("star", body);
    for other in ["[]", "\"text\"", "null"] {
        assert!(matches!(parse(other.as_bytes()), Err(WebhookError::Malformed(_))), "{other}");
    }
    assert_eq!(parse(b"{\"x\":\"\xff\"}"), Err(WebhookError::NotUtf8));
    assert!(parse(deep.as_bytes()).is_ok(), "what is skipped may be deep");
    assert!(parse(brackets_in_a_text.as_bytes()).is_ok());
    for broken in ["", "   ", "{", "{]", "{}{}", "{\"a\":1,}", "{'a':1}"] {
        assert!(matches!(parse(broken.as_bytes()), Err(WebhookError::NotJson(_))), "{broken:?}");
    }
    assert!(matches!(parse(br#"{"action":"a","action":"b"}"#), Err(WebhookError::Malformed(_))));
    assert!(parse(br#"{"size":99999999999999999999999999999999e99999}"#).is_ok());
}

fn admitted(event: &str, payload: &Value) -> Admission {
    let own = |id, login: &str| User { id: UserId(id), login: login.to_owned() };
    let own = OwnApps {
        apps: vec![AppId(1), AppId(2)],
        users: vec![own(101, "autobuild[bot]"), own(102, "autobuild-coach[bot]")],
    };
    admit(event, payload.to_string().as_bytes(), &own).unwrap()
}

#[test]
fn the_door_keeps_what_we_act_on() {
    for (event, payload) in deliveries() {
        let needed = event != "ping";
        assert_eq!(matches!(admitted(event, &payload), Admission::Keep(_)), needed, "{event} {}", payload["action"]);
    }
}

#[test]
fn the_door_tells_what_a_delivery_is_about() {
    let (event, payload) = deliveries().remove(0);
    let summary = Summary {
        event: "issues".to_owned(),
        installation: Some(InstallationId(11)),
        repo: Some(RepoId(22)),
        issue: Some(IssueNumber(42)),
    };
    assert_eq!(admitted(event, &payload), Admission::Keep(summary));
}

#[test]
fn what_our_own_apps_caused_is_dropped() {
    for (event, mut payload) in deliveries() {
        if payload["repository"].is_object() && event != "installation" && event != "installation_repositories" {
            payload["sender"] = json!({"id": 102, "login": "autobuild-coach[bot]", "type": "Bot"});
            assert_eq!(admitted(event, &payload), Admission::Own, "{event}");
        }
    }
    let mut through = comment("/autobuild resume");
    through["performed_via_github_app"] = json!({"id": 1});
    let payload = with("created", json!({"issue": issue(), "comment": through}));
    assert_eq!(admitted("issue_comment", &payload), Admission::Own);
}

#[test]
fn what_concerns_neither_our_branches_nor_the_default_one_is_dropped() {
    let unneeded = |event, payload: Value| admitted(event, &payload) == Admission::Unneeded;
    let talk = json!({"issue": issue(), "comment": comment("nice work")});
    assert!(unneeded("issue_comment", with("created", talk)));
    let side = json!({"ref": "refs/heads/side", "before": SHA, "after": NEXT});
    assert!(unneeded("push", with("", side)));
    let main = json!({"ref": "refs/heads/main", "before": SHA, "after": NEXT});
    assert!(!unneeded("push", with("", main)), "pull requests into it may conflict now");
    let mut fork = pull();
    fork["head"]["repo"]["id"] = json!(99);
    assert!(unneeded("pull_request", with("closed", json!({"pull_request": fork}))));
    let mut other = pull();
    other["head"]["ref"] = json!("feature");
    assert!(unneeded("pull_request_review", with("submitted", json!({"pull_request": other, "review": review()}))));
    let shouted = json!({"issue": issue(), "comment": comment("> quoted\n/AutoBuild resume")});
    assert!(!unneeded("issue_comment", with("created", shouted)));
}

/// Returns the JSON pointers to all places of a value.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, inner)| pointers(inner, &format!("{at}/{name}"), found))
        }
        Value::Array(items) => {
            for (index, inner) in items.iter().enumerate() {
                pointers(inner, &format!("{at}/{index}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn strange_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,40}".prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        Just(json!([[[["deep"]]]])),
        Just(json!({"id": 1, "login": "x", "name": "y"})),
        "[a-z]{1,5}".prop_map(|text| json!(text.repeat(20_000))),
    ]
}

proptest! {
    #[test]
    fn no_changed_field_is_a_panic(
        which in any::<prop::sample::Index>(),
        places in prop::collection::vec((any::<prop::sample::Index>(), strange_value()), 1..4),
    ) {
        let all = deliveries();
        let (event, mut payload) = all[which.index(all.len())].clone();
        for (place, value) in places {
            let mut found = Vec::new();
            pointers(&payload, "", &mut found);
            *payload.pointer_mut(&found[place.index(found.len())]).unwrap() = value;
        }
        let body = payload.to_string();
        let parsed = parse(event, body.as_bytes());
        let admission = admit(event, body.as_bytes(), &OwnApps::default());
        prop_assert_eq!(parsed.err(), admission.err(), "admission refuses exactly what cannot be read");
    }

    #[test]
    fn no_changed_byte_is_a_panic(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_u8..3), 1..6),
    ) {
        let all = deliveries();
        let (event, payload) = &all[which.index(all.len())];
        let mut body = payload.to_string().into_bytes();
        for (place, byte, how) in changes {
            let at = place.index(body.len());
            match how {
                0 => body[at] = byte,
                1 => body.insert(at, byte),
                _ => body.truncate(at.max(1)),
            }
        }
        let parsed = parse(event, &body);
        prop_assert!(text::json::read::<Value>(&body).is_ok() || parsed.is_err(), "broken JSON was read");
    }

    #[test]
    fn a_field_of_tomorrow_changes_nothing(
        which in any::<prop::sample::Index>(),
        place in any::<prop::sample::Index>(),
        value in strange_value(),
    ) {
        let all = deliveries();
        let (event, payload) = &all[which.index(all.len())];
        let mut found = Vec::new();
        pointers(payload, "", &mut found);
        found.retain(|pointer| payload.pointer(pointer).is_some_and(Value::is_object));
        let mut newer = payload.clone();
        newer.pointer_mut(&found[place.index(found.len())]).unwrap()["field_of_tomorrow"] = value;
        prop_assert_eq!(read(event, payload), read(event, &newer));
    }
}

#[test]
fn eight_times_the_payload_is_eight_times_the_work() {
    assert_linear(&[Reader {
        name: "payload",
        read: &|text| drop(parse("issues", text.as_bytes())),
        own: &[
            Text("{\"action\":\"", "", "opened"),
            Text("{\"action\":\"labeled\",\"a\":[", "", "1,"),
            Text("{", "", "\"a{n}\":{},"),
        ],
    }]);
}
