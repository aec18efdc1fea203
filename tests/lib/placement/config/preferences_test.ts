// Preferred terms from configs: precedence, duplicates, audit.
import assert from "node:assert/strict";
import type { PreferencePlan } from "../../../../lib/placement/decision_types.ts";
import { planPreferences } from "../../../../lib/placement/config/preferences.ts";
import { affinityOperations } from "../../../../lib/placement/patch/affinity.ts";
import { scoringSources, selectConfigs } from "../../../../lib/placement/config/selection.ts";
import type { PlacementConfigs } from "../../../../lib/placement/config_types.ts";
import {
  AMD64,
  applied,
  ARCH,
  ARM64,
  cluster,
  configs,
  factsOf,
  gatedPod,
  type Json,
  mark,
  nodeAffinity,
  podOf,
  ppc,
  PPC64LE,
  preferredOf,
  preferredTerm,
  rawPod,
  released,
  requiredOf,
  type Row,
  rows,
  S390X,
  term,
  weigh,
} from "../make.ts";

interface Given {
  readonly users?: readonly Json[];
  readonly labels?: Json;
  readonly configs: PlacementConfigs;
}

function rawOf({ users, labels }: Given): Json {
  return rawPod(
    users === undefined ? {} : { affinity: nodeAffinity(undefined, users) },
    labels === undefined ? {} : { labels },
  );
}

function planOf(given: Given): PreferencePlan {
  const pod = podOf(rawOf(given));
  return planPreferences(pod, { sources: scoringSources(selectConfigs(pod, given.configs)), ownTerms: "audited" });
}

function preferredAfter(given: Given): unknown {
  const raw = rawOf(given);
  return preferredOf(applied(raw, affinityOperations(podOf(raw), { preferred: planOf(given).terms })));
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

const prefer = (architecture: string, weight: number): Json => preferredTerm(weight, ARCH, architecture);
const FOO = preferredTerm(50, "foo", "bar");
const CLUSTER_A = configs(cluster({ platforms: [weigh(AMD64, 1)] }));
const CLUSTER_R = cluster({ platforms: [weigh(ARM64, 50)] });
const HIGH_LOW = configs(
  undefined,
  ppc("low", { priority: 1, platforms: [weigh(AMD64, 5)] }),
  ppc("high", { priority: 2, platforms: [weigh(AMD64, 1)] }),
);
const PR_21 = configs(
  CLUSTER_R,
  ppc("high", { priority: 100, platforms: [weigh(AMD64, 50), weigh(ARM64, 60)] }),
  ppc("low", { priority: 50, platforms: [weigh(ARM64, 30), weigh(PPC64LE, 40)] }),
);
const PR_24 = configs(
  CLUSTER_R,
  ppc("h", { priority: 100, platforms: [weigh(AMD64, 100)] }),
  ppc("m", { priority: 50, platforms: [weigh(AMD64, 50), weigh(ARM64, 60)] }),
  ppc("l", { priority: 25, platforms: [weigh(ARM64, 25), weigh(PPC64LE, 30)] }),
);
const BACKEND = configs(
  CLUSTER_R,
  ppc("be", { platforms: [weigh(PPC64LE, 60)], selector: { matchLabels: { app: "backend" } } }),
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
    { configs: configs(cluster({ platforms: [weigh(AMD64, 50)] })) },
    "amd64:50:ClusterPodPlacementConfig",
  ),
  audits("PM-111", {
    configs: configs(
      cluster({ platforms: [weigh(AMD64, 10)] }),
      ppc("high", { priority: 9, platforms: [weigh(AMD64, 80)] }),
      ppc("low", { platforms: [weigh(ARM64, 20)] }),
    ),
  }, "amd64:80:PodPlacementConfig-high,arm64:20:PodPlacementConfig-low,amd64:10:ClusterPodPlacementConfig:skipped"),
  audits("PM-113", {
    configs: configs(
      undefined,
      ppc("high", { priority: 9, platforms: [weigh(AMD64, 50)] }),
      ppc("low", { platforms: [weigh(AMD64, 30)] }),
    ),
  }, "amd64:50:PodPlacementConfig-high,amd64:30:PodPlacementConfig-low:skipped"),
  prefers("PR-13", { configs: configs(CLUSTER_R) }, [prefer(ARM64, 50)]),
  prefers("PR-14", { users: [preferredTerm(20, "foo", "bar")], configs: configs(CLUSTER_R) }, [
    preferredTerm(20, "foo", "bar"),
    prefer(ARM64, 50),
  ]),
  prefers("PR-15", { users: [prefer(ARM64, 10)], configs: configs(CLUSTER_R) }, [prefer(ARM64, 10)]),
  audits(
    "PR-17",
    {
      configs: configs(
        CLUSTER_R,
        ppc("test-ppc1", { priority: 50, platforms: [weigh(AMD64, 50)] }),
        ppc("test-ppc2", { priority: 30, platforms: [weigh(ARM64, 10)] }),
      ),
    },
    "amd64:50:PodPlacementConfig-test-ppc1,arm64:10:PodPlacementConfig-test-ppc2,arm64:50:ClusterPodPlacementConfig:skipped",
  ),
  prefers("PR-18", {
    configs: configs(CLUSTER_R, ppc("p", { platforms: [weigh(AMD64, 100), weigh(PPC64LE, 10), weigh(S390X, 50)] })),
  }, [
    prefer(AMD64, 100),
    prefer(PPC64LE, 10),
    prefer(S390X, 50),
    prefer(ARM64, 50),
  ]),
  prefers("PR-19", {
    configs: configs(
      CLUSTER_R,
      ppc("a", { priority: 30, platforms: [weigh(AMD64, 30)] }),
      ppc("b", { priority: 60, platforms: [weigh(AMD64, 60)] }),
    ),
  }, [prefer(AMD64, 60), prefer(ARM64, 50)]),
  prefers("PR-20", {
    users: [prefer(AMD64, 20)],
    configs: configs(
      CLUSTER_R,
      ppc("a", { platforms: [weigh(PPC64LE, 30)] }),
      ppc("b", { platforms: [weigh(AMD64, 60)] }),
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
    configs: configs(CLUSTER_R, ppc("a", { platforms: [weigh(PPC64LE, 50)] })),
  }, [
    prefer(PPC64LE, 10),
  ]),
  prefers("PR-23", { users: [prefer(ARM64, 10)], configs: configs(CLUSTER_R) }, [prefer(ARM64, 10)]),
  prefers("PR-24", { configs: PR_24 }, [prefer(AMD64, 100), prefer(ARM64, 60), prefer(PPC64LE, 30)]),
  prefers("PR-25", { labels: { app: "backend" }, configs: BACKEND }, [prefer(PPC64LE, 60), prefer(ARM64, 50)]),
  prefers("PR-25", { labels: { app: "frontend" }, configs: BACKEND }, [prefer(ARM64, 50)]),
  prefers("PR-26", { configs: configs(CLUSTER_R, ppc("all", { platforms: [weigh(PPC64LE, 70)] })) }, [
    prefer(PPC64LE, 70),
    prefer(ARM64, 50),
  ]),
  audits(
    "DV-67",
    { configs: configs(cluster({ platforms: [weigh(AMD64, 10), weigh(AMD64, 20)] })) },
    "amd64:10:ClusterPodPlacementConfig,amd64:20:ClusterPodPlacementConfig:skipped",
  ),
  prefers("DV-68", {
    users: [{ weight: 5, preference: { matchExpressions: [{ key: ARCH, operator: "NotIn", values: [S390X] }] } }],
    configs: configs(CLUSTER_R),
  }, [{ weight: 5, preference: { matchExpressions: [{ key: ARCH, operator: "NotIn", values: [S390X] }] } }]),
  prefers("DV-69", {
    configs: configs(CLUSTER_R, ppc("a", { platforms: [weigh(AMD64, 100), weigh(PPC64LE, 99)] })),
  }, [prefer(AMD64, 100), prefer(PPC64LE, 99), prefer(ARM64, 50)]),
]);

Deno.test("PM-38 decide() keeps an empty list of preferred terms when the configs name no platform", () => {
  const raw = gatedPod({ affinity: nodeAffinity(undefined, []) });
  const facts = factsOf(raw, { configs: configs(cluster({ enabled: true })) });
  const after = released(raw, facts).after;
  assert.deepEqual(preferredOf(after), []);
  assert.deepEqual(requiredOf(after), [term([ARCH, AMD64, ARM64])]);
});

Deno.test("PM-112 planPreferences() does not repeat an identical audit entry", () => {
  const audit = "amd64:50:ClusterPodPlacementConfig";
  const pod = podOf(rawPod({}, { annotations: { [mark("preferred-affinity-sources")]: audit } }));
  const sources = scoringSources({ cluster: cluster({ platforms: [weigh(AMD64, 50)] }), namespace: [] });
  assert.equal(planPreferences(pod, { sources, ownTerms: "audited" }).audit, audit);
});

Deno.test("PM-114 planPreferences() stays under 500 bytes for six calls over four architectures", () => {
  const { audit = "" } = planOf({ configs: PR_24 });
  assert.equal(audit.split(",").length, 6);
  assert.equal(audit.split(",").filter((entry) => entry.endsWith(":skipped")).length, 3);
  assert.ok(audit.length < 500);
});

Deno.test("DV-70 decide() prefers an architecture that the image lacks", () => {
  const raw = gatedPod({ containers: [{ name: "c", image: "single-amd64" }] });
  const facts = factsOf(raw, { configs: configs(CLUSTER_R) });
  const after = released(raw, facts).after;
  assert.deepEqual(preferredOf(after), [prefer(ARM64, 50)]);
});
