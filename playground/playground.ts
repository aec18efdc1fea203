// The cluster of `archway dev`: API server, scheduler, kubelets and registry in this process, and files for `serve` and
// kubectl.
import { join } from "node:path";
import type { Clock } from "../lib/clock.ts";
import { type KubeObject, Resource } from "../lib/k8s/types.ts";
import { errorText, type Logger } from "../lib/log.ts";
import { openAdmission } from "./admission.ts";
import { openApiServer } from "./api_server.ts";
import { issueLoopbackCertificates, type LoopbackCertificates } from "./listen.ts";
import type { Cluster } from "./cluster.ts";
import { createObject } from "./create_object.ts";
import { openGarbageCollector } from "./owners.ts";
import { type JsonObject, listAtPath, textAtPath } from "./json_path.ts";
import { kindNamed } from "./kinds.ts";
import { openKubelets, type PulledImage } from "./kubelet.ts";
import { isSettled, observedOf, type ObservedSample, readOutcome, type SampleOutcome } from "./outcomes.ts";
import { openRegistry, type Registry } from "./registry.ts";
import {
  earlierPods,
  EXCHANGE_ANNOTATION,
  REGISTRY_USER,
  renderDockerConfig,
  renderPolicy,
  SAMPLE_NAMESPACE,
  sampleCluster,
  sampleNodes,
  samplePods,
  samplePullSecret,
} from "./sample_cluster.ts";
import type { Scenario } from "./samples.ts";
import { openScheduler } from "./scheduler.ts";
import { ObjectStore, waitFor } from "./store.ts";
import { patchObject } from "./update_object.ts";
import { openWorkloads } from "./workloads.ts";

interface PlaygroundOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** An existing directory for kubeconfig and certificates; the caller removes it. */
  readonly workDir: string;
  /** Namespaces to have besides `default`, `kube-system` and that of the samples: Archway's own. */
  readonly namespaces?: readonly string[];
  readonly scenario?: Scenario;
}

export interface PlaygroundFiles {
  readonly kubeconfig: string;
  /** Certificate and key for the webhook listener on loopback, and the authority that signed them. */
  readonly certificate: string;
  readonly key: string;
  /** The authority that signed `certificate` and the registry's certificate, PEM. */
  readonly authority: string;
  /** A file of `--config`, which names a `config.json` with the login of the registry's user. */
  readonly settings: string;
  /** policy.json, which requires signatures for images of one repository. */
  readonly policy: string;
}

export interface Playground extends AsyncDisposable {
  readonly apiUrl: string;
  readonly registryHost: string;
  readonly files: PlaygroundFiles;
  readonly cluster: Cluster;
  readonly registry: Registry;
  /** Waits until a webhook watches over new pods, then creates the samples. Rejects when the signal aborts. */
  applySamples(signal: AbortSignal): Promise<void>;
  /** Resolves when every sample is decided, and bound or found unschedulable. Rejects when the signal aborts. */
  waitUntilSettled(signal: AbortSignal): Promise<void>;
  outcomes(): readonly SampleOutcome[];
}

/**
 * Opens everything and stores nodes, namespaces and the cluster config; pods come with {@link Playground.applySamples}.
 */
export async function openPlayground(options: PlaygroundOptions): Promise<Playground> {
  const { clock, log, workDir, namespaces = [], scenario } = options;
  await using stack = new AsyncDisposableStack();
  const certificates = await issueLoopbackCertificates(clock.nowMs());
  const registry = stack.use(
    await openRegistry({
      images: sampleCluster().images,
      user: REGISTRY_USER,
      certificate: certificates.serving,
    }),
  );
  const store = new ObjectStore();
  const admission = stack.use(openAdmission(store, { log }));
  const cluster: Cluster = { store, clock, admission };
  stack.use(openControllers(cluster, { registry, log }));
  await populate(cluster, { registryHost: registry.host, namespaces, scenario });
  const apiServer = stack.use(await openApiServer(cluster, { log, certificate: certificates.serving }));
  const files = await writeFiles(workDir, { apiUrl: apiServer.url, certificates, registryHost: registry.host });
  const samples = (): readonly KubeObject[] =>
    store.list(Resource.pods).filter((pod) => pod.metadata.namespace === SAMPLE_NAMESPACE);
  const observed = (pod: KubeObject): ObservedSample =>
    observedOf(pod, { events: store.list(Resource.events), configs: store.list(Resource.clusterConfigs) });
  const owned = stack.move();
  return {
    apiUrl: apiServer.url,
    registryHost: registry.host,
    files,
    cluster,
    registry,
    applySamples: (signal) => applySamples(cluster, { registryHost: registry.host, scenario, signal }),
    waitUntilSettled: (signal) => waitFor(store, () => samples().every((pod) => isSettled(pod, observed(pod))), signal),
    outcomes: () => samples().map((pod) => readOutcome(pod, store.list(Resource.nodes), observed(pod))),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function openControllers(
  cluster: Cluster,
  { registry, log }: { readonly registry: Registry; readonly log: Logger },
): AsyncDisposable {
  const stack = new AsyncDisposableStack();
  stack.use(openScheduler(cluster, { log }));
  const { images } = sampleCluster();
  const programs = new Map(images.map(({ repository, tag, programs }) => [`${repository}:${tag}`, programs]));
  stack.use(openKubelets(cluster, { pull: (image) => pullFrom(registry, programs, image) }));
  stack.use(openWorkloads(cluster, { log }));
  stack.use(openExchanges(cluster, { log }));
  stack.use(openGarbageCollector(cluster, { log }));
  return stack;
}

/** Exchanges the image of annotated pods once they run, as their user would. */
function openExchanges(cluster: Cluster, { log }: { readonly log: Logger }): Disposable {
  const unsubscribe = cluster.store.subscribe(({ type, object }) => {
    const { name, namespace, annotations } = object.metadata;
    const image = annotations?.[EXCHANGE_ANNOTATION];
    if (
      type.plural !== Resource.pods.plural || image === undefined || textAtPath(object, "status", "podIP") === undefined
    ) {
      return;
    }
    const path = "/spec/containers/0/image";
    if (textAtPath(listAtPath(object, "spec", "containers")[0], "image") === image) return;
    const body = JSON.stringify([{ op: "replace", path, value: image }]);
    patchObject(cluster, kindNamed("Pod"), { patchKind: "json", namespace, name, body })
      .catch((error: unknown) => log.warn("image not exchanged", { pod: name, error: errorText(error) }));
  });
  return { [Symbol.dispose]: unsubscribe };
}

function pullFrom(
  registry: Registry,
  programs: ReadonlyMap<string, readonly string[] | undefined>,
  image: string,
): PulledImage {
  if (!image.startsWith(`${registry.host}/`)) return { kind: "unknown" };
  const reference = image.slice(registry.host.length + 1);
  const architectures = registry.architecturesOf(reference);
  return architectures === undefined
    ? { kind: "missing" }
    : { kind: "runs", architectures, programs: programs.get(reference) };
}

async function create(cluster: Cluster, kindName: string, body: JsonObject, namespace?: string): Promise<void> {
  await createObject(cluster, kindNamed(kindName), { namespace, body });
}

interface PopulateOptions {
  readonly registryHost: string;
  readonly scenario: Scenario | undefined;
}

async function populate(
  cluster: Cluster,
  options: PopulateOptions & { readonly namespaces: readonly string[] },
): Promise<void> {
  for (const name of new Set(["default", "kube-system", SAMPLE_NAMESPACE, ...options.namespaces])) {
    await create(cluster, "Namespace", { metadata: { name } });
  }
  const nodes = options.scenario === "upgrade" ? [] : sampleNodes(options.scenario);
  for (const node of nodes) await create(cluster, "Node", node);
  await create(cluster, "Secret", samplePullSecret(options.registryHost), SAMPLE_NAMESPACE);
  for (const pod of earlierPods(options.registryHost, options.scenario)) {
    await create(cluster, "Pod", pod, SAMPLE_NAMESPACE);
  }
  await create(cluster, "ClusterPodPlacementConfig", sampleCluster().config);
}

async function applySamples(
  cluster: Cluster,
  options: PopulateOptions & { readonly signal: AbortSignal },
): Promise<void> {
  const watched = (): boolean =>
    cluster.store.list(Resource.mutatingWebhooks).some((object) => listAtPath(object, "webhooks").length > 0);
  const isTainted = (node: KubeObject): boolean => listAtPath(node, "spec", "taints").length > 0;
  const tainted = (): boolean => options.scenario !== "taints" || cluster.store.list(Resource.nodes).every(isTainted);
  await waitFor(cluster.store, () => watched() && tainted(), options.signal);
  const pods = samplePods(options.registryHost, options.scenario);
  await Promise.all(pods.map((pod) => create(cluster, "Pod", pod, SAMPLE_NAMESPACE)));
}

async function writeFiles(
  workDir: string,
  options: { readonly apiUrl: string; readonly certificates: LoopbackCertificates; readonly registryHost: string },
): Promise<PlaygroundFiles> {
  const files = {
    kubeconfig: join(workDir, "kubeconfig"),
    certificate: join(workDir, "webhook.crt"),
    key: join(workDir, "webhook.key"),
    authority: join(workDir, "ca.crt"),
    settings: join(workDir, "archway.yaml"),
    policy: join(workDir, "policy.json"),
  };
  const dockerConfig = join(workDir, "config.json");
  const { authority, serving } = options.certificates;
  await Promise.all([
    Deno.writeTextFile(files.kubeconfig, renderKubeconfig(options.apiUrl, authority), { mode: 0o600 }),
    Deno.writeTextFile(files.certificate, serving.cert),
    Deno.writeTextFile(files.key, serving.key, { mode: 0o600 }),
    Deno.writeTextFile(files.authority, authority),
    Deno.writeTextFile(files.settings, `dockerConfig: ${dockerConfig}\n`),
    Deno.writeTextFile(files.policy, `${renderPolicy(options.registryHost)}\n`),
    Deno.writeTextFile(dockerConfig, `${renderDockerConfig(options.registryHost)}\n`, { mode: 0o600 }),
  ]);
  return files;
}

/** A kubeconfig as JSON, which is YAML. The playground requires no credential, but clients do. */
function renderKubeconfig(server: string, authority: string): string {
  const name = "archway-playground";
  const cluster = { server, "certificate-authority-data": btoa(authority) };
  return `${
    JSON.stringify(
      {
        apiVersion: "v1",
        kind: "Config",
        clusters: [{ name, cluster }],
        users: [{ name, user: { token: "playground" } }],
        contexts: [{ name, context: { cluster: name, user: name, namespace: SAMPLE_NAMESPACE } }],
        "current-context": name,
      },
      null,
      2,
    )
  }\n`;
}
