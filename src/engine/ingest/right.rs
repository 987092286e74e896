//! May they? Asked of GitHub at that moment, never read from a payload.

use crate::{
    config::Permission,
    engine::{ingest::context::InboundContext, job::EffectError},
    github::AccessLevel,
};
use domain::feature::command::{Asker, Refusal};

/// How long an error of the question is tried again before it is a no, in milliseconds.
const PATIENCE_MS: i64 = 600_000;

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// They may.
    Yes,
    /// They may not.
    No(Asker),
    /// GitHub could not say for ten minutes, which is a no.
    Unknown,
}

/// Whether `login` has at least this right.
pub async fn of(context: &InboundContext<'_>, login: &str, needed: Permission) -> Result<Right, EffectError> {
    let needed = match needed {
        Permission::Write => AccessLevel::Write,
        Permission::Maintain => AccessLevel::Maintain,
        Permission::Admin => AccessLevel::Admin,
    };
    match context
        .engine
        .autobuild
        .repo(context.place.installation, context.place.repo.id)
        .access_of(login)
        .await
    {
        Ok(access) if access.level >= needed => Ok(Right::Yes),
        Ok(access) => Ok(Right::No(asker(context, access.level))),
        Err(error) => {
            let error = EffectError::from(error);
            match error {
                EffectError::Stopped => Err(EffectError::Stopped),
                _ if context.engine.now() >= context.since.plus(PATIENCE_MS) => Ok(Right::Unknown),
                // A refusal of the question is no answer to it.
                EffectError::Failed(fault) => Err(EffectError::later(fault)),
                later @ (EffectError::Later { .. }
                | EffectError::Limited { .. }
                | EffectError::Waiting { .. }
                | EffectError::Suspended
                | EffectError::Agent(_)
                | EffectError::Hopeless(_)
                | EffectError::Parked { .. }
                | EffectError::Spent(_)) => Err(later),
            }
        }
    }
}

/// Everybody reads what is public.
fn asker(context: &InboundContext<'_>, level: AccessLevel) -> Asker {
    if !context.place.repo.private && level <= AccessLevel::Read {
        Asker::Anybody
    } else {
        Asker::Member
    }
}

/// They have less than is asked of them.
pub fn no_permission(needed: Permission, asker: Asker) -> Refusal {
    Refusal::NoPermission {
        needed: needed.word().to_owned(),
        asker,
    }
}

/// Why the sender is not obeyed, if they are not.
pub async fn refused(context: &InboundContext<'_>, needed: Permission) -> Result<Option<Refusal>, EffectError> {
    Ok(match of(context, &context.place.sender.user.login, needed).await? {
        Right::Yes => None,
        Right::No(asker) => Some(no_permission(needed, asker)),
        Right::Unknown => Some(Refusal::PermissionUnknown),
    })
}
