// Speaks with a daemon through npm `jayson`, which makes a new connection for each request, batch or notification.
//
//     node jayson.mjs SOCKET
//
// Whatever the library or this file does not like ends it with a message and another status than 0; else the last line says
// what was seen, as JSON.

import assert from "node:assert/strict";
import jayson from "jayson";

const [path] = process.argv.slice(2);
const client = jayson.Client.tcp({ path });
// The library takes the first line that comes for the answer, so it must not be sent what it did not ask for.
const hello = {
    protocol: { min: 1, max: 1 },
    client: { name: "jayson", version: "5.0.0" },
    optOut: ["data/changed"],
};
const seen = { connections: 0, answers: 0, errors: 0 };
client.on("tcp socket", () => (seen.connections += 1));

const ask = (method, params, id) =>
    new Promise((resolve, reject) => {
        client.request(method, params, id, (failure, error, result) => {
            if (failure) return reject(failure);
            seen[error ? "errors" : "answers"] += 1;
            resolve({ error, result });
        });
    });

/** Sends messages as one batch; its errors and its results. */
const askAll = (messages) =>
    new Promise((resolve, reject) => {
        client.request(messages, (failure, errors, results) => {
            if (failure) return reject(failure);
            seen.errors += errors?.length ?? 0;
            seen.answers += results?.length ?? 0;
            resolve({ errors, results });
        });
    });

/** Sends one message as it is; the whole answer. */
const raw = (message) =>
    new Promise((resolve, reject) => {
        client.request(message, (failure, answer) => (failure ? reject(failure) : resolve(answer)));
    });

const request = (method, params, id) => client.request(method, params, id);

// Alone on a connection, only the handshake gets a result.
const greeted = await ask("initialize", hello);
assert.equal(greeted.result.protocol, 1);
for (const [code, method, params] of [
    [-32002, "daemon/status", {}],
    [-32002, "no/such", {}],
    [-32602, "initialize", {}],
    [-32602, "initialize", [1]],
    [-32004, "initialize", { ...hello, protocol: { min: 99, max: 99 } }],
]) {
    const { error, result } = await ask(method, params);
    assert.equal(result, undefined);
    assert.equal(error.code, code, `${method}: ${error.message}`);
    assert.equal(typeof error.data.kind, "string");
}

// In a batch the handshake comes first, and the rest is answered under it; each answer by its id, whatever that is.
const { errors, results } = await askAll([
    request("initialize", hello, 1),
    request("daemon/status", {}, "two"),
    request("thread/start", { title: "from jayson", subscribe: false }, 3),
    request("no/such", {}, "four"),
    request("thread/read", { threadId: "nobody" }, 5),
    request("thread/list", [1], 6),
    request("run/wait", { runId: "nobody" }, 7),
    request("thread/list", {}, null),
    { jsonrpc: "2.0", id: "nine" },
    { jsonrpc: "1.0", method: "thread/list", id: 10 },
]);
assert.deepEqual(results.map(({ id }) => id).sort(), [1, 3, "two"]);
const codes = new Map(errors.map(({ id, error }) => [id, error.code]));
const expected = [["four", -32601], [5, -32005], [6, -32602], [7, -32600], ["nine", -32600], [10, -32600]];
assert.deepEqual([...codes].sort(), expected.sort());
const { thread } = results.find(({ id }) => id === 3).result;
assert.equal(thread.title, "from jayson");

// What a notification did is seen by who comes after it, and a batch of them is no reason to close.
await new Promise((resolve, reject) => client.request("thread/list", {}, null, (failure) => (failure ? reject(failure) : resolve())));
const after = await askAll([
    request("initialize", hello, 1),
    request("thread/update", { threadId: thread.threadId, title: "renamed" }, null),
    request("thread/read", { threadId: thread.threadId }, 2),
]);
assert.deepEqual(after.errors, []);
assert.equal(after.results.find(({ id }) => id === 2).result.thread.title, "renamed");

// JSON-RPC 1.0 is not spoken, and the answer says so.
const old = await raw({ method: "daemon/status", params: [], id: 1 });
assert.deepEqual([old.error.code, old.error.data.reason, old.id], [-32600, "jsonrpc_is_not_2_0", 1]);
const empty = await raw([]);
assert.deepEqual([empty.error.code, empty.id], [-32600, null]);

console.log(JSON.stringify(seen));
