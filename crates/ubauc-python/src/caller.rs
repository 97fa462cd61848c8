//! The thread that called from Python, and the workers that it waits for.
//!
//! Python is only ever run by the thread that called: progress is reported there, whatever worker has it, since settings of
//! scikit-learn, warnings and the output of a notebook belong to threads; and only the main thread hears of Ctrl-C. While it
//! waits, without the GIL, it looks every [`POLL`] whether a signal has come.
//!
//! What progress raises, a signal's exception as well, stops the work: a flag is set, and the next worker that calls
//! [`stop_if_asked`] unwinds. That is no panic: no hook runs, and [`wait`] catches it.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::ThreadPool;

use crate::error::Refused;

/// Signals are looked for this often.
const POLL: Duration = Duration::from_millis(100);

/// How a worker reaches the thread that called.
pub(crate) struct Caller {
    stop: AtomicBool,
    notes: Sender<Note>,
}

/// What a worker has to say.
enum Note {
    /// Step, objective, and gap or AUC; it goes on when it has an answer.
    Progress(Py<PyAny>, (usize, f64, Option<f64>), SyncSender<()>),
    Done,
}

/// What unwinds a worker that was asked to stop.
struct Stopped;

thread_local! {
    static CALLER: RefCell<Option<Arc<Caller>>> = const { RefCell::new(None) };
}

impl Caller {
    pub(crate) fn new() -> (Arc<Caller>, Inbox) {
        let (notes, inbox) = channel();
        let stop = AtomicBool::new(false);
        (Arc::new(Caller { stop, notes }), Inbox(inbox))
    }

    /// For each thread of the pool, when it starts.
    pub(crate) fn introduce(self: &Arc<Caller>) {
        CALLER.with_borrow_mut(|caller| *caller = Some(self.clone()));
    }
}

/// What the workers say.
pub(crate) struct Inbox(Receiver<Note>);

/// Unwinds if the caller wants the work to stop. Cheap enough for every example.
#[inline]
pub(crate) fn stop_if_asked() {
    let asked = |caller: &Option<Arc<Caller>>| {
        let stop = caller.as_ref().map(|c| c.stop.load(Ordering::Relaxed));
        stop.unwrap_or(false)
    };
    if CALLER.with_borrow(asked) {
        resume_unwind(Box::new(Stopped));
    }
}

/// Has the caller call `progress`, if there is one, and waits for that.
pub(crate) fn report_progress(
    progress: Option<&Py<PyAny>>,
    step: usize,
    objective: f64,
    measure: Option<f64>,
) {
    stop_if_asked();
    let Some(progress) = progress else {
        return;
    };
    let progress = Python::attach(|py| progress.clone_ref(py));
    let (answer, answered) = sync_channel(1);
    let note = Note::Progress(progress, (step, objective, measure), answer);
    let sent = CALLER.with_borrow(|caller| {
        let notes = caller.as_ref().map(|c| c.notes.clone());
        notes.is_some_and(|notes| notes.send(note).is_ok())
    });
    if sent {
        // The caller waits for as long as there are workers.
        answered.recv().ok();
    }
    stop_if_asked();
}

/// Has the pool do the work, and serves it from this thread, which has let go of the GIL.
pub(crate) fn wait<T: Send>(
    pool: &ThreadPool,
    caller: &Caller,
    inbox: &Inbox,
    work: impl FnOnce() -> Result<T, Refused> + Send,
) -> PyResult<T> {
    let mut found = None;
    let notes = caller.notes.clone();
    let served = pool.in_place_scope(|scope| {
        let found = &mut found;
        scope.spawn(move |_| {
            *found = Some(catch_unwind(AssertUnwindSafe(work)));
            notes.send(Note::Done).ok();
        });
        serve(caller, inbox)
    });
    served?;
    match found {
        Some(Ok(answer)) => Ok(answer?),
        Some(Err(panic)) => Err(unwound(panic)),
        None => Err(PyRuntimeError::new_err("the work was never begun")),
    }
}

/// Until the work is done. The first exception is the answer; after it nobody is asked any more.
fn serve(caller: &Caller, Inbox(inbox): &Inbox) -> PyResult<()> {
    let mut served = Ok(());
    loop {
        let heard = match inbox.recv_timeout(POLL) {
            Ok(Note::Done) | Err(RecvTimeoutError::Disconnected) => return served,
            Ok(Note::Progress(progress, values, answer)) => {
                let heard = Python::attach(|py| match &served {
                    Ok(()) => progress.call1(py, values).map(drop),
                    Err(_) => Ok(()),
                });
                if heard.is_err() {
                    caller.stop.store(true, Ordering::Relaxed);
                }
                answer.send(()).ok();
                heard
            }
            Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals()),
        };
        if let (Err(error), true) = (heard, served.is_ok()) {
            caller.stop.store(true, Ordering::Relaxed);
            served = Err(error);
        }
    }
}

/// A worker that stopped without being asked has met a fault of ours, which goes on as it came.
fn unwound(panic: Box<dyn Any + Send>) -> PyErr {
    if panic.is::<Stopped>() {
        return PyRuntimeError::new_err("the work was stopped");
    }
    resume_unwind(panic)
}
