// Preferred terms from configs: precedence, duplicates, audit.
import assert from "node:assert/strict";
import type { PreferencePlan } from "../../../../lib/placement/decision_types.ts";
import { planPreferences } from "../../../../lib/placement/config/preferences.ts";
import { affinityOperations } from "../../../../lib/placement/patch/affinity.ts";
import { decide } from "../../../../lib/placement/decide.ts";
import { releasePatch } from "../../../../lib/placement/patch/release_patch.ts";
import { scoringSources, selectConfigs } from "../../../../lib/placement/config/selection.ts";
import type { PlacementConfigs } from "../../../../lib/placement/config_types.ts";
import {
  A,
  applied,
  ARCH,
  cluster,
  configs,
  factsOf,
  gatedPod,
  type Json,
  mark,
  nodeAffinity,
  P,
  podOf,
  ppc,
  preferredOf,
  preferredTerm,
  R,
  rawPod,
  requiredOf,
  type Row,
  rows,
  S,
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
const CLUSTER_A = configs(cluster({ platforms: [weigh(A, 1)] }));
const CLUSTER_R = cluster({ platforms: [weigh(R, 50)] });
const HIGH_LOW = configs(
  undefined,
  ppc("low", { priority: 1, platforms: [weigh(A, 5)] }),
  ppc("high", { priority: 2, platforms: [weigh(A, 1)] }),
);
const PR_21 = configs(
  CLUSTER_R,
  ppc("high", { priority: 100, platforms: [weigh(A, 50), weigh(R, 60)] }),
  ppc("low", { priority: 50, platforms: [weigh(R, 30), weigh(P, 40)] }),
);
const PR_24 = configs(
  CLUSTER_R,
  ppc("h", { priority: 100, platforms: [weigh(A, 100)] }),
  ppc("m", { priority: 50, platforms: [weigh(A, 50), weigh(R, 60)] }),
  ppc("l", { priority: 25, platforms: [weigh(R, 25), weigh(P, 30)] }),
);
const BACKEND = configs(
  CLUSTER_R,
  ppc("be", { platforms: [weigh(P, 60)], selector: { matchLabels: { app: "backend" } } }),
);

rows([
  prefers("PM-32", { configs: CLUSTER_A }, [prefer(A, 1)]),
  prefers("PM-33", { users: [FOO], configs: CLUSTER_A }, [FOO, prefer(A, 1)]),
  prefers("PM-34", { users: [prefer(A, 30)], configs: CLUSTER_A }, [prefer(A, 30)]),
  prefers("PM-35", { configs: HIGH_LOW }, [prefer(A, 1)]),
  prefers("PM-36", { users: [FOO], configs: HIGH_LOW }, [FOO, prefer(A, 1)]),
  prefers("PM-37", { users: [prefer(A, 30)], configs: HIGH_LOW }, [prefer(A, 30)]),
  audits("PM-110", { configs: configs(cluster({ platforms: [weigh(A, 50)] })) }, "amd64:50:ClusterPodPlacementConfig"),
  audits("PM-111", {
    configs: configs(
      cluster({ platforms: [weigh(A, 10)] }),
      ppc("high", { priority: 9, platforms: [weigh(A, 80)] }),
      ppc("low", { platforms: [weigh(R, 20)] }),
    ),
  }, "amd64:80:PodPlacementConfig-high,arm64:20:PodPlacementConfig-low,amd64:10:ClusterPodPlacementConfig:skipped"),
  audits("PM-113", {
    configs: configs(
      undefined,
      ppc("high", { priority: 9, platforms: [weigh(A, 50)] }),
      ppc("low", { platforms: [weigh(A, 30)] }),
    ),
  }, "amd64:50:PodPlacementConfig-high,amd64:30:PodPlacementConfig-low:skipped"),
  prefers("PR-13", { configs: configs(CLUSTER_R) }, [prefer(R, 50)]),
  prefers("PR-14", { users: [preferredTerm(20, "foo", "bar")], configs: configs(CLUSTER_R) }, [
    preferredTerm(20, "foo", "bar"),
    prefer(R, 50),
  ]),
  prefers("PR-15", { users: [prefer(R, 10)], configs: configs(CLUSTER_R) }, [prefer(R, 10)]),
  audits(
    "PR-17",
    {
      configs: configs(
        CLUSTER_R,
        ppc("test-ppc1", { priority: 50, platforms: [weigh(A, 50)] }),
        ppc("test-ppc2", { priority: 30, platforms: [weigh(R, 10)] }),
      ),
    },
    "amd64:50:PodPlacementConfig-test-ppc1,arm64:10:PodPlacementConfig-test-ppc2,arm64:50:ClusterPodPlacementConfig:skipped",
  ),
  prefers("PR-18", {
    configs: configs(CLUSTER_R, ppc("p", { platforms: [weigh(A, 100), weigh(P, 10), weigh(S, 50)] })),
  }, [
    prefer(A, 100),
    prefer(P, 10),
    prefer(S, 50),
    prefer(R, 50),
  ]),
  prefers("PR-19", {
    configs: configs(
      CLUSTER_R,
      ppc("a", { priority: 30, platforms: [weigh(A, 30)] }),
      ppc("b", { priority: 60, platforms: [weigh(A, 60)] }),
    ),
  }, [prefer(A, 60), prefer(R, 50)]),
  prefers("PR-20", {
    users: [prefer(A, 20)],
    configs: configs(CLUSTER_R, ppc("a", { platforms: [weigh(P, 30)] }), ppc("b", { platforms: [weigh(A, 60)] })),
  }, [prefer(A, 20)]),
  prefers("PR-21", { configs: PR_21 }, [prefer(A, 50), prefer(R, 60), prefer(P, 40)]),
  audits(
    "PR-21",
    { configs: PR_21 },
    "amd64:50:PodPlacementConfig-high,arm64:60:PodPlacementConfig-high,arm64:30:PodPlacementConfig-low:skipped," +
      "ppc64le:40:PodPlacementConfig-low,arm64:50:ClusterPodPlacementConfig:skipped",
  ),
  prefers("PR-22", { users: [prefer(P, 10)], configs: configs(CLUSTER_R, ppc("a", { platforms: [weigh(P, 50)] })) }, [
    prefer(P, 10),
  ]),
  prefers("PR-23", { users: [prefer(R, 10)], configs: configs(CLUSTER_R) }, [prefer(R, 10)]),
  prefers("PR-24", { configs: PR_24 }, [prefer(A, 100), prefer(R, 60), prefer(P, 30)]),
  prefers("PR-25", { labels: { app: "backend" }, configs: BACKEND }, [prefer(P, 60), prefer(R, 50)]),
  prefers("PR-25", { labels: { app: "frontend" }, configs: BACKEND }, [prefer(R, 50)]),
  prefers("PR-26", { configs: configs(CLUSTER_R, ppc("all", { platforms: [weigh(P, 70)] })) }, [
    prefer(P, 70),
    prefer(R, 50),
  ]),
  audits(
    "DV-67",
    { configs: configs(cluster({ platforms: [weigh(A, 10), weigh(A, 20)] })) },
    "amd64:10:ClusterPodPlacementConfig,amd64:20:ClusterPodPlacementConfig:skipped",
  ),
  prefers("DV-68", {
    users: [{ weight: 5, preference: { matchExpressions: [{ key: ARCH, operator: "NotIn", values: [S] }] } }],
    configs: configs(CLUSTER_R),
  }, [{ weight: 5, preference: { matchExpressions: [{ key: ARCH, operator: "NotIn", values: [S] }] } }]),
  prefers("DV-69", {
    configs: configs(CLUSTER_R, ppc("a", { platforms: [weigh(A, 100), weigh(P, 99)] })),
  }, [prefer(A, 100), prefer(P, 99), prefer(R, 50)]),
]);

Deno.test("PM-38 decide() keeps an empty list of preferred terms when the configs name no platform", () => {
  const raw = gatedPod({ affinity: nodeAffinity(undefined, []) });
  const facts = factsOf(raw, { configs: configs(cluster({ enabled: true })) });
  const after = applied(raw, releasePatch(facts.pod, decide(facts)));
  assert.deepEqual(preferredOf(after), []);
  assert.deepEqual(requiredOf(after), [term([ARCH, A, R])]);
});

Deno.test("PM-112 planPreferences() does not repeat an identical audit entry", () => {
  const audit = "amd64:50:ClusterPodPlacementConfig";
  const pod = podOf(rawPod({}, { annotations: { [mark("preferred-affinity-sources")]: audit } }));
  const sources = scoringSources({ cluster: cluster({ platforms: [weigh(A, 50)] }), namespace: [] });
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
  const after = applied(raw, releasePatch(facts.pod, decide(facts)));
  assert.deepEqual(preferredOf(after), [prefer(R, 50)]);
});
