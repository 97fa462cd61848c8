use std::fs;

use proptest::prelude::*;
use serde_json::json;

use super::weights::FREE_DIMENSION;
use super::*;
use crate::calibrate::Calibration;
use crate::features::FeatureMap;
use crate::many_classes::{ClassModel, WholeCertificate};
use crate::model::Partition;

fn saved(weights: Vec<f64>) -> SavedModel {
    let parameters = r#"{"beta":0.5,"gamma":1e-4,"seed":18446744073709551615,"scale":"none"}"#;
    SavedModel {
        model: Model {
            weights,
            intercept: -0.0,
            threshold: -0.2182,
            classes: ["-1".to_string(), "größer \"1\"".to_string()],
            ..Model::default()
        },
        algorithm: "ba-ubauc".to_string(),
        parameters: serde_json::from_str(parameters).unwrap(),
        certificate: Certificate {
            objective: Some(0.1),
            gap: Some(1e-9),
            lambda: Some([-0.25, -0.1]),
            n: 3,
            n_pos: 1,
            n_neg: 2,
            ..Certificate::default()
        },
        effects: None,
    }
}

/// Everything that a file can hold.
fn full() -> SavedModel {
    let mut saved = saved(vec![1.0, -0.0, 5e-324, 0.1 + 0.2]);
    saved.model.features = FeatureMap::Hash { bits: 2 };
    saved.model.names = ["a", "b", "a b"].map(str::to_string).to_vec();
    saved.model.partition = Some(Partition {
        negative: vec!["1".to_string()],
        positive: vec!["2".to_string(), "3".to_string()],
    });
    saved.model.calibration =
        Some(Calibration::new(0.1, -0.0, vec![-0.3, 0.7], vec![0.1, 0.9]).unwrap());
    saved
}

/// Equal to the last bit, −0.0 included.
fn same(a: &SavedModel, b: &SavedModel) -> bool {
    let bits = |m: &Model| {
        let mut all = vec![m.intercept, m.threshold];
        all.extend(&m.weights);
        if let Some(c) = &m.calibration {
            all.extend([c.slope, c.offset]);
            all.extend(c.knots.iter().chain(&c.levels));
        }
        all.into_iter().map(f64::to_bits).collect::<Vec<u64>>()
    };
    a == b && bits(&a.model) == bits(&b.model)
}

fn refusal(text: &str) -> String {
    match SavedModel::from_json(text) {
        Err(Error::ModelFile { what, .. }) => what,
        other => panic!("not refused: {other:?}"),
    }
}

/// The text of a file with some fields replaced and a checksum that is right again.
fn forged(changes: &str) -> String {
    let text = saved(vec![1.0]).to_json().unwrap();
    let mut file: Value = serde_json::from_str(&text).unwrap();
    let changes: Value = serde_json::from_str(changes).unwrap();
    let fields = file.as_object_mut().unwrap();
    fields.extend(changes.as_object().unwrap().clone());
    let sum = checksum(&file);
    file["checksum"] = json!(sum);
    file.to_string()
}

fn any_finite() -> impl Strategy<Value = f64> {
    let bits = any::<u64>().prop_map(f64::from_bits);
    let edges = [
        0.0,
        -0.0,
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        5e-324,
        -5e-324,
        0.1,
    ];
    prop_oneof![bits, prop::sample::select(edges.to_vec())].prop_filter("finite", |x| x.is_finite())
}

proptest! {
    #[test]
    fn saved_is_loaded_to_the_last_bit(
        weights in prop::collection::vec(prop_oneof![any_finite(), Just(0.0)], 0..60),
        zeros in 0usize..200,
        intercept in any_finite(),
        threshold in any_finite(),
        named in any::<bool>(),
    ) {
        let mut model = saved(weights);
        model.model.weights.extend(vec![0.0; zeros]);
        model.model.intercept = intercept;
        model.model.threshold = threshold;
        if named {
            model.model.names = (0..model.model.weights.len()).map(|j| format!("x{j}\n")).collect();
        }
        let loaded = SavedModel::from_json(&model.to_json().unwrap()).unwrap();
        prop_assert!(same(&model, &loaded));
    }

    #[test]
    fn arbitrary_text_never_panics(text in "\\{.{0,80}", bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let _ = SavedModel::from_json(&text);
        let _ = SavedModel::parse(&bytes, Path::new("x"));
    }
}

#[test]
fn a_changed_byte_is_refused_or_changes_nothing() {
    let mut sparse = vec![0.0; 40];
    sparse[7] = 0.1;
    for model in [full(), saved(sparse)] {
        let text = model.to_json().unwrap().into_bytes();
        let mut harmless = 0;
        for at in 0..text.len() {
            for byte in 0..=255 {
                let mut changed = text.clone();
                changed[at] = byte;
                if let Ok(loaded) = SavedModel::parse(&changed, Path::new("x")) {
                    assert!(same(&model, &loaded), "byte {at} as {byte}");
                    harmless += usize::from(byte != text[at]);
                }
            }
        }
        // Blanks may be other blanks, and E is e.
        assert!(harmless < 3 * text.len());
    }
}

#[test]
fn a_file_cut_short_is_refused() {
    let text = saved(vec![1.0, 2.0]).to_json().unwrap();
    let whole = text.trim_end().len();
    for end in 0..whole {
        // Not every cut is between characters.
        assert!(
            SavedModel::parse(&text.as_bytes()[..end], Path::new("x")).is_err(),
            "{end}"
        );
    }
    assert!(SavedModel::from_json(&text[..whole]).is_ok());
}

#[test]
fn the_layout_is_free_and_the_content_is_not() {
    let model = saved(vec![1.0, 1e23, -2.5]);
    let text = model.to_json().unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    let pretty = serde_json::to_string_pretty(&value).unwrap();
    assert!(same(&model, &SavedModel::from_json(&pretty).unwrap()));
    let integers = text.replace("[1.0,", "[1,");
    assert_ne!(integers, text);
    assert!(same(&model, &SavedModel::from_json(&integers).unwrap()));
    assert!(refusal(&text.replace("-2.5", "2.5")).contains("checksum"));
    assert!(
        refusal(&text.replace("18446744073709551615", "18446744073709551614")).contains("checksum")
    );
}

#[test]
fn unknown_fields_are_passed_over_and_newer_versions_refused() {
    let text = forged(r#"{"colour": {"of": ["the", 1]}}"#);
    assert!(same(
        &saved(vec![1.0]),
        &SavedModel::from_json(&text).unwrap()
    ));
    let what = refusal(&forged(r#"{"version": 7}"#));
    assert!(
        what.contains("version 7") && what.contains("version 3"),
        "{what}"
    );
    assert!(refusal(&forged(r#"{"version": 0}"#)).contains("version"));
    assert!(refusal(&forged(r#"{"format": "onnx"}"#)).contains("onnx"));
    assert!(refusal("{}").contains(FORMAT));
    assert!(refusal("1,0.5\n").contains(FORMAT));
}

#[test]
fn what_is_not_finite_or_does_not_fit_is_refused_both_ways() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(matches!(
            saved(vec![0.0, bad]).to_json(),
            Err(Error::ModelFile { .. })
        ));
        let mut model = saved(vec![1.0]);
        model.model.threshold = bad;
        assert!(model.to_json().is_err());
    }
    let mut model = saved(vec![1.0]);
    model.model.names = vec!["a".to_string(), "b".to_string()];
    assert!(model.to_json().is_err());

    for bad in [
        r#"{"weights": [null]}"#,
        r#"{"weights": ["1"]}"#,
        r#"{"threshold": null}"#,
        r#"{"classes": ["a"]}"#,
        r#"{"names": ["a", "b"]}"#,
        r#"{"weights": {"dimension": 3, "indices": [1, 1], "values": [1.0, 2.0]}}"#,
        r#"{"weights": {"dimension": 3, "indices": [1, 3], "values": [1.0, 2.0]}}"#,
        r#"{"weights": {"dimension": 3, "indices": [1, -1], "values": [1.0, 2.0]}}"#,
        r#"{"weights": {"dimension": 3, "indices": [1], "values": [1.0, 2.0]}}"#,
        r#"{"features": {"kind": "hash", "bits": 2}}"#,
        r#"{"features": {"kind": "hash", "bits": 99}}"#,
        r#"{"features": {"kind": "hash"}}"#,
        r#"{"features": {"kind": "other"}}"#,
        r#"{"features": null}"#,
        r#"{"partition": {"positive": ["1"]}}"#,
        r#"{"calibration": {"slope": -1.0, "offset": 0.0}}"#,
        r#"{"calibration": {"slope": 1.0, "offset": 0.0, "knots": [1.0], "levels": []}}"#,
        r#"{"certificate": {"gap": "small", "n": 3, "n_pos": 1, "n_neg": 2}}"#,
        r#"{"parameters": []}"#,
    ] {
        refusal(&forged(bad));
    }
    assert!(SavedModel::from_json(&forged("{}").replace("1.0]", "1e999]")).is_err());
}

#[test]
fn a_dimension_out_of_proportion_is_refused_before_memory_is_asked_for() {
    for dimension in [
        "16777217",
        "2147483648",
        "2147483649",
        "18446744073709551615",
    ] {
        let weights = format!(r#"{{"dimension": {dimension}, "indices": [5], "values": [1.0]}}"#);
        assert!(refusal(&forged(&format!(r#"{{"weights": {weights}}}"#))).contains("given"));
    }
    refusal(&forged(
        r#"{"weights": {"dimension": 1e300, "indices": [], "values": []}}"#,
    ));
}

#[test]
fn many_zeros_are_left_out_and_large_models_come_back() {
    let mut weights = vec![0.0; FREE_DIMENSION + 5000];
    weights[FREE_DIMENSION + 7] = -1.5;
    let model = saved(weights);
    let text = model.to_json().unwrap();
    assert!(text.len() < 1 << 20, "{}", text.len());
    assert!(same(&model, &SavedModel::from_json(&text).unwrap()));
    assert!(saved(vec![0.0; 9]).to_json().unwrap().contains("dimension"));
    assert!(!saved(vec![0.5; 9]).to_json().unwrap().contains("dimension"));
}

#[test]
fn a_failed_save_leaves_the_old_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.json");
    let (old, new) = (saved(vec![1.0]), saved(vec![2.0]));
    old.save(&path).unwrap();
    assert!(saved(vec![f64::NAN]).save(&path).is_err());
    assert!(same(&old, &SavedModel::load(&path).unwrap()));
    new.save(&path).unwrap();
    assert!(same(&new, &SavedModel::load(&path).unwrap()));
    // A save that is killed before it ends leaves at most its temporary file.
    let mut unfinished = AtomicFile::create(&path).unwrap();
    unfinished.put(b"{").unwrap();
    drop(unfinished);
    assert!(same(&new, &SavedModel::load(&path).unwrap()));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn what_is_no_file_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    assert!(matches!(
        SavedModel::load(directory.path()),
        Err(Error::Io { .. })
    ));
    assert!(SavedModel::load(&directory.path().join("none")).is_err());
    if Path::new("/dev/zero").exists() {
        assert!(SavedModel::load(Path::new("/dev/zero")).is_err());
    }
}

#[test]
fn every_field_comes_back() {
    let model = full();
    let text = model.to_json().unwrap();
    assert!(same(&model, &SavedModel::from_json(&text).unwrap()));
    // A field a line, whatever is in it.
    assert_eq!(text.lines().count(), 16);
    assert!(text.ends_with("\n}\n"));
}

#[test]
fn a_new_file_has_a_weight_for_every_feature() {
    let new = |model: Model| {
        let certificate = Certificate::default();
        SavedModel::new(model, "ol-ubauc", Parameters::new(), certificate)
    };
    let mut model = saved(vec![1.0]).model;
    model.names = vec!["a".to_string(), "b".to_string()];
    assert_eq!(new(model.clone()).unwrap().model.weights, [1.0, 0.0]);
    model.features = FeatureMap::Hash { bits: 2 };
    assert_eq!(new(model.clone()).unwrap().model.weights.len(), 4);
    model.weights = vec![0.0; 5];
    assert!(new(model.clone()).is_err());
    model.features = FeatureMap::Hash { bits: 60 };
    assert!(new(model).is_err());
}

/// Three classes, two features with names.
fn many() -> SavedClassModel {
    let classes = ["a", "b", "größer \"1\""].map(str::to_string).to_vec();
    let scorer = |k: usize| Model {
        weights: vec![0.1 * k as f64, -0.0],
        intercept: 0.3,
        threshold: -0.2 * k as f64,
        classes: ["rest".to_string(), classes[k].clone()],
        names: vec!["x".to_string(), "y".to_string()],
        ..Model::default()
    };
    let scorers: Vec<Model> = (0..3).map(scorer).collect();
    SavedClassModel {
        algorithm: "ba-ubauc".to_string(),
        parameters: Parameters::new(),
        certificate: WholeCertificate {
            objective: Some(0.2),
            gap: Some(1e-7),
            n: 9,
            ..WholeCertificate::default()
        },
        certificates: vec![saved(vec![1.0]).certificate; 3],
        model: ClassModel { classes, scorers },
    }
}

#[test]
fn many_classes_come_back_and_two_are_not_taken_for_them() {
    let text = many().to_json().unwrap();
    match AnyModel::from_json(&text).unwrap() {
        AnyModel::Many(found) => assert_eq!(*found, many()),
        AnyModel::Two(_) => panic!("two classes"),
    }
    let what = refusal(&text);
    assert!(
        what.contains("3 classes") && what.contains("--positive a"),
        "{what}"
    );
    let two = saved(vec![1.0]);
    let found = AnyModel::from_json(&two.to_json().unwrap()).unwrap();
    assert_eq!(found, AnyModel::Two(Box::new(two)));
    // What is written is a field a line, and any change is found.
    assert!(text.contains("\n  \"version\": 3,\n"), "{text}");
    assert!(AnyModel::from_json(&text.replace("0.3", "0.4")).is_err());
}

#[test]
fn many_classes_that_make_no_model_are_refused() {
    let refused = |change: fn(&mut SavedClassModel)| {
        let mut model = many();
        change(&mut model);
        assert!(model.to_json().is_err());
    };
    refused(|m| m.model.classes.truncate(2));
    refused(|m| m.certificates.truncate(2));
    refused(|m| m.model.scorers[1].threshold = f64::NAN);
    refused(|m| m.model.scorers[2].weights.push(1.0));
    refused(|m| m.model.scorers[2].names.swap(0, 1));
    refused(|m| {
        m.model.classes.truncate(1);
        m.model.scorers.truncate(1);
        m.certificates.truncate(1);
    });
}
