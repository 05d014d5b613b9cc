//! The table: a figure, its floor, their ratio, and the bar.

use serde::Serialize;
use serde_json::json;

use super::{BenchArgs, subject::Subject};

/// One figure.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) figure: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) floor: Option<f64>,
    pub(crate) bar: Bar,
}

/// What a figure is held against.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Bar {
    /// At most so many times the floor.
    TimesAtMost(f64),
    /// At least so many times the floor.
    TimesAtLeast(f64),
    /// At most this.
    AtMost(f64),
    /// At least this.
    AtLeast(f64),
    /// None: the figure helps to read another one.
    None,
}

impl Row {
    pub(crate) const fn new(name: &'static str, unit: &'static str, figure: f64, bar: Bar) -> Self {
        Self { name, unit, figure, floor: None, bar }
    }

    pub(crate) const fn over(mut self, floor: f64) -> Self {
        self.floor = Some(floor);
        self
    }

    fn ratio(&self) -> Option<f64> {
        self.floor.filter(|floor| *floor > 0.0).map(|floor| self.figure / floor)
    }

    /// Whether it is within its bar; rows without one always are.
    fn is_met(&self) -> bool {
        let ratio = self.ratio().unwrap_or(f64::NAN);
        match self.bar {
            Bar::TimesAtMost(bar) => ratio <= bar,
            Bar::TimesAtLeast(bar) => ratio >= bar,
            Bar::AtMost(bar) => self.figure <= bar,
            Bar::AtLeast(bar) => self.figure >= bar,
            Bar::None => true,
        }
    }

    fn bar_text(&self) -> String {
        match self.bar {
            Bar::TimesAtMost(bar) => format!("<= {} x", shown(bar)),
            Bar::TimesAtLeast(bar) => format!(">= {} x", shown(bar)),
            Bar::AtMost(bar) => format!("<= {}", shown(bar)),
            Bar::AtLeast(bar) => format!(">= {}", shown(bar)),
            Bar::None => String::new(),
        }
    }
}

/// What was measured so far.
pub(crate) struct Report {
    rows: Vec<Row>,
    json: bool,
    daemon: String,
}

impl Report {
    pub(crate) fn new(args: &BenchArgs, subject: &Subject) -> Self {
        let report = Self { rows: Vec::new(), json: args.json, daemon: subject.version().to_owned() };
        if !report.json {
            if cfg!(debug_assertions) {
                print("This is a debug build: its figures mean nothing. Build with --release.\n");
            }
            print(&line(["", "figure", "floor", "ratio", "bar", ""]));
        }
        report
    }

    pub(crate) fn add(&mut self, row: Row) {
        if !self.json {
            let number = |number: Option<f64>| number.map(shown).unwrap_or_default();
            let name = format!("{}, {}", row.name, row.unit);
            let ratio = row.ratio().map(|ratio| format!("{ratio:.2} x")).unwrap_or_default();
            let met = if row.is_met() { "" } else { "missed" };
            print(&line([&name, &number(Some(row.figure)), &number(row.floor), &ratio, &row.bar_text(), met]));
        }
        self.rows.push(row);
    }

    pub(crate) fn finish(&self) {
        if self.json {
            let rows: Vec<_> = self.rows.iter().map(described).collect();
            let debug = cfg!(debug_assertions);
            print(&format!("{:#}\n", json!({"daemon": self.daemon, "debugBuild": debug, "rows": rows})));
        }
    }
}

fn described(row: &Row) -> serde_json::Value {
    let mut described = serde_json::to_value(row).unwrap_or_default();
    described["met"] = json!(row.is_met());
    if let Some(ratio) = row.ratio() {
        described["ratio"] = json!(ratio);
    }
    described
}

fn line([name, figure, floor, ratio, bar, met]: [&str; 6]) -> String {
    format!("{name:<58} {figure:>10} {floor:>10} {ratio:>8} {bar:>10} {met}\n")
}

/// Three significant digits or so.
fn shown(number: f64) -> String {
    match number.abs() {
        ..10.0 => format!("{number:.2}"),
        ..100.0 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}

#[expect(clippy::print_stdout, reason = "the table is what the command is for")]
fn print(text: &str) {
    print!("{text}");
}
