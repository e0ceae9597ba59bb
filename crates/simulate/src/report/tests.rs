use super::*;
use crate::world::Model;

/// Lines with figures made up: what is tested is how they are shown.
fn lines(part: Option<Part>) -> Vec<Line> {
    let figures = |goodput: f64, calls: f64, p99: f64| Measured {
        offered: 36_000.0,
        served: 36_000.0 * goodput,
        offered_a_second: 20.0,
        served_a_second: 20.0 * goodput,
        limit: 36_000.0,
        goodput,
        success: goodput,
        calls_per_success: calls,
        refused: 1.0 - 1.0 / calls,
        p50: 0.12,
        p99,
        p99_of_failures: f64::NAN,
        fairness: 0.9996,
        recovery: (part == Some(Part::Outage)).then_some(12.3),
        calls_in_outage: (part == Some(Part::Outage)).then_some(1.25),
    };
    let model: Model = "bucket 2/1s burst 10".parse().unwrap();
    let wanted = Wanted { goodput: 0.97, calls: 1.05, p99: 2.5, recovery: 10.0, calls_in_outage: 1.3 };
    let line = |load: f64, policy: Named, figures: Measured| {
        let world = World { tokens: 10, model, traffic: Traffic::Poisson { load }, ..World::default() };
        let wanted = if policy == Named::Ours { wanted } else { Wanted::NOTHING };
        Line::new(part, &world, policy, &figures, wanted)
    };
    vec![
        line(0.9, Named::Ours, figures(0.9951, 1.0049, 0.412)),
        line(0.9, Named::PixivFe2, figures(0.914, 12.63, 9.99)),
        line(0.9, Named::Best, figures(1.0, 1.0, 0.4)),
        line(1.5, Named::Ours, figures(0.961, 1.2, 2.61)),
        line(1.5, Named::PixivFe2, figures(0.0, f64::INFINITY, f64::NAN)),
        line(1.5, Named::Best, figures(0.995, 1.0, 2.4)),
    ]
}

const POLICIES: [Named; 3] = [Named::Ours, Named::PixivFe2, Named::Best];

#[test]
fn tables_can_be_read() {
    let grid: Vec<Line> =
        [Part::Learned, Part::Outage].map(|part| lines(Some(part))).into_iter().flatten().collect();
    insta::assert_snapshot!("figures", figures_table(&lines(Some(Part::Outage))));
    insta::assert_snapshot!("capacity", capacity_table(&lines(None)));
    insta::assert_snapshot!("grid", grid_table(&grid, &POLICIES));
    insta::assert_snapshot!("bounds", bounds_table(&grid));
    insta::assert_snapshot!("json", json_lines(&lines(Some(Part::Outage))[..2], 5));
}

#[test]
fn bounds_are_read_back_and_kept_by_the_figures_that_they_are_made_of() {
    let lines = lines(Some(Part::Outage));
    let bounds = read_bounds(&format!("# a comment\n\n{}", bounds_table(&lines))).unwrap();
    let ours: Vec<&Line> = lines.iter().filter(|line| line.policy == Named::Ours).collect();
    assert_eq!(bounds.len(), ours.len());
    for (bound, line) in bounds.iter().zip(ours) {
        assert_eq!(Some(&bound.key), Bound::key_of(line).as_ref());
        assert_eq!(bound.broken_by(line), None);
        for worse in [
            Measured { goodput: line.figures.goodput - 0.03, ..line.figures.clone() },
            Measured { calls_per_success: line.figures.calls_per_success * 1.03, ..line.figures.clone() },
            Measured { p99: line.figures.p99 * 1.2 + 0.2, ..line.figures.clone() },
            Measured { p99: f64::NAN, ..line.figures.clone() },
            Measured { recovery: Some(16.0), ..line.figures.clone() },
            Measured { calls_in_outage: Some(1.4), ..line.figures.clone() },
        ] {
            let worse = Line { figures: worse, ..line.clone() };
            assert!(bound.broken_by(&worse).is_some(), "{bound}: {:?}", worse.figures);
        }
    }
    for text in [
        "learned | x | 1",
        "learned | x | 1 | goodput >= a | calls <= 1 | p99 <= 1",
        "learned | x | 1 | goodput >= 1 | calls <= 1 | p99 <= 1 | more",
    ] {
        assert!(read_bounds(text).is_err(), "{text}");
    }
}

#[test]
fn a_chart_has_a_line_for_each_policy_in_each_of_three_figures() {
    let svg = chart(&lines(Some(Part::Learned)));
    assert_eq!(svg.matches("<polyline").count(), 9);
    assert!(svg.contains("bucket 2/1s burst 10 x 10"), "{svg}");
    // Where nobody was served there is no p99 to draw, and calls per success are above all marks.
    assert_eq!(svg.matches("<circle").count(), 17);
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
}
