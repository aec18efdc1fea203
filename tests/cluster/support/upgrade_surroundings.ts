// What an upgrade asks beside the API server, as servers on loopback: Prometheus and Alertmanager with a certificate of the
// cluster's own authority, the Deployment Validation Operator, the update graph, a registry with one payload, the cluster manager.
import { type Listener, listenPlain, listenTls } from "../../../playground/listen.ts";
import { type OcmDouble, PULL_SECRET_AUTH, startOcm } from "../../lib/upgrades/outside/ocm_double.ts";
import { makeMultiArch } from "../../support/documents.ts";
import { type FakeRegistry, openFakeRegistry } from "../../support/registry.ts";
import { type ClusterAccess } from "./cluster_access.ts";
import { dockerSecret } from "./objects.ts";
import { createAuthority } from "./pki.ts";

const MONITORING = "openshift-monitoring";
const VALIDATION = "openshift-deployment-validation-operator";
const REPOSITORY = "openshift-release-dev/ocp-release";
/** Names by which the service looks for servers; all of them are this machine. */
const HOSTS = [
  `prometheus-k8s.${MONITORING}.svc`,
  `alertmanager-main.${MONITORING}.svc`,
  `deployment-validation-operator-metrics.${VALIDATION}.svc`,
];

/** Where the login at the cluster manager is. */
export const GLOBAL_SECRET = { namespace: "openshift-config", name: "pull-secret" };
/** How long a silence of another lasts: longer than any test. */
const SILENCE_MS = 3_600_000;

export interface Surroundings extends AsyncDisposable {
  readonly manager: OcmDouble;
  readonly registry: FakeRegistry;
  /** A line of `/etc/hosts` for the names of the Services. */
  readonly hosts: string;
  readonly payload: string;
  readonly graphUrl: string;
  /** Comments of silences that are active, and of all that ever were created. */
  readonly active: () => readonly string[];
  readonly created: readonly string[];
  readonly silence: (comment: string) => void;
  readonly asked: ReadonlySet<string>;
}

interface Kept {
  readonly active: Map<string, Readonly<Record<string, unknown>>>;
  readonly created: string[];
  readonly asked: Set<string>;
}

export async function openSurroundings(cluster: ClusterAccess, version: string): Promise<Surroundings> {
  await using undo = new AsyncDisposableStack();
  const kept: Kept = { active: new Map(), created: [], asked: new Set() };
  const authority = await createAuthority("archway test service CA");
  const serving = await authority.issue({ commonName: "monitoring", usage: "server", names: HOSTS });
  const certificate = { cert: serving.certificatePem, key: serving.keyPem };
  const monitoring = undo.use(await listenTls((request) => answerMonitoring(request, kept), { certificate }));
  const registry = undo.use(await openFakeRegistry());
  const payload = `${registry.host}/${REPOSITORY}@${putPayload(registry, version)}`;
  const plain = undo.use(listenPlain((request) => answerPlain(request, { kept, version, payload })));
  const manager = undo.use(startOcm("api"));
  await createWays(cluster, { monitoring, plain, caPem: authority.certificatePem });
  const owned = undo.move();
  return {
    ...{ manager, registry, payload, created: kept.created, asked: kept.asked },
    hosts: `127.0.0.1 ${HOSTS.join(" ")}\n`,
    graphUrl: `${plain.origin}/graph`,
    silence: (comment) => {
      const endsAt = new Date(Date.now() + SILENCE_MS).toISOString();
      keepSilence(kept, { createdBy: "managed-upgrade-operator", comment, endsAt });
    },
    active: () => [...kept.active.values()].map(({ comment }) => String(comment)),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function putPayload(registry: FakeRegistry, version: string): string {
  const labels = { "io.openshift.release": version };
  const { index, manifests, blobs } = makeMultiArch(["amd64", "arm64"], { labels });
  for (const blob of blobs) registry.putBlob(REPOSITORY, blob);
  for (const manifest of manifests) registry.put(REPOSITORY, manifest);
  return registry.put(REPOSITORY, index);
}

/** Prometheus without an alert, and Alertmanager, for whoever shows a token. */
async function answerMonitoring(request: Request, { active, created, asked }: Kept): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (!request.headers.get("authorization")?.startsWith("Bearer ey")) return new Response(null, { status: 401 });
  asked.add(pathname.startsWith("/api/v1/query") ? "Prometheus" : "Alertmanager");
  if (pathname === "/api/v1/query") {
    return Response.json({ status: "success", data: { resultType: "vector", result: [] } });
  }
  if (pathname === "/api/v2/silences" && request.method === "GET") {
    return Response.json([...active].map(([id, silence]) => ({ id, ...silence, status: { state: "active" } })));
  }
  if (pathname === "/api/v2/silences" && request.method === "POST") {
    return Response.json({ silenceID: keepSilence({ active, created }, Object(await request.json())) });
  }
  const [, id = ""] = /^\/api\/v2\/silence\/([\w-]+)$/.exec(pathname) ?? [];
  return new Response(null, { status: request.method === "DELETE" && active.delete(id) ? 200 : 404 });
}

function keepSilence(
  { active, created }: Pick<Kept, "active" | "created">,
  silence: Readonly<Record<string, unknown>>,
): string {
  const id = crypto.randomUUID();
  active.set(id, silence);
  created.push(String(silence["comment"]));
  return id;
}

function answerPlain(
  request: Request,
  { kept, version, payload }: { readonly kept: Kept; readonly version: string; readonly payload: string },
): Response {
  const { pathname } = new URL(request.url);
  kept.asked.add(pathname === "/graph" ? "update graph" : "Deployment Validation Operator");
  if (pathname === "/metrics") return new Response("# no findings\n");
  return Response.json({ nodes: [{ version, payload }], edges: [], conditionalEdges: [] });
}

async function createWays(
  cluster: ClusterAccess,
  { monitoring, plain, caPem }: { readonly monitoring: Listener; readonly plain: Listener; readonly caPem: string },
): Promise<void> {
  const portOf = ({ origin }: Listener): number => Number(new URL(origin).port);
  const service = (namespace: string, name: string, port: Readonly<Record<string, unknown>>): unknown => ({
    ...{ apiVersion: "v1", kind: "Service", metadata: { namespace, name } },
    spec: { ports: [port] },
  });
  const web = { name: "web", port: portOf(monitoring) };
  const objects = [
    ...[MONITORING, VALIDATION, "openshift-config"].map((name) => (
      { apiVersion: "v1", kind: "Namespace", metadata: { name } }
    )),
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { namespace: MONITORING, name: "prometheus-k8s" } },
    service(MONITORING, "prometheus-k8s", web),
    service(MONITORING, "alertmanager-main", web),
    service(VALIDATION, "deployment-validation-operator-metrics", { name: "http-metrics", port: portOf(plain) }),
    {
      ...{ apiVersion: "v1", kind: "ConfigMap", data: { "service-ca.crt": caPem } },
      metadata: { namespace: MONITORING, name: "serving-certs-ca-bundle" },
    },
    dockerSecret(GLOBAL_SECRET, { "cloud.openshift.com": { auth: PULL_SECRET_AUTH } }),
  ];
  await cluster.apply(objects);
}
