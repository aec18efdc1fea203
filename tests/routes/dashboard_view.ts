// Views of the dashboard for its tests: a day at work, and a replica that has only just started.
import { DecisionRing } from "../../lib/placement/cluster/decision_ring.ts";
import type { RecentDecision } from "../../lib/placement/decide/history/recent_decisions.ts";
import type { DashboardView } from "../../routes/dashboard/view.ts";

export const NOW_MS = Date.UTC(2026, 10, 21, 8, 30);

export function makeView(overrides: Partial<DashboardView> = {}): DashboardView {
  return {
    nowMs: NOW_MS,
    identity: "archway-7c9f8d6b54-x2x9q",
    version: "1.2.3",
    architectures: undefined,
    lease: { holder: undefined, isLeader: false },
    gating: { kind: "stopped", reason: "ConfigAbsent" },
    config: "absent",
    gated: { count: 0, pods: [] },
    queueDepth: 0,
    cachedInspections: 0,
    registries: [],
    decisions: new DecisionRing({ capacity: 1 }).snapshot(),
    execFormat: undefined,
    ...overrides,
  };
}

export function makeEntry(overrides: Partial<RecentDecision> = {}): RecentDecision {
  return {
    atMs: NOW_MS - 12_000,
    namespace: "shop",
    pod: "checkout-6f7d9c5b8-4kqzt",
    kind: "place",
    reason: "Placed",
    architectures: ["amd64", "arm64"],
    images: [{ image: "registry.example/shop/checkout:2.4", architectures: ["amd64", "arm64"], failure: "" }],
    gatedMs: 84,
    ...overrides,
  };
}

export function decisionsOf(entries: readonly RecentDecision[]): DashboardView["decisions"] {
  const decisions = new DecisionRing({ capacity: 200 });
  for (const entry of entries) decisions.record(entry);
  return decisions.snapshot();
}

type Row = readonly [
  pod: string,
  kind: RecentDecision["kind"],
  reason: string,
  architectures: string,
  gatedMs?: number,
];

const ROWS: readonly Row[] = [
  ["shop/checkout-6f7d9c5b8-4kqzt", "place", "Placed", "amd64 arm64", 84],
  ["shop/checkout-6f7d9c5b8-9wm2c", "place", "Placed", "amd64 arm64"],
  ["ml/train-embeddings-0", "retry", "InspectionFailing", "", 4_200],
  ["payments/ledger-5d8f7b9c66-hh7tl", "place", "Placed", "amd64 arm64 ppc64le s390x", 61],
  ["legacy/erp-bridge-0", "place", "Placed", "amd64", 112],
  ["ml/train-embeddings-…", "gate", "Gated", ""],
  ["observability/node-exporter-v7x8k", "ignore", "DaemonSet", ""],
  ["shop/cart-7bcd5f4d9-tt6vn", "place", "Placed", "amd64 arm64", 47],
  ["batch/mainframe-sync-29384710-zq9dd", "place", "Placed", "s390x", 238],
  ["ci/mixed-toolchain-8hs7x", "nowhere", "NoSharedArchitecture", "", 96],
  ["payments/fx-rates-0", "place", "PreferencesOnly", "", 55],
  ["edge/gateway-5c7b8d9f4c-w8rkp", "place", "Placed", "arm64", 73],
  ["sandbox/private-image", "fallback", "FellBack", "amd64", 60_100],
  ["shop/search-58b7c6d5f-2mmfx", "place", "Placed", "amd64 arm64"],
  ["shop/search-58b7c6d5f-k4t6z", "place", "Placed", "amd64 arm64", 132],
  ["power/db2-warehouse-0", "place", "PlacedOutOfReach", "ppc64le", 310],
  ["sandbox/gone-registry", "release", "GaveUp", "", 60_000],
  ["kube-public/info", "ignore", "KubeNamespace", ""],
  ["payments/ledger-5d8f7b9c66-m2b8r", "place", "Placed", "amd64 arm64 ppc64le s390x", 39],
  ["ci/build-x86-only-29384709-b2kkd", "place", "Placed", "amd64", 91],
  ["sandbox/odd-affinity", "reduced", "Placed", "amd64", 420],
  ["edge/telemetry-risc-0", "place", "Placed", "amd64 arm64 riscv64", 1_340],
];

/** A leader in the middle of its day: every kind of outcome, one registry that is failing. */
export function makeBusyView(): DashboardView {
  const rows = ROWS.map(([name, kind, reason, architectures, gatedMs], position): RecentDecision => {
    const [namespace = "", pod = ""] = name.split("/");
    const atMs = NOW_MS - 700 - 3_100 * position ** 1.75;
    const names = architectures.split(" ").filter(Boolean);
    const failure = kind === "retry" || kind === "fallback" || kind === "release" ? "Timeout: no answer in 10s" : "";
    const images = [{ image: `registry.example/${namespace}/${pod.split("-")[0]}:1.4`, architectures: names, failure }];
    return { atMs, namespace, pod, kind, reason, architectures: names, images, gatedMs };
  });
  const decisions = decisionsOf(rows.toReversed());
  const frequent = { place: 1_284, gate: 431, ignore: 212 };
  const totals = { ...decisions.totals, ...frequent, retry: 38, nowhere: 9, fallback: 14, pass: 21 };
  return makeView({
    lease: { holder: "archway-7c9f8d6b54-x2x9q", isLeader: true },
    gating: { kind: "gating" },
    config: "present",
    gated: {
      count: 4,
      pods: [
        { namespace: "ml", pod: "train-embeddings-0", sinceMs: NOW_MS - 14_200 },
        { namespace: "ml", pod: "train-embeddings-1", sinceMs: NOW_MS - 9_800 },
        { namespace: "shop", pod: "recommender-7f9c5d88b-c6k2n", sinceMs: NOW_MS - 340 },
      ],
    },
    queueDepth: 2,
    architectures: new Map([["amd64", 6], ["arm64", 4], ["s390x", 1]]),
    cachedInspections: 1_907,
    registries: [
      { host: "registry-1.docker.io", circuit: "closed", remaining: 87 },
      { host: "quay.io", circuit: "closed" },
      { host: "ghcr.io", circuit: "half-open", lastFailure: { reason: "RateLimited" }, remaining: 0 },
      { host: "registry.corp.example:5000", circuit: "open", lastFailure: { reason: "Timeout" } },
    ],
    decisions: { recent: decisions.recent, totals },
  });
}
