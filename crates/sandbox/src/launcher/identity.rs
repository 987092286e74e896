//! The host name and the user that a foreign program sees at L2 and L3, as on a machine of its own.

use crate::protocol::LaunchRequest;
use std::{ffi::OsStr, fs, path::Path};

pub(super) const HOST: &str = "sandbox";
/// The user's name, and the name of its group.
const USER: &str = "builder";
/// The user's id if the service runs as root. Many servers and browsers refuse to start as root.
const UNPRIVILEGED: u32 = 1000;
/// The sources of names. A service that is not reachable inside must not be asked.
const SOURCES: &str = "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nnetworks: files\n\
                       protocols: files\nservices: files\n";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ids {
    pub(super) user: u32,
    pub(super) group: u32,
}

/// Returns the ids that a program has inside: the service's own, but never those of root.
pub(super) fn ids() -> Ids {
    let unprivileged = |id: u32| if id == 0 { UNPRIVILEGED } else { id };
    Ids {
        user: unprivileged(rustix::process::geteuid().as_raw()),
        group: unprivileged(rustix::process::getegid().as_raw()),
    }
}

/// Returns the files in `/etc` that name the host and the user.
pub(super) fn files(request: &LaunchRequest, ids: Ids) -> [(&'static str, String); 4] {
    let home = request.env.iter().find(|(name, _)| name == "HOME");
    let home = home.and_then(|(_, value)| field(value)).unwrap_or("/");
    let of_machine = |path| fs::read_to_string(Path::new(path)).unwrap_or_default();
    let Ids { user, group } = ids;
    let passwd =
        with_own_line(&format!("{USER}:x:{user}:{group}:{USER}:{home}:/bin/sh"), &of_machine("/etc/passwd"), user);
    let groups = with_own_line(&format!("{USER}:x:{group}:"), &of_machine("/etc/group"), group);
    [
        ("/etc/hosts", format!("127.0.0.1 localhost {HOST}\n::1 localhost ip6-localhost ip6-loopback {HOST}\n")),
        ("/etc/nsswitch.conf", SOURCES.to_owned()),
        ("/etc/passwd", passwd),
        ("/etc/group", groups),
    ]
}

/// Returns a value that can stand in a line of the password file.
fn field(value: &OsStr) -> Option<&str> {
    value.to_str().filter(|text| !text.contains([':', '\n']))
}

/// Puts the user's own line before those of the machine. A line with the same name or id is left out.
fn with_own_line(own: &str, of_machine: &str, id: u32) -> String {
    let id = id.to_string();
    let others = of_machine.lines().filter(|line| {
        let mut fields = line.split(':');
        fields.next() != Some(USER) && fields.nth(1) != Some(id.as_str())
    });
    let mut text = String::new();
    for line in std::iter::once(own).chain(others) {
        text.push_str(line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{field, with_own_line};

    #[test]
    fn the_own_line_replaces_those_with_its_name_or_id() {
        let host = "root:x:0:0:root:/root:/bin/bash\nmona:x:1000:1000::/home/mona:/bin/sh\nbuilder:x:7:7::/x:/bin/sh\n";
        let own = "builder:x:1000:1000:builder:/private/home:/bin/sh";
        let expected = format!("{own}\nroot:x:0:0:root:/root:/bin/bash\n");
        assert_eq!(with_own_line(own, host, 1000), expected);
        assert_eq!(with_own_line("builder:x:5:", "", 5), "builder:x:5:\n");
    }

    #[test]
    fn a_home_that_would_break_the_line_is_left_out() {
        assert_eq!(field("/a/home".as_ref()), Some("/a/home"));
        assert_eq!(field("/a:b".as_ref()), None);
        assert_eq!(field("/a\nroot::0:0::/:/bin/sh".as_ref()), None);
    }
}
