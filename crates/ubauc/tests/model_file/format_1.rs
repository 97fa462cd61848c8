//! Files of version 1, written by the programs of that time, with the scores that these gave.

use std::path::{Path, PathBuf};

use ubauc::algorithm::Stop;
use ubauc::data::dataset::Examples;
use ubauc::features::FeatureMap;
use ubauc::model_file::SavedModel;
use ubauc::read::{ReadOptions, read};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/format-1")
        .join(name)
}

fn load(name: &str) -> SavedModel {
    SavedModel::load(&path(name)).unwrap()
}

fn examples(name: &str) -> Examples {
    read(&path(name), &ReadOptions::default()).unwrap()
}

#[test]
fn they_score_as_before() {
    let models = [
        ("plain", "examples.svm"),
        ("named", "examples.csv"),
        ("logistic", "examples.svm"),
        ("partition", "examples.svm"),
        ("solam", "examples.svm"),
        ("learned", "examples.svm"),
        ("hashed", "examples.svm"),
        ("hashed-columns", "examples.csv"),
        ("calibrated", "examples.svm"),
        ("online", "examples.svm"),
    ];
    for (name, data) in models {
        let model = load(&format!("{name}.json")).model;
        let data = examples(data);
        let scores = model.scores_by_name(&data.rows, &data.names).unwrap();
        let expected = std::fs::read_to_string(path(&format!("{name}.csv"))).unwrap();
        let lines: Vec<&str> = expected.lines().skip(1).collect();
        assert_eq!(lines.len(), scores.len());
        for (line, score) in lines.into_iter().zip(scores) {
            assert_eq!(line, format!("{score},{}", model.predict(score)), "{name}");
        }
    }
}

#[test]
fn they_are_written_as_version_2_and_say_the_same() {
    for file in std::fs::read_dir(path("")).unwrap() {
        let file = file.unwrap().path();
        if file.extension().is_none_or(|end| end != "json") {
            continue;
        }
        assert!(
            std::fs::read_to_string(&file)
                .unwrap()
                .contains(r#""version": 1,"#)
        );
        let saved = SavedModel::load(&file).unwrap();
        let text = saved.to_json().unwrap();
        assert!(text.contains(r#""version": 2,"#));
        assert_eq!(SavedModel::from_json(&text).unwrap(), saved);
    }
}

#[test]
fn what_was_among_the_parameters_has_a_field_now() {
    let hashed = load("hashed-columns.json");
    assert_eq!(hashed.model.features, FeatureMap::Hash { bits: 2 });
    assert_eq!(hashed.model.names, ["age", "income", "visits"]);
    assert!(!hashed.parameters.contains_key("hash_bits"));
    assert!(!hashed.parameters.contains_key("hashed_columns"));
    assert_eq!(hashed.parameters["beta"], 0.5);
    let unnamed = load("hashed.json").model;
    assert_eq!(unnamed.features, FeatureMap::Hash { bits: 3 });
    assert!(unnamed.names.is_empty());

    let partition = load("partition.json");
    let sides = partition.model.partition.unwrap();
    assert_eq!((sides.negative.len(), sides.positive.len()), (2, 2));
    assert!(!partition.parameters.contains_key("positive_classes"));
    assert_eq!(partition.parameters["partition"], 4);
}

#[test]
fn certificates_keep_their_numbers() {
    let batch = load("plain.json").certificate;
    let [low, high] = batch.lambda.unwrap();
    assert!(low < high && batch.gap.unwrap() <= 1e-6 && batch.dual.is_some());
    assert_eq!(batch.stop, Some(Stop::Converged));
    assert_eq!((batch.n, batch.n_pos, batch.n_neg), (40, 14, 26));
    let stream = load("learned.json");
    let threshold = stream.model.threshold;
    // A stream wrote its threshold as a number.
    assert_eq!(stream.certificate.lambda, Some([threshold, threshold]));
    assert_eq!(stream.certificate.steps, Some(40));
    assert!(stream.certificate.progressive_auc.is_some());
    assert!(load("logistic.json").certificate.dual.is_none());
}

#[test]
fn a_damaged_one_is_refused() {
    let text = std::fs::read_to_string(path("hashed.json")).unwrap();
    SavedModel::from_json(&text).unwrap();
    let edited = text.replace(r#""hash_bits":3"#, r#""hash_bits":2"#);
    assert_ne!(edited, text);
    let what = SavedModel::from_json(&edited).unwrap_err().to_string();
    assert!(what.contains("checksum"), "{what}");
}
