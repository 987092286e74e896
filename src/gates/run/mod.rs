//! Runs a repository's commands: chooses the checkout and the files, and reads the result.
//!
//! [`prepared`] sets a commit up once, and gives every run a [`ready`] checkout that starts from there, which may be a
//! [`used`] one. [`checkout`] runs one command, at the same path for every run of a repository. [`result_cache`] stores
//! earlier results of the same files; [`cache`] stores built files.

pub(crate) mod cache;
pub(crate) mod checkout;
pub(crate) mod context;
mod ended;
pub(crate) mod overlay;
pub(crate) mod prepared;
mod put_back;
pub(crate) mod ready;
pub(crate) mod report_files;
pub(crate) mod result_cache;
mod stamp;
mod used;
