// Reads the scripted server with Anthropic's own client.
//
//     node anthropic.mjs ROOT_URL KEY
//
// Whatever the client or this file does not like ends it with a message and another status than 0.

import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";

const [baseURL, apiKey] = process.argv.slice(2);
const client = new Anthropic({ baseURL, apiKey, maxRetries: 0 });
const model = "scripted";
const max_tokens = 4_000;
const input_schema = { type: "object", properties: { id: { type: "string" } }, required: ["id"] };
const tools = [{ name: "get_issue", description: "Reads.", input_schema }];
const SCRIPT = 'think it over\nthink [redacted] hidden\nsay let me look\ncall get_issue {"id":"7"}\ncall get_issue {"id":"ü"}';

const user = (content) => ({ role: "user", content });
const ask = (script) => client.messages.create({ model, max_tokens, messages: [user(script)] });

const whole = await ask("hello");
assert.deepEqual(whole.content, [{ type: "text", text: "You said: hello" }]);
assert.equal(whole.stop_reason, "end_turn");
assert.ok(whole.usage.input_tokens > 0 && whole.usage.output_tokens > 0);

for (const stream of [false, true]) {
    const converse = async (messages) => {
        if (!stream) return client.messages.create({ model, max_tokens, tools, messages });
        let said = "";
        const answer = client.messages.stream({ model, max_tokens, tools, messages }).on("text", (text) => (said += text));
        // The client keeps the last part of a signature; providers behind gateways send several.
        const signatures = {};
        answer.on("streamEvent", ({ index, delta }) => {
            if (delta?.type === "signature_delta") signatures[index] = (signatures[index] ?? "") + delta.signature;
        });
        const message = await answer.finalMessage();
        for (const [index, signature] of Object.entries(signatures)) message.content[index].signature = signature;
        assert.equal(said, message.content.filter((block) => block.type === "text").map((block) => block.text).join(""));
        return message;
    };
    const messages = [user(SCRIPT)];
    const first = await converse(messages);
    assert.equal(first.stop_reason, "tool_use");
    const types = first.content.map((block) => block.type);
    assert.deepEqual(types, ["thinking", "redacted_thinking", "text", "tool_use", "tool_use"]);
    assert.equal(first.content[0].thinking, "it over");
    const calls = first.content.filter((block) => block.type === "tool_use");
    assert.deepEqual(calls.map((call) => call.input), [{ id: "7" }, { id: "ü" }]);
    messages.push({ role: "assistant", content: first.content });
    const results = calls.map((call) => ({ type: "tool_result", tool_use_id: call.id, content: `issue ${call.input.id}` }));
    messages.push(user(results));
    const last = await converse(messages);
    assert.equal(last.content[0].text, "get_issue: issue 7\nget_issue: issue ü");
    messages.push({ role: "assistant", content: last.content }, user("say thanks"));
    assert.equal((await converse(messages)).content[0].text, "thanks");

    // What is changed on its way back is refused, and says what it is.
    const changed = structuredClone(messages);
    changed[1].content[0].thinking = "something else";
    await assert.rejects(converse(changed), { status: 400, message: /cannot be modified/ });
}

await assert.rejects(ask("fail rateLimited"), (error) => {
    assert.ok(error instanceof Anthropic.RateLimitError);
    assert.equal(error.headers.get("retry-after"), "1");
    assert.equal(error.error.error.type, "rate_limit_error");
    return true;
});
await assert.rejects(ask("fail modelNotFound"), Anthropic.NotFoundError);
await assert.rejects(ask("fail overloaded"), { status: 529, message: /overloaded_error/ });
await assert.rejects(ask("fail contextWindow"), { status: 400, message: /prompt is too long/ });
await assert.rejects(ask("x".repeat(100_000)), { status: 400, message: /prompt is too long: \d+ tokens > \d+ maximum/ });
const broken = client.messages.stream({ model, max_tokens, messages: [user("say half\nfail overloaded")] });
await assert.rejects(broken.finalMessage(), { message: /overloaded_error/ });
const cut = await client.messages.create({ model, max_tokens: 16, messages: [user("say " + "word ".repeat(100))] });
assert.equal(cut.stop_reason, "max_tokens");

const counted = await client.messages.countTokens({ model, messages: [user("hello")] });
assert.equal(counted.input_tokens, whole.usage.input_tokens);
const models = await client.models.list();
assert.equal(models.data[0].id, "scripted");
const stranger = new Anthropic({ baseURL, apiKey: "wrong", maxRetries: 0 });
await assert.rejects(stranger.messages.create({ model, max_tokens, messages: [user("hi")] }), Anthropic.AuthenticationError);
