import assert from "node:assert/strict";
import { failingCount } from "../../../../../lib/placement/decide/failures.ts";
import { architectureLabels, type Changes } from "../../../../../lib/placement/decide/patch/changes.ts";
import { mapOperations } from "../../../../../lib/placement/decide/patch/pod_patch.ts";
import { AMD64, applied, ARM64, at, type Json, make, mark, type Row, rows } from "../make.ts";

type Held = Record<string, string> | undefined;

function changed(
  where: "labels" | "annotations",
  held: Held,
  ...changes: readonly [string, string | undefined][]
): unknown {
  const raw = make.pod({}, held === undefined ? {} : { [where]: held });
  const path = `/metadata/${where}`;
  return at(applied(raw, mapOperations(path, held, new Map(changes))), "metadata", where);
}

function changes(
  id: string,
  given: readonly [where: "labels" | "annotations", held: Held, key: string, value: string | undefined],
  expected: Json | undefined,
): Row {
  const [where, held, key, value] = given;
  const title = `mapOperations() makes ${JSON.stringify(held)} ${
    JSON.stringify(expected)
  } when ${key} becomes ${value}`;
  return [id, title, () => assert.deepEqual(changed(where, held, [key, value]), expected)];
}

function counts(id: string, label: string | undefined, expected: number): Row {
  const key = mark("image-inspect-error-count");
  const raw = make.pod({}, label === undefined ? {} : { labels: { [key]: label } });
  return [
    id,
    `failingCount() is ${expected} after ${label}`,
    () => assert.equal(failingCount(make.view(raw), 0), expected),
  ];
}

function labels(id: string, architectures: readonly string[], ...expected: readonly string[]): Row {
  const wanted: Changes = new Map(expected.map((name) => [mark(name), ""]));
  return [
    id,
    `architectureLabels() of [${architectures}] are ${expected.join(", ")}`,
    () => assert.deepEqual(architectureLabels(architectures), wanted),
  ];
}

rows([
  changes("MD-13", ["labels", undefined, "testLabel", "testValue"], { testLabel: "testValue" }),
  changes("MD-14", ["labels", { existing: "x" }, "testLabel", "testValue"], { existing: "x", testLabel: "testValue" }),
  changes("MD-15", ["labels", { testLabel: "oldValue" }, "testLabel", "newValue"], { testLabel: "newValue" }),
  changes("MD-16", ["annotations", undefined, "note", "v"], { note: "v" }),
  changes("MD-17", ["annotations", { other: "x" }, "note", "v"], { other: "x", note: "v" }),
  changes("MD-18", ["annotations", { note: "old", other: "x" }, "note", "new"], { note: "new", other: "x" }),
  changes("MD-19", ["labels", undefined, "test-label", undefined], undefined),
  changes("MD-20", ["labels", { "test-label": "x" }, "test-label", undefined], {}),
  changes("MD-21", ["labels", { "test-label": "x", another: "y" }, "test-label", undefined], { another: "y" }),
  changes("MD-22", ["labels", { one: "x", two: "y" }, "test-label", undefined], { one: "x", two: "y" }),
  counts("MD-28", undefined, 1),
  counts("MD-29", "2", 3),
  counts("MD-30", "non-numeric", 1),
  labels("PM-51", [], "no-supported-arch"),
  labels("PM-52", [AMD64], "single-arch", "amd64"),
  labels("PM-53", [AMD64, ARM64], "multi-arch", "amd64", "arm64"),
  labels("PM-54", [AMD64, "riscv64"], "multi-arch", "amd64"),
  labels("PM-55", ["mips64", "riscv64"], "multi-arch"),
]);

Deno.test("mapOperations() escapes keys and does nothing for what is already so", () => {
  const held = { "a/b~c": "1", same: "x" };
  const operations = mapOperations("/metadata/labels", held, new Map([["a/b~c", "2"], ["same", "x"]]));
  assert.deepEqual(operations, [{ op: "replace", path: "/metadata/labels/a~1b~0c", value: "2" }]);
});

Deno.test("failingCount() never reaches the value that means given up", () => {
  const raw = make.pod({}, { labels: { [mark("image-inspect-error-count")]: "999" } });
  assert.equal(failingCount(make.view(raw), 7), 4);
});
