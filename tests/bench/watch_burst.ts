// Watches the pods of a burst and notes when each is without Archway's gate.
import { SCHEDULING_GATE } from "../../lib/names.ts";
import type { ClusterAccess } from "../cluster/support/cluster_access.ts";

/** What was seen of a burst. */
export interface BurstWatch extends AsyncDisposable {
  /** The creation of a pod was answered. */
  created(name: string): void;
  /** Pods seen without the gate. */
  released(): number;
  /** For each pod that was ever seen gated: from its creation's answer until its release was seen. */
  gateTimesMs(): Iterable<number>;
}

/** Follows the pods of a namespace by watches, one after the other where one ends. */
export async function watchBurst(cluster: ClusterAccess, namespace: string): Promise<BurstWatch> {
  const stop = new AbortController();
  const client = Deno.createHttpClient({ caCerts: [cluster.caPem], http2: false });
  const createdMs = new Map<string, number>();
  const gated = new Set<string>();
  const releasedMs = new Map<string, number>();
  const path = `${cluster.url}/api/v1/namespaces/${namespace}/pods`;
  const headers = { authorization: `Bearer ${cluster.adminToken}` };

  function see(pod: { metadata: { name: string }; spec: { schedulingGates?: { name: string }[] } }): void {
    const { name } = pod.metadata;
    const holds = (pod.spec.schedulingGates ?? []).some((gate) => gate.name === SCHEDULING_GATE);
    if (holds) gated.add(name);
    else if (!releasedMs.has(name)) releasedMs.set(name, performance.now());
  }

  /** One list and the watch after it. In a burst the API server drops watchers that read too slowly: then the next one. */
  async function followOnce(): Promise<void> {
    const list = await (await fetch(path, { headers, client, signal: stop.signal })).json();
    for (const pod of list.items) see(pod);
    const query = `watch=1&resourceVersion=${list.metadata.resourceVersion}`;
    const response = await fetch(`${path}?${query}`, { headers, client, signal: stop.signal });
    let rest = "";
    for await (const text of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const event = JSON.parse(line);
        if (event.type === "ERROR") break;
        if (event.type !== "DELETED") see(event.object);
      }
    }
  }
  async function follow(): Promise<void> {
    while (!stop.signal.aborted) await followOnce().catch(() => undefined);
  }
  const following = follow();
  await Promise.resolve();
  return {
    created: (name) => void createdMs.set(name, performance.now()),
    released: () => releasedMs.size,
    gateTimesMs: () =>
      [...gated].map((name) => Math.max(0, (releasedMs.get(name) ?? NaN) - (createdMs.get(name) ?? NaN))),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await following;
      client.close();
    },
  };
}
