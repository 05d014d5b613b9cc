//! A set of tools built once and bound to many threads.

use ropewalk_protocol::{ToolDeclaration, limits};

use super::Tool;
use crate::Error;

/// Tools that are declared together. Cheap to clone, and independent of any connection.
#[derive(Clone, Debug, Default)]
pub struct Tools {
    tools: Vec<Tool>,
}

impl Tools {
    /// No tools.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool; one of the same namespace and name takes the place of the earlier one.
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "a tool is added to a set, nothing is summed")]
    pub fn add(mut self, tool: Tool) -> Self {
        self.put(tool);
        self
    }

    pub(crate) fn put(&mut self, tool: Tool) {
        let key = tool.key();
        self.tools.retain(|other| other.key() != key);
        self.tools.push(tool);
    }

    /// The declarations, in the order in which the tools were added.
    pub fn declarations(&self) -> impl Iterator<Item = &ToolDeclaration> {
        self.tools.iter().map(Tool::declaration)
    }

    /// The tools, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter()
    }

    /// How many tools there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Whether every declaration keeps the rules of the wire, and the set its limit of 128 tools.
    ///
    /// # Errors
    /// [`Error::InvalidTool`] for the first that does not.
    pub fn check(&self) -> Result<(), Error> {
        self.tools.iter().try_for_each(Tool::check)?;
        match self.tools.get(limits::TOOLS_PER_CLIENT as usize) {
            None => Ok(()),
            Some(extra) => Err(Error::InvalidTool {
                tool: extra.key().to_string(),
                path: format!("/tools/{}", limits::TOOLS_PER_CLIENT),
                reason: "a client declares at most 128 tools for one thread".to_owned(),
            }),
        }
    }
}

impl FromIterator<Tool> for Tools {
    fn from_iter<I: IntoIterator<Item = Tool>>(tools: I) -> Self {
        tools.into_iter().fold(Self::new(), Self::add)
    }
}

impl Extend<Tool> for Tools {
    fn extend<I: IntoIterator<Item = Tool>>(&mut self, tools: I) {
        tools.into_iter().for_each(|tool| self.put(tool));
    }
}

impl From<Tool> for Tools {
    fn from(tool: Tool) -> Self {
        Self { tools: vec![tool] }
    }
}
