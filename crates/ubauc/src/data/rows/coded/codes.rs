//! The cells of rows, as they are stored.

use super::NO_CELL;

/// A code as it is stored: a feature, or [`Code::NONE`] where an effect has no cell.
pub(crate) trait Code: Copy + PartialEq + Send + Sync {
    /// Stands for [`NO_CELL`], and is above all features that can be stored.
    const NONE: Self;
    fn of(code: u32) -> Self;
    fn index(self) -> usize;
}

impl Code for u16 {
    const NONE: u16 = u16::MAX;

    #[inline(always)]
    fn of(code: u32) -> u16 {
        u16::try_from(code).unwrap_or(u16::MAX)
    }

    #[inline(always)]
    fn index(self) -> usize {
        usize::from(self)
    }
}

impl Code for u32 {
    const NONE: u32 = NO_CELL;

    #[inline(always)]
    fn of(code: u32) -> u32 {
        code
    }

    #[inline(always)]
    fn index(self) -> usize {
        self as usize
    }
}

/// The codes of all rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CodeVec {
    /// Of at most 65,535 features.
    Short(Vec<u16>),
    Long(Vec<u32>),
}

impl CodeVec {
    /// As many gaps, wide enough for `cols` features.
    pub(crate) fn gaps(count: usize, cols: usize) -> CodeVec {
        match cols <= u16::NONE.index() {
            true => CodeVec::Short(vec![u16::NONE; count]),
            false => CodeVec::Long(vec![u32::NONE; count]),
        }
    }

    /// These, wide enough for `cols` features.
    pub(crate) fn of(codes: impl Iterator<Item = u32>, cols: usize) -> CodeVec {
        match cols <= u16::NONE.index() {
            true => CodeVec::Short(codes.map(u16::of).collect()),
            false => CodeVec::Long(codes.collect()),
        }
    }

    /// As wide as `cols` features need.
    pub(super) fn fitted(self, cols: usize) -> CodeVec {
        match self {
            CodeVec::Long(codes) if cols <= u16::NONE.index() => {
                CodeVec::Short(codes.into_iter().map(u16::of).collect())
            }
            fitting @ (CodeVec::Short(_) | CodeVec::Long(_)) => fitting,
        }
    }

    pub(crate) fn all(&self) -> Codes<'_> {
        match self {
            CodeVec::Short(codes) => Codes::Short(codes),
            CodeVec::Long(codes) => Codes::Long(codes),
        }
    }
}

/// Some codes.
#[derive(Debug, Clone, Copy)]
pub enum Codes<'a> {
    /// Of two bytes each; 65,535 stands for [`NO_CELL`].
    Short(&'a [u16]),
    /// Of four bytes each.
    Long(&'a [u32]),
}

impl<'a> Codes<'a> {
    /// How many there are.
    pub fn len(self) -> usize {
        match self {
            Codes::Short(codes) => codes.len(),
            Codes::Long(codes) => codes.len(),
        }
    }

    /// No codes.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Code k: a feature, or [`NO_CELL`].
    #[inline]
    pub fn at(self, k: usize) -> u32 {
        match self {
            Codes::Short(codes) if codes[k] == u16::NONE => NO_CELL,
            Codes::Short(codes) => u32::from(codes[k]),
            Codes::Long(codes) => codes[k],
        }
    }

    /// All of them.
    pub fn to_vec(self) -> Vec<u32> {
        (0..self.len()).map(|k| self.at(k)).collect()
    }

    /// Those that are cells, as columns.
    #[inline]
    pub(crate) fn cells(self) -> impl Iterator<Item = usize> + 'a {
        let (short, long): (&[u16], &[u32]) = match self {
            Codes::Short(codes) => (codes, &[]),
            Codes::Long(codes) => (&[], codes),
        };
        cells(short).chain(cells(long))
    }
}
/// The codes that are cells, as columns.
#[inline]
pub(crate) fn cells<C: Code>(codes: &[C]) -> impl Iterator<Item = usize> + '_ {
    let cells = codes.iter().filter(|code| **code != C::NONE);
    cells.map(|code| code.index())
}
