import assert from "node:assert/strict";
import { cutReconciles, reconcileRequests } from "../bench/reconciles.ts";
import type { AuditedRequest } from "../cluster/support/audit_log.ts";

const USER = "system:serviceaccount:a:upgrades";

function request(words: string, receivedMs: number, more: Partial<AuditedRequest> = {}): AuditedRequest {
  const [verb = "", resource = ""] = words.split(" ");
  const nothing = { credential: "", group: "", subresource: "", namespace: "", name: "" };
  const times = { receivedMs, answeredMs: receivedMs + 5 };
  return { ...nothing, ...times, verb, resource, uri: "/", user: USER, status: 200, ...more };
}

const SETTINGS = { name: "managed-upgrade-operator-config" };
const PLAN = { name: "managed-upgrade-config" };
const VERSION = { name: "version" };

function base(atMs: number): readonly AuditedRequest[] {
  return [
    request("get configmaps", atMs, SETTINGS),
    request("get upgradeconfigs", atMs, PLAN),
    request("get clusterversions", atMs, VERSION),
  ];
}

Deno.test("cutReconciles() begins a reconcile at its three first reads, and counts reads, writes and time", () => {
  const found = cutReconciles([
    request("list machineconfigpools", 1),
    ...base(1_000),
    request("get upgradeconfigs", 1_010, PLAN),
    request("list nodes", 1_020),
    request("patch upgradeconfigs", 1_040, { subresource: "status", answeredMs: 1_090 }),
    ...base(2_000),
    request("get configmaps", 2_010),
    request("get clusterversions", 9_000, VERSION),
    request("get upgradeconfigs", 60_000, PLAN),
    request("get configmaps", 60_010, SETTINGS),
  ]);
  assert.deepEqual(found.map(({ reads, writes, tookMs }) => [reads, writes, tookMs]), [[5, 1, 90], [4, 0, 15]]);
  assert.equal(found[0]?.words.at(-1), "patch upgradeconfigs/status");
});

Deno.test("reconcileRequests() leaves out others, watches, the Lease, events, the webhook's own upkeep and the look at workloads", () => {
  const kept = [
    request("list nodes", 2),
    request("list pods", 3, { uri: "/api/v1/pods?fieldSelector=spec.nodeName%3Da" }),
  ];
  const others = [
    request("list nodes", 1, { user: "admin" }),
    request("watch nodes", 1),
    request("update leases", 1),
    request("create events", 1),
    request("get secrets", 1, { name: "archway-tls" }),
    request("get validatingwebhookconfigurations", 1),
    request("list deployments", 1),
    request("list pods", 1, { uri: "/api/v1/pods?limit=50" }),
  ];
  assert.deepEqual(reconcileRequests([...others, ...kept], USER), kept);
});
