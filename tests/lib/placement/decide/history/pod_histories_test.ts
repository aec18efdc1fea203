import assert from "node:assert/strict";
import type { RecentDecision } from "../../../../../lib/placement/decide/history/recent_decisions.ts";
import { historiesOf } from "../../../../../lib/placement/decide/history/pod_histories.ts";

type Given = readonly [pod: string, kind: RecentDecision["kind"], gatedMs?: number];

const CASES: readonly (readonly [what: string, given: readonly Given[], histories: readonly string[]])[] = [
  ["a pod that was placed at once", [["web-1", "place"]], ["web-1: place"]],
  [
    "a pod that had its name at the webhook",
    [["db-0", "gate"], ["db-0", "retry", 10], ["db-0", "place", 20]],
    ["db-0: gate retry place"],
  ],
  ["a pod that was named after the webhook", [["web-…", "gate"], ["web-x1", "place", 20]], ["web-x1: gate place"]],
  [
    "two of one template: a gate each",
    [["web-…", "gate"], ["web-…", "gate"], ["web-x1", "place", 20], ["web-x2", "place", 30]],
    ["web-x2: gate place", "web-x1: gate place"],
  ],
  ["a gate whose pod is still held", [["web-…", "gate"], ["api-x1", "place", 20]], ["api-x1: place", "web-…: gate"]],
  ["another pod of the same name", [["db-0", "place"], ["db-0", "gate"], ["db-0", "place", 5]], [
    "db-0: gate place",
    "db-0: place",
  ]],
];

for (const [what, given, expected] of CASES) {
  Deno.test(`historiesOf: ${what}`, () => {
    const recent = given.map(([pod, kind, gatedMs], atMs): RecentDecision => ({
      ...{ atMs, namespace: "team", pod, kind, reason: "", architectures: [], images: [], gatedMs },
    })).toReversed();
    const histories = historiesOf(recent).map(({ entries }) =>
      `${entries.at(-1)?.pod}: ${entries.map(({ kind }) => kind).join(" ")}`
    );
    assert.deepEqual(histories, expected);
  });
}

Deno.test("historiesOf keeps namespaces apart", () => {
  const entry = { atMs: 0, kind: "gate", reason: "", architectures: [], images: [] } as const;
  const recent: RecentDecision[] = [
    { ...entry, namespace: "b", pod: "web-1", kind: "place", gatedMs: 5 },
    { ...entry, namespace: "a", pod: "web-…", gatedMs: undefined },
  ];
  assert.deepEqual(historiesOf(recent).map(({ entries }) => entries.length), [1, 1]);
});
