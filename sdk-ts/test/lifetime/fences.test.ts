// X07 and X09 (K46): whatever code of the application does is the end of that one call, and of nothing else.
import assert from "node:assert/strict";
import { test } from "node:test";
import { attached, connected, textOf, worker } from "../support/clients.js";
import { approval, call, questions } from "../support/shapes.js";
import { Inbox, within } from "../support/waiting.js";

const circular: Record<string, unknown> = {};
circular.self = circular;

/** What a handler returns, and what the model is told; nothing where the call fails. */
const results: Record<string, [returned: () => unknown, told: string | undefined]> = {
  null: [() => null, "null"],
  "an empty string": [() => "", ""],
  zero: [() => 0, "0"],
  false: [() => false, "false"],
  "a list": [() => [1, "a"], '[1,"a"]'],
  "an object": [() => ({ a: 1 }), '{"a":1}'],
  "a date": [() => new Date(0), "1970-01-01T00:00:00.000Z"],
  "a promise": [async () => "later", "later"],
  undefined: [() => undefined, undefined],
  NaN: [() => NaN, undefined],
  "NaN inside": [() => ({ deep: [NaN] }), undefined],
  "a map": [() => new Map([[1, 2]]), undefined],
  "a set": [() => new Set([1]), undefined],
  "a bigint": [() => 1n, undefined],
  "a function": [() => () => undefined, undefined],
  "a symbol": [() => Symbol("s"), undefined],
  "a circle": [() => circular, undefined],
  "a toJSON that throws": [() => ({ toJSON: thrower }), undefined],
  "a getter that throws": [() => Object.defineProperty({}, "a", { enumerable: true, get: thrower }), undefined],
  "a proxy that throws": [() => new Proxy({}, { ownKeys: thrower, get: thrower, getPrototypeOf: thrower }), undefined],
  "a thenable that rejects": [
    () => ({ then: (_: unknown, reject: (why: string) => void) => reject("boom") }),
    undefined,
  ],
  "a thenable that throws": [() => ({ then: thrower }), undefined],
};

test("x09_every_result_of_a_handler_is_a_documented_one", async (context) => {
  const tools = Object.values(results).map(([returned], index) => worker(`t${index}`, returned));
  const { fake } = await attached(context, tools);
  for (const [index, [what, [, told]]] of Object.entries(results).entries()) {
    const answer = await fake.ask("tool/call", call(`int-${index}`, `t${index}`));
    if (told !== undefined) {
      assert.deepEqual([answer.success, textOf(answer)], [true, told], what);
      continue;
    }
    assert.deepEqual([answer.success, answer.errorCode], [false, "AdapterToolCallFailed"], what);
    assert.ok(answer.errorMessage.length > 0, what);
  }
});

test("x09_the_error_names_the_tool_and_what_it_returned", async (context) => {
  const { fake } = await attached(context, [worker("work", () => undefined), worker("maps", () => new Map())]);
  const nothing = await fake.ask("tool/call", call("int-1", "work"));
  assert.match(nothing.errorMessage, /work.*undefined/);
  const map = await fake.ask("tool/call", call("int-2", "maps"));
  assert.match(map.errorMessage, /maps.*Map/);
});

test("k46_whatever_is_thrown_fails_one_call_and_the_next_one_works", async (context) => {
  const odd: unknown[] = [
    undefined,
    null,
    "text",
    7,
    Symbol("s"),
    Object.create(null),
    circular,
    Object.defineProperty(new Error("x"), "message", { get: thrower }),
    new Proxy(new Error("x"), { get: thrower, getPrototypeOf: thrower }),
    new AggregateError([new Error("a")], "several"),
  ];
  const throwing = odd.map((thrown, index) =>
    worker(`t${index}`, () => {
      throw thrown;
    }),
  );
  // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- anything may be thrown
  const rejecting = odd.map((thrown, index) => worker(`r${index}`, () => Promise.reject(thrown)));
  const { fake } = await attached(context, [...throwing, ...rejecting, worker("fine", () => "fine")]);
  for (const kind of ["t", "r"]) {
    for (const index of odd.keys()) {
      const answer = await fake.ask("tool/call", call(`int-${kind}${index}`, `${kind}${index}`));
      assert.deepEqual([answer.success, answer.errorCode], [false, "AdapterToolCallFailed"]);
      assert.ok(answer.errorMessage.length > 0);
    }
  }
  assert.equal(textOf(await fake.ask("tool/call", call("int-fine", "fine"))), "fine");
});

test("k46_a_handler_that_goes_on_and_fails_after_its_call_is_over_disturbs_nobody", async (context) => {
  const begun = new Inbox<AbortSignal>();
  const ended = new Inbox<true>();
  const late = worker("late", async (_: unknown, { signal, progress }: any) => {
    begun.put(signal);
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    progress("nobody hears this");
    setImmediate(() => ended.put(true));
    throw new Error("too late");
  });
  const { fake, rope } = await attached(context, [late]);
  const pending = fake.begin("tool/call", call("int-1", "late"));
  await begun.next("the handler");
  fake.settle("int-1", "cancelled");
  assert.ok((await pending).error);
  await ended.next("the end of the handler");
  await fake.fence();
  assert.equal(rope.isConnected, true);
});

test("k46_progress_takes_anything", async (context) => {
  const work = worker("work", (_: unknown, { progress }: any) => {
    for (const odd of [undefined, null, Symbol("s"), NaN, {}, "x"]) progress(odd, odd);
    return "done";
  });
  const { fake } = await attached(context, [work]);
  assert.equal(textOf(await fake.ask("tool/call", call("int-1", "work"))), "done");
});

test("k46_whatever_an_asked_handler_does_decides_nothing_and_is_a_warning", async (context) => {
  const replies: (() => unknown)[] = [
    thrower,
    () => Promise.reject(new Error("boom")),
    () => "perhaps",
    () => ({ decision: "accept", note: 1n }),
    () => new Proxy({}, { get: thrower }),
    () => ({ then: thrower }),
  ];
  const warned: string[] = [];
  let index = 0;
  const { fake } = await attached(context, [], {
    onApproval: () => replies[index]?.() as never,
    onInput: () => replies[index]?.() as never,
    onWarning: ({ what }) => {
      warned.push(what);
      throw new Error("and this is lost");
    },
  });
  for (; index < replies.length; index += 1) {
    assert.ok((await fake.begin("approval/request", approval(`a-${index}`))).error, String(replies[index]));
    const question = await fake.begin("input/request", questions(`q-${index}`));
    // What has the shape of an object is the daemon's to judge.
    assert.ok(question.error ?? question.result, String(replies[index]));
  }
  assert.ok(warned.filter((what) => what === "onApproval").length >= replies.length, warned.join());
});

test("x07_one_reader_that_throws_stops_nobody_else", async (context) => {
  const { fake, thread } = await attached(context);
  const read = async (fails: boolean): Promise<number[]> => {
    const seen: number[] = [];
    for await (const { seq } of thread.events()) {
      if (fails) throw new Error("this reader has had enough");
      seen.push(seq ?? 0);
      if (seen.length === 3) break;
    }
    return seen;
  };
  const readers = [read(true), read(false), read(false), read(true)];
  for (const seq of [4, 5, 6]) fake.event("th-1", seq, { type: "branchDeleted", branchId: "b" });
  const ends = await within("the readers", Promise.allSettled(readers));
  assert.deepEqual(
    ends.map((end) => (end.status === "fulfilled" ? end.value : "failed")),
    ["failed", [4, 5, 6], [4, 5, 6], "failed"],
  );
});

test("x07_a_change_handler_that_throws_is_warned_of_and_called_again", async (context) => {
  const [changes, warnings] = [new Inbox<number>(), new Inbox<string>()];
  const { fake } = await connected(context, {
    onChange: ({ seq }) => {
      changes.put(seq);
      throw new Error("boom");
    },
    onWarning: ({ what }) => warnings.put(what),
  });
  for (const seq of [1, 2]) {
    fake.tell("data/changed", { seq, kinds: ["thread"] });
    assert.equal(await changes.next("the change"), seq);
    assert.equal(await warnings.next("the warning"), "onChange");
  }
});

test("k46_lines_that_are_none_of_the_protocol_s_end_nothing", async (context) => {
  const { fake, rope } = await connected(context);
  for (const line of [
    "",
    "no json",
    "[]",
    "7",
    "null",
    "{}",
    '{"jsonrpc":"2.0","id":99,"result":1}',
    '{"method":7,"id":1}',
  ])
    fake.raw(line);
  fake.tell("thread/event", { threadId: "th-9", seq: "x", event: null });
  fake.tell("interaction/settled", {});
  fake.tell("of/tomorrow", { a: 1 });
  fake.reply("thread/list", () => ({ items: [] }));
  assert.deepEqual((await rope.threads.list()).items, []);
});

function thrower(): never {
  throw new Error("boom");
}
