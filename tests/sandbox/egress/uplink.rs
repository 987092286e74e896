//! An organisation's proxy, which requires credentials, for the door and for the service's own calls.

use crate::egress::{
    programs::{data, https_with},
    world::{World, read_head, rules},
};
use bytes::Bytes;
use domain::refused_host::{HostRefusal, RefusedHost};
use http_body_util::{BodyExt, Empty};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use sandbox::egress::{Outcome, Refusal, Rules};
use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex},
};
use tokio::{
    io::{AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
};
use uplink::{Authorities, Exceptions, Proxy, Uplink};

type Heads = Arc<Mutex<Vec<String>>>;

/// `ada:word`, as it is sent to a proxy.
const CREDENTIALS: &str = "Basic YWRhOndvcmQ=";

/// Starts a proxy that leads every host except `closed.test` to one address. It records the heads of requests.
async fn proxy(leads_to: SocketAddr) -> (SocketAddr, Heads) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let heads = Heads::default();
    let kept = Arc::clone(&heads);
    tokio::spawn(async move {
        while let Ok((mut inside, _)) = listener.accept().await {
            let kept = Arc::clone(&kept);
            tokio::spawn(async move {
                let Some(head) = read_head(&mut inside).await else {
                    return;
                };
                let answer = match (head.contains(CREDENTIALS), head.contains("closed.test")) {
                    (false, _) => "407 Proxy Authentication Required",
                    (true, true) => "403 Forbidden",
                    (true, false) => "200 Connection established",
                };
                kept.lock().unwrap().push(head);
                let answered = inside.write_all(format!("HTTP/1.1 {answer}\r\n\r\n").as_bytes()).await;
                if answered.is_ok() && answer.starts_with("200") {
                    let mut outside = TcpStream::connect(leads_to).await.unwrap();
                    let _ = copy_bidirectional(&mut inside, &mut outside).await;
                }
            });
        }
    });
    (address, heads)
}

fn through(proxy: SocketAddr, credentials: &str) -> Uplink {
    let url = format!("http://{proxy}").parse().unwrap();
    let exceptions = "direct.test".parse::<Exceptions>().unwrap();
    let proxy = Proxy::new(url, Some(credentials.to_owned().into()), exceptions).unwrap();
    let pem = std::fs::read_to_string(data("authority.pem")).unwrap();
    Uplink::new(Some(proxy), Some(Authorities::from_pem(&pem).unwrap()))
}

fn first_line(heads: &Heads) -> Vec<String> {
    let heads = heads.lock().unwrap();
    heads.iter().map(|head| head.lines().next().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn what_a_run_may_reach_goes_through_the_proxy_and_nothing_else_gets_to_it() {
    let server = https_with(("leaf.pem", "leaf-key.pem"), |_| Some("hello".to_owned())).await;
    let (address, heads) = proxy(server).await;
    let uplink = through(address, "ada:word");
    let allowed = rules(&["registry.test", "closed.test", "direct.test"], &[]);
    let world = World::open(Rules { uplink, ..allowed }).await;
    let (_, reply) = world.tunnel("registry.test:443").await;
    assert_eq!(reply.status, 200);
    let (_, reply) = world.tunnel("other.test:443").await;
    assert_eq!(reply.status, 403);
    let (_, reply) = world.tunnel("direct.test:443").await;
    assert_eq!(reply.status, 502, "it is reached without the proxy, and leads nowhere");
    assert_eq!(first_line(&heads), ["CONNECT registry.test:443 HTTP/1.1"]);
    let (_, reply) = world.tunnel("closed.test:443").await;
    assert_eq!(reply.status, 502);
    assert_eq!(world.decided("closed.test"), [Outcome::Refused(Refusal::Upstream)]);
    let closed = RefusedHost { host: "closed.test".to_owned(), why: HostRefusal::Upstream };
    assert!(world.door.refused_hosts().contains(&closed));
    let told = format!(
        "{reply:?} {:?} {:?} {:?}",
        world.door,
        world.door.log(),
        world.door.environment(domain::isolation::Level::L3, "/home".as_ref())
    );
    assert!(!told.contains("word") && !told.contains("YWRh"), "{told}");
}

#[tokio::test]
async fn the_services_own_calls_go_through_the_proxy_and_trust_the_organisation() {
    let server = https_with(("leaf.pem", "leaf-key.pem"), |_| Some("hello".to_owned())).await;
    let (address, heads) = proxy(server).await;
    let ask = async |uplink: Uplink| {
        let client = Client::builder(TokioExecutor::new()).build::<_, Empty<Bytes>>(uplink.connector().unwrap());
        let answer = client.get("https://registry.test/hello".parse().unwrap()).await?;
        Ok::<_, hyper_util::client::legacy::Error>(answer.into_body().collect().await.unwrap().to_bytes())
    };
    assert_eq!(ask(through(address, "ada:word")).await.unwrap(), "hello");
    assert_eq!(first_line(&heads), ["CONNECT registry.test:443 HTTP/1.1"]);
    let refused = ask(through(address, "ada:wrong")).await.unwrap_err();
    assert!(refused.is_connect());
    let told = format!("{refused:?}");
    assert!(!told.contains("wrong"), "{told}");
}
