//! Finds the tool a script means by a name.

/// The name among `names` that `tool` means: the equal one, else the first that ends with `__` and `tool`, else `tool`
/// as it is, so that a script can also call what does not exist.
#[must_use]
pub fn resolve_name<'a>(tool: &'a str, names: impl IntoIterator<Item = &'a str> + Clone) -> &'a str {
    let equal = names.clone().into_iter().find(|name| *name == tool);
    equal.or_else(|| names.into_iter().find(|name| means(tool, name))).unwrap_or(tool)
}

/// Whether `tool`, as a script has it, can mean the tool with this flat name.
pub(crate) fn means(tool: &str, name: &str) -> bool {
    name.strip_suffix(tool).is_some_and(|prefix| prefix.is_empty() || prefix.ends_with("__"))
}
