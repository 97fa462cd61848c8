//! A whole CSV file into a table: parse blocks by guess, decide, parse again what differs, join.

use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};

use rayon::prelude::*;

use super::super::blocks::{Block, Blocks};
use super::super::{MAX_LABEL, Wrong, shown, too_many_classes, whole};
use super::blocks::RecordBlocks;
use super::header;
use super::join::{self, Decided, Seen};
use super::levels::Levels;
use super::missing::Missing;
use super::number::Decimal;
use super::piece::{OnText, Piece, State, Want};
use super::record::{Layout, OnError, Parsed, blank_out, parse_block};
use super::report::{ColumnReport, odd_among_numbers};
use super::roles::Roles;
use super::{Skipped, SkippedLines, TableExamples, TableOptions};
use crate::data::labels::{self, Dictionary, Labels, MAX_CLASSES};
use crate::data::table::{Column, Table, Values};
use crate::{Error, Result};

/// Reads a stream of CSV text.
pub(super) fn read_csv(
    blocks: Blocks<impl Read + Send>,
    path: &Path,
    options: &TableOptions<'_>,
) -> Result<TableExamples> {
    let (header, records, first) = header::open(blocks, path, options)?;
    let roles = Roles::find(&header.names, header.delimiter, path, options)?;
    let missing = Missing::new(options.missing.as_deref());
    let source = Source {
        layout: Layout {
            delimiter: header.delimiter,
            missing: &missing,
            names: &header.names,
            max_line: options.max_line,
            classes: None,
        },
        path,
        on_error: options.on_error,
    };
    let (mut texts, mut parsed) = source.parse_all(first, records, &roles)?;
    let decided = source.decide(&parsed, &roles, &texts)?;
    source.parse_again(&mut texts, &mut parsed, (&decided, &roles))?;
    let rows: usize = parsed.iter().map(|parsed| parsed.rows).sum();
    let mut skipped = SkippedLines::default();
    for parsed in &mut parsed {
        let first = parsed.skipped.drain(..).map(Skipped::from);
        skipped.add(parsed.n_skipped, first);
    }
    if rows == 0 {
        let what = match skipped.first.first() {
            Some(first) => format!(
                "no rows after the header: all {} lines are wrong, the first, line {}: {}",
                skipped.n, first.line, first.what
            ),
            None => "no rows after the header".to_string(),
        };
        return Err(whole(path, what));
    }
    let mut columns = transpose(parsed);
    let labels = match roles.label {
        Some(at) => Some(source.labels(std::mem::take(&mut columns[at]), rows)?),
        None => None,
    };
    let (texts_of, numbers): (Vec<_>, Vec<_>) = std::iter::zip(columns, decided)
        .enumerate()
        .partition(|(_, (_, decided))| *decided == Some(Decided::Category));
    // Notes on texts may have to find a place in the file; numbers need its memory.
    let mut finished: Vec<Finished> = texts_of
        .into_par_iter()
        .filter_map(|(j, (pieces, decided))| Some(source.finish(j, pieces, decided?, &texts)))
        .collect();
    drop(texts);
    let rest: Vec<Finished> = numbers
        .into_par_iter()
        .filter_map(|(j, (pieces, decided))| Some(source.finish(j, pieces, decided?, &[])))
        .collect();
    finished.extend(rest);
    finished.sort_unstable_by_key(|finished| finished.place);
    let reports = finished
        .iter()
        .map(|finished| finished.report.clone())
        .collect();
    let columns = finished
        .into_iter()
        .map(|finished| finished.column)
        .collect();
    Ok(TableExamples {
        table: Table::new(columns, rows)?,
        labels,
        columns: reports,
        notices: header.notices,
        skipped,
    })
}

/// A column of the table.
struct Finished {
    /// In the file.
    place: usize,
    column: Column,
    report: ColumnReport,
}

/// The pieces of all blocks, column by column.
fn transpose(parsed: Vec<Parsed>) -> Vec<Vec<Piece>> {
    let width = parsed.first().map_or(0, |parsed| parsed.pieces.len());
    let mut columns: Vec<Vec<Piece>> = Vec::new();
    columns.resize_with(width, || Vec::with_capacity(parsed.len()));
    for parsed in parsed {
        for (column, piece) in columns.iter_mut().zip(parsed.pieces) {
            column.push(piece);
        }
    }
    columns
}

/// What every step needs to know.
struct Source<'a> {
    layout: Layout<'a>,
    path: &'a Path,
    on_error: OnError,
}

impl Source<'_> {
    /// All blocks, each parsed by a guess. The first error of the file is the one reported.
    fn parse_all(
        &self,
        first: Block,
        mut records: RecordBlocks<impl Read + Send>,
        roles: &Roles,
    ) -> Result<(Vec<Block>, Vec<Parsed>)> {
        let wants = &roles.wants;
        let strict = self.strict(roles);
        // A column known to hold text is not taken for anything else by later blocks.
        let is_text: Vec<AtomicBool> = wants.iter().map(|_| AtomicBool::new(false)).collect();
        let failed = AtomicBool::new(false);
        let work = |number: usize, mut block: Block, done: &Sender<(usize, Block, Parsed)>| {
            let wants: Vec<Want> = std::iter::zip(wants, &is_text)
                .map(|(&want, is_text)| match want {
                    Want::Guess(_) if is_text.load(Ordering::Relaxed) => Want::Category,
                    want => want,
                })
                .collect();
            let before = strict.as_ref().map(|strict| {
                let before = parse_block(&block, strict, &self.layout, OnError::Skip);
                blank_out(&mut block, &before.left_out);
                before
            });
            let mut parsed = parse_block(&block, &wants, &self.layout, self.on_error);
            if parsed.n_skipped > 0 {
                self.without_skipped(&mut block, &mut parsed, &wants);
            }
            if let Some(mut before) = before {
                parsed.n_skipped += before.n_skipped;
                parsed.skipped.append(&mut before.skipped);
            }
            for (piece, is_text) in parsed.pieces.iter().zip(&is_text) {
                if matches!(piece.state, State::Text { .. } | State::Mixed) {
                    is_text.store(true, Ordering::Relaxed);
                }
            }
            failed.fetch_or(parsed.stopped.is_some(), Ordering::Relaxed);
            // The receiver lives until all is done.
            let _ = done.send((number, block, parsed));
        };
        let (done, results) = channel();
        work(0, first, &done);
        let read: Result<()> = rayon::scope(|scope| {
            let mut number = 0;
            while !failed.load(Ordering::Relaxed) {
                let Some(block) = records.next_block()? else {
                    break;
                };
                number += 1;
                let (work, done) = (&work, done.clone());
                scope.spawn(move |_| work(number, block, &done));
            }
            Ok(())
        });
        drop(done);
        let mut results: Vec<(usize, Block, Parsed)> = results.into_iter().collect();
        results.sort_unstable_by_key(|(number, ..)| *number);
        let (mut texts, mut all) = (Vec::new(), Vec::new());
        for (_, block, mut parsed) in results {
            if let Some(wrong) = parsed.stopped.take() {
                return Err(wrong.at(self.path));
            }
            texts.push(block);
            all.push(parsed);
        }
        read?;
        Ok((texts, all))
    }

    /// Where lines are left out, those with a text in a column that must be numbers go before anything is found out from
    /// them.
    fn strict(&self, roles: &Roles) -> Option<Vec<Want>> {
        let number = Want::Number(roles.decimal, OnText::Refuse);
        let want = |is_numeric: &bool| if *is_numeric { number } else { Want::Skip };
        let is_needed = self.on_error == OnError::Skip && roles.numeric.contains(&true);
        is_needed.then(|| roles.numeric.iter().map(want).collect())
    }

    /// What every column is; `None` for one that is left out, or the label.
    fn decide(
        &self,
        parsed: &[Parsed],
        roles: &Roles,
        texts: &[Block],
    ) -> Result<Vec<Option<Decided>>> {
        let seen: Vec<Seen> = (0..roles.wants.len())
            .map(|j| {
                let of_blocks = parsed.iter().map(|parsed| Seen::of(&parsed.pieces[j]));
                of_blocks.fold(Seen::Nothing, Seen::and)
            })
            .collect();
        let usual = join::usual_sign(&seen);
        let mut decided = Vec::with_capacity(seen.len());
        for (j, (&seen, &want)) in seen.iter().zip(&roles.wants).enumerate() {
            decided.push(match want {
                Want::Skip | Want::Label => None,
                Want::Category => Some(Decided::Category),
                _ => Some(match Decided::of(seen, usual) {
                    number @ Decided::Number { .. } => number,
                    _ if roles.numeric[j] => Decided::Number {
                        decimal: usual.unwrap_or(roles.decimal),
                        unsure: false,
                        infinite: true,
                    },
                    Decided::UnsettledTime => return Err(self.unsettled(j, texts)),
                    other => other,
                }),
            });
        }
        Ok(decided)
    }

    /// The error of a column of dates that can be read in two ways, at its first value.
    fn unsettled(&self, column: usize, texts: &[Block]) -> Error {
        let name = &self.layout.names[column];
        let found = self.first_refused(column, Want::Time(None, OnText::Refuse), texts);
        let what = format!(
            "the dates of column '{name}' can be read with the day or the month first, and no row \
             settles it; write them as 2013-02-01, or say --categorical {name} or --ignore {name}"
        );
        match found {
            Some(wrong) => Wrong { what, ..wrong }.at(self.path),
            None => whole(self.path, what),
        }
    }

    /// The first value of a column that is not as wanted.
    fn first_refused(&self, column: usize, want: Want, texts: &[Block]) -> Option<Wrong> {
        let mut wants = vec![Want::Skip; self.layout.names.len()];
        wants[column] = want;
        texts
            .iter()
            .find_map(|block| parse_block(block, &wants, &self.layout, OnError::Stop).stopped)
    }

    /// Parses a block without the lines that were left out: what a wrong line has in a column must not say what the column
    /// holds.
    fn without_skipped(&self, block: &mut Block, parsed: &mut Parsed, wants: &[Want]) {
        loop {
            blank_out(block, &parsed.left_out);
            let mut again = parse_block(block, wants, &self.layout, OnError::Skip);
            let n_skipped = again.n_skipped;
            again.n_skipped += parsed.n_skipped;
            again.skipped.append(&mut parsed.skipped);
            *parsed = again;
            if n_skipped == 0 {
                break;
            }
        }
    }

    /// Parses blocks once more for the columns that turned out to be something else.
    fn parse_again(
        &self,
        texts: &mut [Block],
        parsed: &mut [Parsed],
        (decided, roles): (&[Option<Decided>], &Roles),
    ) -> Result<()> {
        let redone: Vec<Option<Wrong>> = texts
            .par_iter_mut()
            .zip(parsed)
            .map(|(block, parsed)| {
                let wants: Vec<Want> = std::iter::zip(decided, &parsed.pieces)
                    .map(|(decided, piece)| match decided {
                        Some(decided) if decided.differs(piece) => decided.want(),
                        _ => Want::Skip,
                    })
                    .collect();
                if wants.iter().all(|want| *want == Want::Skip) {
                    return None;
                }
                let mut again = parse_block(block, &wants, &self.layout, self.on_error);
                if again.n_skipped > 0 {
                    let all = std::iter::zip(decided, &roles.wants);
                    let all: Vec<Want> = all
                        .map(|(decided, &want)| decided.map_or(want, Decided::want))
                        .collect();
                    again.n_skipped += parsed.n_skipped;
                    again.skipped.append(&mut parsed.skipped);
                    self.without_skipped(block, &mut again, &all);
                    *parsed = again;
                    return None;
                }
                let pieces = std::iter::zip(&mut parsed.pieces, again.pieces);
                for ((piece, again), want) in pieces.zip(wants) {
                    if want != Want::Skip {
                        *piece = again;
                    }
                }
                again.stopped
            })
            .collect();
        match redone.into_iter().flatten().next() {
            Some(wrong) => Err(wrong.at(self.path)),
            None => Ok(()),
        }
    }

    fn finish(
        &self,
        place: usize,
        pieces: Vec<Piece>,
        decided: Decided,
        texts: &[Block],
    ) -> Finished {
        let name = self.layout.names[place].clone();
        let (values, levels) = join::values(pieces, decided);
        let column = Column { name, values };
        let mut report = ColumnReport::of(&column);
        match decided {
            Decided::Number {
                decimal, unsure, ..
            } => {
                report.decimal_comma = decimal == Decimal::Comma;
                if unsure {
                    report.note(unsure_sign(report.decimal_comma));
                }
            }
            Decided::Time(order) => report.date_order = Some(order),
            Decided::Category => {
                if let Values::Category { codes, .. } = &column.values {
                    let odd = odd_among_numbers(codes, &levels);
                    report
                        .notes
                        .extend(odd.map(|odd| self.odd_note(odd, &levels, place, texts)));
                }
            }
            Decided::UnsettledTime => {}
        }
        Finished {
            place,
            column,
            report,
        }
    }

    /// Of a column that would be numbers but for a few values.
    fn odd_note(
        &self,
        (level, rows): (u32, usize),
        levels: &Levels,
        column: usize,
        texts: &[Block],
    ) -> String {
        let want = Want::Number(Decimal::Open, OnText::Refuse);
        let place = match self.first_refused(column, want, texts) {
            Some(wrong) => format!(" in line {}", wrong.line),
            None => String::new(),
        };
        let text = shown(levels.text(level as usize));
        let values = if rows == 1 { "value is" } else { "values are" };
        format!(
            "a category, for {rows} {values} no number, first {text}{place}; name it with --missing \
             if it stands for none"
        )
    }

    fn labels(&self, pieces: Vec<Piece>, rows: usize) -> Result<Labels> {
        let (codes, levels) = join::categories(pieces, rows);
        labels_of(codes, &levels, self.path)
    }
}

fn unsure_sign(comma: bool) -> String {
    let (sign, other) = if comma {
        ("comma", "point")
    } else {
        ("point", "comma")
    };
    format!(
        "read with a decimal {sign}, but a decimal {other} would explain it as well; say \
         --decimal-comma yes or no"
    )
}

/// Labels of texts that are all there.
pub(super) fn labels_of(codes: Vec<u32>, levels: &Levels, path: &Path) -> Result<Labels> {
    if levels.len() > MAX_CLASSES {
        return Err(whole(path, too_many_classes()));
    }
    let mut dictionary = Dictionary::default();
    for text in levels.iter() {
        if text.len() > MAX_LABEL {
            let (text, length) = (shown(text), text.len());
            let what =
                format!("label {text} is {length} bytes long; at most {MAX_LABEL} are expected");
            return Err(whole(path, what));
        }
        dictionary.insert(text);
    }
    let rows = codes.len();
    labels::join(codes, &[(dictionary, rows)]).map_err(|_| whole(path, too_many_classes()))
}
