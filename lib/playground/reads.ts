// GET of the API server: one object, a page of a list, or a watch; as plain JSON or as a Table.
import { apiVersionOf, keyOf, type KubeObject } from "../k8s/types.ts";
import type { Cluster } from "./cluster.ts";
import type { JsonObject } from "./json_value.ts";
import type { ServedKind } from "./kinds.ts";
import type { ResourcePath } from "./request_path.ts";
import { parseFieldSelector, parseLabelSelector, type Selector } from "./selectors.ts";
import { badRequest, expired, notFound } from "./status.ts";
import { renderTable, wantsTable } from "./tables.ts";
import { openWatch } from "./watch.ts";

/** Answers a GET. `signal` ends watches when the server closes. Throws StatusError. */
export function readResource(
  cluster: Cluster,
  path: ResourcePath,
  options: { readonly request: Request; readonly signal: AbortSignal },
): Response {
  const query = new URL(options.request.url).searchParams;
  const table = wantsTable(options.request.headers.get("accept"));
  const nowMs = cluster.clock.nowMs();
  if (path.name !== undefined && !isTrue(query.get("watch"))) {
    const object = findObject(cluster, path);
    if (!table) return Response.json(object);
    const metadata = { resourceVersion: object.metadata.resourceVersion };
    return Response.json(renderTable(path.kind, [object], { nowMs, metadata }));
  }
  const selects = parseSelection(path, query);
  if (!isTrue(query.get("watch"))) return Response.json(listPage(cluster, path.kind, { selects, query, table }));
  const stream = openWatch(cluster.store, {
    kind: path.kind,
    selects,
    resourceVersion: query.get("resourceVersion") ?? "",
    timeoutMs: 1_000 * (Number(query.get("timeoutSeconds")) || 1_800),
    bookmarks: isTrue(query.get("allowWatchBookmarks")),
    initialEvents: isTrue(query.get("sendInitialEvents")),
    render: (object) =>
      table
        ? renderTable(path.kind, [object], {
          nowMs: cluster.clock.nowMs(),
          metadata: { resourceVersion: object.metadata.resourceVersion },
        })
        : object,
  }, { clock: cluster.clock, signal: options.signal });
  return new Response(stream, { headers: { "content-type": "application/json" } });
}

function isTrue(value: string | null): boolean {
  return value === "true" || value === "1";
}

/** The object a path names. Throws 404. */
export function findObject(cluster: Cluster, path: ResourcePath): KubeObject {
  const name = path.name ?? "";
  const found = cluster.store.get(path.kind, path.namespace === undefined ? name : `${path.namespace}/${name}`);
  if (found === undefined) throw notFound(path.kind, name);
  return found;
}

/** Namespace, name and both selectors of a request as one test. Throws 400. */
export function parseSelection(path: ResourcePath, query: URLSearchParams): Selector {
  const byLabel = parseLabelSelector(query.get("labelSelector") ?? "");
  const byField = parseFieldSelector(query.get("fieldSelector") ?? "");
  return (object) =>
    (path.namespace === undefined || object.metadata.namespace === path.namespace) &&
    (path.name === undefined || object.metadata.name === path.name) &&
    byLabel(object) && byField(object);
}

/**
 * One page. Later pages are read from the present state, not from a snapshot, but carry the first page's version: a
 * watch from there sees every change in between. A token from before the kept history is 410, as on the real server.
 */
function listPage(
  cluster: Cluster,
  kind: ServedKind,
  options: { readonly selects: Selector; readonly query: URLSearchParams; readonly table: boolean },
): JsonObject {
  const { selects, query, table } = options;
  const token = parseContinue(query.get("continue") ?? "");
  const version = token?.version ?? cluster.store.version;
  if (cluster.store.changesSince(kind, version) === undefined) {
    throw expired("The provided continue parameter is too old to display a consistent list result.");
  }
  const all = cluster.store.list(kind).filter((object) => selects(object) && keyOf(object) > (token?.after ?? ""));
  const limit = Number(query.get("limit")) || all.length;
  const items = all.slice(0, limit);
  const last = items.at(-1);
  const more = all.length > items.length && last !== undefined
    ? { continue: btoa(JSON.stringify([version, keyOf(last)])), remainingItemCount: all.length - items.length }
    : {};
  const metadata = { resourceVersion: String(version), ...more };
  if (table) return renderTable(kind, items, { nowMs: cluster.clock.nowMs(), metadata });
  return { kind: `${kind.kind}List`, apiVersion: apiVersionOf(kind), metadata, items: items.map(listItem) };
}

/** Items of lists come without apiVersion and kind, as from the real server. */
function listItem(object: KubeObject): JsonObject {
  const { apiVersion: _apiVersion, kind: _kind, ...item } = object;
  return item;
}

function parseContinue(token: string): { readonly version: number; readonly after: string } | undefined {
  if (token === "") return undefined;
  try {
    const parsed: unknown = JSON.parse(atob(token));
    if (Array.isArray(parsed) && typeof parsed[0] === "number" && typeof parsed[1] === "string") {
      return { version: parsed[0], after: parsed[1] };
    }
  } catch (error) {
    throw badRequest(`continue key is not valid: ${error instanceof Error ? error.message : ""}`);
  }
  throw badRequest("continue key is not valid");
}
