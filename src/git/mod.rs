//! git

pub mod bare;
