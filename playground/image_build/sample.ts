// What there is to build in the playground: a pool of two architectures, what its nodes are to be configured with, and the
// MachineOSConfig that requests an image.
import { ImageBuildsSchema } from "../../lib/config/image_builds.ts";
import { GLOBAL_PULL_SECRET_COPY, MCO_API_VERSION, McoAnnotation } from "../../lib/builds/decide/names.ts";
import { NODE_ARCH_LABEL } from "../../lib/names.ts";
import type { Cluster } from "../cluster.ts";
import { createObject } from "../create_object.ts";
import type { JsonObject } from "../json_value.ts";
import { kindNamed } from "../kinds.ts";
import type { Registry } from "../registry.ts";
import { samplePullSecret } from "../samples.ts";

/** The pool, and its MachineOSConfig. */
export const SAMPLE_POOL = "worker";

/** The architectures of its nodes: the cluster has a node of another one besides. */
export const SAMPLE_ARCHITECTURES: readonly string[] = ["amd64", "arm64"];

/** Names no image that exists: what runs there is played. */
export const SAMPLE_BUILDER = "builder.invalid/builder:v1";

const RENDERED = "rendered-worker-1";
const PUSH_SECRET = "push";

const CONTAINER_FILE = [
  { containerfileArch: "NoArch", content: "FROM configs AS final\nRUN echo built > /etc/built\n" },
  { containerfileArch: "ARM64", content: "FROM configs AS final\nRUN echo built for arm64 > /etc/built\n" },
];

/** Creates all of it, the MachineOSConfig last. */
export async function createImageBuildSample(
  cluster: Cluster,
  registry: Pick<Registry, "host" | "push">,
): Promise<void> {
  const { namespace } = ImageBuildsSchema.parse({});
  const { host } = registry;
  const base = { repository: "base/os", tag: "v1", architectures: SAMPLE_ARCHITECTURES, form: "oci-index" } as const;
  const osImageURL = `${host}/${base.repository}@${await registry.push(base)}`;
  await createObject(cluster, kindNamed("Namespace"), { body: { metadata: { name: namespace } } });
  for (const name of [PUSH_SECRET, GLOBAL_PULL_SECRET_COPY]) {
    const body = { ...samplePullSecret(host), metadata: { name } };
    await createObject(cluster, kindNamed("Secret"), { namespace, body });
  }
  for (const [kind, body] of Object.entries(poolObjects(osImageURL, `${host}/demo/os:latest`))) {
    await createObject(cluster, kindNamed(kind), { body: { apiVersion: MCO_API_VERSION, kind, ...body } });
  }
}

function poolObjects(osImageURL: string, pushSpec: string): Readonly<Record<string, JsonObject>> {
  const matchExpressions = [{ key: NODE_ARCH_LABEL, operator: "In", values: SAMPLE_ARCHITECTURES }];
  return {
    MachineConfig: {
      metadata: {
        name: RENDERED,
        annotations: { [McoAnnotation.releaseVersion]: "4.20.0", [McoAnnotation.controllerVersion]: "1" },
      },
      spec: { osImageURL, kernelArguments: [], extensions: [], config: { ignition: { version: "3.4.0" } } },
    },
    MachineConfigPool: {
      metadata: { name: SAMPLE_POOL },
      spec: {
        configuration: { name: RENDERED, source: [] },
        nodeSelector: { matchLabels: { "node-role.kubernetes.io/worker": "" }, matchExpressions },
      },
    },
    MachineOSConfig: {
      metadata: { name: SAMPLE_POOL },
      spec: {
        machineConfigPool: { name: SAMPLE_POOL },
        imageBuilder: { imageBuilderType: "Job" },
        renderedImagePushSecret: { name: PUSH_SECRET },
        renderedImagePushSpec: pushSpec,
        containerFile: CONTAINER_FILE,
      },
    },
  };
}
