//! May they? Asked of GitHub at that moment, never read from a payload.

use crate::{
    config::Permission,
    engine::{ingest::Scene, job::Undone},
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
pub async fn of(scene: &Scene<'_>, login: &str, needed: Permission) -> Result<Right, Undone> {
    let needed = match needed {
        Permission::Write => AccessLevel::Write,
        Permission::Maintain => AccessLevel::Maintain,
        Permission::Admin => AccessLevel::Admin,
    };
    match scene
        .engine
        .autobuild
        .repo(scene.place.installation, scene.place.repo.id)
        .access_of(login)
        .await
    {
        Ok(access) if access.level >= needed => Ok(Right::Yes),
        Ok(access) => Ok(Right::No(asker(scene, access.level))),
        Err(error) => {
            let undone = Undone::from(error);
            match undone {
                Undone::Stopped => Err(Undone::Stopped),
                _ if scene.engine.now() >= scene.since.plus(PATIENCE_MS) => Ok(Right::Unknown),
                // A refusal of the question is no answer to it.
                Undone::Failed(fault) => Err(Undone::later(fault)),
                later @ (Undone::Later { .. }
                | Undone::Limited { .. }
                | Undone::Waiting { .. }
                | Undone::Suspended
                | Undone::Agent(_)
                | Undone::Hopeless(_)
                | Undone::Parked { .. }
                | Undone::Spent { .. }) => Err(later),
            }
        }
    }
}

/// Everybody reads what is public.
fn asker(scene: &Scene<'_>, level: AccessLevel) -> Asker {
    if !scene.place.repo.private && level <= AccessLevel::Read {
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
pub async fn refused(scene: &Scene<'_>, needed: Permission) -> Result<Option<Refusal>, Undone> {
    Ok(match of(scene, &scene.place.sender.user.login, needed).await? {
        Right::Yes => None,
        Right::No(asker) => Some(no_permission(needed, asker)),
        Right::Unknown => Some(Refusal::PermissionUnknown),
    })
}
