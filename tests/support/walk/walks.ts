// The walks: a cluster config, namespaces, namespace configs, and pods with the end that each must come to. They run on the
// playground, on a real control plane and on real nodes.
import assert from "node:assert/strict";
import { A50, FOUR, GIVEN_UP, M4, placed } from "./ends.ts";
import { type Config, CONFIGS, createConfigs, preferenceRows, removeConfigs, scoring } from "./preference_rows.ts";
import { pullSecret } from "./registries.ts";
import { registryRows } from "./registry_rows.ts";
import { affinity, archIn, type Expected, type Scenario, walkAll } from "./scenario.ts";
import type { WalkSetting, WalkSubject } from "./subject.ts";
import { workloads } from "./workload_rows.ts";

export interface Walk {
  readonly name: string;
  readonly setting: WalkSetting;
  readonly prepare?: (walk: WalkSubject) => Promise<void>;
  readonly scenarios: (walk: WalkSubject) => readonly Scenario[];
  readonly clear?: (walk: WalkSubject) => Promise<void>;
}

const EXCLUDED = "multiarch.openshift.io/exclude-pod-placement";
const INCLUDED = "multiarch.openshift.io/include-pod-placement";
const PLAIN: Expected = { ...M4, preferred: undefined, weights: [] };

const SCORING: Walk = {
  name: "pods are placed while the cluster config scores",
  setting: {
    spec: { logVerbosity: "Normal", plugins: scoring(true, ["amd64", 50]) },
    namespaces: Object.fromEntries(
      ["walk", "kube-walk", "three", "labels", "two", "overlap", "own"].map((name) => [name, {}]),
    ),
  },
  prepare: async (walk) => {
    const { host } = walk;
    await walk.create("Secret", pullSecret("pull-secret", [`${host}/global`]), "openshift-config");
    await walk.create("Secret", pullSecret("exact", [`${host}/local/hello`]), "walk");
    await walk.create("Secret", pullSecret("glob", [`${host.replace(/^\d+/, "*")}/local/hello`]), "walk");
    await createConfigs(walk, CONFIGS);
  },
  scenarios: (walk) => [...workloads(walk), ...registryRows(walk), ...preferenceRows(walk.host)],
  clear: (walk) => removeConfigs(walk, CONFIGS),
};

const LOCAL_CONFIGS: readonly Config[] = [
  { name: "one", namespace: "one", priority: 100, platforms: [["amd64", 50], ["arm64", 30]], app: "test" },
  { name: "other", namespace: "other", priority: 1, platforms: [["amd64", 50]], app: "backend" },
  { name: "low", namespace: "both", priority: 10, platforms: [["arm64", 80]], app: "test" },
  { name: "high", namespace: "both", priority: 100, platforms: [["amd64", 60]], app: "test" },
];

const LOCAL_SCORING: Walk = {
  name: "pods are placed while only namespace configs score, outside of excluded namespaces",
  setting: {
    spec: {
      plugins: scoring(false, ["amd64", 24]),
      namespaceSelector: { matchExpressions: [{ key: EXCLUDED, operator: "DoesNotExist" }] },
    },
    namespaces: { walk: {}, excluded: { [EXCLUDED]: "" }, one: {}, other: {}, both: {} },
  },
  prepare: (walk) => createConfigs(walk, LOCAL_CONFIGS),
  scenarios: ({ host }) => {
    const images = [`${host}/hello:m4`];
    const labels = { app: "test" };
    const [r30, a60, r80] = [`${archIn("arm64")}:30`, `${archIn("amd64")}:60`, `${archIn("arm64")}:80`];
    return [
      {
        name: "EX-01 TM-07 177 a namespace that is excluded",
        namespace: "excluded",
        images,
        expect: { gate: undefined },
      },
      { name: "EX-02 178 a namespace that is not excluded", images, expect: PLAIN },
      {
        name: "EX-07 187 an architecture of the user's own",
        images,
        spec: affinity([archIn("amd64")]),
        expect: { gate: "not-set", required: "not-set", terms: [archIn("amd64")] },
        fate: { kind: "runs", on: ["amd64"] },
      },
      { name: "EX-14 208 a config that selects", namespace: "one", labels, images, expect: placed(FOUR, [A50, r30]) },
      {
        name: "EX-15 209 a config that selects others",
        namespace: "other",
        labels: { app: "frontend" },
        images,
        expect: PLAIN,
      },
      { name: "EX-16 210 two configs", namespace: "both", labels, images, expect: placed(FOUR, [a60, r80]) },
    ];
  },
  clear: (walk) => removeConfigs(walk, LOCAL_CONFIGS),
};

const INCLUDING: Walk = {
  name: "pods of included namespaces are placed without plugins",
  setting: {
    spec: { plugins: {}, namespaceSelector: { matchExpressions: [{ key: INCLUDED, operator: "Exists" }] } },
    namespaces: { walk: {}, included: { [INCLUDED]: "" } },
  },
  scenarios: ({ host }) => {
    const images = [`${host}/hello:m4`];
    return [
      { name: "EX-03 179 a namespace that is not included", images, expect: { gate: undefined } },
      {
        name: "EX-04 EX-08 180 188 a namespace that is included",
        namespace: "included",
        images,
        expect: PLAIN,
      },
    ];
  },
};

const FALLING_BACK: Walk = {
  name: "pods fall back to an architecture",
  setting: {
    spec: { plugins: scoring(true, ["amd64", 24]), fallbackArchitecture: "amd64" },
    namespaces: { walk: {} },
  },
  scenarios: ({ host }) => [{
    name: "EX-10 PR-04 190 an image that does not exist",
    images: [`${host}/missing:latest`],
    expect: {
      gate: "removed",
      required: "set",
      preferred: "set",
      terms: [archIn("amd64")],
      weights: [`${archIn("amd64")}:24`],
      labels: { "image-inspect-error-count": "5", "fallback-arch": "amd64" },
    },
    fate: { kind: "pull fails", on: ["amd64"] },
  }],
};

const UNTRUSTED: Walk = {
  name: "a registry that cannot be trusted is given up",
  setting: { spec: { plugins: scoring(true, ["amd64", 50]) }, namespaces: { walk: {} } },
  scenarios: ({ untrustedHost }) => [{
    name: "E-29 a registry of an unknown authority",
    images: [`${untrustedHost}/hello:m4`],
    expect: GIVEN_UP,
    fate: { kind: "pull fails", on: FOUR },
  }],
};

/**
 * All of them. The untrusted registry comes first: registries of one process honour each other's TLS session tickets, and a
 * resumed session shows no certificate.
 */
export const WALKS: readonly Walk[] = [UNTRUSTED, SCORING, LOCAL_SCORING, INCLUDING, FALLING_BACK];

/** Creates the pods of a walk, checks each, and deletes the configs, after which the webhook must be gone. */
export async function runWalk(t: Deno.TestContext, walk: WalkSubject, { scenarios, clear }: Walk): Promise<void> {
  await walkAll(t, walk, scenarios(walk));
  await t.step("E-46 the webhook configuration goes with the cluster config", async () => {
    await clear?.(walk);
    await walk.remove("ClusterPodPlacementConfig", "cluster");
    await walk.until("the config is gone", async () => (await walk.names("ClusterPodPlacementConfig")).length === 0);
    assert.deepEqual(await walk.names("MutatingWebhookConfiguration"), []);
  });
}
