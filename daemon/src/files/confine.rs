//! The process locks itself in: from then on the kernel refuses what the grants do not have, whatever the process is made to
//! try. Where a kernel has no such lock, opening beneath the grants is what holds.

use std::io;

use cap_std::fs::Dir;
use ropewalk_protocol::Capability;

/// Locks this thread, and those it starts from now on, into these directories; the network and starting programs are shut
/// off as well. Whether the kernel does all of it.
///
/// # Errors
/// When the kernel has such locks and this one could not be made.
#[cfg(target_os = "linux")]
pub fn confine<'a>(granted: impl Iterator<Item = (&'a Dir, &'a [Capability])>) -> io::Result<bool> {
    use landlock::{
        ABI, Access, AccessFs, AccessNet, PathBeneath, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError,
        RulesetStatus,
    };

    const NEWEST: ABI = ABI::V6;
    let lock = || -> Result<bool, RulesetError> {
        let mut rules = Ruleset::default()
            .handle_access(AccessFs::from_all(NEWEST))?
            .handle_access(AccessNet::from_all(NEWEST))?
            .create()?;
        for (dir, capabilities) in granted {
            rules = rules.add_rule(PathBeneath::new(dir, access(capabilities)))?;
        }
        Ok(rules.restrict_self()?.ruleset == RulesetStatus::FullyEnforced)
    };
    lock().map_err(io::Error::other)
}

/// What the capabilities of a grant come to. Directories are opened on the way to what is in them, so that much is always
/// allowed.
#[cfg(target_os = "linux")]
fn access(capabilities: &[Capability]) -> landlock::BitFlags<landlock::AccessFs> {
    use landlock::AccessFs;

    let mut access = AccessFs::ReadDir.into();
    if capabilities.contains(&Capability::Read) {
        access |= AccessFs::ReadFile;
    }
    if capabilities.contains(&Capability::Write) {
        access |= AccessFs::WriteFile | AccessFs::Truncate;
        access |= AccessFs::MakeReg | AccessFs::MakeDir | AccessFs::RemoveFile;
    }
    access
}

/// There is no such lock here.
///
/// # Errors
/// Never.
#[cfg(not(target_os = "linux"))]
pub fn confine<'a>(_: impl Iterator<Item = (&'a Dir, &'a [Capability])>) -> io::Result<bool> {
    Ok(false)
}
