//! The sentences about hosts that programs could not reach, each with the setting that allows it.

use crate::messages::form::{
    measure::{Measure, bullets, titled},
    untrusted::code,
};
use domain::{
    cost::Spending,
    refused_host::{HostRefusal, RefusedHost},
    registries,
};

/// Lists the hosts that running programs could not reach.
pub(crate) fn refused(spending: &Spending, measure: &Measure) -> String {
    let title = measure.strong("A host was refused.") + " What is at work asks for it:";
    titled(&title, &bullets(&spending.refused, measure.rows.min(20), refused_host))
}

/// Explains why a host was not reached, and names the setting that allows it.
pub fn refused_host(refused: &RefusedHost) -> String {
    let host = code(&refused.host, 200);
    let pinned = format!("AUTOBUILD_NETWORK_PINNED={}=ADDRESS", refused.host.split(':').next().unwrap_or_default());
    match refused.why {
        HostRefusal::NotAllowed => format!(
            "{host} is not among the hosts that may be reached. List it in `network.allow` of `.github/autobuild.yml` on \
             the default branch"
        ),
        HostRefusal::AboveCeiling => format!(
            "{host} is not among the hosts that this server allows. Add it to the server's `AUTOBUILD_NETWORK_ALLOW`, and \
             list it in `network.allow` of `.github/autobuild.yml` unless it is a registry of the repository's ecosystems"
        ),
        HostRefusal::ClosedRegistry => closed_registry(refused),
        HostRefusal::UnnamedModule => {
            format!(
                "{host} is a Go module that no `go.sum` of the default branch names. Add it there, or list `proxy.golang.org` in \
                 `network.allow` of `.github/autobuild.yml` on the default branch, which lets set-up ask for every module"
            )
        }
        HostRefusal::Certificate => untrusted(&host),
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

fn closed_registry(refused: &RefusedHost) -> String {
    let host = refused.host.parse().ok();
    let used = host.and_then(|host| registries::ecosystem_of(&host)).map_or("it", |ecosystem| ecosystem.name);
    format!(
        "{} is a package registry, which only set-up reads, and only if the default branch uses {used}. If a task needs it, \
         list the host in `network.allow` of `.github/autobuild.yml` on the default branch",
        code(&refused.host, 200)
    )
}

fn untrusted(host: &str) -> String {
    format!(
        "The certificate of {host} comes from an authority that AutoBuild does not trust. If it is your organisation's, set \
         `AUTOBUILD_NETWORK_CA_FILE` on the server"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_names_what_lets_the_host_through() {
        let host = "npm.corp.example";
        let reasons = [
            (host, HostRefusal::NotAllowed),
            (host, HostRefusal::AboveCeiling),
            ("registry.npmjs.org", HostRefusal::ClosedRegistry),
            ("proxy.golang.org/rsc.io/quote", HostRefusal::UnnamedModule),
            (host, HostRefusal::Certificate),
            (host, HostRefusal::NotPublic),
            (host, HostRefusal::Unresolved),
            (host, HostRefusal::Unreachable),
            (host, HostRefusal::Upstream),
            (host, HostRefusal::Port(8443)),
            (host, HostRefusal::PlainHttp),
            (host, HostRefusal::Address),
        ];
        let all = reasons.map(|(host, why)| {
            let host = host.to_owned();
            refused_host(&RefusedHost { host, why })
        });
        insta::assert_snapshot!(all.join("\n"));
    }
}
