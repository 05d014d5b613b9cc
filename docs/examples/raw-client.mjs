// A whole client without an SDK: it brings one tool, approves its call and prints the answer. Start `ropewalk daemon`, and
// give the socket that it prints: node docs/examples/raw-client.mjs PATH/daemon.sock
import { connect } from "node:net";

const socket = connect(process.argv[2] ?? process.env.ROPEWALK_SOCKET ?? "daemon.sock").setEncoding("utf8");
socket.on("error", ({ message }) => console.error(`${message}. Start \`ropewalk daemon\` and name its socket.`));
const send = (message) => socket.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
const waiting = new Map();
const call = (method, params, id = waiting.size + 1) =>
  new Promise((resolve, reject) => waiting.set(id, { resolve, reject }) && send({ id, method, params }));

const getIssue = {
  name: "get_issue",
  description: "Read an issue.",
  inputSchema: { type: "object", properties: { id: { type: "string" } }, required: ["id"], additionalProperties: false },
  approval: "ask",
};
const handlers = {
  "approval/request": ({ summary }) => console.log(`Approved: ${summary}`) ?? { decision: "accept" },
  "tool/call": ({ arguments: { id } }) => ({ success: true, contentItems: [{ type: "text", text: `#${id} Login fails` }] }),
  "thread/event": ({ event }) => {
    if (event.type !== "runCompleted") return;
    console.log(event.outcome.text ?? event.outcome.error?.message ?? event.outcome.status);
    socket.end();
  },
};

let rest = "";
socket.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const { id, method, params, result, error } of lines.filter(Boolean).map((line) => JSON.parse(line))) {
    if (!method) error ? waiting.get(id)?.reject(new Error(error.message)) : waiting.get(id)?.resolve(result);
    else if (id === undefined) handlers[method]?.(params);
    else send(handlers[method] ? { id, result: handlers[method](params) } : { id, error: { code: -32601, message: method } });
  }
});
await call("initialize", { protocol: { min: 1, max: 1 }, client: { name: "raw", version: "1" }, capabilities: { approvals: true } });
const { thread } = await call("thread/start", { title: "Issues", tools: [getIssue] });
await call("run/submit", { threadId: thread.threadId, input: [{ type: "text", text: 'call get_issue {"id":"7"}' }] });
