//! A web server with the habits, good and bad, that a download must live with.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How a file is served.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Habit {
    /// With ranges, as it should be.
    Ranges,
    /// Always everything, status 200.
    NoRanges,
    /// Full headers, then only this many bytes of the body.
    Truncate(usize),
    /// Full headers, so many bytes, and then silence until the client hangs up.
    Stall(usize),
    /// 206, but from another byte than asked.
    WrongRange,
    /// 416 to every range.
    Unsatisfiable,
    /// This status, and nothing.
    Status(u16),
}

type Files = HashMap<&'static str, (Vec<u8>, Habit)>;

pub(super) struct Server {
    address: String,
    files: Arc<Mutex<Files>>,
    log: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// More than any test needs.
const REQUESTS: usize = 50;
const LIFE: Duration = Duration::from_secs(60);

impl Server {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let files = Arc::new(Mutex::new(Files::new()));
        let log = Arc::new(Mutex::new(Vec::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let thread = std::thread::spawn({
            let (files, log, stop) = (files.clone(), log.clone(), stop.clone());
            move || serve(&listener, &files, &log, &stop)
        });
        Self {
            address,
            files,
            log,
            stop,
            thread: Some(thread),
        }
    }

    pub(super) fn url(&self) -> &str {
        &self.address
    }

    pub(super) fn put(&self, path: &'static str, bytes: &[u8], habit: Habit) {
        self.files
            .lock()
            .unwrap()
            .insert(path, (bytes.to_vec(), habit));
    }

    /// The requests since the last call, as `path` or `path from N`.
    pub(super) fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.log.lock().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(
    listener: &TcpListener,
    files: &Mutex<Files>,
    log: &Mutex<Vec<String>>,
    stop: &AtomicBool,
) {
    let started = Instant::now();
    let mut served = 0;
    while served < REQUESTS && started.elapsed() < LIFE && !stop.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((stream, _)) => {
                served += 1;
                // The client may well hang up first.
                let _ = answer(stream, files, log);
            }
            Err(_) => std::thread::sleep(Duration::from_millis(2)),
        }
    }
}

fn answer(
    mut stream: TcpStream,
    files: &Mutex<Files>,
    log: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    let path = request
        .split(' ')
        .nth(1)
        .unwrap_or_default()
        .trim_start_matches('/')
        .to_owned();
    let mut from = None;
    for line in lines {
        let line = line?.to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(range) = line.strip_prefix("range: bytes=") {
            from = range
                .strip_suffix('-')
                .and_then(|from| from.parse::<usize>().ok());
        }
    }
    log.lock().unwrap().push(match from {
        Some(from) => format!("{path} from {from}"),
        None => path.clone(),
    });
    let found = files.lock().unwrap().get(path.as_str()).cloned();
    let Some((bytes, habit)) = found else {
        return head(&mut stream, 404, 0, "");
    };
    let total = bytes.len();
    match (habit, from) {
        (Habit::Status(status), _) => head(&mut stream, status, 0, ""),
        (Habit::Truncate(n), None) => {
            head(&mut stream, 200, total, "")?;
            stream.write_all(&bytes[..n])
        }
        (Habit::Stall(n), None) => {
            head(&mut stream, 200, total, "")?;
            stream.write_all(&bytes[..n])?;
            stream.read(&mut [0]).map(drop)
        }
        (Habit::Unsatisfiable, Some(_)) => head(
            &mut stream,
            416,
            0,
            &format!("Content-Range: bytes */{total}\r\n"),
        ),
        (Habit::WrongRange, Some(_)) => {
            let range = format!("Content-Range: bytes 1-{}/{total}\r\n", total - 1);
            head(&mut stream, 206, total - 1, &range)?;
            stream.write_all(&bytes[1..])
        }
        (Habit::Ranges | Habit::Truncate(_), Some(from)) if from < total => {
            let end = match habit {
                Habit::Truncate(n) => (from + n).min(total),
                _ => total,
            };
            let range = format!("Content-Range: bytes {from}-{}/{total}\r\n", total - 1);
            head(&mut stream, 206, total - from, &range)?;
            stream.write_all(&bytes[from..end])
        }
        _ => {
            head(&mut stream, 200, total, "")?;
            stream.write_all(&bytes)
        }
    }
}

fn head(stream: &mut TcpStream, status: u16, length: usize, more: &str) -> std::io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status} Whatever\r\nContent-Length: {length}\r\n{more}Connection: close\r\n\r\n"
    )
}
