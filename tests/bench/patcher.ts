// The floor of B2: a plain patcher. It watches pods that were created gated and takes the gate off, so many at a time.
import pLimit from "p-limit";
import { SCHEDULING_GATE } from "../../lib/names.ts";
import type { ClusterAccess } from "../cluster/support/cluster_access.ts";

/** Patches until the signal aborts. */
export async function runPatcher(
  cluster: ClusterAccess,
  { workers, signal }: { readonly workers: number; readonly signal: AbortSignal },
): Promise<void> {
  const client = Deno.createHttpClient({ caCerts: [cluster.caPem], http2: false });
  const headers = { authorization: `Bearer ${cluster.adminToken}` };
  const limit = pLimit(workers);
  const seen = new Set<string>();
  const patches: Promise<void>[] = [];
  const patch = async (path: string): Promise<void> => {
    const body = JSON.stringify([
      { op: "test", path: "/spec/schedulingGates/0/name", value: SCHEDULING_GATE },
      { op: "remove", path: "/spec/schedulingGates/0" },
      {
        op: "add",
        path: "/spec/affinity",
        value: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{
                matchExpressions: [{ key: "kubernetes.io/arch", operator: "In", values: ["amd64", "arm64"] }],
              }],
            },
          },
        },
      },
    ]);
    const response = await fetch(`${cluster.url}${path}`, {
      method: "PATCH",
      headers: { ...headers, "content-type": "application/json-patch+json" },
      body,
      client,
      signal: AbortSignal.timeout(30_000),
    });
    await response.text();
  };
  const see = (pod: { metadata: { name: string; namespace: string; uid: string } }): void => {
    const { name, namespace, uid } = pod.metadata;
    if (seen.has(uid)) return;
    seen.add(uid);
    patches.push(limit(() => patch(`/api/v1/namespaces/${namespace}/pods/${name}`)));
  };
  const path = `${cluster.url}/api/v1/pods?labelSelector=bench%2Fgated%3Dyes`;
  const followOnce = async (): Promise<void> => {
    const list = await (await fetch(path, { headers, client, signal })).json();
    for (const pod of list.items) see(pod);
    const watch = `${path}&watch=1&resourceVersion=${list.metadata.resourceVersion}`;
    const response = await fetch(watch, { headers, client, signal });
    let rest = "";
    for await (const text of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const { type, object } = JSON.parse(line);
        if (type === "ADDED" || type === "MODIFIED") see(object);
      }
    }
  };
  // In a burst the API server drops watchers that read too slowly: the next list shows what was missed.
  while (!signal.aborted) await followOnce().catch(() => undefined);
  await Promise.all(patches);
  client.close();
}
