import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import { type ClusterAccess, expectStatus, read } from "./support/cluster_access.ts";
import { type PodSpec, renderPod } from "./support/pods.ts";
import { pause, repeatedly, waitUntil } from "./support/wait.ts";
import { openWorkingBed } from "./support/walk_bed.ts";

const SCHEDULING_GATE = "multiarch.openshift.io/scheduling-gate";
const MAX_GATE_AGE_MS = 30_000;
const PODS = 600;
const NAMESPACES = 10;
const EVERY_MS = 20;
/** Longer than any test. */
const NEVER_MS = 3_600_000;
/** One pod of the quick registry for so many others. */
const QUICK_EVERY = 30;

const INDEX = {
  schemaVersion: 2,
  mediaType: "application/vnd.oci.image.index.v1+json",
  manifests: ["amd64", "arm64"].map((architecture) => ({
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    digest: `sha256:${"0".repeat(64)}`,
    size: 1,
    platform: { os: "linux", architecture },
  })),
};

interface StubRegistry extends AsyncDisposable {
  readonly host: string;
  readonly askedMs: ReadonlyMap<string, number>;
}

/** A registry that has every image, answers each request after `lagMs`, with a status of its own. */
function startStubRegistry(lagMs: number, status = 200): StubRegistry {
  const stop = new AbortController();
  const askedMs = new Map<string, number>();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, signal: stop.signal, onListen: () => {} },
    async (request) => {
      const { pathname } = new URL(request.url);
      if (!askedMs.has(pathname)) askedMs.set(pathname, performance.now());
      await setTimeout(lagMs, undefined, { signal: stop.signal }).catch(() => {});
      if (status !== 200) return new Response(null, { status });
      return Response.json({ ...INDEX, annotations: { of: pathname } }, {
        headers: { "content-type": INDEX.mediaType },
      });
    },
  );
  return {
    host: `127.0.0.1:${server.addr.port}`,
    askedMs,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await server.finished;
    },
  };
}

/** From the answer to a creation until the gate was seen gone (ms, a look too late at most), by `namespace/name`. */
class Releases {
  readonly createdMs = new Map<string, number>();
  /** How long the API server took for each creation: what the machine can do at all. */
  readonly creationMs: number[] = [];
  readonly heldMs = new Map<string, number>();

  async create(
    cluster: ClusterAccess,
    namespace: string,
    pod: PodSpec,
  ): Promise<void> {
    const body = renderPod(pod);
    const sentMs = performance.now();
    const answer = await cluster.request("POST", `/api/v1/namespaces/${namespace}/pods`, body);
    this.creationMs.push(performance.now() - sentMs);
    expectStatus(`create ${pod.name}`, answer, [201]);
    this.createdMs.set(`${namespace}/${pod.name}`, performance.now());
  }

  /** Looks once at a namespace, or at all. Whether all pods that were created there are free. */
  async look(cluster: ClusterAccess, namespace?: string): Promise<boolean> {
    const sentMs = performance.now();
    const selector = encodeURIComponent(`${SCHEDULING_GATE}=gated`);
    const path = namespace === undefined ? "/api/v1/pods" : `/api/v1/namespaces/${namespace}/pods`;
    const items = read(await cluster.get(`${path}?labelSelector=${selector}`), "items");
    if (!Array.isArray(items)) return false;
    const gated = new Set(items.map((pod) => `${read(pod, "metadata", "namespace")}/${read(pod, "metadata", "name")}`));
    let isDone = true;
    for (const [key, createdMs] of this.createdMs) {
      if (namespace !== undefined && !key.startsWith(`${namespace}/`)) continue;
      if (!this.heldMs.has(key) && createdMs <= sentMs && !gated.has(key)) {
        this.heldMs.set(key, performance.now() - createdMs);
      }
      isDone &&= this.heldMs.has(key);
    }
    return isDone;
  }

  /** Looks at a namespace often, and at all from time to time, until the function that it gives is called. */
  keepLooking(cluster: ClusterAccess, often: string): () => Promise<void> {
    const looking = [{ namespace: often, everyMs: 50 }, { namespace: undefined, everyMs: 500 }].map(
      ({ namespace, everyMs }) => repeatedly(everyMs, () => this.look(cluster, namespace).catch(() => false)),
    );
    return async () => {
      for (const one of looking) await one[Symbol.asyncDispose]();
    };
  }

  /** How long the pods of a namespace were held, or all. */
  held(namespace = ""): readonly number[] {
    return [...this.heldMs].filter(([key]) => key.startsWith(namespace)).map(([, ms]) => ms);
  }
}

function spreadOf(times: readonly number[]): { readonly median: number; readonly worst: number } {
  const sorted = [...times].map(Math.round).sort((a, b) => a - b);
  return { median: sorted[Math.floor(sorted.length / 2)] ?? Infinity, worst: sorted.at(-1) ?? Infinity };
}

Deno.test("a burst of 600 pods of slow, failing and silent registries delay no other namespace and pass no deadline", async () => {
  await using quick = startStubRegistry(20);
  await using slow = startStubRegistry(5_000);
  await using failing = startStubRegistry(50, 503);
  await using silent = startStubRegistry(NEVER_MS);
  const hosts = [quick, slow, failing, silent].map(({ host }) => host);
  await using bed = await openWorkingBed({
    replica: {
      args: [`--max-gate-age=${MAX_GATE_AGE_MS / 1_000}s`, ...hosts.map((host) => `--insecure-registry=${host}`)],
    },
  });
  const { controlPlane } = bed;
  const bad = await Promise.all(
    Array.from({ length: NAMESPACES }, (_, at) => controlPlane.createNamespace(`bad-${at}`)),
  );
  const good = await controlPlane.createNamespace("good");
  const releases = new Releases();
  const stopLooking = releases.keepLooking(controlPlane, good);
  const creations: Promise<void>[] = [];
  const startedMs = performance.now();
  for (let at = 0; at < PODS; at++) {
    const host = [slow, failing, silent][at % 3]?.host ?? "";
    const namespace = bad[at % NAMESPACES] ?? "";
    creations.push(releases.create(controlPlane, namespace, { name: `p${at}`, images: [`${host}/team/app-${at}:v1`] }));
    if (at % QUICK_EVERY === QUICK_EVERY / 2) {
      creations.push(
        releases.create(controlPlane, good, { name: `p${at}`, images: [`${quick.host}/team/app-${at}:v1`] }),
      );
    }
    await pause(Math.max(0, startedMs + at * EVERY_MS - performance.now()));
  }
  await Promise.all(creations);
  await waitUntil("every gate to go", () => releases.look(controlPlane), { deadlineMs: 60_000, intervalMs: 200 })
    .finally(stopLooking);
  const toRegistry = [...quick.askedMs].filter(([path]) => path.includes("/manifests/")).map(([path, ms]) => {
    const [, number = ""] = /app-(\d+)/.exec(path) ?? [];
    return ms - (releases.createdMs.get(`${good}/p${number}`) ?? Infinity);
  });
  const { median, worst } = spreadOf(releases.held(`${good}/`));
  const shown = JSON.stringify({
    quick: { median, worst },
    untilAsked: spreadOf(toRegistry),
    all: spreadOf(releases.held()),
    creation: spreadOf(releases.creationMs),
  });
  assert.ok(median <= 1_000 && worst <= 3_000, shown);
  assert.ok(spreadOf(releases.held()).worst <= MAX_GATE_AGE_MS + 1_000, shown);
});
