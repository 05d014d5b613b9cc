//! A disk whose power can be cut: an ext4 image behind a loop device, mounted where only its daemon sees it.
//!
//! What a program has written and not synced is in the page cache of that filesystem, and not in the image. So a copy of
//! the image, made while the daemon stands still, is what a power cut would have left; mounting it replays the journal, as
//! the next start of a machine does. Nothing is frozen or synced for the copy: that would save what must be lost.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Output, Stdio},
    time::Duration,
};

use tokio::{process::Command, time::timeout};

use crate::{DaemonOptions, DaemonProcess, Signal};

const IMAGE_BYTES: u64 = 128 << 20;
/// How long any of the system's commands may take.
const COMMAND_WITHIN: Duration = Duration::from_secs(60);
/// Written and never synced, so that its absence afterwards shows that the cut was one.
const CANARY: &str = "canary";
const CANARY_BYTES: usize = 1 << 16;

/// Mounts the image of the first argument at the second, and becomes the program that the rest says. The journal of the
/// filesystem is written by syncs alone and not by the clock, so that the image stands still while nothing is synced. A
/// mount in a namespace of its own goes with the last process in it.
const SCRIPT: &str = "#!/bin/sh\nset -e\nimage='{image}'\nmount='{mount}'\n\
    exec unshare --mount --propagation private sh -c \
    'mount -o loop,commit=300 \"$1\" \"$2\" && shift 2 && exec \"$@\"' sh \"$image\" \"$mount\" '{program}' \"$@\"\n";

/// The disk.
pub(super) struct Disk {
    place: PathBuf,
}

/// Looks whether the power of a disk can be cut here: all that it takes is done once.
pub(super) async fn check() -> io::Result<()> {
    let place = tempfile::tempdir()?;
    let disk = Disk::new(place.path(), Path::new("true")).await?;
    run(Command::new(disk.wrapper())).await.map(drop)
}

impl Disk {
    /// An empty one, with its files below `place`.
    pub(super) async fn new(place: &Path, program: &Path) -> io::Result<Self> {
        let disk = Self { place: place.to_owned() };
        // First, and once: a file that a process being started elsewhere still holds open cannot be executed.
        disk.write_wrapper(program)?;
        fs::create_dir(disk.mount())?;
        let mut sockets = fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(&mut sockets, 0o700);
        sockets.create(disk.place.join("socket"))?;
        fs::File::create(disk.image())?.set_len(IMAGE_BYTES)?;
        let mut format = Command::new("mkfs.ext4");
        format.args(["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"]).arg(disk.image());
        run(format).await?;
        Ok(disk)
    }

    /// How a daemon is started on it.
    pub(super) fn options(&self) -> DaemonOptions {
        let options = DaemonOptions::new(self.wrapper(), self.mount().join("home"));
        options.argument("--socket").argument(self.place.join("socket/daemon.sock"))
    }

    /// Cuts the power under a daemon: it stands still, the image is copied as it is, and the copy takes its place.
    /// Returns whether what was never synced is lost.
    pub(super) async fn cut(&self, daemon: DaemonProcess) -> io::Result<bool> {
        let inside = PathBuf::from(format!("/proc/{}/root", daemon.pid()));
        let mounted = self.mount();
        let canary = inside.join(mounted.strip_prefix("/").unwrap_or(&mounted)).join(CANARY);
        // A new file each time: one that is cut to nothing and written again is flushed by ext4 without being asked.
        match fs::remove_file(&canary) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::write(canary, vec![b'x'; CANARY_BYTES])?;
        daemon.signal(Signal::Stop)?;
        daemon.stands_still(COMMAND_WITHIN).await?;
        let left = self.place.join("left.ext4");
        let mut copy = Command::new("cp");
        copy.arg("--sparse=always").arg(self.image()).arg(&left);
        run(copy).await?;
        daemon.kill().await?;
        fs::rename(left, self.image())?;
        self.has_lost_the_canary().await
    }

    /// Looks into the image as the next start of the machine finds it.
    async fn has_lost_the_canary(&self) -> io::Result<bool> {
        let mut look = Command::new("unshare");
        let script = "mount -o loop \"$1\" \"$2\" && wc -c \"$2/$3\" 2>/dev/null; true";
        look.args(["--mount", "--propagation", "private", "sh", "-c", script, "sh"]);
        look.arg(self.image()).arg(self.mount()).arg(CANARY);
        let said = String::from_utf8_lossy(&run(look).await?.stdout).into_owned();
        let bytes = said.split_whitespace().next().and_then(|bytes| bytes.parse::<usize>().ok());
        Ok(bytes.is_none_or(|bytes| bytes < CANARY_BYTES))
    }

    fn mount(&self) -> PathBuf {
        self.place.join("mounted")
    }

    fn image(&self) -> PathBuf {
        self.place.join("disk.ext4")
    }

    fn wrapper(&self) -> PathBuf {
        self.place.join("on-a-disk")
    }

    fn write_wrapper(&self, program: &Path) -> io::Result<()> {
        let quoted = |path: &Path| path.display().to_string().replace('\'', r"'\''");
        let script = SCRIPT.replace("{image}", &quoted(&self.image()));
        let script = script.replace("{mount}", &quoted(&self.mount())).replace("{program}", &quoted(program));
        fs::write(self.wrapper(), script)?;
        fs::set_permissions(self.wrapper(), std::os::unix::fs::PermissionsExt::from_mode(0o700))
    }
}

async fn run(mut command: Command) -> io::Result<Output> {
    let name = command.as_std().get_program().to_string_lossy().into_owned();
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{name}: {error}"));
    let output = timeout(COMMAND_WITHIN, command.stdin(Stdio::null()).kill_on_drop(true).output()).await;
    let output = output.map_err(|_| named(io::ErrorKind::TimedOut.into()))?.map_err(named)?;
    if output.status.success() {
        return Ok(output);
    }
    let complained = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(io::Error::other(format!("{name}: {}: {complained}", output.status)))
}
