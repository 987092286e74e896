//! `autobuild health`: reports by its exit code if the service on this machine is alive, or ready.

use crate::config::ServerSettings;
use bytes::Bytes;
use clap::Args;
use http_body_util::{BodyExt, Empty, Limited};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    process::ExitCode,
    time::Duration,
};

/// The time limit; a service that is alive answers at once.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// The largest answer that is read, in bytes; answers are a few lines.
const MOST: usize = 64 * 1024;

/// The arguments of `health`.
#[derive(Debug, Args)]
#[command(after_help = "Exit code 0 if it is, 1 if it is not.\n\nExamples:\n  autobuild health\n  \
autobuild health --ready")]
pub(super) struct Health {
    /// A TOML file with settings.
    #[arg(long, value_name = "FILE")]
    config: Option<String>,
    /// Address of the HTTP server.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Asks whether it can take work: the database answers, and it is not about to stop.
    #[arg(long)]
    ready: bool,
}

pub(super) async fn health(health: Health) -> ExitCode {
    let path = if health.ready { "/readyz" } else { "/healthz" };
    let flags = [("AUTOBUILD_CONFIG", health.config), ("AUTOBUILD_LISTEN", health.listen)];
    let settings = match ServerSettings::of_process(&flags) {
        Ok(settings) => settings,
        Err(mistakes) => {
            mistakes.iter().for_each(|mistake| eprintln!("autobuild health: {mistake}"));
            return ExitCode::FAILURE;
        }
    };
    let asked = reached(settings.listen);
    let problem = match tokio::time::timeout(PATIENCE, ask(asked, path)).await {
        Ok(Ok((status, text))) if status.is_success() => {
            print!("{text}");
            return ExitCode::SUCCESS;
        }
        Ok(Ok((status, text))) => format!("answers {status}: {}", text.trim()),
        Ok(Err(error)) => format!("does not answer: {error:#}"),
        Err(_) => "does not answer within 5 seconds".to_owned(),
    };
    eprintln!("autobuild health: http://{asked}{path} {problem}");
    ExitCode::FAILURE
}

/// Returns the address at which this machine reaches a listener: loopback, if it listens on all addresses.
pub(super) fn reached(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip @ (IpAddr::V4(_) | IpAddr::V6(_)) => ip,
    };
    SocketAddr::new(ip, listen.port())
}

pub(super) async fn ask(address: SocketAddr, path: &str) -> anyhow::Result<(http::StatusCode, String)> {
    let client: Client<_, Empty<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
    let request = http::Request::get(format!("http://{address}{path}")).body(Empty::new())?;
    let answer = client.request(request).await?;
    let status = answer.status();
    let body = Limited::new(answer.into_body(), MOST).collect().await;
    let body = body.map_err(|error| anyhow::anyhow!("its answer: {error}"))?.to_bytes();
    Ok((status, String::from_utf8_lossy(&body).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::reached;

    #[test]
    fn a_listener_on_all_addresses_is_reached_by_loopback() {
        for (listen, asked) in
            [("0.0.0.0:8080", "127.0.0.1:8080"), ("[::]:80", "[::1]:80"), ("10.0.0.7:81", "10.0.0.7:81")]
        {
            assert_eq!(reached(listen.parse().unwrap()), asked.parse().unwrap());
        }
    }
}
