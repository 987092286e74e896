//! What a foreign program may see, change and reach.

use crate::egress::Door;
use std::{path::PathBuf, sync::Arc};

/// What one program may see, change and reach, besides what every program needs: the system's own programs and
/// libraries, what its `PATH` leads to, and the program itself, all of it for reading only.
#[derive(Clone, Debug, Default)]
pub struct Confine {
    /// Files and folders that it may read. A path that is not there is left out.
    pub read: Vec<PathBuf>,
    /// Files and folders that it may change too.
    pub write: Vec<PathBuf>,
    /// Folders that it may change too, each with the place at which it sees the folder at L2 and L3. Below them there is
    /// no wall, and it sees the folder where it is.
    pub mounts: Vec<(PathBuf, PathBuf)>,
    /// Its one way out; `None` for no network at all. Held for as long as the program runs.
    pub door: Option<Arc<Door>>,
}
