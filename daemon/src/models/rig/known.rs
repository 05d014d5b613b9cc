//! What is known of models by their names, from the catalogue of the provider library.

use rig_core::catalog::{Catalog, ModelSpec};
use ropewalk_protocol::Provider;

/// The window of a model in tokens, where the catalogue has it. Behind an address that may be anybody's it is the smallest
/// one of all providers that have a model of this name.
#[must_use]
pub fn known_window(provider: Provider, model: &str) -> Option<u64> {
    let vendor = match provider {
        Provider::OpenaiResponses => Some("openai"),
        Provider::Anthropic => Some("anthropic"),
        Provider::Gemini => Some("gcp.gemini"),
        Provider::OpenaiCompatible => None,
        // A local server gives a model the window it was told to, whatever the model could have.
        Provider::Ollama | Provider::Scripted => return None,
    };
    let model = model.strip_prefix("models/").unwrap_or(model);
    let served = |spec: &&ModelSpec| vendor.is_none_or(|vendor| spec.provider.vendor() == vendor);
    let windows = Catalog::builtin().iter().filter(served).filter(|spec| is_named(&spec.id, model));
    windows.filter_map(|spec| spec.context_window).map(u64::from).min()
}

/// Whether a name is that of a listed model, or of a dated snapshot of it.
fn is_named(listed: &str, name: &str) -> bool {
    let rest = name.strip_prefix(listed);
    rest.is_some_and(|rest| rest.is_empty() || rest.strip_prefix("-20").is_some_and(|date| date.len() >= 6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_known_by_provider_and_name_and_a_local_server_has_its_own() {
        let haiku = known_window(Provider::Anthropic, "claude-haiku-4-5");
        assert_eq!(haiku, Some(200_000));
        assert_eq!(known_window(Provider::Anthropic, "claude-haiku-4-5-20251001"), haiku);
        assert_eq!(known_window(Provider::Anthropic, "claude-haiku"), None);
        assert_eq!(known_window(Provider::OpenaiResponses, "claude-haiku-4-5"), None, "it is another's");
        assert!(known_window(Provider::OpenaiCompatible, "claude-haiku-4-5").is_some_and(|window| window <= 200_000));
        assert_eq!(known_window(Provider::Ollama, "claude-haiku-4-5"), None);
    }
}
