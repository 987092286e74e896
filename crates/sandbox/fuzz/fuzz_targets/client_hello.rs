//! The first bytes of a tunnel in pieces: however they are split, they are read the same, and nothing panics.

#![no_main]

// The file alone: with the rest of its crate, a build takes minutes.
#[path = "../../src/egress/client_hello.rs"]
mod client_hello;

use client_hello::{ClientHellos, HelloFault};
use libfuzzer_sys::fuzz_target;

fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (bool, Result<(), HelloFault>) {
    let mut hellos = ClientHellos::of("registry.example".parse().unwrap());
    let result = pieces.into_iter().try_for_each(|piece| hellos.read(piece));
    (hellos.has_named_host(), result)
}

fuzz_target!(|bytes: &[u8]| {
    let whole = read(std::iter::once(bytes));
    for length in [1, 2, 5, 7, 64] {
        assert_eq!(read(bytes.chunks(length)), whole);
    }
});
