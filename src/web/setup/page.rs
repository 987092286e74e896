//! The page of the set-up. Each step shows its result, the missing parts, and how to undo it.

use super::{
    Installations,
    browser::Form,
    finish::{MOST, Onboarding},
    manifest::AppKind,
    progress::{AppStatus, Choice, CodeAppStatus, Field, Hash, NoChoice, NoReturn, NotOurs, Step},
    reach_check::ReachCheck,
    register::{ImportField, NotImported},
};
use crate::{
    config::{GithubAddress, KEPT_APPS_FILE, KeptApp, KeptApps},
    engine::onboarding::OnboardingOutcome,
    messages,
    web::frame::html_page,
};
use axum::{
    http::{
        HeaderValue, StatusCode,
        header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS},
    },
    response::{IntoResponse, Response},
};
use domain::{diagnosis, diagnosis::Row};
use maud::{Markup, html};
use secrecy::{ExposeSecret, SecretString};
use std::path::Path;
use url::{Url, form_urlencoded};

pub(super) struct SetupView<'a> {
    pub(super) step: Step,
    pub(super) autobuild: AppStatus<'a>,
    pub(super) coach: AppStatus<'a>,
    pub(super) choice: Option<&'a Choice>,
    pub(super) kept: Option<&'a KeptApps>,
    /// The GitHub server that the settings name.
    pub(super) github: Option<&'a GithubAddress>,
    /// The proposed public address of the service, if one is known that would be accepted.
    pub(super) proposed: Option<&'a Url>,
    /// The text typed into a refused form.
    pub(super) typed: &'a Form,
    pub(super) reach: &'a ReachCheck,
    /// The reason why the service does not start.
    pub(super) failed: Option<&'a String>,
    pub(super) installations: &'a Installations,
    /// The rows about this machine, if it was checked already.
    pub(super) machine: Option<&'a [Row]>,
    pub(super) manifests: &'a [Posted],
    pub(super) folder: &'a Path,
    /// The token in the page's forms.
    pub(super) form: &'a str,
    pub(super) note: Option<Note>,
}

pub(super) struct Posted {
    pub(super) which: AppKind,
    pub(super) to: String,
    pub(super) manifest: String,
}

/// A note on the last action.
pub(super) enum Note {
    Chosen,
    NoChoice(NoChoice),
    ChoiceIsFixed,
    NoReturn(NoReturn),
    NotImported(NotImported),
    NoService,
    TooMany(usize),
    /// The results for repositories, if something was not made.
    Made(Vec<Onboarding>),
}

pub(super) fn page(shown: &SetupView<'_>) -> Response {
    let goes_on = matches!(shown.note, Some(Note::Chosen));
    let content = html! {
        h1 { "Set up AutoBuild" }
        @if let Some(note) = &shown.note { (note_box(note)) }
        @if let Some(why) = shown.failed {
            p.wrong role="alert" {
                "The service cannot start yet: " (why)
                ". Mend it. The start is tried again every minute, and this page goes on where it is. Variables of the "
                "environment count from the next " code { "autobuild serve" } " on."
            }
        }
        (machine_section(shown.machine))
        (choice_section(shown))
        @if shown.step >= Step::Register { (apps_section(shown, goes_on)) }
        @if shown.step >= Step::Install { (address_section(shown)) (install_section(shown)) }
        @if shown.step == Step::Repositories { (repositories_section(shown)) }
    };
    let github = shown.choice.map(|choice| &choice.github.web);
    guarded(frame(StatusCode::OK, "Set up AutoBuild", &content, goes_on), github)
}

fn frame(status: StatusCode, title: &str, content: &Markup, script: bool) -> Response {
    let body = html! {
        header { "AutoBuild" }
        main #main { (content) }
    };
    (status, html_page(title, script.then_some("/setup/go.js"), &body)).into_response()
}

/// Adds the headers that keep the page and its address private, and that restrict its forms to this service and one
/// GitHub server.
pub(super) fn guarded(mut response: Response, github: Option<&Url>) -> Response {
    let github = github.map(|url| url.origin().ascii_serialization()).unwrap_or_default();
    let policy = format!(
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self' {github}; \
         base-uri 'none'; frame-ancestors 'none'"
    );
    let headers = response.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // GitHub may see the host from which a form comes, but never the full address.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("strict-origin"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Returns the page for a browser that was not admitted.
pub(super) fn closed() -> Response {
    let content = html! {
        h1 { "This page needs its link" }
        p {
            "Open the link that " code { "autobuild serve" } " printed when it started. It works once, in one browser. "
            "On the service's machine, " code { "autobuild setup" } " prints a new one."
        }
        p { "If GitHub sent you here after an installation, go back to the page where you began, and load it again." }
    };
    guarded(frame(StatusCode::FORBIDDEN, "Set up AutoBuild", &content, false), None)
}

/// Returns the page after the last step.
pub(super) fn over() -> Response {
    let content = html! {
        h1 { "AutoBuild is set up" }
        p { "There is nothing more to do here. " a href="/" { "To the work" } }
        p {
            "To check the address, or to add the Coach App or more repositories, run " code { "autobuild setup" } " on the "
            "service's machine: it opens this page again."
        }
    };
    guarded(frame(StatusCode::GONE, "AutoBuild is set up", &content, false), None)
}

/// Why a set-up without an error of the system cannot continue.
pub(super) const NO_RANDOMNESS: &str = "the system has no randomness";
pub(super) const BROKEN_OFF: &str = "The exchange with GitHub was broken off.";

/// Returns the page for an error on this machine.
pub(super) fn failed(why: &str) -> Response {
    let content = html! {
        h1 { "The set-up cannot go on" }
        p.wrong { (why) }
        p { "Mend it, then " a href="/setup" { "load the page again" } "." }
    };
    let status = StatusCode::INTERNAL_SERVER_ERROR;
    guarded(frame(status, "Set up AutoBuild", &content, false), None)
}

/// Returns the problems of this machine, so that people learn of them before the Apps are made.
fn machine_section(rows: Option<&[Row]>) -> Markup {
    let is_wrong = |row: &&Row| row.status != diagnosis::RowStatus::Ok;
    let wrong: Vec<&Row> = rows.unwrap_or_default().iter().filter(is_wrong).collect();
    html! {
        h2 { "This machine" }
        @match (rows, wrong.as_slice()) {
            (None, _) => p.muted { "git, isolation and the agents are still looked at. Load this page again in a few seconds." },
            (Some(_), []) => p { "git, isolation and the agents are as they should be." },
            (Some(_), wrong) => {
                p { "You can register the Apps before or after you mend this:" }
                ul.rows {
                    @for row in wrong {
                        li {
                            b { (row.what()) } " " (row.status.word()) ": " (page_parts::sentence(&row.found)) "."
                            @if let Some(remedy) = &row.remedy { br; span.muted { (page_parts::sentence(remedy)) } }
                        }
                    }
                }
            },
        }
    }
}

fn note_box(note: &Note) -> Markup {
    html! {
        @match note {
            // These notes are shown beside their fields.
            Note::Chosen | Note::NoChoice(_) => {}
            Note::ChoiceIsFixed => p.wrong role="alert" {
                "An App is registered already, so GitHub, owner and address stay as they are. Forget the App first."
            },
            Note::NoReturn(why) => p.wrong role="alert" { (no_return(*why)) },
            Note::NotImported(why) => @if why.field().is_none() {
                p.wrong role="alert" { (not_imported(why)) }
            }
            Note::NoService => p.wrong role="alert" { "The service does not work yet. Try again in a few seconds." },
            Note::TooMany(most) => p.wrong role="alert" { "Tick at most " (most) " repositories." },
            Note::Made(made) => div.wrong role="alert" {
                p { "Not everything was made. Nothing is lost: tick and try again, or go on without." }
                ul { @for one in made { li { (made_in_short(one)) } } }
            },
        }
    }
}

fn no_return(why: NoReturn) -> &'static str {
    match why {
        NoReturn::UnknownState => {
            "What GitHub returned was not asked for here, or was used already, or is older than an hour. Nothing was kept. \
             If GitHub made an App, delete it there; then use the button below."
        }
        NoReturn::OtherBrowser => {
            "What GitHub returned was asked for in another browser. Go on there. Nothing was kept here."
        }
        NoReturn::NoCode => "GitHub returned no code. Nothing was kept. Use the button below again.",
    }
}

fn made_in_short(made: &Onboarding) -> Markup {
    html! {
        (made.repository) ": "
        @match &made.result {
            Ok(OnboardingOutcome::Proposed(number)) => { "labels and pull request #" (number) },
            Ok(OnboardingOutcome::HadSettings) => { "labels; it has settings already" },
            Ok(OnboardingOutcome::NoCommits) => { "labels; no pull request, because it has no commits" },
            Err(why) => { (why) },
        }
    }
}

fn own_form(shown: &SetupView<'_>) -> Markup {
    html! { input type="hidden" name="form" value=(shown.form); }
}

fn choice_section(shown: &SetupView<'_>) -> Markup {
    let choice = shown.choice;
    let unfinished = [&shown.autobuild, &shown.coach].map(|app| matches!(app, AppStatus::Unfinished(_)));
    let is_fixed = shown.kept.is_some() || unfinished.contains(&true);
    html! {
        h2 { "1. Where" }
        @if let (Some(choice), true) = (choice, is_fixed) {
            (show_choice(choice))
        } @else if shown.step >= Step::Register {
            @if let Some(choice) = choice { (show_choice(choice)) }
            details open[matches!(shown.note, Some(Note::NoChoice(_)))] { summary { "Change it" } (choice_form(shown)) }
        } @else {
            p { "Two GitHub Apps will work for you. They belong to an organisation or to you, and work only where you install them." }
            (choice_form(shown))
        }
    }
}

fn show_choice(choice: &Choice) -> Markup {
    html! {
        dl.facts {
            dt { "GitHub" } dd { (choice.github.web) }
            dt { "Owner of the Apps" } dd { (choice.organization.as_deref().unwrap_or("you")) }
            dt { "This service" } dd { (choice.public_url) }
        }
    }
}

fn choice_form(shown: &SetupView<'_>) -> Markup {
    let (choice, typed) = (shown.choice, shown.typed);
    let refused = match &shown.note {
        Some(Note::NoChoice(why)) => Some((why.field(), why.to_string())),
        _ => None,
    };
    let why = |field: Field| refused.as_ref().filter(|(at, _)| *at == field).map(|(_, why)| why.as_str());
    let address = choice.map(|choice| &choice.public_url).or(shown.proposed);
    let address = address.map(|url| url.as_str().trim_end_matches('/'));
    let organization = choice.and_then(|choice| choice.organization.as_deref());
    let github = typed.field("github").or_else(|| {
        let web = choice?.github.web.as_str();
        (web != "https://github.com/").then_some(web)
    });
    html! {
        form.sign-in method="post" action="/setup/choice" {
            (own_form(shown))
            label for="organization" { "Organisation" }
            input #organization name="organization" maxlength="100" autocapitalize="none" spellcheck="false"
                aria-describedby="organization-error organization-help" value=[typed.field("organization").or(organization)]
                aria-invalid=[invalid(why(Field::Organization))];
            (beside("organization", why(Field::Organization)))
            p.muted #organization-help { "One that you own. Leave it empty to use AutoBuild for your own account." }
            label for="address" { "Address of this service" }
            input #address name="address" type="url" required aria-describedby="address-error address-help"
                placeholder="https://autobuild.example" value=[typed.field("address").or(address)]
                aria-invalid=[invalid(why(Field::Address))];
            (beside("address", why(Field::Address)))
            p.muted #address-help { "GitHub sends webhooks to it, and browsers open it." }
            @match shown.github {
                Some(github) => p.muted { "GitHub is " (github.web) ", as the settings say." },
                None => {
                    details open[github.is_some_and(|github| !github.is_empty())] {
                        summary { "Use GitHub Enterprise Server" }
                        label for="github" { "Its address" }
                        input #github name="github" type="url" placeholder="https://github.example" value=[github]
                            aria-describedby="github-error" aria-invalid=[invalid(why(Field::Github))];
                        (beside("github", why(Field::Github)))
                    }
                },
            }
            button { "Continue" }
        }
    }
}

/// Words, beside a field, why its value was refused.
fn beside(id: &str, why: Option<&str>) -> Markup {
    html! { @if let Some(why) = why { p.wrong id=(format!("{id}-error")) role="alert" { (why) } } }
}

fn invalid(why: Option<&str>) -> Option<&'static str> {
    why.map(|_| "true")
}

fn apps_section(shown: &SetupView<'_>, goes_on: bool) -> Markup {
    html! {
        h2 { "2. The Apps" }
        p {
            b { "AutoBuild" } " writes. " b { "AutoBuild Coach" } " reviews what AutoBuild wrote, since GitHub lets no App "
            "review its own pull request. Without the Coach, reviews are comments. GitHub shows what each App may do, "
            "and lets you change its name."
        }
        (app_box(shown, AppKind::Autobuild, &shown.autobuild, goes_on))
        (app_box(shown, AppKind::Coach, &shown.coach, false))
        details open[matches!(shown.note, Some(Note::NotImported(_)))] {
            summary { "Use an App that is registered already" }
            (import_form(shown))
        }
    }
}

fn app_box(shown: &SetupView<'_>, which: AppKind, standing: &AppStatus<'_>, goes_on: bool) -> Markup {
    let posted = shown.manifests.iter().find(|posted| posted.which == which);
    let head = html! { b { (which.name()) } };
    let body = match standing {
        AppStatus::Missing => html! {
            @if let Some(posted) = posted {
                form.action method="post" action=(posted.to) data-go[goes_on] {
                    input type="hidden" name="manifest" value=(posted.manifest);
                    button { "Register " (which.name()) " on GitHub" }
                }
            }
        },
        AppStatus::Kept => {
            let app = shown.kept.and_then(|kept| which.app_in(kept));
            html! { @if let Some(app) = app { (kept_box(shown, which, app)) } }
        }
        AppStatus::Unfinished(standing) => unfinished_box(shown, which, standing),
    };
    page_parts::boxed(None, "", &head, &body)
}

fn kept_box(shown: &SetupView<'_>, which: AppKind, app: &KeptApp) -> Markup {
    html! {
        p {
            "Registered as " a href=(app.page) { (app.slug) } ", number " (app.id) ". Its key and secrets are in "
            code { (shown.folder.join(KEPT_APPS_FILE).display()) } ", which only the service's user can read."
        }
        details {
            summary { "Undo" }
            p {
                "Delete the App on GitHub"
                @if let Some(choice) = shown.choice {
                    " (" a href=(format!("{}/{}", choice.apps_page(), app.slug)) { "its settings" } ", Advanced)"
                }
                ", then forget it here."
            }
            (small_form(shown, "/setup/forget", which, "Forget it here"))
        }
    }
}

fn small_form(shown: &SetupView<'_>, to: &str, which: AppKind, button: &str) -> Markup {
    html! {
        form.action method="post" action=(to) {
            (own_form(shown))
            input type="hidden" name="which" value=(which.key());
            button { (button) " (" (which.name()) ")" }
        }
    }
}

fn unfinished_box(shown: &SetupView<'_>, which: AppKind, standing: &CodeAppStatus) -> Markup {
    let apps = shown.choice.map(Choice::apps_page).unwrap_or_default();
    html! {
        @match standing {
            CodeAppStatus::Begun => {
                p { "GitHub registered the App. The service was stopped before the App's key was here." }
                (retry_forms(shown, which, &apps))
            },
            CodeAppStatus::NoAnswer => {
                p { "GitHub registered the App, but did not answer when it was asked for the App's key. It gives the key for an hour." }
                (retry_forms(shown, which, &apps))
            },
            CodeAppStatus::Lost => {
                p.wrong {
                    "GitHub registered the App, but its key is lost: GitHub tells it once, and within an hour. "
                    "Delete the App in " a href=(apps) { "the owner's Apps" } ", then register it again."
                }
                (small_form(shown, "/setup/forget", which, "I deleted it: register again"))
            },
            CodeAppStatus::Foreign { page, why } => {
                p.wrong { "GitHub returned " a href=(page) { (page) } ", which is not used: " (not_ours(which, why)) "." }
                p { "Delete it in " a href=(apps) { "the owner's Apps" } " if it was made just now, then register again." }
                (small_form(shown, "/setup/forget", which, "Register again"))
            },
        }
    }
}

fn retry_forms(shown: &SetupView<'_>, which: AppKind, apps: &str) -> Markup {
    html! {
        (small_form(shown, "/setup/retry", which, "Try to fetch the key"))
        details {
            summary { "Undo" }
            p { "Delete the App in " a href=(apps) { "the owner's Apps" } ", then forget it here." }
            (small_form(shown, "/setup/forget", which, "Forget it here"))
        }
    }
}

/// Words the reason why an App is not the right one.
pub(super) fn not_ours(which: AppKind, why: &NotOurs) -> String {
    match why {
        NotOurs::TheOther => "it is the other one of the two Apps".to_owned(),
        NotOurs::NoWebhook => "it has no webhook".to_owned(),
        NotOurs::OwnedBy(owner) => format!("it belongs to {owner}, not to the organisation that was chosen"),
        NotOurs::Lacks(lacking) => {
            let lacking: Vec<String> = lacking.iter().map(|(name, level)| format!("{name}: {level}")).collect();
            format!("as {}, it lacks the permissions {}", which.name(), lacking.join(", "))
        }
    }
}

fn not_imported(why: &NotImported) -> String {
    let why = match why {
        NotImported::NoGithub => "choose GitHub first".to_owned(),
        NotImported::NoWhich => "choose one of the two Apps".to_owned(),
        NotImported::NoId => "the App id is a number, shown on the App's settings page".to_owned(),
        NotImported::NoKey => "the private key is missing".to_owned(),
        NotImported::NoSecret => "the webhook secret is missing".to_owned(),
        NotImported::NoClientId => "the client id is missing: its secret is there".to_owned(),
        NotImported::NotOurs(which, why) => not_ours(*which, why),
        NotImported::UnusableKey(cause) | NotImported::Failed(cause) => cause.clone(),
    };
    format!("The App was not imported: {why}.")
}

fn import_form(shown: &SetupView<'_>) -> Markup {
    let typed = shown.typed;
    let wrong = match &shown.note {
        Some(Note::NotImported(why)) => why.field().map(|at| (at, not_imported(why))),
        _ => None,
    };
    let why = |field: ImportField| wrong.as_ref().filter(|(at, _)| *at == field).map(|(_, why)| why.as_str());
    html! {
        form.sign-in method="post" action="/setup/import" {
            (own_form(shown))
            label for="which" { "App" }
            select #which name="which" aria-describedby="which-error" aria-invalid=[invalid(why(ImportField::Which))] {
                @for which in AppKind::BOTH {
                    option value=(which.key()) selected[typed.text("which") == which.key()] { (which.name()) }
                }
            }
            (beside("which", why(ImportField::Which)))
            label for="id" { "App id" }
            input #id name="id" inputmode="numeric" required value=[typed.field("id")] aria-describedby="id-error"
                aria-invalid=[invalid(why(ImportField::Id))];
            (beside("id", why(ImportField::Id)))
            label for="key" { "Private key (the text of the .pem file)" }
            textarea #key name="key" rows="4" required autocomplete="off" spellcheck="false" aria-describedby="key-error"
                aria-invalid=[invalid(why(ImportField::Key))] { "\n" (typed.text("key")) }
            (beside("key", why(ImportField::Key)))
            label for="secret" { "Webhook secret (AutoBuild only)" }
            input #secret name="secret" type="password" autocomplete="off" value=[typed.field("secret")]
                aria-describedby="secret-error" aria-invalid=[invalid(why(ImportField::Secret))];
            (beside("secret", why(ImportField::Secret)))
            label for="client_id" { "Client id, to sign people in (AutoBuild only, optional)" }
            input #client_id name="client_id" autocomplete="off" value=[typed.field("client_id")]
                aria-describedby="client_id-error" aria-invalid=[invalid(why(ImportField::ClientId))];
            (beside("client_id", why(ImportField::ClientId)))
            label for="client_secret" { "Client secret" }
            input #client_secret name="client_secret" type="password" autocomplete="off" value=[typed.field("client_secret")];
            button { "Import" }
        }
    }
}

fn address_section(shown: &SetupView<'_>) -> Markup {
    html! {
        h2 { "3. The address" }
        @if let Some(kept) = shown.kept { (reach_line(shown.reach, kept)) }
        @if *shown.reach != ReachCheck::Reached {
            form.action method="post" action="/setup/prove" { (own_form(shown)) button { "Check the address again" } }
        }
    }
}

/// Words if GitHub reaches the service, as far as that is known.
fn reach_line(reach: &ReachCheck, kept: &KeptApps) -> Markup {
    let hook = format!("{}/webhook", kept.public_url.as_str().trim_end_matches('/'));
    let status = |words: Markup| html! { p role="status" { (words) } };
    let wrong = |words: Markup| {
        html! {
            p.wrong role="alert" {
                (words) " As long as that is so, AutoBuild fetches deliveries from GitHub's log every 20 seconds, until they "
                "arrive by themselves. To be faster, check the proxy, firewall or tunnel; a wrong "
                "address is changed in the App's settings on GitHub."
            }
        }
    };
    match reach {
        ReachCheck::Reached => status(html! { "GitHub reached " code { (hook) } "." }),
        ReachCheck::NotTried => status(html! { "GitHub has not been asked yet to reach " code { (hook) } "." }),
        ReachCheck::Trying => {
            status(html! { "GitHub is asked to reach " code { (hook) } ". Load this page again in a few seconds." })
        }
        ReachCheck::NoPing => status(html! { "GitHub's log holds no delivery to " code { (hook) } " yet." }),
        ReachCheck::Answered(code) => wrong(html! {
            "GitHub reached " code { (hook) } ", and was answered with status " (code) ". "
            "Something else answers there, or a proxy does not pass requests on."
        }),
        ReachCheck::NotReached(why) => wrong(html! { "GitHub does not reach " code { (hook) } " (" (why) ")." }),
        ReachCheck::Unknown(why) => {
            status(html! { "GitHub did not say whether it reaches " code { (hook) } ": " (why) "." })
        }
    }
}

pub(super) fn install_page(app: &KeptApp) -> String {
    format!("{}/installations/new", app.page.trim_end_matches('/'))
}

fn install_section(shown: &SetupView<'_>) -> Markup {
    let link = |which: AppKind| shown.kept.and_then(|kept| which.app_in(kept)).map(install_page);
    let (main, coach) = (link(AppKind::Autobuild), link(AppKind::Coach));
    let count = shown.installations.repositories.len();
    html! {
        h2 { "4. Installation" }
        @if let Some(trouble) = &shown.installations.trouble {
            p.wrong role="alert" { "GitHub did not say everything: " (trouble) ". Load the page again." }
        }
        @if let Some(main) = main {
            p {
                @match count {
                    0 => { "AutoBuild is installed nowhere yet. " a.action href=(main) { "Install AutoBuild" } },
                    1 => { "AutoBuild is installed on 1 repository. " a href=(main) { "Change where AutoBuild is installed" } },
                    count => { "AutoBuild is installed on " (count) " repositories. " a href=(main) { "Change where AutoBuild is installed" } },
                }
            }
        }
        @if let Some(coach) = coach {
            p {
                @match shown.installations.coach {
                    Some(true) => { "The Coach is installed. " a href=(coach) { "Change where the Coach is installed" } },
                    Some(false) | None => { "The Coach is installed nowhere yet. " a.action href=(coach) { "Install the Coach" } },
                }
            }
        }
        p.muted { "Undo: uninstall the Apps on the same pages." }
    }
}

fn repositories_section(shown: &SetupView<'_>) -> Markup {
    let is_ticked = |id: domain::ids::RepoId| {
        let id = id.to_string();
        shown.typed.fields("repository").any(|ticked| ticked == id)
    };
    let shows = shown.typed.text("keep") == "show";
    html! {
        h2 { "5. Repositories" }
        p {
            "In each repository that you tick, AutoBuild makes the labels "
            @for (place, (name, _, _)) in messages::LABELS.iter().enumerate() {
                @if place > 0 { " and " } code { (name) }
            }
            ", and opens a pull request that proposes " code { ".github/autobuild.yml" } " with what it finds there. "
            "At most " (MOST) " at once; you can finish without any."
        }
        form method="post" action="/setup/finish" {
            (own_form(shown))
            fieldset {
                legend { "Repositories" }
                @for covered in &shown.installations.repositories {
                    label.row {
                        input type="checkbox" name="repository" value=(covered.id) checked[is_ticked(covered.id)];
                        " " (covered.name)
                    }
                }
            }
            @if shown.installations.more > 0 { p.muted { (shown.installations.more) " more are not shown." } }
            details open[shows] {
                summary { "Where the credentials stay" }
                label.row { input type="radio" name="keep" value="folder" checked[!shows]; " In the data folder" }
                label.row {
                    input type="radio" name="keep" value="show" checked[shows];
                    " Show them to me, for a secret store; once I have stored them, the data folder keeps them no longer"
                }
            }
            p.muted { "Undo: close the pull request, delete its branch and the labels. This page is gone after the last step." }
            div.action { button { "Finish" } }
        }
    }
}

/// Returns the answer to the last step, which nobody can load again. `folder` is the one that keeps the credentials, if
/// one does.
pub(super) fn final_page(kept: &KeptApps, reach: &ReachCheck, made: &[Onboarding], folder: Option<&Path>) -> Response {
    let (title, content) = done_content(kept, reach, made, folder);
    guarded(frame(StatusCode::OK, title, &content, false), None)
}

fn done_content(
    kept: &KeptApps,
    reach: &ReachCheck,
    made: &[Onboarding],
    folder: Option<&Path>,
) -> (&'static str, Markup) {
    let title = match reach {
        ReachCheck::Reached => "AutoBuild is set up",
        ReachCheck::Answered(_) | ReachCheck::NotReached(_) => "One thing is missing: GitHub must reach AutoBuild",
        ReachCheck::NotTried | ReachCheck::Trying | ReachCheck::NoPing | ReachCheck::Unknown(_) => {
            "One thing is open: does GitHub reach AutoBuild?"
        }
    };
    let content = html! {
        h1 { (title) }
        @if *reach == ReachCheck::Reached {
            p { "The service works. Put the label " code { "autobuild" } " on an issue, and AutoBuild plans and builds it." }
        } @else {
            (reach_line(reach, kept))
            p {
                "Until GitHub reaches that address, AutoBuild fetches deliveries from GitHub's log every 20 seconds, unless "
                code { "AUTOBUILD_REPLAY_SECONDS" } " is 0. Run " code { "autobuild setup" }
                " on the service's machine: it opens the set-up again, which checks the address. " code { "autobuild doctor" }
                " says how the last deliveries were answered."
            }
        }
        (made_rows(kept, reach, made))
        p {
            @match folder {
                Some(folder) => { "The credentials are in " code { (folder.join(KEPT_APPS_FILE).display()) } ". Back that file up." },
                None => { "The data folder keeps no credentials. Give them to the service before its next start." },
            }
        }
        p { a href="/" { "To the work" } }
    };
    (title, content)
}

/// Returns the page with the credentials, to be stored elsewhere. They stay in the data folder until a person confirms
/// this.
pub(super) fn credentials(kept: &KeptApps, reach: &ReachCheck, made: &[Onboarding], form: &str) -> Response {
    let content = html! {
        h1 { "Store the credentials" }
        (made_rows(kept, reach, made))
        p { "Put these credentials into your secret store, and give them to the service before its next start." }
        textarea.secrets readonly rows="16" aria-label="Credentials" { (variables(kept)) }
        form.action method="post" action="/setup/stored" {
            input type="hidden" name="form" value=(form);
            input type="hidden" name="shown" value=(mark(kept).text());
            p { "After that, the data folder keeps them no longer, and the set-up is over. Until then, they can be shown again." }
            button { "I have stored them" }
        }
        p { a href="/setup" { "Back to the set-up" } }
    };
    guarded(frame(StatusCode::OK, "Store the credentials", &content, false), None)
}

/// Returns a hash that identifies the shown credentials.
pub(super) fn mark(kept: &KeptApps) -> Hash {
    Hash::of(&variables(kept))
}

/// Returns the rows of the results. A first issue is offered unless GitHub cannot reach the service, which would then
/// not learn of the label.
fn made_rows(kept: &KeptApps, reach: &ReachCheck, made: &[Onboarding]) -> Markup {
    let github = kept.github();
    let web = github.web.as_str().trim_end_matches('/');
    html! {
        @if !made.is_empty() {
            ul.rows.made {
                @for one in made {
                    li {
                        (made_in_short(one)) ". "
                        a href=(format!("{web}/{}/issues", one.repository)) { "Issues" }
                        @if let Ok(OnboardingOutcome::Proposed(number)) = &one.result {
                            " · " a href=(format!("{web}/{}/pull/{number}", one.repository)) { "The pull request" }
                        }
                        @if !matches!(reach, ReachCheck::Answered(_) | ReachCheck::NotReached(_)) {
                            br;
                            a.action href=(first_issue(web, &one.repository)) { "A first issue, filled in" }
                        }
                    }
                }
            }
        }
    }
}

/// Returns the address at which GitHub opens a new small issue, already written and labelled.
fn first_issue(web: &str, repository: &str) -> String {
    let [(label, _, _), _] = messages::LABELS;
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("labels", label)
        .append_pair("title", "Say in the README how to run the tests")
        .append_pair("body", "Add a short section that names the commands for set-up and tests.")
        .finish();
    format!("{web}/{repository}/issues/new?{query}")
}

/// Returns the credentials as lines of environment variables.
fn variables(kept: &KeptApps) -> String {
    let github = kept.github();
    let one_line = |pem: &SecretString| pem.expose_secret().trim().replace('\n', "\\n");
    let mut lines = vec![
        ("AUTOBUILD_GITHUB_URL", github.web.to_string()),
        ("AUTOBUILD_GITHUB_API_URL", github.api.to_string()),
        ("AUTOBUILD_PUBLIC_URL", kept.public_url.to_string()),
    ];
    if let Some(app) = &kept.autobuild {
        lines.push(("AUTOBUILD_APP_ID", app.id.to_string()));
        lines.push(("AUTOBUILD_PRIVATE_KEY", one_line(&app.private_key)));
        if let Some(secret) = &app.webhook_secret {
            lines.push(("AUTOBUILD_WEBHOOK_SECRET", secret.expose_secret().to_owned()));
        }
        if let Some(oauth) = &app.oauth {
            lines.push(("AUTOBUILD_CLIENT_ID", oauth.id.clone()));
            lines.push(("AUTOBUILD_CLIENT_SECRET", oauth.secret.expose_secret().to_owned()));
        }
    }
    if let Some(app) = &kept.coach {
        lines.push(("AUTOBUILD_COACH_APP_ID", app.id.to_string()));
        lines.push(("AUTOBUILD_COACH_PRIVATE_KEY", one_line(&app.private_key)));
    }
    lines.iter().map(|(name, value)| format!("{name}={value}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::github_named;

    /// Returns the last page, after a repository was made ready.
    fn last_page(reach: &ReachCheck) -> String {
        let github = github_named("").unwrap();
        let kept = KeptApps::none(&github, Url::parse("https://autobuild.invalid").unwrap());
        let made = [Onboarding {
            repository: "acme/shop".to_owned(),
            result: Ok(OnboardingOutcome::Proposed(domain::ids::PullNumber(1))),
        }];
        let (title, content) = done_content(&kept, reach, &made, None);
        format!("{title}\n{}", content.into_string())
    }

    #[test]
    fn the_last_page_promises_work_only_if_github_reached_the_address() {
        let reached = last_page(&ReachCheck::Reached);
        for said in ["AutoBuild is set up", "The service works", "A first issue, filled in"] {
            assert!(reached.contains(said), "{said}: {reached}");
        }
        let unreached = ReachCheck::NotReached("failed to connect to host".to_owned());
        for (reach, title, not_said) in [
            (unreached, "GitHub must reach AutoBuild", "A first issue"),
            (ReachCheck::Answered(502), "GitHub must reach AutoBuild", "A first issue"),
            (ReachCheck::NoPing, "does GitHub reach AutoBuild?", "is set up"),
            (ReachCheck::Unknown("502".to_owned()), "does GitHub reach AutoBuild?", "is set up"),
        ] {
            let page = last_page(&reach);
            for said in [title, "fetches deliveries from GitHub's log", "autobuild setup"] {
                assert!(page.contains(said), "{said}: {page}");
            }
            for not_said in [not_said, "is set up", "The service works"] {
                assert!(!page.contains(not_said), "{not_said}: {page}");
            }
        }
    }
}
