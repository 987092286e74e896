//! Pull requests.

use super::{
    super::{
        acts::{MergeOrder, NewPull, PullChange},
        auth::Right,
        call::{Answer, Answered, Call},
        json,
        refusal::Refusal,
        state::{Actor, Role},
    },
    contents, number,
};
use serde_json::{Value, json as object};

const READ: Right = Right::read(&["pull_requests"]);
const WRITE: Right = Right::write(&["pull_requests"], Role::Read);
const MERGE: Right = Right::write(&["contents"], Role::Write);

pub(super) async fn answer(call: &Call, method: &str, owner: &str, name: &str, rest: &[&str]) -> Option<Answered> {
    let right = match (method, rest) {
        ("GET", _) => READ,
        ("PUT", ["pulls", _, "merge"]) => MERGE,
        _ => WRITE,
    };
    let entered = call.enter(owner, name, right);
    let (repo, by) = match (entered, rest) {
        (Ok(entered), _) => entered,
        (Err(refusal), ["pulls", ..]) => return Some(Err(refusal)),
        (Err(_), _) => return None,
    };
    Some(match (method, rest) {
        ("GET", ["pulls"]) => list(call, repo),
        ("POST", ["pulls"]) => open(call, repo, by).await,
        ("GET", ["pulls", n]) => with(n, |n| shown(call, repo, n)).await,
        ("PATCH", ["pulls", n]) => with(n, |n| change(call, repo, by, n)).await,
        ("GET", ["pulls", n, "files"]) => with(n, |n| files(call, repo, n)).await,
        ("GET", ["pulls", n, "commits"]) => with(n, |n| commits(call, repo, n)).await,
        ("GET", ["pulls", n, "requested_reviewers"]) => with(n, |n| async move { requested(call, repo, n) }).await,
        ("POST", ["pulls", n, "requested_reviewers"]) => with(n, |n| request(call, repo, by, n)).await,
        ("DELETE", ["pulls", n, "requested_reviewers"]) => with(n, |n| withdraw(call, repo, by, n)).await,
        ("GET", ["pulls", n, "merge"]) => with(n, |n| async move { is_merged(call, repo, n) }).await,
        ("PUT", ["pulls", n, "merge"]) => with(n, |n| merge(call, repo, by, n)).await,
        _ => return None,
    })
}

async fn with<F: Future<Output = Answered>>(text: &str, then: impl FnOnce(u64) -> F) -> Answered {
    then(number(text)?).await
}

fn list(call: &Call, repo: u64) -> Answered {
    let wanted = call.asked("state").unwrap_or("open");
    let ascending = call.asked("direction") == Some("asc");
    let mut rows: Vec<Value> = call.site.read(|state| {
        let known = state.repo(repo)?;
        let head = call.asked("head").map(|head| match head.split_once(':') {
            Some((owner, branch)) => (Some(owner), branch),
            None => (None, head),
        });
        let fits_head = |branch: &str| {
            head.is_none_or(|(owner, wanted)| {
                wanted == branch && owner.is_none_or(|owner| owner.eq_ignore_ascii_case(state.login(known.owner)))
            })
        };
        let pulls = known
            .issues
            .values()
            .filter_map(|issue| issue.pull.as_ref().map(|pull| (issue, pull)));
        let kept = pulls.filter(|(issue, pull)| {
            (wanted == "all" || issue.open == (wanted == "open"))
                && fits_head(&pull.head)
                && call.asked("base").is_none_or(|base| base == pull.base)
        });
        Ok::<_, Refusal>(
            kept.map(|(issue, pull)| json::pull(state, known, issue, pull, None))
                .collect(),
        )
    })?;
    if !ascending {
        rows.reverse();
    }
    Ok(call.page(rows))
}

async fn shown(call: &Call, repo: u64, number: u64) -> Answered {
    let computed = call.site.computed(repo, number).await?;
    call.site.read(|state| {
        let (issue, pull) = state.pull(repo, number)?;
        Ok(Answer::ok(json::pull(
            state,
            state.repo(repo)?,
            issue,
            pull,
            Some(computed),
        )))
    })
}

async fn open(call: &Call, repo: u64, by: Actor) -> Answered {
    let need = |field: &str| {
        call.text(field)
            .ok_or_else(|| Refusal::invalid("PullRequest", field, "missing_field"))
    };
    let new = NewPull {
        title: need("title")?,
        body: call.text("body"),
        head: need("head")?,
        base: need("base")?,
        draft: call.flag("draft"),
    };
    let number = call.site.open_pull(by, repo, &new).await?;
    let answer = shown(call, repo, number).await?;
    Ok(Answer { status: 201, ..answer })
}

async fn change(call: &Call, repo: u64, by: Actor, number: u64) -> Answered {
    let open = match call.text("state").as_deref() {
        Some("open") => Some(true),
        Some("closed") => Some(false),
        Some(_) => return Err(Refusal::invalid("PullRequest", "state", "invalid")),
        None => None,
    };
    call.site.read(|state| {
        let own = state.issue(repo, number)?.user == by.user;
        let role = state.role(state.repo(repo)?, by.user);
        match by.app.is_some() || own || role >= Role::Triage {
            true => Ok(()),
            false => Err(Refusal::lacks_role("triage")),
        }
    })?;
    let change = PullChange {
        title: call.text("title"),
        body: call.text("body"),
        open,
        base: call.text("base"),
    };
    call.site.change_pull(by, repo, number, &change).await?;
    shown(call, repo, number).await
}

/// Head and base of a pull request as far as they are known now.
fn ends(call: &Call, repo: u64, number: u64) -> Result<(String, String), Refusal> {
    call.site.read(|state| {
        let (_, pull) = state.pull(repo, number)?;
        Ok((pull.base_sha.clone(), pull.head_sha.clone()))
    })
}

async fn files(call: &Call, repo: u64, number: u64) -> Answered {
    let (base, head) = ends(call, repo, number)?;
    let seen = call.site.comparison(repo, &base, &head).await?;
    let rows = call.site.read(|state| {
        let repo = state.repo(repo)?;
        Ok::<_, Refusal>(
            seen.files
                .iter()
                .map(|file| contents::file_change(state, repo, &head, file))
                .collect(),
        )
    })?;
    Ok(call.page(rows))
}

async fn commits(call: &Call, repo: u64, number: u64) -> Answered {
    let (base, head) = ends(call, repo, number)?;
    let list = call.site.bare(repo).commits(Some(&base), &head, 250).await?;
    let rows = call.site.read(|state| {
        let repo = state.repo(repo)?;
        Ok::<_, Refusal>(
            list.iter()
                .map(|commit| contents::commit_json(state, repo, commit))
                .collect(),
        )
    })?;
    Ok(call.page(rows))
}

fn requested(call: &Call, repo: u64, number: u64) -> Answered {
    call.site.read(|state| {
        let (_, pull) = state.pull(repo, number)?;
        Ok(Answer::ok(
            object!({"users": json::requested(state, pull), "teams": []}),
        ))
    })
}

async fn request(call: &Call, repo: u64, by: Actor, number: u64) -> Answered {
    let logins = call.texts("reviewers").unwrap_or_default();
    call.site
        .change(|state| state.request_review(by, repo, number, &logins))?;
    let answer = shown(call, repo, number).await?;
    Ok(Answer { status: 201, ..answer })
}

async fn withdraw(call: &Call, repo: u64, by: Actor, number: u64) -> Answered {
    let logins = call.texts("reviewers").unwrap_or_default();
    call.site
        .change(|state| state.withdraw_review_request(by, repo, number, &logins))?;
    shown(call, repo, number).await
}

fn is_merged(call: &Call, repo: u64, number: u64) -> Answered {
    call.site.read(|state| match state.pull(repo, number)?.1.merged {
        Some(_) => Ok(Answer::nothing()),
        None => Err(Refusal::not_found()),
    })
}

async fn merge(call: &Call, repo: u64, by: Actor, number: u64) -> Answered {
    let order = MergeOrder {
        sha: call.text("sha"),
        method: call.text("merge_method"),
        title: call.text("commit_title"),
        message: call.text("commit_message"),
    };
    let sha = call.site.merge(by, repo, number, &order).await?;
    Ok(Answer::ok(
        object!({"sha": sha, "merged": true, "message": "Pull Request successfully merged"}),
    ))
}
