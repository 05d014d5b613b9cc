// Lines out of bytes: wherever the pieces end, whatever is in them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Lines } from "../../dist/peer/lines.js";
import { sniff } from "../../dist/peer/sniff.js";

function read(lines, ...pieces) {
  const frames = pieces.flatMap((piece) => [...lines.take(Buffer.from(piece))]);
  return frames.map((frame) => (frame.kind === "line" ? Buffer.from(frame.bytes).toString("utf8") : frame));
}

test("a line is whole however its bytes are split, inside a character too", () => {
  const bytes = Buffer.from('{"text":"日本 🎣"}\n{"b":1}\n');
  for (let at = 1; at < bytes.length; at += 1) {
    const whole = read(new Lines(1000), bytes.subarray(0, at), bytes.subarray(at));
    assert.deepEqual(whole, ['{"text":"日本 🎣"}', '{"b":1}']);
  }
  const single = read(new Lines(1000), ...[...bytes].map((byte) => Uint8Array.of(byte)));
  assert.deepEqual(single, ['{"text":"日本 🎣"}', '{"b":1}']);
});

test("a line at the limit is taken, one byte more is not, and the next line is", () => {
  assert.deepEqual(read(new Lines(5), "12345\n"), ["12345"]);
  const [tooLong, next] = read(new Lines(5), "123456\nok\n");
  assert.equal(tooLong.kind, "tooLong");
  assert.equal(tooLong.actual, 6);
  assert.equal(next, "ok");
});

test("a line over the limit is counted to its end and kept no longer than its beginning", () => {
  const lines = new Lines(10);
  assert.deepEqual(read(lines, "x".repeat(9)), []);
  assert.deepEqual(read(lines, "x".repeat(9_000)), []);
  const [tooLong, next] = read(lines, "x\nok\n");
  assert.equal(tooLong.actual, 9_010);
  assert.ok(tooLong.head.length <= 4_096);
  assert.equal(next, "ok");
});

test("empty lines are passed over, and what has no line break is no line", () => {
  assert.deepEqual(read(new Lines(100), "\n \r\n\na\n", "torn"), ["a"]);
});

test("the id of a line that is too long is found where it stands whole in its beginning", () => {
  assert.deepEqual(sniff('{"jsonrpc":"2.0","id":7,"result":{"a":"x'), { id: "7", isAnswer: true });
  assert.deepEqual(sniff('{"id":"a\\"b","method":"tool/call","params":{"x":[1,{'), { id: '"a\\"b"', isAnswer: false });
  assert.deepEqual(sniff('{"result":{"a":[1,2],"b":"}"},"id":12,'), { id: "12", isAnswer: true });
  assert.deepEqual(sniff('{"id":123'), { id: undefined, isAnswer: false });
  assert.deepEqual(sniff("no object"), { id: undefined, isAnswer: false });
});
