use std::fmt::Write as _;

use axum::response::Html;

use super::tokens::TokenView;

/// The only styles that the pages have, as a file of their own: their policy allows nothing inline.
pub(super) const STYLE: &str = "\
body{font:15px/1.5 system-ui,sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;background:#fff}
h1{font-size:1.3rem}table{border-collapse:collapse;width:100%}caption{text-align:left;padding:.5rem 0}
th,td{text-align:left;padding:.35rem .6rem;border-bottom:1px solid #d5dbe1;vertical-align:top}td.n{text-align:right}
form{display:inline}button{font:inherit;margin-right:.3rem}.ready{color:#14653a}.cooling,.probing{color:#8a5300}
.unavailable,.disabled{color:#a3152b}code{font-size:.9em}
@media(prefers-color-scheme:dark){body{color:#e6e9ec;background:#14181c}th,td{border-color:#333b43}a{color:#8ab8ff}
.ready{color:#6fd39b}.cooling,.probing{color:#f0b65e}.unavailable,.disabled{color:#ff8b98}}
";

/// Text that cannot be read as markup.
struct Escaped<'a>(&'a str);

impl std::fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

fn page(title: &str, body: &str) -> Html<String> {
    Html(format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <title>{title}</title>\n<link rel=\"stylesheet\" href=\"/style.css\">\n{body}</html>\n"
    ))
}

/// The form that asks for the key; `fault` says what was wrong with the last one.
pub(super) fn login(fault: &str) -> Html<String> {
    let fault =
        if fault.is_empty() { String::new() } else { format!("<p role=\"alert\">{}</p>\n", Escaped(fault)) };
    page(
        "Tidegate: log in",
        &format!(
            "<h1>Tidegate</h1>\n{fault}<form method=\"post\" action=\"/login\">\n\
             <label>Admin key <input type=\"password\" name=\"key\" autocomplete=\"current-password\" required autofocus>\
             </label>\n<button>Log in</button>\n</form>\n"
        ),
    )
}

/// The tokens as they are now, with what can be done to them.
pub(super) fn overview(tokens: &[TokenView]) -> Html<String> {
    let mut rows = String::new();
    for token in tokens {
        // Writing to a String does not fail.
        let _ = writeln!(
            rows,
            "<tr><td>{pool}</td><td>{name} <code>{id}</code></td><td class=\"{state}\">{state}</td><td>{why}</td>\
             <td>{until}</td><td class=\"n\">{in_flight}</td><td class=\"n\">{requests}</td>\
             <td class=\"n\">{successes}</td><td class=\"n\">{rate_limited}</td><td class=\"n\">{rejected}</td>\
             <td>{reset}{bar}</td></tr>",
            pool = Escaped(&token.pool),
            name = Escaped(token.name.as_deref().unwrap_or_default()),
            id = token.id,
            state = token.state,
            why = token.reason.unwrap_or_default(),
            until = token.until.as_deref().unwrap_or_default(),
            in_flight = token.in_flight,
            requests = token.requests,
            successes = token.successes,
            rate_limited = token.rate_limited,
            rejected = token.rejected,
            reset = button(&token.id, "reset"),
            bar = button(&token.id, if token.state == "disabled" { "enable" } else { "disable" }),
        );
    }
    page(
        "Tidegate",
        &format!(
            "<h1>Tidegate</h1>\n<p><a href=\"/tokens\">tokens (JSON)</a> · <a href=\"/metrics\">metrics</a> · \
             <a href=\"/healthz\">healthz</a> · <a href=\"/readyz\">readyz</a></p>\n\
             <table>\n<caption>{count} tokens, as they were when this page was made</caption>\n\
             <tr><th>pool<th>token<th>state<th>reason<th>until<th>in flight<th>requests<th>successes<th>rate limited\
             <th>rejected<th></tr>\n{rows}</table>\n\
             <p><form method=\"post\" action=\"/tokens/reset\"><button>Reset all</button></form>\
             <form method=\"post\" action=\"/reload\"><button>Reload the settings</button></form></p>\n",
            count = tokens.len(),
        ),
    )
}

fn button(id: &str, operation: &str) -> String {
    format!("<form method=\"post\" action=\"/tokens/{id}/{operation}\"><button>{operation}</button></form>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_text_and_no_markup() {
        assert_eq!(
            Escaped("<b a='1'>\"&\"</b>").to_string(),
            "&lt;b a=&#39;1&#39;&gt;&quot;&amp;&quot;&lt;/b&gt;"
        );
        assert!(login("<oops>").0.contains("<p role=\"alert\">&lt;oops&gt;</p>"));
    }
}
