//! Heat maps: names down and across, and a coloured cell where two of them meet.

use super::chart::{Chart, END, MIDDLE, Margins, Paint, unit};
use crate::document::text::clip;

/// Height of a row of cells, and of those of a map of many rows.
const HIGH: f64 = 18.0;
const LOW: f64 = 12.0;
/// More rows are low.
const FEW: usize = 12;
/// Room of a name below the map.
const NAME: f64 = 11.0;

/// Where two names meet.
pub(super) struct HeatCell {
    /// What the pointer shows.
    pub(super) text: String,
    /// From 0, no colour, to 1.
    pub(super) strength: f64,
    /// Whose colour.
    pub(super) series: usize,
    /// Written into the cell; may be empty.
    pub(super) mark: String,
}

/// The map; places without a cell stay empty.
pub(super) fn heat_map(
    down: &[String],
    across: &[String],
    cell: impl Fn(usize, usize) -> Option<HeatCell>,
) -> Chart {
    let high = if down.len() > FEW { LOW } else { HIGH };
    let margins = Margins {
        left: 104.0,
        right: 8.0,
        top: 6.0,
        bottom: 74.0,
    };
    let floor = margins.top + high * down.len() as f64;
    let mut chart = Chart::new([360.0, floor + margins.bottom], margins, unit(), unit());
    let wide = (chart.width - margins.left - margins.right) / across.len().max(1) as f64;
    for (a, name) in down.iter().enumerate() {
        let top = margins.top + high * a as f64;
        let base = top + high / 2.0 + 4.0;
        chart.text([margins.left - 5.0, base], END, Paint::Ink, &clip(name, 16));
        for b in 0..across.len() {
            let Some(cell) = cell(a, b) else { continue };
            let left = margins.left + wide * b as f64;
            chart.described(&cell.text, |chart| {
                let look = format!(
                    "fill-opacity=\"{:.2}\" {}",
                    cell.strength,
                    Paint::Series(cell.series).fill()
                );
                chart.rect([left, top, wide - 1.0, high - 1.0], &look);
                if !cell.mark.is_empty() {
                    chart.text([left + wide / 2.0, base], MIDDLE, Paint::Ink, &cell.mark);
                }
            });
        }
    }
    let every = (NAME / wide).ceil().max(1.0) as usize;
    for (b, name) in across.iter().enumerate().step_by(every) {
        let at = margins.left + wide * (b as f64 + 0.5);
        chart.slanted([at, floor + 12.0], &clip(name, 13));
    }
    chart
}
