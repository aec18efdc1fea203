// The playground's API server: a small Kubernetes API on loopback. `serve` and kubectl run against it.
import type { KeyPair } from "../server/https_listener.ts";
import { errorText, type Logger } from "../log.ts";
import { keyOf } from "../k8s/types.ts";
import type { Cluster } from "./cluster.ts";
import { createObject } from "./create_object.ts";
import { deleteObject } from "./delete_object.ts";
import { renderDiscovery } from "./discovery.ts";
import { numberAt, objectAt, textAt } from "./json_value.ts";
import { type Listener, listenPlain, listenTls } from "./listen.ts";
import { findObject, parseSelection, readResource } from "./reads.ts";
import { parseResourcePath, type ResourcePath } from "./request_path.ts";
import { methodNotAllowed, renderStatus, StatusError, unknownPath } from "./status.ts";
import { bindPod, parseBody, type PatchKind, patchObject, updateObject } from "./update_object.ts";

/** A running API server. It accepts any bearer token and authorizes every request: for loopback only. */
export interface ApiServer extends AsyncDisposable {
  /** `https://127.0.0.1:port`, or `http` without a certificate. */
  readonly url: string;
  /** Cuts every open watch, as a restart of the real server does. */
  cutWatches(): void;
}

/** How to serve. */
export interface ApiServerOptions {
  /** Logs bugs of the playground. */
  readonly log: Logger;
  /** Default: a free one. */
  readonly port?: number;
  /** Plain HTTP without one, which `serve` does not accept in a kubeconfig: for tests. */
  readonly certificate?: KeyPair;
  /** A fault to answer with instead: 429s, 500s, conflicts. Undefined lets the request pass. */
  readonly intercept?: (request: Request) => Response | Promise<Response> | undefined;
}

/** Serves a cluster on loopback. */
export async function openApiServer(cluster: Cluster, options: ApiServerOptions): Promise<ApiServer> {
  const { certificate, log } = options;
  const port = options.port === undefined ? {} : { port: options.port };
  let watches = new AbortController();
  let host = "127.0.0.1";
  const handler = async (request: Request): Promise<Response> =>
    await options.intercept?.(request) ?? await answer(cluster, request, { log, host, signal: watches.signal });
  const listener: Listener = certificate === undefined
    ? listenPlain(handler, port)
    : await listenTls(handler, { certificate, ...port });
  host = listener.host;
  return {
    url: listener.origin,
    cutWatches: () => {
      watches.abort();
      watches = new AbortController();
    },
    [Symbol.asyncDispose]: async () => {
      watches.abort();
      await listener[Symbol.asyncDispose]();
    },
  };
}

interface AnswerOptions {
  readonly log: Logger;
  readonly host: string;
  readonly signal: AbortSignal;
}

/** The envelope: every refusal becomes a Status, every bug a 500 and a log line. */
async function answer(cluster: Cluster, request: Request, options: AnswerOptions): Promise<Response> {
  try {
    return await dispatch(cluster, request, options);
  } catch (error) {
    if (error instanceof StatusError) return Response.json(renderStatus(error), { status: error.status });
    options.log.error("playground request failed", { error: errorText(error) });
    const bug = new StatusError(500, "InternalError", { message: "Internal error occurred: see the playground's log" });
    return Response.json(renderStatus(bug), { status: 500 });
  }
}

async function dispatch(cluster: Cluster, request: Request, options: AnswerOptions): Promise<Response> {
  const url = new URL(request.url);
  if (/^\/(readyz|healthz|livez)(\/|$)/.test(url.pathname)) return new Response("ok");
  const path = parseResourcePath(url.pathname);
  if (path === undefined) {
    const document = request.method === "GET" ? renderDiscovery(url.pathname, options.host) : undefined;
    if (document === undefined) throw unknownPath();
    return Response.json(document);
  }
  checkSubresource(path);
  switch (request.method) {
    case "GET":
      return readResource(cluster, path, { request, signal: options.signal });
    case "POST":
      return await post(cluster, path, request);
    case "PUT":
      return await put(cluster, path, request);
    case "PATCH":
      return await patch(cluster, path, request);
    case "DELETE":
      return await remove(cluster, path, request);
    default:
      throw methodNotAllowed();
  }
}

function checkSubresource(path: ResourcePath): void {
  const { kind, subresource } = path;
  if (subresource === undefined || (subresource === "status" && kind.hasStatus)) return;
  if (subresource === "binding" && kind.plural === "pods") return;
  throw unknownPath();
}

function isDryRun(request: Request): boolean {
  return new URL(request.url).searchParams.getAll("dryRun").includes("All");
}

async function readBody(request: Request): Promise<unknown> {
  const text = await readText(request);
  return text === "" ? {} : parseBody(text);
}

async function readText(request: Request): Promise<string> {
  const type = request.headers.get("content-type") ?? "application/json";
  const text = await request.text();
  if (type.includes("protobuf")) {
    throw new StatusError(415, "UnsupportedMediaType", {
      message: "the playground reads JSON only; use kubectl create -f, apply -f or run instead of kubectl's generators",
    });
  }
  return text;
}

async function post(cluster: Cluster, path: ResourcePath, request: Request): Promise<Response> {
  const body = await readBody(request);
  if (path.subresource === "binding") {
    bindPod(cluster, path.kind, { namespace: path.namespace, name: path.name ?? "", body });
    return Response.json({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 }, {
      status: 201,
    });
  }
  if (path.name !== undefined) throw methodNotAllowed();
  const created = await createObject(cluster, path.kind, {
    namespace: path.namespace,
    body,
    dryRun: isDryRun(request),
  });
  return Response.json(created, { status: 201 });
}

async function put(cluster: Cluster, path: ResourcePath, request: Request): Promise<Response> {
  const { kind, namespace, name, subresource } = path;
  if (name === undefined) throw methodNotAllowed();
  const body = await readBody(request);
  return Response.json(
    await updateObject(cluster, kind, { namespace, name, subresource, body, dryRun: isDryRun(request) }),
  );
}

const PATCH_KINDS: Readonly<Record<string, PatchKind>> = {
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
  "application/apply-patch+yaml": "apply",
};

/** An apply body must be JSON, which is YAML too; `kubectl apply --server-side` sends JSON. */
async function patch(cluster: Cluster, path: ResourcePath, request: Request): Promise<Response> {
  const { kind, namespace, name, subresource } = path;
  if (name === undefined) throw methodNotAllowed();
  const type = (request.headers.get("content-type") ?? "").split(";")[0]?.trim() ?? "";
  const patchKind = PATCH_KINDS[type];
  const body = await readText(request);
  if (patchKind === undefined) {
    const message = `the body of the request was in an unknown format - accepted media types include: ${
      Object.keys(PATCH_KINDS).join(", ")
    }`;
    throw new StatusError(415, "UnsupportedMediaType", { message });
  }
  const target = { namespace, name, subresource, dryRun: isDryRun(request) };
  const existed = cluster.store.get(
    kind,
    keyOf({ metadata: namespace === undefined ? { name } : { namespace, name } }),
  );
  const changed = await patchObject(cluster, kind, { ...target, patchKind, body });
  return Response.json(changed, { status: existed === undefined ? 201 : 200 });
}

async function remove(cluster: Cluster, path: ResourcePath, request: Request): Promise<Response> {
  const url = new URL(request.url);
  const body = await readBody(request);
  const query = url.searchParams.get("gracePeriodSeconds");
  const gracePeriodSeconds = numberAt(body, "gracePeriodSeconds") ?? (query === null ? undefined : Number(query));
  const dryRun = isDryRun(request);
  if (path.name === undefined) {
    const selected = cluster.store.list(path.kind).filter(parseSelection(path, url.searchParams));
    for (const { metadata } of selected) {
      await deleteObject(cluster, path.kind, {
        namespace: metadata.namespace,
        name: metadata.name,
        uid: metadata.uid,
        gracePeriodSeconds,
        dryRun,
      }).catch(ignoreMissing);
    }
    return Response.json({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" });
  }
  const before = findObject(cluster, path);
  const preconditions = objectAt(body, "preconditions");
  const last = await deleteObject(cluster, path.kind, {
    namespace: path.namespace,
    name: path.name,
    uid: textAt(preconditions, "uid"),
    resourceVersion: textAt(preconditions, "resourceVersion"),
    gracePeriodSeconds,
    dryRun,
  });
  if (path.kind.plural === "pods" || last.metadata.deletionTimestamp !== undefined) return Response.json(last);
  const details = { name: path.name, kind: path.kind.plural, uid: before.metadata.uid };
  return Response.json({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details });
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof StatusError) || error.status !== 404) throw error;
}
