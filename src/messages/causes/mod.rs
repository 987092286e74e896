//! The facts in words: what Gates and rules found, why work stopped, and what a person can do.

pub(super) mod doctor;
pub(super) mod evidence;
pub(super) mod excess;
pub(super) mod exposure;
pub(super) mod facts;
pub(super) mod isolation;
pub(super) mod obeyed;
pub(super) mod problems;
pub(super) mod reasons;
pub(super) mod refused_host;
pub(super) mod remedy;
pub(super) mod rules;
pub(super) mod trace_event;
