//! Sizes of the data sets.

use ubauc::document::numbers::thousands;
use ubauc::document::{Block, Cell, Figure, Table};

use super::{SizeTableView, View};

impl View for SizeTableView {
    fn title(&self) -> &str {
        &self.title
    }

    fn tables(&self, _narrow: bool) -> Vec<Block> {
        let head = "data set|train|test|dim|paper: train|test|dim";
        let mut table = Table::new(head.split('|'));
        for size in &self.sizes {
            let paper = size.paper.map_or([None; 3], |paper| paper.map(Some));
            let mark = |(ours, paper): (Option<u64>, Option<u64>)| match (ours, paper) {
                (Some(ours), Some(paper)) if ours != paper => {
                    Some(format!("{} !", thousands(ours)))
                }
                (ours, _) => ours.map(thousands),
            };
            let ours = size.ours().into_iter().zip(paper).map(mark);
            let paper = paper.into_iter().map(|n| n.map(thousands));
            let cells = [Some(size.dataset.clone())]
                .into_iter()
                .chain(ours)
                .chain(paper);
            table.row(cells).note.clone_from(&size.note);
        }
        let legend = "Rows to learn from, rows to test on, features; ! differs from the paper.";
        vec![table.into(), Block::Paragraph(legend.to_string())]
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn data(&self) -> Table {
        let names = "dataset,train,test,dim,paper_train,paper_test,paper_dim,differs,note";
        let mut table = Table::new(names.split(','));
        for size in &self.sizes {
            let whole = |n: Option<u64>| Cell::from(n.map(|n| n.to_string()));
            let paper = size.paper.map_or([None; 3], |paper| paper.map(Some));
            let mut cells = vec![Cell::from(size.dataset.as_str())];
            cells.extend(size.ours().into_iter().chain(paper).map(whole));
            cells.push(size.differs().to_string().into());
            cells.push(size.note.clone().into());
            table.row(cells);
        }
        table
    }

    fn figure(&self) -> Option<Figure> {
        None
    }
}
