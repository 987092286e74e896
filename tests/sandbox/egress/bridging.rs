//! The bridge between a loopback port and the door's socket.

use crate::egress::world::{Reply, World, echo, echoes, hello, record, rules, server, skip_hello};
use sandbox::egress::bridge;
use std::{net::SocketAddr, path::PathBuf};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpStream, UnixListener},
};

fn bridged(socket: PathBuf) -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || panic!("the bridge ended: {}", bridge(&listener, &socket)));
    address
}

async fn tunnel(world: &World, bridge: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(bridge).await.unwrap();
    let request = format!("CONNECT registry.test:443 HTTP/1.1\r\nHost: x\r\n{}\r\n", world.authorisation());
    stream.write_all(request.as_bytes()).await.unwrap();
    assert_eq!(Reply::read(&mut stream).await.status, 200);
    stream.write_all(&hello("registry.test")).await.unwrap();
    stream
}

#[tokio::test]
async fn many_bytes_pass_both_ways_at_once() {
    let echo = echo().await;
    let world = World::open(rules(&["registry.test"], &[("registry.test", echo)])).await;
    let stream = tunnel(&world, bridged(world.door.socket())).await;
    let (mut reading, mut writing) = stream.into_split();
    let content: Vec<u8> = (0..8_u32 << 20).map(|at| at.to_le_bytes()[usize::from(at % 3 == 1)]).collect();
    let sent: Vec<u8> = content.chunks(1 << 14).flat_map(record).collect();
    let out = sent.clone();
    let writer = tokio::spawn(async move {
        writing.write_all(&out).await.unwrap();
        writing.shutdown().await.unwrap();
    });
    let mut back = Vec::new();
    reading.read_to_end(&mut back).await.unwrap();
    writer.await.unwrap();
    assert!(back == sent, "{} of {} bytes", back.len(), sent.len());
}

#[tokio::test]
async fn more_connections_than_there_are_places_have_their_turn() {
    let echo = echo().await;
    let world = World::open(rules(&["registry.test"], &[("registry.test", echo)])).await;
    let bridge = bridged(world.door.socket());
    let mut open = Vec::new();
    for _ in 0..64 {
        open.push(tunnel(&world, bridge).await);
    }
    let mut waiting = TcpStream::connect(bridge).await.unwrap();
    let request = format!("CONNECT registry.test:443 HTTP/1.1\r\nHost: x\r\n{}\r\n", world.authorisation());
    waiting.write_all(request.as_bytes()).await.unwrap();
    for stream in &mut open {
        assert!(echoes(stream, "all of them are served").await);
    }
    drop(open);
    assert_eq!(Reply::read(&mut waiting).await.status, 200);
    waiting.write_all(&hello("registry.test")).await.unwrap();
    assert!(echoes(&mut waiting, "and then the one that waited").await);
}

#[tokio::test]
async fn what_was_sent_arrives_also_where_the_other_side_hung_up() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s");
    let listener = UnixListener::bind(&socket).unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(&vec![7; 1 << 20]).await;
        }
    });
    let mut stream = TcpStream::connect(bridged(socket)).await.unwrap();
    let mut all = Vec::new();
    stream.read_to_end(&mut all).await.unwrap();
    assert_eq!(all.len(), 1 << 20);
}

#[tokio::test]
async fn without_a_door_a_connection_is_closed_and_the_bridge_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s");
    let bridge = bridged(socket.clone());
    for _ in 0..3 {
        let mut stream = TcpStream::connect(bridge).await.unwrap();
        assert_eq!(stream.read(&mut [0; 1]).await.unwrap_or(0), 0);
    }
    let listener = UnixListener::bind(&socket).unwrap();
    let stream = TcpStream::connect(bridge).await.unwrap();
    listener.accept().await.unwrap();
    drop(stream);
}

#[tokio::test]
async fn a_bridge_with_nothing_to_do_does_nothing() {
    // One side is closed and the other does not read. Nothing is ready, so the task must not be woken again and again.
    let origin = server(|mut stream| async move {
        skip_hello(&mut stream).await;
        let _ = stream.read_u8().await;
    })
    .await;
    let world = World::open(rules(&["registry.test"], &[("registry.test", origin)])).await;
    let bridge = bridged(world.door.socket());
    let _idle = tunnel(&world, bridge).await;
    let mut other = tunnel(&world, bridge).await;
    other.write_all(&record(b"x")).await.unwrap();
    assert_eq!(other.read(&mut [0; 1]).await.unwrap(), 0);
}
