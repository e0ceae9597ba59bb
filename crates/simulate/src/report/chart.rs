//! Charts as SVG: for each model a row of three small ones, each figure over the load, a line a policy.

use std::fmt::Write;

use super::Line;
use crate::grid::Part;
use crate::measure::Measured;
use crate::policy::Named;
use crate::world::Traffic;

const LEFT: f64 = 52.0;
const TOP: f64 = 86.0;
const WIDTH: f64 = 250.0;
const HEIGHT: f64 = 120.0;
const STEP_X: f64 = WIDTH + 62.0;
const STEP_Y: f64 = HEIGHT + 74.0;

/// One of the three figures.
struct Axis {
    title: &'static str,
    of: fn(&Measured) -> f64,
    /// The ends of the axis and the lines between, from the bottom.
    marks: &'static [f64],
    scale: Scale,
}

#[derive(Clone, Copy, PartialEq)]
enum Scale {
    Linear,
    Logarithmic,
}

const AXES: [Axis; 3] = [
    Axis {
        title: "goodput / limit",
        of: |it| it.goodput,
        marks: &[0.0, 0.25, 0.5, 0.75, 1.0],
        scale: Scale::Linear,
    },
    Axis {
        title: "calls per success",
        of: |it| it.calls_per_success,
        marks: &[1.0, 2.0, 5.0, 10.0, 30.0],
        scale: Scale::Logarithmic,
    },
    Axis {
        title: "p99 of the served, s",
        of: |it| it.p99,
        marks: &[0.0, 2.5, 5.0, 7.5, 10.0],
        scale: Scale::Linear,
    },
];

/// Colours that those who see no red from green can tell apart (Okabe and Ito's).
const fn colour(policy: Named) -> &'static str {
    match policy {
        Named::Ours => "#0072b2",
        Named::Best => "#000000",
        Named::PixivFe2 => "#d55e00",
        Named::PixivFe3 => "#e69f00",
        Named::Fixed => "#009e73",
        Named::RoundRobin => "#cc79a7",
    }
}

/// The charts of these lines.
pub fn chart(lines: &[Line]) -> String {
    let mut titles: Vec<(Option<&str>, &str)> = Vec::new();
    let mut policies: Vec<Named> = Vec::new();
    for line in lines {
        let title = (line.part.map(Part::title), line.model.as_str());
        if !titles.contains(&title) {
            titles.push(title);
        }
        if !policies.contains(&line.policy) {
            policies.push(line.policy);
        }
    }
    let (width, height) = (LEFT + 3.0 * STEP_X - 30.0, TOP + STEP_Y * titles.len() as f64);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    legend(&mut svg, &policies);
    for (row, (part, model)) in titles.iter().enumerate() {
        let y = TOP + STEP_Y * row as f64;
        let title = part.map_or_else(|| (*model).to_owned(), |part| format!("{model}  ·  {part}"));
        let _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"{}\" font-weight=\"bold\">{title}</text>", y - 27.0);
        let of_row: Vec<&Line> =
            lines.iter().filter(|it| it.model == *model && it.part.map(Part::title) == *part).collect();
        for (column, axis) in AXES.iter().enumerate() {
            panel(&mut svg, LEFT + STEP_X * column as f64, y, axis, &of_row, &policies);
        }
    }
    svg + "</svg>\n"
}

fn legend(svg: &mut String, policies: &[Named]) {
    for (at, policy) in policies.iter().enumerate() {
        let x = LEFT + 120.0 * at as f64;
        let name = if *policy == Named::Best { "best possible" } else { policy.as_str() };
        let _ = writeln!(
            svg,
            "<line x1=\"{x}\" y1=\"22\" x2=\"{}\" y2=\"22\" {}/><text x=\"{}\" y=\"26\">{name}</text>",
            x + 22.0,
            stroke(*policy),
            x + 28.0,
        );
    }
}

fn stroke(policy: Named) -> String {
    let (width, dashes) = match policy {
        Named::Ours => (2.5, ""),
        Named::Best => (1.2, " stroke-dasharray=\"4 3\""),
        _ => (1.5, ""),
    };
    format!("fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\"{dashes}", colour(policy))
}

fn panel(svg: &mut String, left: f64, top: f64, axis: &Axis, lines: &[&Line], policies: &[Named]) {
    let most = lines.iter().map(|line| line.load()).fold(0.0, f64::max);
    let x = |load: f64| left + WIDTH * load / most;
    let y = |value: f64| top + HEIGHT * (1.0 - axis.part(value));
    let _ = writeln!(svg, "<text x=\"{left}\" y=\"{}\" fill=\"#666\">{}</text>", top - 7.0, axis.title);
    for mark in axis.marks {
        let at = y(*mark);
        let _ = writeln!(
            svg,
            "<line x1=\"{left}\" y1=\"{at:.1}\" x2=\"{}\" y2=\"{at:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"10\">{mark}</text>",
            left + WIDTH,
            left - 5.0,
            at + 3.5,
        );
    }
    let closed = lines.iter().any(|line| matches!(line.traffic, Traffic::Closed { .. }));
    let unit = if closed { "users" } else { "load" };
    for (step, mark) in [0.0, most / 2.0, most].into_iter().enumerate() {
        let text = if step == 0 { unit.to_owned() } else { format!("{}", (mark * 100.0).round() / 100.0) };
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"10\">{text}</text>",
            x(mark),
            top + HEIGHT + 14.0,
        );
    }
    // Ours last, on top of the others.
    for policy in policies.iter().rev() {
        let of_policy = lines.iter().filter(|line| line.policy == *policy);
        let points: Vec<(f64, f64)> = of_policy
            .map(|line| (x(line.load()), y((axis.of)(&line.figures))))
            .filter(|(_, y)| y.is_finite())
            .collect();
        let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(svg, "<polyline points=\"{}\" {}/>", path.join(" "), stroke(*policy));
        for (x, y) in &points {
            let _ =
                writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2\" fill=\"{}\"/>", colour(*policy));
        }
    }
}

impl Axis {
    /// How far up the axis a value is; what is beyond an end is drawn there.
    fn part(&self, value: f64) -> f64 {
        let (least, most) = (self.marks[0], self.marks[self.marks.len() - 1]);
        let value = value.clamp(least, most);
        match self.scale {
            Scale::Linear => (value - least) / (most - least),
            Scale::Logarithmic => libm::log(value / least) / libm::log(most / least),
        }
    }
}
