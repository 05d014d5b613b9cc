// Speaks with a daemon through npm `vscode-jsonrpc`, in both directions.
//
//     node vscode-jsonrpc.mjs SOCKET
//
// Whatever the library or this file does not like ends it with a message and another status than 0; else the last line says
// what was seen, as JSON.

import assert from "node:assert/strict";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import rpc from "vscode-jsonrpc/node";

class LineReader extends rpc.AbstractMessageReader {
    constructor(socket) {
        super();
        this.socket = socket;
    }
    listen(callback) {
        const lines = createInterface({ input: this.socket, crlfDelay: Infinity });
        lines.on("line", (line) => callback(JSON.parse(line)));
        this.socket.on("close", () => this.fireClose());
        return rpc.Disposable.create(() => lines.close());
    }
}

class LineWriter extends rpc.AbstractMessageWriter {
    constructor(socket) {
        super();
        this.socket = socket;
    }
    write(message) {
        return new Promise((resolve, reject) => {
            this.socket.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
        });
    }
    end() {
        this.socket.end();
    }
}

const [path] = process.argv.slice(2);
const seen = { events: new Set(), settled: [], calls: [], approvals: 0, cancels: 0 };

// Hears of durable events as they come, and lets others wait for one of a type.
class Events {
    constructor() {
        this.heard = [];
        this.waiting = [];
    }
    hear(event) {
        const at = this.waiting.findIndex(({ wanted }) => wanted(event));
        if (at < 0) this.heard.push(event);
        else this.waiting.splice(at, 1)[0].resolve(event);
    }
    until(wanted) {
        const at = this.heard.findIndex(wanted);
        if (at >= 0) return Promise.resolve(this.heard.splice(at, 1)[0]);
        return new Promise((resolve) => this.waiting.push({ wanted, resolve }));
    }
}

async function attached(name) {
    const socket = connect(path);
    const writer = new LineWriter(socket);
    const connection = rpc.createMessageConnection(new LineReader(socket), writer);
    const events = new Events();
    connection.onError(([error]) => assert.fail(error));
    connection.onNotification("thread/event", ({ seq, event }) => {
        if (seq !== undefined) seen.events.add(event.type);
        events.hear(event);
    });
    connection.onNotification("interaction/settled", (params) => {
        seen.settled.push(params.outcome);
        events.hear({ type: "settled", ...params });
    });
    connection.onNotification("data/changed", () => {});
    connection.listen();
    const early = await refused(connection.sendRequest("daemon/status"));
    assert.equal(early.code, -32002);
    const hello = {
        protocol: { min: 1, max: 1 },
        client: { name, version: "10.0.0", instanceId: name },
        capabilities: { approvals: true, input: true },
    };
    assert.equal((await connection.sendRequest("initialize", hello)).protocol, 1);
    return { connection, events, end: () => writer.end() };
}

async function refused(request) {
    const error = await request.then(() => undefined, (error) => error);
    assert.ok(error instanceof rpc.ResponseError, `an error is the answer, not ${error}`);
    return error;
}

const tool = (name, approval) => ({
    name,
    approval,
    description: `Does ${name}.`,
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
});

async function errorsHaveTheirCodes({ connection }) {
    const byCode = [
        [-32601, "no/such", {}],
        [-32602, "thread/read", {}],
        [-32005, "thread/read", { threadId: "nobody" }],
        [-32003, "initialize", { protocol: { min: 1, max: 1 }, client: { name: "again", version: "1" } }],
    ];
    for (const [code, method, params] of byCode) {
        const error = await refused(connection.sendRequest(method, params));
        assert.equal(error.code, code, `${method}: ${error.message}`);
        assert.equal(typeof error.data.kind, "string");
    }
    // Two parameters are sent by position, which no method of the daemon takes.
    const positional = await refused(connection.sendRequest("thread/read", "one", "two"));
    assert.deepEqual([positional.code, positional.data.reason], [-32602, "positional"]);
    const status = await connection.sendRequest("daemon/status");
    assert.ok(status.counts.connections >= 1);
}

async function aRunIsServed({ connection, events }) {
    connection.onRequest("tool/call", async ({ tool, arguments: args, interactionId }, token) => {
        seen.calls.push([tool, args.text]);
        assert.equal(token.isCancellationRequested, false);
        await connection.sendNotification("tool/progress", { interactionId, message: "half", fraction: 0.5 });
        if (tool === "throws") throw new Error("this one throws");
        return { success: true, contentItems: [{ type: "text", text: `heard ${args.text}` }], structuredContent: args };
    });
    connection.onRequest("approval/request", ({ choices }) => {
        assert.ok(choices.includes("accept"));
        seen.approvals += 1;
        return { decision: "accept" };
    });
    const started = await connection.sendRequest("thread/start", { tools: [tool("echo", "ask"), tool("throws", "allow")] });
    const { threadId } = started.thread;
    const script = 'call echo {"text":"\\u2028 \\ud83d\\ude00 \\"\\\\"}\ncall throws {"text":"x"}';
    const { run } = await connection.sendRequest("run/submit", { threadId, input: [{ type: "text", text: script }], wait: true });
    assert.equal(run.outcome.status, "completed", JSON.stringify(run));
    assert.deepEqual(seen.calls, [["echo", '\u2028 😀 "\\'], ["throws", "x"]]);
    const { items } = await connection.sendRequest("item/list", { threadId });
    const calls = items.filter((item) => (item.item ?? item).kind === "toolCall").map((item) => item.item ?? item).reverse();
    assert.deepEqual(calls.map((call) => call.state), ["completed", "failed"]);
    assert.deepEqual(calls[0].structuredContent, { text: '\u2028 😀 "\\' });
    assert.equal(calls[1].error.code, "AdapterToolCallFailed");
    await events.until((event) => event.type === "runCompleted");
    return threadId;
}

// A method the library has no handler for is answered by it with -32601, and the daemon knows what that means.
async function aMissingHandlerIsAnUnsupportedTool() {
    const { connection, events, end } = await attached("without-handlers");
    const { thread } = await connection.sendRequest("thread/start", { tools: [tool("nobody", "allow")] });
    const submit = { threadId: thread.threadId, input: [{ type: "text", text: 'call nobody {"text":"x"}' }] };
    await connection.sendRequest("run/submit", submit);
    const { item } = await events.until((event) => event.type === "itemCompleted" && event.item.kind === "toolCall");
    assert.equal(item.error.code, "UnsupportedTool");
    await events.until((event) => event.type === "runCompleted");
    end();
}

async function cancelsAreHonouredWhereOneWaits({ connection, events }, threadId) {
    const cancelled = async (method, params) => {
        const source = new rpc.CancellationTokenSource();
        const request = connection.sendRequest(method, params, source.token);
        source.cancel();
        seen.cancels += 1;
        return request;
    };
    const { runId } = await connection.sendRequest("run/submit", { threadId, input: [{ type: "text", text: "sleep 3600000" }] });
    // What waits ends as cancelled, and the run that was waited for goes on.
    for (const [method, params] of [
        ["run/wait", { runId }],
        ["run/submit", { threadId, input: [{ type: "text", text: "say later" }], wait: true }],
    ]) {
        assert.equal((await refused(cancelled(method, params))).code, -32014, method);
    }
    // What does not wait is answered as if nothing had been said, and so is a request that nobody sent.
    assert.equal((await cancelled("run/read", { runId })).run.state, "running");
    await cancelled("thread/list", {});
    for (const id of [0, "0", -1, 1.5, null, [], undefined]) {
        await connection.sendNotification("$/cancelRequest", { id });
        seen.cancels += 1;
    }
    await connection.sendNotification("$/setTrace", { value: "off" });
    await connection.sendNotification("no/such", { a: 1 });
    assert.equal((await connection.sendRequest("run/read", { runId })).run.state, "running");
    await connection.sendRequest("queue/clear", { threadId });
    await connection.sendRequest("run/stop", { threadId, runId });
    await events.until((event) => event.type === "runCompleted" && event.runId === runId);
}

// The interaction is open at both; the one that answers second is told, and its answer does no harm.
async function aSettledRequestIsLetGo({ connection, events }, threadId) {
    const { connection: other, events: others, end } = await attached("second");
    let answer;
    const late = new Promise((resolve) => (answer = resolve));
    const asked = new Promise((resolve) => other.onRequest("approval/request", () => (resolve(), late)));
    await other.sendRequest("thread/resume", { threadId });
    const submit = { threadId, input: [{ type: "text", text: 'call echo {"text":"both"}' }] };
    connection.onRequest("approval/request", async () => (await asked, { decision: "accept" }));
    const { runId } = await connection.sendRequest("run/submit", submit);
    await others.until((event) => event.type === "settled" && event.outcome === "answered");
    answer({ decision: "decline" });
    await events.until((event) => event.type === "runCompleted" && event.runId === runId);
    assert.equal((await other.sendRequest("run/read", { runId })).run.state, "completed");
    end();
}

const client = await attached("vscode-jsonrpc");
await errorsHaveTheirCodes(client);
const threadId = await aRunIsServed(client);
await aMissingHandlerIsAnUnsupportedTool();
await cancelsAreHonouredWhereOneWaits(client, threadId);
await aSettledRequestIsLetGo(client, threadId);
client.end();
console.log(JSON.stringify({ ...seen, events: [...seen.events].sort() }));
