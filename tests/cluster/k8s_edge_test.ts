// The Kubernetes edge against the real API server: what the stub cannot prove. Needs the control plane of this folder.
import assert from "node:assert/strict";
import { systemClock } from "../../lib/clock.ts";
import { type KubeApi, withCalls } from "../../lib/k8s/api.ts";
import { ApiError, classifyWriteFailure } from "../../lib/k8s/api_error.ts";
import { readKubeconfigAccess } from "../../lib/k8s/kubeconfig_access.ts";
import { listAll } from "../../lib/k8s/lists.ts";
import { Reflector } from "../../lib/k8s/reflector.ts";
import { type KubeObject, type ResourceType } from "../../lib/k8s/types.ts";
import { silentLogger } from "../../lib/log.ts";
import { inPagesOf, openTestApi } from "../support/cluster_api.ts";
import { sharedControlPlane } from "./support/shared_control_plane.ts";
import { openHastyClock } from "./support/upgrade_bed.ts";
import { waitUntil } from "./support/wait.ts";

const never = new AbortController().signal;
const log = silentLogger;
const clock = systemClock;
const configMaps: ResourceType = {
  group: "",
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
};

interface Scene {
  readonly api: KubeApi;
  readonly namespace: string;
}

async function withCluster(play: (scene: Scene) => Promise<void>): Promise<void> {
  await using plane = await sharedControlPlane();
  const access = await readKubeconfigAccess(plane.kubeconfigFile, { clock });
  await using api = openTestApi(access);
  await play({ api, namespace: await plane.createNamespace("edge") });
}

async function createConfigMap({ api, namespace }: Scene, name: string): Promise<KubeObject> {
  return await api.create(configMaps, { metadata: { name }, data: { n: "0" } }, { namespace, signal: never });
}

Deno.test("cluster: KubeApi creates, patches in three formats, refuses as classified, lists in pages and deletes", async () => {
  await withCluster(async (scene) => {
    const { api, namespace } = scene;
    for (let n = 0; n < 5; n++) await createConfigMap(scene, `cm-${n}`);
    const target = { namespace, name: "cm-0" };
    const json = (value: string): Promise<KubeObject> => {
      const test = { op: "test", path: "/data/n", value } as const;
      const replace = { op: "replace", path: "/data/n", value: "1" } as const;
      return api.patch(configMaps, target, { body: { kind: "json", operations: [test, replace] }, signal: never });
    };
    assert.deepEqual((await json("0"))["data"], { n: "1" });
    await assert.rejects(json("0"), (error) => classifyWriteFailure(error) === "stale");
    const document = { data: { m: "2" } };
    await api.patch(configMaps, target, { body: { kind: "merge", document }, signal: never });
    const bad = { metadata: { labels: { "not a label!": "x" } } };
    await assert.rejects(
      api.patch(configMaps, target, { body: { kind: "merge", document: bad }, signal: never }),
      (error) => classifyWriteFailure(error) === "refused",
    );
    const apply = (a: string): Promise<KubeObject> => {
      const applied = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "applied", namespace }, data: { a } };
      const body = { kind: "apply", document: applied } as const;
      return api.patch(configMaps, { namespace, name: "applied" }, { body, signal: never });
    };
    const { resourceVersion } = (await apply("1")).metadata;
    assert.equal((await apply("1")).metadata.resourceVersion, resourceVersion);
    assert.deepEqual((await apply("2"))["data"], { a: "2" });
    const names: string[] = [];
    for await (const item of listAll(inPagesOf(2, api), configMaps, { namespace, signal: never })) {
      names.push(item.metadata.name);
    }
    assert.deepEqual(names.filter((name) => name.startsWith("cm-")).length, 5);
    await api.delete(configMaps, target, { propagationPolicy: "Background", signal: never });
    await assert.rejects(
      api.get(configMaps, target, never),
      (error) => error instanceof ApiError && error.status === 404,
    );
    assert.ok(Math.abs(api.serverClockOffsetMs()) < 1_500, "both are this machine");
    assert.equal(await api.raw("/readyz", never), "ok");
  });
});

Deno.test("cluster: reflector sees every object of a burst, its changes and deletions, with a resume in the middle", async () => {
  await withCluster(async (scene) => {
    const { api, namespace } = scene;
    await createConfigMap(scene, "early");
    const stop = new AbortController();
    let opened = 0;
    const counted = withCalls(api, {
      watch: (...call) => {
        opened++;
        return api.watch(...call);
      },
    });
    const reflector = new Reflector({
      retain: { kind: "all" },
      api: counted,
      resource: configMaps,
      namespace,
      parse: ({ metadata }) => metadata.name.startsWith("kube-root") ? undefined : metadata.resourceVersion,
      onChange: () => {},
      // A watch is silent for too long after 400 ms: it is given up and resumed while the burst goes on.
      clock: openHastyClock(225),
      log,
      name: "config maps",
    });
    const running = reflector.run(stop.signal);
    await reflector.synced(AbortSignal.timeout(10_000));
    assert.equal(reflector.size, 1);
    const names = Array.from({ length: 100 }, (_, n) => `burst-${n}`);
    await Promise.all(names.map((name) => createConfigMap(scene, name)));
    await waitUntil("the burst", () => reflector.size === 101);
    const before = opened;
    await waitUntil("a watch that resumes", () => opened > before);
    const target = { namespace, name: "burst-0" };
    const changed = await api.patch(configMaps, target, {
      body: { kind: "merge", document: { data: { n: "9" } } },
      signal: never,
    });
    await Promise.all(names.slice(1).map((name) => api.delete(configMaps, { namespace, name }, { signal: never })));
    await waitUntil("the deletions", () => reflector.size === 2);
    await waitUntil("the change", () => reflector.get(`${namespace}/burst-0`) === changed.metadata.resourceVersion);
    stop.abort();
    await running;
  });
});
