// The real `serve` in front of an open playground with its own registries: pods are created and read back when decided.
import { systemClock } from "../../lib/clock.ts";
import { parseConfig } from "../../lib/config/parse.ts";
import { readKubeconfigAccess } from "../../lib/k8s/kubeconfig_access.ts";
import { type KubeObject, Resource, type ResourceType } from "../../lib/k8s/types.ts";
import { openLogger, silentLogger } from "../../lib/log.ts";
import { SCHEDULING_GATE } from "../../lib/names.ts";
import { parsePlacementOptions } from "../../lib/placement/config/options.ts";
import { issueLoopbackCertificates } from "../../lib/playground/certificates.ts";
import { createObject } from "../../lib/playground/create_object.ts";
import { deleteObject } from "../../lib/playground/delete_object.ts";
import { type JsonObject, listAt, textAt } from "../../lib/playground/json_value.ts";
import { openPlayground, type Playground } from "../../lib/playground/playground.ts";
import { openRegistry, type Registry } from "../../lib/playground/registry.ts";
import type { ImageDescription } from "../../lib/playground/registry_images.ts";
import { serve } from "../../serve/serve.ts";
import { kindNamed } from "../lib/playground/make.ts";

/** Namespace of the service itself. */
export const OPERATOR_NAMESPACE = "archway-system";
/** Nothing listens there. */
export const DEAD_HOST = "127.0.0.1:1";

const PATIENCE_MS = 30_000;
const USER = { name: "walker", password: "swordfish" };
const ALL = ["amd64", "arm64", "ppc64le", "s390x"] as const;

/** Repositories, each with the tags `m4`, `r`, `ar`, `rp`, `p` and `ps`; those behind `global` and `local` want credentials. */
const REPOSITORIES = ["hello", "allow", "never", "blocked", "global/hello", "local/hello"];
const TAGS: Readonly<Record<string, readonly string[]>> = {
  m4: ALL,
  r: ["arm64"],
  ar: ["amd64", "arm64"],
  rp: ["arm64", "ppc64le"],
  p: ["ppc64le"],
  ps: ["ppc64le", "s390x"],
};

function walkImages(): readonly ImageDescription[] {
  const bundle = (tag: string, form: ImageDescription["form"], label: string): ImageDescription => ({
    repository: "hello",
    tag,
    architectures: form === "oci-index" ? ["ppc64le", "arm64"] : ["ppc64le"],
    form,
    labels: { [label]: "" },
  });
  return [
    ...REPOSITORIES.flatMap((repository) =>
      Object.entries(TAGS).map(([tag, architectures]): ImageDescription => ({
        repository,
        tag,
        architectures,
        form: architectures.length === 1 ? "oci-manifest" : "docker-list",
        access: repository.startsWith("global") ? "token" : repository.startsWith("local") ? "basic" : "anonymous",
      }))
    ),
    bundle("bundle-index", "oci-index", "operators.operatorframework.io.metrics.builder"),
    bundle("bundle-manifest", "oci-manifest", "operators.operatorframework.io.bundle.package.v1"),
  ];
}

/** Registries and what scenarios need to know of them. */
export interface Walk {
  readonly playground: Playground;
  /** Host of the registry whose authority is known. */
  readonly host: string;
  readonly insecureHost: string;
  readonly untrustedHost: string;
  /** Digest of a tag of `hello`. */
  digestOf(tag: string): string;
}

/** What to open. */
export interface WalkOptions {
  /** Spec of the ClusterPodPlacementConfig. */
  readonly spec: JsonObject;
  /** Namespaces, with their labels. */
  readonly namespaces: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Makes what must be there before the service starts. */
  readonly prepare?: (walk: Walk) => Promise<void>;
  /** What the registry answers instead; undefined lets the request pass. */
  readonly intercept?: (request: Request) => Response | undefined;
}

/** Runs `use` while the service serves; everything is closed afterwards. */
export async function withWalk(options: WalkOptions, use: (walk: Walk) => Promise<void>): Promise<void> {
  const workDir = await Deno.makeTempDir({ prefix: "archway-walk-" });
  try {
    await using playground = await openPlayground({
      clock: systemClock,
      log: silentLogger,
      workDir,
      namespaces: [OPERATOR_NAMESPACE, "openshift-config"],
    });
    const certificate = {
      cert: await Deno.readTextFile(playground.files.certificate),
      key: await Deno.readTextFile(playground.files.key),
    };
    await using trusted = await openWalkRegistry(certificate, options.intercept);
    const stranger = (await issueLoopbackCertificates(systemClock.nowMs())).serving;
    await using insecure = await openWalkRegistry(stranger);
    await using untrusted = await openWalkRegistry(stranger);
    const walk: Walk = {
      playground,
      host: trusted.host,
      insecureHost: insecure.host,
      untrustedHost: untrusted.host,
      digestOf: (tag) => trusted.digestOf("hello", tag) ?? "",
    };
    await furnish(walk, options);
    await serveWhile(walk, { workDir, use });
  } finally {
    await Deno.remove(workDir, { recursive: true });
  }
}

function openWalkRegistry(
  certificate: { readonly cert: string; readonly key: string },
  intercept: (request: Request) => Response | undefined = () => undefined,
): Promise<Registry> {
  return openRegistry({ images: walkImages(), user: USER, clock: systemClock, certificate, intercept });
}

async function furnish(walk: Walk, { spec, namespaces, prepare }: WalkOptions): Promise<void> {
  const { store } = walk.playground.cluster;
  const config = store.get(Resource.clusterConfigs, "cluster");
  if (config === undefined) throw new Error("the playground has no cluster config");
  store.put(Resource.clusterConfigs, { ...config, spec });
  for (const [name, labels] of Object.entries(namespaces)) {
    await create(walk, "Namespace", { metadata: { name, labels } });
  }
  await prepare?.(walk);
}

async function serveWhile(
  walk: Walk,
  { workDir, use }: { readonly workDir: string; readonly use: (walk: Walk) => Promise<void> },
): Promise<void> {
  const registriesConf = `${workDir}/registries.conf`;
  await Deno.writeTextFile(registriesConf, renderRegistriesConf(walk.host));
  const port = freePort();
  const parsed = parseConfig([
    "serve",
    ...walk.playground.serveFlags,
    `--namespace=${OPERATOR_NAMESPACE}`,
    `--registry=${walk.host}`,
    `--registry=${walk.untrustedHost}`,
    `--registry=${DEAD_HOST}`,
    `--insecure-registry=${walk.insecureHost}`,
    `--registries-conf=${registriesConf}`,
    `--listen=127.0.0.1:${port}`,
    "--admin-listen=127.0.0.1:0",
    `--webhook-url=https://127.0.0.1:${port}`,
    "--max-gate-age=4s",
  ], {});
  if (parsed.kind !== "run") throw new Error(JSON.stringify(parsed));
  const placement = parsePlacementOptions(parsed.config);
  if (placement.kind === "invalid") throw new Error(placement.problems.join("; "));
  const stop = new AbortController();
  const log = openLogger({ level: "error", write: () => {} });
  const serving = serve({
    config: parsed.config,
    settings: placement.settings,
    access: await readKubeconfigAccess(walk.playground.files.kubeconfig, { clock: systemClock }),
    clock: systemClock,
    log,
    identity: "archway-walk",
    userAgent: "archway/test",
    lingerMs: 0,
    onListening: () => {},
  }, stop.signal);
  try {
    const hasWebhook = (): boolean => walk.playground.cluster.store.list(Resource.mutatingWebhooks).length > 0;
    await Promise.race([waitFor(walk, hasWebhook), serving]);
    await use(walk);
  } finally {
    stop.abort();
    await serving;
    log.close();
  }
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** Mirrors as ICSP, IDMS and ITMS are rendered to nodes, a blocked repository and a search registry. */
function renderRegistriesConf(host: string): string {
  const entry = (prefix: string, blocked: boolean, mirror?: readonly [string, string]): string =>
    [
      `[[registry]]\nprefix = "${prefix}"\nlocation = "${prefix}"\nblocked = ${blocked}\n`,
      ...(mirror === undefined
        ? []
        : [`[[registry.mirror]]\nlocation = "${mirror[0]}"\npull-from-mirror = "${mirror[1]}"\n`]),
    ].join("");
  return [
    `unqualified-search-registries = ["${host}"]\n`,
    entry(`${DEAD_HOST}/icsp`, false, [`${host}/hello`, "digest-only"]),
    entry(`${DEAD_HOST}/idms`, true, [`${host}/hello`, "digest-only"]),
    entry(`${host}/allow`, false, [`${DEAD_HOST}/allow`, "tag-only"]),
    entry(`${host}/never`, true, [`${DEAD_HOST}/never`, "tag-only"]),
    entry(`${host}/blocked`, true),
  ].join("\n");
}

/** Creates an object as a client of the API server does. */
export function create({ playground }: Walk, kind: string, body: JsonObject, namespace?: string): Promise<KubeObject> {
  return createObject(playground.cluster, kindNamed(kind), { namespace, body });
}

/** Deletes an object as a client of the API server does. */
export function remove(walk: Walk, kind: string, name: string, namespace?: string): Promise<KubeObject> {
  return deleteObject(walk.playground.cluster, kindNamed(kind), { namespace, name });
}

/** A secret of credentials for some repositories, by the keys of its `auths`. */
export function pullSecret(name: string, keys: readonly string[]): JsonObject {
  const auth = btoa(`${USER.name}:${USER.password}`);
  const auths = Object.fromEntries(keys.map((key) => [key, { auth }]));
  return {
    metadata: { name },
    type: "kubernetes.io/dockerconfigjson",
    data: { ".dockerconfigjson": btoa(JSON.stringify({ auths })) },
  };
}

/** Resolves when the condition holds of the stored objects; rejects after half a minute. */
export function waitFor(walk: Walk, holds: () => boolean): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(new Error(`Cannot see it happen: ${holds}`)), PATIENCE_MS);
  const look = (): void => {
    if (holds()) resolve();
  };
  const unsubscribe = walk.playground.cluster.store.subscribe(look);
  look();
  return promise.finally(() => {
    clearTimeout(timer);
    unsubscribe();
  });
}

/** The pod as stored, or undefined while it is gated. */
export function decidedPod(walk: Walk, namespace: string, name: string): KubeObject | undefined {
  const pod = walk.playground.cluster.store.get(Resource.pods, `${namespace}/${name}`);
  const gates = listAt(pod, "spec", "schedulingGates").map((gate) => textAt(gate, "name"));
  return gates.includes(SCHEDULING_GATE) ? undefined : pod;
}

/** Objects of a kind, as stored. */
export function stored(walk: Walk, type: ResourceType): readonly KubeObject[] {
  return walk.playground.cluster.store.list(type);
}
