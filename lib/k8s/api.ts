// The interface of the Kubernetes API edge: every client of the API server takes a KubeApi, never a URL.
import type { Clock } from "../clock.ts";
import { isNotFound } from "./api_error.ts";
import type { KubeList, KubeObject, ResourceTarget, ResourceType } from "./types.ts";
import type { JsonPatch } from "./patch.ts";

export interface Selection {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

/** `resourceVersion: "0"` lets the server answer from its watch cache. */
export interface ListOptions extends Selection {
  readonly limit?: number;
  readonly continue?: string;
  readonly resourceVersion?: string;
}

export interface WatchOptions extends Selection {
  readonly resourceVersion: string;
  readonly timeoutSeconds: number;
}

export interface RawWatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK";
  readonly object: KubeObject;
}

export interface PatchOptions {
  readonly body: PatchBody;
  readonly signal: AbortSignal;
  /** The body is sent when this resolves. Before that, the API server authorizes the request by its head. */
  readonly holdBack?: Promise<void> | undefined;
  /** The API server does everything except storing: defaults, validation, admission. */
  readonly isDryRun?: boolean | undefined;
}

/** What to change and how. `apply` is server-side apply under Archway's field manager, by force. */
export type PatchBody =
  | { readonly kind: "json"; readonly operations: JsonPatch }
  | { readonly kind: "merge" | "apply"; readonly document: unknown };

export interface DeleteOptions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly propagationPolicy?: "Background" | "Foreground";
  /** A pod's grace period (s); 0 removes it without waiting for its node. Default: the pod's own. */
  readonly gracePeriodSeconds?: number;
}

/** Read access. A failed request throws ApiError, a too large answer AnswerTooLarge. Each request has a timeout. */
export interface ReadApi {
  get(type: ResourceType, target: ResourceTarget, signal: AbortSignal): Promise<KubeObject>;
  list(type: ResourceType, options: ListOptions, signal: AbortSignal): Promise<KubeList>;
  /** Yields events until the server ends the stream; throws when the connection is cut. Requests bookmarks. */
  watch(type: ResourceType, options: WatchOptions, signal: AbortSignal): AsyncIterable<RawWatchEvent>;
  raw(path: string, signal: AbortSignal): Promise<unknown>;
  /** The server's clock minus ours, from its `Date` headers (ms, second precision); 0 until known. */
  serverClockOffsetMs(): number;
}

/** The API server's time, which sets objects' timestamps (epoch ms). */
export function serverNowMs(clock: Pick<Clock, "nowMs">, api: Pick<ReadApi, "serverClockOffsetMs">): number {
  return clock.nowMs() + api.serverClockOffsetMs();
}

/** `create` and `patch` return only the metadata of pods and events. */
export interface KubeApi extends ReadApi {
  create(
    type: ResourceType,
    object: Readonly<Record<string, unknown>>,
    options: ResourceTarget & { readonly signal: AbortSignal },
  ): Promise<KubeObject>;
  /** Sends PUT. Only for objects that Archway alone writes (Leases): all others must be patched. */
  replace(
    type: ResourceType,
    object: Readonly<Record<string, unknown>>,
    options: ResourceTarget & { readonly signal: AbortSignal },
  ): Promise<KubeObject>;
  patch(
    type: ResourceType,
    target: ResourceTarget,
    options: PatchOptions,
  ): Promise<KubeObject>;
  delete(
    type: ResourceType,
    target: ResourceTarget,
    options: DeleteOptions & { readonly signal: AbortSignal },
  ): Promise<void>;
}

export function withCalls(api: KubeApi, calls: Partial<KubeApi>): KubeApi {
  return {
    get: (...call) => api.get(...call),
    list: (...call) => api.list(...call),
    watch: (...call) => api.watch(...call),
    create: (...call) => api.create(...call),
    replace: (...call) => api.replace(...call),
    patch: (...call) => api.patch(...call),
    delete: (...call) => api.delete(...call),
    raw: (...call) => api.raw(...call),
    serverClockOffsetMs: () => api.serverClockOffsetMs(),
    ...calls,
  };
}

export async function readOptional(
  api: Pick<ReadApi, "get">,
  wanted: ResourceTarget & { readonly type: ResourceType; readonly signal: AbortSignal },
): Promise<KubeObject | undefined> {
  const { type, signal, ...target } = wanted;
  return await ignoring(isNotFound, api.get(type, target, signal));
}

/** Settles like the call, but resolves with undefined for errors that `isIgnored` accepts. */
export async function ignoring<T>(isIgnored: (error: unknown) => boolean, call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isIgnored(error)) return undefined;
    throw error;
  }
}
