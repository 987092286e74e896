//! The environment variables with which programs find the door.

use crate::environment::{JAVA_TOOLS, java_home};
use std::{ffi::OsString, net::SocketAddr, path::Path};

/// The hosts that programs reach without the proxy: their own servers on loopback, and the reverse proxy.
const DIRECT: &str = "localhost,127.0.0.1,::1";
/// The variables that name the proxy.
const PROXIES: [&str; 7] =
    ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "YARN_HTTPS_PROXY"];
const FIXED: [(&str, &str); 11] = [
    ("NO_PROXY", DIRECT),
    ("no_proxy", DIRECT),
    ("NODE_USE_ENV_PROXY", "1"),
    // Turns off requests to registries whose answers nobody in the sandbox needs.
    ("npm_config_update_notifier", "false"),
    ("pnpm_config_update_notifier", "false"),
    ("npm_config_audit", "false"),
    ("npm_config_fund", "false"),
    ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
    ("COREPACK_ENABLE_DOWNLOAD_PROMPT", "0"),
    // Without the usual `,direct`: modules that the proxy lacks would come from code forges, which are no registries.
    ("GOPROXY", "https://proxy.golang.org"),
    ("GIT_TERMINAL_PROMPT", "0"),
];
/// The user name for the proxy; the token is the password.
pub(super) const USER: &str = "run";

/// Returns the variables that send common programs through the proxy: curl, git, Cargo, pip, uv, npm, yarn, Node's own
/// `fetch`, Go.
pub(super) fn variables(url: &str) -> Vec<(OsString, OsString)> {
    let mut variables: Vec<(OsString, OsString)> = PROXIES.map(|name| (name.into(), url.into())).into();
    variables.extend(FIXED.map(|(name, value)| (name.into(), value.into())));
    variables
}

/// Returns the variables with the options that send Maven and Gradle through the proxy. Java refuses a password for a
/// tunnel by default. The two `aether` properties are for Maven.
pub(super) fn java(token: &str, proxy: SocketAddr, home: &Path, trust: &str) -> [(OsString, OsString); 2] {
    let (host, port) = (proxy.ip(), proxy.port());
    let home = java_home(home).unwrap_or_default();
    let options = format!(
        "{home} -Dhttps.proxyHost={host} -Dhttps.proxyPort={port} -Dhttps.proxyUser={USER} -Dhttps.proxyPassword={token} \
         -Djdk.http.auth.tunneling.disabledSchemes= -Daether.connector.http.useSystemProperties=true \
         -Daether.transport.http.useSystemProperties=true {trust}"
    );
    JAVA_TOOLS.map(|name| (name.into(), options.trim().into()))
}
