// The discovery documents of the API server: /version, /api, /apis, resource lists, and just enough OpenAPI v3 for `kubectl apply`.
import { type JsonObject } from "./json_value.ts";
import { SERVED_KINDS, type ServedKind } from "./kinds.ts";

const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"] as const;

/** The answer to a discovery path; undefined when the path is none. `host` is the server's own address. */
export function renderDiscovery(path: string, host: string): JsonObject | undefined {
  const trimmed = path.replace(/\/$/, "");
  if (trimmed === "/version") return renderVersion();
  if (trimmed === "/api") {
    return {
      kind: "APIVersions",
      versions: ["v1"],
      serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: host }],
    };
  }
  if (trimmed === "/apis") return { kind: "APIGroupList", apiVersion: "v1", groups: groups().map(renderGroup) };
  if (trimmed === "/openapi/v3") return renderOpenApiIndex();
  const openApi = /^\/openapi\/v3\/(api\/v1|apis\/[^/]+\/[^/]+)$/.exec(trimmed);
  if (openApi !== null) return renderOpenApi(`/${openApi[1] ?? ""}`);
  const group = /^\/apis\/([^/]+)$/.exec(trimmed);
  const known = groups().find((each) => each.group === group?.[1]);
  if (known !== undefined) return { kind: "APIGroup", apiVersion: "v1", ...renderGroup(known) };
  return renderResources(trimmed);
}

function groups(): readonly { readonly group: string; readonly version: string }[] {
  const seen = new Map(SERVED_KINDS.filter(({ group }) => group !== "").map(({ group, version }) => [group, version]));
  return [...seen].map(([group, version]) => ({ group, version }));
}

/** The URL of a kind's group and version. */
function rootOf(kind: { readonly group: string; readonly version: string }): string {
  return kind.group === "" ? `/api/${kind.version}` : `/apis/${kind.group}/${kind.version}`;
}

function renderVersion(): JsonObject {
  return {
    major: "1",
    minor: "36",
    gitVersion: "v1.36.3+archway-playground",
    gitCommit: "",
    gitTreeState: "clean",
    buildDate: "1970-01-01T00:00:00Z",
    goVersion: "",
    compiler: "",
    platform: "",
  };
}

function renderGroup(group: { readonly group: string; readonly version: string }): JsonObject {
  const version = { groupVersion: `${group.group}/${group.version}`, version: group.version };
  return { name: group.group, versions: [version], preferredVersion: version };
}

function renderResources(path: string): JsonObject | undefined {
  const kinds = SERVED_KINDS.filter((kind) => rootOf(kind) === path);
  const [first] = kinds;
  if (first === undefined) return undefined;
  return {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: first.group === "" ? first.version : `${first.group}/${first.version}`,
    resources: kinds.flatMap(renderKind),
  };
}

function renderKind(kind: ServedKind): readonly JsonObject[] {
  const { plural, namespaced, shortNames } = kind;
  const main = {
    name: plural,
    singularName: kind.kind.toLowerCase(),
    namespaced,
    kind: kind.kind,
    verbs: VERBS,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(plural === "pods" ? { categories: ["all"] } : {}),
  };
  const subresource = (name: string, kindName: string, verbs: readonly string[]): JsonObject => ({
    name: `${plural}/${name}`,
    singularName: "",
    namespaced,
    kind: kindName,
    verbs,
  });
  const status = kind.hasStatus ? [subresource("status", kind.kind, ["get", "patch", "update"])] : [];
  const binding = plural === "pods" ? [subresource("binding", "Binding", ["create"])] : [];
  return [main, ...status, ...binding];
}

function renderOpenApiIndex(): JsonObject {
  const paths = [...new Set(SERVED_KINDS.map(rootOf))].map((root) => [
    root.slice(1),
    { serverRelativeURL: `/openapi/v3${root}?hash=playground` },
  ]);
  return { paths: Object.fromEntries(paths) };
}

/**
 * No schemas: only that each kind's PATCH takes `fieldValidation`, which is all that `kubectl` looks for before it
 * leaves validation to the server.
 */
function renderOpenApi(root: string): JsonObject | undefined {
  const kinds = SERVED_KINDS.filter((kind) => rootOf(kind) === root);
  if (kinds.length === 0) return undefined;
  const paths = kinds.map((kind) => {
    const operation = {
      "x-kubernetes-action": "patch",
      "x-kubernetes-group-version-kind": { group: kind.group, version: kind.version, kind: kind.kind },
      parameters: [{ name: "fieldValidation", in: "query", schema: { type: "string" } }],
      responses: { "200": { description: "OK" } },
    };
    return [`${root}${kind.namespaced ? "/namespaces/{namespace}" : ""}/${kind.plural}/{name}`, { patch: operation }];
  });
  return { openapi: "3.0.0", info: { title: "Archway playground", version: "1" }, paths: Object.fromEntries(paths) };
}
