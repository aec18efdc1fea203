import assert from "node:assert/strict";
import type { PreferencePlan } from "../../../../lib/placement/decide/decision_types.ts";
import { planPreferences } from "../../../../lib/placement/decide/preferences.ts";
import { affinityOperations } from "../../../../lib/placement/decide/patch/affinity.ts";
import { scoringSources, selectConfigs } from "../../../../lib/placement/decide/config/selection.ts";
import type { PlacementConfigs } from "../../../../lib/placement/decide/config/types.ts";
import {
  AMD64,
  applied,
  ARCH,
  ARM64,
  type Json,
  make,
  mark,
  PPC64LE,
  preferredOf,
  released,
  requiredOf,
  type Row,
  rows,
  S390X,
} from "./make.ts";

interface Given {
  readonly users?: readonly Json[];
  readonly labels?: Json;
  readonly configs: PlacementConfigs;
}

function rawOf({ users, labels }: Given): Json {
  return make.pod(
    users === undefined ? {} : { affinity: make.nodeAffinity(undefined, users) },
    labels === undefined ? {} : { labels },
  );
}

function planOf(given: Given): PreferencePlan {
  const pod = make.view(rawOf(given));
  return planPreferences(pod, scoringSources(selectConfigs(pod, given.configs)), "audited");
}

function preferredAfter(given: Given): unknown {
  const raw = rawOf(given);
  return preferredOf(applied(raw, affinityOperations(make.view(raw), undefined, planOf(given).terms)));
}

function prefers(id: string, given: Given, expected: readonly Json[]): Row {
  const shown = expected.map((one) => JSON.stringify(one).replaceAll(/["{}]|matchExpressions|preference/g, "")).join(
    " ",
  );
  return [
    id,
    `planPreferences() ends in ${shown.slice(0, 100)}`,
    () => assert.deepEqual(preferredAfter(given), expected),
  ];
}

function audits(id: string, given: Given, expected: string): Row {
  return [id, `planPreferences() audits ${expected}`, () => assert.equal(planOf(given).audit, expected)];
}

const prefer = (architecture: string, weight: number): Json => make.preferredTerm(weight, ARCH, architecture);
const FOO = make.preferredTerm(50, "foo", "bar");
const CLUSTER_A = make.configs(make.clusterConfig({ platforms: [make.platform(AMD64, 1)] }));
const CLUSTER_R = make.clusterConfig({ platforms: [make.platform(ARM64, 50)] });
const HIGH_LOW = make.configs(
  undefined,
  make.namespaceConfig("low", { priority: 1, platforms: [make.platform(AMD64, 5)] }),
  make.namespaceConfig("high", { priority: 2, platforms: [make.platform(AMD64, 1)] }),
);
const PR_21 = make.configs(
  CLUSTER_R,
  make.namespaceConfig("high", { priority: 100, platforms: [make.platform(AMD64, 50), make.platform(ARM64, 60)] }),
  make.namespaceConfig("low", { priority: 50, platforms: [make.platform(ARM64, 30), make.platform(PPC64LE, 40)] }),
);
const PR_24 = make.configs(
  CLUSTER_R,
  make.namespaceConfig("h", { priority: 100, platforms: [make.platform(AMD64, 100)] }),
  make.namespaceConfig("m", { priority: 50, platforms: [make.platform(AMD64, 50), make.platform(ARM64, 60)] }),
  make.namespaceConfig("l", { priority: 25, platforms: [make.platform(ARM64, 25), make.platform(PPC64LE, 30)] }),
);
const BACKEND = make.configs(
  CLUSTER_R,
  make.namespaceConfig("be", {
    platforms: [make.platform(PPC64LE, 60)],
    selector: { matchLabels: { app: "backend" } },
  }),
);

rows([
  prefers("PM-32", { configs: CLUSTER_A }, [prefer(AMD64, 1)]),
  prefers("PM-33", { users: [FOO], configs: CLUSTER_A }, [FOO, prefer(AMD64, 1)]),
  prefers("PM-34", { users: [prefer(AMD64, 30)], configs: CLUSTER_A }, [prefer(AMD64, 30)]),
  prefers("PM-35", { configs: HIGH_LOW }, [prefer(AMD64, 1)]),
  prefers("PM-36", { users: [FOO], configs: HIGH_LOW }, [FOO, prefer(AMD64, 1)]),
  prefers("PM-37", { users: [prefer(AMD64, 30)], configs: HIGH_LOW }, [prefer(AMD64, 30)]),
  audits(
    "PM-110",
    { configs: make.configs(make.clusterConfig({ platforms: [make.platform(AMD64, 50)] })) },
    "amd64:50:ClusterPodPlacementConfig",
  ),
  audits("PM-111", {
    configs: make.configs(
      make.clusterConfig({ platforms: [make.platform(AMD64, 10)] }),
      make.namespaceConfig("high", { priority: 9, platforms: [make.platform(AMD64, 80)] }),
      make.namespaceConfig("low", { platforms: [make.platform(ARM64, 20)] }),
    ),
  }, "amd64:80:PodPlacementConfig-high,arm64:20:PodPlacementConfig-low,amd64:10:ClusterPodPlacementConfig:skipped"),
  audits("PM-113", {
    configs: make.configs(
      undefined,
      make.namespaceConfig("high", { priority: 9, platforms: [make.platform(AMD64, 50)] }),
      make.namespaceConfig("low", { platforms: [make.platform(AMD64, 30)] }),
    ),
  }, "amd64:50:PodPlacementConfig-high,amd64:30:PodPlacementConfig-low:skipped"),
  prefers("PR-13", { configs: make.configs(CLUSTER_R) }, [prefer(ARM64, 50)]),
  prefers("PR-14", { users: [make.preferredTerm(20, "foo", "bar")], configs: make.configs(CLUSTER_R) }, [
    make.preferredTerm(20, "foo", "bar"),
    prefer(ARM64, 50),
  ]),
  prefers("PR-15", { users: [prefer(ARM64, 10)], configs: make.configs(CLUSTER_R) }, [prefer(ARM64, 10)]),
  audits(
    "PR-17",
    {
      configs: make.configs(
        CLUSTER_R,
        make.namespaceConfig("test-ppc1", { priority: 50, platforms: [make.platform(AMD64, 50)] }),
        make.namespaceConfig("test-ppc2", { priority: 30, platforms: [make.platform(ARM64, 10)] }),
      ),
    },
    "amd64:50:PodPlacementConfig-test-ppc1,arm64:10:PodPlacementConfig-test-ppc2,arm64:50:ClusterPodPlacementConfig:skipped",
  ),
  prefers("PR-18", {
    configs: make.configs(
      CLUSTER_R,
      make.namespaceConfig("p", {
        platforms: [make.platform(AMD64, 100), make.platform(PPC64LE, 10), make.platform(S390X, 50)],
      }),
    ),
  }, [
    prefer(AMD64, 100),
    prefer(PPC64LE, 10),
    prefer(S390X, 50),
    prefer(ARM64, 50),
  ]),
  prefers("PR-19", {
    configs: make.configs(
      CLUSTER_R,
      make.namespaceConfig("a", { priority: 30, platforms: [make.platform(AMD64, 30)] }),
      make.namespaceConfig("b", { priority: 60, platforms: [make.platform(AMD64, 60)] }),
    ),
  }, [prefer(AMD64, 60), prefer(ARM64, 50)]),
  prefers("PR-20", {
    users: [prefer(AMD64, 20)],
    configs: make.configs(
      CLUSTER_R,
      make.namespaceConfig("a", { platforms: [make.platform(PPC64LE, 30)] }),
      make.namespaceConfig("b", { platforms: [make.platform(AMD64, 60)] }),
    ),
  }, [prefer(AMD64, 20)]),
  prefers("PR-21", { configs: PR_21 }, [prefer(AMD64, 50), prefer(ARM64, 60), prefer(PPC64LE, 40)]),
  audits(
    "PR-21",
    { configs: PR_21 },
    "amd64:50:PodPlacementConfig-high,arm64:60:PodPlacementConfig-high,arm64:30:PodPlacementConfig-low:skipped," +
      "ppc64le:40:PodPlacementConfig-low,arm64:50:ClusterPodPlacementConfig:skipped",
  ),
  prefers("PR-22", {
    users: [prefer(PPC64LE, 10)],
    configs: make.configs(CLUSTER_R, make.namespaceConfig("a", { platforms: [make.platform(PPC64LE, 50)] })),
  }, [
    prefer(PPC64LE, 10),
  ]),
  prefers("PR-23", { users: [prefer(ARM64, 10)], configs: make.configs(CLUSTER_R) }, [prefer(ARM64, 10)]),
  prefers("PR-24", { configs: PR_24 }, [prefer(AMD64, 100), prefer(ARM64, 60), prefer(PPC64LE, 30)]),
  prefers("PR-25", { labels: { app: "backend" }, configs: BACKEND }, [prefer(PPC64LE, 60), prefer(ARM64, 50)]),
  prefers("PR-25", { labels: { app: "frontend" }, configs: BACKEND }, [prefer(ARM64, 50)]),
  prefers("PR-26", {
    configs: make.configs(CLUSTER_R, make.namespaceConfig("all", { platforms: [make.platform(PPC64LE, 70)] })),
  }, [
    prefer(PPC64LE, 70),
    prefer(ARM64, 50),
  ]),
  audits(
    "DV-67",
    { configs: make.configs(make.clusterConfig({ platforms: [make.platform(AMD64, 10), make.platform(AMD64, 20)] })) },
    "amd64:10:ClusterPodPlacementConfig,amd64:20:ClusterPodPlacementConfig:skipped",
  ),
  prefers("DV-68", {
    users: [{ weight: 5, preference: { matchExpressions: [{ key: ARCH, operator: "NotIn", values: [S390X] }] } }],
    configs: make.configs(CLUSTER_R),
  }, [{ weight: 5, preference: { matchExpressions: [{ key: ARCH, operator: "NotIn", values: [S390X] }] } }]),
  prefers("DV-69", {
    configs: make.configs(
      CLUSTER_R,
      make.namespaceConfig("a", { platforms: [make.platform(AMD64, 100), make.platform(PPC64LE, 99)] }),
    ),
  }, [prefer(AMD64, 100), prefer(PPC64LE, 99), prefer(ARM64, 50)]),
]);

Deno.test("PM-38 decide() keeps an empty list of preferred terms when the configs name no platform", () => {
  const raw = make.gatedPod({ affinity: make.nodeAffinity(undefined, []) });
  const facts = make.facts(raw, { configs: make.configs(make.clusterConfig({ enabled: true })) });
  const after = released(raw, facts).after;
  assert.deepEqual(preferredOf(after), []);
  assert.deepEqual(requiredOf(after), [make.term([ARCH, AMD64, ARM64])]);
});

Deno.test("PM-112 planPreferences() does not repeat an identical audit entry", () => {
  const audit = "amd64:50:ClusterPodPlacementConfig";
  const pod = make.view(make.pod({}, { annotations: { [mark("preferred-affinity-sources")]: audit } }));
  const sources = scoringSources({
    cluster: make.clusterConfig({ platforms: [make.platform(AMD64, 50)] }),
    namespace: [],
  });
  assert.equal(planPreferences(pod, sources, "audited").audit, audit);
});

Deno.test("PM-114 planPreferences() stays under 500 bytes for six calls over four architectures", () => {
  const { audit = "" } = planOf({ configs: PR_24 });
  assert.equal(audit.split(",").length, 6);
  assert.equal(audit.split(",").filter((entry) => entry.endsWith(":skipped")).length, 3);
  assert.ok(audit.length < 500);
});

Deno.test("DV-70 decide() prefers an architecture that the image lacks", () => {
  const raw = make.gatedPod({ containers: [{ name: "c", image: "single-amd64" }] });
  const facts = make.facts(raw, { configs: make.configs(CLUSTER_R) });
  const after = released(raw, facts).after;
  assert.deepEqual(preferredOf(after), [prefer(ARM64, 50)]);
});
