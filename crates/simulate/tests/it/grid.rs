//! The whole grid against its bounds. `cargo xtask bounds` runs it optimised; how bounds are made is said in
//! `bounds.txt`.

use std::time::Duration;

use tidegate_simulate::policy::{Named, OursSettings};
use tidegate_simulate::report::{Bound, Line, read_bounds};
use tidegate_simulate::{rows, run_all};

#[test]
fn every_row_has_a_bound_and_no_bound_is_without_a_row() {
    let bounds: Vec<String> =
        read_bounds(include_str!("../../bounds.txt")).unwrap().into_iter().map(|bound| bound.key).collect();
    let rows: Vec<String> = rows().iter().map(tidegate_simulate::Row::key).collect();
    assert_eq!(bounds, rows);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes where it is not optimised: cargo xtask bounds")]
fn no_row_is_worse_than_its_bound() {
    let bounds = read_bounds(include_str!("../../bounds.txt")).unwrap();
    let settings = OursSettings::from_toml("defaults", "").unwrap();
    let mut rows = rows();
    for row in &mut rows {
        row.world.measured = Duration::from_secs(10 * 60);
    }
    let cases: Vec<_> = rows.iter().map(|row| row.case(Named::Ours, &settings)).collect();
    let lines = Line::of_grid(&rows, &[Named::Ours], &run_all(&cases, &[1]).unwrap());
    let broken: Vec<String> =
        bounds.iter().zip(&lines).filter_map(|(bound, line)| Bound::broken_by(bound, line)).collect();
    assert!(broken.is_empty(), "worse than their bounds:\n{}", broken.join("\n"));
}
