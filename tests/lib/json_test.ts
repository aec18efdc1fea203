import assert from "node:assert/strict";
import fc from "fast-check";
import { hasDenseStructure, heapBytesOf, MAX_STRUCTURE, parseBoundedObject } from "../../lib/json.ts";

const encoder = new TextEncoder();
const MIB = 1024 * 1024;

/** A pod of so many containers with the defaults that the API server fills in, in the order of its encoder. */
function podOf(containers: number): Uint8Array {
  const object = {
    kind: "Pod",
    metadata: { name: "many" },
    spec: {
      containers: Array.from({ length: containers }, (_, index) => ({
        name: `c${index}`,
        image: `r${index.toString(36)}.example/a`,
        resources: {},
        terminationMessagePath: "/dev/termination-log",
        terminationMessagePolicy: "File",
        imagePullPolicy: "IfNotPresent",
      })),
    },
  };
  return encoder.encode(JSON.stringify({ request: { uid: "u", object } }));
}

/** Counts members and elements as a parser sees them. */
function structureOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const members = Object.values(value);
  return 1 + Math.max(0, members.length - 1) + members.reduce((sum: number, member) => sum + structureOf(member), 0);
}

/** The quickest of some runs (ms): other work on the machine only ever adds. */
function quickest(run: () => void): number {
  return Math.min(...Array.from({ length: 25 }, () => {
    const startedMs = performance.now();
    run();
    return performance.now() - startedMs;
  }));
}

/** Long strings of the bytes that matter. */
const hostileText = fc.array(fc.constantFrom('"', "\\", ",", "{", "x"), { maxLength: 100 }).map((all) => all.join(""));

Deno.test("hasDenseStructure() counts what a parser would, whatever the strings hold", () => {
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fc.array(hostileText)), fc.nat({ max: 30 }), (value, max) => {
      assert.equal(hasDenseStructure(encoder.encode(JSON.stringify(value)), max), structureOf(value) > max);
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("hasDenseStructure() ends at the end of bytes that are no JSON", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat({ max: 20 }), (bytes, max) => {
      assert.equal(typeof hasDenseStructure(bytes, max), "boolean");
    }),
  );
  assert.equal(hasDenseStructure(encoder.encode('"\\'), 0), false);
});

Deno.test("hasDenseStructure() lets a pod of 45 000 containers be parsed", () => {
  const body = podOf(45_000);
  assert.ok(body.length > 6 * MIB);
  assert.equal(hasDenseStructure(body), false);
});

Deno.test("hasDenseStructure() recognises 7 MiB of objects, lists and short strings within 10 ms", () => {
  const late = `["${"x".repeat(5 * MIB)}",${"{},".repeat(MAX_STRUCTURE)}1]`;
  const bodies = ["{},", "[],", '"a",', "1,", '"a":{},'].map((unit) => unit.repeat(Math.floor(7 * MIB / unit.length)));
  for (const text of [...bodies, late]) {
    const bytes = encoder.encode(text);
    assert.equal(hasDenseStructure(bytes), true, text.slice(0, 8));
    const ms = quickest(() => hasDenseStructure(bytes));
    assert.ok(ms < 10, `${text.slice(0, 8)}: ${ms} ms`);
  }
});

Deno.test("parseBoundedObject() parses an index of 1 000 entries, and nothing that is far denser", () => {
  const platform = { os: "linux", architecture: "arm64", variant: "v8", "os.version": "1" };
  const entry = { mediaType: "a/b", digest: "sha256:0", size: 1, platform, annotations: { a: "1", b: "2", c: "3" } };
  const index = { schemaVersion: 2, manifests: Array.from({ length: 1_000 }, () => entry) };
  assert.deepEqual(parseBoundedObject(JSON.stringify(index)), index);
  assert.notEqual(parseBoundedObject(`{"a":[${"{},".repeat(19_998)}{}]}`), undefined);
  assert.equal(parseBoundedObject(`{"a":[${"{},".repeat(20_000)}{}]}`), undefined);
  assert.equal(parseBoundedObject("[]"), undefined);
});

Deno.test("parseBoundedObject() takes another bound for answers that are small", () => {
  const text = `{"token":"${"x".repeat(5_000)}","scopes":[${"1,".repeat(98)}1]}`;
  assert.notEqual(parseBoundedObject(text, 102), undefined);
  assert.equal(parseBoundedObject(text, 100), undefined);
});

Deno.test("heapBytesOf() counts what a text of little objects and short strings takes of memory, not its length", () => {
  assert.equal(heapBytesOf("12345"), 5);
  assert.equal(heapBytesOf(JSON.stringify("text")), 6 + 24);
  assert.equal(heapBytesOf("[{},{}]"), 7 + 3 * 64);
});
