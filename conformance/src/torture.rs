//! `conformance torture`: a daemon under load that is killed, or loses its power, again and again.
//!
//! Its clients are processes that remember: every event they were sent, every write that was acknowledged, every handler
//! they started. With each new daemon they come back as a client should, and hold what it knows against what they
//! remember. At the end nothing goes on any more, every log is read whole, and every history is sent to a strict endpoint.

mod check;
mod client;
mod memory;
mod offers;
mod power;
mod session;
mod tally;
mod wire;
mod work;

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use clap::{Args, ValueEnum};
use rand::{Rng, SeedableRng, rngs::StdRng};
use serde_json::json;
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{Instant, sleep},
};

pub use self::tally::TortureReport;
use self::{
    client::{Client, Life},
    power::Disk,
    tally::Tally,
    wire::Wire,
};
use crate::{DaemonOptions, DaemonProcess, ScriptedServer, ServerOptions, StartFailure};

/// How many events a daemon sends at least and at most, most of the time, and how long it works after that, before it is killed.
const FEW_EVENTS: u64 = 10;
const LIFE_EVENTS: u64 = 150;
const LIFE_MS: u64 = 150;
/// One daemon in so many is killed before it is ready.
const KILLED_WHILE_STARTING: u32 = 8;
/// How long it is let start then, at most.
const STARTS_MS: u64 = 60;
/// How long clients are waited for, most of the time, before the instant is chosen.
const BACK_WITHIN: Duration = Duration::from_secs(20);
/// How long their events are waited for then.
const EVENTS_WITHIN: Duration = Duration::from_secs(5);
/// How long a child of a killed daemon may take to go.
const CHILDREN_GO_WITHIN: Duration = Duration::from_secs(10);

/// What `conformance torture` takes.
#[derive(Args, Clone, Debug)]
pub struct TortureArgs {
    /// What befalls the daemon
    #[arg(value_enum)]
    pub blow: Blow,
    /// How often
    #[arg(long, default_value_t = 50)]
    pub times: u32,
    /// Client processes, each with a thread of its own and an eye on its neighbour's
    #[arg(long, default_value_t = 4)]
    pub clients: usize,
    /// The beginning of all chance: the same seed asks for the same things
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The daemon's program; `ropewalk` beside this program unless given
    #[arg(long, value_name = "PATH")]
    pub daemon: Option<PathBuf>,
    /// Where the home is made; the temporary directory unless given
    #[arg(long, value_name = "DIRECTORY")]
    pub dir: Option<PathBuf>,
}

/// What befalls a daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Blow {
    /// `kill -9`
    Kill,
    /// All that was not synced is lost: the device under its home is copied while it stands still, and the next daemon
    /// gets the copy. Needs Linux, root and a loop device
    Power,
}

/// What all clients share.
struct Shared {
    tally: Tally,
    /// The thread each of them works on.
    threads: Mutex<Vec<Option<String>>>,
    /// How often one of them has come back to a daemon, in all.
    back: AtomicUsize,
}

impl Shared {
    fn works_on(&self, client: usize, thread: &str) {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads[client] = Some(thread.to_owned());
    }

    fn clients(&self) -> usize {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Waits until clients have come back so often, but not for long: what keeps them is found out elsewhere.
    async fn all_back(&self, often: usize) {
        let deadline = Instant::now() + BACK_WITHIN;
        while self.back.load(Ordering::Relaxed) < often && Instant::now() < deadline {
            sleep(Duration::from_millis(2)).await;
        }
    }

    /// Waits until clients have received so many more events, but not for long: there may be none to come.
    async fn events_come(&self, count: u64) {
        let enough = self.tally.report().events + count;
        let deadline = Instant::now() + EVENTS_WITHIN;
        while self.tally.report().events < enough && Instant::now() < deadline {
            sleep(Duration::from_millis(2)).await;
        }
    }

    fn neighbour_of(&self, client: usize) -> Option<String> {
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        let neighbour = (client + 1) % threads.len();
        threads[neighbour].clone().filter(|_| neighbour != client)
    }
}

/// Whether the power of a device can be cut on this machine, or why not.
///
/// # Errors
/// With the reason, a sentence.
pub async fn can_cut_power() -> io::Result<()> {
    power::check().await
}

/// Tortures a daemon and tells what came of it; a promise that was broken is no error but a violation in the report.
///
/// # Errors
/// When the daemon cannot be started at all, or the power of no device can be cut here.
pub async fn torture(args: &TortureArgs) -> io::Result<TortureReport> {
    let place = match &args.dir {
        Some(dir) => tempfile::tempdir_in(dir)?,
        None => tempfile::tempdir()?,
    };
    let program = match &args.daemon {
        Some(program) => program.clone(),
        None => std::env::current_exe()?.with_file_name("ropewalk"),
    };
    let model = ScriptedServer::start(ServerOptions { strict: true, ..ServerOptions::default() }).await?;
    let shared = Arc::new(Shared {
        tally: Tally::default(),
        threads: Mutex::new(vec![None; args.clients.max(1)]),
        back: AtomicUsize::new(0),
    });
    let ground = match args.blow {
        Blow::Kill => Ground { options: DaemonOptions::new(program, place.path().join("home")), disk: None },
        Blow::Power => Ground::on_a_disk(Disk::new(place.path(), &program).await?),
    };
    let (life, lives) = watch::channel(Life::default());
    let mut clients = JoinSet::new();
    for number in 0..args.clients.max(1) {
        clients.spawn(Client::new(number, args.seed, Arc::clone(&shared)).live(lives.clone()));
    }
    drop(lives);
    let mut random = StdRng::seed_from_u64(args.seed);
    for number in 1..=args.times {
        strike(&ground, &shared, &life, &model, number, &mut random).await?;
    }
    let daemon = start(&ground, &shared).await?;
    life.send_replace(Life {
        number: args.times + 1,
        socket: Some(daemon.ready().socket.as_path().into()),
        is_last: true,
    });
    while let Some(done) = clients.join_next().await {
        done?;
    }
    daemon.kill().await?;
    for refusal in model.refusals() {
        shared.tally.violation(format!("a history was refused: {refusal}"));
    }
    let mut report = shared.tally.report().clone();
    if !report.violations.is_empty() {
        report.kept = Some(place.keep());
    }
    Ok(report)
}

/// Where daemons are started.
struct Ground {
    options: DaemonOptions,
    disk: Option<Disk>,
}

impl Ground {
    fn on_a_disk(disk: Disk) -> Self {
        Self { options: disk.options(), disk: Some(disk) }
    }
}

/// One life of a daemon, to its sudden end.
async fn strike(
    ground: &Ground,
    shared: &Shared,
    life: &watch::Sender<Life>,
    model: &ScriptedServer,
    number: u32,
    random: &mut StdRng,
) -> io::Result<()> {
    let dies_young = number > 1 && ground.disk.is_none() && random.random_ratio(1, KILLED_WHILE_STARTING);
    if dies_young {
        let after = Duration::from_millis(random.random_range(0..STARTS_MS));
        DaemonProcess::killed_after(&ground.options, after).await?;
        shared.tally.report().while_starting += 1;
        shared.tally.report().blows += 1;
        return Ok(());
    }
    let daemon = start(ground, shared).await?;
    if number == 1 {
        prepare(&daemon.ready().socket, model).await?;
    }
    let clients = shared.back.load(Ordering::Relaxed) + shared.clients();
    life.send_replace(Life { number, socket: Some(daemon.ready().socket.as_path().into()), is_last: false });
    // A cut takes longer than all else, so each is to be worth it.
    if ground.disk.is_some() || random.random_ratio(3, 4) {
        shared.all_back(clients).await;
        // On a machine of any speed, somewhere between the first request and the middle of everything.
        shared.events_come(random.random_range(FEW_EVENTS..LIFE_EVENTS)).await;
    }
    // The instant is what chance decides here; no condition would be as blind.
    sleep(Duration::from_millis(random.random_range(1..LIFE_MS))).await;
    let children = daemon.children();
    match &ground.disk {
        None => daemon.kill().await?,
        Some(disk) if disk.cut(daemon).await? => {}
        Some(_) => shared.tally.violation("what was never synced outlived the cut: it was none".to_owned()),
    }
    life.send_replace(Life { number, socket: None, is_last: false });
    shared.tally.report().blows += 1;
    for child in children {
        if !crate::processes::gone(child, CHILDREN_GO_WITHIN).await {
            shared.tally.violation(format!("the process {child} of a killed daemon goes on"));
        }
    }
    Ok(())
}

/// Starts a daemon, which must come up whatever befell the last one.
async fn start(ground: &Ground, shared: &Shared) -> io::Result<DaemonProcess> {
    match DaemonProcess::start(&ground.options).await {
        Ok(daemon) => Ok(daemon),
        Err(failure) => {
            let so_far = shared.tally.report().clone();
            let refusal = match failure {
                StartFailure::Refused(refusal) => refusal.error.to_string(),
                StartFailure::Broken(error) => error.to_string(),
            };
            Err(io::Error::other(format!("no daemon came up any more: {refusal}\n{so_far}")))
        }
    }
}

/// Lets all threads be answered by the strict endpoint, and nobody's absence end a call: what a machine that is busy
/// takes to start a daemon is no fault of its clients.
async fn prepare(socket: &Path, model: &ScriptedServer) -> io::Result<()> {
    let mut wire = Wire::connect(socket).await?;
    let endpoint = json!({
        "name": "strict", "provider": "openaiCompatible", "baseUrl": model.base_url(), "model": "m", "isDefault": true,
    });
    let client = json!({"name": "preparer", "version": "0"});
    let requests = [
        ("initialize", json!({"protocol": {"min": 1, "max": 1}, "client": client, "optOut": ["data/changed"]})),
        ("endpoint/set", endpoint),
        ("settings/update", json!({"ownerGraceMs": 600_000, "approverGraceMs": 600_000})),
    ];
    for (method, params) in requests {
        wire.request(method, &params).await?;
        let answer = wire.next().await?;
        if answer.get("error").is_some() {
            return Err(io::Error::other(format!("{method} was refused: {answer}")));
        }
    }
    Ok(())
}
