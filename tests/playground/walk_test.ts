// Pods walk through the real service in front of a playground: labels, affinity and annotations at the end.
// Source: pod placement §7.3, §7.9 to §7.12 (rows PR, E, EX, TM, M2); operator §7.15.
import assert from "node:assert/strict";
import { Resource } from "../../lib/k8s/types.ts";
import type { JsonObject } from "../../lib/playground/json_value.ts";
import {
  create,
  DEAD_HOST,
  OPERATOR_NAMESPACE,
  pullSecret,
  remove,
  stored,
  waitFor,
  type Walk,
  withWalk,
} from "./walk_bed.ts";
import { affinity, archIn, type Expected, type Scenario, walkAll } from "./walk_scenario.ts";

const FOUR = ["amd64", "arm64", "ppc64le", "s390x"];
const A50 = `${archIn("amd64")}:50`;
const HOSTNAME = "kubernetes.io/hostname Exists";

/** Placed by its images: the labels of success, one term, and these preferences. */
function placed(architectures: readonly string[], weights: readonly string[] = [A50]): Expected {
  const kind = architectures.length === 1 ? "single-arch" : "multi-arch";
  return {
    gate: "removed",
    required: "set",
    preferred: "set",
    architectures: [kind, ...architectures],
    terms: [archIn(...architectures)],
    weights,
  };
}

const M4 = placed(FOUR);
const NEVER: Expected = { gate: "not-set", required: "not-set", preferred: "not-set" };
const GIVEN_UP: Expected = {
  gate: "removed",
  required: "not-set",
  preferred: "set",
  weights: [A50],
  labels: { "image-inspect-error-count": "5" },
};
const PREFERRED_ONLY: Expected = { gate: "removed", required: "not-set", preferred: "set", weights: [A50] };

function scoring(enabled: boolean, ...platforms: readonly (readonly [string, number])[]): JsonObject {
  const list = platforms.map(([architecture, weight]) => ({ architecture, weight }));
  return { nodeAffinityScoring: { enabled, platforms: list } };
}

interface Config {
  readonly name: string;
  readonly namespace: string;
  readonly priority: number;
  readonly platforms: readonly (readonly [string, number])[];
  readonly app?: string;
}

async function createConfigs(walk: Walk, configs: readonly Config[]): Promise<void> {
  for (const { name, namespace, priority, platforms, app } of configs) {
    const labelSelector = app === undefined ? {} : { labelSelector: { matchLabels: { app } } };
    const body = { metadata: { name }, spec: { priority, plugins: scoring(true, ...platforms), ...labelSelector } };
    await create(walk, "PodPlacementConfig", body, namespace);
  }
}

function workloads(host: string): readonly Scenario[] {
  const m4 = [`${host}/hello:m4`];
  const both = affinity([archIn("arm64")], [archIn("arm64"), 1]);
  const field = { matchFields: [{ key: "metadata.name", operator: "In", values: ["amd64-1"] }] };
  const perNode = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [field] } };
  return [
    { name: "E-01 TM-01 a pod of a Deployment", owner: "ReplicaSet", images: m4, expect: M4 },
    {
      name: "E-02 a privileged pod keeps its annotation",
      images: m4,
      annotations: { "openshift.io/scc": "privileged" },
      spec: { volumes: [{ name: "root", hostPath: { path: "/" } }] },
      container: { securityContext: { privileged: true }, volumeMounts: [{ name: "root", mountPath: "/host" }] },
      expect: M4,
    },
    { name: "TM-02 an empty affinity", images: m4, spec: { affinity: {} }, expect: M4 },
    {
      name: "E-03 a required hostname",
      images: m4,
      spec: affinity([HOSTNAME]),
      expect: { ...M4, terms: [`${HOSTNAME} & ${archIn(...FOUR)}`] },
    },
    {
      name: "TM-03 a required operating system",
      images: m4,
      spec: affinity(["kubernetes.io/os In linux"]),
      expect: { ...M4, terms: [`kubernetes.io/os In linux & ${archIn(...FOUR)}`] },
    },
    {
      name: "E-04 a preference of the user",
      images: m4,
      spec: affinity([], ["foo In bar", 64]),
      expect: { ...M4, weights: ["foo In bar:64", A50] },
    },
    {
      name: "E-05 an architecture preference of the user",
      images: m4,
      spec: affinity([], [archIn("amd64"), 1]),
      expect: {
        ...M4,
        preferred: "not-set",
        weights: [`${archIn("amd64")}:1`],
        sources: "amd64:50:ClusterPodPlacementConfig:skipped",
      },
    },
    {
      name: "E-06 TM-04 a required architecture of the user",
      images: m4,
      spec: affinity([archIn("arm64")]),
      expect: { ...PREFERRED_ONLY, terms: [archIn("arm64")] },
    },
    {
      name: "E-07 required and preferred architectures of the user",
      images: m4,
      spec: both,
      expect: { ...NEVER, terms: [archIn("arm64")], weights: [`${archIn("arm64")}:1`] },
    },
    {
      name: "E-08 TM-09 OR terms, one of them with an architecture",
      images: m4,
      spec: affinity([archIn("arm64"), HOSTNAME]),
      expect: { ...M4, terms: [archIn("arm64"), `${HOSTNAME} & ${archIn(...FOUR)}`] },
    },
    {
      name: "E-09 TM-08 a nodeSelector with an architecture",
      images: m4,
      spec: { nodeSelector: { "kubernetes.io/arch": "amd64" } },
      expect: PREFERRED_ONLY,
    },
    { name: "E-10 a pod that is bound", images: m4, spec: { nodeName: "amd64-1" }, expect: NEVER },
    { name: "E-11 the operator's namespace", namespace: OPERATOR_NAMESPACE, images: m4, expect: NEVER },
    { name: "E-12 a kube- namespace", namespace: "kube-walk", images: m4, expect: NEVER },
    {
      name: "E-13 a pod of a StatefulSet of a single-arch image",
      owner: "StatefulSet",
      images: [`${host}/hello:r`],
      expect: placed(["arm64"]),
    },
    { name: "E-14 a pod of a StatefulSet", owner: "StatefulSet", images: m4, expect: M4 },
    {
      name: "E-15 PR-10 multi-arch and single-arch containers",
      images: [...m4, `${host}/hello:r`],
      expect: placed(["arm64"]),
    },
    {
      name: "E-16 TM-05 two containers and a required architecture",
      images: [...m4, `${host}/hello:rp`],
      spec: affinity([archIn("arm64")]),
      expect: { ...PREFERRED_ONLY, terms: [archIn("arm64")] },
    },
    {
      name: "E-17 PR-09 three images that share one architecture",
      images: [...m4, `${host}/hello:ar`, `${host}/hello:rp`],
      expect: placed(["arm64"]),
    },
    {
      name: "E-18 a pod of a DaemonSet",
      owner: "DaemonSet",
      images: m4,
      spec: { affinity: { nodeAffinity: perNode } },
      expect: { ...NEVER, terms: ["metadata.name In amd64-1"] },
    },
    { name: "E-19 a pod of a Job", owner: "Job", images: m4, expect: M4 },
    {
      name: "E-20 a pod of an OpenShift Build",
      owner: "Build",
      images: m4,
      labels: { "openshift.io/build.name": "hello-1" },
      container: { securityContext: { privileged: true } },
      expect: M4,
    },
    {
      name: "E-21 a pod of an OpenShift DeploymentConfig",
      owner: "ReplicationController",
      images: m4,
      labels: { deploymentconfig: "hello" },
      expect: M4,
    },
    ...[["EX-05 181", "control-plane"], ["EX-06 182", "master"]].map(([ids, role]): Scenario => ({
      name: `${ids} a pod of the ${role} role`,
      images: m4,
      spec: { nodeSelector: { [`node-role.kubernetes.io/${role}`]: "" } },
      expect: NEVER,
    })),
    { name: "PR-01 an index of two architectures", images: [`${host}/hello:ar`], expect: placed(["amd64", "arm64"]) },
    { name: "PR-02 a single manifest", images: [`${host}/hello:p`], expect: placed(["ppc64le"]) },
    {
      name: "PR-11 a bundle index is neutral",
      images: [`${host}/hello:bundle-index`, `${host}/hello:ps`],
      expect: placed(["ppc64le", "s390x"]),
    },
    {
      name: "PR-12 a bundle manifest is neutral",
      images: [`${host}/hello:bundle-manifest`, `${host}/hello:ps`],
      expect: placed(["ppc64le", "s390x"]),
    },
    {
      name: "PR-03 PR-16 EX-09 189 an image that does not exist",
      images: [`${host}/missing:latest`],
      expect: GIVEN_UP,
    },
  ];
}

function registries(walk: Walk): readonly Scenario[] {
  const { host, insecureHost, digestOf } = walk;
  const digest = digestOf("m4");
  const local = (name: string): JsonObject => ({ imagePullSecrets: [{ name }] });
  const pulls = (name: string, image: string, expect: Expected = M4): Scenario => ({ name, images: [image], expect });
  return [
    pulls("E-22 a private image without credentials", `${host}/local/hello:m4`, GIVEN_UP),
    pulls(
      "E-23 PR-05 DV-114 a private image by the global pull secret",
      `${host}/global/hello:rp`,
      placed(["arm64", "ppc64le"]),
    ),
    { ...pulls("E-25 PR-06 TM-06 a private image by a pull secret", `${host}/local/hello:m4`), spec: local("exact") },
    { ...pulls("E-26 a private image by a glob key", `${host}/local/hello:m4`), spec: local("glob") },
    {
      name: "E-27 four private images of both secrets",
      images: ["global/hello:m4", "global/hello:r", "local/hello:rp", "local/hello:r"].map((each) => `${host}/${each}`),
      spec: local("exact"),
      expect: placed(["arm64"]),
    },
    pulls("E-28 an insecure registry", `${insecureHost}/hello:m4`),
    pulls("E-30 a registry of an added authority", `${host}/hello:m4`),
    pulls("E-31 a blocked repository", `${host}/blocked:m4`, GIVEN_UP),
    pulls("E-32 a short name by the search registry", "hello:m4"),
    pulls("E-33 a digest by its mirror, the source dead", `${DEAD_HOST}/icsp@${digest}`),
    pulls("E-34 a digest by its mirror, the source never contacted", `${DEAD_HOST}/idms@${digest}`),
    pulls("E-35 a tag by its source, the mirror dead", `${host}/allow:m4`),
    pulls("E-36 a tag, its mirror dead and the source never contacted", `${host}/never:m4`, GIVEN_UP),
    pulls("E-37 E-40 a port, a tag and a digest", `${host}/hello:m4@${digest}`),
    pulls("E-38 a port and a digest", `${host}/hello@${digest}`),
    pulls("E-39 a port and a tag", `${host}/hello:m4`),
  ];
}

const CONFIGS: readonly Config[] = [
  { name: "a", namespace: "three", priority: 50, platforms: [["arm64", 30]] },
  { name: "b", namespace: "three", priority: 30, platforms: [["s390x", 10]] },
  { name: "c", namespace: "three", priority: 10, platforms: [["arm64", 33], ["ppc64le", 40]] },
  { name: "backend", namespace: "labels", priority: 1, platforms: [["ppc64le", 60]], app: "backend" },
  { name: "test-ppc-low", namespace: "two", priority: 30, platforms: [["arm64", 60]] },
  { name: "test-ppc-high", namespace: "two", priority: 60, platforms: [["arm64", 30]] },
  { name: "test-ppc-high", namespace: "overlap", priority: 100, platforms: [["amd64", 20], ["arm64", 60]] },
  { name: "test-ppc-low", namespace: "overlap", priority: 50, platforms: [["arm64", 30], ["ppc64le", 40]] },
  { name: "own", namespace: "own", priority: 1, platforms: [["amd64", 50], ["arm64", 20]] },
];

function preferences(host: string): readonly Scenario[] {
  const images = [`${host}/hello:m4`];
  const weigh = (architecture: string, weight: number): string => `${archIn(architecture)}:${weight}`;
  const prefers = (name: string, namespace: string, ...weights: readonly string[]): Scenario => ({
    name,
    namespace,
    images,
    expect: placed(FOUR, weights),
  });
  const [high, low] = ["PodPlacementConfig-test-ppc-high", "PodPlacementConfig-test-ppc-low"];
  const two = prefers("E-43 M2-03 M2-04 two configs of one architecture", "two", weigh("arm64", 30), A50);
  const overlap = prefers(
    "E-44 three overlapping configs",
    "overlap",
    weigh("amd64", 20),
    weigh("arm64", 60),
    weigh("ppc64le", 40),
  );
  return [
    prefers("E-41 three configs", "three", weigh("arm64", 30), weigh("s390x", 10), weigh("ppc64le", 40), A50),
    {
      ...prefers("E-42 a config that selects the pod", "labels", weigh("ppc64le", 60), A50),
      labels: { app: "backend" },
    },
    { ...prefers("E-42 M2-07 a config that does not", "labels", A50), labels: { app: "frontend" } },
    {
      ...two,
      expect: { ...two.expect, sources: `arm64:30:${high},arm64:60:${low}:skipped,amd64:50:ClusterPodPlacementConfig` },
    },
    {
      ...overlap,
      expect: {
        ...overlap.expect,
        sources: `amd64:20:${high},arm64:60:${high},arm64:30:${low}:skipped,ppc64le:40:${low},` +
          "amd64:50:ClusterPodPlacementConfig:skipped",
      },
    },
    {
      name: "E-45 a preference of the user against a config",
      namespace: "own",
      images,
      spec: affinity([], [archIn("amd64"), 5]),
      expect: { ...M4, preferred: "not-set", weights: [weigh("amd64", 5)] },
    },
  ];
}

async function prepareAll(walk: Walk): Promise<void> {
  const { host } = walk;
  await create(walk, "Secret", pullSecret("pull-secret", [`${host}/global`]), "openshift-config");
  await create(walk, "Secret", pullSecret("exact", [`${host}/local/hello`]), "walk");
  await create(walk, "Secret", pullSecret("glob", [`${host.replace("127.0", "*.0")}/local/hello`]), "walk");
  await createConfigs(walk, CONFIGS);
}

Deno.test("serve places pods while the cluster config scores", async (t) => {
  const names = ["walk", "kube-walk", "three", "labels", "two", "overlap", "own"];
  const namespaces = Object.fromEntries(names.map((name) => [name, {}]));
  const spec = { logVerbosity: "Normal", plugins: scoring(true, ["amd64", 50]) };
  await withWalk({ spec, namespaces, prepare: prepareAll }, async (walk) => {
    await walkAll(t, walk, [...workloads(walk.host), ...registries(walk), ...preferences(walk.host)]);
    for (const { name, namespace } of CONFIGS) await remove(walk, "PodPlacementConfig", name, namespace);
    await remove(walk, "ClusterPodPlacementConfig", "cluster");
    await waitFor(walk, () => stored(walk, Resource.clusterConfigs).length === 0);
    await t.step("E-46 all leaves when the configs are deleted", () => {
      assert.deepEqual(stored(walk, Resource.mutatingWebhooks), []);
    });
  });
});

Deno.test("serve places pods while only namespace configs score, outside of excluded namespaces", async (t) => {
  const excluded = "multiarch.openshift.io/exclude-pod-placement";
  const spec = {
    plugins: scoring(false, ["amd64", 24]),
    namespaceSelector: { matchExpressions: [{ key: excluded, operator: "DoesNotExist" }] },
  };
  const prepare = (walk: Walk): Promise<void> =>
    createConfigs(walk, [
      { name: "one", namespace: "one", priority: 100, platforms: [["amd64", 50], ["arm64", 30]], app: "test" },
      { name: "other", namespace: "other", priority: 1, platforms: [["amd64", 50]], app: "backend" },
      { name: "low", namespace: "both", priority: 10, platforms: [["arm64", 80]], app: "test" },
      { name: "high", namespace: "both", priority: 100, platforms: [["amd64", 60]], app: "test" },
    ]);
  const namespaces = { walk: {}, excluded: { [excluded]: "" }, one: {}, other: {}, both: {} };
  const labels = { app: "test" };
  const plain: Expected = { ...M4, preferred: undefined, weights: [] };
  await withWalk({ spec, namespaces, prepare }, async (walk) => {
    const images = [`${walk.host}/hello:m4`];
    const [a50, r30] = [A50, `${archIn("arm64")}:30`];
    const [a60, r80] = [`${archIn("amd64")}:60`, `${archIn("arm64")}:80`];
    await walkAll(t, walk, [
      {
        name: "EX-01 TM-07 177 a namespace that is excluded",
        namespace: "excluded",
        images,
        expect: { gate: undefined },
      },
      { name: "EX-02 178 a namespace that is not excluded", images, expect: plain },
      {
        name: "EX-07 187 an architecture of the user's own",
        images,
        spec: affinity([archIn("amd64")]),
        expect: { gate: "not-set", required: "not-set", terms: [archIn("amd64")] },
      },
      { name: "EX-14 208 a config that selects", namespace: "one", labels, images, expect: placed(FOUR, [a50, r30]) },
      {
        name: "EX-15 209 a config that selects others",
        namespace: "other",
        labels: { app: "frontend" },
        images,
        expect: plain,
      },
      { name: "EX-16 210 two configs", namespace: "both", labels, images, expect: placed(FOUR, [a60, r80]) },
    ]);
  });
});

Deno.test("serve places pods of included namespaces without plugins", async (t) => {
  const included = "multiarch.openshift.io/include-pod-placement";
  const spec = {
    plugins: {},
    namespaceSelector: { matchExpressions: [{ key: included, operator: "Exists" }] },
  };
  await withWalk({ spec, namespaces: { walk: {}, included: { [included]: "" } } }, async (walk) => {
    const images = [`${walk.host}/hello:m4`];
    await walkAll(t, walk, [
      { name: "EX-03 179 a namespace that is not included", images, expect: { gate: undefined } },
      {
        name: "EX-04 EX-08 180 188 a namespace that is included",
        namespace: "included",
        images,
        expect: { ...M4, preferred: undefined, weights: [] },
      },
    ]);
  });
});

Deno.test("serve falls back to an architecture", async (t) => {
  const spec = { plugins: scoring(true, ["amd64", 24]), fallbackArchitecture: "amd64" };
  await withWalk({ spec, namespaces: { walk: {} } }, async (walk) => {
    await walkAll(t, walk, [{
      name: "EX-10 PR-04 190 an image that does not exist",
      images: [`${walk.host}/missing:latest`],
      expect: {
        gate: "removed",
        required: "set",
        preferred: "set",
        terms: [archIn("amd64")],
        weights: [`${archIn("amd64")}:24`],
        labels: { "image-inspect-error-count": "5", "fallback-arch": "amd64" },
      },
    }]);
  });
});

// On its own: the registries of one process honour each other's TLS session tickets, and a resumed session shows no
// certificate.
Deno.test("serve gives up on a registry that it cannot trust", async (t) => {
  const spec = { plugins: scoring(true, ["amd64", 50]) };
  await withWalk({ spec, namespaces: { walk: {} } }, async (walk) => {
    const images = [`${walk.untrustedHost}/hello:m4`];
    await walkAll(t, walk, [{ name: "E-29 a registry of an unknown authority", images, expect: GIVEN_UP }]);
  });
});
