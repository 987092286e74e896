//! Everything that is logged while these tests run, at the finest level.
//!
//! One subscriber for the whole process, set before the first request: a scoped one races with other tests for the
//! callsites that both pass.

use std::{
    io::Write,
    sync::{LazyLock, Mutex},
};

static RECORD: LazyLock<Mutex<Vec<u8>>> = LazyLock::new(|| {
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(|| Pen).finish();
    tracing::subscriber::set_global_default(subscriber).unwrap();
    Mutex::default()
});

struct Pen;

impl Write for Pen {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        RECORD.lock().unwrap().extend_from_slice(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Begins to record, if that has not begun yet.
pub fn record() {
    LazyLock::force(&RECORD);
}

/// Returns the log of all tests so far.
pub fn recorded() -> String {
    String::from_utf8(RECORD.lock().unwrap().clone()).unwrap()
}
