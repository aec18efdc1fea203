// The service's own Kubernetes client and reflector against the playground: what `serve` will do there.
import assert from "node:assert/strict";
import { systemClock } from "../../lib/clock.ts";
import { classifyWriteFailure } from "../../lib/k8s/errors.ts";
import { readKubeconfigAccess } from "../../lib/k8s/kubeconfig_access.ts";
import { Reflector } from "../../lib/k8s/reflector.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { silentLogger } from "../../lib/log.ts";
import { openPlayground } from "../../playground/playground.ts";
import { openTestApi } from "../support/cluster_api.ts";
import { GATE, podBody } from "./make.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

const clock = systemClock;
const log = silentLogger;

Deno.test("lib/k8s reads the playground's kubeconfig, reflects its pods and recognises a stale write", async () => {
  await using workDir = await temporaryFolder();
  await using playground = await openPlayground({ clock, log, workDir: workDir.path });
  const access = await readKubeconfigAccess(playground.files.kubeconfig, { clock });
  await using api = openTestApi(access);
  const stop = new AbortController();
  const { signal } = stop;
  const gone = Promise.withResolvers<void>();
  const labels = { [GATE]: "gated" };
  const reflector = new Reflector<string>({
    keep: { kind: "all" },
    api,
    resource: Resource.pods,
    labelSelector: `${GATE}=gated`,
    parse: (pod) => pod.metadata.name,
    onChange: (change) => {
      if (change.kind === "delete") gone.resolve();
    },
    clock,
    log,
    name: "pods",
  });
  const running = reflector.run(signal);
  const target = { namespace: "demo", name: "a" };
  const pod = podBody("a", { schedulingGates: [{ name: GATE }] }, { labels });
  await api.create(Resource.pods, pod, { namespace: "demo", signal });
  await reflector.synced(signal);
  const stale = [{ op: "test", path: "/metadata/name", value: "other" }] as const;
  await assert.rejects(
    api.patch(Resource.pods, target, { body: { kind: "json", operations: stale }, signal }),
    (error) => classifyWriteFailure(error) === "stale",
  );
  const release = [
    { op: "remove", path: "/spec/schedulingGates" },
    { op: "replace", path: `/metadata/labels/${GATE.replace("/", "~1")}`, value: "removed" },
  ] as const;
  await api.patch(Resource.pods, target, { body: { kind: "json", operations: release }, signal });
  await gone.promise;
  stop.abort();
  await running;
});
