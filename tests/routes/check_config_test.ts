import assert from "node:assert/strict";
import { openSiblingConfigs } from "../../lib/operator/cluster/sibling_configs.ts";
import type { KubeApi } from "../../lib/k8s/api.ts";
import { ApiError } from "../../lib/k8s/api_error.ts";
import { type KubeObject, Resource } from "../../lib/k8s/types.ts";
import { memberOf, objectAt } from "../../lib/json.ts";
import { type CheckDeps, reviewClusterConfig, reviewNamespaceConfig } from "../../routes/check_config.ts";
import { MemoryCluster } from "../support/memory_kube_api.ts";

interface Cluster {
  readonly clusterConfig?: KubeObject | ApiError;
  readonly namespaceConfigs?: readonly KubeObject[] | ApiError;
}

function makeApi({ clusterConfig, namespaceConfigs = [] }: Cluster): KubeApi {
  const cluster = new MemoryCluster();
  if (clusterConfig && !(clusterConfig instanceof ApiError)) cluster.put(Resource.clusterConfigs, clusterConfig);
  const present = namespaceConfigs instanceof ApiError ? [] : namespaceConfigs;
  for (const config of present) cluster.put(Resource.namespaceConfigs, config);
  return cluster.client(({ verb }) => {
    const answer = verb === "get" ? clusterConfig : namespaceConfigs;
    if (answer instanceof ApiError) throw answer;
    assert.match(verb, /^(?:get|list)$/, "the checks only read");
  });
}

const signal = new AbortController().signal;
const CLUSTER_CONFIG: KubeObject = { metadata: { name: "cluster" } };

function makeLocal(name: string, priority: number, namespace = "team"): KubeObject {
  return { metadata: { name, namespace }, spec: { priority, plugins: {} } };
}

function makeReview(operation: string, object: unknown, oldObject?: unknown): unknown {
  return { request: { uid: "r-1", operation, name: "mine", namespace: "team", object, oldObject } };
}

/** `allowed`, or the status code and message. */
async function wordOf(answer: Promise<unknown>): Promise<string> {
  const response = objectAt(await answer, "response");
  assert.equal(response?.uid, "r-1");
  const status = objectAt(response, "status");
  return response.allowed === true ? "allowed" : `${memberOf(status, "code")} ${memberOf(status, "message")}`;
}

function makeDeps(cluster: Cluster): CheckDeps {
  const api = makeApi(cluster);
  const configs = { hasSynced: () => true, forNamespace: () => ({ cluster: undefined, namespace: [] }) };
  return { api, siblings: openSiblingConfigs({ api, configs, signal }), signal };
}

function checkLocal(cluster: Cluster, review: unknown): Promise<string> {
  return wordOf(reviewNamespaceConfig(review, makeDeps(cluster)));
}

Deno.test("124 DV-134 reviewNamespaceConfig() answers 400 when there is no cluster config", async () => {
  assert.match(await checkLocal({}, makeReview("CREATE", makeLocal("mine", 1))), /^400 /);
});

Deno.test("reviewNamespaceConfig() passes on the status of a read that failed", async () => {
  const failed = new ApiError("server is down", { status: 503 });
  assert.match(await checkLocal({ clusterConfig: failed }, makeReview("CREATE", makeLocal("mine", 1))), /^503 /);
  const cluster = { clusterConfig: CLUSTER_CONFIG, namespaceConfigs: new ApiError("no answer", { status: 0 }) };
  assert.match(await checkLocal(cluster, makeReview("CREATE", makeLocal("mine", 1))), /^500 .*no answer/);
});

Deno.test("DV-131 223 reviewNamespaceConfig() allows the same priority in another namespace", async () => {
  const cluster = { clusterConfig: CLUSTER_CONFIG, namespaceConfigs: [makeLocal("theirs", 50, "other")] };
  assert.equal(await checkLocal(cluster, makeReview("CREATE", makeLocal("mine", 50))), "allowed");
});

Deno.test("137 reviewNamespaceConfig() refuses a priority that a live sibling holds", async () => {
  const cluster = { clusterConfig: CLUSTER_CONFIG, namespaceConfigs: [makeLocal("theirs", 50)] };
  assert.match(await checkLocal(cluster, makeReview("CREATE", makeLocal("mine", 50))), /^403 priority 50 already used/);
});

Deno.test("reviewNamespaceConfig() reads no siblings for an update that keeps the priority", async () => {
  const cluster = { clusterConfig: CLUSTER_CONFIG, namespaceConfigs: new ApiError("no answer", { status: 0 }) };
  const [before, after] = [makeLocal("mine", 1), { ...makeLocal("mine", 1), spec: { priority: 1, plugins: { a: 1 } } }];
  assert.equal(await checkLocal(cluster, makeReview("UPDATE", after, before)), "allowed");
  const moved = makeReview("UPDATE", makeLocal("mine", 2), before);
  assert.match(await checkLocal(cluster, moved), /^500 .*no answer/);
});

Deno.test("DV-135 reviewNamespaceConfig() reads nothing when something is deleted", async () => {
  assert.equal(await checkLocal({}, makeReview("DELETE", null, makeLocal("mine", 1))), "allowed");
});

Deno.test("125 reviewClusterConfig() refuses deletion while namespace configs exist", async () => {
  const deps = makeDeps({ namespaceConfigs: [makeLocal("a", 0)] });
  const answer = reviewClusterConfig(makeReview("DELETE", null, CLUSTER_CONFIG), deps);
  assert.match(await wordOf(answer), /^403 .*team\/a/);
});

Deno.test("reviewClusterConfig() allows deletion past a namespace config that somebody else's finalizer holds", async () => {
  const held = makeLocal("a", 0);
  const leaving = { ...held, metadata: { ...held.metadata, deletionTimestamp: "2026-11-21T12:00:00Z" } };
  const review = (namespaceConfigs: readonly KubeObject[]): Promise<string> =>
    wordOf(reviewClusterConfig(makeReview("DELETE", null, CLUSTER_CONFIG), makeDeps({ namespaceConfigs })));
  assert.match(await review([leaving]), /^allowed/);
  assert.match(await review([leaving, makeLocal("b", 0)]), /^403 .*team\/b/);
});

Deno.test("reviewClusterConfig() refuses deletion when it cannot tell", async () => {
  const deps = makeDeps({ namespaceConfigs: new ApiError("forbidden", { status: 403 }) });
  const answer = reviewClusterConfig(makeReview("DELETE", null, CLUSTER_CONFIG), deps);
  assert.match(await wordOf(answer), /^403 Cannot check mine: forbidden/);
});

Deno.test("reviews answer nothing when the body is no review of an object", async () => {
  const parts = makeDeps({});
  for (const body of [null, {}, { request: { uid: "u" } }, makeReview("CREATE", undefined), makeReview("EAT", {})]) {
    assert.equal(await reviewClusterConfig(body, parts), undefined);
    assert.equal(await reviewNamespaceConfig(body, parts), undefined);
  }
});
