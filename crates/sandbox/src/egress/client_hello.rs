//! Checks the first message of a program in a tunnel: a TLS ClientHello that names the tunnel's host.
//!
//! It reads records as they arrive, split anywhere, and keeps at most one ClientHello. Every hello of a connection is
//! checked, because a server may ask for a second one (RFC 8446, section 4.1.4), and some choose the site by that one.
//! Encrypted data is not inspected.

use domain::network::HostName;
use std::fmt;

/// The length of a record's header: type, version, length.
const HEADER: usize = 5;
/// The longest part of a message in one record, in bytes (RFC 8446, section 5.1), and the longest ClientHello that is read.
const MAX_PLAIN: usize = 1 << 14;
/// The most that encryption adds to a record, in bytes (RFC 5246, section 6.2.3).
const MAX_ADDED: usize = 2_048;
/// The length of a message's header: type and length.
const MESSAGE_HEADER: usize = 4;

const CHANGE_CIPHER_SPEC: u8 = 20;
const HANDSHAKE: u8 = 22;
const APPLICATION_DATA: u8 = 23;
const CLIENT_HELLO: u8 = 1;
/// The first byte of every version from SSL 3.0 on.
const MAJOR_VERSION: u8 = 3;

const SERVER_NAME: u16 = 0;
const HOST_NAME: u8 = 0;
/// Extensions that hide the name: Encrypted Client Hello (RFC 9849), and its draft of 2018 (ESNI). A meaningless one
/// (GREASE) looks the same, so it is refused too.
const HIDES_NAME: [u16; 2] = [0xfe0d, 0xffce];

/// Why a tunnel is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HelloFault {
    /// Something other than TLS, or a malformed ClientHello.
    NotTls,
    /// The program closed the connection before its ClientHello ended.
    Closed,
    /// The ClientHello names no host.
    NoName,
    /// The ClientHello names another host.
    OtherName,
    /// The ClientHello has a part that may hide the name.
    HiddenName,
    /// The ClientHello did not end within its limits of length and time.
    Endless,
}

impl fmt::Display for HelloFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotTls => "what was sent is not TLS",
            Self::Closed => "the connection was closed before the TLS handshake named the host",
            Self::NoName => "the TLS handshake does not name the host (SNI)",
            Self::OtherName => "the TLS handshake names another host",
            Self::HiddenName => "the TLS handshake may hide the name (Encrypted Client Hello); turn that off",
            Self::Endless => "the TLS handshake does not begin in time, or is too long",
        })
    }
}

/// The state of the direction of a tunnel in which the program sends.
#[derive(Debug)]
pub struct ClientHellos {
    host: HostName,
    header: Vec<u8>,
    /// The bytes of the record that are still to come; none if the next byte begins a record.
    left: usize,
    /// The beginning of a message that is or may be a ClientHello.
    message: Vec<u8>,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// A ClientHello is being read; it is the first one.
    First,
    /// The record that is being read begins with a byte that a ClientHello begins with.
    Perhaps,
    /// A further ClientHello is being read.
    Further,
    /// A ClientHello was read. The rest of this record does not matter; the next record may hold another one.
    Skipping,
}

impl ClientHellos {
    /// Expects every ClientHello to name `host`.
    pub fn of(host: HostName) -> Self {
        Self { host, header: Vec::with_capacity(HEADER), left: 0, message: Vec::new(), stage: Stage::First }
    }

    /// `true` once the first ClientHello was read and names the host.
    pub fn has_named_host(&self) -> bool {
        self.stage != Stage::First
    }

    /// Reads the next bytes.
    ///
    /// # Errors
    ///
    /// A TLS client of this host does not send such bytes. Nothing after them may pass.
    pub fn read(&mut self, mut bytes: &[u8]) -> Result<(), HelloFault> {
        while !bytes.is_empty() {
            let is_in_header = self.left == 0;
            let wanted = if is_in_header { HEADER.saturating_sub(self.header.len()) } else { self.left };
            let (taken, rest) = bytes.split_at(bytes.len().min(wanted));
            bytes = rest;
            if is_in_header {
                self.header.extend_from_slice(taken);
                self.begin_record()?;
            } else {
                self.left = self.left.saturating_sub(taken.len());
                self.take(taken)?;
            }
        }
        Ok(())
    }

    /// Reads a record's header, once it is whole.
    fn begin_record(&mut self) -> Result<(), HelloFault> {
        // Anything but TLS shows at its first byte, so that no program waits for an answer to it.
        let is_plain = matches!(self.stage, Stage::First | Stage::Further);
        let kinds = if is_plain { HANDSHAKE..=HANDSHAKE } else { CHANGE_CIPHER_SPEC..=APPLICATION_DATA };
        let (kind, major) = (self.header.first().copied(), self.header.get(1).copied());
        if kind.is_some_and(|kind| !kinds.contains(&kind)) || major.is_some_and(|major| major != MAJOR_VERSION) {
            return Err(HelloFault::NotTls);
        }
        let &[kind, _, _, high, low] = self.header.as_slice() else {
            return Ok(());
        };
        let left = usize::from(u16::from_be_bytes([high, low]));
        let longest = MAX_PLAIN + if is_plain { 0 } else { MAX_ADDED };
        if left > longest || (left == 0 && kind == HANDSHAKE) {
            return Err(HelloFault::NotTls);
        }
        self.header.clear();
        self.left = left;
        if !is_plain {
            self.stage = if kind == HANDSHAKE { Stage::Perhaps } else { Stage::Skipping };
        }
        Ok(())
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), HelloFault> {
        if self.stage == Stage::Skipping {
            return Ok(());
        }
        self.message.extend_from_slice(bytes);
        if self.stage == Stage::Perhaps {
            self.decide();
        }
        match self.stage {
            Stage::First | Stage::Further => self.check(),
            Stage::Perhaps | Stage::Skipping => Ok(()),
        }
    }

    /// Decides if the record that is being read begins a ClientHello. One in 2^16 encrypted records of TLS 1.2 looks as
    /// if it did. Every encrypted record is long enough for this decision, so a shorter record belongs to a
    /// ClientHello.
    fn decide(&mut self) {
        let may_have = |at: usize, byte: u8| self.message.get(at).is_none_or(|found| *found == byte);
        if !may_have(0, CLIENT_HELLO) || !may_have(MESSAGE_HEADER, MAJOR_VERSION) {
            self.message.clear();
            self.stage = Stage::Skipping;
        } else if self.message.len() > MESSAGE_HEADER || self.left == 0 {
            self.stage = Stage::Further;
        }
    }

    /// Checks the ClientHello, once it is whole. It must end with its record: no client sends more before the answer.
    fn check(&mut self) -> Result<(), HelloFault> {
        if self.message.first().is_some_and(|kind| *kind != CLIENT_HELLO) {
            return Err(HelloFault::NotTls);
        }
        let mut reader = Reader(&self.message);
        let Some(length) = reader.skip(1).and_then(|()| reader.number(3)) else {
            return Ok(());
        };
        if length > MAX_PLAIN {
            return Err(HelloFault::Endless);
        }
        if reader.0.len() < length {
            return Ok(());
        }
        if reader.0.len() > length || self.left > 0 {
            return Err(HelloFault::NotTls);
        }
        check_name(reader.0, &self.host)?;
        self.message.clear();
        self.stage = Stage::Skipping;
        Ok(())
    }
}

/// Checks the body of a ClientHello (RFC 8446, section 4.1.2).
fn check_name(body: &[u8], host: &HostName) -> Result<(), HelloFault> {
    let extensions = extensions(body).ok_or(HelloFault::NotTls)?;
    let mut names = Vec::new();
    let mut reader = Reader(extensions);
    while !reader.0.is_empty() {
        let kind = reader.number(2).ok_or(HelloFault::NotTls)?;
        let content = reader.part(2).ok_or(HelloFault::NotTls)?;
        let is = |known: u16| kind == usize::from(known);
        if HIDES_NAME.into_iter().any(is) {
            return Err(HelloFault::HiddenName);
        }
        if is(SERVER_NAME) {
            names.push(only_name(content).ok_or(HelloFault::NotTls)?);
        }
    }
    match names.as_slice() {
        [] => Err(HelloFault::NoName),
        [name] if name.parse().as_ref() == Ok(host) => Ok(()),
        [_] => Err(HelloFault::OtherName),
        [_, ..] => Err(HelloFault::NotTls),
    }
}

/// Returns the extensions; nothing else may follow them. A hello of an old client ends before them.
fn extensions(body: &[u8]) -> Option<&[u8]> {
    let mut reader = Reader(body);
    let (version, random) = (2, 32);
    reader.skip(version + random)?;
    let (_session, _ciphers, _compressions) = (reader.part(1)?, reader.part(2)?, reader.part(1)?);
    if reader.0.is_empty() {
        return Some(&[]);
    }
    let extensions = reader.part(2)?;
    reader.0.is_empty().then_some(extensions)
}

/// Returns the name of a list that holds exactly one, in ASCII (RFC 6066, section 3).
fn only_name(content: &[u8]) -> Option<&str> {
    let mut reader = Reader(content);
    let mut list = Reader(reader.part(2)?);
    let kind = list.number(1)?;
    let name = list.part(2)?;
    let is_only = reader.0.is_empty() && list.0.is_empty() && kind == usize::from(HOST_NAME);
    std::str::from_utf8(name).ok().filter(|name| is_only && name.is_ascii())
}

/// Bytes that are read from the front. Numbers are big-endian.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn skip(&mut self, length: usize) -> Option<()> {
        self.take(length).map(|_| ())
    }

    /// Reads a number of at most three bytes.
    fn number(&mut self, bytes: usize) -> Option<usize> {
        let read = self.take(bytes)?.iter();
        Some(read.fold(0, |number, byte| number * 256 + usize::from(*byte)))
    }

    /// Reads a part with its length, a number of so many bytes, before it.
    fn part(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let length = self.number(bytes)?;
        self.take(length)
    }
}

#[cfg(test)]
mod tests;
