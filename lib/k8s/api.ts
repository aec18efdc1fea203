// The interface of the Kubernetes API edge: every client of the API server takes a KubeApi, never a URL.
import type { Clock } from "../clock.ts";
import { isNotFound } from "./errors.ts";
import type { KubeList, KubeObject, ResourceTarget, ResourceType } from "./types.ts";
import type { JsonPatch } from "./patch.ts";

export interface Selection {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
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
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: KubeObject;
}

export interface PatchOptions {
  readonly body: PatchBody;
  readonly signal: AbortSignal;
  /** The body is sent when this resolves. The API server authorizes the request by its head before that. */
  readonly holdBack?: Promise<void> | undefined;
  /** The API server does everything but store: defaults, validation, admission. */
  readonly isDryRun?: boolean | undefined;
}

/** What to change and how. `apply` is server-side apply under Archway's field manager. */
export type PatchBody =
  | { readonly kind: "json"; readonly operations: JsonPatch }
  | { readonly kind: "merge"; readonly document: unknown }
  | { readonly kind: "apply"; readonly document: unknown; readonly force: boolean };

export interface DeleteOptions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly propagationPolicy?: "Background" | "Foreground";
  /** How long a pod may take to end; 0 removes it without waiting for its node. Default: as the pod says. */
  readonly gracePeriodSeconds?: number;
}

/** Read access. A refusal or no answer throws ApiError, a too large answer AnswerTooLarge. Each request has its own timeout. */
export interface ReadApi {
  get(type: ResourceType, target: ResourceTarget, signal: AbortSignal): Promise<KubeObject>;
  list(type: ResourceType, options: ListOptions, signal: AbortSignal): Promise<KubeList>;
  /** Events until the server ends the stream; throws when it is cut. Bookmarks are requested. */
  watch(type: ResourceType, options: WatchOptions, signal: AbortSignal): AsyncIterable<RawWatchEvent>;
  raw(path: string, signal: AbortSignal): Promise<unknown>;
  /** How far the server's clock is ahead of ours, from its `Date` headers (ms, second precision); 0 until known. */
  serverClockOffsetMs(): number;
}

/** Now by the clock of the API server, which sets the timestamps of objects (epoch ms). */
export function serverNowMs(clock: Pick<Clock, "nowMs">, api: Pick<ReadApi, "serverClockOffsetMs">): number {
  return clock.nowMs() + api.serverClockOffsetMs();
}

/** `create` and `patch` return pods and events with their metadata alone. */
export interface KubeApi extends ReadApi {
  create(
    type: ResourceType,
    object: Readonly<Record<string, unknown>>,
    options: ResourceTarget & { readonly signal: AbortSignal },
  ): Promise<KubeObject>;
  /** PUT: only for objects that Archway alone writes (Leases). Everything else is patched. */
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

/** Settles as the call does, or resolves with undefined when it fails with an error that `isIgnored` accepts. */
export async function ignoring<T>(isIgnored: (error: unknown) => boolean, call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isIgnored(error)) return undefined;
    throw error;
  }
}
