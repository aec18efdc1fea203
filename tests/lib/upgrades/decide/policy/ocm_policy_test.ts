import assert from "node:assert/strict";
import {
  inferChannel,
  isActionable,
  isPolicyOf,
  orderPolicies,
  specOfPolicy,
} from "../../../../../lib/upgrades/decide/policy/plan_change.ts";

const CLUSTER = { id: "c1", channelGroup: "stable", drainGraceMinutes: 60 };

Deno.test("M-077 M-079 M-080 M-081 inferChannel() joins group and version; eus has even minors only", () => {
  const table: readonly (readonly [string, string, string])[] = [
    ["4.9.11", "fast", "fast-4.9"],
    ["4.16.2", "", "stable-4.16"],
    ["4.17.1", "eus", "eus-4.18"],
    ["4.18.1", "eus", "eus-4.18"],
    ["4.16.0-rc.1", "candidate", "candidate-4.16"],
  ];
  for (const [version, group, expected] of table) assert.equal(inferChannel(version, group), expected, version);
});

Deno.test("M-078 inferChannel() has no channel for what is no version", () => {
  for (const version of ["", "4", "4.9", "latest", "x4.9.1"]) assert.equal(inferChannel(version, "fast"), undefined);
  const policy = { id: "p", version: "latest", nextRun: "2026-03-20T00:00:00Z" };
  assert.equal(specOfPolicy(policy, { cluster: CLUSTER, type: "OSD" }), undefined);
});

Deno.test("orderPolicies() puts the earliest first, without those that name no version or no time", () => {
  const of = (id: string, nextRun: string, version = "4.16.3") => ({ id, version, nextRun });
  const policies = [
    of("late", "2026-03-21T00:00:00Z"),
    of("none", "2026-03-01T00:00:00Z", ""),
    of("early", "2026-03-20T23:00:00-02:00"),
    of("earlier", "2026-03-20T00:00:00Z"),
    of("bad", "soon"),
  ];
  assert.deepEqual(orderPolicies(policies).map(({ id }) => id), ["earlier", "late", "early"]);
});

Deno.test("isActionable() leaves policies that are pending, over or cancelled alone", () => {
  for (const state of ["pending", "completed", "cancelled"]) assert.equal(isActionable(state), false);
  for (const state of ["scheduled", "started", "delayed", "failed"]) assert.equal(isActionable(state), true);
});

Deno.test("isPolicyOf() compares version and moment", () => {
  const policy = { id: "p", version: "4.16.3", nextRun: "2026-03-20T00:00:00.000Z" };
  assert.equal(isPolicyOf(policy, { version: "4.16.3", upgradeAt: "2026-03-20T01:00:00+01:00" }), true);
  assert.equal(isPolicyOf(policy, { version: "4.16.4", upgradeAt: "2026-03-20T00:00:00Z" }), false);
  assert.equal(isPolicyOf(policy, { version: "4.16.3", upgradeAt: "2026-03-20T00:00:01Z" }), false);
});
