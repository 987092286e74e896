//! The environment variables with which programs find the door.

use crate::egress::rules::Rules;
use domain::network::HostName;
use std::{ffi::OsString, net::SocketAddr};

/// The hosts that programs reach without the proxy: their own servers on loopback, and the reverse proxy.
const DIRECT: &str = "localhost,127.0.0.1,::1";
/// The user name for the proxy; the token is the password.
pub(super) const USER: &str = "run";

/// Returns the variables that send common programs through the proxy: curl, git, Cargo, pip, uv, npm, yarn, Node's own
/// `fetch`, Go. Java is included only if its registry is allowed, because every start of a Java program prints its
/// variable.
pub(super) fn variables(url: &str, token: &str, proxy: SocketAddr, rules: &Rules) -> Vec<(OsString, OsString)> {
    let mut variables: Vec<(&str, String)> = Vec::new();
    for name in [
        "HTTPS_PROXY",
        "https_proxy",
        "HTTP_PROXY",
        "http_proxy",
        "ALL_PROXY",
        "all_proxy",
    ] {
        variables.push((name, url.to_owned()));
    }
    for name in ["NO_PROXY", "no_proxy"] {
        variables.push((name, DIRECT.to_owned()));
    }
    variables.push(("YARN_HTTPS_PROXY", url.to_owned()));
    variables.push(("NODE_USE_ENV_PROXY", "1".to_owned()));
    // Turns off questions to registries whose answers nobody in the sandbox needs.
    variables.push(("npm_config_update_notifier", "false".to_owned()));
    variables.push(("npm_config_audit", "false".to_owned()));
    variables.push(("npm_config_fund", "false".to_owned()));
    variables.push(("PIP_DISABLE_PIP_VERSION_CHECK", "1".to_owned()));
    variables.push(("COREPACK_ENABLE_DOWNLOAD_PROMPT", "0".to_owned()));
    // Code forges are no registries, so Go fetches nothing that the module proxy lacks.
    variables.push(("GOPROXY", "https://proxy.golang.org".to_owned()));
    variables.push(("GIT_TERMINAL_PROMPT", "0".to_owned()));
    let maven = "repo.maven.apache.org".parse::<HostName>();
    if maven.is_ok_and(|host| rules.allow(&host)) {
        variables.push(("JAVA_TOOL_OPTIONS", java(token, proxy)));
    }
    variables
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}

/// Returns the Java properties. Java refuses a password for a tunnel by default. The last two properties are for Maven.
fn java(token: &str, proxy: SocketAddr) -> String {
    let (host, port) = (proxy.ip(), proxy.port());
    format!(
        "-Dhttps.proxyHost={host} -Dhttps.proxyPort={port} -Dhttps.proxyUser={USER} -Dhttps.proxyPassword={token} \
         -Djdk.http.auth.tunneling.disabledSchemes= -Daether.connector.http.useSystemProperties=true \
         -Daether.transport.http.useSystemProperties=true"
    )
}
