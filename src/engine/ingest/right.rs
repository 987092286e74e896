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
pub enum Right {
    Yes,
    /// The person lacks the permission.
    No(Asker),
    /// GitHub gave no answer for ten minutes. This counts as a no.
    Unknown,
}

/// Checks if `login` has at least the permission `needed`.
pub async fn of(context: &InboundContext<'_>, login: &str, needed: Permission) -> Result<Right, EffectError> {
    let needed = match needed {
        Permission::Write => AccessLevel::Write,
        Permission::Maintain => AccessLevel::Maintain,
        Permission::Admin => AccessLevel::Admin,
    };
    match context.repo().access_of(login).await {
        Ok(level) if level >= needed => Ok(Right::Yes),
        Ok(level) => Ok(Right::No(asker(context, level))),
        Err(error) => {
            let error = EffectError::from(error);
            match error {
                EffectError::Stopped => Err(EffectError::Stopped),
                // GitHub says when it answers again, so the check waits. A limit that strangers used up must not turn
                // anybody's right into a no.
                limited @ (EffectError::Limited { .. } | EffectError::Waiting { .. }) => Err(limited),
                _ if context.engine.now() >= context.since.plus(PATIENCE_MS) => Ok(Right::Unknown),
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
            }
        }
    }
}

/// Checks if the sender has at least the permission `needed`. A stranger of the last minutes is not looked up again.
pub async fn of_sender(context: &InboundContext<'_>, needed: Permission) -> Result<Right, EffectError> {
    let (engine, sender) = (context.engine, &context.origin.sender.user);
    let visitor = Visitor { repo: context.origin.repo.id, person: sender.id };
    if !context.origin.repo.private && engine.strangers.knows(visitor, engine.now()) {
        return Ok(Right::No(Asker::Anybody));
    }
    let right = of(context, &sender.login, needed).await?;
    if right == Right::No(Asker::Anybody) {
        engine.strangers.remember(visitor, engine.now());
    }
    Ok(right)
}

/// Returns who the asker is to the repository. Read access to a public repository says nothing: everybody has it.
fn asker(context: &InboundContext<'_>, level: AccessLevel) -> Asker {
    if !context.origin.repo.private && level <= AccessLevel::Read { Asker::Anybody } else { Asker::Member }
}

pub fn no_permission(needed: Permission, asker: Asker) -> Refusal {
    Refusal::NoPermission { needed: needed.word().to_owned(), asker }
}

/// Returns why the sender's command is refused, if it is.
pub async fn refused(context: &InboundContext<'_>, needed: Permission) -> Result<Option<Refusal>, EffectError> {
    Ok(match of_sender(context, needed).await? {
        Right::Yes => None,
        Right::No(asker) => Some(no_permission(needed, asker)),
        Right::Unknown => Some(Refusal::PermissionUnknown),
    })
}
