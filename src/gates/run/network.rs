//! Controls what the Gates' commands may reach: one door per command, and a note for people about refused hosts.

use crate::gates::run::context::GateContext;
use domain::{evidence::Evidence, network::HostRule};
use sandbox::egress::{Door, Outcome};
use std::{io, sync::Arc};

/// The most refused hosts that are named.
const MAX_NAMED: usize = 10;

/// Opens a door to these hosts, within the server's limits; `None` if none of them remains.
pub(crate) async fn door(context: &GateContext, hosts: &[HostRule]) -> io::Result<Option<Arc<Door>>> {
    let rules = context.network.rules(hosts);
    match rules.hosts.is_empty() {
        true => Ok(None),
        false => Door::open(rules, &context.folder)
            .await
            .map(|door| Some(Arc::new(door))),
    }
}

/// Adds the refused hosts to a failure, since programs rarely report a refusal clearly.
pub(crate) fn explained(evidence: Evidence, door: Option<&Door>) -> Evidence {
    let Evidence::Failed(mut finding) = evidence else {
        return evidence;
    };
    let decisions = door.map(Door::log).unwrap_or_default();
    let refused = decisions.into_iter().filter_map(|decision| match decision.outcome {
        Outcome::Refused(why) if why.is_of_the_rules() => Some(format!("{}: {why}", decision.host)),
        Outcome::Refused(_) | Outcome::Allowed => None,
    });
    for line in refused.take(MAX_NAMED) {
        if !finding.output.is_empty() && !finding.output.ends_with('\n') {
            finding.output.push('\n');
        }
        finding.output.push_str("autobuild: not reached: ");
        finding.output.push_str(&line);
    }
    Evidence::Failed(finding)
}
