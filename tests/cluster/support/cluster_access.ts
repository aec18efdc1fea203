// Talks to a running control plane as its admin: requests, kubectl, nodes, namespaces, ServiceAccount kubeconfigs.
// Made by control_plane.ts for the process that started it and by leased_plane.ts for a process that only has its address.
import { listAtPath, valueAtPath as read } from "../../../playground/json_path.ts";
import { waitUntil } from "./wait.ts";

export { listAtPath as listAt, read };

/** Where a control plane is and how to get in; plain JSON, so that it travels in an environment variable. */
export interface Coordinates {
  readonly url: string;
  readonly caFile: string;
  readonly caPem: string;
  /** Token of a member of system:masters. */
  readonly adminToken: string;
  readonly kubeconfigFile: string;
  /** Folder of logs and keys; also where kubeconfigs are written. */
  readonly directory: string;
  /** NDJSON of the audit log; undefined when it was not asked for. */
  readonly auditLogFile?: string;
  readonly kubectlFile: string;
}

/** The answer to a request. `body` is parsed JSON where it is JSON, else text. */
export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
}

export interface KubectlResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface NodeSpec {
  readonly name: string;
  /** Value of `kubernetes.io/arch`. */
  readonly arch: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
}

export interface ClusterAccess extends Coordinates {
  /** A request of an admin, or of whom the admin impersonates. A list that patches is a JSON Patch. Throws when no answer comes, for no status. */
  request(
    method: string,
    path: string,
    body?: unknown,
    options?: { readonly contentType?: string; readonly asUser?: string; readonly signal?: AbortSignal },
  ): Promise<ApiAnswer>;
  /** The body that a GET is answered with, whatever its status. */
  get(path: string): Promise<unknown>;
  /** The items of a list; none where there is no list. */
  list(path: string): Promise<readonly unknown[]>;
  /** The names of those items. */
  names(path: string): Promise<readonly string[]>;
  /** Whether there is such an object, or kind; throws where the answer is neither 200 nor 404. */
  exists(path: string): Promise<boolean>;
  /** This and the next two give the body, and throw the server's words where it refuses. */
  create(path: string, object: unknown): Promise<unknown>;
  patch(path: string, document: unknown): Promise<unknown>;
  delete(path: string): Promise<unknown>;
  /** Applies objects server-side, as their only owner. */
  apply(objects: readonly unknown[]): Promise<void>;
  kubectl(
    args: readonly string[],
    options?: { readonly stdin?: string; readonly kubeconfigFile?: string },
  ): Promise<KubectlResult>;
  /** kubectl as admin, which must end well; gives what it prints. */
  run(args: readonly string[], options?: { readonly stdin?: string }): Promise<string>;
  serviceAccountKubeconfig(account: { readonly namespace: string; readonly name: string }): Promise<string>;
  /** Creates nodes and waits until they are Ready and schedulable. Nodes that exist already are left as they are. */
  addNodes(nodes: readonly NodeSpec[]): Promise<void>;
  createNamespace(prefix: string, labels?: Readonly<Record<string, string>>): Promise<string>;
}

export class AdminConnection implements Disposable {
  readonly access: ClusterAccess;
  readonly #client: Deno.HttpClient;

  constructor(coordinates: Coordinates) {
    // HTTP/1.1: Deno's HTTP/2 client stalls 40 ms on small frames (TCP_NODELAY is off).
    this.#client = Deno.createHttpClient({ caCerts: [coordinates.caPem], http2: false, poolMaxIdlePerHost: 64 });
    this.access = createAccess(coordinates, this.#client);
  }

  /** Drops idle connections: after a restart of the API server they are dead. */
  [Symbol.dispose](): void {
    this.#client.close();
  }
}

function createAccess(coordinates: Coordinates, client: Deno.HttpClient): ClusterAccess {
  const request: ClusterAccess["request"] = async (method, path, body, { contentType, asUser, signal } = {}) => {
    const response = await fetch(`${coordinates.url}${path}`, {
      method,
      client,
      headers: {
        authorization: `Bearer ${coordinates.adminToken}`,
        accept: "application/json",
        ...(asUser === undefined ? {} : { "impersonate-user": asUser }),
        ...(body === undefined ? {} : { "content-type": contentType ?? defaultContentType(method, body) }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: signal ?? AbortSignal.timeout(60_000),
    });
    return { status: response.status, body: parseBody(await response.text()) };
  };
  return {
    ...coordinates,
    request,
    ...verbsOf(request),
    run: (args, options) => runWell(coordinates, { args, ...options }),
    apply: async (items) => {
      const args = ["apply", "--server-side", "--force-conflicts", "-f", "-"];
      await runWell(coordinates, { args, stdin: JSON.stringify({ apiVersion: "v1", kind: "List", items }) });
    },
    kubectl: (args, options = {}) => runKubectl(coordinates, { args, ...options }),
    serviceAccountKubeconfig: (account) => writeServiceAccountKubeconfig(coordinates, { account, request }),
    addNodes: (nodes) => addNodes(request, nodes),
    createNamespace: (prefix, labels = {}) => createNamespace(request, { prefix, labels }),
  };
}

type Request = ClusterAccess["request"];

type Verbs = Pick<ClusterAccess, "get" | "list" | "names" | "exists" | "create" | "patch" | "delete">;

function verbsOf(request: Request): Verbs {
  const expected = async (status: number, ...[method, path, ...rest]: Parameters<Request>): Promise<unknown> => {
    const answer = await request(method, path, ...rest);
    expectStatus(`${method} ${path}`, answer, [status]);
    return answer.body;
  };
  const get = async (path: string): Promise<unknown> => (await request("GET", path)).body;
  const list = async (path: string): Promise<readonly unknown[]> => listAtPath(await get(path), "items");
  return {
    get,
    list,
    names: async (path) => {
      const items = listAtPath(await expected(200, "GET", path), "items");
      return items.map((item) => String(read(item, "metadata", "name")));
    },
    exists: async (path) => {
      const answer = await request("GET", path);
      expectStatus(`look for ${path}`, answer, [200, 404]);
      return answer.status === 200;
    },
    create: (path, object) => expected(201, "POST", path, object),
    patch: (path, document) => expected(200, "PATCH", path, document),
    delete: (path) => expected(200, "DELETE", path),
  };
}

function defaultContentType(method: string, body: unknown): string {
  if (method !== "PATCH") return "application/json";
  return Array.isArray(body) ? "application/json-patch+json" : "application/merge-patch+json";
}

function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Throws with the server's words unless the status is one of `expected`. */
export function expectStatus(what: string, answer: ApiAnswer, expected: readonly number[]): void {
  if (expected.includes(answer.status)) return;
  throw new Error(`Cannot ${what}: the API server answered ${answer.status}: ${JSON.stringify(answer.body)}`);
}

interface KubectlRun {
  readonly args: readonly string[];
  readonly stdin?: string;
  readonly kubeconfigFile?: string;
}

async function runKubectl(coordinates: Coordinates, run: KubectlRun): Promise<KubectlResult> {
  const child = new Deno.Command(coordinates.kubectlFile, {
    args: ["--kubeconfig", run.kubeconfigFile ?? coordinates.kubeconfigFile, ...run.args],
    // The discovery cache belongs to this control plane, not to the user's home.
    env: { HOME: coordinates.directory, KUBECACHEDIR: `${coordinates.directory}/kubectl-cache` },
    stdin: run.stdin === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  if (run.stdin !== undefined) {
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(run.stdin));
    await writer.close();
  }
  const { code, stdout, stderr } = await child.output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

async function runWell(coordinates: Coordinates, run: KubectlRun): Promise<string> {
  const { code, stdout, stderr } = await runKubectl(coordinates, run);
  if (code !== 0) throw new Error(`Cannot run kubectl ${run.args.join(" ")}: ${stderr}`);
  return stdout;
}

/** Text of a kubeconfig with one cluster and a token. JSON is YAML. */
export function renderKubeconfig(
  { url, caPem }: Pick<Coordinates, "url" | "caPem">,
  user: { readonly token: string; readonly namespace?: string },
): string {
  const context = { cluster: "test", user: "test", namespace: user.namespace ?? "default" };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{
      name: "test",
      cluster: { server: url, "certificate-authority-data": new TextEncoder().encode(caPem).toBase64() },
    }],
    users: [{ name: "test", user: { token: user.token } }],
    contexts: [{ name: "test", context }],
    "current-context": "test",
  });
}

async function writeServiceAccountKubeconfig(
  coordinates: Coordinates,
  { account, request }: {
    readonly account: { readonly namespace: string; readonly name: string };
    readonly request: Request;
  },
): Promise<string> {
  const { namespace, name } = account;
  const answer = await request("POST", `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: { expirationSeconds: 86_400 },
  });
  expectStatus(`request a token of ServiceAccount "${namespace}/${name}"`, answer, [201]);
  const token = read(answer.body, "status", "token");
  if (typeof token !== "string") throw new Error("Cannot read the token: the TokenRequest carries none");
  const file = `${coordinates.directory}/${namespace}-${name}-${crypto.randomUUID().slice(0, 8)}.kubeconfig`;
  await Deno.writeTextFile(file, renderKubeconfig(coordinates, { token, namespace }), { mode: 0o600 });
  return file;
}

export function conditionOf(object: unknown, type: unknown): unknown {
  return listAtPath(object, "status", "conditions").find((one) => read(one, "type") === type);
}

/** `True Reason` of a condition. */
export function stateOf(object: unknown, type: string): string {
  const condition = conditionOf(object, type);
  return `${read(condition, "status")} ${read(condition, "reason")}`;
}

export async function finalizersOf(cluster: ClusterAccess, path: string): Promise<readonly unknown[]> {
  return listAtPath(await cluster.get(path), "metadata", "finalizers");
}

export function isTrue(object: unknown, type: string): boolean {
  return read(conditionOf(object, type), "status") === "True";
}

async function addNodes(request: Request, nodes: readonly NodeSpec[]): Promise<void> {
  for (const node of nodes) {
    expectStatus(`create node "${node.name}"`, await request("POST", "/api/v1/nodes", renderNode(node)), [201, 409]);
  }
  for (const { name } of nodes) {
    await waitUntil(
      `node "${name}" to be Ready`,
      async () => isSchedulable((await request("GET", `/api/v1/nodes/${name}`)).body),
    );
  }
}

function renderNode({ name, arch, labels = {}, taints = [] }: NodeSpec): Readonly<Record<string, unknown>> {
  const resources = { cpu: "512", memory: "4Ti", pods: "100000" };
  const os = labels["kubernetes.io/os"] ?? "linux";
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      // kwok distinguishes its nodes from real ones by this.
      annotations: { "kwok.x-k8s.io/node": "fake" },
      labels: { "kubernetes.io/arch": arch, "kubernetes.io/os": os, "kubernetes.io/hostname": name, ...labels },
    },
    spec: { taints },
    status: { allocatable: resources, capacity: resources, nodeInfo: { architecture: arch, operatingSystem: os } },
  };
}

function isSchedulable(node: unknown): boolean {
  const taints = listAtPath(node, "spec", "taints");
  return isTrue(node, "Ready") && !taints.some((each) => read(each, "key") === "node.kubernetes.io/not-ready");
}

async function createNamespace(
  request: Request,
  { prefix, labels }: { readonly prefix: string; readonly labels: Readonly<Record<string, string>> },
): Promise<string> {
  const name = `${prefix}-${crypto.randomUUID().slice(0, 8)}`;
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
  expectStatus(`create namespace "${name}"`, await request("POST", "/api/v1/namespaces", namespace), [201]);
  return name;
}
