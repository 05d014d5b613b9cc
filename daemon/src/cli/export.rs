//! `ropewalk export`: the whole history of a thread, as Markdown or JSON.

mod lineage;
mod markdown;

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use clap::{Args, ValueEnum};
use ropewalk::{Client, Error};
use ropewalk_protocol::{
    Branch, ErrorDetail, Event, ListedItem, RunList, RunListParams, Seq, Thread, ThreadEventsParams, ThreadId,
};
use serde_json::json;

use self::lineage::Lineage;
use super::{
    failure::{Exit, Failure},
    session::Context,
};

/// Events that are read at once.
const PAGE: u64 = 1_000;

/// Write the whole history of a thread as Markdown or JSON
///
/// Everything that happened on its original branch, or on another one and on those it comes from, in order: what was said,
/// the calls of tools with their results, notices, and how runs ended that did not complete. What a retry took out of the
/// chain is there too, and in JSON all runs of the thread. It is read and written by pages, however long it is. Where reading
/// meets a damaged place of the log, what was before it is written, stderr says so, and the exit code is 1.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  ropewalk export 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11 > thread.md
  ropewalk export 0193e0c4-7f5a-7c31-9d0f-2f6f1f0c9a11 --format json --output thread.json")]
pub(crate) struct ExportArgs {
    /// The thread
    #[arg(value_name = "THREAD")]
    thread: String,
    /// How it is written; JSON with `--json` too
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Markdown)]
    format: Format,
    /// The branch, where it is not the thread's original one
    #[arg(long, value_name = "ID")]
    branch: Option<String>,
    /// The file it is written to, which must not exist yet; stdout unless given
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// For people
    Markdown,
    /// For programs: the thread, each item with the place of its event, and the runs of the thread
    Json,
}

/// Runs it.
pub(crate) async fn run(args: ExportArgs, context: &Context) -> Result<Exit, Failure> {
    let client = context.client().await?;
    let thread = client.threads().read(&*args.thread).await?;
    let branches = thread.branches.clone().unwrap_or_default();
    let wanted = args.branch.as_deref().unwrap_or(&args.thread);
    let lineage = lineage_of(wanted, &branches)?;
    let format = if context.global.json { Format::Json } else { args.format };
    let source = Source { client: &client, thread: &thread, format };
    let written = match &args.output {
        None => source.write(lineage, &mut Stdout { context, text: Vec::new() }).await?,
        Some(path) => {
            let mut target = BufWriter::new(File::create_new(path).map_err(|error| uncreated(path, &error))?);
            let written = source.write(lineage, &mut target).await?;
            let unwritable = |error| Failure::Failed(format!("{} cannot be written: {error}.", path.display()));
            target.into_inner().map_err(|error| unwritable(error.into_error()))?.sync_all().map_err(unwritable)?;
            context.out.aside(&format!("{} items are in {}", written.items, path.display()));
            written
        }
    };
    match written.breaks_off {
        None => Ok(Exit::DONE),
        Some(why) => {
            // A daemon that has known of the damage since its start knows of no more events than can be read.
            let of = if written.last < thread.seq { format!(" of {}", thread.seq) } else { String::new() };
            Err(Failure::Failed(format!(
                "The history breaks off after event {}{of}, and what comes then is not in the export: {why}",
                written.last
            )))
        }
    }
}

fn uncreated(path: &Path, error: &io::Error) -> Failure {
    let shown = path.display();
    Failure::Failed(match error.kind() {
        io::ErrorKind::AlreadyExists => {
            format!("{shown} is there already, and nothing is written over. Choose another name for --output.")
        }
        _ => format!("{shown} cannot be written: {error}."),
    })
}

fn lineage_of(wanted: &str, branches: &[Branch]) -> Result<Lineage, Failure> {
    Lineage::of(wanted, branches).ok_or_else(|| {
        let known: Vec<_> = branches.iter().map(|branch| branch.branch_id.as_str()).collect();
        Failure::Failed(format!("There is no branch `{wanted}` in this thread. There is: {}.", known.join(", ")))
    })
}

/// What is exported, and as what.
struct Source<'a> {
    client: &'a Client,
    thread: &'a Thread,
    format: Format,
}

/// What an export has in it.
#[derive(Default)]
struct Written {
    items: u64,
    /// The last event that was read.
    last: Seq,
    /// Why it ends before the history does.
    breaks_off: Option<String>,
}

impl Source<'_> {
    /// Reads the thread's events from the first on and writes the items among them, and how runs ended.
    async fn write(&self, mut lineage: Lineage, target: &mut impl Write) -> Result<Written, Failure> {
        begin(self.thread, self.format, target)?;
        let mut written = Written::default();
        loop {
            let page = match events(self.client, &self.thread.thread_id, written.last).await {
                Ok(page) => page,
                Err(error) if is_damage(&error) => {
                    written.breaks_off = Some(error.to_string());
                    break;
                }
                Err(error) => return Err(error.into()),
            };
            if page.is_empty() {
                break;
            }
            for (seq, event) in page {
                written.last = seq;
                written.items += u64::from(self.event(seq, event, &mut lineage, written.items == 0, target)?);
            }
            target.flush().map_err(unwritable)?;
        }
        if written.last < self.thread.seq && written.breaks_off.is_none() {
            written.breaks_off = Some("the daemon has no more of it.".to_owned());
        }
        self.end(target).await?;
        Ok(written)
    }

    /// Writes what there is to say of an event; whether that was an item.
    fn event(
        &self,
        seq: Seq,
        event: Event,
        lineage: &mut Lineage,
        is_first: bool,
        target: &mut impl Write,
    ) -> Result<bool, Failure> {
        lineage.passes(&event);
        match event {
            Event::ItemCompleted { item } if lineage.has(&item) => {
                one(ListedItem { seq, item }, is_first, self.format, target)?;
                return Ok(true);
            }
            Event::RunCompleted { branch_id, outcome, .. }
                if self.format == Format::Markdown && lineage.covers(&branch_id) =>
            {
                if let Some(text) = markdown::ending(&outcome) {
                    write!(target, "{text}").map_err(unwritable)?;
                }
            }
            _ => {}
        }
        Ok(false)
    }

    async fn end(&self, target: &mut impl Write) -> Result<(), Failure> {
        if self.format == Format::Json {
            write!(target, "\n],\"runs\":[").map_err(unwritable)?;
            self.runs(target).await?;
            writeln!(target, "\n]}}").map_err(unwritable)?;
        }
        target.flush().map_err(unwritable)
    }

    /// All runs of the thread, a page after the other.
    async fn runs(&self, target: &mut impl Write) -> Result<(), Failure> {
        let (mut cursor, mut separator) = (None, "");
        loop {
            let thread_id = Some(self.thread.thread_id.clone());
            let params = RunListParams { thread_id, cursor, limit: Some(PAGE), ..RunListParams::default() };
            let page = self.client.call::<RunList>(params).await?;
            for run in &page.items {
                write!(target, "{separator}\n{}", json!(run)).map_err(unwritable)?;
                separator = ",";
            }
            target.flush().map_err(unwritable)?;
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(());
            }
        }
    }
}

/// Whether what comes next in the log cannot be read any more, and what came before was right.
fn is_damage(error: &Error) -> bool {
    matches!(error, Error::Rpc(error)
        if matches!(&error.data.detail, ErrorDetail::Unavailable { reason, .. } if reason == "log_damaged"))
}

async fn events(client: &Client, thread_id: &ThreadId, after: u64) -> Result<Vec<(u64, Event)>, Error> {
    let params = ThreadEventsParams { thread_id: thread_id.clone(), after, limit: Some(PAGE), wait_ms: None };
    let page = client.threads().events(params).await?;
    Ok(page.events.into_iter().filter_map(|event| Some((event.seq?, event.event))).collect())
}

fn begin(thread: &Thread, format: Format, target: &mut impl Write) -> Result<(), Failure> {
    match format {
        Format::Markdown => write!(target, "{}", markdown::title(thread)),
        Format::Json => write!(target, "{{\"thread\":{},\"items\":[", json!(thread)),
    }
    .map_err(unwritable)
}

fn one(item: ListedItem, is_first: bool, format: Format, target: &mut impl Write) -> Result<(), Failure> {
    match format {
        Format::Markdown => markdown::item(&item.item).map_or(Ok(()), |text| write!(target, "{text}")),
        Format::Json => write!(target, "{}\n{}", if is_first { "" } else { "," }, json!(item)),
    }
    .map_err(unwritable)
}

fn unwritable(error: io::Error) -> Failure {
    Failure::Failed(format!("The history cannot be written: {error}."))
}

/// The result of the command, page by page.
struct Stdout<'a> {
    context: &'a Context,
    text: Vec<u8>,
}

impl Write for Stdout<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let text = std::mem::take(&mut self.text);
        self.context.out.print_foreign(&String::from_utf8_lossy(&text));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
