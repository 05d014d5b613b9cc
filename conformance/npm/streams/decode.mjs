// A second reading of the answers of providers, which shares nothing with the daemon's: what both agree on is expected.
import { createParser } from "eventsource-parser";

/** The events of a body that comes in these pieces, as `[name, data]`. */
export function eventsOf(pieces) {
  const events = [];
  const parser = createParser({ onEvent: (event) => events.push([event.event ?? "message", event.data]) });
  const decoder = new TextDecoder("utf-8");
  for (const piece of pieces) parser.feed(decoder.decode(piece, { stream: true }));
  parser.feed(decoder.decode());
  // A last event that no blank line closes counts when it is whole; the daemon closes it for its decoder.
  parser.feed("\n\n");
  return events;
}

/** The records of a body: the data of its events, or its lines. */
export function recordsOf(shape, pieces) {
  if (shape !== "ollama") return eventsOf(pieces).map(([, data]) => data).filter((data) => data.trim() !== "");
  const text = Buffer.concat(pieces.map((piece) => Buffer.from(piece))).toString("utf8");
  return text.split(/\r?\n/).filter((line) => line !== "");
}

/** What an answer of this shape comes to. `end` is `done`, `length` or `failed`. */
export function decode(shape, records) {
  const said = { text: "", reasoning: "", calls: [], usage: null, end: null, keeps: [] };
  const state = { said, open: new Map(), last: null, input: 0 };
  try {
    for (const record of records) {
      if (record.trim() === "[DONE]") break;
      if (SHAPES[shape](state, JSON.parse(record)) === "over") break;
    }
  } catch (error) {
    said.end = "failed";
    said.error = String(error);
  }
  said.end ??= "failed";
  said.calls = said.calls.map(({ name, text }) => [name, text.trim() === "" ? "{}" : text]);
  return said;
}

class Refused extends Error {}

const textOf = (value) => (typeof value === "string" ? value : JSON.stringify(value ?? ""));
const counted = (input, output) => (Number.isInteger(input) && Number.isInteger(output) ? [input, output] : null);

function begin(state, key, name, text = "") {
  const call = { name, text };
  state.said.calls.push(call);
  state.open.set(key, call);
  state.last = call;
  return call;
}

const ENDS = { stop: "done", tool_calls: "done", length: "length" };

function chat(state, chunk) {
  const { said } = state;
  for (const choice of (chunk.choices ?? []).slice(0, 1)) {
    const delta = choice.delta ?? {};
    for (const part of [delta.content].flat()) {
      if (typeof part === "string") said.text += part;
      else if (part?.type === "text") said.text += part.text;
      else if (part?.type === "thinking") said.reasoning += part.thinking.map((piece) => piece.text).join("");
    }
    said.reasoning += delta.reasoning_content ?? delta.reasoning ?? "";
    for (const fragment of delta.tool_calls ?? []) chatFragment(state, fragment);
    if (choice.finish_reason) said.end = ENDS[choice.finish_reason] ?? "failed";
  }
  if (chunk.error) throw new Refused(JSON.stringify(chunk.error));
  if (chunk.usage) said.usage = counted(chunk.usage.prompt_tokens, chunk.usage.completion_tokens);
  if (said.end && said.calls.some((call) => !call.name)) throw new Refused("a call without a name");
}

/** Whose a fragment is: that of its index unless its id is new, else of its id, else of the call opened last. */
function chatFragment(state, { index, id, function: { name, arguments: text } = {} }) {
  const known = state.open.get(index) ?? (id ? state.open.get(id) : undefined);
  if (known && (!id || !known.id || known.id === id)) {
    known.name ||= name;
    known.id ||= id;
    known.text += text === null || text === undefined ? "" : textOf(text);
    return;
  }
  if (!id && !name && state.last) {
    if (index !== undefined && state.said.calls.length > 1) throw new Refused("arguments of no call");
    state.last.text += textOf(text ?? "");
    return;
  }
  const call = begin(state, index ?? id ?? 0, name, textOf(text ?? ""));
  call.id = id;
  if (id && index === undefined) state.open.set(state.said.calls.length - 1, call);
}

function anthropic(state, event) {
  const { said } = state;
  const block = state.open.get(event.index);
  const start = (content) => {
    const opened = { ...content, json: "" };
    state.open.set(event.index, opened);
    said.text += content.text ?? "";
    said.reasoning += content.thinking ?? "";
    if (content.type === "tool_use") said.calls.push((opened.call = { name: content.name, text: "" }));
    if (content.data) said.keeps.push(content.data);
  };
  switch (event.type) {
    case "message_start":
      state.usage = event.message.usage;
      break;
    case "content_block_start":
      start(event.content_block);
      break;
    case "content_block_delta":
      said.text += event.delta.text ?? "";
      said.reasoning += event.delta.thinking ?? "";
      if (event.delta.partial_json) block.call.text += event.delta.partial_json;
      if (event.delta.signature) block.signature = (block.signature ?? "") + event.delta.signature;
      break;
    case "content_block_stop":
      if (block?.signature) said.keeps.push(block.signature);
      if (block?.call?.text === "") block.call.text = JSON.stringify(block.input);
      break;
    case "message_delta": {
      const reason = event.delta.stop_reason;
      if (!reason) break;
      said.end = { end_turn: "done", tool_use: "done", stop_sequence: "done", max_tokens: "length" }[reason] ?? "failed";
      const usage = { ...state.usage, ...event.usage };
      const input = event.usage?.input_tokens || state.usage.input_tokens;
      const cached = (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0);
      said.usage = counted(input + cached, usage.output_tokens);
      return "over";
    }
    case "error":
      throw new Refused(JSON.stringify(event.error));
  }
}

function responses(state, event) {
  const { said } = state;
  const key = event.output_index;
  const item = event.item ?? {};
  const isCall = /^(function|custom_tool)_call$/.test(item.type);
  const whole = (stated) => (stated.type === "custom_tool_call" ? JSON.stringify({ input: stated.input }) : stated.arguments);
  switch (event.type) {
    case "response.output_item.added":
      if (isCall) begin(state, key, item.name);
      break;
    case "response.output_text.delta":
    case "response.refusal.delta":
      said.text += event.delta;
      break;
    case "response.reasoning_summary_text.delta":
      if (event.summary_index > 0 && state.part !== event.summary_index) said.reasoning += "\n\n";
      state.part = event.summary_index;
      said.reasoning += event.delta;
      break;
    case "response.output_item.done":
      if (isCall) (state.open.get(key) ?? begin(state, key, item.name)).text = whole(item);
      if (item.encrypted_content) said.keeps.push(item.encrypted_content);
      break;
    case "error":
    case "response.failed":
      throw new Refused(JSON.stringify(event));
    case "response.completed":
    case "response.incomplete": {
      const { status, incomplete_details: details, output = [], usage } = event.response;
      const reason = details?.reason ?? "";
      said.end = status === "completed" ? "done" : reason === "max_output_tokens" ? "length" : "failed";
      if (usage) said.usage = counted(usage.input_tokens, usage.output_tokens);
      if (said.text === "" && said.calls.length === 0) {
        for (const stated of output) {
          if (stated.type === "message") said.text += stated.content.map((part) => part.text).join("");
          if (stated.type === "function_call") said.calls.push({ name: stated.name, text: whole(stated) });
        }
      }
      return "over";
    }
  }
}

function gemini(state, chunk) {
  const { said } = state;
  if (chunk.error || chunk.promptFeedback?.blockReason) throw new Refused(JSON.stringify(chunk));
  const candidate = chunk.candidates?.[0] ?? {};
  for (const part of candidate.content?.parts ?? []) {
    if (part.thought) said.reasoning += part.text ?? "";
    else said.text += part.text ?? "";
    if (part.functionCall) begin(state, null, part.functionCall.name, JSON.stringify(part.functionCall.args ?? {}));
    if (part.thoughtSignature) said.keeps.push(part.thoughtSignature);
  }
  const usage = chunk.usageMetadata;
  if (usage) {
    const input = usage.promptTokenCount + (usage.toolUsePromptTokenCount ?? 0);
    said.usage = counted(input, usage.candidatesTokenCount + (usage.thoughtsTokenCount ?? 0));
  }
  if (candidate.finishReason) said.end = { STOP: "done", MAX_TOKENS: "length" }[candidate.finishReason] ?? "failed";
}

function ollama(state, record) {
  const { said } = state;
  if (record.error) throw new Refused(record.error);
  said.text += record.message?.content ?? "";
  said.reasoning += record.message?.thinking ?? "";
  for (const { function: call } of record.message?.tool_calls ?? []) begin(state, null, call.name, textOf(call.arguments));
  if (!record.done) return undefined;
  said.end = { stop: "done", length: "length" }[record.done_reason ?? "stop"] ?? "failed";
  said.usage = counted(record.prompt_eval_count, record.eval_count);
  return "over";
}

const SHAPES = { openaiCompatible: chat, openaiResponses: responses, anthropic, gemini, ollama };
