// Simulates what runs in the pods of image builds: compiles nothing, pushes an image for its node and reports the
// digest.
import { ImageLabel } from "../../lib/builds/decide/names.ts";
import { keyOf, type KubeObject, Resource } from "../../lib/k8s/types.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import { cutReference } from "../../lib/oci/reference.ts";
import type { Cluster } from "../cluster.ts";
import { listAtPath, objectAtPath, textAtPath } from "../json_path.ts";
import { kindNamed } from "../kinds.ts";
import type { Registry } from "../registry.ts";
import { patchObject } from "../update_object.ts";
import { JobLabel } from "../workloads.ts";

export interface SimulatedBuild {
  readonly architecture: string;
  readonly node: string;
  readonly digest: string;
}

interface ImageBuilder extends AsyncDisposable {
  simulated(): readonly SimulatedBuild[];
}

interface ImageBuilderOptions {
  readonly registry: Pick<Registry, "host" | "push">;
  readonly buildMs: number;
  readonly log: Logger;
}

export function openImageBuilder(cluster: Cluster, { registry, buildMs, log }: ImageBuilderOptions): ImageBuilder {
  const simulated: SimulatedBuild[] = [];
  const closing = new AbortController();
  const underWay = new Map<string, Promise<void>>();
  const run = async (pod: KubeObject): Promise<void> => {
    await cluster.clock.sleep(buildMs, closing.signal);
    if (!closing.signal.aborted) simulated.push(await build(cluster, pod, registry));
  };
  const unsubscribe = cluster.store.subscribe(({ type, object }) => {
    const { uid = "" } = object.metadata;
    const isRunning = type.plural === "pods" && textAtPath(object, "status", "phase") === "Running";
    if (!isRunning || !environmentOf(object).has("DIGEST_CONFIGMAP_NAME") || underWay.has(uid)) return;
    const running = run(object).catch((error: unknown) => {
      log.warn("playground cannot build an image", { pod: keyOf(object), error: errorText(error) });
    });
    underWay.set(uid, running);
  });
  return {
    simulated: () => [...simulated],
    [Symbol.asyncDispose]: async () => {
      unsubscribe();
      closing.abort();
      await Promise.all(underWay.values());
    },
  };
}

async function build(
  cluster: Cluster,
  pod: KubeObject,
  registry: ImageBuilderOptions["registry"],
): Promise<SimulatedBuild> {
  const { store } = cluster;
  const node = textAtPath(pod, "spec", "nodeName") ?? "";
  const architecture = textAtPath(store.get(Resource.nodes, node), "status", "nodeInfo", "architecture") ?? "";
  const env = environmentOf(pod);
  const { name: repository, tag = "" } = cutReference((env.get("TAG") ?? "").replace(`${registry.host}/`, ""));
  const buildKey = env.get("BUILD_KEY") ?? "";
  const digest = await registry.push({
    repository,
    tag,
    architectures: [architecture],
    form: "oci-manifest",
    labels: { [ImageLabel.buildKey]: buildKey, [ImageLabel.architecture]: architecture },
  });
  const pairs = (env.get("DIGEST_CONFIGMAP_LABELS") ?? "").split(",").map((pair) => pair.split("="));
  const name = env.get("DIGEST_CONFIGMAP_NAME") ?? "";
  const metadata = { name, labels: Object.fromEntries(pairs) };
  const jobUID = pod.metadata.labels?.[JobLabel.uid] ?? "";
  const data = { digest, arch: env.get("ARCH") ?? "", buildKey, jobUID };
  const { namespace } = pod.metadata;
  const body = JSON.stringify({ metadata, data });
  await patchObject(cluster, kindNamed("ConfigMap"), { namespace, name, patchKind: "apply", body });
  const current = store.get(Resource.pods, keyOf(pod)) ?? pod;
  store.put(Resource.pods, { ...current, status: { ...objectAtPath(current, "status"), phase: "Succeeded" } });
  return { architecture, node, digest };
}

function environmentOf(pod: KubeObject): ReadonlyMap<string, string> {
  const variables = listAtPath(pod, "spec", "initContainers", 0, "env");
  return new Map(variables.map((one) => [textAtPath(one, "name") ?? "", textAtPath(one, "value") ?? ""]));
}
