//! Ctrl-C that does not end the program at once. A second one does.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::signal::SIGINT;
use signal_hook::{SigId, flag, low_level};

/// Watches for Ctrl-C as long as it lives.
pub(crate) struct Interrupt {
    came: Arc<AtomicBool>,
    registered: Vec<SigId>,
}

impl Interrupt {
    pub(crate) fn watch() -> io::Result<Interrupt> {
        let came = Arc::new(AtomicBool::new(false));
        // In this order: the first one arms the second.
        let registered = vec![
            flag::register_conditional_shutdown(SIGINT, 128 + SIGINT, Arc::clone(&came))?,
            flag::register(SIGINT, Arc::clone(&came))?,
        ];
        Ok(Interrupt { came, registered })
    }

    pub(crate) fn has_come(&self) -> bool {
        self.came.load(Ordering::Relaxed)
    }
}

impl Drop for Interrupt {
    fn drop(&mut self) {
        for id in self.registered.drain(..) {
            low_level::unregister(id);
        }
    }
}
