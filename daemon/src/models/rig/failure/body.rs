//! Reads the bodies in which providers refuse: whose words they are, which status, how long to wait.

use serde_json::Value;

/// How much of a provider's own words goes into a message.
const EXCERPT_CHARACTERS: usize = 300;

/// How much of the title of a web page does.
const TITLE_CHARACTERS: usize = 80;

/// Words before the time to wait, as OpenAI and those who copy it write it.
const WAIT_WORDS: [&str; 2] = ["try again in ", "retry in "];

/// The error a body tells of, whichever way providers spell it.
pub(super) fn error_of(body: &str) -> Option<Value> {
    let body: Value = serde_json::from_str(body).ok()?;
    let body = body.get(0).unwrap_or(&body);
    let error = body.get("error").or_else(|| body.pointer("/response/error")).filter(|error| !error.is_null());
    error.or_else(|| body.get("detail").or_else(|| body.get("message")).map(|_| body)).cloned()
}

/// What of a body tells the kind of the failure: its error, or all of it where it has none. The words of a web page are
/// about something else.
pub(super) fn words(body: &str) -> String {
    match error_of(body) {
        Some(error) => error.to_string(),
        None if page(body).is_some() => String::new(),
        None => body.to_owned(),
    }
}

/// The provider's own words for a person, at their full length.
pub(super) fn said(body: &str) -> String {
    let error = error_of(body);
    let message = error.as_ref().and_then(|error| {
        let member = ["message", "detail"].iter().find_map(|member| error.get(member)?.as_str());
        member.or_else(|| error.as_str())
    });
    message.unwrap_or(body).to_owned()
}

/// As much of the words as goes into a message.
pub(super) fn excerpt(text: &str) -> String {
    if let Some(page) = page(text) {
        return page;
    }
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(EXCERPT_CHARACTERS) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None if text.is_empty() => "an answer without words".to_owned(),
        None => text,
    }
}

/// What is said of a web page where an API was expected: its title, which tells the login of a network from a provider's
/// own site. Its source tells people nothing.
fn page(text: &str) -> Option<String> {
    // Byte by byte as long as the text.
    let lower = text.to_ascii_lowercase();
    if !["<!doctype html", "<html"].iter().any(|start| lower.trim_start().starts_with(start)) {
        return None;
    }
    let title = || {
        let begin = lower.find("<title")?;
        let begin = begin + lower[begin..].find('>')? + 1;
        let end = begin + lower[begin..].find("</title")?;
        let title = text[begin..end].split_whitespace().collect::<Vec<_>>().join(" ");
        (!title.is_empty()).then(|| title.chars().take(TITLE_CHARACTERS).collect::<String>())
    };
    Some(title().map_or_else(|| "a web page".to_owned(), |title| format!("a web page, \"{title}\"")))
}

/// The status an error within a stream carries in its body, as gateways do.
pub(super) fn in_band_status(body: &str) -> Option<u16> {
    let error = error_of(body)?;
    let status = ["status_code", "code", "status"].iter().find_map(|member| error.get(member)?.as_u64());
    status.and_then(|status| u16::try_from(status).ok()).filter(|status| (400..600).contains(status))
}

/// The wait a body asks for in milliseconds: Google's `retryDelay`, a member some gateways have, or OpenAI's sentence.
pub(super) fn retry_after_ms(body: &str) -> Option<f64> {
    let error = error_of(body)?;
    let details = error.get("details").and_then(Value::as_array);
    let delay = details.into_iter().flatten().find_map(|detail| span_ms(detail.get("retryDelay")?.as_str()?));
    let in_ms = || error.get("retry_after_ms")?.as_f64();
    let in_seconds = || Some(error.get("retry_after")?.as_f64()? * 1_000.0);
    let in_words = || {
        let message = error.get("message")?.as_str()?.to_ascii_lowercase();
        let (_, after) = WAIT_WORDS.iter().find_map(|words| message.split_once(words))?;
        span_ms(after.split_whitespace().next()?.trim_end_matches(['.', ',']))
    };
    delay.or_else(in_ms).or_else(in_seconds).or_else(in_words)
}

/// A span like `1.5s`, `20ms` or `6m0.5s` in milliseconds.
fn span_ms(text: &str) -> Option<f64> {
    let mut total = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let number = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
        let (value, after) = rest.split_at(number);
        let unit = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(unit);
        let in_ms = match unit {
            "ms" => 1.0,
            "s" => 1_000.0,
            "m" => 60_000.0,
            "h" => 3_600_000.0,
            _ => return None,
        };
        total += value.parse::<f64>().ok()? * in_ms;
        rest = after;
    }
    (!text.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l17_the_wait_a_body_asks_for_is_found() {
        for (body, expected) in [
            (r#"{"error":{"code":429,"details":[{"@type":"x"},{"retryDelay":"7.5s"}]}}"#, Some(7_500.0)),
            (r#"[{"error":{"details":[{"retryDelay":"3s"}]}}]"#, Some(3_000.0)),
            (r#"{"error":{"message":"Rate limit reached. Please try again in 6m0.5s. Visit"}}"#, Some(360_500.0)),
            (r#"{"error":{"message":"Please try again in 20ms."}}"#, Some(20.0)),
            (r#"{"error":{"message":"Please retry in 41.2s."}}"#, Some(41_200.0)),
            (r#"{"error":{"retry_after":2}}"#, Some(2_000.0)),
            (r#"{"error":{"message":"Please try again in a while"}}"#, None),
            (r#"{"error":"busy"}"#, None),
            ("busy", None),
        ] {
            assert_eq!(retry_after_ms(body), expected, "{body}");
        }
    }

    #[test]
    fn the_providers_words_are_found_wherever_they_are() {
        for body in [
            r#"{"error":{"message":"Oops"}}"#,
            r#"{"error":"Oops"}"#,
            r#"[{"error":{"message":"Oops"}}]"#,
            r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"x","message":"Oops"}}}"#,
            r#"{"detail":"Oops"}"#,
            "Oops",
        ] {
            assert_eq!(said(body), "Oops", "{body}");
        }
    }

    #[test]
    fn of_a_web_page_the_title_is_shown_and_its_words_tell_no_kind() {
        for (body, expected) in [
            ("<!DOCTYPE html>\n<html><head><TITLE lang=en>\n Sign\n in</Title>", "a web page, \"Sign in\""),
            (" <html><body>All models of the world</body>", "a web page"),
            ("<html><title> </title>", "a web page"),
            ("<html><title>unended", "a web page"),
        ] {
            assert_eq!((excerpt(&said(body)).as_str(), words(body).as_str()), (expected, ""), "{body}");
        }
        assert_eq!(said("less <html> than"), "less <html> than");
    }
}
