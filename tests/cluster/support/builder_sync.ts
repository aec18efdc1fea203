// The machine config operator's sync of its own builder: while there is a MachineOSConfig, each sync applies the Deployment, scales
// it to 1 and waits for its roll-out, before it looks at pools. Here it syncs again and again, as after each change of its objects.
import { type ClusterAccess, expectStatus, read } from "./cluster_access.ts";
import { CLUSTER_VERSION } from "./simulated_openshift.ts";
import { BUILD_NAMESPACE } from "./build_objects.ts";
import { repeatedly } from "./wait.ts";

export const BUILDER_NAME = "machine-os-builder";
const DEPLOYMENTS = `/apis/apps/v1/namespaces/${BUILD_NAMESPACE}/deployments`;
export const BUILDER = `${DEPLOYMENTS}/${BUILDER_NAME}`;
const CONFIGS = "/apis/machineconfiguration.openshift.io/v1/machineosconfigs";

export function renderBuilder(image: string, name = BUILDER_NAME): Readonly<Record<string, unknown>> {
  const labels = { "k8s-app": name };
  return {
    ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name } },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "builder", image }] } },
    },
  };
}

export class BuilderSync implements AsyncDisposable {
  readonly #cluster: ClusterAccess;
  readonly #running: AsyncDisposable;
  /** What its syncs have left of the Deployment: replicas, generations, versions. */
  readonly replicas = new Set<unknown>();
  readonly generations = new Set<unknown>();
  readonly versions = new Set<unknown>();
  syncs = 0;
  #fault: unknown = "it has not begun";
  /** Of the last sync that went well. */
  #version: unknown;

  constructor(cluster: ClusterAccess, { stepMs }: { readonly stepMs: number }) {
    this.#cluster = cluster;
    this.#running = repeatedly(stepMs, () => this.#look());
  }

  /** Why no sync to this version has gone well; undefined: the last one has. */
  failureOf(version: string): string | undefined {
    const words = String(this.#fault ?? `its last sync was to ${String(this.#version)}`);
    return this.#version === version ? undefined : `could not sync Machine OS Builder: ${words}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running[Symbol.asyncDispose]();
  }

  async #look(): Promise<void> {
    try {
      const version = read(await this.#cluster.get(CLUSTER_VERSION), "status", "desired", "version");
      if ((await this.#cluster.list(CONFIGS)).length > 0) await this.#sync(String(version));
      [this.#version, this.#fault] = [version, undefined];
    } catch (error) {
      [this.#version, this.#fault] = [undefined, error];
    }
  }

  async #sync(version: string): Promise<void> {
    this.syncs++;
    const { template } = Object(renderBuilder(`builder.test/mco:${version}`)["spec"]);
    const { status, body } = await this.#cluster.request("GET", BUILDER);
    if (status === 404) await this.#cluster.create(DEPLOYMENTS, renderBuilder(`builder.test/mco:${version}`));
    else await this.#write(BUILDER, { ...Object(body), spec: { ...Object(body).spec, template } });
    const scale = Object(await this.#cluster.get(`${BUILDER}/scale`));
    if (read(scale, "spec", "replicas") !== 1) {
      const metadata = { name: BUILDER_NAME, namespace: BUILD_NAMESPACE };
      await this.#write(`${BUILDER}/scale`, { ...scale, metadata, spec: { replicas: 1 } });
    }
    const after = await this.#cluster.get(BUILDER);
    this.replicas.add(read(after, "spec", "replicas"));
    this.generations.add(read(after, "metadata", "generation"));
    this.versions.add(read(after, "metadata", "resourceVersion"));
    const { observedGeneration = 0, replicas = 0, updatedReplicas = 0, unavailableReplicas = 0 } = Object(
      read(after, "status"),
    );
    const isBehind = Number(read(after, "metadata", "generation")) > observedGeneration;
    if (isBehind || updatedReplicas !== replicas || unavailableReplicas > 0) {
      throw new Error(`deployment ${BUILDER_NAME} is not ready. status: ${JSON.stringify(read(after, "status"))}`);
    }
  }

  async #write(path: string, object: unknown): Promise<void> {
    expectStatus(`PUT ${path}`, await this.#cluster.request("PUT", path, object), [200]);
  }
}
