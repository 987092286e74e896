//! Checks a person's permission. GitHub is asked at that moment; payloads are not trusted for it.

use crate::{
    config::Permission,
    engine::{ingest::context::InboundContext, job::EffectError, strangers::Visitor},
    github::AccessLevel,
};
use domain::{
    blocked::Failure,
    feature::command::{Asker, Refusal},
};

/// How long a failing permission check is tried again before it counts as a no, in milliseconds.
const PATIENCE_MS: i64 = 600_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermissionCheck {
    Granted,
    /// The person lacks the permission.
    Denied(Asker),
    /// GitHub gave no answer for ten minutes. This counts as a no.
    Unknown,
}

/// Checks if `login` has at least the permission `needed`.
pub async fn check(
    context: &InboundContext<'_>,
    login: &str,
    needed: Permission,
) -> Result<PermissionCheck, EffectError> {
    let needed = match needed {
        Permission::Write => AccessLevel::Write,
        Permission::Maintain => AccessLevel::Maintain,
        Permission::Admin => AccessLevel::Admin,
    };
    match context.repo().access_of(login).await {
        Ok(level) if level >= needed => Ok(PermissionCheck::Granted),
        Ok(level) => Ok(PermissionCheck::Denied(asker(context, level))),
        Err(error) => match EffectError::from(error) {
            // GitHub says when it answers again, so the check waits. A limit that strangers used up must not turn
            // anybody's right into a no.
            waits @ (EffectError::Stopped | EffectError::Limited { .. } | EffectError::Waiting { .. }) => Err(waits),
            _ if context.engine.now() >= context.since.plus(PATIENCE_MS) => Ok(PermissionCheck::Unknown),
            // If GitHub refuses the request, the permission is still unknown.
            EffectError::Failed { failure: Failure::GitHubRefused { message }, .. } => {
                Err(Failure::GitHubUnclear { message }.into())
            }
            later @ (EffectError::Failed { .. }
            | EffectError::Suspended
            | EffectError::Agent(_)
            | EffectError::Permanent(_)
            | EffectError::Parked { .. }
            | EffectError::Spent(_)) => Err(later),
        },
    }
}

/// Checks if the sender has at least the permission `needed`. A stranger of the last minutes is not looked up again.
pub async fn check_sender(context: &InboundContext<'_>, needed: Permission) -> Result<PermissionCheck, EffectError> {
    let (engine, sender) = (context.engine, &context.origin.sender.user);
    let visitor = Visitor { repo: context.origin.repo.id, person: sender.id };
    if !context.origin.repo.private && engine.strangers.knows(visitor, engine.now()) {
        return Ok(PermissionCheck::Denied(Asker::Anybody));
    }
    let checked = check(context, &sender.login, needed).await?;
    if checked == PermissionCheck::Denied(Asker::Anybody) {
        engine.strangers.remember(visitor, engine.now());
    }
    Ok(checked)
}

/// Returns who the asker is to the repository. Read access to a public repository says nothing: everybody has it.
fn asker(context: &InboundContext<'_>, level: AccessLevel) -> Asker {
    if !context.origin.repo.private && level <= AccessLevel::Read { Asker::Anybody } else { Asker::Member }
}

pub fn no_permission(needed: Permission, asker: Asker) -> Refusal {
    Refusal::NoPermission { needed: needed.word().to_owned(), asker }
}

/// Returns why the sender's command is refused, if it is.
pub async fn find_refusal(context: &InboundContext<'_>, needed: Permission) -> Result<Option<Refusal>, EffectError> {
    Ok(match check_sender(context, needed).await? {
        PermissionCheck::Granted => None,
        PermissionCheck::Denied(asker) => Some(no_permission(needed, asker)),
        PermissionCheck::Unknown => Some(Refusal::PermissionUnknown),
    })
}
