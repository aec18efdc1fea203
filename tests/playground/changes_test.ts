import assert from "node:assert/strict";
import { openConfigs } from "../../lib/operator/cluster/configs.ts";
import { systemClock } from "../../lib/clock.ts";
import { readKubeconfigAccess } from "../../lib/k8s/kubeconfig_access.ts";
import { type KubeObject, Resource } from "../../lib/k8s/types.ts";
import { silentLogger } from "../../lib/log.ts";
import { API_GROUP } from "../../lib/names.ts";
import { type JsonObject, listAtPath, textAtPath, valueAtPath } from "../../playground/json_path.ts";
import { openTestApi } from "../support/cluster_api.ts";
import { pullSecret } from "../support/walk/registries.ts";
import { create, decidedPod, remove, stored, waitFor, type Walk, withWalk } from "./walk_bed.ts";

const NAMESPACES = { walk: {} };
const SCORING = {
  plugins: { nodeAffinityScoring: { enabled: true, platforms: [{ architecture: "amd64", weight: 50 }] } },
};
/** Images of policy Always share what was read within a second. */
const FRESH_MS = 1_100;

function createPod(walk: Walk, name: string, container: Readonly<Record<string, unknown>>): Promise<KubeObject> {
  return create(walk, "Pod", { metadata: { name }, spec: { containers: [{ name: "c", ...container }] } }, "walk");
}

async function decided(walk: Walk, name: string): Promise<KubeObject> {
  await waitFor(walk, () => decidedPod(walk, "walk", name) !== undefined);
  const pod = decidedPod(walk, "walk", name);
  assert.ok(pod !== undefined);
  return pod;
}

function architecturesOf(pod: KubeObject): readonly string[] {
  const known = ["amd64", "arm64", "ppc64le", "s390x"];
  return known.filter((each) => textAtPath(pod, "metadata", "labels", `${API_GROUP}/${each}`) !== undefined);
}

function eventReasons(walk: Walk, pod: string): readonly (string | undefined)[] {
  return stored(walk, Resource.events).filter((event) => textAtPath(event, "involvedObject", "name") === pod)
    .map((event) => textAtPath(event, "reason"));
}

Deno.test("DV-14 serve posts an event about the gate it added", () =>
  withWalk({ spec: {}, namespaces: NAMESPACES }, async (walk) => {
    await createPod(walk, "one", { image: `${walk.host}/hello:ar` });
    await decided(walk, "one");
    await waitFor(walk, () => eventReasons(walk, "one").includes("ArchAwareSchedGateAdded"));
  }));

Deno.test("DV-13 serve posts an event about the gate of a pod whose name the server made", () =>
  withWalk({ spec: {}, namespaces: NAMESPACES }, async (walk) => {
    const spec = { containers: [{ name: "c", image: `${walk.host}/hello:ar` }] };
    const { metadata: { name } } = await create(walk, "Pod", { metadata: { generateName: "made-" }, spec }, "walk");
    assert.match(name, /^made-.+/);
    await decided(walk, name);
    await waitFor(walk, () => eventReasons(walk, name).includes("ArchAwareSchedGateAdded"));
  }));

Deno.test("PR-07 PR-08 serve takes a pushed tag from its cache, and asks again when the policy is Always", async () => {
  let target = "ar";
  const intercept = (request: Request): Response | undefined => {
    const { pathname, origin } = new URL(request.url);
    return /\/manifests\/moving-/.test(pathname)
      ? Response.redirect(`${origin}/v2/hello/manifests/${target}`, 307)
      : undefined;
  };
  await withWalk({ spec: {}, namespaces: NAMESPACES, intercept }, async (walk) => {
    const pull = async (name: string, tag: string, imagePullPolicy: string): Promise<readonly string[]> => {
      await createPod(walk, name, { image: `${walk.host}/hello:${tag}`, imagePullPolicy });
      return architecturesOf(await decided(walk, name));
    };
    assert.deepEqual(await pull("kept-1", "moving-a", "IfNotPresent"), ["amd64", "arm64"]);
    assert.deepEqual(await pull("asked-1", "moving-b", "Always"), ["amd64", "arm64"]);
    target = "m4";
    assert.deepEqual(await pull("kept-2", "moving-a", "IfNotPresent"), ["amd64", "arm64"]);
    await systemClock.sleep(FRESH_MS, new AbortController().signal);
    assert.deepEqual(await pull("asked-2", "moving-b", "Always"), ["amd64", "arm64", "ppc64le", "s390x"]);
  });
});

Deno.test("E-24 serve no longer uses a credential that left the global pull secret", async () => {
  const prepare = async (walk: Walk): Promise<void> => {
    await create(walk, "Secret", pullSecret("pull-secret", [`${walk.host}/global`]), "openshift-config");
  };
  await withWalk({ spec: SCORING, namespaces: NAMESPACES, prepare }, async (walk) => {
    const image = `${walk.host}/global/hello:rp`;
    await createPod(walk, "before", { image });
    assert.deepEqual(architecturesOf(await decided(walk, "before")), ["arm64", "ppc64le"]);
    const [secret] = stored(walk, Resource.secrets).filter(({ metadata }) => metadata.name === "pull-secret");
    assert.ok(secret !== undefined);
    const { data } = pullSecret("pull-secret", ["other.example"]);
    walk.playground.cluster.store.put(Resource.secrets, { ...secret, data });
    let found: readonly string[] = ["arm64"];
    for (let attempt = 0; attempt < 20 && found.length > 0; attempt++) {
      await createPod(walk, `after-${attempt}`, { image });
      found = architecturesOf(await decided(walk, `after-${attempt}`));
    }
    assert.deepEqual(found, []);
  });
});

Deno.test("DV-113 serve waits when the registry answers 429, and places the pod then", async () => {
  let refusals = 0;
  const intercept = (request: Request): Response | undefined => {
    if (!request.url.includes("/manifests/") || refusals > 0) return undefined;
    refusals += 1;
    return new Response(null, { status: 429, headers: { "retry-after": "1" } });
  };
  await withWalk({ spec: {}, namespaces: NAMESPACES, intercept }, async (walk) => {
    await createPod(walk, "one", { image: `${walk.host}/hello:ar` });
    assert.deepEqual(architecturesOf(await decided(walk, "one")), ["amd64", "arm64"]);
    assert.equal(refusals, 1);
  });
});

/** Creates pods whose registry is down, and begins when each is marked so; `recover` brings it back. */
function whileDown(
  spec: JsonObject,
  names: readonly string[],
  use: (walk: Walk, recover: () => void) => Promise<void>,
): Promise<void> {
  let isDown = true;
  const intercept = (request: Request): Response | undefined =>
    isDown && request.url.includes("/manifests/") ? new Response(null, { status: 503 }) : undefined;
  const isMarked = (pod: KubeObject): boolean =>
    textAtPath(pod, "metadata", "labels", `${API_GROUP}/image-inspect-error`) !== undefined;
  return withWalk({ spec, namespaces: NAMESPACES, intercept }, async (walk) => {
    for (const name of names) await createPod(walk, name, { image: `${walk.host}/hello:ar` });
    await waitFor(walk, () => stored(walk, Resource.pods).every(isMarked));
    await use(walk, () => void (isDown = false));
  });
}

Deno.test("DV-61 DV-62 serve forgets a pod that was deleted, and heeds a config made while another is gated", async () => {
  const [deleted, kept] = ["deleted", "kept"];
  await whileDown(SCORING, [deleted, kept], async (walk, recover) => {
    await remove(walk, "Pod", deleted, "walk");
    const plugins = { nodeAffinityScoring: { enabled: true, platforms: [{ architecture: "arm64", weight: 7 }] } };
    await create(walk, "PodPlacementConfig", { metadata: { name: "late" }, spec: { priority: 1, plugins } }, "walk");
    recover();
    const pod = await decided(walk, kept);
    const affinity = valueAtPath(pod, "spec", "affinity", "nodeAffinity");
    const preferred = listAtPath(affinity, "preferredDuringSchedulingIgnoredDuringExecution");
    assert.match(JSON.stringify(preferred), /"weight":7/);
    assert.deepEqual(architecturesOf(pod), ["amd64", "arm64"]);
    assert.deepEqual(stored(walk, Resource.pods).map(({ metadata: { name } }) => name), [kept]);
  });
});

Deno.test("DV-60 (different: a pod that changed is decided again at once, no failure is reported) serve releases it", async () => {
  let meddle: (() => void) | undefined;
  const intercept = (): undefined => {
    meddle?.();
    meddle = undefined;
  };
  await withWalk({ spec: {}, namespaces: NAMESPACES, intercept }, async (walk) => {
    const { store } = walk.playground.cluster;
    // While its image is read, another gate moves ours and the user's own term appears: the decision no longer fits.
    meddle = () => {
      const pod = store.get(Resource.pods, "walk/one");
      assert.ok(pod !== undefined);
      const gates = [{ name: "example.com/quota" }, ...listAtPath(pod, "spec", "schedulingGates")];
      store.put(Resource.pods, { ...pod, spec: { ...Object(pod["spec"]), schedulingGates: gates } });
    };
    await createPod(walk, "one", { image: `${walk.host}/hello:ar` });
    const pod = await decided(walk, "one");
    assert.equal(meddle, undefined);
    assert.deepEqual(listAtPath(pod, "spec", "schedulingGates").map((gate) => textAtPath(gate, "name")), [
      "example.com/quota",
    ]);
    assert.deepEqual(architecturesOf(pod), ["amd64", "arm64"]);
    assert.equal(textAtPath(pod, "metadata", "labels", `${API_GROUP}/image-inspect-error-count`), undefined);
    await waitFor(walk, () => eventReasons(walk, "one").includes("ArchAwareSchedGateRemovalSuccess"));
    assert.ok(!eventReasons(walk, "one").includes("ArchAwareSchedGateRemovalFailed"));
  });
});

Deno.test("DV-71 serve leaves a pod alone that has left Pending", async () => {
  await whileDown({}, ["left", "later"], async (walk, recover) => {
    const { store } = walk.playground.cluster;
    const pod = store.get(Resource.pods, "walk/left");
    assert.ok(pod !== undefined);
    const spec = { ...Object(pod["spec"]), schedulingGates: [], nodeName: "amd64-1" };
    const bound = store.put(Resource.pods, { ...pod, spec, status: { phase: "Running" } });
    recover();
    await decided(walk, "later");
    const now = store.get(Resource.pods, "walk/left");
    const seen = (one: KubeObject | undefined): readonly unknown[] => [
      ...[one?.metadata.labels, one?.metadata.annotations, one?.["spec"]],
    ];
    assert.deepEqual(seen(now), seen(bound));
  });
});

Deno.test("IN-01..04 140 openConfigs() follows the cluster config as it comes, changes and goes", () =>
  withWalk({ spec: SCORING, namespaces: NAMESPACES }, async (walk) => {
    const access = await readKubeconfigAccess(walk.playground.files.kubeconfig, { clock: systemClock });
    await using api = openTestApi(access);
    const configs = openConfigs({ api, clock: systemClock, log: silentLogger });
    assert.equal(configs.cluster(), undefined);
    const stop = new AbortController();
    const changes: (() => void)[] = [];
    configs.onChange(() => changes.splice(0).forEach((resolve) => resolve()));
    const until = async (holds: () => boolean): Promise<void> => {
      while (!holds()) await new Promise<void>((resolve) => changes.push(resolve));
    };
    const running = configs.run(stop.signal);
    await until(() => configs.cluster()?.scoring.enabled === true);
    const { store } = walk.playground.cluster;
    const [object] = store.list(Resource.clusterConfigs);
    assert.ok(object !== undefined);
    store.put(Resource.clusterConfigs, { ...object, spec: { logVerbosity: "TraceAll" } });
    await until(() => configs.cluster()?.logVerbosity === "TraceAll");
    assert.equal(configs.cluster()?.scoring.enabled, false);
    await remove(walk, "ClusterPodPlacementConfig", "cluster");
    await until(() => configs.cluster() === undefined);
    stop.abort();
    await running;
  }));
