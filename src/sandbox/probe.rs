//! Which level of isolation this machine offers.

use crate::domain::isolation::Level;
use crate::sandbox::run::Sandbox;
use crate::sandbox::run::SandboxOptions;

/// Why no sandbox of the level that is asked for can be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProbeError {
    /// The machine offers less.
    #[error("this machine offers isolation {offered} and at least {min} is asked for: {missing}")]
    TooLow {
        /// The least that is asked for.
        min: Level,
        /// The best that truly blocks.
        offered: Level,
        /// What is missing for more, and how to mend it.
        missing: String,
    },
}

impl Sandbox {
    /// The sandbox of the best level that truly blocks here.
    ///
    /// # Errors
    ///
    /// When that level is below `min`; nothing may be run then.
    pub async fn probe(options: SandboxOptions, min: Level) -> Result<Self, ProbeError> {
        let offered = Level::L0;
        if offered < min {
            return Err(ProbeError::TooLow {
                min,
                offered,
                missing: String::new(),
            });
        }
        Ok(Self::at(options, offered))
    }
}
