import assert from "node:assert/strict";
import { adviseAfterMigration } from "../../../../lib/report/decide/migration_advice.ts";
import type { WorkloadSupport } from "../../../../lib/report/decide/types.ts";

const NOTHING = { unread: [], isComplete: true };

function workload(name: string, architectures: readonly string[], isKnown = true): WorkloadSupport {
  return { kind: "Deployment", namespace: "shop", name, images: [], architectures, isKnown };
}

Deno.test("adviseAfterMigration() reports nothing about workloads that run on several architectures, or on none", () => {
  assert.deepEqual(adviseAfterMigration([workload("web", ["amd64", "arm64"]), workload("broken", [])], NOTHING), []);
});

Deno.test("adviseAfterMigration() names the workloads that run on one architecture, by architecture", () => {
  const workloads = [workload("z", ["arm64"]), workload("web", ["amd64"]), workload("api", ["amd64"])];
  assert.deepEqual(adviseAfterMigration(workloads, NOTHING), [
    "2 workloads run on amd64 only: Deployment shop/api, Deployment shop/web.",
    "1 workload runs on arm64 only: Deployment shop/z.",
  ]);
});

Deno.test("adviseAfterMigration() names what was left out", () => {
  const leftOut = { unread: ["jobs", "cronjobs"], isComplete: false };
  assert.deepEqual(adviseAfterMigration([workload("web", ["amd64", "arm64"])], leftOut), [
    "Not looked at, for want of rights: jobs, cronjobs.",
    "The cluster has more workloads than were looked at: see `archway report`.",
  ]);
});

Deno.test("adviseAfterMigration() names five at most, and reports which could not be inspected", () => {
  const many = ["a", "b", "c", "d", "e", "f", "g"].map((name) => workload(name, ["amd64"]));
  const [first, second] = adviseAfterMigration([...many, workload("opaque", ["amd64"], false)], NOTHING);
  assert.match(first ?? "", /^8 workloads run on amd64 only: .*shop\/e and 3 more\.$/);
  assert.equal(second, "1 workload has images that could not be inspected: Deployment shop/opaque.");
});
