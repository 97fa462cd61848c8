//! Downloads that go on where they stopped.
//!
//! The bytes are appended to a partial file, which stays whatever happens. The next download asks
//! for the rest with a Range request: 206 with the right Content-Range is appended; 200 (a server
//! without ranges), 416 and a wrong Content-Range start over. That the pieces belong together is
//! not asked of the server: the reader of the whole file checks what is in it.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use ubauc::document::numbers::thousands;
use ureq::http::{Response, header};
use ureq::{Agent, Body};

use crate::output::Output;
use crate::progress::Progress;

const CONNECT: Duration = Duration::from_secs(15);
const STALL: Duration = Duration::from_secs(60);

/// No answer from the server at all, and why: no network, a wrong name, no server.
#[derive(Debug)]
pub(super) struct Unreachable(pub(super) String);

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreachable {}

/// A finished download.
pub(super) struct Transfer {
    /// Length of the whole file.
    pub(super) bytes: u64,
    /// How much of it was there already.
    pub(super) resumed_from: u64,
}

/// An HTTP client with the time-outs and the reporting of this program.
pub(super) struct Downloader {
    agent: Agent,
    output: Output,
}

impl Downloader {
    pub(super) fn new(output: Output) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_resolve(Some(CONNECT))
            .timeout_connect(Some(CONNECT))
            .timeout_recv_response(Some(STALL))
            .timeout_per_read(Some(STALL))
            .timeout_per_write(Some(STALL))
            .user_agent(concat!("ubauc/", env!("CARGO_PKG_VERSION")))
            .build();
        Self {
            agent: config.new_agent(),
            output,
        }
    }

    /// Completes the partial file, making its directory if need be; `None` if the server has no
    /// such file.
    pub(super) fn complete(&self, url: &str, partial: &Path) -> Result<Option<Transfer>> {
        let have = fs::metadata(partial).map_or(0, |metadata| metadata.len());
        if have > 0 {
            let response = self.request(url, have)?;
            match response.status().as_u16() {
                206 if ContentRange::of(&response).is_some_and(|range| range.start == have) => {
                    return self.receive(response, partial, have).map(Some);
                }
                200 => return self.receive(response, partial, 0).map(Some),
                206 | 416 => {}
                404 => return Ok(None),
                status => bail!("the server answered with status {status}"),
            }
        }
        let response = self.request(url, 0)?;
        match response.status().as_u16() {
            200 => self.receive(response, partial, 0).map(Some),
            404 => Ok(None),
            status => bail!("the server answered with status {status}"),
        }
    }

    fn request(&self, url: &str, from: u64) -> Result<Response<Body>> {
        let mut request = self.agent.get(url);
        if from > 0 {
            request = request.header(header::RANGE, format!("bytes={from}-"));
        }
        request.call().map_err(|error| match error {
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => {
                anyhow::Error::new(error).context("not an address; check --base-url")
            }
            ureq::Error::Io(error) => Unreachable(error.to_string()).into(),
            error => Unreachable(error.to_string()).into(),
        })
    }

    /// Writes the body at `from`, dropping what the partial file has beyond.
    fn receive(&self, response: Response<Body>, partial: &Path, from: u64) -> Result<Transfer> {
        let total = match ContentRange::of(&response) {
            Some(range) if from > 0 => range.total,
            _ => response.body().content_length().map(|rest| from + rest),
        };
        let mut file =
            open(partial, from).with_context(|| format!("cannot write {}", partial.display()))?;
        let mut progress = Progress::new(
            self.output,
            total,
            "{wide_bar} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
        );
        let mut body = response.into_body().into_reader();
        let mut buffer = vec![0; 1 << 16];
        let mut bytes = from;
        let broken = loop {
            match body.read(&mut buffer) {
                Ok(0) => break None,
                Ok(n) => {
                    // Unbuffered, so that an interrupted run keeps all it received.
                    file.write_all(&buffer[..n])
                        .with_context(|| format!("cannot write {}", partial.display()))?;
                    bytes += n as u64;
                    progress.at(bytes);
                }
                Err(error) => break Some(error),
            }
        };
        file.sync_all()
            .with_context(|| format!("cannot write {}", partial.display()))?;
        if broken.is_some() || total.is_some_and(|total| total != bytes) {
            let of = total.map_or_else(String::new, |total| format!(" of {}", thousands(total)));
            let why = broken.map_or_else(String::new, |error| format!(" ({error})"));
            bail!(
                "the download stopped after {}{of} bytes{why}; run the same command again to \
                 continue from there",
                thousands(bytes),
            );
        }
        Ok(Transfer {
            bytes,
            resumed_from: from,
        })
    }
}

fn open(partial: &Path, from: u64) -> std::io::Result<File> {
    if let Some(directory) = partial.parent() {
        fs::create_dir_all(directory)?;
    }
    if from > 0 {
        OpenOptions::new().append(true).open(partial)
    } else {
        File::create(partial)
    }
}

/// `Content-Range: bytes 100-199/200`
#[derive(Debug, PartialEq)]
struct ContentRange {
    start: u64,
    /// Unknown if given as `*`.
    total: Option<u64>,
}

impl ContentRange {
    fn of(response: &Response<Body>) -> Option<Self> {
        Self::parse(
            response
                .headers()
                .get(header::CONTENT_RANGE)?
                .to_str()
                .ok()?,
        )
    }

    fn parse(text: &str) -> Option<Self> {
        let (range, total) = text.trim().strip_prefix("bytes ")?.split_once('/')?;
        let (start, end) = range.split_once('-')?;
        let (start, end): (u64, u64) = (start.parse().ok()?, end.parse().ok()?);
        let total = match total {
            "*" => None,
            total => Some(total.parse::<u64>().ok()?),
        };
        let sane = start <= end && total.is_none_or(|total| end < total);
        sane.then_some(Self { start, total })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_range_is_read_or_refused() {
        let range = |start, total| Some(ContentRange { start, total });
        for (text, expected) in [
            ("bytes 100-199/200", range(100, Some(200))),
            ("bytes 0-0/*", range(0, None)),
            ("bytes */200", None),
            ("bytes 100-200/200", None),
            ("bytes 5-4/200", None),
            ("lines 1-2/3", None),
            ("bytes -1-2/3", None),
            ("", None),
        ] {
            assert_eq!(ContentRange::parse(text), expected, "{text:?}");
        }
    }
}
