// Reads the scripted server with OpenAI's own client, in the shapes of chat completions and of responses.
//
//     node openai.mjs BASE_URL KEY
//
// Whatever the client or this file does not like ends it with a message and another status than 0.

import assert from "node:assert/strict";
import OpenAI from "openai";

const [baseURL, apiKey] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const model = "scripted";
const parameters = { type: "object", properties: { id: { type: "string" } }, required: ["id"], additionalProperties: false };
const SCRIPT = 'think it over\nsay let me look\ncall get_issue {"id":"7"}\ncall get_issue {"id":"ü"}';
const REPORT = "get_issue: issue 7\nget_issue: issue ü";

const issue = (args) => `issue ${JSON.parse(args).id}`;

async function chat() {
    const tools = [{ type: "function", function: { name: "get_issue", description: "Reads.", parameters } }];
    const user = (content) => ({ role: "user", content });
    const whole = await client.chat.completions.create({ model, messages: [user("hello")] });
    assert.equal(whole.choices[0].message.content, "You said: hello");
    assert.equal(whole.choices[0].finish_reason, "stop");
    assert.equal(whole.usage.total_tokens, whole.usage.prompt_tokens + whole.usage.completion_tokens);

    for (const stream of [false, true]) {
        const ask = async (messages) => {
            if (!stream) return (await client.chat.completions.create({ model, messages, tools })).choices[0];
            const stream_options = { include_usage: true };
            const answer = client.chat.completions.stream({ model, messages, tools, stream_options });
            let reasoning = "";
            // The client adds up what it knows; reasoning is an addition of others to this shape.
            answer.on("chunk", (chunk) => (reasoning += chunk.choices[0]?.delta.reasoning_content ?? ""));
            const choice = (await answer.finalChatCompletion()).choices[0];
            choice.message.reasoning_content = reasoning;
            assert.ok((await answer.totalUsage()).total_tokens > 0);
            return choice;
        };
        const messages = [user(SCRIPT)];
        const first = await ask(messages);
        assert.equal(first.finish_reason, "tool_calls");
        assert.equal(first.message.content, "let me look");
        const { tool_calls, reasoning_content } = first.message;
        assert.equal(reasoning_content, "it over");
        assert.deepEqual(tool_calls.map((call) => call.function.arguments), ['{"id":"7"}', '{"id":"ü"}']);
        const called = tool_calls.map(({ id, type, function: { name, arguments: args } }) => ({ id, type, function: { name, arguments: args } }));
        messages.push({ role: "assistant", content: first.message.content, reasoning_content, tool_calls: called });
        for (const call of called) {
            messages.push({ role: "tool", tool_call_id: call.id, content: issue(call.function.arguments) });
        }
        const last = await ask(messages);
        assert.equal(last.message.content, REPORT);
        messages.push({ role: "assistant", content: REPORT }, user("say thanks"));
        assert.equal((await ask(messages)).message.content, "thanks");
    }
    await errors((script) => client.chat.completions.create({ model, messages: [user(script)] }));
    const broken = client.chat.completions.stream({ model, messages: [user("say half\nfail overloaded")] });
    await assert.rejects(broken.finalChatCompletion(), OpenAI.APIError);
}

async function responses() {
    const tools = [{ type: "function", name: "get_issue", description: "Reads.", parameters, strict: true }];
    const whole = await client.responses.create({ model, input: "hello" });
    assert.equal(whole.output_text, "You said: hello");
    assert.equal(whole.status, "completed");
    assert.equal(whole.usage.total_tokens, whole.usage.input_tokens + whole.usage.output_tokens);

    for (const stream of [false, true]) {
        const ask = async (input) => {
            const request = { model, input, tools, store: false, include: ["reasoning.encrypted_content"] };
            if (!stream) return client.responses.create(request);
            let said = "";
            let next = 0;
            const answer = client.responses.stream(request);
            for await (const event of answer) {
                assert.equal(event.sequence_number, next++);
                if (event.type === "response.output_text.delta") said += event.delta;
            }
            const whole = await answer.finalResponse();
            assert.equal(said, whole.output_text);
            return whole;
        };
        const input = [{ role: "user", content: SCRIPT }];
        const first = await ask(input);
        assert.deepEqual(first.output.map((item) => item.type), ["reasoning", "message", "function_call", "function_call"]);
        assert.equal(first.output[0].summary[0].text, "it over");
        assert.equal(first.output_text, "let me look");
        input.push(...first.output.map(({ parsed_arguments, ...item }) => item));
        for (const call of first.output.filter((item) => item.type === "function_call")) {
            input.push({ type: "function_call_output", call_id: call.call_id, output: issue(call.arguments) });
        }
        const last = await ask(input);
        assert.equal(last.output_text, REPORT);
        input.push(...last.output, { role: "user", content: "say thanks" });
        assert.equal((await ask(input)).output_text, "thanks");
    }
    await errors((script) => client.responses.create({ model, input: script }));
    const cut = await client.responses.create({ model, input: "say " + "word ".repeat(100), max_output_tokens: 16 });
    assert.deepEqual([cut.status, cut.incomplete_details.reason], ["incomplete", "max_output_tokens"]);
}

async function errors(ask) {
    await assert.rejects(ask("fail rateLimited"), (error) => {
        assert.ok(error instanceof OpenAI.RateLimitError);
        assert.equal(error.headers.get("retry-after"), "1");
        return true;
    });
    await assert.rejects(ask("fail modelNotFound"), OpenAI.NotFoundError);
    await assert.rejects(ask("fail contextWindow"), { status: 400, code: "context_length_exceeded" });
    await assert.rejects(ask("x".repeat(100_000)), { status: 400, code: "context_length_exceeded" });
    await assert.rejects(ask("fail overloaded"), OpenAI.InternalServerError);
}

const models = await client.models.list();
assert.equal(models.data[0].id, "scripted");
await assert.rejects(new OpenAI({ baseURL, apiKey: "wrong", maxRetries: 0 }).models.list(), OpenAI.AuthenticationError);
await chat();
await responses();
