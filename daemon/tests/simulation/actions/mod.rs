//! Everything that can happen in a seed: one function each, in one list. A new method is one more function and one more line.

mod answers;
mod branches;
mod faults;
mod queues;
mod removing;
mod rules;
mod runs;
pub(crate) mod scripts;
mod threads;
mod wires;

use serde_json::{Value, json};

use crate::world::World;

/// Something that can happen. One that cannot happen now does nothing.
pub(crate) type Action = fn(&mut World);

/// Everything that can happen, and how often against each other.
pub(crate) const ACTIONS: &[(&str, usize, Action)] = &[
    ("connect", 6, wires::connect),
    ("come back", 8, wires::come_back),
    ("disconnect", 3, wires::disconnect),
    ("cut a line", 1, wires::cut_a_line),
    ("send junk", 2, wires::junk),
    ("send a batch", 2, wires::batch),
    ("cancel", 2, wires::cancel),
    ("go slow", 2, wires::go_slow),
    ("be a new process", 1, wires::new_process),
    ("start", 5, threads::start),
    ("resume", 8, threads::resume),
    ("subscribe", 3, threads::subscribe),
    ("unsubscribe", 1, threads::unsubscribe),
    ("rename", 3, threads::rename),
    ("archive", 1, threads::archive),
    ("look", 3, threads::look),
    ("make a project", 1, removing::project),
    ("delete", 2, removing::delete),
    ("delete a project", 2, removing::delete_project),
    ("submit", 16, runs::submit),
    ("remark", 4, runs::remark),
    ("repeat", 5, runs::repeat),
    ("use an id again", 1, runs::conflict),
    ("stop", 5, runs::stop),
    ("skip", 3, runs::skip),
    ("resume a run", 2, runs::resume),
    ("wait", 3, runs::wait),
    ("edit a queue", 5, queues::edit),
    ("fork", 3, branches::fork),
    ("replace", 3, branches::replace),
    ("delete a branch", 3, branches::delete),
    ("name a branch", 1, branches::name),
    ("go on after a bad end", 4, branches::recover),
    ("mark as read", 1, branches::mark_read),
    ("list items", 2, branches::items),
    ("answer", 26, answers::answer),
    ("answer by settle", 6, answers::settle),
    ("answer twice", 3, answers::twice),
    ("answer at once", 4, answers::at_once),
    ("answer, then stop", 3, answers::then_stop),
    ("not I", 2, answers::not_i),
    ("answer wrongly", 2, answers::wrongly),
    ("show life", 2, answers::progress),
    ("set a rule", 3, rules::set),
    ("take a rule back", 2, rules::remove),
    ("change settings", 1, rules::settings),
    ("let time pass", 6, faults::time),
    ("let a commit fail", 3, faults::commit),
    ("let the daemon die", 2, faults::crash),
    ("stop the daemon", 1, faults::restart),
];

/// What every seed begins with: somebody on a thread.
pub(crate) const BEGINNING: &[Action] =
    &[wires::connect, wires::connect, threads::start, threads::resume, runs::submit];

/// Two logs of one operation, with the crash between them: the methods the simulation reaches on purpose.
pub(crate) const BETWEEN_LOGS: &[(&str, Action)] = &[
    ("accept for ever", faults::accept_between_logs),
    ("set a rule", faults::rule_between_logs),
    ("start in a project", faults::start_between_logs),
    ("delete", removing::delete_between_logs),
    ("delete a project", removing::delete_project_between_logs),
];

/// What happens next, as the seed has it.
pub(crate) fn next(world: &mut World) -> (&'static str, Action) {
    if connection(world).is_none() && world.chance(0.7) {
        return ("come back", wires::come_back);
    }
    let all = ACTIONS.iter().map(|(_, often, _)| often).sum();
    let mut place = world.below(all);
    for (name, often, action) in ACTIONS {
        match place.checked_sub(*often) {
            Some(left) => place = left,
            None => return (name, *action),
        }
    }
    unreachable!("the place is below the sum")
}

/// Some connection that has shaken hands, the inspector's not among them.
pub(crate) fn connection(world: &mut World) -> Option<usize> {
    let open: Vec<usize> = (1..world.connections.len()).filter(|at| !world.connections[*at].wire.is_closed).collect();
    world.choose(&open)
}

/// Some thread.
pub(crate) fn thread(world: &mut World) -> Option<String> {
    if world.chance(0.03) {
        let gone: Vec<String> = world.book.gone.iter().cloned().collect();
        return world.choose(&gone);
    }
    let threads: Vec<String> = world.book.threads.keys().cloned().collect();
    // Mostly the newest: there is more to be seen where more happens.
    if world.chance(0.5) { threads.last().cloned() } else { world.choose(&threads) }
}

/// Sends a request of some connection, often with an operation id.
pub(crate) fn send(world: &mut World, method: &str, params: Value) {
    if let Some(at) = connection(world) {
        send_on(world, at, method, params);
    }
}

/// Sends a request, often with an operation id.
pub(crate) fn send_on(world: &mut World, at: usize, method: &str, mut params: Value) {
    if world.chance(0.5) {
        params["operationId"] = json!(world.word("op"));
    }
    world.request(at, method, params);
}
