//! Programs by others that Ropewalk is tested against: npm packages of folders below `conformance`, each at one version.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
    time::timeout,
};

/// How long a program may take to say that it is ready.
const READY_WITHIN: Duration = Duration::from_secs(60);

/// How long a script may take for everything it does.
const ENDS_WITHIN: Duration = Duration::from_secs(120);

/// What `llmock` says before its address.
const LISTENING: &str = "listening on ";

/// The directory of an npm package of `conformance/npm` that is installed at the version it is wanted at.
///
/// # Errors
/// When it is not, with its name and what to do about it: a test that needs it fails, and is never skipped.
pub fn npm_package(name: &str) -> io::Result<PathBuf> {
    npm_package_of("npm", name)
}

/// The directory of an npm package that a folder below `conformance` wants, installed at the version it is wanted at.
///
/// # Errors
/// As those of [`npm_package`].
pub fn npm_package_of(folder: &str, name: &str) -> io::Result<PathBuf> {
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let manifest: Value = read_json(&peers.join("package.json"))?;
    let wanted = ["dependencies", "optionalDependencies"].iter().find_map(|kind| manifest[kind][name].as_str());
    let wanted = wanted.unwrap_or("of an unknown version");
    let directory = peers.join("node_modules").join(name);
    let installed = read_json(&directory.join("package.json")).unwrap_or_default();
    if installed["version"] == wanted {
        return Ok(directory);
    }
    let remedy = format!("install it with `npm --prefix conformance/{folder} ci`");
    let message = match installed["version"].as_str() {
        Some(other) => format!("the npm package {name} is {other}, and {wanted} is wanted: {remedy}"),
        None => format!("the npm package {name} {wanted} is not installed: {remedy}"),
    };
    Err(io::Error::new(io::ErrorKind::NotFound, message))
}

/// Lets a script of `conformance/npm/readers` read what is at an address, with the package it reads it with.
///
/// # Errors
/// When the package is missing, and when the script does not like what it reads: with what it said.
pub async fn read_with(package: &str, script: &str, arguments: &[&str]) -> io::Result<()> {
    run_with(package, &format!("readers/{script}"), arguments).await.map(drop)
}

/// Runs a script below `conformance/npm`, which needs this package, to its end; what it wrote to its output.
///
/// # Errors
/// When the package is missing, when the script takes longer than two minutes, and when it ends with another status than 0:
/// with what it said.
pub async fn run_with(package: &str, script: &str, arguments: &[&str]) -> io::Result<String> {
    npm_package(package)?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("npm").join(script);
    let mut program = Command::new("node");
    program.arg(script).args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    let output = timeout(ENDS_WITHIN, program.output()).await;
    let output = output.map_err(|_| late(&format!("the script with {package} did not end"), ENDS_WITHIN))??;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(said);
    }
    let complained = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("{package} does not like what it got:\n{said}{complained}")))
}

/// The mock of npm `@copilotkit/aimock`, as a process on a free loopback port; killed when dropped.
pub struct Aimock {
    child: Child,
    url: String,
    _fixtures: TempDir,
}

impl Aimock {
    /// Starts it with these fixtures, strict: a request that none of them fits is refused.
    ///
    /// # Errors
    /// When the package is missing, or the mock does not say in time where it listens.
    pub async fn start(fixtures: &Value) -> io::Result<Self> {
        let directory = npm_package("@copilotkit/aimock")?;
        let place = TempDir::new()?;
        let file = place.path().join("fixtures.json");
        fs::write(&file, fixtures.to_string())?;
        let mut command = Command::new("node");
        command.arg(directory.join("dist/cli.js")).args(["-p", "0", "--strict", "--validate-on-load", "-f"]).arg(file);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let mut lines = BufReader::new(child.stdout.take().expect("its output is a pipe")).lines();
        let announced = async {
            while let Some(line) = lines.next_line().await? {
                if let Some((_, url)) = line.split_once(LISTENING) {
                    return Ok(url.trim().to_owned());
                }
            }
            Err(io::Error::other("the mock ended before it listened"))
        };
        let url =
            timeout(READY_WITHIN, announced).await.map_err(|_| late("the mock did not listen", READY_WITHIN))??;
        // A pipe that nobody reads would stop the mock once it is full.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(Self { child, url, _fixtures: place })
    }

    /// Its address, without a path.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Kills it and waits until it is gone.
    ///
    /// # Errors
    /// When it cannot be killed or waited for.
    pub async fn end(mut self) -> io::Result<()> {
        self.child.kill().await
    }
}

fn read_json(path: &Path) -> io::Result<Value> {
    Ok(serde_json::from_slice(&fs::read(path)?)?)
}

fn late(what: &str, within: Duration) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, format!("{what} within {} seconds", within.as_secs()))
}
