//! The long way to make a tool, for those that the attribute macro cannot describe.

use std::{borrow::Cow, fmt, marker::PhantomData, sync::Arc};

use futures::FutureExt;
use ropewalk_protocol::{Annotations, ApprovalWish, ToolDeclaration};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::{Tool, ToolContext, result::IntoToolResult, schema, tool::Handler};

/// The arguments of a tool that takes none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct NoArguments {}

impl JsonSchema for NoArguments {
    fn schema_name() -> Cow<'static, str> {
        "NoArguments".into()
    }

    // A derived schema would tell the model what this type is for.
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "properties": {} })
    }
}

/// A tool being made. `A` is the type its arguments are read into.
#[must_use = "a tool is complete when its handler is given"]
pub struct ToolBuilder<A> {
    declaration: ToolDeclaration,
    arguments: PhantomData<fn() -> A>,
}

impl ToolBuilder<NoArguments> {
    pub(super) fn new(name: String) -> Self {
        let declaration = ToolDeclaration {
            namespace: None,
            namespace_description: None,
            name,
            description: String::new(),
            input_schema: schema::of::<NoArguments>(),
            output_schema: None,
            annotations: None,
            title: None,
            timeout_ms: None,
            approval: None,
        };
        Self { declaration, arguments: PhantomData }
    }
}

impl<A> ToolBuilder<A> {
    /// What the model is told about the tool; needed, at most 2,048 characters.
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.declaration.description = text.into();
        self
    }

    /// A group for tools that belong together, `[A-Za-z0-9_-]{1,64}`. The model sees `namespace__name`.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.declaration.namespace = Some(namespace.into());
        self
    }

    /// What the group is for: the same in every tool of the namespace that says it.
    pub fn namespace_description(mut self, text: impl Into<String>) -> Self {
        self.declaration.namespace_description = Some(text.into());
        self
    }

    /// What people call the tool.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.declaration.title = Some(title.into());
        self
    }

    /// Whether it changes nothing. A read-only tool may be called again by another instance of this client.
    pub fn read_only(mut self, yes: bool) -> Self {
        self.annotations().read_only_hint = Some(yes);
        self
    }

    /// Whether it may destroy something.
    pub fn destructive(mut self, yes: bool) -> Self {
        self.annotations().destructive_hint = Some(yes);
        self
    }

    /// Whether calling it twice has the effect of calling it once.
    pub fn idempotent(mut self, yes: bool) -> Self {
        self.annotations().idempotent_hint = Some(yes);
        self
    }

    /// Whether it reaches beyond this machine.
    pub fn open_world(mut self, yes: bool) -> Self {
        self.annotations().open_world_hint = Some(yes);
        self
    }

    /// How long a call may be silent, 1,000 to 3,600,000 ms; 120,000 unless given. [`ToolContext::progress`] breaks the
    /// silence.
    pub fn timeout_ms(mut self, timeout_ms: u64) -> Self {
        self.declaration.timeout_ms = Some(timeout_ms);
        self
    }

    /// Whether a person is asked before each call when no rule says otherwise.
    pub fn approval(mut self, wish: ApprovalWish) -> Self {
        self.declaration.approval = Some(wish);
        self
    }

    /// The type of the arguments. Its schema is closed: a property it does not declare is refused, and the handler not
    /// called. Doc comments of fields become descriptions.
    pub fn input<T: JsonSchema + DeserializeOwned + Send + 'static>(mut self) -> ToolBuilder<T> {
        self.declaration.input_schema = schema::of::<T>();
        ToolBuilder { declaration: self.declaration, arguments: PhantomData }
    }

    /// A JSON Schema of one's own for the arguments, sent as it is; its `type` is `object`. The handler gets the JSON.
    /// The daemon checks arguments against it before they are sent here.
    pub fn input_schema(mut self, schema: Value) -> ToolBuilder<Value> {
        self.declaration.input_schema = schema;
        ToolBuilder { declaration: self.declaration, arguments: PhantomData }
    }

    /// The type of the structured content of results.
    pub fn output<T: JsonSchema>(mut self) -> Self {
        self.declaration.output_schema = Some(schema::of_output::<T>());
        self
    }

    /// A JSON Schema of one's own for the structured content of results.
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.declaration.output_schema = Some(schema);
        self
    }

    /// The function that answers calls; with it the tool is complete.
    ///
    /// Each call runs in a task of its own. An error, or a panic, is the result of that call alone
    /// (`AdapterToolCallFailed`) and ends nothing else. Arguments that do not fit `A` are answered with
    /// `invalid_arguments`, without a call of the handler.
    pub fn handler<F, Fut>(self, handler: F) -> Tool
    where
        A: DeserializeOwned + Send + 'static,
        F: Fn(A, ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoToolResult> + Send + 'static,
    {
        let handler = Arc::new(handler);
        let run: Arc<Handler> = Arc::new(move |arguments: Value, context: ToolContext| {
            let handler = Arc::clone(&handler);
            async move {
                let arguments = schema::read_arguments::<A>(arguments)?;
                handler(arguments, context).await.into_tool_result()
            }
            .boxed()
        });
        Tool::from_parts(self.declaration, run)
    }

    fn annotations(&mut self) -> &mut Annotations {
        self.declaration.annotations.get_or_insert_default()
    }
}

impl<A> fmt::Debug for ToolBuilder<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolBuilder").field("declaration", &self.declaration).finish()
    }
}
