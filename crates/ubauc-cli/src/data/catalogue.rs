//! The twelve data sets of the paper's Table 1, as the LIBSVM data page names them.
//!
//! The sums come from copies in public repositories, not from the page itself, and only where the
//! copy is the page's file unedited; a difference therefore warrants a look, not a refusal.

use std::fmt;

/// Where the LIBSVM data sets are.
pub(crate) const BASE_URL: &str = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/";

/// Which rows a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Train,
    Test,
    /// Everything: the page has no split, the paper took random halves.
    All,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Train => "train",
            Part::Test => "test",
            Part::All => "all",
        })
    }
}

/// One file of a set.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) part: Part,
    /// Below the base address; the page may also have it with `.bz2` added or taken off.
    pub(crate) address: &'static str,
    pub(crate) rows: u64,
    /// Of the uncompressed content, where a copy of the page's file is known.
    #[cfg_attr(not(feature = "download"), allow(dead_code))] // only `fetch` compares
    pub(crate) sha256: Option<&'static str>,
}

/// One data set.
#[derive(Debug)]
pub(crate) struct DataSet {
    pub(crate) name: &'static str,
    pub(crate) dim: u32,
    pub(crate) classes: u32,
    pub(crate) sources: &'static [Source],
    /// Train, test and dimension in the paper's Table 1; none if the paper does not use it.
    pub(crate) paper: Option<[u64; 3]>,
    pub(crate) note: &'static str,
}

impl DataSet {
    /// The set of that name.
    #[cfg_attr(not(feature = "download"), allow(dead_code))] // only `fetch` takes names
    pub(crate) fn named(name: &str) -> Option<&'static DataSet> {
        SETS.iter().find(|set| set.name == name)
    }

    /// The number of rows in a part, if the set has it.
    pub(crate) fn rows(&self, part: Part) -> Option<u64> {
        self.sources
            .iter()
            .find(|source| source.part == part)
            .map(|source| source.rows)
    }
}

const fn source(
    part: Part,
    address: &'static str,
    rows: u64,
    sha256: Option<&'static str>,
) -> Source {
    Source {
        part,
        address,
        rows,
        sha256,
    }
}

/// In the order of Table 1, then what is not in it.
#[rustfmt::skip] // one file per line
pub(crate) static SETS: &[DataSet] = &[
    DataSet {
        name: "diabetes", dim: 8, classes: 2, paper: Some([389, 389, 8]),
        note: "scaled; the paper's 389 + 389 exceed the 768 rows, halves are 384 + 384",
        sources: &[
            source(Part::All, "binary/diabetes_scale", 768, Some("0c07eb4c49e7a8ffb9c9f25095ac3022df2ca85b0dcb7d294c3ddea69f392cba")),
        ],
    },
    DataSet {
        name: "fourclass", dim: 2, classes: 2, paper: Some([431, 431, 2]),
        note: "scaled",
        sources: &[
            source(Part::All, "binary/fourclass_scale", 862, Some("e27b003cd53d3141f8266b7e1db0d43e69f2824cc94c1d885fb27c8f2145a511")),
        ],
    },
    DataSet {
        name: "german", dim: 24, classes: 2, paper: Some([500, 500, 24]),
        note: "scaled",
        sources: &[
            source(Part::All, "binary/german.numer_scale", 1000, Some("97637cc6b994bd3fa78999c771bc044bea7a0cdf91d43b6ecfd10f7e7c4ebc82")),
        ],
    },
    DataSet {
        name: "splice", dim: 60, classes: 2, paper: Some([1000, 2175, 60]),
        note: "",
        sources: &[
            source(Part::Train, "binary/splice", 1000, None),
            source(Part::Test, "binary/splice.t", 2175, None),
        ],
    },
    DataSet {
        name: "usps", dim: 256, classes: 10, paper: Some([7291, 2007, 256]),
        note: "",
        sources: &[
            source(Part::Train, "multiclass/usps.bz2", 7291, None),
            source(Part::Test, "multiclass/usps.t.bz2", 2007, Some("3839faa29aa5f6bfa0516cdd599fae8ad59b7a3777d09f7ca971d9f1cd8b6c6b")),
        ],
    },
    DataSet {
        name: "a9a", dim: 123, classes: 2, paper: Some([32561, 16281, 123]),
        note: "test uses 122 features only",
        sources: &[
            source(Part::Train, "binary/a9a", 32561, Some("f5d5ffd8d865ff41328e7ee043e4b020816914ff6843ff15b98905ddbedce906")),
            source(Part::Test, "binary/a9a.t", 16281, Some("1f448a153f0320399a7e40836eb207655b0bde0f21fc941cc472193daa9f5de9")),
        ],
    },
    DataSet {
        name: "w8a", dim: 300, classes: 2, paper: Some([49749, 14951, 300]),
        note: "",
        sources: &[
            source(Part::Train, "binary/w8a", 49749, Some("6a9fa8fd5f524303240a5db07d4b3d4a51e8b7b4b20a914105d8e3e8c81640f2")),
            source(Part::Test, "binary/w8a.t", 14951, None),
        ],
    },
    DataSet {
        name: "mnist", dim: 780, classes: 10, paper: Some([60000, 10000, 780]),
        note: "grey levels 0 to 255; divide by 255 for the scaled version",
        sources: &[
            source(Part::Train, "multiclass/mnist.bz2", 60000, None),
            source(Part::Test, "multiclass/mnist.t.bz2", 10000, None),
        ],
    },
    DataSet {
        name: "acoustic", dim: 50, classes: 3, paper: Some([78823, 19705, 50]),
        note: "scaled",
        sources: &[
            source(Part::Train, "multiclass/vehicle/acoustic_scale.bz2", 78823, None),
            source(Part::Test, "multiclass/vehicle/acoustic_scale.t.bz2", 19705, None),
        ],
    },
    DataSet {
        name: "ijcnn1", dim: 22, classes: 2, paper: Some([49990, 91701, 22]),
        note: "",
        sources: &[
            source(Part::Train, "binary/ijcnn1.bz2", 49990, Some("7fe291672c3fefe6a7e3c51529becd23f0e985ba05ffb8d53c9c648c1e91cc19")),
            source(Part::Test, "binary/ijcnn1.t.bz2", 91701, Some("e7b0bbd518641980dc322746c6bc59d019d3153934e6258e48f9d8cfae2c4bb8")),
        ],
    },
    DataSet {
        name: "sector", dim: 55197, classes: 105, paper: Some([6412, 3207, 55197]),
        note: "scaled",
        sources: &[
            source(Part::Train, "multiclass/sector.scale.bz2", 6412, Some("92d5752b798bb88466b7142b07fc370eea99b19366b84e82e430fb74ada4293f")),
            source(Part::Test, "multiclass/sector.t.scale.bz2", 3207, Some("be2e76ff48816c832823ab593e70970c599acb16ae311578b7308c6a8496db1b")),
        ],
    },
    DataSet {
        name: "news20", dim: 62061, classes: 20, paper: Some([15935, 3993, 62061]),
        note: "word counts",
        sources: &[
            source(Part::Train, "multiclass/news20.bz2", 15935, Some("1d6eb77c42e1c78e86f36af834268de933da3607f38e3703aef15f7a9f11e506")),
            source(Part::Test, "multiclass/news20.t.bz2", 3993, None),
        ],
    },
    DataSet {
        name: "w7a", dim: 300, classes: 2, paper: None,
        note: "not in the paper; the rows of w8a's train file, split in two: a stand-in without w8a's test file",
        sources: &[
            source(Part::Train, "binary/w7a", 24692, Some("bd02f445a1a2f4aaefd27d7dcc31f1f6a8521f904157f2ee7c96d1294cd26e36")),
            source(Part::Test, "binary/w7a.t", 25057, Some("a52edcfe9871e3b0db5d864959bf32230491ddfeca3334cfec93c1d932ea32b9")),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_the_papers_twelve_sets_and_a_stand_in() {
        assert_eq!(SETS.iter().filter(|set| set.paper.is_some()).count(), 12);
        for set in SETS {
            assert!(
                std::ptr::eq(DataSet::named(set.name).unwrap(), set),
                "{} twice",
                set.name
            );
            let parts: Vec<Part> = set.sources.iter().map(|source| source.part).collect();
            assert!(
                parts == [Part::All] || parts == [Part::Train, Part::Test],
                "{}",
                set.name
            );
            for sum in set.sources.iter().filter_map(|source| source.sha256) {
                assert!(
                    sum.len() == 64 && sum.bytes().all(|b| b.is_ascii_hexdigit()),
                    "{sum}"
                );
            }
        }
    }

    #[test]
    fn sizes_are_the_papers_but_for_diabetes() {
        for set in SETS {
            let Some([train, test, dim]) = set.paper else {
                continue;
            };
            assert_eq!(u64::from(set.dim), dim, "{}", set.name);
            match set.rows(Part::All) {
                Some(768) => assert_eq!((set.name, train + test), ("diabetes", 778)),
                Some(all) => assert_eq!(all, train + test, "{}", set.name),
                None => {
                    assert_eq!(set.rows(Part::Train), Some(train), "{}", set.name);
                    assert_eq!(set.rows(Part::Test), Some(test), "{}", set.name);
                }
            }
        }
    }
}
