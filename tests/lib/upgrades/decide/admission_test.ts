import assert from "node:assert/strict";
import {
  type PlanVerdict,
  type PlanWrite,
  validatePlanWrite,
} from "../../../../lib/upgrades/decide/admission/validate_write.ts";
import type { ClusterVersion } from "../../../../lib/upgrades/decide/types/cluster.ts";
import { commencedCluster, FROM, IMAGE_TO, makeCluster, START, TO } from "./make_plan.ts";

type Json = Readonly<Record<string, unknown>>;

function object(spec: Json, status: Json = {}): Json {
  const all = {
    desired: { version: TO, channel: "stable-4.17" },
    upgradeAt: START,
    PDBForceDrainTimeout: 60,
    type: "OSD",
  };
  return {
    metadata: { name: "managed-upgrade-config" },
    spec: { ...all, drain: { mode: "Observe" }, ...spec },
    status,
  };
}

function judge(spec: Json, clusterVersion: ClusterVersion | undefined = makeCluster()): PlanVerdict {
  return validatePlanWrite({ operation: "CREATE", object: object(spec), oldObject: undefined }, { clusterVersion });
}

function wordOf(verdict: PlanVerdict): string {
  return verdict.kind === "deny" ? `deny: ${verdict.message}` : ["allow", ...verdict.warnings].join("; ");
}

const ROWS: readonly (readonly [string, Json, RegExp])[] = [
  ["a plan for an offered version", {}, /^allow$/],
  ["a plan for a version that may be offered later", { desired: { version: "4.19.0" } }, /^allow$/],
  ["a day that does not exist", { upgradeAt: "2026-02-30T00:00:00Z" }, /^deny: spec\.upgradeAt/],
  ["a version that is none", { desired: { version: "4.17.01" } }, /^deny: spec\.desired\.version "4\.17\.01"/],
  [
    "an image without digest",
    { desired: { image: "quay.io/a/b:1" } },
    /^deny: spec\.desired\.image has no digest: write it as/,
  ],
  ["an image", { desired: { image: IMAGE_TO } }, /^allow$/],
  ["a malformed pattern", { capacity: { pools: ["a", "b["] } }, /^deny: spec\.capacity\.pools: "b\["/],
  ["an older version", { desired: { version: "4.16.0" } }, /^deny: .*older than 4\.17\.1/],
  [
    "a migration to another version",
    { desired: { version: TO, architecture: "Multi" } },
    /^deny: .*set spec\.desired\.version to 4\.17\.1/,
  ],
  ["a migration", { desired: { version: FROM, architecture: "Multi" } }, /^allow; once it has begun/],
  ["the version that the cluster has", { desired: { version: FROM } }, /^allow; the cluster is there already/],
  ["no mode of drains", { drain: {} }, /^allow; spec\.drain\.mode is absent/],
];

for (const [name, spec, expected] of ROWS) {
  Deno.test(`validatePlanWrite(): ${name}`, () => assert.match(wordOf(judge(spec)), expected));
}

Deno.test("validatePlanWrite() warns of a plan of another name, which nothing carries out", () => {
  const other = { ...object({}), metadata: { name: "my-upgrade" } };
  const verdict = validatePlanWrite({ operation: "CREATE", object: other, oldObject: undefined }, {
    clusterVersion: makeCluster(),
  });
  assert.equal(wordOf(verdict), 'allow; only the plan "managed-upgrade-config" is carried out: this one has no effect');
});

Deno.test("validatePlanWrite() judges a plan by itself when the cluster is not known", () => {
  const facts = { clusterVersion: undefined };
  const verdict = validatePlanWrite({
    operation: "CREATE",
    object: object({ desired: { version: "4.0.0" } }),
    oldObject: undefined,
  }, facts);
  assert.equal(wordOf(verdict), "allow");
});

Deno.test("validatePlanWrite() lets everything be changed but the spec, whatever the spec is", () => {
  const wrong = object({ upgradeAt: "tomorrow" });
  const write: PlanWrite = {
    operation: "UPDATE",
    object: { ...wrong, metadata: { name: "x", finalizers: [] } },
    oldObject: wrong,
  };
  assert.equal(wordOf(validatePlanWrite(write, { clusterVersion: makeCluster() })), "allow");
});

Deno.test("validatePlanWrite() warns that an upgrade that has begun goes on without its plan, and cannot be suspended", () => {
  const conditions = [{ type: "UpgradeCommenced", status: "True" }];
  const begun = object({}, { history: [{ version: TO, phase: "Upgrading", conditions }] });
  const facts = { clusterVersion: commencedCluster() };
  const deleted = validatePlanWrite({ operation: "DELETE", object: undefined, oldObject: begun }, facts);
  assert.match(
    wordOf(deleted),
    /^allow; the upgrade to 4\.17\.2 has begun and goes on by itself, although its plan is deleted$/,
  );
  const changed = validatePlanWrite({
    operation: "UPDATE",
    object: object({ desired: { version: "4.17.9" } }),
    oldObject: begun,
  }, facts);
  assert.match(wordOf(changed), /although its plan is changed/);
  const suspended = validatePlanWrite(
    { operation: "UPDATE", object: object({ suspend: true }), oldObject: begun },
    facts,
  );
  assert.match(wordOf(suspended), /suspend has no effect/);
  const connect = validatePlanWrite({ operation: "CONNECT", object: undefined, oldObject: undefined }, facts);
  assert.equal(wordOf(connect), "allow");
});
