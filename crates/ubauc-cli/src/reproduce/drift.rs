//! `ubauc reproduce drift`: what forgetting gains where a stream changes, and what it costs where nothing does.
//!
//! d features, N(0, I) of a negative and N(δu, I) of a positive, |u| = 1, a tenth of the examples positive. The best score is u·x,
//! with AUC A = Φ(δ/√2), and that of any weights is known without examples: Φ(δ w·u/(√2 |w|)). Three streams of T examples:
//!
//!   still    u is what it is
//!   abrupt   u turns by 90° after T/2: what was learned is worth AUC ½
//!   gradual  u turns all the time, by 90° in T/3
//!
//! Each is learned as `ubauc learn` does, with its default parameters, once for each half-life, from the same examples.

use anyhow::{Context, Result};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use rayon::prelude::*;
use serde::Serialize;
use ubauc::algorithm::{Algorithm, Learner, Spec};
use ubauc::data::rows::Row;
use ubauc::document::numbers::thousands;
use ubauc::document::{Document, Table};
use ubauc::metrics::{FallAlarm, normal_cdf, normal_quantile};

use super::coverage::normal;
use crate::output::{Output, Report};

const EXAMPLES: usize = 60_000;
const D: usize = 20;
const POSITIVE: f64 = 0.1;
const BEST: f64 = 0.9;
/// None forgets nothing.
const HALF_LIVES: [Option<f64>; 6] = [
    None,
    Some(10_000.0),
    Some(3_000.0),
    Some(1_000.0),
    Some(300.0),
    Some(100.0),
];
/// Examples from one look at the weights to the next.
const EVERY: usize = 1_000;
/// η₀ is found on the first examples, as by `ubauc learn`.
const TRIAL: usize = 1_000;
/// The rate of the alarm.
const ALARM: f64 = 0.01;
pub(super) const RUNS: usize = 10;

#[derive(Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Stream {
    Still,
    Abrupt,
    Gradual,
}

const STREAMS: [Stream; 3] = [Stream::Still, Stream::Abrupt, Stream::Gradual];

impl Stream {
    /// u, in the plane of the first two features, for example i from 0.
    fn direction(self, i: usize) -> [f64; 2] {
        let right = std::f64::consts::FRAC_PI_2;
        let angle = match self {
            Stream::Still => 0.0,
            Stream::Abrupt if i < EXAMPLES / 2 => 0.0,
            Stream::Abrupt => right,
            Stream::Gradual => right * (i as f64 / (EXAMPLES / 3) as f64),
        };
        [angle.cos(), angle.sin()]
    }

    fn examples(self, random: &mut Pcg64) -> Vec<([f64; D], bool)> {
        let one = |i: usize| {
            let positive = random.random::<f64>() < POSITIVE;
            let mut x = [0.0; D];
            x.fill_with(|| normal(random));
            if positive {
                let [a, b] = self.direction(i);
                x[0] += delta() * a;
                x[1] += delta() * b;
            }
            (x, positive)
        };
        (0..EXAMPLES).map(one).collect()
    }

    /// AUC of these weights for example i and those like it.
    fn auc(self, weights: &[f64], i: usize) -> f64 {
        let norm = weights.iter().map(|w| w * w).sum::<f64>().sqrt();
        let [a, b] = self.direction(i);
        let along = a * weights.first().unwrap_or(&0.0) + b * weights.get(1).unwrap_or(&0.0);
        match norm > 0.0 {
            true => normal_cdf(delta() * along / norm / std::f64::consts::SQRT_2),
            false => 0.5,
        }
    }
}

/// δ = √2·Φ⁻¹(A).
fn delta() -> f64 {
    std::f64::consts::SQRT_2 * normal_quantile(BEST)
}

/// How one learner did on one stream.
#[derive(Clone)]
struct Course {
    /// AUC of the weights after every 1,000 examples.
    aucs: Vec<f64>,
    /// Examples at which there was an alarm.
    alarms: Vec<u64>,
}

fn follow(
    stream: Stream,
    examples: &[([f64; D], bool)],
    half_life: Option<f64>,
) -> Result<Course, ubauc::Error> {
    let mut spec = Spec::new(Algorithm::OlUbauc);
    if let Spec::OlUbauc(spec) = &mut spec {
        spec.params.half_life = half_life;
    }
    let mut learner = Learner::new(&spec, D)?;
    let first = examples.iter().take(TRIAL);
    let first: Vec<(Row<'_>, bool)> = first.map(|(x, y)| (Row::Dense(x), *y)).collect();
    learner.find_eta0(&first)?;
    let mut alarm = FallAlarm::new(ALARM)?;
    let (mut aucs, mut alarms) = (Vec::new(), Vec::new());
    for (i, (x, positive)) in examples.iter().enumerate() {
        let score = learner.learn(Row::Dense(x), *positive, 1.0)?;
        let number = i as u64 + 1;
        alarms.extend(alarm.add(score, *positive, number)?.map(|f| f.example));
        if (i + 1) % EVERY == 0 {
            aucs.push(stream.auc(&learner.weights()?, i));
        }
    }
    Ok(Course { aucs, alarms })
}

pub(super) fn run(runs: usize, seed: u64, output: Output) -> Result<()> {
    let mut courses = Vec::new();
    for (number, stream) in STREAMS.into_iter().enumerate() {
        // By runs, then by half-lives.
        let found: Vec<Vec<Course>> = (0..runs as u64)
            .into_par_iter()
            .map(|run| {
                let own = ((number as u64) << 32 | run).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let examples = stream.examples(&mut Pcg64::seed_from_u64(seed ^ own));
                let of_one = |half_life| follow(stream, &examples, half_life);
                HALF_LIVES.into_iter().map(of_one).collect()
            })
            .collect::<Result<_, _>>()
            .context("a simulated stream")?;
        for (k, half_life) in HALF_LIVES.into_iter().enumerate() {
            let of_runs: Vec<&Course> = found.iter().map(|run| &run[k]).collect();
            courses.push(Mean::new(stream, half_life, &of_runs));
        }
    }
    output.report(&Drift {
        runs,
        seed,
        examples: EXAMPLES,
        features: D,
        share_positive: POSITIVE,
        best_auc: BEST,
        every: EVERY,
        alarm: ALARM,
        courses,
    })
}

/// The runs of one stream with one half-life.
#[derive(Serialize)]
struct Mean {
    stream: Stream,
    half_life: Option<f64>,
    /// Mean AUC of the weights after every 1,000 examples.
    aucs: Vec<f64>,
    /// The standard deviation of the mean AUC of the second half, over runs.
    deviation: f64,
    /// Runs with an alarm before the change, or ever where there is none, and after it.
    alarms_before: usize,
    alarms_after: usize,
    /// The median of examples from the change to the first alarm after it, of runs that have one.
    delay: Option<u64>,
}

impl Mean {
    fn new(stream: Stream, half_life: Option<f64>, runs: &[&Course]) -> Mean {
        let n = runs.len() as f64;
        let points = EXAMPLES / EVERY;
        let mean = |of: &dyn Fn(&Course) -> f64| runs.iter().map(|r| of(r)).sum::<f64>() / n;
        let late = |run: &Course| {
            let late = &run.aucs[points / 2..];
            late.iter().sum::<f64>() / late.len() as f64
        };
        let centre = mean(&late);
        let change = match stream {
            Stream::Abrupt => EXAMPLES as u64 / 2,
            Stream::Still => u64::MAX,
            // It changes from the first example on.
            Stream::Gradual => 0,
        };
        let after = |run: &&Course| run.alarms.iter().copied().find(|&at| at > change);
        let mut delays: Vec<u64> = runs
            .iter()
            .filter_map(after)
            .map(|at| at - change)
            .collect();
        delays.sort_unstable();
        let before = |run: &&&Course| run.alarms.iter().any(|&at| at <= change);
        Mean {
            stream,
            half_life,
            aucs: (0..points).map(|k| mean(&|run| run.aucs[k])).collect(),
            deviation: mean(&|run| (late(run) - centre).powi(2)).sqrt(),
            alarms_before: runs.iter().filter(before).count(),
            alarms_after: delays.len(),
            delay: delays.get(delays.len() / 2).copied(),
        }
    }

    /// Mean AUC of the looks after `from`, up to `to`.
    fn between(&self, from: usize, to: usize) -> f64 {
        let some = &self.aucs[from / EVERY..to / EVERY];
        some.iter().sum::<f64>() / some.len() as f64
    }

    fn name(&self) -> String {
        match self.half_life {
            Some(half_life) => thousands(half_life as u64),
            None => "none".to_string(),
        }
    }
}

#[derive(Serialize)]
struct Drift {
    runs: usize,
    seed: u64,
    examples: usize,
    features: usize,
    share_positive: f64,
    best_auc: f64,
    every: usize,
    alarm: f64,
    courses: Vec<Mean>,
}

impl Drift {
    fn of(&self, stream: Stream) -> impl Iterator<Item = &Mean> {
        self.courses.iter().filter(move |c| c.stream == stream)
    }

    /// Mean AUC of the weights, in parts of the streams.
    fn summary(&self) -> Table {
        let (half, all) = (EXAMPLES / 2, EXAMPLES);
        let mut table = Table::new([
            "half-life",
            "still: 2nd half",
            "abrupt: before",
            "first 1,000",
            "to 5,000",
            "to 15,000",
            "to the end",
            "gradual: 2nd half",
        ]);
        let three = |x: f64| format!("{x:.3}");
        let rows = self.of(Stream::Still).zip(self.of(Stream::Abrupt));
        for ((still, abrupt), gradual) in rows.zip(self.of(Stream::Gradual)) {
            table.row([
                still.name(),
                three(still.between(half, all)),
                three(abrupt.between(half - 10_000, half)),
                three(abrupt.between(half, half + 1_000)),
                three(abrupt.between(half + 1_000, half + 5_000)),
                three(abrupt.between(half + 5_000, half + 15_000)),
                three(abrupt.between(half + 15_000, all)),
                three(gradual.between(half, all)),
            ]);
        }
        table
    }

    /// AUC over time.
    fn over_time(&self, stream: Stream, looks: &[usize]) -> Table {
        let names = self.of(stream).map(Mean::name);
        let mut table = Table::new(std::iter::once("examples".to_string()).chain(names));
        for &at in looks {
            let cells = self
                .of(stream)
                .map(|c| format!("{:.3}", c.aucs[at / EVERY - 1]));
            table.row(std::iter::once(thousands(at as u64)).chain(cells));
        }
        table
    }

    fn alarms(&self) -> Table {
        let mut table = Table::new([
            "half-life",
            "still: runs with an alarm",
            "abrupt: before",
            "abrupt: after",
            "median delay",
            "gradual: runs with an alarm",
        ]);
        let rows = self.of(Stream::Still).zip(self.of(Stream::Abrupt));
        for ((still, abrupt), gradual) in rows.zip(self.of(Stream::Gradual)) {
            table.row([
                still.name(),
                still.alarms_before.to_string(),
                abrupt.alarms_before.to_string(),
                abrupt.alarms_after.to_string(),
                abrupt.delay.map_or("-".to_string(), thousands),
                gradual.alarms_after.to_string(),
            ]);
        }
        table
    }
}

impl Report for Drift {
    fn document(&self) -> Document {
        let (n, half) = (thousands(EXAMPLES as u64), thousands(EXAMPLES as u64 / 2));
        let looks = [
            1_000, 5_000, 10_000, 20_000, 30_000, 31_000, 32_000, 35_000, 40_000, 50_000, 60_000,
        ];
        let evenly: Vec<usize> = (1..=EXAMPLES / 5_000).map(|k| 5_000 * k).collect();
        Document::default()
            .paragraph(format!(
                "AUC of the weights, whose expectation is known, on simulated streams of {n} examples with {D} features, a tenth \
                 of them positive, where the best possible AUC is {BEST} at any time; means of {} runs (seed {}).",
                self.runs, self.seed
            ))
            .paragraph(format!(
                "In parts of the streams. Abrupt: the classes turn by 90 degrees after {half} examples; gradual: by 90 degrees \
                 in every {}.",
                thousands(EXAMPLES as u64 / 3)
            ))
            .with(self.summary())
            .paragraph("Abrupt, over time, by half-life:")
            .with(self.over_time(Stream::Abrupt, &looks))
            .paragraph("Gradual, over time:")
            .with(self.over_time(Stream::Gradual, &evenly))
            .paragraph(format!("Alarms at a rate of {ALARM}, of {} runs:", self.runs))
            .with(self.alarms())
    }
}
