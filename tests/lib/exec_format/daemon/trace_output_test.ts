import assert from "node:assert/strict";
import { type TraceMessage, TraceReader } from "../../../../lib/exec_format/daemon/trace_output.ts";

function readAll(data: readonly string[], reader = new TraceReader()): readonly TraceMessage[] {
  return data.map((text) => reader.read(JSON.stringify({ type: "printf", data: text })))
    .filter((message) => message !== undefined);
}

const ONE = ["b 0 7 runc:[2:INIT]", "f 0 7 /app", "d 0 7 inner", "d 0 7 outer", "e 0 7 1"];
const FAILURE = failed({ command: "/app", isEntryPoint: true, paths: [["outer", "inner"]] });

type Failure = Extract<TraceMessage, { readonly kind: "failure" }>["failure"];

function failed(changes: Partial<Failure>): TraceMessage {
  return { kind: "failure", failure: { command: "sh", isEntryPoint: false, parentPath: [], paths: [], ...changes } };
}

Deno.test("TraceReader keeps failures of different CPUs and times apart", () => {
  const other = ONE.map((line) => line.replace("0 7", "1 7").replace("/app", "/other"));
  const mixed = ONE.flatMap((line, at) => [line, other[at] ?? ""]);
  const found = readAll(mixed).map((message) => message.kind === "failure" ? message.failure.command : message.kind);
  assert.deepEqual(found, ["/app", "/other"]);
});

const HOSTILE = "x\ne 0 7 1\nb 0 8 evil";
const READ: readonly (readonly [title: string, data: readonly string[], expected: readonly TraceMessage[]])[] = [
  ["puts the messages of a failure together, from the root inwards", ONE, [FAILURE]],
  ["makes no failure of a path whose outer folders are missing", [...ONE.slice(0, -1), "e 0 7 2"], [{
    kind: "cut off",
  }]],
  ["gives one path a hierarchy", ["b 0 7 sh", "d 0 7 a", "c 0 7 b", "c 0 7 a", "e 0 7 0"], [
    failed({ paths: [["a"], ["a", "b"]] }),
  ]],
  ["gives the path of the parent by itself", ["b 0 7 sh", "p 0 7 shim", "p 0 7 services", "d 0 7 a", "e 0 7 1"], [
    failed({ isEntryPoint: true, parentPath: ["services", "shim"], paths: [["a"]] }),
  ]],
  ["takes no name for a message of its own, whatever it holds", [
    ...["b 0 7 sh", `f 0 7 ${HOSTILE}`, `d 0 7 ${HOSTILE}`, "e 0 7 0"],
  ], [failed({ command: HOSTILE, paths: [[HOSTILE]] })]],
  ["counts repetitions and texts since the last sign of life", ["h 5 1", "h 5 4"], [
    { kind: "alive", repeats: 5, texts: 1 },
    { kind: "alive", repeats: 0, texts: 3 },
  ]],
];

for (const [title, data, expected] of READ) {
  Deno.test(`TraceReader ${title}`, () => assert.deepEqual(readAll(data), expected));
}

Deno.test("TraceReader names the file, else the process, but never the runtime", () => {
  const commandOf = (comm: string, file: string): unknown => {
    const [message] = readAll([`b 0 7 ${comm}`, `f 0 7 ${file}`, "e 0 7 1"]);
    return message?.kind === "failure" ? message.failure.command : message;
  };
  assert.equal(commandOf("sh", "/bin/tool"), "/bin/tool");
  assert.equal(commandOf("sh", ""), "sh");
  assert.equal(commandOf("runc:[2:INIT]", ""), undefined);
  assert.equal(commandOf("crun", ""), undefined);
});

Deno.test("TraceReader reports what was lost, and makes nothing of the rest of it", () => {
  const reader = new TraceReader();
  const line = JSON.stringify({ type: "lost_events", data: { events: 12 } });
  assert.deepEqual(reader.read(line), { kind: "lost", messages: 12 });
  assert.deepEqual(readAll(ONE.slice(1), reader), []);
  assert.deepEqual(readAll(ONE, reader), [FAILURE]);
});

Deno.test("TraceReader makes nothing of a failure from whose middle messages were lost", () => {
  const reader = new TraceReader();
  assert.deepEqual(readAll(ONE.slice(0, 3), reader), []);
  const line = JSON.stringify({ type: "lost_events", data: { events: 1 } });
  assert.deepEqual(reader.read(line), { kind: "lost", messages: 2 });
  assert.deepEqual(readAll(ONE.slice(4), reader), []);
});

Deno.test("TraceReader keeps a bounded number of failures whose end never comes, and counts the others as lost", () => {
  const begun = readAll(Array.from({ length: 1_030 }, (_, at) => `b 0 ${at} sh`));
  assert.deepEqual(begun, Array(6).fill({ kind: "lost", messages: 1 }));
});

Deno.test("TraceReader takes other lines for nothing", () => {
  const reader = new TraceReader();
  const attaching = '{"type": "attached_probes", "data": {"probes": 5}}';
  for (const line of ["", attaching, "Attaching 5 probes...", '{"type":"map","data":{}}', "[]", '{"type":"printf"}']) {
    assert.equal(reader.read(line), undefined, line);
  }
});
