import assert from "node:assert/strict";
import { auditDecision, auditEvents } from "../../../../../lib/placement/decide/events/audit.ts";
import { decisionReason } from "../../../../../lib/placement/decide/history/reason.ts";
import { gateAddedEvent, podEventsOf } from "../../../../../lib/placement/decide/events/pod_events.ts";
import type { PodEvent } from "../../../../../lib/placement/decide/events/event_slots.ts";
import { AMD64, ARCH, ARM64, cluster, type FactChanges, type Json, make, mark, running, settle } from "../make.ts";

const SCORING = make.configs(cluster({ platforms: [make.platform(ARM64, 50)] }));
const FALLING_BACK = make.configs(cluster({ fallback: AMD64, enabled: true }));
const BROKEN = running("quay.io/no/such:1");
const APART = running("single-amd64", "single-arm64");
const GONE = [make.failedImage("quay.io/no/such:1", {
  kind: "permanent",
  reason: "ManifestUnknown",
  registry: "quay.io",
  message: "manifest unknown",
})];

function reports(spec: Json, changes: FactChanges = {}): readonly PodEvent[] {
  const { pod, decision } = settle(make.gatedPod(spec), changes);
  return podEventsOf(pod, { kind: "applied", decision });
}

function reasons(all: readonly PodEvent[]): readonly string[] {
  return all.map(({ type, reason }) => `${type} ${reason}`);
}

const REMOVED = "Normal ArchAwareSchedGateRemovalSuccess";
const SET = "Normal ArchAwarePredicateSet";

Deno.test("podEventsOf() of a success names architectures, images, digests and the source of preferences", () => {
  const all = reports({}, { configs: SCORING });
  assert.deepEqual(reasons(all), [SET, REMOVED]);
  assert.match(all[0]?.message ?? "", /\{amd64, arm64\}.*multi \(sha256:000000000000\): amd64, arm64/);
  assert.match(all[0]?.message ?? "", /arm64 \(source: ClusterPodPlacementConfig\)/);
});

Deno.test("podEventsOf() warns when no architecture is shared, and reports what each image has", () => {
  const all = reports(APART);
  assert.deepEqual(reasons(all), ["Warning NoSupportedArchitecturesFound", SET, REMOVED]);
  assert.match(all[0]?.message ?? "", /single-amd64.*: amd64; single-arm64.*: arm64/);
  assert.match(all[1]?.message ?? "", /\{\}/);
});

Deno.test("podEventsOf() names each config, what was skipped of it, and has an event of its own for mere duplicates", () => {
  const high = make.namespaceConfig("high", { priority: 9, platforms: [make.platform(ARM64, 10)] });
  const platforms = [make.platform(ARM64, 20), make.platform(AMD64, 5)];
  const low = make.namespaceConfig("low", { priority: 1, platforms });
  const all = reports({}, { configs: make.configs(cluster({ platforms: [make.platform(AMD64, 50)] }), high, low) });
  assert.deepEqual(reasons(all), [SET, REMOVED, "Normal ArchAwarePreferredAffinityDuplicates"]);
  const sources = /arm64 \(source: PodPlacementConfig-high\); amd64 \(source: PodPlacementConfig-low, skipped: arm64\)/;
  assert.match(all[0]?.message ?? "", sources);
  assert.match(all[2]?.message ?? "", /source: ClusterPodPlacementConfig, architectures: amd64/);
});

Deno.test("podEventsOf() gives each event its slot, and keeps that of an earlier failure for warnings", () => {
  const slots = (all: ReturnType<typeof podEventsOf>): readonly number[] => all.map(({ slot }) => slot);
  const { pod, decision } = settle(make.gatedPod());
  const outcome = { kind: "applied", decision } as const;
  assert.deepEqual(slots(podEventsOf(pod, outcome)), [3, 2]);
  const failed = make.view(make.gatedPod({}, { labels: { [mark("image-inspect-error-count")]: "2" } }));
  assert.deepEqual(slots(podEventsOf(failed, outcome)), [3, 1]);
  const last = podEventsOf(failed, { kind: "applied", decision: settle(make.gatedPod(APART)).decision });
  assert.deepEqual(slots(last), [2, 3, 1]);
});

Deno.test("podEventsOf() reports that the user's preference silences the configs", () => {
  const affinity = make.nodeAffinity(undefined, [make.preferredTerm(1, ARCH, AMD64)]);
  const all = reports({ affinity }, { configs: SCORING });
  assert.deepEqual(reasons(all), [SET, REMOVED]);
  assert.match(all[0]?.message ?? "", /no preferences/);
});

Deno.test("podEventsOf() reports that a preset architecture was kept", () => {
  const all = reports({ nodeSelector: { [ARCH]: AMD64 } }, { configs: SCORING });
  assert.deepEqual(reasons(all), ["Normal ArchAwarePredicatesConflict", SET, REMOVED]);
});

Deno.test("podEventsOf() of a retry names image, registry and error class", () => {
  const all = reports(BROKEN, { images: GONE });
  assert.deepEqual(reasons(all), ["Warning ArchAwareInspectionError"]);
  const said =
    /"quay.io\/no\/such:1" at quay.io \(permanent, ManifestUnknown\): manifest unknown\. Correct the name .* The pod stays held/;
  assert.match(all[0]?.message ?? "", said);
});

Deno.test("DV-53 (different: at most three events, so the words stand in the fallback's) podEventsOf() of a fallback", () => {
  const all = reports(BROKEN, { images: GONE, failedAttempts: 1, configs: FALLING_BACK });
  const expected = ["Warning ArchAwareInspectionError", "Warning ArchAwareFallbackPredicateSet", REMOVED];
  assert.deepEqual(reasons(all), expected);
  assert.match(all[1]?.message ?? "", /\{amd64\}.*Set no preferences/);
});

Deno.test("podEventsOf() of a release reports what was done, and of an ignored pod why", () => {
  const released = reports(BROKEN, { images: GONE, failedAttempts: 1 });
  assert.deepEqual(reasons(released), ["Warning ArchAwareInspectionError", REMOVED]);
  const said = /Gave up after 2 attempts; released without an architecture constraint\. Recreate the pod/;
  assert.match(released[0]?.message ?? "", said);
  const ignored = reports({ nodeSelector: { [ARCH]: AMD64 } });
  assert.deepEqual(reasons(ignored), ["Warning ArchAwareGatedPodIgnored", REMOVED]);
  assert.match(ignored[0]?.message ?? "", /AlreadyConstrained/);
});

Deno.test("podEventsOf() warns when the cluster offers none of the architectures", () => {
  const all = reports({}, { liveArchitectures: ["s390x"] });
  assert.deepEqual(reasons(all), ["Warning ArchAwarePredicateSet", REMOVED]);
  assert.match(all[0]?.message ?? "", /No node or pool of this cluster offers \{amd64, arm64\}/);
});

Deno.test("podEventsOf() reports a refused write and of a bare release", () => {
  const { pod, decision } = settle(make.gatedPod());
  const refused = podEventsOf(pod, { kind: "refused", why: "403" });
  assert.deepEqual(reasons(refused), ["Warning ArchAwareSchedGateRemovalFailed"]);
  const bare = podEventsOf(pod, { kind: "reduced", step: "bare", decision, why: "422" });
  assert.deepEqual(reasons(bare), ["Warning ArchAwareSchedGateRemovalFailed", REMOVED]);
});

Deno.test("podEventsOf() keeps every message within the limit of the events API", () => {
  const names = Array.from({ length: 30 }, (_, index) => `registry.example.com/${"x".repeat(80)}/${index}`);
  const failure = { kind: "permanent", reason: "Malformed", message: "y".repeat(5_000) } as const;
  const images = names.map((image) => make.failedImage(image, failure));
  for (const { message } of reports(running(...names), { images, failedAttempts: 1 })) {
    assert.ok([...message].length <= 1_024);
  }
});

Deno.test("DV-13 gateAddedEvent() names the gate", () => {
  assert.equal(gateAddedEvent().reason, "ArchAwareSchedGateAdded");
  assert.match(gateAddedEvent().message, /multiarch.openshift.io\/scheduling-gate/);
});

Deno.test("auditEvents() says in one event what would be done", () => {
  const facts = make.facts(make.gatedPod());
  const audited = { ...facts, settings: { ...facts.settings, audit: true } };
  const [report, ...more] = auditEvents(auditDecision(audited));
  assert.match(report?.message ?? "", /nothing was changed: Archway would set .*\{amd64, arm64\}/);
  assert.deepEqual(more, []);
  assert.deepEqual(auditEvents({ kind: "ignore", reason: "DaemonSet" }), []);
  assert.equal(auditDecision(make.facts(make.gatedPod(BROKEN), { images: [] })).kind, "release");
});

Deno.test("decisionReason() is one word", () => {
  const wordOf = (...given: Parameters<typeof settle>) => decisionReason(settle(...given).decision);
  assert.equal(wordOf(make.gatedPod()), "Placed");
  assert.equal(wordOf(make.gatedPod(BROKEN), { images: GONE }), "InspectionFailing");
});
