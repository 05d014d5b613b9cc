//! A tool of this program, a prompt, an approval and the answer. `call get_issue {"id":"7"}` is for the built-in model.
#![expect(clippy::print_stdout, reason = "the answer is what the example shows")]

use ropewalk::{Approval, Decision, Error, Ropewalk};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct GetIssue {
    /// The number, without `#`.
    id: String,
}

/// Read an issue of the tracker.
#[ropewalk::tool(read_only, approval = "ask")]
async fn get_issue(args: GetIssue) -> String {
    format!("#{} Login fails on Tuesdays", args.id)
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let client = Ropewalk::connect().on_approval(|_: Approval| async { Decision::Accept }).await?;
    let thread = client.threads().start().tool(get_issue()).await?;
    let result = thread.run(r#"call get_issue {"id":"7"}"#).await?.into_result()?;
    println!("{}", result.text());
    Ok(())
}
