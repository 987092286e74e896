//! The files and network that a foreign program can reach.

use crate::egress::Door;
use std::{path::PathBuf, sync::Arc};

/// The files and network that one program may use. Every program may also read the system's programs and libraries, the
/// programs on its `PATH`, and itself.
#[derive(Clone, Debug, Default)]
pub struct Confine {
    /// Files and folders that it may read. Paths that do not exist are left out.
    pub read: Vec<PathBuf>,
    /// Files and folders that it may also change.
    pub write: Vec<PathBuf>,
    /// Folders that it may also change, each with the path at which the program sees it at L2 and L3. At L0 and L1 the
    /// program sees each folder at its real path.
    pub mounts: Vec<(PathBuf, PathBuf)>,
    /// Its one way out to the network; `None` for no network. Kept open while the program runs.
    pub door: Option<Arc<Door>>,
}
