//! `ubauc learn`: a linear scoring function from a stream, one example at a time, in memory that
//! does not grow with it.
//!
//! An example is scored before it is learned, so the AUC of these scores is that of examples never
//! seen. Whatever is counted (checkpoints, lines of progress, the trial of η₀) is counted in
//! examples, never in batches or seconds: a run ends with the same bits however its input came, and
//! however often it was stopped.

mod checkpoint;
mod drift;
mod model;
mod options;
mod problem;
mod report;
mod scores;
mod signals;
mod state;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use ubauc::algorithm::Spec;
use ubauc::document::numbers::thousands;
use ubauc::features::FeatureMap;
use ubauc::read::{LabelledBatch, LabelledStream, Next, StreamFeatures, StreamOptions};

use crate::args::WrongUsage;
use crate::column_report::{self, FeaturesReport};
use crate::initial_model::InitialModel;
use crate::met::{About, Met};
use crate::output::Output;
use checkpoint::Store;
pub(crate) use drift::Alarmed;
use drift::{OnAlarm, in_words};
use model::saved_model;
pub(crate) use options::LearnArgs;
use report::{Clock, Report, Seconds, Teller};
use scores::Scores;
use signals::Signals;
pub(crate) use signals::Stopped;
use state::State;

/// How long a signal may wait for its answer while no input comes.
const PATIENCE: Duration = Duration::from_millis(100);

pub(crate) fn run(args: &LearnArgs, seed: u64, output: Output) -> Result<()> {
    let started = Instant::now();
    let spec = args.spec(seed);
    args.refuse_early(&spec, output)?;
    let signals = Signals::watch().context("cannot watch for signals")?;
    let initial = args
        .initial_model
        .as_deref()
        .map(|path| InitialModel::load(path, args.by_position))
        .transpose()?;
    let checksum = initial.as_ref().map(|model| model.checksum.clone());
    let settings = args.settings(&spec, checksum);
    let store = args
        .saving
        .checkpoint
        .as_deref()
        .map(Store::open)
        .transpose()?;
    let resumed = match &store {
        Some(store) if args.saving.resume => store.newest(output)?,
        Some(store) => store.begin(args.saving.fresh).map(|()| None)?,
        None => None,
    };
    let resumed_at = resumed.as_ref().map(|state| state.head.examples);
    let scores_at = resumed.as_ref().map(|state| state.head.scores);
    let state = match resumed {
        Some(state) => {
            same_settings(&state, &settings)?;
            let at = thousands(state.head.examples);
            output.note(format!("note: resumed after {at} examples"));
            let (then, now) = (&state.head.input, args.file.display().to_string());
            if *then != now {
                output.note(format!("note: the input was {then}, and is {now} now"));
            }
            state
        }
        None => {
            let input = args.file.display().to_string();
            State::new(&spec, settings, input, args.drift.watch()?)?
        }
    };
    if let (true, false, Some(eta0)) = (args.predict, args.problem.has_eta0(), state.learner.eta0())
    {
        output.note(format!(
            "note: eta0 is {eta0}, not found by trial: with --predict no answer may wait (--eta0 E)"
        ));
    }
    let stream = stream_options(args, &state, initial.as_ref());
    let mut run = Run {
        args,
        spec,
        output,
        state,
        store,
        scores: match args.predict {
            true => Some(Scores::open(&args.output, scores_at)?),
            false => None,
        },
        teller: {
            let lines = args.progress.progress_json.as_deref();
            Teller::open(lines, resumed_at.is_some(), output)?
        },
        clock: Clock {
            started: Instant::now(),
            before: resumed_at.unwrap_or(0),
        },
        initial: initial.filter(|_| resumed_at.unwrap_or(0) == 0),
        skip: resumed_at.filter(|_| !args.saving.no_skip).unwrap_or(0),
        met: Met::new(&args.file, output),
        alarmed: false,
    };
    let stopped = run.take_all(stream, &signals);
    let table = run.state.head.table.as_ref();
    run.met
        .tell(&table.map_or(Vec::new(), |table| table.given()));
    end(run, stopped, started, resumed_at)
}

/// How the stream is read: as it was before, as the model knows it, or as its first rows say.
fn stream_options(
    args: &LearnArgs,
    state: &State,
    initial: Option<&InitialModel>,
) -> StreamOptions {
    let of_state = state.head.table.clone();
    let known = of_state.or_else(|| initial.and_then(InitialModel::table));
    let features = match known {
        Some(table) => StreamFeatures::Known {
            table: Arc::new(table),
            notice_others: initial.is_some(),
        },
        None if state.head.examples > 0 || initial.is_some() => {
            StreamFeatures::Numbers(args.features())
        }
        None => StreamFeatures::Found(args.first_rows()),
    };
    args.stream(features, initial.map(|initial| &initial.model))
}

/// Keeps what was learned, however the run ended.
fn end(
    mut run: Run<'_>,
    stopped: Result<Option<Stopped>>,
    started: Instant,
    resumed_at: Option<u64>,
) -> Result<()> {
    if run.state.head.examples == 0
        && let Ok(Some(mut stopped)) = stopped
    {
        stopped.how_to_resume =
            "nothing was learned, and nothing is written; the first rows of a table \
                                 wait until its columns are known (--map-rows)"
                .to_string();
        return Err(stopped.into());
    }
    // A disk that refused once is not asked again.
    let at_start = resumed_at.unwrap_or(0) == run.state.head.examples && stopped.is_err();
    let refused = stopped.as_ref().is_err_and(|error| error.is::<NotSaved>());
    if !refused && !at_start {
        run.save()?;
    }
    let stopped = match stopped {
        Err(error) if !at_start && crate::is_broken_pipe(&error) => {
            run.write_model_unread()?;
            return Err(error);
        }
        stopped => stopped?,
    };
    run.finish(stopped, started, resumed_at)
}

/// The checkpoint could not be written.
#[derive(Debug)]
struct NotSaved;

impl std::fmt::Display for NotSaved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the checkpoint cannot be written; the one before is untouched")
    }
}

/// A run under way.
struct Run<'a> {
    args: &'a LearnArgs,
    spec: Spec,
    output: Output,
    state: State,
    store: Option<Store>,
    scores: Option<Scores>,
    teller: Teller,
    clock: Clock,
    /// Taken with the first batch, when the names of the features are known.
    initial: Option<InitialModel>,
    /// Examples that the checkpoint knows.
    skip: u64,
    met: Met<'a>,
    /// An alarm ended the run.
    alarmed: bool,
}

impl Run<'_> {
    /// To the end of the input, or a signal.
    fn take_all(&mut self, options: StreamOptions, signals: &Signals) -> Result<Option<Stopped>> {
        let mut stream = LabelledStream::open(&self.args.file, options);
        loop {
            if let Some(stopped) = signals.caught() {
                return Ok(Some(stopped));
            }
            match stream.next(PATIENCE).map_err(|error| self.hint(error))? {
                Next::Waiting => {}
                Next::Batch(batch) => self.take(*batch, signals)?,
                Next::End => break,
            }
            if self.alarmed {
                return Ok(None);
            }
            self.teller.live(&self.state, &self.clock);
        }
        let path = self.args.file.display();
        if self.skip > 0 {
            let all = self.state.head.examples;
            let (found, all) = (thousands(all - self.skip), thousands(all));
            bail!(
                "{path}: ends after {found} examples, and the checkpoint stopped after {all}; is \
                 this the same input? (--no-skip if it begins where the checkpoint stopped)"
            );
        }
        if self.state.head.examples == 0 {
            bail!("{path}: no examples in the file");
        }
        Ok(None)
    }

    /// What to do about a line that cannot be read.
    fn hint(&self, error: ubauc::Error) -> anyhow::Error {
        let ubauc::Error::Parse { what, .. } = &error else {
            return error.into();
        };
        let is_known = self.state.head.examples > 0 || self.args.initial_model.is_some();
        let of_numbers = is_known && self.state.head.table.is_none() && what.contains("column '");
        let numbers = match (of_numbers, &self.args.initial_model) {
            (true, Some(_)) => "; the model to start from is of complete numbers",
            (true, None) => {
                "; the first rows were complete numbers: --map-rows N lets values be missing"
            }
            (false, _) => "",
        };
        let skip = match (&self.store, self.state.head.examples) {
            (Some(_), 1..) => "--resume --on-error skip goes on without it",
            _ => "--on-error skip leaves such lines out",
        };
        anyhow::anyhow!("{error}{numbers}; {skip}")
    }

    fn take(&mut self, batch: LabelledBatch, signals: &Signals) -> Result<()> {
        self.met.notices(&batch.notices);
        self.refuse_wide(&batch)?;
        self.know_names(&batch)?;
        let n = batch.rows.len();
        let first = n.min(usize::try_from(self.skip).unwrap_or(usize::MAX));
        self.skip -= first as u64;
        if first < n && self.clock.before == self.state.head.examples {
            // What was skipped took its time as well.
            self.clock.started = Instant::now();
        }
        for i in first..n {
            if signals.caught().is_some() {
                return self.scores.as_mut().map_or(Ok(()), Scores::flush);
            }
            self.take_one(&batch, i)?;
            if self.alarmed {
                break;
            }
        }
        self.met.add(About {
            notices: batch.notices,
            unreadable: batch.unreadable,
            n_skipped: batch.n_skipped,
            skipped: batch.skipped,
        });
        self.scores.as_mut().map_or(Ok(()), Scores::flush)
    }

    fn refuse_wide(&self, batch: &LabelledBatch) -> Result<()> {
        let (width, most) = (batch.rows.cols(), self.args.max_features());
        let is_bounded = batch.table.is_none() && self.args.features() != FeatureMap::Identity;
        if width <= most || is_bounded {
            return Ok(());
        }
        let path = self.args.file.display();
        match &batch.table {
            Some(_) => bail!(
                "{path}: the columns make {} features, and the most is {}; hash into fewer \
                 (--hash-bits B) or raise --max-features",
                thousands(width as u64),
                thousands(most as u64)
            ),
            None => bail!(
                "{path}: a feature has the index {width}, and the most is {most}; hash the features \
                 (--hash-bits B) or raise --max-features"
            ),
        }
    }

    fn take_one(&mut self, batch: &LabelledBatch, i: usize) -> Result<()> {
        let weight = batch.weights.as_ref().map_or(1.0, |weights| weights[i]);
        let (row, label) = (batch.rows.row(i), batch.labels[i]);
        if label == Some(false) && self.state.head.negative.is_none() {
            self.state.head.negative = batch.negative.clone();
        }
        let falls = self.falls();
        let score = self.state.take(row, label, weight).with_context(|| {
            let number = thousands(self.state.head.examples + 1);
            format!("{}: example {number}", self.args.file.display())
        })?;
        if let (Some(scores), Some(score)) = (&mut self.scores, score) {
            scores.put(score)?;
        }
        if self.falls() > falls {
            self.alarm()?;
        }
        let examples = self.state.head.examples;
        if examples % self.args.progress.report_every == 0 {
            self.teller.line(&mut self.state, &self.clock)?;
        }
        if examples % self.args.saving.every == 0 {
            self.save()?;
        }
        Ok(())
    }

    /// Alarms so far.
    fn falls(&self) -> usize {
        self.state.head.watch.falls().map_or(0, <[_]>::len)
    }

    /// Warns, and does what is to be done.
    fn alarm(&mut self) -> Result<()> {
        let Some(fall) = self.state.head.watch.falls().and_then(<[_]>::last) else {
            return Ok(());
        };
        let (path, at) = (self.args.file.display(), thousands(fall.example));
        let and = match self.args.drift.on_alarm() {
            OnAlarm::Continue => "",
            OnAlarm::Stop => "; the run ends here",
            OnAlarm::Restart => "; what was learned is forgotten",
        };
        let what = in_words(fall);
        self.output.note(format!(
            "warning: {path}: example {at}: the AUC has fallen: {what}{and}"
        ));
        match self.args.drift.on_alarm() {
            OnAlarm::Continue => {}
            OnAlarm::Stop => self.alarmed = true,
            OnAlarm::Restart => self.state.start_over(&self.spec)?,
        }
        Ok(())
    }

    /// Takes the names of the features from the first batch, and the initial model with them.
    fn know_names(&mut self, batch: &LabelledBatch) -> Result<()> {
        let path = self.args.file.display();
        if self.state.head.examples == 0 {
            self.state.head.names = batch.names.to_vec();
            self.state.head.table = batch.table.as_deref().cloned();
            match &batch.table {
                Some(table) => {
                    self.state.announce(&self.spec, table.map.width())?;
                    let (found, map) = (&table.columns, Some(&table.map));
                    column_report::tell_notes(found, map, &self.args.file, self.output);
                }
                None if self.args.features() == FeatureMap::Identity => {
                    self.state.announce(&self.spec, batch.names.len())?;
                }
                None => {}
            }
        } else if batch.table.is_none() && *self.state.head.names != *batch.names {
            bail!("{path}: the columns are not those of the run that is resumed");
        }
        match self.initial.take() {
            Some(initial) => initial.put_into(&mut self.state, self.args, self.output),
            None => Ok(()),
        }
    }

    /// The scores so far, then the checkpoint that knows of them.
    fn save(&mut self) -> Result<()> {
        if let Some(scores) = &mut self.scores {
            self.state.head.scores = scores.sync()?;
        }
        let Some(store) = &self.store else {
            return Ok(());
        };
        store.save(&self.state).context(NotSaved)
    }

    /// Writes the model when the reader of the scores is gone.
    fn write_model_unread(self) -> Result<()> {
        let n = thousands(self.state.head.examples);
        self.output.note(format!(
            "note: the output was closed by its reader; {n} examples were learned"
        ));
        match &self.args.model {
            Some(path) => {
                let state = self.state.finished()?;
                Ok(saved_model(self.args, &state)?.save(path)?)
            }
            None => Ok(()),
        }
    }

    /// Writes the model and reports.
    fn finish(
        mut self,
        stopped: Option<Stopped>,
        started: Instant,
        resumed_at: Option<u64>,
    ) -> Result<()> {
        let mut state = self.state.finished()?;
        if let Some(path) = &self.args.model {
            saved_model(self.args, &state)?.save(path)?;
        }
        self.teller.line(&mut state, &self.clock)?;
        warn(&state, self.output);
        let found = state.head.table.as_ref().filter(|t| !t.columns.is_empty());
        let report = Report {
            skipped: self.met.skipped.n,
            features: found.map(|t| FeaturesReport::new(&t.columns, Some(&t.map))),
            map_rows: found.map(|t| t.map.rows),
            algorithm: self.args.problem.algorithm().name(),
            n: state.head.examples,
            n_pos: state.head.n_pos,
            n_neg: state.head.n_neg,
            unlabelled: state.head.unlabelled,
            d: match &state.head.table {
                Some(table) => table.map.width(),
                None => state.learner.cols(),
            },
            classes: self.args.class_names(state.head.negative.as_deref()),
            beta: self.spec.beta(),
            gamma: self.spec.gamma(),
            softness: self.spec.softness(),
            class_weight: self.spec.class_weight(),
            eta0: state.learner.eta0(),
            own: (self.spec.beta().is_none()).then(|| self.spec.parameters()),
            steps: state.learner.steps(),
            lambda: state.learner.threshold(),
            progressive_auc: state.auc(),
            half_life: self.args.drift.half_life,
            overall_auc: match self.args.drift.half_life {
                Some(_) => state.overall_auc(),
                None => None,
            },
            window: state.head.watch.window(),
            alarms: state.head.watch.falls().map(<[_]>::to_vec),
            seconds: Seconds {
                total: started.elapsed().as_secs_f64(),
            },
            rows_per_second: self.clock.rows_per_second(&state),
            resumed_at,
            stop: match &stopped {
                Some(stopped) => stopped.name(),
                None if self.alarmed => "alarm",
                None => "end",
            },
            model: self.args.model.clone(),
        };
        drop(self.teller);
        if self.args.uses_stdout() {
            self.output.report_aside(&report);
        } else {
            self.output.report(&report)?;
        }
        let n = thousands(state.head.examples);
        let how_to_resume = match self.store {
            Some(_) => format!("saved after {n} examples; the same command with --resume goes on"),
            None => format!("{n} examples were learned; --checkpoint DIR would let it go on"),
        };
        match stopped {
            None if self.alarmed => {
                Err(Alarmed(format!("stopped by an alarm; {how_to_resume}")).into())
            }
            None => Ok(()),
            Some(mut stopped) => {
                stopped.how_to_resume = how_to_resume;
                Err(stopped.into())
            }
        }
    }
}

/// What a user should do something about.
fn warn(state: &State, output: Output) {
    let (n_pos, n_neg) = (state.head.n_pos, state.head.n_neg);
    let missing = match (n_pos, n_neg) {
        (0, 0) => "no example had a label",
        (0, _) => "no positive example came",
        (_, 0) => "no negative example came",
        _ => return,
    };
    output.note(format!(
        "warning: {missing}: there is no AUC, and the model tells nothing apart yet"
    ));
}

/// A checkpoint goes on only as it began.
fn same_settings(state: &State, typed: &BTreeMap<String, Value>) -> Result<()> {
    let shown = |value: Option<&Value>| match value {
        None | Some(Value::Null) => "none".to_string(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    let saved = &state.head.settings;
    // Another algorithm has other options: it is named before them.
    let names = ["algorithm"].into_iter();
    let mut names = names.chain(typed.keys().chain(saved.keys()).map(String::as_str));
    let Some(name) = names.find(|name| typed.get(*name) != saved.get(*name)) else {
        return Ok(());
    };
    let (now, then) = (shown(typed.get(name)), shown(saved.get(name)));
    Err(WrongUsage(format!(
        "--{name} is {now}, and was {then} in the run that is resumed; give the same options, or \
         start over (--fresh)"
    ))
    .into())
}
