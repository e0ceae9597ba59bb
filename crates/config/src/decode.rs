//! From what stands in a layer to a value: a text, or a TOML value of the right kind. Beside the value goes what
//! `tidegate config` may show of it.

use crate::{
    catalogue::Form,
    problem::{Privacy, Problem, quoted, shown_url},
    toml_source::{Item, Node},
};

/// What is said about a value, with as much of it as may be shown.
pub(crate) fn sentence(problem: &Problem, privacy: Privacy, text: &str) -> String {
    match (privacy, problem.subject.as_deref()) {
        (Privacy::Secret | Privacy::Counted(_), _) | (_, Some("")) => problem.what.clone(),
        (_, Some(subject)) => format!("{subject} {}", problem.what),
        (Privacy::Url, None) => format!("{} {}", quoted(&shown_url(text)), problem.what),
        (Privacy::Open, None) => format!("{} {}", quoted(text), problem.what),
    }
}

/// A value as `tidegate config` may show it.
pub(crate) struct Shown {
    text: String,
    parts: usize,
}

impl Shown {
    pub(crate) fn within(self, privacy: Privacy) -> String {
        match privacy {
            Privacy::Open => self.text.replace(char::is_control, " "),
            Privacy::Url => shown_url(&self.text),
            Privacy::Secret => "(hidden)".to_owned(),
            Privacy::Counted(what) => counted(self.parts, what),
        }
    }
}

/// `(1 token)`, `(3 tokens)`.
pub(crate) fn counted(n: usize, what: &str) -> String {
    format!("({n} {what}{})", if n == 1 { "" } else { "s" })
}

pub(crate) fn parse_text<T>(form: &Form<T>, text: &str) -> Result<(T, Shown), Vec<Problem>> {
    match form {
        Form::Text(parse) | Form::Number(parse) | Form::Size(parse) | Form::Flag(parse) => {
            let value = parse(text).map_err(|problem| vec![problem])?;
            Ok((value, Shown { text: text.to_owned(), parts: 1 }))
        }
        Form::List(parse) => {
            let parts: Vec<_> =
                text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect();
            let shown = Shown { text: parts.join(", "), parts: parts.len() };
            Ok((parse(&parts)?, shown))
        }
    }
}

pub(crate) type Parsed<T> = Result<(T, Shown), (Vec<Problem>, String)>;

pub(crate) fn parse_item<T>(form: &Form<T>, node: &Node) -> Parsed<T> {
    let text = match (form, node) {
        (Form::Text(_) | Form::Size(_) | Form::List(_), Node::Text(text)) => text.clone(),
        (Form::Text(_), Node::Integer(_, written)) => written.clone(),
        (Form::Number(_) | Form::Size(_), Node::Integer(number, _)) => number.to_string(),
        (Form::Flag(_), Node::Boolean(flag)) => flag.to_string(),
        (Form::List(parse), Node::Array(items)) => return parse_array(*parse, items),
        (_, node) => return Err((vec![wrong_kind(form, node)], String::new())),
    };
    parse_text(form, &text).map_err(|problems| (problems, text))
}

fn parse_array<T>(parse: fn(&[String]) -> Result<T, Vec<Problem>>, items: &[Item]) -> Parsed<T> {
    let (mut parts, mut problems) = (Vec::new(), Vec::new());
    for item in items {
        match &item.node {
            Node::Text(text) if text.trim().is_empty() => {}
            Node::Text(text) => parts.push(text.trim().to_owned()),
            node => problems.push(
                Problem::new(
                    format!("{} stands in the array, in line {}", node.kind(), item.line),
                    "write an array of strings",
                )
                .about(""),
            ),
        }
    }
    let shown = Shown { text: parts.join(", "), parts: parts.len() };
    match parse(&parts) {
        Ok(value) if problems.is_empty() => Ok((value, shown)),
        Ok(_) => Err((problems, String::new())),
        Err(more) => Err((problems.into_iter().chain(more).collect(), String::new())),
    }
}

fn wrong_kind<T>(form: &Form<T>, node: &Node) -> Problem {
    let mend = match form {
        Form::Text(_) => "write a text in quotes",
        Form::Number(_) => "write a whole number without quotes",
        Form::Size(_) => "write a whole number, or a size in quotes such as \"10MiB\"",
        Form::Flag(_) => "write true or false without quotes",
        Form::List(_) => "write an array of strings such as [\"a\", \"b\"]",
    };
    Problem::new(format!("it is {}, which cannot stand here", node.kind()), mend).about("")
}
