//! The keeper: a mode of our own binary that stands between the daemon and the process of a server (ruling 46).
//!
//! It passes its input on, and when that ends, whether the daemon closed it or died, it ends the server: the end of its
//! input first, then a request to end, then no choice, each to the whole group, and reaps it. The server's other pipes are
//! the daemon's own, so that what it says costs nothing more.

use std::{
    ffi::OsString,
    io::{self, Read, Write},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc::{self, RecvTimeoutError},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Resource, Rlimit, Signal, WaitOptions, getrlimit, kill_process_group, setrlimit, waitpid};

use super::child::{EOF_GRACE, TERM_GRACE};

/// How long processes that the server left behind may take to be reaped after they were killed.
const REAPING: Duration = Duration::from_millis(300);

/// What a keeper waits for.
enum News {
    /// There is no more input.
    InputEnded,
    /// The server has ended.
    Exited(io::Result<ExitStatus>),
}

/// Starts a program and keeps it until it ends or our input does. Returns the exit code to leave with.
///
/// # Errors
/// When the program cannot be started.
pub fn keep(program: &OsString, arguments: &[OsString], descriptors: Option<u64>) -> io::Result<u8> {
    use std::os::unix::process::CommandExt;
    if let Some(descriptors) = descriptors {
        lower_descriptor_limit(descriptors);
    }
    // Processes whose parent has ended become ours, to be reaped.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    let mut child = Command::new(program).args(arguments).process_group(0).stdin(Stdio::piped()).spawn()?;
    let group = Pid::from_child(&child);
    let input = child.stdin.take();
    let (news, heard) = mpsc::channel();
    let ended = news.clone();
    std::thread::spawn(move || {
        if let Some(input) = input {
            pass_on(input);
        }
        let _ = ended.send(News::InputEnded);
    });
    std::thread::spawn(move || wait_for(child, &news));
    let status = attend(&heard, group);
    signal(group, Signal::KILL);
    reap();
    Ok(code_of(status))
}

/// Passes input on until there is no more. That the server does not read any more is no reason to end: it may still answer.
fn pass_on(mut input: ChildStdin) {
    let mut bytes = vec![0; 64 << 10];
    let mut is_read = true;
    let mut stdin = io::stdin().lock();
    loop {
        match stdin.read(&mut bytes) {
            Ok(0) => return,
            Ok(read) => is_read = is_read && input.write_all(&bytes[..read]).and_then(|()| input.flush()).is_ok(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

fn wait_for(mut child: Child, news: &mpsc::Sender<News>) {
    let _ = news.send(News::Exited(child.wait()));
}

/// Waits for the end of the server; once there is no more input, not for ever.
fn attend(heard: &mpsc::Receiver<News>, group: Pid) -> io::Result<ExitStatus> {
    let lost = || Err(io::Error::other("nobody waits for the server"));
    match heard.recv() {
        Ok(News::Exited(status)) => return status,
        Ok(News::InputEnded) => {}
        Err(_) => return lost(),
    }
    for (patience, then) in [(EOF_GRACE, Signal::TERM), (TERM_GRACE, Signal::KILL), (TERM_GRACE, Signal::KILL)] {
        match heard.recv_timeout(patience) {
            Ok(News::Exited(status)) => return status,
            Ok(News::InputEnded) | Err(RecvTimeoutError::Timeout) => signal(group, then),
            Err(RecvTimeoutError::Disconnected) => return lost(),
        }
    }
    lost()
}

fn signal(group: Pid, signal: Signal) {
    // A group that is gone already is what was wanted.
    let _ = kill_process_group(group, signal);
}

/// Reaps what the server left behind.
fn reap() {
    let until = Instant::now() + REAPING;
    while Instant::now() < until {
        match waitpid(None, WaitOptions::NOHANG) {
            Ok(Some(_)) => {}
            Ok(None) => std::thread::sleep(Duration::from_millis(5)),
            Err(_) => return,
        }
    }
}

fn lower_descriptor_limit(descriptors: u64) {
    let limit = getrlimit(Resource::Nofile);
    let current = limit.maximum.map_or(descriptors, |most| most.min(descriptors));
    // More than it should have is no harm.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(current), maximum: limit.maximum });
}

/// As a shell tells it: the code, or 128 and the signal.
fn code_of(status: io::Result<ExitStatus>) -> u8 {
    use std::os::unix::process::ExitStatusExt;
    let Ok(status) = status else { return 1 };
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}
