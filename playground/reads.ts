// GET of the API server: one object, a list, or a watch. No pages, as servers may ignore a limit. No Tables: kubectl
// prints names and ages by itself.
import type { JsonObject } from "../lib/json.ts";
import { apiVersionOf } from "../lib/k8s/types.ts";
import { type Cluster, findObject } from "./cluster.ts";
import type { ResourcePath, ServedKind } from "./kinds.ts";
import { parseFieldSelector, parseLabelSelector, type Selector } from "./selectors.ts";
import { openWatch } from "./watch.ts";

/** Answers a GET. `signal` ends watches when the server closes. Throws StatusError. */
export function readResource(
  cluster: Cluster,
  path: ResourcePath,
  { query, signal }: { readonly query: URLSearchParams; readonly signal: AbortSignal },
): Response {
  const { kind, namespace, name } = path;
  const isWatch = isTrue(query.get("watch"));
  if (name !== undefined && !isWatch) return Response.json(findObject(cluster, kind, { namespace, name }));
  const selects = parseSelection(path, query);
  if (!isWatch) return Response.json(listOf(cluster, kind, selects));
  const stream = openWatch(cluster.store, {
    kind,
    selects,
    resourceVersion: query.get("resourceVersion") ?? "",
    timeoutMs: 1_000 * (Number(query.get("timeoutSeconds")) || 1_800),
    bookmarks: isTrue(query.get("allowWatchBookmarks")),
    initialEvents: isTrue(query.get("sendInitialEvents")),
  }, { clock: cluster.clock, signal });
  return new Response(stream, { headers: { "content-type": "application/json" } });
}

function isTrue(value: string | null): boolean {
  return value === "true" || value === "1";
}

function parseSelection(path: ResourcePath, query: URLSearchParams): Selector {
  const byLabel = parseLabelSelector(query.get("labelSelector") ?? "");
  const byField = parseFieldSelector(query.get("fieldSelector") ?? "");
  return (object) =>
    (path.namespace === undefined || object.metadata.namespace === path.namespace) &&
    (path.name === undefined || object.metadata.name === path.name) &&
    byLabel(object) && byField(object);
}

function listOf({ store }: Cluster, kind: ServedKind, selects: Selector): JsonObject {
  // Without apiVersion and kind, as from the real server.
  const items = store.list(kind).filter(selects).map(({ apiVersion: _apiVersion, kind: _kind, ...item }) => item);
  const metadata = { resourceVersion: String(store.version) };
  return { kind: `${kind.kind}List`, apiVersion: apiVersionOf(kind), metadata, items };
}
