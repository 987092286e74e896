//! The sentences about settings of a repository that exceed its allowance.

use domain::{excess::Excess, network::HostRule, registries};

/// Names the value in the settings, and the value that applies instead.
pub fn excess(excess: &Excess) -> String {
    match excess {
        Excess::Number { setting, requested, used } => {
            format!("`{setting}` is {requested} in the settings. This server allows at most {used}, so {used} holds.")
        }
        Excess::Hosts { closed, allowed } => {
            format!(
                "`network.allow` names hosts that this server does not allow, and that stay closed: {}. It allows: {}.",
                list(closed),
                words_for(allowed)
            )
        }
    }
}

/// Names the hosts that a server allows; the public registries in one word, if it allows them all.
fn words_for(allowed: &[HostRule]) -> String {
    let public = registries::public();
    let has_registries = public.iter().all(|host| allowed.contains(host));
    let is_named = |host: &&HostRule| !has_registries || !public.contains(host);
    let named: Vec<HostRule> = allowed.iter().filter(is_named).cloned().collect();
    match (has_registries, named.as_slice()) {
        (false, []) => "none at all".to_owned(),
        (false, named) => list(named),
        (true, []) => "the registries".to_owned(),
        (true, named) => format!("the registries, and {}", list(named)),
    }
}

fn list(hosts: &[HostRule]) -> String {
    let hosts: Vec<String> = hosts.iter().map(|host| format!("`{host}`")).collect();
    hosts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registries_are_one_word() {
        let allowed = registries::public()
            .into_iter()
            .chain(["one.example", "npm.corp.example"].map(|host| host.parse().unwrap()));
        assert_eq!(words_for(&allowed.collect::<Vec<_>>()), "the registries, and `one.example`, `npm.corp.example`");
        assert_eq!(words_for(&registries::public()), "the registries");
    }

    #[test]
    fn each_excess_says_what_holds() {
        let hosts = |names: &[&str]| names.iter().map(|name| name.parse().unwrap()).collect();
        let number =
            Excess::Number { setting: "budget.usd_per_task", requested: "70.5".to_owned(), used: "20".to_owned() };
        let some = Excess::Hosts {
            closed: hosts(&["evil.example", "*.example"]),
            allowed: hosts(&["*.corp.example", "pypi.org"]),
        };
        let none = Excess::Hosts { closed: hosts(&["evil.example"]), allowed: Vec::new() };
        let all = [number, some, none].map(|found| excess(&found));
        assert_eq!(
            all,
            [
                "`budget.usd_per_task` is 70.5 in the settings. This server allows at most 20, so 20 holds.",
                "`network.allow` names hosts that this server does not allow, and that stay closed: `evil.example`, \
                 `*.example`. It allows: `*.corp.example`, `pypi.org`.",
                "`network.allow` names hosts that this server does not allow, and that stay closed: `evil.example`. It \
                 allows: none at all.",
            ]
        );
    }
}
