//! The form of texts: their length, their links, and foreign text that must have no effect.

pub(super) mod defuse;
pub(super) mod links;
pub(super) mod measure;
pub mod untrusted;
pub(super) mod words;
