use std::path::Path; use std::time::Instant;
use ubauc::solver::ba_ubauc::*; use ubauc::data::labels::Choice;
fn main(){ let a:Vec<String>=std::env::args().collect();
 let e=ubauc::read::read(Path::new(&a[1]),&Default::default()).unwrap();
 let choice= if e.labels.classes().len()>2 {Choice::Partition(1)} else {Choice::Larger};
 let data=e.binary(&choice).unwrap();
 let beta:f64=a[2].parse().unwrap(); let gamma:f64=a[3].parse().unwrap(); let tol:f64=a[4].parse().unwrap();
 for _ in 0..3 {
 let t=Instant::now();
 let f=fit(&data,&Default::default(),&BaUbaucParams{beta,gamma,tolerance:tol,..Default::default()}).unwrap();
 let el=t.elapsed();
 let auc=ubauc::metrics::auc(&f.scores,data.positive()).unwrap().auc;
 println!("{:?} obj {:.11} gap {:?} lambda {:.6} norm {:.6} auc {:.6} tied {} newton {} {:?}",el,f.objective,f.gap,(f.lambda[0]+f.lambda[1])/2.,f.weights.iter().map(|x|x*x).sum::<f64>().sqrt(),auc,f.tied,f.newton,f.stop);
 if std::env::var("TRACE").is_ok(){ for t in &f.trace{ println!("   {:?}",t);} break; }
 }}
