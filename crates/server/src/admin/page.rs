use std::fmt::Write as _;

use axum::response::Html;

/// The styles of the login form, as a file of their own: its policy allows nothing inline.
pub(super) const STYLE: &str = "\
body{font:15px/1.5 system-ui,sans-serif;max-width:30rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;background:#fff}
h1{font-size:1.3rem}input,button{font:inherit;padding:.3rem .6rem;margin:.3rem .3rem .3rem 0}
@media(prefers-color-scheme:dark){body{color:#e6e9ec;background:#14181c}}
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

/// The form that asks for the key; `fault` says what was wrong with the last one.
pub(super) fn login(fault: &str) -> Html<String> {
    let fault =
        if fault.is_empty() { String::new() } else { format!("<p role=\"alert\">{}</p>\n", Escaped(fault)) };
    Html(format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>Tidegate: log in</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"/style.css\">\n<h1>Tidegate</h1>\n\
         {fault}<form method=\"post\" action=\"/login\">\n<label>Admin key\n\
         <input type=\"password\" name=\"key\" autocomplete=\"current-password\" required autofocus></label>\n\
         <button>Log in</button>\n</form>\n</html>\n"
    ))
}

/// The dashboard: one page, with its styles and its script in it.
pub(super) struct Dashboard {
    pub(super) page: String,
    /// What a browser may do for it: run this script and no other, and talk to this listener alone.
    pub(super) policy: String,
}

/// The page holds nothing of the gateway's state, which its script asks for.
///
/// # Errors
///
/// When the system has no randomness for the nonce.
pub(super) fn dashboard() -> Result<Dashboard, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    let nonce: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let page = include_str!("dashboard/index.html")
        .replace("{{nonce}}", &nonce)
        .replace("{{style}}", include_str!("dashboard/style.css"))
        .replace("{{script}}", include_str!("dashboard/script.js"));
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; img-src data:; \
         connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    );
    Ok(Dashboard { page, policy })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_text_and_no_markup() {
        assert_eq!(
            Escaped("<b a='1'>\"&\"</b>").to_string(),
            "&lt;b a=&#39;1&#39;&gt;&quot;&amp;&quot;&lt;/b&gt;"
        );
        assert!(login("<oops>").0.contains("<p role=\"alert\">&lt;oops&gt;</p>"));
    }

    #[test]
    fn the_dashboard_is_whole_and_loads_nothing() {
        let (one, other) = (dashboard().unwrap(), dashboard().unwrap());
        assert!(!one.page.contains("{{") && one.page.contains("EventSource"), "all is put in");
        assert_ne!(one.policy, other.policy, "each answer has its own nonce");
        let nonce = one.policy.split("'nonce-").nth(1).unwrap().split('\'').next().unwrap();
        assert_eq!(one.page.matches(&format!("nonce=\"{nonce}\"")).count(), 2);
        assert!(!one.policy.contains("unsafe"), "{}", one.policy);
        // Namespaces are names and are not loaded.
        let page = one.page.replace("http://www.w3.org/2000/svg", "");
        for outside in ["http:", "https:", "//cdn", "@import", "url(", "innerHTML", "style=\"", " onclick="] {
            let said =
                if outside == " onclick=" { page.contains(" onclick=\"") } else { page.contains(outside) };
            assert!(!said, "{outside}");
        }
    }
}
