// Builders of the playground tests: a cluster in memory, pods and nodes with overrides, a served API and its client.
import { type Clock, systemClock } from "../../lib/clock.ts";
import { type KubeObject, Resource } from "../../lib/k8s/types.ts";
import { silentLogger } from "../../lib/log.ts";
import { type ApiServer, openApiServer } from "../../playground/api_server.ts";
import { type AdmissionChain, type Cluster, requireKubeObject } from "../../playground/cluster.ts";
import { createObject } from "../../playground/create_object.ts";
import { isObject, type JsonObject } from "../../playground/json_path.ts";
import { kindNamed } from "../../playground/kinds.ts";
import { ObjectStore } from "../../playground/store.ts";
import { linesOf } from "../support/lines.ts";

const ADMIT_ALL: AdmissionChain = {
  mutate: ({ object }) => Promise.resolve(object),
  validate: () => Promise.resolve(),
};

export const GATE = "multiarch.openshift.io/scheduling-gate";

export async function makeCluster(parts: Partial<Cluster> = {}): Promise<Cluster> {
  const cluster = { store: new ObjectStore(), clock: systemClock, admission: ADMIT_ALL, ...parts };
  await createObject(cluster, kindNamed("Namespace"), { body: { metadata: { name: "default" } } });
  return cluster;
}

/** A clock on which every wait is over at once. */
export const impatientClock: Clock = { ...systemClock, sleep: () => Promise.resolve() };

export function podBody(name: string, spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  const containers = [{ name: "main", image: "registry.example/app:v1" }];
  return { apiVersion: "v1", kind: "Pod", metadata: { name, ...metadata }, spec: { containers, ...spec } };
}

export function makePod(spec: JsonObject = {}): KubeObject {
  return requireKubeObject(podBody("p", spec, { namespace: "default" }));
}

export function requiring(...terms: readonly JsonObject[]): JsonObject {
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } };
}

export function term(...matchExpressions: readonly JsonObject[]): JsonObject {
  return { matchExpressions };
}

export function inValues(key: string, ...values: readonly string[]): JsonObject {
  return { key, operator: "In", values };
}

export function makeNode(name: string, architecture: string, rest: JsonObject = {}): KubeObject {
  return requireKubeObject({ metadata: { name, labels: { "kubernetes.io/arch": architecture } }, spec: {}, ...rest });
}

export function addNodes(cluster: Cluster, ...nodes: readonly KubeObject[]): void {
  for (const node of nodes) cluster.store.put(Resource.nodes, node);
}

export interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

export interface ServedCluster extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly server: ApiServer;
  readonly send: (
    method: string,
    path: string,
    rest?: { readonly body?: unknown; readonly type?: string },
  ) => Promise<Answer>;
  readonly watch: (path: string) => Promise<LineReader>;
}

/** Lines of a stream, one at a time; undefined at its end. */
export interface LineReader extends AsyncDisposable {
  next(): Promise<JsonObject | undefined>;
}

export async function serveCluster(cluster?: Cluster): Promise<ServedCluster> {
  const served = cluster ?? await makeCluster();
  const server = await openApiServer(served, { log: silentLogger });
  return {
    cluster: served,
    server,
    send: async (method, path, rest = {}) => {
      const response = await fetch(`${server.url}${path}`, {
        method,
        headers: { "content-type": rest.type ?? "application/json" },
        ...(rest.body === undefined ? {} : { body: JSON.stringify(rest.body) }),
      });
      const body: unknown = await response.json();
      return { status: response.status, body: isObject(body) ? body : { value: body } };
    },
    watch: async (path) => readLines(await fetch(`${server.url}${path}`)),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function readLines(response: Response): LineReader {
  const lines = linesOf(response.body ?? new ReadableStream());
  const next = async (): Promise<JsonObject | undefined> => {
    const { value } = await lines.next();
    const line: unknown = value === undefined ? undefined : JSON.parse(value);
    return isObject(line) ? line : undefined;
  };
  return { next, [Symbol.asyncDispose]: async () => void await lines.return() };
}
