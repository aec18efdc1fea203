// KubeApi over HTTP: the path, body and limits of each call. Connections are in server_connections.ts.
import { FIELD_MANAGER } from "../names.ts";
import type {
  DeleteOptions,
  KubeApi,
  ListOptions,
  PatchBody,
  PatchOptions,
  RawWatchEvent,
  WatchOptions,
} from "./api.ts";
import { type ApiRequest, ApiTransport, type ApiTransportOptions } from "./api_transport.ts";
import type { ClusterAccess } from "./cluster_access.ts";
import { isObject } from "../json.ts";
import { parseKubeList, parseKubeObject } from "./kube_object.ts";
import { MAX_PAGE_BYTES } from "./lists.ts";
import {
  type KubeList,
  type KubeObject,
  Resource,
  resourcePath,
  type ResourceTarget,
  type ResourceType,
} from "./types.ts";
import { decodeWatchStream } from "./watch_stream.ts";

/** For a call about one object: admission webhooks may take up to 30 s. */
const CALL_TIMEOUT_MS = 30_000;
/** For a list page, which may be several megabytes from a loaded server. */
const LIST_TIMEOUT_MS = 60_000;
/** Limit of an unpaged list, a page of cluster-scoped objects, and a page of one object. */
const MAX_LIST_BYTES = 128 * 1024 * 1024;
/** Most members of a tenant's object, since 1 MiB could have 90 000. Old ServiceAccounts list hundreds of Secrets. */
const MAX_STRUCTURES: ReadonlyMap<string, number> = new Map([
  [Resource.secrets.plural, 2_000],
  [Resource.serviceAccounts.plural, 10_000],
]);
/** Thousands of these objects are written, so writes request only metadata, which takes a fraction of the time. */
const ANSWERED_BRIEFLY: ReadonlySet<string> = new Set([Resource.pods.plural, Resource.events.plural]);
const METADATA_ALONE = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
/** Time limit of a watch's response head; the stream's reader has its own. */
const WATCH_HEAD_TIMEOUT_MS = 30_000;

type ObjectBody = Readonly<Record<string, unknown>>;

/** Has its own connections. Sends nothing until the first call. Dispose of it after the last call. */
export class RestApi implements KubeApi, AsyncDisposable {
  readonly #transport: ApiTransport;

  constructor(access: ClusterAccess, options: ApiTransportOptions) {
    this.#transport = new ApiTransport(access, options);
  }

  async get(type: ResourceType, target: ResourceTarget, signal: AbortSignal): Promise<KubeObject> {
    const request = requestFor(type, { verb: "get", method: "GET", target });
    const maxStructure = MAX_STRUCTURES.get(type.plural);
    return parseKubeObject(await this.#transport.send({ ...request, maxStructure }, signal));
  }

  async list(type: ResourceType, options: ListOptions, signal: AbortSignal): Promise<KubeList> {
    const { namespace, limit, ...selection } = options;
    const request = requestFor(type, { verb: "list", method: "GET", target: { namespace } });
    const query = { ...selection, limit: limit?.toString() };
    const maxBytes = type.namespaced && limit !== undefined && limit > 1 ? MAX_PAGE_BYTES : MAX_LIST_BYTES;
    const { body, bytes } = await this.#transport.sendMeasured(
      { ...request, query, timeoutMs: LIST_TIMEOUT_MS, maxBytes },
      signal,
    );
    return { ...parseKubeList(body), bytes };
  }

  watch(type: ResourceType, options: WatchOptions, signal: AbortSignal): AsyncIterable<RawWatchEvent> {
    const { namespace, timeoutSeconds, ...selection } = options;
    const request = requestFor(type, { verb: "watch", method: "GET", target: { namespace } });
    const query = { ...selection, watch: "true", allowWatchBookmarks: "true", timeoutSeconds: String(timeoutSeconds) };
    return this.#transport.stream({ ...request, query, timeoutMs: WATCH_HEAD_TIMEOUT_MS }, {
      signal,
      read: decodeWatchStream,
    });
  }

  async create(
    type: ResourceType,
    object: ObjectBody,
    options: ResourceTarget & { readonly signal: AbortSignal },
  ): Promise<KubeObject> {
    const { signal, ...target } = options;
    const request = requestFor(type, { verb: "create", method: "POST", target });
    // An object is created in its collection; a subresource (`eviction`) is created under its object.
    const path = target.subresource === undefined ? resourcePath(type, { namespace: target.namespace }) : request.path;
    const answer = await this.#transport.send({
      ...request,
      path,
      ...briefly(type, target),
      query: MANAGED,
      body: object,
    }, signal);
    // An eviction's answer is a Status, which has no name.
    return target.subresource !== undefined && isObject(answer) && answer["kind"] === "Status"
      ? { metadata: { name: target.name ?? "" } }
      : parseKubeObject(answer);
  }

  async replace(
    type: ResourceType,
    object: ObjectBody,
    options: ResourceTarget & { readonly signal: AbortSignal },
  ): Promise<KubeObject> {
    const { signal, ...target } = options;
    const request = requestFor(type, { verb: "replace", method: "PUT", target });
    return parseKubeObject(await this.#transport.send({ ...request, query: MANAGED, body: object }, signal));
  }

  async patch(
    type: ResourceType,
    target: ResourceTarget,
    { body, signal, holdBack, isDryRun }: PatchOptions,
  ): Promise<KubeObject> {
    const request = requestFor(type, { verb: "patch", method: "PATCH", target });
    const parts = patchParts(body);
    const query = { ...parts.query, dryRun: isDryRun === true ? "All" : undefined };
    return parseKubeObject(
      await this.#transport.send(
        { ...request, ...briefly(type, target), ...parts, query, holdBack },
        signal,
      ),
    );
  }

  async delete(
    type: ResourceType,
    target: ResourceTarget,
    options: DeleteOptions & { readonly signal: AbortSignal },
  ): Promise<void> {
    const { signal, uid, resourceVersion, propagationPolicy, gracePeriodSeconds } = options;
    const preconditions = { uid, resourceVersion };
    const body = { kind: "DeleteOptions", apiVersion: "v1", preconditions, propagationPolicy, gracePeriodSeconds };
    await this.#transport.send({ ...requestFor(type, { verb: "delete", method: "DELETE", target }), body }, signal);
  }

  async raw(path: string, signal: AbortSignal): Promise<unknown> {
    const [shown = path] = path.split("?");
    const action = `get "${shown}"`;
    return await this.#transport.send(
      { method: "GET", path, timeoutMs: CALL_TIMEOUT_MS, action, priority: "bulk" },
      signal,
    );
  }

  serverClockOffsetMs(): number {
    return this.#transport.serverClock.offsetMs();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#transport[Symbol.asyncDispose]();
  }
}

const MANAGED = { fieldManager: FIELD_MANAGER } as const;

function briefly(type: ResourceType, { subresource }: ResourceTarget): Pick<ApiRequest, "accept"> {
  return ANSWERED_BRIEFLY.has(type.plural) && subresource === undefined ? { accept: METADATA_ALONE } : {};
}

function requestFor(
  type: ResourceType,
  options: { readonly verb: string; readonly method: ApiRequest["method"]; readonly target: ResourceTarget },
): ApiRequest {
  const { verb, method, target } = options;
  const where = [target.namespace, target.name].filter((part) => part !== undefined).join("/");
  const what = `${type.plural}${target.subresource === undefined ? "" : `/${target.subresource}`}`;
  return {
    method,
    path: resourcePath(type, target),
    timeoutMs: CALL_TIMEOUT_MS,
    action: where === "" ? `${verb} ${what}` : `${verb} ${what} "${where}"`,
    priority: type.plural === Resource.leases.plural ? "urgent" : "bulk",
  };
}

const PATCH_TYPES: Readonly<Record<PatchBody["kind"], string>> = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  apply: "application/apply-patch+yaml",
};

function patchParts(patch: PatchBody): Pick<ApiRequest, "contentType" | "query" | "body"> {
  return {
    contentType: PATCH_TYPES[patch.kind],
    query: patch.kind === "apply" ? { ...MANAGED, force: "true" } : MANAGED,
    body: patch.kind === "json" ? patch.operations : patch.document,
  };
}
