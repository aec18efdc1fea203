import assert from "node:assert/strict";
import type { KubeObject } from "../../lib/k8s/types.ts";
import { MemoryCluster } from "../support/memory_kube_api.ts";
import type { CheckDeps } from "./checks.ts";
import { parseOptions } from "./options.ts";

interface Seen {
  readonly pod: KubeObject;
  readonly events?: readonly string[];
  readonly args?: readonly string[];
  readonly api?: CheckDeps["api"];
}

/** A cluster in which every pod is this one at once, with these events. */
export function makeDeps({ pod, events = [], args = [], api = new MemoryCluster().api }: Seen): CheckDeps {
  const parsed = parseOptions(args);
  const options = parsed.kind === "run" ? parsed.options : assert.fail(JSON.stringify(parsed));
  const cluster: CheckDeps["cluster"] = {
    namespace: "archway-e2e-1",
    clusterConfig: () => Promise.resolve(pod),
    create: () => Promise.resolve(),
    read: () => Promise.resolve(pod),
    events: () => Promise.resolve(events),
    architectureOf: () => Promise.resolve(undefined),
    until: (probe) => probe(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const { signal } = new AbortController();
  return { api, signal, cluster, options, readMetrics: () => Promise.resolve("") };
}
