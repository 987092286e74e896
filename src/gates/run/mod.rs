//! Running a repository's commands: where, on which files, and what came of it.
//!
//! [`prepared`] sets a commit up once and gives every run a checkout that starts from there, [`ready`] for it, where it can
//! be a [`used`] one; [`checkout`] runs one command in one of them, at a path that is the same for every run of a
//! repository; [`result_cache`] knows what the same files gave before; [`cache`] keeps what was built.

pub(crate) mod cache;
pub(crate) mod checkout;
pub(crate) mod context;
mod ended;
mod network;
pub(crate) mod overlay;
pub(crate) mod prepared;
mod put_back;
pub(crate) mod ready;
pub(crate) mod result_cache;
pub(crate) mod used;
