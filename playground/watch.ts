// A watch as a stream of JSON lines: replays the history from a resourceVersion, then follows the store.
import type { Clock } from "../lib/clock.ts";
import type { JsonObject } from "../lib/json.ts";
import { apiVersionOf } from "../lib/k8s/types.ts";
import type { ServedKind } from "./kinds.ts";
import type { Selector } from "./selectors.ts";
import { expired, renderStatus } from "./status_error.ts";
import type { ObjectStore, StoreChange } from "./store.ts";

interface WatchRequest {
  readonly kind: ServedKind;
  readonly selects: Selector;
  /** Empty or `0`: begin with the present state; otherwise continue after that version. */
  readonly resourceVersion: string;
  readonly timeoutMs: number;
  readonly bookmarks: boolean;
  readonly initialEvents: boolean;
}

const BOOKMARK_MS = 15_000;

/**
 * Opens the stream. It ends at its timeout (after a last bookmark), when the client leaves, or when `signal` aborts.
 */
export function openWatch(
  store: ObjectStore,
  request: WatchRequest,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
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
      const send = (line: JsonObject | undefined): void => {
        if (line === undefined || closing.signal.aborted) return;
        controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
      };
      const end = (): void => {
        if (closing.signal.aborted) return;
        stop();
        controller.close();
      };
      const sendBookmarks = async (): Promise<void> => {
        for (let leftMs = request.timeoutMs; leftMs > 0 && !closing.signal.aborted; leftMs -= BOOKMARK_MS) {
          await clock.sleep(Math.min(leftMs, BOOKMARK_MS), closing.signal);
          if (request.bookmarks) send(bookmark(store, request));
        }
        end();
      };
      const { lines, isExpired } = replay(store, request);
      lines.forEach(send);
      if (signal.aborted || isExpired) return end();
      signal.addEventListener("abort", end, { signal: closing.signal });
      unsubscribe = store.subscribe((change) => send(eventOf(change, request)));
      void sendBookmarks();
    },
    cancel: stop,
  });
}

/** What happened before the stream began, or that this is no longer known. */
function replay(
  store: ObjectStore,
  request: WatchRequest,
): { readonly lines: readonly (JsonObject | undefined)[]; readonly isExpired: boolean } {
  const { resourceVersion, kind, initialEvents, selects } = request;
  if (resourceVersion === "" || resourceVersion === "0" || initialEvents) {
    const present = store.list(kind).filter(selects).map((object) => ({ type: "ADDED", object }));
    const mark = initialEvents ? bookmark(store, request, { "k8s.io/initial-events-end": "true" }) : undefined;
    return { lines: [...present, mark], isExpired: false };
  }
  const changes = store.changesSince(kind, Number(resourceVersion));
  if (changes !== undefined) return { lines: changes.map((change) => eventOf(change, request)), isExpired: false };
  const gone = expired(`too old resource version: ${resourceVersion} (${store.version})`);
  return { lines: [{ type: "ERROR", object: renderStatus(gone) }], isExpired: true };
}

/** An object that enters the selection is ADDED, one that leaves it is DELETED, whatever was written. */
function eventOf(
  { kind: what, type, object, previous, version }: StoreChange,
  { kind, selects }: WatchRequest,
): JsonObject | undefined {
  if (type.plural !== kind.plural || type.group !== kind.group) return undefined;
  const before = previous !== undefined && selects(previous);
  const after = what !== "DELETED" && selects(object);
  if (after) return { type: before ? "MODIFIED" : "ADDED", object };
  if (!before) return undefined;
  // The last selected form under the version of the write that ended it.
  return {
    type: "DELETED",
    object: { ...previous, metadata: { ...previous.metadata, resourceVersion: `${version}` } },
  };
}

function bookmark(store: ObjectStore, { kind }: WatchRequest, annotations?: JsonObject): JsonObject {
  const metadata = { resourceVersion: String(store.version), creationTimestamp: null, annotations };
  return { type: "BOOKMARK", object: { kind: kind.kind, apiVersion: apiVersionOf(kind), metadata } };
}
