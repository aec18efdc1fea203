// The playground's API server: a small Kubernetes API on loopback. `serve` and kubectl run against it.
import { errorText, type Logger } from "../lib/log.ts";
import type { KeyPair } from "../lib/server/https_listener.ts";
import { type Cluster, findObject, isStored } from "./cluster.ts";
import { createObject } from "./create_object.ts";
import { deleteObject } from "./delete_object.ts";
import { findDocument } from "./discovery.ts";
import { objectAtPath, textAtPath } from "./json_path.ts";
import { listen } from "./listen.ts";
import { readResource } from "./reads.ts";
import { parseResourcePath, type ResourcePath } from "./kinds.ts";
import { methodNotAllowed, renderStatus, StatusError, unknownPath } from "./status_error.ts";
import { parseBody, type PatchKind, patchObject, updateObject } from "./update_object.ts";

/** A running API server. It accepts any bearer token and authorizes every request: for loopback only. */
export interface ApiServer extends AsyncDisposable {
  readonly url: string;
}

interface ApiServerOptions {
  readonly log: Logger;
  /** Plain HTTP without one, which `serve` does not accept in a kubeconfig: for tests. */
  readonly certificate?: KeyPair;
}

export async function openApiServer(cluster: Cluster, { log, certificate }: ApiServerOptions): Promise<ApiServer> {
  const watches = new AbortController();
  const handler = (request: Request): Promise<Response> => answer(cluster, request, { log, signal: watches.signal });
  const listener = await listen(handler, { certificate });
  return {
    url: listener.origin,
    [Symbol.asyncDispose]: async () => {
      watches.abort();
      await listener[Symbol.asyncDispose]();
    },
  };
}

/** The envelope: every refusal becomes a Status, every bug a 500 and a log line. */
async function answer(
  cluster: Cluster,
  request: Request,
  { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
): Promise<Response> {
  try {
    return await dispatch(cluster, request, signal);
  } catch (error) {
    if (error instanceof StatusError) return Response.json(renderStatus(error), { status: error.status });
    log.error("playground request failed", { error: errorText(error) });
    const bug = new StatusError(500, "InternalError", "Internal error occurred: see the playground's log");
    return Response.json(renderStatus(bug), { status: 500 });
  }
}

interface Call {
  readonly cluster: Cluster;
  readonly path: ResourcePath;
  readonly contentType: string;
  readonly text: string;
  readonly dryRun: boolean;
}

const WRITES: ReadonlyMap<string, (call: Call) => Promise<Response>> = new Map([
  ["POST", post],
  ["PUT", put],
  ["PATCH", patch],
  ["DELETE", remove],
]);

async function dispatch(cluster: Cluster, request: Request, signal: AbortSignal): Promise<Response> {
  const { pathname, searchParams: query } = new URL(request.url);
  if (/^\/(readyz|healthz|livez)(\/|$)/.test(pathname)) return new Response("ok");
  const path = parseResourcePath(pathname);
  if (path === undefined) {
    const document = request.method === "GET" ? findDocument(pathname) : undefined;
    if (document === undefined) throw unknownPath();
    return Response.json(document);
  }
  if (request.method === "GET") return readResource(cluster, path, { query, signal });
  const write = WRITES.get(request.method);
  if (write === undefined) throw methodNotAllowed();
  const contentType = (request.headers.get("content-type") ?? "application/json").split(";")[0]?.trim() ?? "";
  if (contentType.includes("protobuf")) {
    throw unsupported("the playground reads JSON only: use kubectl create -f, apply -f or run");
  }
  const dryRun = query.getAll("dryRun").includes("All");
  return await write({ cluster, path, contentType, text: await request.text(), dryRun });
}

function unsupported(message: string): StatusError {
  return new StatusError(415, "UnsupportedMediaType", message);
}

async function post({ cluster, path, text, dryRun }: Call): Promise<Response> {
  const { kind, namespace, name } = path;
  const body = parseBody(text);
  if (name !== undefined) throw methodNotAllowed();
  return Response.json(await createObject(cluster, kind, { namespace, body, dryRun }), { status: 201 });
}

async function put({ cluster, path: { kind, namespace, name, subresource }, text, dryRun }: Call): Promise<Response> {
  if (name === undefined) throw methodNotAllowed();
  const body = parseBody(text);
  return Response.json(await updateObject(cluster, kind, { namespace, name, subresource, body, dryRun }));
}

/** An apply body must be JSON, which is YAML too; `kubectl apply --server-side` sends JSON. */
const PATCH_KINDS: ReadonlyMap<string, PatchKind> = new Map([
  ["application/json-patch+json", "json"],
  ["application/merge-patch+json", "merge"],
  ["application/strategic-merge-patch+json", "merge"],
  ["application/apply-patch+yaml", "apply"],
]);

async function patch({ cluster, path, contentType, text: body, dryRun }: Call): Promise<Response> {
  const { kind, namespace, name, subresource } = path;
  if (name === undefined) throw methodNotAllowed();
  const patchKind = PATCH_KINDS.get(contentType);
  if (patchKind === undefined) throw unsupported(`a patch is one of ${[...PATCH_KINDS.keys()].join(", ")}`);
  const target = { namespace, name, subresource, dryRun };
  const status = isStored(cluster, kind, target) ? 200 : 201;
  return Response.json(await patchObject(cluster, kind, { ...target, patchKind, body }), { status });
}

async function remove({ cluster, path, text, dryRun }: Call): Promise<Response> {
  const { kind, namespace, name } = path;
  const body = text === "" ? {} : parseBody(text);
  if (name === undefined) throw methodNotAllowed();
  const { metadata: { uid } } = findObject(cluster, kind, { namespace, name });
  const preconditions = objectAtPath(body, "preconditions");
  const guards = {
    uid: textAtPath(preconditions, "uid"),
    resourceVersion: textAtPath(preconditions, "resourceVersion"),
  };
  const last = await deleteObject(cluster, kind, { namespace, name, ...guards, dryRun });
  const isLeaving = kind.plural === "pods" || last.metadata.deletionTimestamp !== undefined;
  const details = { name, kind: kind.plural, uid };
  return Response.json(
    isLeaving ? last : { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details },
  );
}
