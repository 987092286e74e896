//! Settings of a repository that exceed its allowance.

use crate::network::HostRule;

/// Something that a repository's settings ask for and the server does not allow to its organisation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Excess {
    /// A number above the maximum.
    Number {
        /// The setting, such as `budget.usd_per_task`.
        setting: &'static str,
        /// The number in the settings, in digits.
        requested: String,
        /// The number that is used instead, in digits.
        used: String,
    },
    /// Hosts of `network.allow` that stay closed.
    Hosts {
        closed: Vec<HostRule>,
        /// Every host that the server allows.
        allowed: Vec<HostRule>,
    },
}
