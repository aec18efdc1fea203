// What there is to build in the playground: a pool of two architectures, and what its MachineOSConfig needs.
import { parseAllDocuments } from "yaml";
import { ImageBuildsSchema } from "../../lib/config/image_builds.ts";
import { GLOBAL_PULL_SECRET_COPY } from "../../lib/builds/decide/names.ts";
import { type Cluster, requireKubeObject } from "../cluster.ts";
import { createObject } from "../create_object.ts";
import { kindNamed } from "../kinds.ts";
import type { Registry } from "../registry.ts";
import { samplePullSecret } from "../sample_cluster.ts";
import POOL from "./pool.yaml" with { type: "text" };

export const SAMPLE_POOL = "worker";

/** The architectures of the pool's nodes. The cluster has a node of another architecture besides. */
export const SAMPLE_ARCHITECTURES: readonly string[] = ["amd64", "arm64"];

/** Names no image that exists: what runs there is simulated. */
export const SAMPLE_BUILDER = "builder.invalid/builder:v1";

export async function createImageBuildSample(
  cluster: Cluster,
  registry: Pick<Registry, "host" | "push">,
): Promise<void> {
  const { namespace } = ImageBuildsSchema.parse({});
  const { host } = registry;
  const base = { repository: "base/os", tag: "v1", architectures: SAMPLE_ARCHITECTURES, form: "oci-index" } as const;
  const osImageURL = `${host}/${base.repository}@${await registry.push(base)}`;
  await createObject(cluster, kindNamed("Namespace"), { body: { metadata: { name: namespace } } });
  for (const name of ["push", GLOBAL_PULL_SECRET_COPY]) {
    const body = { ...samplePullSecret(host), metadata: { name } };
    await createObject(cluster, kindNamed("Secret"), { namespace, body });
  }
  const filled = POOL.replaceAll("REGISTRY/", `${host}/`).replaceAll("OS_IMAGE", osImageURL);
  for (const document of parseAllDocuments(filled)) {
    const body = requireKubeObject(document.toJS());
    await createObject(cluster, kindNamed(body.kind ?? ""), { body });
  }
}
