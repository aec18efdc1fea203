import assert from "node:assert/strict";
import {
  detectArchitectures,
  type DetectInput,
  effectiveSet,
  type GoneSince,
  isSameStoredSet,
  parseGoneSince,
  renderStoredSet,
} from "../../../../../lib/builds/decide/detect/detect.ts";
import { parseBuildMachineSet } from "../../../../../lib/builds/decide/parse/machine_config.ts";
import type { BuildMachineSet } from "../../../../../lib/builds/decide/observed.ts";
import type { DetectedSet } from "../../../../../lib/builds/decide/types.ts";
import { nodeOf, poolObject, type RawNode } from "../make.ts";

const POOLS = [poolObject(), poolObject({ name: "master" })];
const HOUR = 3_600_000;

function detect(nodes: readonly RawNode[], more: Partial<DetectInput> = {}): DetectedSet {
  const input = { pool: "worker", pools: POOLS, machineSets: [], isMultiPayload: false };
  return detectArchitectures({ ...input, nodes: nodes.map(nodeOf), ...more });
}

interface More {
  readonly more?: Partial<DetectInput>;
  readonly source?: string;
  readonly findings?: readonly string[];
}
type Row = readonly [name: string, nodes: readonly RawNode[], set: readonly string[], more?: More];

const INFRA = poolObject({ name: "infra" });
const WITH_INFRA = [...POOLS, INFRA];
const arm = (...roles: string[]): RawNode => ({ reported: "arm64", ...roles.length === 0 ? {} : { roles } });
const OF_INFRA = arm("worker", "infra");
const OF_TWO = arm("worker", "infra", "edge");
const TWO_POOLS = { pools: [...WITH_INFRA, poolObject({ name: "edge" })], pool: "infra" };
const ROWS: readonly Row[] = [
  ["P-001 takes one architecture from three nodes", [{ name: "a" }, { name: "b" }, { name: "c" }], ["amd64"]],
  ["P-002 takes both from two of amd64 and one of arm64", [{ name: "a" }, { name: "b" }, arm()], ["amd64", "arm64"]],
  ["P-003 takes nothing from the payload", [{}], ["amd64"], { more: { isMultiPayload: true } }],
  ["P-004 leaves a node of another pool out", [{}, arm("master")], ["amd64"]],
  ["P-005 counts a node of a custom pool for that alone", [{}, OF_INFRA], ["amd64"], { more: { pools: WITH_INFRA } }],
  ["P-005 finds it in the custom pool", [{}, OF_INFRA], ["arm64"], { more: { pools: WITH_INFRA, pool: "infra" } }],
  ["counts a control plane node that is also a worker for the control plane", [arm("worker", "master"), {}], ["amd64"]],
  ["counts a node of two custom pools for none", [{}, OF_TWO], ["amd64"], { more: TWO_POOLS, source: "worker pool" }],
  [
    "P-006 believes the kubelet before the label, and says that they disagree",
    [{ ...arm(), label: "amd64" }],
    ["arm64"],
    { findings: ["ArchitectureDisagreement"] },
  ],
  ["P-007 leaves a node out that reports nothing yet", [{}, { name: "n", reported: "", label: "arm64" }], ["amd64"]],
  ["P-008 counts a node that is not ready", [{}, { ...arm(), ready: false }], ["amd64", "arm64"]],
  ["P-009 leaves a Windows node out", [{}, { ...arm(), name: "w", os: "windows" }], ["amd64"]],
  ["P-010 reports an architecture without images", [{}, { reported: "riscv64" }], ["amd64"], {
    findings: ["UnknownArchitecture"],
  }],
  ["P-011 takes that of the workers for an empty pool", [arm()], ["arm64"], {
    more: { pools: WITH_INFRA, pool: "infra" },
    source: "worker pool",
  }],
  ["P-011 takes that of the control plane where there are no workers", [{ reported: "s390x", roles: ["master"] }], [
    "s390x",
  ], { source: "control plane" }],
  ["P-012 takes a user's", [{}], ["amd64", "arm64"], { more: { override: "ARM64, amd64,amd64" }, source: "override" }],
  ["P-012 takes none of a user's where one is wrong, and says so", [{}], ["amd64"], {
    more: { override: "arm64,sparc" },
    findings: ["InvalidOverride"],
  }],
];

for (const [name, nodes, set, { more, source = "nodes", findings = [] } = {}] of ROWS) {
  Deno.test(`${name.replace(/^((?:P-\d+ )?)/, "$1detectArchitectures() ")}`, () => {
    const found = detect(nodes, more);
    const kinds = found.findings.map(({ kind }) => kind);
    assert.deepEqual([found.set, found.source, kinds], [set, source, findings]);
  });
}

function machineSet(arch: string, role: string): BuildMachineSet {
  const annotations = { "capacity.cluster-autoscaler.kubernetes.io/labels": `kubernetes.io/arch=${arch}` };
  const metadata = { labels: { "machine.openshift.io/cluster-api-machine-role": role } };
  const parsed = parseBuildMachineSet({ metadata: { name: "set", annotations }, spec: { template: { metadata } } });
  return parsed ?? assert.fail("no machine set");
}

Deno.test("P-013 detectArchitectures() expects those of machine sets of the pool, under a multi-architecture payload", () => {
  const machineSets = [machineSet("arm64", "worker"), machineSet("s390x", "master")];
  assert.deepEqual(detect([{}], { machineSets, isMultiPayload: true }).set, ["amd64", "arm64"]);
  assert.deepEqual(detect([{}], { machineSets, isMultiPayload: false }).set, ["amd64"]);
});

Deno.test("parseBuildMachineSet() leaves out one that makes no machine, unless an autoscaler may grow it", () => {
  const annotations = { "machine.openshift.io/cluster-api-autoscaler-node-group-max-size": "3" };
  assert.equal(parseBuildMachineSet({ metadata: { name: "none" }, spec: { replicas: 0 } }), undefined);
  assert.ok(parseBuildMachineSet({ metadata: { name: "some", annotations }, spec: { replicas: 0 } }) !== undefined);
});

const RETAINED = { detected: ["amd64"], built: ["amd64", "arm64"], nowMs: 10 * HOUR, retainMs: HOUR } as const;
const goneSince = (hours: number): GoneSince => ({ arm64: new Date(hours * HOUR).toISOString() });

Deno.test("P-014 effectiveSet() keeps what has left while nothing else changes, however long", () => {
  assert.deepEqual(effectiveSet({ ...RETAINED, goneSince: goneSince(1), isPublished: () => true }), ["amd64", "arm64"]);
});

Deno.test("effectiveSet() lets an architecture go with another change, an hour after its last node", () => {
  const isPublished = (): boolean => false;
  assert.deepEqual(effectiveSet({ ...RETAINED, goneSince: goneSince(9.5), isPublished }), ["amd64", "arm64"]);
  assert.deepEqual(effectiveSet({ ...RETAINED, goneSince: goneSince(9), isPublished }), ["amd64"]);
  // Nothing says since when: it has only just left.
  assert.deepEqual(effectiveSet({ ...RETAINED, goneSince: {}, isPublished }), ["amd64", "arm64"]);
});

Deno.test("P-015 what is stored says the same while only time passes", () => {
  const detected = detect([{}, { reported: "arm64" }]);
  const set = detected.set;
  const first = renderStoredSet({ set, detected, goneSince: {}, nowMs: HOUR });
  const later = renderStoredSet({ set, detected, goneSince: parseGoneSince(first), nowMs: 2 * HOUR });
  assert.ok(isSameStoredSet(first, later));
  assert.match(later, /"nodeCounts":\{"amd64":1,"arm64":1\}/);
  const gone = detect([{}]);
  const left = renderStoredSet({ set, detected: gone, goneSince: parseGoneSince(first), nowMs: 2 * HOUR });
  assert.ok(!isSameStoredSet(first, left));
  // Since when it has gone stays what it was.
  assert.ok(
    isSameStoredSet(left, renderStoredSet({ set, detected: gone, goneSince: parseGoneSince(left), nowMs: 5 * HOUR })),
  );
});

Deno.test("parseGoneSince() takes what cannot be read for nothing", () => {
  const soon = '{"set":["arm64",7,"sparc"],"goneSince":{"arm64":"soon"}}';
  for (const text of [undefined, "", "[]", "{", "null", soon]) assert.deepEqual(parseGoneSince(text), {});
});
