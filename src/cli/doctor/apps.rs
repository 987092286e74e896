//! Checks the Apps on GitHub: credentials, clock, webhook, deliveries, installations.

use crate::{
    cli::doctor::look::{Unasked, ask_in_time, unanswered},
    github::{
        AUTOBUILD_EVENTS, AUTOBUILD_PERMISSIONS, COACH_PERMISSIONS, Client, GithubError, HookDelivery, Identity,
        Installation, lacking,
    },
};
use domain::{
    diagnosis::{Row, Topic},
    ids::{AppId, Millis},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};
use url::{Host, Url};

/// The most deliveries that are looked at.
const DELIVERIES: usize = 30;

/// The difference in seconds up to which clocks count as the same: GitHub gives whole seconds.
const SAME: i64 = 30;
/// The difference in seconds above which the clock's row is broken: GitHub refuses tokens of a clock that is further
/// ahead.
const REFUSED: i64 = 60;
const SET_CLOCK: &str = "let the machine set its clock: timedatectl set-ntp true";

/// One of our two Apps, and the permissions and events that it needs.
#[derive(Clone, Copy)]
pub(super) struct Needs {
    topic: Topic,
    permissions: &'static [(&'static str, &'static str)],
    events: &'static [&'static str],
}

pub(super) const AUTOBUILD: Needs =
    Needs { topic: Topic::App, permissions: AUTOBUILD_PERMISSIONS, events: AUTOBUILD_EVENTS };

pub(super) const COACH: Needs = Needs { topic: Topic::CoachApp, permissions: COACH_PERMISSIONS, events: &[] };

/// Returns the rows of the AutoBuild App and its installations.
/// `replay` is the pause between two readings of the log of deliveries, if it is read.
pub(super) async fn autobuild(client: &Client, coach: Option<&Client>, replay: Option<Duration>) -> Vec<Row> {
    let coachs = async {
        match coach {
            Some(coach) => ask_in_time(coach.installations()).await.ok(),
            None => None,
        }
    };
    let (known, time, address, deliveries, installations, coachs) = tokio::join!(
        ask_in_time(client.identity_now()),
        ask_in_time(client.githubs_time()),
        ask_in_time(client.hook_address()),
        ask_in_time(client.hook_deliveries(DELIVERIES)),
        ask_in_time(client.installations()),
        coachs,
    );
    let ahead = seconds_ahead(&time, client.now());
    let mut rows = vec![identity(AUTOBUILD, client.id, &known, ahead)];
    rows.extend(coach.is_none().then(no_coach));
    rows.extend(ahead.map(clock));
    let Ok(known) = known else { return rows };
    rows.push(webhook(&address));
    rows.push(last_deliveries(&deliveries, replay));
    rows.extend(installed(AUTOBUILD, client.urls.web(), &known, &installations));
    if let (Ok(own), Some(coachs)) = (&installations, &coachs) {
        rows.extend(without_coach(own, coachs));
    }
    rows
}

pub(super) async fn coach(client: &Client) -> Vec<Row> {
    let (known, time, installations) = tokio::join!(
        ask_in_time(client.identity_now()),
        ask_in_time(client.githubs_time()),
        ask_in_time(client.installations())
    );
    let mut rows = vec![identity(COACH, client.id, &known, seconds_ahead(&time, client.now()))];
    if let Ok(known) = known {
        rows.extend(installed(COACH, client.urls.web(), &known, &installations));
    }
    rows
}

/// Returns the row for a service without App: it starts, and waits for its set-up.
pub(super) fn no_app() -> Row {
    Row::warning(
        Topic::App,
        "no App is set up yet",
        "start `autobuild serve` and open the page /setup that it names, or set AUTOBUILD_APP_ID, AUTOBUILD_PRIVATE_KEY and AUTOBUILD_WEBHOOK_SECRET \
         (see docs/organisation.md)",
    )
}

fn no_coach() -> Row {
    Row::warning(
        Topic::CoachApp,
        "none is set up: reviews are comments, and count for no rule",
        "run `autobuild setup` on the service's machine, whose page registers it; if your settings name the Apps, register it yourself \
         and set AUTOBUILD_COACH_APP_ID and AUTOBUILD_COACH_PRIVATE_KEY (see docs/organisation.md)",
    )
}

/// Returns the row for an App whose client cannot be made, for example because its key is unreadable.
pub(super) fn unusable(needs: Needs, error: &anyhow::Error) -> Row {
    Row::broken(
        needs.topic,
        format!("{error:#}"),
        "download a new private key from the App's page on GitHub, and set it",
    )
}

fn list<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| name.as_ref().to_owned()).collect();
    names.join(", ")
}

/// Returns the missing permissions and events, in words; empty if nothing is missing.
fn lacks(needs: Needs, permissions: &BTreeMap<String, String>, events: &[String]) -> (String, String) {
    let permissions = lacking(permissions, needs.permissions);
    let events = needs.events.iter().filter(|event| !events.iter().any(|own| own == *event));
    (list(permissions.iter().map(|(name, level)| format!("{name}: {level}"))), list(events))
}

/// Returns the remedy if GitHub was not asked.
fn reaching(unasked: &Unasked) -> &'static str {
    match unasked {
        Unasked::Github(error) if error.is_unknown_authority() => {
            "trust the certificate's authority: AUTOBUILD_NETWORK_CA_FILE names its file"
        }
        Unasked::Github(_) | Unasked::Late => "see that this machine reaches GitHub's API",
    }
}

/// Returns the row of an App, on a machine whose clock is `ahead` seconds ahead of GitHub's, if that is known.
fn identity(needs: Needs, id: AppId, known: &Result<Identity, Unasked>, ahead: Option<i64>) -> Row {
    let known = match known {
        Ok(known) => known,
        Err(Unasked::Github(GithubError::Unauthorized)) if ahead.is_some_and(is_refused) => {
            let found =
                format!("App {id}: GitHub refuses what this machine's wrong clock signs, so its key is not judged");
            return Row::warning(needs.topic, found, SET_CLOCK);
        }
        Err(Unasked::Github(error @ (GithubError::Unauthorized | GithubError::NotFound))) => {
            return Row::broken(
                needs.topic,
                format!("GitHub knows no App {id} with this key ({error})"),
                "compare both with the App's page on GitHub",
            );
        }
        Err(unasked) => {
            let found = format!("App {id}: its key can be read, but GitHub did not say whether it holds: {unasked}");
            return Row::warning(needs.topic, found, reaching(unasked));
        }
    };
    let found = format!("{} (id {id})", known.slug);
    let (permissions, events) = lacks(needs, &known.permissions, &known.events);
    let remedy = "add it on the App's page under Permissions & events; then owners accept it";
    match (permissions.is_empty(), events.is_empty()) {
        (true, true) => Row::ok(needs.topic, found),
        (false, true) => Row::broken(needs.topic, format!("{found} does not ask for {permissions}"), remedy),
        (true, false) => Row::warning(needs.topic, format!("{found} does not subscribe to {events}"), remedy),
        (false, false) => {
            let found = format!("{found} does not ask for {permissions}, and not for the events {events}");
            Row::broken(needs.topic, found, remedy)
        }
    }
}

/// Returns how many seconds this clock is ahead; `None` if GitHub was not reached, which another row reports.
fn seconds_ahead(time: &Result<Option<Millis>, Unasked>, here: Millis) -> Option<i64> {
    let github = (*time.as_ref().ok()?)?;
    Some(here.0.saturating_sub(github.0) / 1_000)
}

fn is_refused(ahead: i64) -> bool {
    ahead.saturating_abs() > REFUSED
}

fn clock(ahead: i64) -> Row {
    let found = match ahead {
        0 => "the same as GitHub's".to_owned(),
        ahead if ahead > 0 => format!("{ahead} s ahead of GitHub's"),
        behind => format!("{} s behind GitHub's", behind.saturating_abs()),
    };
    match ahead.saturating_abs() {
        difference if difference <= SAME => Row::ok(Topic::Clock, found),
        difference if difference <= REFUSED => Row::warning(Topic::Clock, found, SET_CLOCK),
        _ => Row::broken(Topic::Clock, format!("{found}, and GitHub may refuse what it signs"), SET_CLOCK),
    }
}

/// Returns the reason why GitHub cannot reach an address, or should not.
fn doubt(url: &Url) -> Option<&'static str> {
    let is_local = match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_unspecified(),
        Some(Host::Ipv6(ip)) => ip.is_loopback() || ip.is_unspecified(),
        Some(Host::Domain(name)) => name == "localhost",
        None => true,
    };
    match url.host_str() {
        Some("autobuild.example") => Some("is the example of the manifest"),
        _ if is_local => Some("is reached from this machine or network alone"),
        _ if url.scheme() != "https" => Some("is not encrypted"),
        _ => None,
    }
}

fn webhook(address: &Result<Option<String>, Unasked>) -> Row {
    let remedy = "set https://<public address>/webhook on the App's page, under Webhook";
    let address = match address {
        Ok(Some(address)) => address,
        Ok(None) => return Row::broken(Topic::Webhook, "the App has no webhook address", remedy),
        Err(why) => return unanswered(Topic::Webhook, why),
    };
    let Ok(url) = Url::parse(address) else {
        return Row::broken(Topic::Webhook, format!("{address} is no address"), remedy);
    };
    // The query is left out: some people put a secret there.
    let shown = format!("{}{}", url.origin().ascii_serialization(), url.path());
    match (url.path().ends_with("/webhook"), doubt(&url)) {
        (true, None) => Row::ok(Topic::Webhook, shown),
        (true, Some(doubt)) => Row::warning(Topic::Webhook, format!("{shown} {doubt}"), remedy),
        (false, _) => {
            let found = format!("{shown} is not where the service listens, which is /webhook");
            Row::broken(Topic::Webhook, found, remedy)
        }
    }
}

fn last_deliveries(found: &Result<Vec<HookDelivery>, Unasked>, replay: Option<Duration>) -> Row {
    let attempts = match found {
        Ok(attempts) => attempts,
        Err(why) => return unanswered(Topic::Deliveries, why),
    };
    let Some(last) = attempts.first() else {
        let remedy = "redeliver the ping on the App's page, under Advanced, Recent deliveries";
        return Row::warning(Topic::Deliveries, "GitHub sent nothing in the last days", remedy);
    };
    let guids = |arrived: &dyn Fn(u16) -> bool| -> BTreeSet<&str> {
        let attempts = attempts.iter().filter(|attempt| arrived(attempt.status_code));
        attempts.map(|attempt| attempt.guid.as_str()).collect()
    };
    let (all, arrived) = (guids(&|_| true), guids(&|status| (200..300).contains(&status)));
    let lost = all.difference(&arrived).count();
    let at = last.delivered_at.and_then(|at| chrono::DateTime::from_timestamp_millis(at.0));
    let at = at.map_or_else(String::new, |at| format!(" at {}", at.format("%Y-%m-%d %H:%M UTC")));
    let newest = format!("the newest ({}{at}) was answered {}", last.event, answer(last.status_code));
    let some = format!("{lost} of the last {} did not arrive; {newest}", all.len());
    match (lost, arrived.contains(last.guid.as_str())) {
        (0, _) => Row::ok(Topic::Deliveries, format!("the last {} arrived; {newest}", all.len())),
        (_, true) => {
            let remedy = "nothing to do: the service fetches them from GitHub's log, up to 3 days back";
            Row::warning(Topic::Deliveries, some, remedy)
        }
        // Behind NAT no delivery arrives by itself.
        (_, false) if last.status_code == 0 && replay.is_some() => {
            let found = format!("{some}; the service fetches them from GitHub's log every 20 seconds instead");
            Row::warning(Topic::Deliveries, found, mend(0))
        }
        // What keeps the service from answering has a row of its own.
        (_, false) if (500..600).contains(&last.status_code) && replay.is_some() => {
            let found = format!("{some}; the service fetches it from GitHub's log, up to 3 days back");
            Row::warning(Topic::Deliveries, found, mend(last.status_code))
        }
        (_, false) => Row::broken(Topic::Deliveries, some, mend(last.status_code)),
    }
}

fn answer(status: u16) -> String {
    match status {
        0 => "by nobody".to_owned(),
        status => status.to_string(),
    }
}

/// Returns the remedy for a delivery that was answered with this status; 0 means no answer.
fn mend(status: u16) -> &'static str {
    match status {
        0 => "see that the webhook's address leads to this service from the internet: DNS, TLS, firewall",
        401 => "set AUTOBUILD_WEBHOOK_SECRET to the webhook secret of the App's page, or change it there",
        404 | 405 => "let the webhook's address end in /webhook, and the proxy lead there",
        503 => "see the service's log: its database takes no writes, or it was full",
        _ => "see the log of the service, and of the proxy before it",
    }
}

fn installed(
    needs: Needs,
    web: &str,
    known: &Identity,
    installations: &Result<Vec<Installation>, Unasked>,
) -> Vec<Row> {
    let installations = match installations {
        Ok(installations) => installations,
        Err(why) => return vec![unanswered(Topic::Installation, why)],
    };
    if installations.is_empty() {
        let remedy = format!("install it: {}/installations/new", known.page(web));
        let found = format!("{} is installed nowhere", known.slug);
        return vec![Row::warning(Topic::Installation, found, remedy)];
    }
    installations.iter().map(|one| installation(needs, known, one)).collect()
}

fn installation(needs: Needs, known: &Identity, one: &Installation) -> Row {
    let name = format!("{} on {}", known.slug, one.account);
    let accept = format!("an owner of {} accepts the App's new permissions: {}", one.account, one.page);
    if one.suspended_at.is_some() {
        let remedy = format!("an owner of {} ends it: {}", one.account, one.page);
        return Row::warning(Topic::Installation, "suspended", remedy).of(name);
    }
    let (permissions, events) = lacks(needs, &one.permissions, &one.events);
    match (permissions.is_empty(), events.is_empty()) {
        (true, true) => Row::ok(Topic::Installation, "has granted everything"),
        (false, _) => Row::broken(Topic::Installation, format!("has not granted {permissions}"), accept),
        (true, false) => Row::warning(Topic::Installation, format!("does not send {events}"), accept),
    }
    .of(name)
}

fn without_coach(own: &[Installation], coachs: &[Installation]) -> Vec<Row> {
    let missing = own.iter().filter(|one| !coachs.iter().any(|coach| coach.account == one.account));
    missing
        .map(|one| {
            let remedy = format!("install the Coach App on {} too", one.account);
            let found = "the Coach App is not installed: reviews are comments there";
            Row::warning(Topic::Installation, found, remedy).of(format!("the Coach App on {}", one.account))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{diagnosis::RowStatus, ids::InstallationId};

    fn owned(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        let pairs = pairs.iter();
        pairs.map(|(name, level)| ((*name).to_owned(), (*level).to_owned())).collect()
    }

    fn identity_with(permissions: &[(&str, &str)], events: &[&str]) -> Identity {
        Identity {
            id: AppId(7),
            slug: "autobuild".to_owned(),
            html_url: None,
            permissions: owned(permissions),
            events: events.iter().map(|event| (*event).to_owned()).collect(),
        }
    }

    fn on_acme(permissions: &[(&str, &str)], events: &[&str]) -> Installation {
        Installation {
            id: InstallationId(1),
            account: "acme".to_owned(),
            permissions: owned(permissions),
            events: events.iter().map(|event| (*event).to_owned()).collect(),
            page: "https://github.com/settings/installations/1".to_owned(),
            suspended_at: None,
        }
    }

    fn sent(guid: &str, status_code: u16) -> HookDelivery {
        HookDelivery {
            id: 1,
            guid: guid.to_owned(),
            event: "issues".to_owned(),
            delivered_at: Some(Millis(0)),
            status: String::new(),
            status_code,
        }
    }

    /// Checks each row's status, and that its texts contain the given part.
    fn hold(table: Vec<(Row, RowStatus, &str)>) {
        for (row, status, part) in table {
            assert_eq!(row.status, status, "{row:?}");
            let said = format!("{} {}", row.found, row.remedy.clone().unwrap_or_default());
            assert!(said.contains(part), "{part}: {row:?}");
            assert_eq!(row.remedy.is_none(), status == RowStatus::Ok, "{row:?}");
        }
    }

    #[test]
    fn an_app_is_held_to_what_it_needs() {
        let whole = || identity_with(AUTOBUILD_PERMISSIONS, AUTOBUILD_EVENTS);
        let of = |found: Result<Identity, Unasked>| identity(AUTOBUILD, AppId(7), &found, None);
        let refused = |ahead| identity(AUTOBUILD, AppId(7), &Err(Unasked::Github(GithubError::Unauthorized)), ahead);
        hold(vec![
            (of(Ok(whole())), RowStatus::Ok, "autobuild (id 7)"),
            (of(Ok(identity_with(&AUTOBUILD_PERMISSIONS[1..], AUTOBUILD_EVENTS))), RowStatus::Broken, "checks: write"),
            (of(Ok(identity_with(AUTOBUILD_PERMISSIONS, &["issues"]))), RowStatus::Warning, "issue_comment"),
            (of(Ok(identity_with(&[], &[]))), RowStatus::Broken, "and not for the events"),
            (refused(None), RowStatus::Broken, "no App 7 with this key"),
            (refused(Some(-60)), RowStatus::Broken, "no App 7 with this key"),
            (refused(Some(120)), RowStatus::Warning, "its key is not judged let the machine set its clock"),
            (of(Err(Unasked::Late)), RowStatus::Warning, "no answer within 5 seconds"),
            (unusable(COACH, &anyhow::anyhow!("no RSA key")), RowStatus::Broken, "no RSA key"),
            (no_app(), RowStatus::Warning, "/setup"),
            (no_coach(), RowStatus::Warning, "AUTOBUILD_COACH_APP_ID"),
        ]);
        let of = |one: Installation| installation(AUTOBUILD, &whole(), &one);
        let suspended =
            Installation { suspended_at: Some(Millis(1)), ..on_acme(AUTOBUILD_PERMISSIONS, AUTOBUILD_EVENTS) };
        hold(vec![
            (of(on_acme(AUTOBUILD_PERMISSIONS, AUTOBUILD_EVENTS)), RowStatus::Ok, "everything"),
            (of(on_acme(&[("issues", "write")], AUTOBUILD_EVENTS)), RowStatus::Broken, "owner of acme accepts"),
            (of(on_acme(AUTOBUILD_PERMISSIONS, &[])), RowStatus::Warning, "does not send issue_comment"),
            (of(suspended), RowStatus::Warning, "suspended"),
        ]);
        let nowhere = installed(AUTOBUILD, "https://github.com", &whole(), &Ok(Vec::new()));
        let unanswered = installed(AUTOBUILD, "https://github.com", &whole(), &Err(Unasked::Late));
        let alone = without_coach(&[on_acme(&[], &[])], &[]);
        hold(vec![
            (nowhere[0].clone(), RowStatus::Warning, "https://github.com/apps/autobuild/installations/new"),
            (unanswered[0].clone(), RowStatus::Warning, "did not say"),
            (alone[0].clone(), RowStatus::Warning, "on acme too"),
        ]);
        assert_eq!(without_coach(&[on_acme(&[], &[])], &[on_acme(&[], &[])]), []);
    }

    #[test]
    fn a_clock_is_held_to_githubs() {
        let ahead = |here: i64| seconds_ahead(&Ok(Some(Millis(1_000_000))), Millis(1_000_000 + here * 1_000));
        let of = |here: i64| clock(ahead(here).unwrap());
        hold(vec![
            (of(0), RowStatus::Ok, "the same"),
            (of(-30), RowStatus::Ok, "30 s behind"),
            (of(45), RowStatus::Warning, "45 s ahead"),
            (of(61), RowStatus::Broken, "61 s ahead"),
            (of(-600), RowStatus::Broken, "timedatectl"),
        ]);
        assert_eq!(seconds_ahead(&Ok(None), Millis(0)), None);
        assert_eq!(seconds_ahead(&Err(Unasked::Late), Millis(0)), None);
    }

    #[test]
    fn a_webhooks_address_is_one_that_github_reaches() {
        let of = |address: &str| webhook(&Ok(Some(address.to_owned())));
        hold(vec![
            (of("https://build.acme.dev/webhook"), RowStatus::Ok, "build.acme.dev"),
            (of("https://acme.dev/autobuild/webhook?secret=1"), RowStatus::Ok, "https://acme.dev/autobuild/webhook"),
            (of("https://autobuild.example/webhook"), RowStatus::Warning, "example of the manifest"),
            (of("http://127.0.0.1:8080/webhook"), RowStatus::Warning, "this machine or network alone"),
            (of("https://192.168.1.4/webhook"), RowStatus::Warning, "this machine or network alone"),
            (of("http://build.acme.dev/webhook"), RowStatus::Warning, "not encrypted"),
            (of("https://build.acme.dev/"), RowStatus::Broken, "which is /webhook"),
            (of("nowhere"), RowStatus::Broken, "is no address"),
            (webhook(&Ok(None)), RowStatus::Broken, "no webhook address"),
            (webhook(&Err(Unasked::Late)), RowStatus::Warning, "did not say"),
        ]);
        assert!(!of("https://acme.dev/webhook?secret=1").found.contains("secret"));
    }

    #[test]
    fn deliveries_that_did_not_arrive_are_told_with_what_their_answer_means() {
        let of = |sent: &[HookDelivery]| last_deliveries(&Ok(sent.to_vec()), Some(Duration::from_secs(180)));
        hold(vec![
            (of(&[sent("a", 202)]), RowStatus::Ok, "the last 1 arrived"),
            (of(&[sent("a", 202), sent("a", 0)]), RowStatus::Ok, "the last 1 arrived"),
            (of(&[]), RowStatus::Warning, "redeliver the ping"),
            (of(&[sent("b", 202), sent("a", 500)]), RowStatus::Warning, "1 of the last 2"),
            (of(&[sent("a", 0)]), RowStatus::Warning, "answered by nobody"),
            (of(&[sent("a", 0)]), RowStatus::Warning, "log every 20 seconds instead"),
            (last_deliveries(&Ok(vec![sent("a", 0)]), None), RowStatus::Broken, "answered by nobody"),
            (of(&[sent("a", 401)]), RowStatus::Broken, "AUTOBUILD_WEBHOOK_SECRET"),
            (of(&[sent("a", 404)]), RowStatus::Broken, "end in /webhook"),
            (of(&[sent("a", 503)]), RowStatus::Warning, "database"),
            (of(&[sent("a", 502)]), RowStatus::Warning, "log of the service, and of the proxy"),
            (last_deliveries(&Ok(vec![sent("a", 503)]), None), RowStatus::Broken, "database"),
            (last_deliveries(&Err(Unasked::Late), None), RowStatus::Warning, "did not say"),
        ]);
    }
}
