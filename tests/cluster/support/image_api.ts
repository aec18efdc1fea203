// OpenShift's API of images behind the aggregation layer of a real API server: ImageStreamTags, as GET and DELETE of
// `NAMESPACE/STREAM:TAG`, whose streams are repositories of a real registry. It takes requests from the API server alone, which
// has judged the user's rights, and refuses whatever else OpenShift's would refuse of them.
import type { IncomingMessage } from "node:http";
import { createServer } from "node:https";
import { text } from "node:stream/consumers";
import { type ClusterAccess, isTrue, read } from "./cluster_access.ts";
import { FRONT_PROXY } from "./front_proxy.ts";
import { createAuthority } from "./pki.ts";
import { findFreePort, listenOn } from "./ports.ts";
import type { RealRegistry } from "./registry.ts";
import { readManifest } from "./registry_platforms.ts";
import { waitUntil } from "./wait.ts";

export interface TagRequest {
  readonly method: string;
  readonly user: string;
  /** `NAMESPACE/STREAM:TAG`. */
  readonly tag: string;
  readonly status: number;
}

export interface ImageApi extends AsyncDisposable {
  readonly requests: readonly TagRequest[];
}

const GROUP = "image.openshift.io";
const ROOT = `/apis/${GROUP}/v1`;
const SERVICE = { namespace: "openshift-apiserver", name: "api" };
const TAG = /^\/apis\/image\.openshift\.io\/v1\/namespaces\/([^/]+)\/imagestreamtags\/([^/:]+):([^/:]+)$/;
const DISCOVERY = {
  ...{ kind: "APIResourceList", apiVersion: "v1", groupVersion: `${GROUP}/v1` },
  resources: [
    {
      name: "imagestreamtags",
      singularName: "imagestreamtag",
      namespaced: true,
      kind: "ImageStreamTag",
      verbs: ["delete", "get"],
    },
  ],
};

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export async function openImageApi(
  cluster: ClusterAccess,
  { registry, clientCa }: { readonly registry: RealRegistry; readonly clientCa: string },
): Promise<ImageApi> {
  const authority = await createAuthority("archway test image API");
  const names = [`${SERVICE.name}.${SERVICE.namespace}.svc`];
  const { certificatePem: cert, keyPem: key } = await authority.issue({ commonName: "api", usage: "server", names });
  const requests: TagRequest[] = [];
  const options = { cert, key, ca: clientCa, requestCert: true, rejectUnauthorized: true };
  const server = createServer(options, (message, response) => {
    void answerTo(message, { registry, note: (request) => void requests.push(request) })
      .catch((error: unknown): Answer => failure(500, "InternalError", String(error)))
      .then(({ status, body }) => {
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
      });
  });
  const port = findFreePort();
  await using undo = new AsyncDisposableStack();
  undo.use(await listenOn(port, server));
  await register(cluster, { port, caPem: authority.certificatePem });
  const opened = undo.move();
  return { requests, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function register(
  cluster: ClusterAccess,
  { port, caPem }: { readonly port: number; readonly caPem: string },
): Promise<void> {
  const { namespace, name } = SERVICE;
  await cluster.create("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  await cluster.create(`/api/v1/namespaces/${namespace}/services`, {
    ...{ apiVersion: "v1", kind: "Service", metadata: { name } },
    // Nothing routes the addresses of Services here.
    spec: { type: "ExternalName", externalName: "localhost" },
  });
  const spec = { group: GROUP, version: "v1", groupPriorityMinimum: 9_900, versionPriority: 15, caBundle: btoa(caPem) };
  await cluster.create("/apis/apiregistration.k8s.io/v1/apiservices", {
    ...{ apiVersion: "apiregistration.k8s.io/v1", kind: "APIService", metadata: { name: `v1.${GROUP}` } },
    spec: { ...spec, service: { ...SERVICE, port } },
  });
  let conditions: unknown;
  await waitUntil("the image API to be available", async () => {
    const body = await cluster.get(`/apis/apiregistration.k8s.io/v1/apiservices/v1.${GROUP}`);
    conditions = read(body, "status", "conditions");
    return isTrue(body, "Available") && await cluster.exists(ROOT);
  }, { deadlineMs: 60_000 }).catch((cause: unknown) => {
    throw new Error(`${String(cause)}: ${JSON.stringify(conditions)}`, { cause });
  });
}

async function answerTo(
  message: IncomingMessage,
  { registry, note }: { readonly registry: RealRegistry; readonly note: (request: TagRequest) => void },
): Promise<Answer> {
  const { method = "", headers } = message;
  const user = headers["x-remote-user"];
  if (clientOf(message) !== FRONT_PROXY || typeof user !== "string" || user === "") {
    return failure(401, "Unauthorized", "Unauthorized");
  }
  const { pathname } = new URL(message.url ?? "/", "https://api");
  if (method === "GET" && pathname === ROOT) return { status: 200, body: DISCOVERY };
  const [, namespace = "", stream = "", tag = ""] = TAG.exec(decodeURIComponent(pathname)) ?? [];
  if (tag === "") return failure(404, "NotFound", "the server could not find the requested resource");
  const answer = await answerTag({ method, repository: `${namespace}/${stream}`, tag }, { registry, message });
  note({ method, user, tag: `${namespace}/${stream}:${tag}`, status: answer.status });
  return answer;
}

async function answerTag(
  { method, repository, tag }: { readonly method: string; readonly repository: string; readonly tag: string },
  { registry, message }: { readonly registry: RealRegistry; readonly message: IncomingMessage },
): Promise<Answer> {
  const [namespace = "", stream = ""] = repository.split("/");
  const name = `${stream}:${tag}`;
  if (method !== "GET" && method !== "DELETE") {
    return failure(405, "MethodNotAllowed", `${method} is not supported on resources of kind "imagestreamtags"`);
  }
  if (method === "DELETE") {
    const given = await text(message);
    const kind = given === "" ? "DeleteOptions" : read(JSON.parse(given), "kind");
    if (kind !== "DeleteOptions") return failure(400, "BadRequest", "the body is no DeleteOptions");
    return await registry.untag(repository, tag) ? { status: 200, body: success(name) } : notFound(name);
  }
  const manifest = await readManifest(registry, `${registry.host}/${repository}:${tag}`);
  if (manifest === undefined) return notFound(name);
  const image = { metadata: { name: manifest.digest } };
  const metadata = { namespace, name };
  return { status: 200, body: { kind: "ImageStreamTag", apiVersion: `${GROUP}/v1`, metadata, image } };
}

function clientOf({ socket }: IncomingMessage): unknown {
  return read(Reflect.get(socket, "getPeerCertificate")?.call(socket), "subject", "CN");
}

function success(name: string): unknown {
  const details = { name, group: GROUP, kind: "imagestreamtags" };
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
}

function notFound(name: string): Answer {
  return failure(404, "NotFound", `imagestreamtags.${GROUP} "${name}" not found`);
}

function failure(code: number, reason: string, message: string): Answer {
  const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code };
  return { status: code, body: status };
}
