//! Hosts that programs did not reach, each with the setting that lets it through.

use crate::messages::{
    measure::{Measure, bullets, titled},
    untrusted::code,
};
use domain::{
    cost::Spending,
    refused_host::{HostRefusal, RefusedHost},
};

/// Lists the hosts that programs at work do not reach.
pub(super) fn refused(spending: &Spending, measure: &Measure) -> String {
    let title = measure.strong("A host was refused.") + " What is at work asks for it:";
    titled(&title, &bullets(&spending.refused, measure.rows.min(20), refused_host))
}

/// Says why a host was not reached, and which setting lets it through.
pub fn refused_host(refused: &RefusedHost) -> String {
    let host = code(&refused.host, 200);
    let pinned = format!(
        "AUTOBUILD_NETWORK_PINNED={}=ADDRESS",
        refused.host.split(':').next().unwrap_or_default()
    );
    match refused.why {
        HostRefusal::NotAllowed => format!(
            "{host} is not among the hosts that may be reached. List it in `network.allow` of `.github/autobuild.yml` on \
             the default branch"
        ),
        HostRefusal::AboveCeiling => format!(
            "{host} is not among the hosts that this server allows. Add it to the server's `AUTOBUILD_NETWORK_ALLOW`, and \
             list it in `network.allow` of `.github/autobuild.yml` unless it is a registry of the repository's ecosystems"
        ),
        HostRefusal::NotPublic => format!(
            "{host} leads to an address that is not public. If it is an internal host, set {} on the server",
            code(&pinned, 300)
        ),
        HostRefusal::Unresolved => format!(
            "{host} leads to no address where AutoBuild runs. If it is an internal host, set {} on the server; if the \
             server reaches others only through a proxy, set `AUTOBUILD_NETWORK_PROXY`",
            code(&pinned, 300)
        ),
        HostRefusal::Unreachable => format!(
            "{host} does not answer where AutoBuild runs. If the server reaches others only through a proxy, set \
             `AUTOBUILD_NETWORK_PROXY` on the server; if the host has an internal address, set {}",
            code(&pinned, 300)
        ),
        HostRefusal::Upstream => format!(
            "{host} is not reached through the proxy of `AUTOBUILD_NETWORK_PROXY`. Let that proxy pass it, or name the \
             host in `AUTOBUILD_NETWORK_NO_PROXY` on the server"
        ),
        HostRefusal::Port(port) => format!(
            "{host} was asked for at port {port}, and only port 443 may be reached. Use an https address without a port; if \
             an internal host serves https at that port, set {} on the server",
            code(&format!("{pinned}:{port}"), 300)
        ),
        HostRefusal::PlainHttp => {
            format!("{host} was asked for by plain http, which does not pass. Use its https address")
        }
        HostRefusal::Address => format!(
            "{host} is no name of a host with port 443. Name the host instead; `AUTOBUILD_NETWORK_PINNED=HOST=ADDRESS` on \
             the server gives a name an address"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_names_what_lets_the_host_through() {
        let reasons = [
            HostRefusal::NotAllowed,
            HostRefusal::AboveCeiling,
            HostRefusal::NotPublic,
            HostRefusal::Unresolved,
            HostRefusal::Unreachable,
            HostRefusal::Upstream,
            HostRefusal::Port(8443),
            HostRefusal::PlainHttp,
            HostRefusal::Address,
        ];
        let all = reasons.map(|why| {
            refused_host(&RefusedHost {
                host: "npm.corp.example".to_owned(),
                why,
            })
        });
        insta::assert_snapshot!(all.join("\n"));
    }
}
