// Our decisions about the jobs that the real Kueue queued for the record, against where it admitted them.
import assert from "node:assert/strict";
import type { KubeObject } from "../../../lib/k8s/types.ts";
import { decideIgnoringGate } from "../../../lib/placement/decide/decide.ts";
import { planQueued } from "../../../lib/placement/decide/plan_inspection.ts";
import {
  decideKueueWorkload,
  type KueueStep,
  parseKueueWorkload,
} from "../../../lib/placement/decide/kueue_workload.ts";
import { applied, ARCH, at, factsOf, failedFact, platformsFact } from "../../lib/placement/decide/make.ts";
import {
  COUNT,
  drawJobs,
  fitsOf,
  hashOfProgram,
  type KueueRecord,
  pinOf,
  platformsOf,
  RecordSchema,
  requiredOf,
  type Row,
  type Shape,
} from "./shapes.ts";

const RECORD = new URL("../records/kueue.json", import.meta.url);

const FLAVORS = new Map(["amd64", "arm64"].map((architecture) => [architecture, { [ARCH]: architecture }]));

/** A Workload as Kueue makes it of such a job: with quota where it is assigned a flavor. */
function workloadOf(shape: Shape, flavor?: string): KubeObject {
  const spec = { containers: shape.images.map((image) => ({ name: image, image })), ...pinOf(shape) };
  const admission = { podSetAssignments: [{ name: "main", flavors: { cpu: flavor } }] };
  return {
    metadata: { name: "w", namespace: "n" },
    spec: { podSets: [{ name: "main", count: 1, template: { spec } }] },
    status: {
      conditions: flavor === undefined ? [] : [{ type: "QuotaReserved", status: "True" }],
      admissionChecks: [{ name: "archway", state: "Pending", message: "" }],
      ...flavor === undefined ? {} : { admission },
    },
  };
}

function stepOf(raw: KubeObject, { images }: Shape): KueueStep {
  const workload = parseKueueWorkload(raw);
  assert.ok(workload !== undefined);
  const inspected = [...new Set(images)].map((image) => {
    const platforms = platformsOf(image)?.map((architecture) => ({ os: "linux", architecture }));
    return platforms === undefined
      ? failedFact(image, { kind: "permanent", reason: "ManifestUnknown" })
      : platformsFact(image, platforms);
  });
  const changes = { images: inspected, failedAttempts: 1, planOf: planQueued };
  const facts = factsOf(at(raw, "spec", "podSets", 0, "template"), changes);
  return decideKueueWorkload({ workload, decisions: [decideIgnoringGate(facts)], flavors: FLAVORS });
}

function answerOn(flavor: string, { shape }: Row): string | undefined {
  const step = stepOf(workloadOf(shape, flavor), shape);
  return step.kind === "act" ? step.answer?.state : undefined;
}

async function isOfTheseJobs(record: KueueRecord): Promise<void> {
  const shapes = drawJobs().map(({ shape }) => shape);
  const { program, rows, contradictions, impossible, ran } = record;
  assert.equal(program.sha256, await hashOfProgram(), "record it anew: tests/oracles/README.md");
  assert.deepEqual([contradictions, impossible, ran], [0, 0, shapes.filter((one) => fitsOf(one).length > 0).length]);
  assert.equal(rows.reduce((sum, { count }) => sum + count, 0), COUNT);
  const drawn = shapes.map((shape) => JSON.stringify(shape));
  assert.deepEqual(new Set(rows.map(({ shape }) => JSON.stringify(shape))), new Set(drawn));
}

function agreesOnFlavors({ rows }: KueueRecord): void {
  for (const row of rows) {
    const asked = row.flavor === undefined ? [...FLAVORS.keys()] : [row.flavor];
    const wanted = asked.map(() => row.flavor === undefined ? "Retry" : "Ready");
    assert.deepEqual(asked.map((flavor) => answerOn(flavor, row)), wanted, JSON.stringify(row));
  }
}

function agreesOnAffinity({ rows }: KueueRecord): void {
  for (const { shape, required } of rows) {
    const raw = workloadOf(shape);
    const path = ["spec", "podSets", 0, "template", "spec"] as const;
    if (required === undefined || required.join() === requiredOf(at(raw, ...path))?.join()) continue;
    const step = stepOf(raw, shape);
    assert.ok(step.kind === "act");
    assert.deepEqual(requiredOf(at(applied(raw, step.workloadPatch), ...path)), required, JSON.stringify(shape));
  }
}

const record = RecordSchema.parse(JSON.parse(await Deno.readTextFile(RECORD)));

Deno.test("Q-02 Kueue: the record is of these jobs as they are asked, none contradictory or on an impossible flavor", () =>
  isOfTheseJobs(record));
Deno.test("Q-02 Kueue: what it admitted we call Ready there, and what it did not admit we call Ready nowhere", () =>
  agreesOnFlavors(record));
Deno.test("Q-02 Kueue: where it saw an affinity, it is the one that we write", () => agreesOnAffinity(record));
