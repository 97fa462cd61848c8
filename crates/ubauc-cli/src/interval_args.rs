//! How intervals are made: `--interval` and `--resamples`, for every command that has them.

use std::sync::Mutex;

use anyhow::Result;
use clap::Args;
use clap::builder::{PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use ubauc::metrics::{Interval, RecallAtFpr, Resampling, Sample, Share, Statistic};

use crate::args::WrongUsage;
use crate::output::Output;
use crate::progress::{DRAWS, Progress};

#[derive(Debug, Args)]
pub(crate) struct IntervalArgs {
    /// How the 95 % interval is made: DeLong's variance on the logit scale, the same of AUC by Student's distribution where
    /// few examples decide, or symmetric and clipped, or by a bootstrap of examples drawn again, as many of each class as
    /// there are
    #[arg(long, value_name = "METHOD", default_value_t, value_parser = parser())]
    pub(crate) interval: Interval,
    /// Draws of the bootstrap, at least 100 [default: 2000]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(100..))]
    resamples: Option<usize>,
}

fn parser() -> impl TypedValueParser<Value = Interval> {
    PossibleValuesParser::new(Interval::ALL.map(Interval::name)).try_map(|name| name.parse())
}

impl IntervalArgs {
    /// Refuses draws that nothing is made of.
    pub(crate) fn check(&self) -> Result<()> {
        if self.resamples.is_some() && self.interval != Interval::Bootstrap {
            let what = "--resamples is for --interval bootstrap";
            return Err(WrongUsage(what.to_string()).into());
        }
        Ok(())
    }

    /// The interval of a share that was found in a sample.
    pub(crate) fn of(
        &self,
        share: Share,
        statistic: Statistic,
        sample: &Sample<'_>,
        seed: u64,
        output: Output,
    ) -> Result<[f64; 2]> {
        self.watched(seed, output, |resampling, done| {
            share.interval(self.interval, statistic, sample, resampling, done)
        })
    }

    /// The interval of a recall, which has one of its own unless it is to be drawn.
    pub(crate) fn of_recall(
        &self,
        recall: &RecallAtFpr,
        sample: &Sample<'_>,
        seed: u64,
        output: Output,
    ) -> Result<[f64; 2]> {
        match self.interval {
            Interval::Bootstrap => self.watched(seed, output, |resampling, done| {
                recall.bootstrap(sample, resampling, done)
            }),
            Interval::Logit | Interval::Student | Interval::Delong => Ok(recall.ci95),
        }
    }

    /// With a progress bar for the draws.
    fn watched(
        &self,
        seed: u64,
        output: Output,
        draw: impl FnOnce(Resampling, &(dyn Fn(usize) + Sync)) -> ubauc::Result<[f64; 2]>,
    ) -> Result<[f64; 2]> {
        let resamples = self.resamples.unwrap_or(Resampling::default().resamples);
        let progress = Mutex::new(Progress::new(output, Some(resamples as u64), DRAWS));
        let done = |n: usize| {
            if let Ok(mut progress) = progress.try_lock() {
                progress.at(n as u64);
            }
        };
        Ok(draw(Resampling { resamples, seed }, &done)?)
    }
}
