//! `run/…`: submitting work, waiting for it, stopping it.

use std::{sync::Arc, time::Duration};

use ropewalk_protocol::{
    BranchId, ErrorDetail, Mode, Page, Recovery, RpcError, Run, RunId, RunListParams, RunParams, RunRecoverParams,
    RunRecovered, RunResult, RunSkipParams, RunSkipped, RunStatus, RunStopParams, RunStopped, RunSubmitParams,
    RunSubmitted, RunWaitParams, RunWaited, Seq, WaitUntil, WaitingKind,
};

use super::{caller::operation, check, threads::known_endpoint};
use crate::{
    clock::Clock,
    dispatch::{Call, OnBehalf},
    domain::{Remark, Submission},
    engine::{
        ForkRequest, Recovering, RemarkRequest, ReplaceRequest, StopTarget, SubmitRequest, ThreadHandle, lookup,
        storage_error,
    },
    page::PageQuery,
};

/// How long a wait is unless it says otherwise, and how short and long it may be.
const WAIT_MS: u64 = 60_000;
const MIN_WAIT_MS: u64 = 1_000;
const MAX_WAIT_MS: u64 = 600_000;

/// `run/submit`
///
/// # Errors
/// `notFound` (thread, branch, endpoint, message), `invalidParams`, `tooLarge` (image, input), `overloaded` (queue,
/// branches), `unavailable`; for a steer `conflict` and `invalidState`, for a replacement `conflict`.
pub async fn submit(call: Call, params: RunSubmitParams) -> Result<RunSubmitted, RpcError> {
    if let Some(damage) = call.daemon.catalogue.damage() {
        return Err(storage_error(damage));
    }
    let thread = call.daemon.engine.thread(&params.thread_id)?;
    check_mode(&params)?;
    check::input(&params.input)?;
    check::output_schema(params.output_schema.as_ref())?;
    known_endpoint(&call.daemon, params.endpoint_id.as_ref())?;
    let wait_ms = check::range("/waitTimeoutMs", params.wait_timeout_ms.unwrap_or(WAIT_MS), MIN_WAIT_MS, MAX_WAIT_MS)?;
    let waits = params.wait.unwrap_or(false);
    let answer = match &call.replay {
        Some(stored) => stored_answer(stored)?,
        None => {
            if !waits {
                call.keep_until_answered(call.client.feed().hold());
            }
            submitted(&call, &thread, params).await?
        }
    };
    if !waits {
        return Ok(answer);
    }
    call.committed();
    let Some(run_id) = answer.run_id.clone() else { return Ok(answer) };
    let waited = wait_for(&thread, &call, &run_id, WaitUntil::Terminal, wait_ms).await?;
    Ok(RunSubmitted { run: Some(waited.run), timed_out: Some(waited.timed_out), ..answer })
}

/// `run/stop`
///
/// # Errors
/// `notFound` (thread, branch, run), `unavailable`.
pub async fn stop(call: Call, params: RunStopParams) -> Result<RunStopped, RpcError> {
    let thread = call.daemon.engine.thread(&params.thread_id)?;
    let target = match (params.run_id, params.branch_id) {
        (Some(run_id), _) => StopTarget::Run(run_id),
        (None, branch_id) => StopTarget::Branch(branch_id.unwrap_or_else(|| BranchId::from(params.thread_id))),
    };
    call.keep_until_answered(call.client.feed().hold());
    thread.stop(target, call.client.client_ref(), operation(&call)).await
}

/// `run/wait`
///
/// # Errors
/// `notFound`, `invalidParams`, `unavailable`, `cancelled`.
pub async fn wait(call: Call, params: RunWaitParams) -> Result<RunWaited, RpcError> {
    let timeout_ms = check::range("/timeoutMs", params.timeout_ms.unwrap_or(WAIT_MS), MIN_WAIT_MS, MAX_WAIT_MS)?;
    let thread = call.daemon.engine.thread_of_run(&params.run_id)?;
    wait_for(&thread, &call, &params.run_id, params.until.unwrap_or_default(), timeout_ms).await
}

/// `run/read`
///
/// # Errors
/// `notFound`, `unavailable`.
pub async fn read(call: Call, params: RunParams) -> Result<RunResult, RpcError> {
    let thread = call.daemon.engine.thread_of_run(&params.run_id)?;
    Ok(RunResult { run: current(&thread, &call, &params.run_id).await?.0 })
}

/// `run/list`
///
/// # Errors
/// `notFound` (thread, project), `invalidParams`, `unavailable`.
pub async fn list(call: Call, params: RunListParams) -> Result<Page<Run>, RpcError> {
    check::listed_of(&call.daemon, params.thread_id.as_ref(), params.project_id.as_ref())?;
    let states = params.states.unwrap_or_default();
    let named: String = states.iter().map(|state| format!("{state:?},")).collect();
    let (thread, project) = (params.thread_id.as_deref().unwrap_or(""), params.project_id.as_deref().unwrap_or(""));
    let list = ["run/list ", thread, " ", project, " ", &named];
    let query = PageQuery::new(&list, params.cursor.as_deref(), params.limit)?;
    let shared = call.daemon.engine.shared();
    let mut projects = lookup::ThreadProjects::default();
    let mut page = query.begin();
    let mut after = query.after().map(ToOwned::to_owned);
    loop {
        let runs = lookup::runs(shared, after.as_deref(), query.limit() + 1)?;
        let Some(last) = runs.last() else { return Ok(page.finish(false)) };
        after = Some(last.run_id.to_string());
        for run in runs {
            let wanted = params.thread_id.as_ref().is_none_or(|id| *id == run.thread_id)
                && (states.is_empty() || states.contains(&run.state))
                && match &params.project_id {
                    Some(project) => projects.of(shared, &run.thread_id)?.as_ref() == Some(project),
                    None => true,
                };
            if wanted && !page.offer(run.run_id.to_string(), run) {
                return Ok(page.finish(true));
            }
        }
    }
}

/// `run/skip`
///
/// # Errors
/// `notFound` (thread, branch), `unavailable`.
pub async fn skip(call: Call, params: RunSkipParams) -> Result<RunSkipped, RpcError> {
    let thread = call.daemon.engine.thread(&params.thread_id)?;
    let branch_id = params.branch_id.unwrap_or_else(|| BranchId::from(params.thread_id));
    call.keep_until_answered(call.client.feed().hold());
    thread.skip(branch_id, operation(&call)).await
}

/// `run/resume`
///
/// # Errors
/// `notFound` (thread, branch, run), `invalidState`, `unavailable`.
pub async fn resume(call: Call, params: RunRecoverParams) -> Result<RunRecovered, RpcError> {
    recover(call, Recovery::Resume, params).await
}

/// `run/retry`
///
/// # Errors
/// As [`resume`].
pub async fn retry(call: Call, params: RunRecoverParams) -> Result<RunRecovered, RpcError> {
    recover(call, Recovery::Retry, params).await
}

/// `run/rebase`
///
/// # Errors
/// As [`resume`].
pub async fn rebase(call: Call, params: RunRecoverParams) -> Result<RunRecovered, RpcError> {
    recover(call, Recovery::Rebase, params).await
}

async fn recover(call: Call, how: Recovery, params: RunRecoverParams) -> Result<RunRecovered, RpcError> {
    if let Some(damage) = call.daemon.catalogue.damage() {
        return Err(storage_error(damage));
    }
    let thread = call.daemon.engine.thread(&params.thread_id)?;
    let branch_id = params.branch_id.unwrap_or_else(|| BranchId::from(params.thread_id));
    call.keep_until_answered(call.client.feed().hold());
    let recovering = Recovering { how, branch_id, run_id: params.run_id, operation: operation(&call) };
    thread.recover_run(recovering).await
}

/// Submits what the parameters say, as their mode has it.
async fn submitted(call: &Call, thread: &ThreadHandle, params: RunSubmitParams) -> Result<RunSubmitted, RpcError> {
    let branch_id = params.branch_id.unwrap_or_else(|| BranchId::from(params.thread_id));
    let (input, operation) = (params.input, operation(call));
    let sender = call.on_behalf.as_ref().map(OnBehalf::sender);
    let mode = params.mode.unwrap_or_default();
    if matches!(mode, Mode::Aside | Mode::Steer) {
        let remark = Remark { branch_id, input, steers: params.expected_run_id, sender };
        return thread.remark(RemarkRequest { remark, operation }).await;
    }
    let submission = Submission {
        branch_id,
        input,
        operation_id: params.operation_id,
        asked_endpoint: params.endpoint_id,
        unattended: params.unattended.unwrap_or_default(),
        output_schema: params.output_schema,
        sender,
    };
    match (mode, params.from_message_id) {
        (Mode::Fork, message_id) => {
            thread.fork(ForkRequest { submission, message_id, title: params.title, operation }).await
        }
        (_, Some(message_id)) => thread.replace(ReplaceRequest { submission, message_id, operation }).await,
        (_, None) => thread.submit(SubmitRequest { submission, operation }).await,
    }
}

/// What does not go with a mode is refused by name, never ignored.
fn check_mode(params: &RunSubmitParams) -> Result<(), RpcError> {
    let mode = params.mode.unwrap_or_default();
    if mode == Mode::Replace && params.from_message_id.is_none() {
        let message = "A replacement names the user message it takes the place of as fromMessageId. Add it, or submit with \
                       mode queue.";
        return Err(RpcError::invalid_params("/fromMessageId", "required", message));
    }
    if !matches!(mode, Mode::Fork | Mode::Replace) && params.from_message_id.is_some() {
        let message = "fromMessageId goes with the modes fork and replace. Leave it out, or submit with one of them.";
        return Err(RpcError::invalid_params("/fromMessageId", "not_of_mode", message));
    }
    if mode != Mode::Fork && params.title.is_some() {
        let message = "title is that of a new branch and goes with mode fork. Leave it out, or submit with mode fork.";
        return Err(RpcError::invalid_params("/title", "not_of_mode", message));
    }
    params.title.as_deref().map_or(Ok(()), check::title)?;
    if mode == Mode::Steer && params.expected_run_id.is_none() {
        let message = "A steer names the run it is meant for as expectedRunId. Add it, or submit with mode aside.";
        return Err(RpcError::invalid_params("/expectedRunId", "required", message));
    }
    if mode != Mode::Steer && params.expected_run_id.is_some() {
        let message = "expectedRunId goes with mode steer. Leave it out, or submit with mode steer.";
        return Err(RpcError::invalid_params("/expectedRunId", "not_of_mode", message));
    }
    let of_a_run = [
        ("/endpointId", params.endpoint_id.is_some()),
        ("/outputSchema", params.output_schema.is_some()),
        ("/unattended", params.unattended.is_some()),
    ];
    match of_a_run.into_iter().find(|(_, given)| *given && matches!(mode, Mode::Aside | Mode::Steer)) {
        Some((path, _)) => {
            let message =
                format!("An aside or a steer has no run of its own that {} could be for. Leave it out.", &path[1..]);
            Err(RpcError::invalid_params(path, "not_of_mode", message))
        }
        None => Ok(()),
    }
}

fn stored_answer(stored: &crate::dispatch::StoredOperation) -> Result<RunSubmitted, RpcError> {
    serde_json::from_str(stored.replayed()?.get()).map_err(|error| {
        let detail = ErrorDetail::Internal { reference: "journal".to_owned() };
        RpcError::new(detail, format!("The stored answer of this operation cannot be read: {error}."))
    })
}

async fn wait_for(
    thread: &ThreadHandle,
    call: &Call,
    run_id: &RunId,
    until: WaitUntil,
    timeout_ms: u64,
) -> Result<RunWaited, RpcError> {
    let clock: Arc<dyn Clock> = call.daemon.clock.clone();
    let mut timeout = clock.sleep(Duration::from_millis(timeout_ms));
    loop {
        let (run, seq) = current(thread, call, run_id).await?;
        if is_reached(&run, until) {
            return Ok(RunWaited { run, timed_out: false, seq });
        }
        tokio::select! {
            biased;
            more = thread.after(seq) => more?,
            () = &mut timeout => {
                let (run, seq) = current(thread, call, run_id).await?;
                return Ok(RunWaited { timed_out: !is_reached(&run, until), run, seq });
            }
        }
    }
}

/// A run as it is now, and the last event of its thread.
async fn current(thread: &ThreadHandle, call: &Call, run_id: &RunId) -> Result<(Run, Seq), RpcError> {
    let (run, seq) = thread.run_now(run_id.clone()).await?;
    match run {
        Some(run) => Ok((run, seq)),
        None => Ok((call.daemon.engine.run(run_id)?, seq)),
    }
}

fn is_reached(run: &Run, until: WaitUntil) -> bool {
    let needs_a_person = || {
        let waiting = run.waiting_on.as_ref().map(|waiting| waiting.kind);
        matches!(waiting, Some(WaitingKind::Approval | WaitingKind::Input))
    };
    let is_blocked = || run.state == RunStatus::Paused || needs_a_person();
    run.state.is_terminal() || until == WaitUntil::Blocked && is_blocked()
}
