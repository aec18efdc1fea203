// A watch as a stream of JSON lines: replays the history from a resourceVersion, then follows the store.
import { type Clock } from "../clock.ts";
import { apiVersionOf, type KubeObject } from "../k8s/types.ts";
import type { JsonObject } from "./json_value.ts";
import type { ServedKind } from "./kinds.ts";
import type { Selector } from "./selectors.ts";
import { expired, renderStatus } from "./status.ts";
import type { ObjectStore, StoreChange } from "./store.ts";

/** What a client watches. */
export interface WatchRequest {
  /** Which kind. */
  readonly kind: ServedKind;
  /** Namespace and selectors in one test. */
  readonly selects: Selector;
  /** Empty or `0`: begin with the present state; otherwise continue after that version. */
  readonly resourceVersion: string;
  /** How long until the server ends it. */
  readonly timeoutMs: number;
  /** Whether the client takes bookmarks. */
  readonly bookmarks: boolean;
  /** `sendInitialEvents`: the present state, then a bookmark that marks its end. */
  readonly initialEvents: boolean;
  /** The form in which an object is sent: itself, or a Table. */
  readonly render: (object: KubeObject) => JsonObject;
}

/** An event line before it is rendered. */
interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: KubeObject;
}

const BOOKMARK_MS = 15_000;

/** Opens the stream. It ends at its timeout (after a last bookmark), when the client leaves, or when `signal` aborts. */
export function openWatch(
  store: ObjectStore,
  request: WatchRequest,
  options: { readonly clock: Clock; readonly signal: AbortSignal },
): ReadableStream<Uint8Array> {
  const closing = new AbortController();
  const encoder = new TextEncoder();
  let unsubscribe = (): void => {};
  const stop = (): void => {
    closing.abort();
    unsubscribe();
  };
  return new ReadableStream<Uint8Array>({
    start(controller): void {
      const send = (line: JsonObject): void => {
        if (!closing.signal.aborted) controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
      };
      const sendEvent = (event: WatchEvent): void => send({ type: event.type, object: request.render(event.object) });
      const end = (): void => {
        if (closing.signal.aborted) return;
        stop();
        controller.close();
      };
      if (options.signal.aborted || !replay(store, request, { send, sendEvent })) return end();
      options.signal.addEventListener("abort", end, { signal: closing.signal });
      unsubscribe = store.subscribe((change) => {
        const event = select(change, request);
        if (event !== undefined) sendEvent(event);
      });
      const sendBookmark = (): void => send(bookmark(store, request));
      void runTimers(request, { clock: options.clock, signal: closing.signal, bookmark: sendBookmark, end });
    },
    cancel: stop,
  });
}

interface Sink {
  readonly send: (line: JsonObject) => void;
  readonly sendEvent: (event: WatchEvent) => void;
}

/** Sends what happened before the stream began; false when that is no longer known. */
function replay(store: ObjectStore, request: WatchRequest, sink: Sink): boolean {
  const { resourceVersion, kind } = request;
  if (resourceVersion === "" || resourceVersion === "0" || request.initialEvents) {
    for (const object of store.list(kind)) if (request.selects(object)) sink.sendEvent({ type: "ADDED", object });
    if (request.initialEvents) sink.send(bookmark(store, request, { "k8s.io/initial-events-end": "true" }));
    return true;
  }
  const changes = store.changesSince(kind, Number(resourceVersion));
  if (changes === undefined) {
    const gone = expired(`too old resource version: ${resourceVersion} (${store.version})`);
    sink.send({ type: "ERROR", object: renderStatus(gone) });
    return false;
  }
  for (const change of changes) {
    const event = select(change, request);
    if (event !== undefined) sink.sendEvent(event);
  }
  return true;
}

/** An object that enters the selection is ADDED, one that leaves it is DELETED, whatever was written. */
function select(change: StoreChange, request: WatchRequest): WatchEvent | undefined {
  if (change.type.plural !== request.kind.plural || change.type.group !== request.kind.group) return undefined;
  const before = change.previous !== undefined && request.selects(change.previous);
  const after = change.kind !== "DELETED" && request.selects(change.object);
  if (before && after) return { type: "MODIFIED", object: change.object };
  if (after) return { type: "ADDED", object: change.object };
  if (!before) return undefined;
  return { type: "DELETED", object: change.kind === "DELETED" ? change.object : leaving(change) };
}

/** The last selected form under the version of the write that ended it. */
function leaving(change: StoreChange): KubeObject {
  const last = change.previous ?? change.object;
  return { ...last, metadata: { ...last.metadata, resourceVersion: String(change.version) } };
}

function bookmark(store: ObjectStore, request: WatchRequest, annotations?: JsonObject): JsonObject {
  const metadata = {
    resourceVersion: String(store.version),
    creationTimestamp: null,
    ...(annotations === undefined ? {} : { annotations }),
  };
  return { type: "BOOKMARK", object: { kind: request.kind.kind, apiVersion: apiVersionOf(request.kind), metadata } };
}

async function runTimers(
  request: WatchRequest,
  options: {
    readonly clock: Clock;
    readonly signal: AbortSignal;
    readonly bookmark: () => void;
    readonly end: () => void;
  },
): Promise<void> {
  for (let leftMs = request.timeoutMs; leftMs > 0 && !options.signal.aborted; leftMs -= BOOKMARK_MS) {
    await options.clock.sleep(Math.min(leftMs, BOOKMARK_MS), options.signal);
    if (request.bookmarks && !options.signal.aborted) options.bookmark();
  }
  options.end();
}
