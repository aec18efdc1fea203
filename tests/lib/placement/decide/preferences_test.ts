import assert from "node:assert/strict";
import type { Preferences } from "../../../../lib/placement/decide/decision_types.ts";
import { planPreferences } from "../../../../lib/placement/decide/preferences.ts";
import { affinityOperations } from "../../../../lib/placement/decide/patch/affinity.ts";
import { scoringSources, selectConfigs } from "../../../../lib/placement/decide/config/selection.ts";
import type { PlacementConfigs } from "../../../../lib/placement/decide/config/config.ts";
import { AMD64, applied, ARCH, ARM64, endOf, type Json, make, PPC64LE, type Row, rows, S390X, settle } from "./make.ts";

interface Given {
  readonly users?: readonly Json[];
  readonly labels?: Json;
  readonly configs: PlacementConfigs;
}

function rawOf({ users, labels }: Given): Json {
  return make.pod(users && { affinity: make.nodeAffinity(undefined, users) }, labels && { labels });
}

function preferencesOf(given: Given): Preferences {
  const pod = make.view(rawOf(given));
  return planPreferences(pod, scoringSources(selectConfigs(pod, given.configs)), "recorded");
}

function preferredAfter(given: Given): unknown {
  const raw = rawOf(given);
  return endOf(applied(raw, affinityOperations(make.view(raw), { preferred: preferencesOf(given).terms }))).preferred;
}

function prefers(id: string, given: Given, expected: readonly Json[]): Row {
  const short = (one: Json): string => JSON.stringify(one).replaceAll(/["{}]|matchExpressions|preference/g, "");
  const title = `planPreferences() ends in ${expected.map(short).join(" ").slice(0, 100)}`;
  return [id, title, () => assert.deepEqual(preferredAfter(given), expected)];
}

function audits(id: string, given: Given, expected: string): Row {
  return [id, `planPreferences() audits ${expected}`, () => assert.equal(preferencesOf(given).sources, expected)];
}

type Weights = Readonly<Record<string, number>>;

function platformsOf(weights: Weights): readonly Json[] {
  return Object.entries(weights).map(([architecture, weight]) => make.platform(architecture, weight));
}

const own = (name: string, weights: Weights, priority?: number, selector?: unknown) =>
  make.namespaceConfig(name, { priority: priority ?? 0, selector, platforms: platformsOf(weights) });
const clusterOf = (weights: Weights) => make.clusterConfig({ platforms: platformsOf(weights) });
const prefer = (architecture: string, weight: number): Json => make.preferredTerm(weight, ARCH, architecture);
const FOO = make.preferredTerm(50, "foo", "bar");
const FOO_20 = make.preferredTerm(20, "foo", "bar");
const NOT_S390X = { weight: 5, preference: { matchExpressions: [{ key: ARCH, operator: "NotIn", values: [S390X] }] } };
const CLUSTER_A = make.configs(clusterOf({ amd64: 1 }));
const CLUSTER_R = clusterOf({ arm64: 50 });
const R = make.configs(CLUSTER_R);
const HIGH_LOW = make.configs(undefined, own("low", { amd64: 5 }, 1), own("high", { amd64: 1 }, 2));
const PR_21 = make.configs(
  CLUSTER_R,
  own("high", { amd64: 50, arm64: 60 }, 100),
  own("low", { arm64: 30, ppc64le: 40 }, 50),
);
const PR_24 = make.configs(
  CLUSTER_R,
  own("h", { amd64: 100 }, 100),
  own("m", { amd64: 50, arm64: 60 }, 50),
  own("l", { arm64: 25, ppc64le: 30 }, 25),
);
const BACKEND = make.configs(CLUSTER_R, own("be", { ppc64le: 60 }, 0, { matchLabels: { app: "backend" } }));
const PM_111 = make.configs(clusterOf({ amd64: 10 }), own("high", { amd64: 80 }, 9), own("low", { arm64: 20 }));
const PM_113 = make.configs(undefined, own("high", { amd64: 50 }, 9), own("low", { amd64: 30 }));
const PR_17 = make.configs(CLUSTER_R, own("test-ppc1", { amd64: 50 }, 50), own("test-ppc2", { arm64: 10 }, 30));
const PR_19 = make.configs(CLUSTER_R, own("a", { amd64: 30 }, 30), own("b", { amd64: 60 }, 60));
const PR_20 = make.configs(CLUSTER_R, own("a", { ppc64le: 30 }), own("b", { amd64: 60 }));
const beside = (weights: Weights): PlacementConfigs => make.configs(CLUSTER_R, own("p", weights));
const PR_18 = [prefer(AMD64, 100), prefer(PPC64LE, 10), prefer(S390X, 50), prefer(ARM64, 50)];
const DV_69 = [prefer(AMD64, 100), prefer(PPC64LE, 99), prefer(ARM64, 50)];
const TWICE = make.configs(make.clusterConfig({ platforms: [make.platform(AMD64, 10), make.platform(AMD64, 20)] }));

rows([
  prefers("PM-32", { configs: CLUSTER_A }, [prefer(AMD64, 1)]),
  prefers("PM-33", { users: [FOO], configs: CLUSTER_A }, [FOO, prefer(AMD64, 1)]),
  prefers("PM-34", { users: [prefer(AMD64, 30)], configs: CLUSTER_A }, [prefer(AMD64, 30)]),
  prefers("PM-35", { configs: HIGH_LOW }, [prefer(AMD64, 1)]),
  prefers("PM-36", { users: [FOO], configs: HIGH_LOW }, [FOO, prefer(AMD64, 1)]),
  prefers("PM-37", { users: [prefer(AMD64, 30)], configs: HIGH_LOW }, [prefer(AMD64, 30)]),
  audits("PM-110", { configs: make.configs(clusterOf({ amd64: 50 })) }, "amd64:50:ClusterPodPlacementConfig"),
  audits(
    "PM-111",
    { configs: PM_111 },
    "amd64:80:PodPlacementConfig-high,arm64:20:PodPlacementConfig-low,amd64:10:ClusterPodPlacementConfig:skipped",
  ),
  audits("PM-113", { configs: PM_113 }, "amd64:50:PodPlacementConfig-high,amd64:30:PodPlacementConfig-low:skipped"),
  prefers("PR-13", { configs: R }, [prefer(ARM64, 50)]),
  prefers("PR-14", { users: [FOO_20], configs: R }, [FOO_20, prefer(ARM64, 50)]),
  prefers("PR-15", { users: [prefer(ARM64, 10)], configs: R }, [prefer(ARM64, 10)]),
  audits(
    "PR-17",
    { configs: PR_17 },
    "amd64:50:PodPlacementConfig-test-ppc1,arm64:10:PodPlacementConfig-test-ppc2,arm64:50:ClusterPodPlacementConfig:skipped",
  ),
  prefers("PR-18", { configs: beside({ amd64: 100, ppc64le: 10, s390x: 50 }) }, PR_18),
  prefers("PR-19", { configs: PR_19 }, [prefer(AMD64, 60), prefer(ARM64, 50)]),
  prefers("PR-20", { users: [prefer(AMD64, 20)], configs: PR_20 }, [prefer(AMD64, 20)]),
  prefers("PR-21", { configs: PR_21 }, [prefer(AMD64, 50), prefer(ARM64, 60), prefer(PPC64LE, 40)]),
  audits(
    "PR-21",
    { configs: PR_21 },
    "amd64:50:PodPlacementConfig-high,arm64:60:PodPlacementConfig-high,arm64:30:PodPlacementConfig-low:skipped," +
      "ppc64le:40:PodPlacementConfig-low,arm64:50:ClusterPodPlacementConfig:skipped",
  ),
  prefers("PR-22", { users: [prefer(PPC64LE, 10)], configs: beside({ ppc64le: 50 }) }, [prefer(PPC64LE, 10)]),
  prefers("PR-23", { users: [prefer(ARM64, 10)], configs: R }, [prefer(ARM64, 10)]),
  prefers("PR-24", { configs: PR_24 }, [prefer(AMD64, 100), prefer(ARM64, 60), prefer(PPC64LE, 30)]),
  prefers("PR-25", { labels: { app: "backend" }, configs: BACKEND }, [prefer(PPC64LE, 60), prefer(ARM64, 50)]),
  prefers("PR-25", { labels: { app: "frontend" }, configs: BACKEND }, [prefer(ARM64, 50)]),
  prefers("PR-26", { configs: beside({ ppc64le: 70 }) }, [prefer(PPC64LE, 70), prefer(ARM64, 50)]),
  audits("DV-67", { configs: TWICE }, "amd64:10:ClusterPodPlacementConfig,amd64:20:ClusterPodPlacementConfig:skipped"),
  prefers("DV-68", { users: [NOT_S390X], configs: R }, [NOT_S390X]),
  prefers("DV-69", { configs: beside({ amd64: 100, ppc64le: 99 }) }, DV_69),
]);

Deno.test("PM-38 decide() keeps an empty list of preferred terms when the configs name no platform", () => {
  const raw = make.gatedPod({ affinity: make.nodeAffinity(undefined, []) });
  const { preferred, required } = settle(raw, { configs: make.configs(make.clusterConfig({ enabled: true })) });
  assert.deepEqual(preferred, []);
  assert.deepEqual(required, [make.term([ARCH, AMD64, ARM64])]);
});

Deno.test("PM-112 planPreferences() does not repeat an identical audit entry", () => {
  const audit = "amd64:50:ClusterPodPlacementConfig";
  const pod = make.view(make.pod({}, { annotations: { "multiarch.openshift.io/preferred-affinity-sources": audit } }));
  const sources = scoringSources({ cluster: clusterOf({ amd64: 50 }), namespace: [] });
  assert.equal(planPreferences(pod, sources, "recorded").sources, audit);
});

Deno.test("PM-114 planPreferences() stays under 500 bytes for six calls over four architectures", () => {
  const { sources = "" } = preferencesOf({ configs: PR_24 });
  assert.equal(sources.split(",").length, 6);
  assert.equal(sources.split(",").filter((entry) => entry.endsWith(":skipped")).length, 3);
  assert.ok(sources.length < 500);
});

Deno.test("DV-70 decide() prefers an architecture that the image lacks", () => {
  const raw = make.gatedPod({ containers: [{ name: "c", image: "single-amd64" }] });
  assert.deepEqual(settle(raw, { configs: R }).preferred, [prefer(ARM64, 50)]);
});
