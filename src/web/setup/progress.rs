//! The progress of the set-up, as pure rules: the choice, the registrations in progress, and the next step. The data
//! folder keeps it until the last step, so that a restart continues it.

use super::manifest::AppKind;
use crate::config::{GithubAddress, KeptApps, NotAnAddress, web_address};
use domain::ids::Millis;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::net::{IpAddr, Ipv6Addr};
use text::hex;
use url::{Host, Position, Url};

/// The time for which GitHub accepts a code; a registration that was begun earlier can no longer come back.
const BEGUN_MS: i64 = 60 * 60_000;

/// The most registrations that are remembered while they are at GitHub.
const MOST_BEGUN: usize = 20;

/// The saved progress of a set-up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Progress {
    pub(super) browsers: Vec<Hash>,
    /// The choice of the first step.
    pub(super) choice: Option<Choice>,
    /// The registrations that were sent to GitHub and have not come back.
    begun: Vec<BegunRegistration>,
    /// The codes that came back and are not exchanged yet.
    pub(super) codes: Vec<RegistrationCode>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hash(String);

impl Hash {
    pub(super) fn of(text: &str) -> Self {
        Self(hex::encode(&Sha256::digest(text)))
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }
}

/// The choice of the first step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Choice {
    /// The GitHub server.
    #[serde(flatten)]
    pub(super) github: GithubAddress,
    /// The organisation that owns the Apps; `None` for the person's own account.
    pub(super) organization: Option<String>,
    /// The address at which GitHub and browsers reach the service.
    pub(super) public_url: Url,
}

/// A registration for which a browser was sent to GitHub.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct BegunRegistration {
    which: AppKind,
    /// The hash of the `state` that GitHub repeats.
    state: Hash,
    browser: Hash,
    at: Millis,
}

/// A code that GitHub gave, saved before it is exchanged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RegistrationCode {
    pub(super) which: AppKind,
    pub(super) code: String,
    pub(super) standing: CodeAppStatus,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CodeAppStatus {
    /// The exchange began, and its end is unknown: the process may have been ended in between.
    Begun,
    /// GitHub did not answer.
    NoAnswer,
    /// GitHub does not know the code: it was exchanged already, or is older than an hour. The App exists, but its key
    /// is lost.
    Lost,
    /// GitHub returned another App than the requested one.
    Foreign {
        page: String,
        /// The reason why it is not the right App.
        why: NotOurs,
    },
}

/// The reason why an App that GitHub returned is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum NotOurs {
    /// It is the other App.
    TheOther,
    /// It lacks these permissions.
    Lacks(Vec<(String, String)>),
    NoWebhook,
    /// It belongs to this account instead of the chosen one.
    OwnedBy(String),
}

/// The reason why a choice is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoChoice {
    /// GitHub's address is invalid.
    #[error("The address of GitHub {0}.")]
    Github(NotAnAddress),
    /// The name cannot be that of an account.
    #[error("An organisation's name holds letters, digits and hyphens only, as in its address on GitHub.")]
    Organization,
    /// The service's address is invalid.
    #[error("The address of this service must be a web address, such as https://autobuild.example.")]
    PublicUrl,
    /// The address leads to the machine that uses it, and GitHub is elsewhere.
    #[error(
        "{0} leads to the machine that opens it, so GitHub cannot send webhooks there. Enter the address that GitHub reaches, \
         such as that of a reverse proxy or a tunnel in front of this service."
    )]
    Unreachable(Url),
    /// The address is one of a private network, and GitHub is not in it.
    #[error(
        "{0} is an address of a private network, so GitHub cannot send webhooks there. Enter the address that GitHub reaches, \
         such as that of a reverse proxy or a tunnel in front of this service."
    )]
    Private(Url),
}

/// A field of the first step's form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Github,
    Organization,
    Address,
}

impl NoChoice {
    pub(super) fn field(&self) -> Field {
        match self {
            Self::Github(_) => Field::Github,
            Self::Organization => Field::Organization,
            Self::PublicUrl | Self::Unreachable(_) | Self::Private(_) => Field::Address,
        }
    }
}

/// The reason why a browser that comes back from GitHub is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoReturn {
    /// No browser was sent with this state, or it came back already or too late.
    UnknownState,
    /// Another browser was sent with this state.
    OtherBrowser,
    /// The code is missing or malformed.
    NoCode,
}

/// Returns an organisation's name, also if the address of its page on this GitHub was entered.
fn name_in<'a>(entered: &'a str, web: &Url) -> &'a str {
    let host = &web[Position::BeforeHost..Position::AfterPort];
    let schemes = ["https://", "http://"];
    let bare = schemes.iter().find_map(|scheme| entered.strip_prefix(scheme));
    let path = bare.unwrap_or(entered).strip_prefix(host);
    path.and_then(|path| path.split('/').find(|part| !["", "orgs", "organizations"].contains(part))).unwrap_or(entered)
}

impl Choice {
    pub(super) fn read(
        github: Result<GithubAddress, NotAnAddress>,
        organization: &str,
        public_url: &str,
    ) -> Result<Self, NoChoice> {
        let github = github.map_err(NoChoice::Github)?;
        let organization = name_in(organization.trim(), &github.web).trim_start_matches('@');
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if organization.len() > 100 || !organization.chars().all(is_name) {
            return Err(NoChoice::Organization);
        }
        let public_url = web_address(public_url).ok().filter(|url| url.path() == "/");
        let public_url = public_url.ok_or(NoChoice::PublicUrl)?;
        match (network(&public_url), network(&github.web)) {
            (Network::OneMachine, Network::Private | Network::Unknown) => {
                return Err(NoChoice::Unreachable(public_url));
            }
            // An Enterprise Server may be in the same network, whatever its name looks like.
            (Network::Private, _) if github.is_usual() => return Err(NoChoice::Private(public_url)),
            (Network::OneMachine | Network::Private | Network::Unknown, _) => {}
        }
        Ok(Self { github, organization: Some(organization.to_owned()).filter(|name| !name.is_empty()), public_url })
    }

    /// Returns the address, if it would be accepted as that of a service for this GitHub.
    pub(super) fn proposal(github: &GithubAddress, address: &Url) -> Option<Url> {
        let choice = Self::read(Ok(github.clone()), "", address.as_str()).ok()?;
        Some(choice.public_url)
    }

    /// Returns the page with the settings of the owner's Apps.
    pub(super) fn apps_page(&self) -> String {
        let web = self.github.web.as_str().trim_end_matches('/');
        match &self.organization {
            Some(organization) => format!("{web}/organizations/{organization}/settings/apps"),
            None => format!("{web}/settings/apps"),
        }
    }

    pub(super) fn registration(&self, state: &str) -> String {
        format!("{}/new?state={state}", self.apps_page())
    }
}

/// The network from which an address can be reached, as far as its form shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Network {
    /// It always leads to the machine that uses it.
    OneMachine,
    /// It is valid only within a private network.
    Private,
    /// Its form shows no limit.
    Unknown,
}

fn network(url: &Url) -> Network {
    let ip = match url.host() {
        Some(Host::Ipv4(ip)) => IpAddr::V4(ip),
        Some(Host::Ipv6(ip)) => IpAddr::V6(ip).to_canonical(),
        Some(Host::Domain(name)) => return network_of_name(name.trim_end_matches('.')),
        None => return Network::Unknown,
    };
    let is_private = match ip {
        IpAddr::V4(ip) => ip.is_private() || ip.is_link_local() || matches!(ip.octets(), [100, 64..=127, ..]),
        IpAddr::V6(ip) => ip.is_unique_local() || Ipv6Addr::is_unicast_link_local(&ip),
    };
    match ip.is_loopback() || ip.is_unspecified() {
        true => Network::OneMachine,
        false if is_private => Network::Private,
        false => Network::Unknown,
    }
}

/// Reads the ends of names that standards reserve. A name without a dot is one of a local network.
fn network_of_name(name: &str) -> Network {
    let ends_in = |end: &&str| name.rsplit_once(end).is_some_and(|(_, rest)| rest.is_empty());
    match name {
        "localhost" => Network::OneMachine,
        _ if ends_in(&".localhost") => Network::OneMachine,
        _ if !name.contains('.') || [".local", ".internal", ".home.arpa"].iter().any(ends_in) => Network::Private,
        _ => Network::Unknown,
    }
}

impl Progress {
    /// Records that a browser is sent to GitHub with this state.
    pub(super) fn begin(&mut self, which: AppKind, state: &str, browser: &Hash, now: Millis) {
        self.begun.retain(|begun| now.0 - begun.at.0 < BEGUN_MS);
        if self.begun.len() >= MOST_BEGUN {
            self.begun.remove(0);
        }
        self.begun.push(BegunRegistration { which, state: Hash::of(state), browser: browser.clone(), at: now });
    }

    /// Records that GitHub sent a browser back. A state is valid once, for the browser that was sent with it.
    pub(super) fn accept_return(
        &mut self,
        state: &str,
        code: &str,
        browser: &Hash,
        now: Millis,
    ) -> Result<AppKind, NoReturn> {
        let is_code = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if code.is_empty() || code.len() > 200 || !code.chars().all(is_code) {
            return Err(NoReturn::NoCode);
        }
        let hash = Hash::of(state);
        let Some(begun) = self.begun.iter().find(|begun| begun.state == hash).cloned() else {
            return Err(NoReturn::UnknownState);
        };
        if begun.browser != *browser {
            return Err(NoReturn::OtherBrowser);
        }
        self.begun.retain(|begun| begun.state != hash);
        if now.0 - begun.at.0 >= BEGUN_MS {
            return Err(NoReturn::UnknownState);
        }
        self.drop_code(begun.which);
        self.codes.push(RegistrationCode { which: begun.which, code: code.to_owned(), standing: CodeAppStatus::Begun });
        Ok(begun.which)
    }

    /// Sets the state of the exchange of an App's code.
    pub(super) fn set_status(&mut self, which: AppKind, standing: CodeAppStatus) {
        if let Some(code) = self.codes.iter_mut().find(|code| code.which == which) {
            code.standing = standing;
        }
    }

    pub(super) fn code(&self, which: AppKind) -> Option<&RegistrationCode> {
        self.codes.iter().find(|code| code.which == which)
    }

    pub(super) fn drop_code(&mut self, which: AppKind) {
        self.codes.retain(|code| code.which != which);
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AppStatus<'a> {
    /// The App is not registered, as far as is known.
    Missing,
    /// The App's credentials are saved.
    Kept,
    /// GitHub gave a code for the App, and its credentials are not saved.
    Unfinished(&'a CodeAppStatus),
}

/// Returns the state of an App: saved credentials take precedence over any registration in progress.
pub(super) fn status<'a>(progress: &'a Progress, kept: Option<&KeptApps>, which: AppKind) -> AppStatus<'a> {
    match (kept.and_then(|kept| which.app_in(kept)), progress.code(which)) {
        (Some(_), _) => AppStatus::Kept,
        (None, Some(code)) => AppStatus::Unfinished(&code.standing),
        (None, None) => AppStatus::Missing,
    }
}

/// A step of the set-up, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    /// The person chooses the GitHub server, the Apps' owner and the service's address.
    Choose,
    Register,
    /// The person installs the AutoBuild App.
    Install,
    /// The person chooses the changes in repositories; the last step.
    Repositories,
}

/// Returns the step that the set-up has reached. `is_installed` is `false` also if GitHub was not asked.
pub(super) fn step(choice: Option<&Choice>, autobuild: &AppStatus<'_>, is_installed: bool) -> Step {
    match (autobuild, choice, is_installed) {
        (AppStatus::Kept, _, true) => Step::Repositories,
        (AppStatus::Kept, _, false) => Step::Install,
        (AppStatus::Missing | AppStatus::Unfinished(_), Some(_), _) => Step::Register,
        (AppStatus::Missing | AppStatus::Unfinished(_), None, _) => Step::Choose,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::github_named;

    const NOW: Millis = Millis(1_000);

    fn choice(github: &str, organization: &str, public_url: &str) -> Result<Choice, NoChoice> {
        Choice::read(github_named(github), organization, public_url)
    }

    #[test]
    fn a_choice_says_where_manifests_go() {
        let service = "https://build.example";
        for (github, organization, page) in [
            ("", "", "https://github.com/settings/apps"),
            ("", "@acme", "https://github.com/organizations/acme/settings/apps"),
            ("", "https://github.com/acme", "https://github.com/organizations/acme/settings/apps"),
            ("", "github.com/orgs/acme/people", "https://github.com/organizations/acme/settings/apps"),
            ("https://ghe.example", " acme ", "https://ghe.example/organizations/acme/settings/apps"),
        ] {
            let choice = choice(github, organization, service).unwrap();
            assert_eq!(choice.apps_page(), page);
            assert_eq!(choice.registration("s"), format!("{page}/new?state=s"));
        }
        let enterprise = choice("https://ghe.example/", "", service).unwrap();
        assert_eq!(enterprise.github.api.as_str(), "https://ghe.example/api/v3");
    }

    #[test]
    fn a_choice_that_cannot_work_is_refused() {
        let loopback: Url = "http://127.0.0.1:8080".parse().unwrap();
        for (github, organization, public_url, why) in [
            ("http://ghe.example", "", "https://b.example", NoChoice::Github(NotAnAddress::PlainHttp)),
            ("", "a/b", "https://b.example", NoChoice::Organization),
            ("", "https://ghe.example/acme", "https://b.example", NoChoice::Organization),
            ("", "https://github.com/", "https://b.example", NoChoice::Organization),
            ("", "", "b.example", NoChoice::PublicUrl),
            ("", "", "https://b.example/below", NoChoice::PublicUrl),
            ("", "", "javascript:alert(1)", NoChoice::PublicUrl),
            ("", "", "http://127.0.0.1:8080", NoChoice::Unreachable(loopback)),
        ] {
            assert_eq!(choice(github, organization, public_url), Err(why), "{github} {public_url}");
        }
        for local in [
            "http://10.0.0.7:8080",
            "https://192.168.1.2",
            "http://100.64.3.4",
            "http://[fd00::1]",
            "http://[::ffff:10.0.0.7]",
            "http://buildhost:8080",
            "https://build.internal.",
        ] {
            let refused = choice("", "", local).unwrap_err();
            assert!(matches!(refused, NoChoice::Private(_)), "{local}: {refused}");
            let github = github_named("").unwrap();
            assert_eq!(Choice::proposal(&github, &local.parse().unwrap()), None, "{local}");
        }
        for own in ["http://localhost.:80", "http://[::ffff:127.0.0.1]", "http://0.0.0.0:1"] {
            let refused = choice("", "", own).unwrap_err();
            assert!(matches!(refused, NoChoice::Unreachable(_)), "{own}: {refused}");
        }
        assert!(choice("", "", "https://b.example").is_ok());
        assert!(choice("http://127.0.0.1:1", "", "http://127.0.0.1:8080").is_ok());
        assert!(choice("https://ghe.example", "", "http://10.0.0.7:8080").is_ok());
    }

    #[test]
    fn a_state_is_good_once_for_the_browser_that_was_sent_with_it_and_for_an_hour() {
        let (own, other) = (Hash::of("own"), Hash::of("other"));
        let begun = || {
            let mut progress = Progress::default();
            progress.begin(AppKind::Coach, "state", &own, NOW);
            progress
        };
        let mut progress = begun();
        assert_eq!(progress.accept_return("other", "code", &own, NOW), Err(NoReturn::UnknownState));
        assert_eq!(progress.accept_return("state", "code", &other, NOW), Err(NoReturn::OtherBrowser));
        for code in ["", "a/b", "a b", &"x".repeat(300)] {
            assert_eq!(progress.accept_return("state", code, &own, NOW), Err(NoReturn::NoCode));
        }
        assert_eq!(progress.accept_return("state", "code", &own, NOW), Ok(AppKind::Coach));
        assert_eq!(progress.accept_return("state", "code", &own, NOW), Err(NoReturn::UnknownState));
        let late = NOW.plus(BEGUN_MS);
        assert_eq!(begun().accept_return("state", "code", &own, late), Err(NoReturn::UnknownState));
    }

    #[test]
    fn a_code_is_written_down_before_it_is_exchanged_and_its_end_is_seen() {
        let own = Hash::of("own");
        let mut progress = Progress::default();
        progress.begin(AppKind::Autobuild, "state", &own, NOW);
        progress.accept_return("state", "code", &own, NOW).unwrap();
        assert_eq!(status(&progress, None, AppKind::Autobuild), AppStatus::Unfinished(&CodeAppStatus::Begun));
        assert_eq!(status(&progress, None, AppKind::Coach), AppStatus::Missing);
        progress.set_status(AppKind::Autobuild, CodeAppStatus::Lost);
        assert_eq!(status(&progress, None, AppKind::Autobuild), AppStatus::Unfinished(&CodeAppStatus::Lost));
        let written = serde_json::to_string(&progress).unwrap();
        assert!(!written.contains("\"state\":\"state\""), "no state in clear: {written}");
        assert_eq!(serde_json::from_str::<Progress>(&written).unwrap(), progress);
        progress.drop_code(AppKind::Autobuild);
        assert_eq!(status(&progress, None, AppKind::Autobuild), AppStatus::Missing);
    }

    #[test]
    fn what_is_there_says_what_is_shown_next() {
        let chosen = choice("", "", "https://b.example").unwrap();
        let lost = CodeAppStatus::Lost;
        for (choice, app, installed, next) in [
            (None, AppStatus::Missing, false, Step::Choose),
            (Some(&chosen), AppStatus::Missing, false, Step::Register),
            (Some(&chosen), AppStatus::Unfinished(&lost), false, Step::Register),
            (Some(&chosen), AppStatus::Kept, false, Step::Install),
            (None, AppStatus::Kept, false, Step::Install),
            (Some(&chosen), AppStatus::Kept, true, Step::Repositories),
        ] {
            assert_eq!(step(choice, &app, installed), next, "{app:?} {installed:?}");
        }
    }
}
