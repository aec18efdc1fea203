// GET of the API server: one object, a page of a list, or a watch. No Tables: kubectl prints names and ages by itself.
import type { JsonObject } from "../lib/json.ts";
import { apiVersionOf, keyOf } from "../lib/k8s/types.ts";
import { type Cluster, findObject } from "./cluster.ts";
import type { ResourcePath, ServedKind } from "./kinds.ts";
import { parseFieldSelector, parseLabelSelector, type Selector } from "./selectors.ts";
import { badRequest, expired } from "./status.ts";
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
  if (!isWatch) return Response.json(listPage(cluster, kind, { selects, query }));
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

/** A page. Later ones show the present state under the first one's version, from which a watch sees every change. Old: 410. */
function listPage(
  cluster: Cluster,
  kind: ServedKind,
  options: { readonly selects: Selector; readonly query: URLSearchParams },
): JsonObject {
  const { selects, query } = options;
  const token = query.get("continue") ?? "";
  const [, from, after = ""] = /^(\d+) (.+)$/.exec(token) ?? [];
  if (token !== "" && from === undefined) throw badRequest("continue key is not valid");
  const version = from === undefined ? cluster.store.version : Number(from);
  if (cluster.store.changesSince(kind, version) === undefined) {
    throw expired("The provided continue parameter is too old to display a consistent list result.");
  }
  const all = cluster.store.list(kind).filter((object) => selects(object) && keyOf(object) > after);
  const limit = Number(query.get("limit")) || all.length;
  const items = all.slice(0, limit);
  const last = items.at(-1);
  const more = all.length > items.length && last !== undefined
    ? { continue: `${version} ${keyOf(last)}`, remainingItemCount: all.length - items.length }
    : {};
  const metadata = { resourceVersion: String(version), ...more };
  // Without apiVersion and kind, as from the real server.
  const listed = items.map(({ apiVersion: _apiVersion, kind: _kind, ...item }) => item);
  return { kind: `${kind.kind}List`, apiVersion: apiVersionOf(kind), metadata, items: listed };
}
