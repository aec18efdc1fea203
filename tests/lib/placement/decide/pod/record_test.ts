import assert from "node:assert/strict";
import type { DecisionRecord, ImageOutcome } from "../../../../../lib/placement/decide/decision_types.ts";
import {
  decisionRecordOf,
  MAX_RECORD_BYTES,
  parseRecord,
  renderRecord,
} from "../../../../../lib/placement/decide/pod/record.ts";
import { AMD64, ARM64, make, settle } from "../make.ts";

const outcome = (image: string): ImageOutcome => ({
  image,
  digest: `sha256:${"a".repeat(64)}`,
  architectures: [AMD64, ARM64],
  source: "registry",
});

function record(images: readonly ImageOutcome[]): DecisionRecord {
  return { version: 1, decision: "place", architectures: [AMD64, ARM64], images, omitted: 0 };
}

Deno.test("parseRecord() reads back what renderRecord() wrote", () => {
  const written = record([outcome("a"), { ...outcome("b"), source: "bundle", digest: "" }]);
  assert.deepEqual(parseRecord(renderRecord(written)), written);
});

/** What is read back of a record, which keeps to its bound and counts what it leaves out. */
function kept(written: DecisionRecord): DecisionRecord {
  const text = renderRecord(written);
  assert.ok(new TextEncoder().encode(text).length <= MAX_RECORD_BYTES);
  const read = parseRecord(text) ?? assert.fail("no record");
  assert.equal(read.images.length + read.omitted, written.images.length);
  return read;
}

Deno.test("renderRecord() leaves images out and counts them when they do not fit", () => {
  const many = Array.from({ length: 60 }, (_, at) => outcome(`registry.example.com/team/ünïcode-${at}`));
  assert.ok(kept(record(many)).images.length > 0);
});

Deno.test("renderRecord() is bounded for 60 images of the longest names, one endless name and endless architectures", () => {
  const longest = Array.from({ length: 60 }, (_, at) => outcome(`${"r".repeat(240)}/${at}@sha256:${"f".repeat(64)}`));
  const endless = [outcome("x".repeat(10_000))];
  const hostile = Array.from({ length: 1_000 }, (_, at) => `architecture-${at}`);
  for (const written of [record(longest), record(endless), { ...record(longest), architectures: hostile }]) {
    kept(written);
  }
});

Deno.test("parseRecord() takes nothing that is no record", () => {
  const forged = [
    undefined,
    "",
    "x",
    "[]",
    "null",
    "7",
    '{"v":2,"d":"place"}',
    '{"v":1,"d":"own"}',
    "{".repeat(9_000),
  ];
  for (const text of forged) assert.equal(parseRecord(text), undefined, String(text));
  assert.deepEqual(
    parseRecord('{"v":1,"d":"place","a":[1,"amd64",null],"i":[7,["x"],["y","",["a"],"magic"]],"o":"x"}'),
    {
      version: 1,
      decision: "place",
      architectures: ["amd64"],
      images: [],
      omitted: 0,
    },
  );
});

Deno.test("decisionRecordOf() records decisions that end a pod's wait", () => {
  const kept = decisionRecordOf(settle(make.gatedPod()).decision);
  assert.deepEqual([kept?.decision, kept?.architectures], ["place", [AMD64, ARM64]]);
  assert.equal(decisionRecordOf({ kind: "ignore", reason: "DaemonSet" }), undefined);
});
