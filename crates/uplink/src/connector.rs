//! Connects HTTP clients of the service.

use crate::{NoAuthorities, Stream, Uplink};
use http::Uri;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{client::legacy::connect::HttpConnector, rt::TokioIo};
use rustls::ClientConfig;
use std::{
    error::Error,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};
use tower_service::Service;

const CONNECT: Duration = Duration::from_secs(15);

/// Makes TLS connections for HTTP clients, directly or through the proxy. Plain HTTP is for this machine only, so its
/// callers must not allow it elsewhere.
pub type Connector = HttpsConnector<Outgoing>;

/// Makes connections for HTTP clients.
#[derive(Clone, Debug)]
pub struct Outgoing {
    uplink: Uplink,
    direct: HttpConnector,
}

impl Uplink {
    /// Returns a connector for HTTP clients.
    ///
    /// # Errors
    ///
    /// If there is no certificate authority to trust.
    pub fn connector(&self) -> Result<Connector, NoAuthorities> {
        let mut direct = HttpConnector::new();
        direct.enforce_http(false);
        direct.set_nodelay(true);
        direct.set_connect_timeout(Some(CONNECT));
        let outgoing = Outgoing { uplink: self.clone(), direct };
        Ok(HttpsConnectorBuilder::new()
            .with_tls_config(ClientConfig::clone(&*self.tls()?))
            .https_or_http()
            .enable_http1()
            .wrap_connector(outgoing))
    }
}

impl Service<Uri> for Outgoing {
    type Response = TokioIo<Stream>;
    type Error = Box<dyn Error + Send + Sync>;
    type Future = Pin<Box<dyn Future<Output = Result<TokioIo<Stream>, Box<dyn Error + Send + Sync>>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.direct.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let host = uri.host().unwrap_or_default().to_owned();
        let port = uri.port_u16().unwrap_or(match uri.scheme_str() {
            Some("http") => 80,
            _ => 443,
        });
        let uplink = self.uplink.clone();
        if uplink.proxy_for(&host).is_none() {
            let connecting = self.direct.call(uri);
            return Box::pin(async move { Ok(TokioIo::new(Stream::Plain(connecting.await?.into_inner()))) });
        }
        Box::pin(async move {
            let proxy = uplink.proxy_for(&host).ok_or("there is no proxy")?;
            Ok(TokioIo::new(uplink.tunnel(proxy, &host, port).await?))
        })
    }
}
