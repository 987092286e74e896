//! What cut an earlier run of the same work short, for whoever goes on from there.

/// What cut a run short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Its time was up.
    Time,
    /// It printed nothing for too long.
    Silence,
    /// It had made as many calls of its model as it may.
    Calls,
    /// Its share of the budget was used up.
    Share,
    /// Its model's API stopped serving it.
    Api,
    /// Anything else.
    Other,
}

impl Cut {
    /// What a failure's word tells, see [`AgentFailure::word`](super::AgentFailure::word).
    pub fn of_word(word: &str) -> Self {
        match word {
            "timed_out" => Self::Time,
            "went_silent" => Self::Silence,
            "out_of_agent_turns" => Self::Calls,
            "out_of_money" => Self::Share,
            "rate_limited" | "unavailable" => Self::Api,
            _ => Self::Other,
        }
    }

    /// Whether it is a limit of the run itself: another run that does the same meets it again.
    pub fn is_limit(self) -> bool {
        match self {
            Self::Time | Self::Silence | Self::Calls => true,
            Self::Share | Self::Api | Self::Other => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cut;
    use crate::blocked::{AgentFailure, FailureClass};

    #[test]
    fn the_words_of_limits_are_those_of_their_failures() {
        let limits = [
            AgentFailure::TimedOut { seconds: 1 },
            AgentFailure::WentSilent { seconds: 1 },
            AgentFailure::OutOfAgentTurns { turns: 1 },
        ];
        let cuts = limits.clone().map(|failure| Cut::of_word(failure.word()));
        assert_eq!(cuts, [Cut::Time, Cut::Silence, Cut::Calls]);
        for failure in limits {
            assert!(Cut::of_word(failure.word()).is_limit() && failure.class() == FailureClass::Limit);
        }
        let said = String::new;
        let api = AgentFailure::Unavailable {
            said: said(),
            retry_after_seconds: None,
        };
        let others = [AgentFailure::OutOfMoney, api, AgentFailure::Failed { how: said() }];
        let cuts = others.map(|failure| Cut::of_word(failure.word()));
        assert_eq!(cuts, [Cut::Share, Cut::Api, Cut::Other]);
    }
}
