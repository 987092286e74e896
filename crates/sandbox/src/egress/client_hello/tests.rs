use super::{ClientHellos, HelloFault};
use crate::egress::tests::corpus;
use proptest::prelude::*;
use rustls::{ClientConfig, ClientConnection, RootCertStore, crypto::aws_lc_rs};
use std::sync::Arc;

const HOST: &str = "registry.example";

/// Returns the message of a ClientHello that a real client sends, with or without a name.
fn hello(name: &str, sends_name: bool) -> Vec<u8> {
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap();
    let mut config = config.with_root_certificates(RootCertStore::empty()).with_no_client_auth();
    config.enable_sni = sends_name;
    let mut client = ClientConnection::new(Arc::new(config), name.to_owned().try_into().unwrap()).unwrap();
    let mut sent = Vec::new();
    client.write_tls(&mut sent).unwrap();
    sent.split_off(5)
}

fn record(kind: u8, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).unwrap().to_be_bytes();
    [&[kind, 3, 1], length.as_slice(), content].concat()
}

/// Returns a message in records of these lengths; the last takes the rest.
fn in_records(mut message: &[u8], lengths: &[usize]) -> Vec<u8> {
    let mut all = Vec::new();
    for length in lengths {
        let (taken, rest) = message.split_at((*length).min(message.len().saturating_sub(1)));
        message = rest;
        all.extend(if taken.is_empty() { Vec::new() } else { record(22, taken) });
    }
    all.extend(record(22, message));
    all
}

/// Returns the result for bytes that arrive in pieces of these lengths; the last piece is the rest.
fn read(mut bytes: &[u8], pieces: &[usize]) -> (bool, Result<(), HelloFault>) {
    let mut hellos = ClientHellos::of(HOST.parse().unwrap());
    for length in pieces.iter().copied().chain([bytes.len()]) {
        let (piece, rest) = bytes.split_at(length.min(bytes.len()));
        bytes = rest;
        if let Err(fault) = hellos.read(piece) {
            return (hellos.has_named_host(), Err(fault));
        }
    }
    (hellos.has_named_host(), Ok(()))
}

fn whole(bytes: &[u8]) -> (bool, Result<(), HelloFault>) {
    read(bytes, &[])
}

/// Returns a ClientHello with these extensions.
fn hello_with(extensions: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let part = |bytes: &[u8]| [&u16::try_from(bytes.len()).unwrap().to_be_bytes(), bytes].concat();
    let listed: Vec<u8> =
        extensions.iter().flat_map(|(kind, content)| [kind.to_be_bytes().to_vec(), part(content)].concat()).collect();
    let body = [&[3, 3], [7; 32].as_slice(), &[0], &part(&[0x13, 1]), &[1, 0], &part(&listed)].concat();
    let length = u32::try_from(body.len()).unwrap().to_be_bytes();
    [&[1], &length[1..], &body].concat()
}

fn server_name(names: &[(u8, &str)]) -> (u16, Vec<u8>) {
    let part = |bytes: &[u8]| [&u16::try_from(bytes.len()).unwrap().to_be_bytes(), bytes].concat();
    let list: Vec<u8> = names.iter().flat_map(|(kind, name)| [vec![*kind], part(name.as_bytes())].concat()).collect();
    (0, part(&list))
}

#[test]
fn a_hello_names_the_host_or_is_refused() {
    let named = server_name(&[(0, HOST)]);
    let table = [
        (vec![named.clone()], Ok(())),
        (vec![server_name(&[(0, "REGISTRY.example.")])], Ok(())),
        (vec![(10, vec![0, 2, 0, 29]), named.clone()], Ok(())),
        (vec![], Err(HelloFault::NoName)),
        (vec![(10, vec![0, 2, 0, 29])], Err(HelloFault::NoName)),
        (vec![server_name(&[(0, "evil.example")])], Err(HelloFault::OtherName)),
        (vec![server_name(&[(0, "x.registry.example")])], Err(HelloFault::OtherName)),
        (vec![server_name(&[(0, "")])], Err(HelloFault::OtherName)),
        (vec![server_name(&[(0, "127.0.0.1")])], Err(HelloFault::OtherName)),
        (vec![server_name(&[(0, "registry.example\0.evil.example")])], Err(HelloFault::OtherName)),
        (vec![server_name(&[(0, HOST), (0, "evil.example")])], Err(HelloFault::NotTls)),
        (vec![server_name(&[(1, HOST)])], Err(HelloFault::NotTls)),
        (vec![server_name(&[])], Err(HelloFault::NotTls)),
        (vec![(0, vec![])], Err(HelloFault::NotTls)),
        (vec![named.clone(), server_name(&[(0, "evil.example")])], Err(HelloFault::NotTls)),
        (vec![named.clone(), (0xfe0d, vec![0; 100])], Err(HelloFault::HiddenName)),
        (vec![named, (0xffce, vec![])], Err(HelloFault::HiddenName)),
    ];
    for (extensions, expected) in table {
        let (has_named, found) = whole(&record(22, &hello_with(&extensions)));
        assert_eq!((has_named, found), (expected.is_ok(), expected), "{extensions:?}");
    }
}

#[test]
fn what_is_not_tls_is_refused_at_its_first_bytes() {
    let good = record(22, &hello(HOST, true));
    for bytes in [
        b"GET / HTTP/1.1\r\n".as_slice(),
        b"SSH-2.0-x",
        &[0x80, 46, 1, 3, 1],
        &[22, 2, 0],
        &[22, 3, 1, 0, 0],
        &[22, 3, 1, 0xff, 0xff],
        &[23, 3, 3, 0, 1, 0],
        &[22, 3, 1, 0, 1, 2],
        &[good.as_slice(), &[23, 3, 3, 0xff, 0xff]].concat(),
        &[good.as_slice(), b"GET /"].concat(),
        &record(22, &[&hello(HOST, true), [0].as_slice()].concat()),
    ] {
        assert_eq!(whole(bytes).1, Err(HelloFault::NotTls), "{bytes:?}");
    }
    assert_eq!(whole(&record(22, &[1, 1, 0, 0])).1, Err(HelloFault::Endless));
}

#[test]
fn a_second_hello_names_the_host_too() {
    let good = record(22, &hello(HOST, true));
    let (change, early) = (record(20, &[1]), record(23, b"sent before the answer"));
    let evil = hello("evil.example", true);
    let after_good = |more: &[&[u8]]| whole(&[good.as_slice(), &more.concat()].concat());
    assert_eq!(after_good(&[&change, &good]), (true, Ok(())));
    let fragments: [&[usize]; 4] = [&[], &[1], &[3, 1], &[4, 2]];
    for lengths in fragments {
        let second = in_records(&evil, lengths);
        for between in [&[][..], &change, &early] {
            assert_eq!(after_good(&[between, &second]).1, Err(HelloFault::OtherName), "{lengths:?}");
        }
    }
    // The end of a handshake of TLS 1.2: a key, a change to encryption, something encrypted.
    let key = record(22, &[&[16, 0, 0, 33], [9; 33].as_slice()].concat());
    let encrypted = record(22, &[&[1], [0; 3].as_slice(), &[9; 36]].concat());
    assert_eq!(after_good(&[&key, &change, &encrypted, &early, &early]), (true, Ok(())));
}

#[test]
fn what_programs_send_is_read_however_it_is_split() {
    let named = |name: &str| !["other_name", "encrypted_name", "plain_http", "ssh"].contains(&name);
    let passes = |name: &str| named(name) && !name.starts_with("second_hello");
    let files = corpus("client_hello");
    assert!(files.len() >= 13, "{:?}", files.keys());
    for (name, bytes) in files {
        let found = whole(&bytes);
        assert_eq!((found.0, found.1.is_ok()), (named(&name), passes(&name)), "{name}");
        for length in 1..64 {
            assert_eq!(read(&bytes, &vec![length; bytes.len()]), found, "{name}");
        }
    }
}

proptest! {
    #[test]
    fn a_hello_is_read_however_it_is_split(
        lengths in prop::collection::vec(0_usize..300, 0..6),
        pieces in prop::collection::vec(0_usize..40, 0..60),
        kind in 0..3_u8,
    ) {
        let (message, expected) = match kind {
            0 => (hello(HOST, true), Ok(())),
            1 => (hello("evil.example", true), Err(HelloFault::OtherName)),
            _ => (hello(HOST, false), Err(HelloFault::NoName)),
        };
        let bytes = in_records(&message, &lengths);
        prop_assert_eq!(read(&bytes, &pieces), (expected.is_ok(), expected));
        // Nothing counts as named before its last byte.
        let (before, _) = bytes.split_at(bytes.len() - 1);
        prop_assert_eq!(read(before, &pieces), (false, Ok(())));
    }

    #[test]
    fn mutated_hellos_are_read_the_same_however_they_are_split(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        known in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop::collection::vec(any::<u8>(), 0..8)), 0..4),
        pieces in prop::collection::vec(0_usize..20, 0..40),
    ) {
        let corpus: Vec<Vec<u8>> = corpus("client_hello").into_values().collect();
        let mut changed = known.get(&corpus).clone();
        for (at, with) in changes {
            let from = at.index(changed.len() + 1);
            let to = from.saturating_add(with.len()).min(changed.len());
            changed.splice(from..to, with);
        }
        for bytes in [&bytes, &changed] {
            prop_assert_eq!(read(bytes, &pieces), whole(bytes));
        }
    }

    #[test]
    fn what_passes_rustls_reads_with_the_same_name(
        at in 0_usize..600, with in prop::collection::vec(any::<u8>(), 0..4),
    ) {
        let mut bytes = in_records(&hello(HOST, true), &[]);
        let from = at.min(bytes.len());
        let to = from.saturating_add(with.len()).min(bytes.len());
        bytes.splice(from..to, with);
        if whole(&bytes) == (true, Ok(())) {
            let mut acceptor = rustls::server::Acceptor::default();
            acceptor.read_tls(&mut bytes.as_slice()).unwrap();
            if let Ok(Some(accepted)) = acceptor.accept() {
                prop_assert_eq!(accepted.client_hello().server_name().map(str::to_ascii_lowercase), Some(HOST.to_owned()));
            }
        }
    }
}
