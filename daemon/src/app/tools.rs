//! The list of the App tools, each with the schemas of the types that read its arguments and write its result (APP-10).

use std::sync::{Arc, LazyLock};

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use ropewalk_protocol::{Annotations, PolicyDecision, SourceKind};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

use super::{
    change::{instructions, memory, projects, runs, security, threads},
    navigate, read,
};
use crate::tools::{APP_SILENCE_MS, SourceDefault, ToolSpec, digest::tool_digest, names::server_flat_name};

/// The id of the source, the same in every home.
pub const SOURCE: &str = "app";

/// What people call the source.
pub const SOURCE_NAME: &str = "App tools";

/// The tools, as the server lists them.
pub fn tools() -> &'static [Tool] {
    static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
        vec![
            instructions::tool(),
            memory::tool(),
            navigate::tool(),
            projects::tool(),
            read::tool(),
            runs::tool(),
            security::tool(),
            threads::tool(),
        ]
    });
    &TOOLS
}

/// The tools, as threads have them.
#[must_use]
pub fn specs() -> &'static [Arc<ToolSpec>] {
    static SPECS: LazyLock<Vec<Arc<ToolSpec>>> = LazyLock::new(|| tools().iter().map(spec).map(Arc::new).collect());
    &SPECS
}

/// A tool whose arguments are an `I` and whose structured result is an `O`.
pub fn tool<I: JsonSchema, O: JsonSchema>(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    annotations: ToolAnnotations,
) -> Tool {
    let input = schema::<I>(SchemaSettings::draft2020_12());
    let output = schema::<O>(SchemaSettings::draft2020_12().for_serialize());
    Tool::new(name, description, Arc::new(input))
        .with_title(title)
        .with_annotations(annotations)
        .with_raw_output_schema(Arc::new(output))
}

/// The schema of a type, whole in itself. Its own name and words are ours and not the model's.
fn schema<T: JsonSchema>(settings: SchemaSettings) -> JsonObject {
    let generator = settings.with(|settings| settings.inline_subschemas = true).into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    let fields = schema.ensure_object();
    for ours in ["$schema", "title", "description"] {
        fields.remove(ours);
    }
    fields.clone()
}

fn spec(tool: &Tool) -> ToolSpec {
    let annotations = annotations(tool.annotations.as_ref());
    let input_schema = Value::Object(tool.input_schema.as_ref().clone());
    let output_schema = tool.output_schema.as_ref().map(|schema| Value::Object(schema.as_ref().clone()));
    ToolSpec {
        flat_name: server_flat_name(SOURCE, &tool.name),
        name: tool.name.to_string(),
        namespace: None,
        namespace_description: None,
        title: tool.title.clone(),
        description: tool.description.as_deref().unwrap_or_default().to_owned(),
        digest: tool_digest(&input_schema, output_schema.as_ref(), &annotations),
        annotations,
        source: SOURCE.to_owned(),
        source_kind: SourceKind::App,
        source_name: SOURCE_NAME.to_owned(),
        input_schema: Arc::new(input_schema),
        output_schema: output_schema.map(Arc::new),
        default: SourceDefault {
            decision: PolicyDecision::Ask,
            silence_ms: APP_SILENCE_MS,
            exempt_from_asking: false,
            why: "default of App tools".into(),
        },
        owner: None,
    }
}

fn annotations(listed: Option<&ToolAnnotations>) -> Annotations {
    let hint = |read: fn(&ToolAnnotations) -> Option<bool>| listed.and_then(read);
    Annotations {
        read_only_hint: hint(|listed| listed.read_only_hint),
        destructive_hint: hint(|listed| listed.destructive_hint),
        idempotent_hint: hint(|listed| listed.idempotent_hint),
        open_world_hint: hint(|listed| listed.open_world_hint),
    }
}
