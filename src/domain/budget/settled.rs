//! What an ended run is counted with, where its program did not tell all of it.

use crate::domain::blocked::AgentFailure;
use crate::domain::budget::Tells;
use crate::domain::usage::Usage;

/// How a run ended.
#[derive(Clone, Copy, Debug)]
pub enum Ending<'a> {
    /// With an answer.
    Answered,
    /// With a failure of the agent.
    Failed(&'a AgentFailure),
    /// It was stopped, and told nothing.
    Cut,
    /// It never began.
    NeverRan,
}

/// The usage that is written down of a run with `share` millionths of a dollar. A program that usually tells its cost and
/// this time could not (it was killed, it crashed) is counted with its whole share: no run costs more than was allowed,
/// whatever is unknown. One that never reached its model used nothing.
#[must_use]
pub fn settled(usage: Usage, ending: Ending<'_>, tells: Tells, share: Option<u64>) -> Usage {
    let reached = match ending {
        Ending::Answered | Ending::Cut => true,
        Ending::Failed(failure) => reached_its_model(failure),
        Ending::NeverRan => false,
    };
    match (usage.usd_micros, ending, share) {
        // It says that all is used: a share counts as used up even if its program's own sum falls short.
        (told, Ending::Failed(AgentFailure::OutOfMoney), Some(share)) => Usage {
            usd_micros: Some(told.unwrap_or(0).max(share)),
            estimated: usage.estimated || told.is_none_or(|told| told < share),
            ..usage
        },
        (None, Ending::Failed(_) | Ending::Cut, Some(share)) if reached && tells == Tells::Cost => Usage {
            usd_micros: Some(share),
            estimated: true,
            ..usage
        },
        (None, Ending::Failed(_) | Ending::NeverRan, _) if !reached => Usage {
            usd_micros: (tells == Tells::Cost).then_some(0),
            ..usage
        },
        _ => usage,
    }
}

/// Whether a model may have worked before this failure.
fn reached_its_model(failure: &AgentFailure) -> bool {
    match failure {
        AgentFailure::NotFound { .. }
        | AgentFailure::TooOld { .. }
        | AgentFailure::NotAsAsked { .. }
        | AgentFailure::NotAuthorised { .. }
        | AgentFailure::NoSuchModel { .. } => false,
        // The first call of a run is refused for free; what came before a later one is in the program's own sum.
        AgentFailure::RateLimited { .. } | AgentFailure::Unavailable { .. } => false,
        AgentFailure::Failed { .. }
        | AgentFailure::TimedOut { .. }
        | AgentFailure::WentSilent { .. }
        | AgentFailure::TooMuchOutput { .. }
        | AgentFailure::ModelRefused { .. }
        | AgentFailure::PromptTooLong
        | AgentFailure::OutputLimit
        | AgentFailure::OutOfAgentTurns { .. }
        | AgentFailure::OutOfMoney
        | AgentFailure::ReportMissing
        | AgentFailure::ReportInvalid { .. }
        | AgentFailure::DecisionMissing
        | AgentFailure::DecisionInvalid { .. } => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(usd_micros: Option<u64>) -> Usage {
        Usage {
            usd_micros,
            ..Usage::default()
        }
    }

    #[test]
    fn what_is_told_counts_and_what_is_not_told_counts_as_the_share() {
        let (killed, limited) = (
            AgentFailure::TimedOut { seconds: 60 },
            AgentFailure::Unavailable { said: String::new() },
        );
        let table = [
            (Some(7), Ending::Answered, Tells::Cost, (Some(7), false)),
            (None, Ending::Answered, Tells::Nothing, (None, false)),
            (Some(7), Ending::Failed(&killed), Tells::Cost, (Some(7), false)),
            (None, Ending::Failed(&killed), Tells::Cost, (Some(50), true)),
            (None, Ending::Failed(&killed), Tells::Nothing, (None, false)),
            (None, Ending::Failed(&limited), Tells::Cost, (Some(0), false)),
            (None, Ending::Failed(&limited), Tells::Nothing, (None, false)),
            (None, Ending::Cut, Tells::Cost, (Some(50), true)),
            (None, Ending::Cut, Tells::Nothing, (None, false)),
            (None, Ending::NeverRan, Tells::Cost, (Some(0), false)),
            (
                Some(20),
                Ending::Failed(&AgentFailure::OutOfMoney),
                Tells::Cost,
                (Some(50), true),
            ),
            (
                Some(60),
                Ending::Failed(&AgentFailure::OutOfMoney),
                Tells::Cost,
                (Some(60), false),
            ),
        ];
        for (usd_micros, ending, tells, expected) in table {
            let usage = settled(told(usd_micros), ending, tells, Some(50));
            let found = (usage.usd_micros, usage.estimated);
            assert_eq!(found, expected, "{usd_micros:?} {ending:?} {tells:?}");
        }
    }
}
