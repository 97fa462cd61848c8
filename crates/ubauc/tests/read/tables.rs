//! The five tables of real life, where they are at hand: what is made of every column.

use ubauc::read::table::{DetectedKind, TableExamples, TableOptions, read_table};

use super::real_data;

fn read(name: &str, label: &str) -> Option<TableExamples> {
    let path = real_data(name)?.join(format!("tables/{name}.csv.zst"));
    let options = TableOptions {
        label: Some(label.to_string()),
        ..Default::default()
    };
    Some(read_table(&path, &options).unwrap())
}

/// `name:kind` of every column, `!missing` behind it where any is.
fn kinds(table: &TableExamples) -> String {
    let kinds = table.columns.iter().map(|column| {
        let kind = match column.kind {
            DetectedKind::Number => "number".to_string(),
            DetectedKind::Category => format!("category({})", column.levels.unwrap()),
            DetectedKind::Boolean => "boolean".to_string(),
            DetectedKind::Time => "time".to_string(),
            DetectedKind::Identifier => "identifier".to_string(),
            DetectedKind::Constant => "constant".to_string(),
        };
        let gaps = match column.missing {
            0 => String::new(),
            n => format!("!{n}"),
        };
        format!("{}:{kind}{gaps}", column.name)
    });
    kinds.collect::<Vec<_>>().join(" ")
}

fn classes(table: &TableExamples) -> String {
    let labels = table.labels.as_ref().unwrap();
    let counted = labels.classes().iter().zip(labels.counts());
    let counted = counted.map(|(class, count)| format!("{class} {count}"));
    counted.collect::<Vec<_>>().join(", ")
}

// Kinds, levels and gaps by pandas, the counts of the classes by the tables' own description.

#[test]
fn adult() {
    let Some(table) = read("adult", "classification") else {
        return;
    };
    assert_eq!(table.table.len(), 48842);
    assert_eq!(classes(&table), "<=50K 37155, >50K 11687");
    assert_eq!(
        kinds(&table),
        "age:number workclass:category(8)!2799 fnlwgt:number education:category(16) \
         education-num:number marital-status:category(7) occupation:category(14)!2809 \
         relationship:category(6) race:category(5) sex:category(2) capital-gain:number \
         capital-loss:number hours-per-week:number native-country:category(41)!857"
    );
}

#[test]
fn bank() {
    let Some(table) = read("bank_additional", "y") else {
        return;
    };
    assert_eq!(table.table.len(), 41188);
    assert_eq!(classes(&table), "no 36548, yes 4640");
    assert_eq!(
        kinds(&table),
        "age:number job:category(12) marital:category(4) education:category(8) \
         default:category(3) housing:category(3) loan:category(3) contact:category(2) \
         month:category(10) day_of_week:category(5) duration:number campaign:number \
         pdays:number previous:number poutcome:category(3) emp.var.rate:number \
         cons.price.idx:number cons.conf.idx:number euribor3m:number nr.employed:number"
    );
}

#[test]
fn taiwan() {
    let Some(table) = read("taiwan_default", "default.payment.next.month") else {
        return;
    };
    assert_eq!(table.table.len(), 30000);
    assert_eq!(classes(&table), "0 23364, 1 6636");
    assert_eq!(
        kinds(&table),
        "ID:identifier LIMIT_BAL:number SEX:number EDUCATION:number MARRIAGE:number \
         AGE:number PAY_0:number PAY_2:number PAY_3:number PAY_4:number PAY_5:number \
         PAY_6:number BILL_AMT1:number BILL_AMT2:number BILL_AMT3:number BILL_AMT4:number \
         BILL_AMT5:number BILL_AMT6:number PAY_AMT1:number PAY_AMT2:number PAY_AMT3:number \
         PAY_AMT4:number PAY_AMT5:number PAY_AMT6:number"
    );
}

#[test]
fn credit() {
    let Some(table) = read("give_me_some_credit", "SeriousDlqin2yrs") else {
        return;
    };
    assert_eq!(table.table.len(), 150000);
    assert_eq!(classes(&table), "0 139974, 1 10026");
    assert_eq!(
        kinds(&table),
        "column_1:identifier RevolvingUtilizationOfUnsecuredLines:number age:number \
         NumberOfTime30-59DaysPastDueNotWorse:number DebtRatio:number \
         MonthlyIncome:number!29731 NumberOfOpenCreditLinesAndLoans:number \
         NumberOfTimes90DaysLate:number NumberRealEstateLoansOrLines:number \
         NumberOfTime60-89DaysPastDueNotWorse:number NumberOfDependents:number!3924"
    );
}

#[test]
fn amazon() {
    let Some(table) = read("amazon_employee_access", "ACTION") else {
        return;
    };
    assert_eq!(table.table.len(), 32769);
    assert_eq!(classes(&table), "0 1897, 1 30872");
    assert_eq!(
        kinds(&table),
        "RESOURCE:number MGR_ID:number ROLE_ROLLUP_1:number ROLE_ROLLUP_2:number \
         ROLE_DEPTNAME:number ROLE_TITLE:number ROLE_FAMILY_DESC:number ROLE_FAMILY:number \
         ROLE_CODE:number"
    );
}
