import assert from "node:assert/strict";
import type { AdmissionWrite } from "../../../../../lib/vocabulary/admission.ts";
import { validatePlanWrite } from "../../../../../lib/upgrades/decide/admission/validate_write.ts";
import type { ClusterVersion } from "../../../../../lib/upgrades/decide/types/cluster.ts";
import { commencedCluster, FROM, IMAGE_TO, makeCluster, START, TO } from "../make_plan.ts";

type Json = Readonly<Record<string, unknown>>;

function object(spec: Json, status: Json = {}): Json {
  const desired = { version: TO, channel: "stable-4.17" };
  const all = { desired, upgradeAt: START, PDBForceDrainTimeout: 60, type: "OSD", drain: { mode: "Observe" } };
  return { metadata: { name: "managed-upgrade-config" }, spec: { ...all, ...spec }, status };
}

/** What is said of a write; it makes a plan unless it is another one. */
function judge(write: Partial<AdmissionWrite>, clusterVersion: ClusterVersion | undefined): string {
  const target = { namespace: "", name: "" };
  const whole = { operation: "CREATE", ...target, object: undefined, oldObject: undefined, ...write } as const;
  const validation = validatePlanWrite(whole, clusterVersion);
  return validation.kind === "deny" ? `deny: ${validation.message}` : ["allow", ...validation.warnings].join("; ");
}

const ROWS: readonly (readonly [string, Json, RegExp])[] = [
  ["a plan for an offered version", {}, /^allow$/],
  ["a plan for a version that may be offered later", { desired: { version: "4.19.0" } }, /^allow$/],
  ["a day that does not exist", { upgradeAt: "2026-02-30T00:00:00Z" }, /^deny: spec\.upgradeAt/],
  ["a version that is none", { desired: { version: "4.17.01" } }, /^deny: spec\.desired\.version "4\.17\.01"/],
  ["an image's tag", { desired: { image: "quay.io/a/b:1" } }, /^deny: spec\.desired\.image has no digest: write it as/],
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
  Deno.test(`validatePlanWrite(): ${name}`, () =>
    assert.match(judge({ object: object(spec) }, makeCluster()), expected));
}

Deno.test("validatePlanWrite() warns of a plan of another name, which nothing carries out", () => {
  const said = judge({ object: { ...object({}), metadata: { name: "my-upgrade" } } }, makeCluster());
  assert.equal(said, 'allow; only the plan "managed-upgrade-config" is carried out: this one has no effect');
});

Deno.test("validatePlanWrite() judges a plan by itself when the cluster is not known", () => {
  assert.equal(judge({ object: object({ desired: { version: "4.0.0" } }) }, undefined), "allow");
});

Deno.test("validatePlanWrite() lets everything be changed but the spec, whatever the spec is", () => {
  const wrong = object({ upgradeAt: "tomorrow" });
  const changed = { ...wrong, metadata: { name: "x", finalizers: [] } };
  assert.equal(judge({ operation: "UPDATE", object: changed, oldObject: wrong }, makeCluster()), "allow");
});

Deno.test("validatePlanWrite() warns that an upgrade that has begun goes on without its plan, and cannot be suspended", () => {
  const conditions = [{ type: "UpgradeCommenced", status: "True" }];
  const begun = object({}, { history: [{ version: TO, phase: "Upgrading", conditions }] });
  const after = (write: Partial<AdmissionWrite>): string => judge({ oldObject: begun, ...write }, commencedCluster());
  assert.match(
    after({ operation: "DELETE" }),
    /^allow; the upgrade to 4\.17\.2 has begun and goes on by itself, although its plan is deleted$/,
  );
  const other = object({ desired: { version: "4.17.9" } });
  assert.match(after({ operation: "UPDATE", object: other }), /although its plan is changed/);
  assert.match(after({ operation: "UPDATE", object: object({ suspend: true }) }), /suspend has no effect/);
  assert.equal(after({ operation: "CONNECT", oldObject: undefined }), "allow");
});
