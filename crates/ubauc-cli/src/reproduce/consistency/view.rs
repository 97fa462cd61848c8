//! Tables and the figure of `ubauc reproduce consistency`.

use ubauc::document::numbers::thousands;
use ubauc::document::{Axis, Block, Cell, Figure, Panel, PanelRow, PanelValue, Scale, Table};

use super::super::render::View;
use super::{Consistency, Excess, GAP_METHODS, Gap, Loss, Mean, Method};

const TITLE: &str = "Excess AUC risk and generalisation on known populations";

/// Those of the figure: every loss once, and the paper's as it is printed.
fn drawn() -> [Method; 6] {
    [
        Method::all()[0],
        Method::balanced(Loss::Hinge),
        Method::balanced(Loss::Soft),
        Method::balanced(Loss::Logistic),
        Method::balanced(Loss::LeastSquares),
        Method::all()[8],
    ]
}

impl Mean {
    fn cell(self) -> Cell {
        Cell::rounded(self.mean, self.shown())
    }

    /// Five decimals, or two digits of the standard error.
    fn shown(self) -> String {
        let digits = match self.standard_error > 0.0 {
            true => (1.0 - self.standard_error.log10().floor()).clamp(5.0, 9.0) as usize,
            false => 5,
        };
        format!("{:.digits$} ± {:.digits$}", self.mean, self.standard_error)
    }
}

impl View for Consistency {
    fn title(&self) -> &str {
        TITLE
    }

    fn tables(&self, narrow: bool) -> Vec<Block> {
        let mut blocks: Vec<Block> = vec![self.facts().into()];
        for fact in &self.populations {
            let words = format!(
                "{}: AUC of the best linear scorer less that of the learned one, mean ± standard error, by the number of rows:",
                fact.name
            );
            blocks.push(Block::Paragraph(words));
            blocks.push(self.excess_of(fact.name).into());
        }
        for method in GAP_METHODS {
            let words = format!(
                "{}: AUC on the {} training rows less that of the population, and the latter, by dimension and γ:",
                method.name(),
                thousands(self.generalisation.first().map_or(0, |gap| gap.rows) as u64),
            );
            blocks.push(Block::Paragraph(words));
            blocks.push(self.gaps_of(method.name(), narrow).into());
        }
        blocks
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn data(&self) -> Table {
        let names = "what,population,method,rows,dim,gamma,runs,mean,standard_error,train_auc,auc,not_converged";
        let mut table = Table::new(names.split(','));
        for row in &self.excess {
            let dim = (self.populations.iter()).find(|fact| fact.name == row.population);
            table.row([
                Cell::from("excess"),
                row.population.into(),
                row.method.into(),
                row.rows.to_string().into(),
                dim.map(|fact| fact.dim.to_string()).into(),
                Cell::exact(1.0 / row.rows as f64),
                row.runs.to_string().into(),
                Cell::exact(row.excess.mean),
                Cell::exact(row.excess.standard_error),
                Cell::default(),
                Cell::default(),
                row.not_converged.to_string().into(),
            ]);
        }
        for row in &self.generalisation {
            table.row([
                Cell::from("generalisation"),
                "normal".into(),
                row.method.into(),
                row.rows.to_string().into(),
                row.dim.to_string().into(),
                Cell::exact(row.gamma),
                row.runs.to_string().into(),
                Cell::exact(row.gap.mean),
                Cell::exact(row.gap.standard_error),
                Cell::exact(row.train_auc.mean),
                Cell::exact(row.auc.mean),
                Cell::default(),
            ]);
        }
        table
    }

    fn figure(&self) -> Option<Figure> {
        let mut sizes: Vec<usize> = self.excess.iter().map(|row| row.rows).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let panels = self.populations.iter().map(|fact| Panel {
            title: fact.name.to_string(),
            rows: sizes
                .iter()
                .map(|&n| self.panel_row(fact.name, n))
                .collect(),
        });
        Some(Figure {
            title: "Excess AUC risk by the number of rows".to_string(),
            alternative: "Excess AUC risk on a logarithmic axis: a panel per population, a row per number of training rows, \
                          a dot with two standard errors to each side per method. The numbers are those of the tables."
                .to_string(),
            file: None,
            rows: sizes.iter().map(|n| format!("N = {}", thousands(*n as u64))).collect(),
            series: drawn().iter().map(|m| m.name().to_string()).collect(),
            axis: Axis {
                label: "AUC of the best linear scorer − AUC".to_string(),
                scale: Scale::Log,
                ..Axis::default()
            },
            panels: panels.collect(),
            notes: self.notes.clone(),
        })
    }
}

impl Consistency {
    fn facts(&self) -> Table {
        let head = "population|features|positives|AUC of the best linear scorer|AUC of the likelihood ratio";
        let mut table = Table::new(head.split('|'));
        for fact in &self.populations {
            table.row([
                Cell::from(fact.name),
                fact.dim.to_string().into(),
                format!("{} %", 100.0 * fact.positive_share).into(),
                Cell::rounded(fact.best_linear_auc, format!("{:.5}", fact.best_linear_auc)),
                fact.likelihood_ratio_auc.cell(),
            ]);
        }
        table
    }

    fn of(&self, population: &str, method: &str, rows: usize) -> Option<&Excess> {
        let is_it = |row: &&Excess| {
            row.population == population && row.method == method && row.rows == rows
        };
        self.excess.iter().find(is_it)
    }

    /// Methods by rows; the lowest of a column is set off.
    fn excess_of(&self, population: &str) -> Table {
        let of_population = self
            .excess
            .iter()
            .filter(|row| row.population == population);
        let mut sizes: Vec<usize> = of_population.map(|row| row.rows).collect();
        sizes.dedup();
        let heads = sizes
            .iter()
            .map(|n| format!("N = {}", thousands(*n as u64)));
        let mut table = Table::new(["method".to_string()].into_iter().chain(heads));
        let lowest = |rows: usize| {
            let all = Method::all().into_iter();
            let all = all.filter_map(|m| self.of(population, m.name(), rows));
            all.map(|row| row.excess.mean).fold(f64::INFINITY, f64::min)
        };
        let lowest: Vec<f64> = sizes.iter().map(|&n| lowest(n)).collect();
        for method in Method::all() {
            let cells = sizes.iter().zip(&lowest).map(|(&n, lowest)| {
                let Some(row) = self.of(population, method.name(), n) else {
                    return Cell::default();
                };
                row.excess.cell().strong_if(row.excess.mean == *lowest)
            });
            let row = table.row([Cell::from(method.name())].into_iter().chain(cells));
            let not_converged: usize = (sizes.iter())
                .filter_map(|&n| self.of(population, method.name(), n))
                .map(|row| row.not_converged)
                .sum();
            if not_converged > 0 {
                row.note = Some(format!("{not_converged} fits did not reach their gap"));
            }
        }
        table
    }

    /// Dimensions by γ, falling; a terminal has no room for standard errors.
    fn gaps_of(&self, method: &str, narrow: bool) -> Table {
        let rows: Vec<&Gap> = (self.generalisation.iter())
            .filter(|gap| gap.method == method)
            .collect();
        let dims: Vec<&[&Gap]> = rows.chunk_by(|a, b| a.dim == b.dim).collect();
        let heads = dims.iter().take(1).copied().flatten();
        let heads = heads.map(|gap| format!("γ = {}", gap.gamma));
        let mut table = Table::new(["d".to_string()].into_iter().chain(heads));
        for of_dim in dims {
            let cells = of_dim.iter().map(|gap| {
                let (mean, auc) = (gap.gap.mean, gap.auc.mean);
                let shown = match narrow {
                    true => format!("{mean:.4} ({auc:.4})"),
                    false => format!("{mean:.4} ± {:.4} ({auc:.4})", gap.gap.standard_error),
                };
                Cell::rounded(gap.gap.mean, shown)
            });
            let dim = Cell::from(of_dim[0].dim.to_string());
            table.row([dim].into_iter().chain(cells));
        }
        table
    }

    fn panel_row(&self, population: &str, rows: usize) -> PanelRow {
        let found = drawn().map(|method| self.of(population, method.name(), rows));
        let described: Vec<String> = (found.iter().flatten())
            .map(|row| format!("{} {}", row.method, row.excess.shown()))
            .collect();
        let value = |row: Option<&Excess>| {
            let Mean {
                mean,
                standard_error,
            } = row?.excess;
            let (low, high) = (mean - 2.0 * standard_error, mean + 2.0 * standard_error);
            Some(PanelValue {
                value: mean,
                interval: (low > 0.0).then_some([low, high]),
                label: String::new(),
            })
        };
        PanelRow {
            description: match described.is_empty() {
                true => String::new(),
                false => format!("{population}, N = {rows}: {}", described.join("; ")),
            },
            mark: String::new(),
            values: found.into_iter().map(value).collect(),
        }
    }
}
