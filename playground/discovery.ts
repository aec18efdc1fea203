// The discovery documents of the API server: /version, /api, /apis, resource lists, and just enough OpenAPI v3 for
// `kubectl apply`.
import type { JsonObject } from "../lib/json.ts";
import { apiVersionOf } from "../lib/k8s/types.ts";
import { SERVED_KINDS, type ServedKind } from "./kinds.ts";

const VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"] as const;

const DOCUMENTS: ReadonlyMap<string, JsonObject> = renderDocuments();

export function findDocument(path: string): JsonObject | undefined {
  return DOCUMENTS.get(path.replace(/\/$/, ""));
}

function renderDocuments(): ReadonlyMap<string, JsonObject> {
  const versions = [...Map.groupBy(SERVED_KINDS, apiVersionOf)].map(([version, kinds]) => ({
    version,
    kinds,
    root: version === "v1" ? "/api/v1" : `/apis/${version}`,
  }));
  const groups = versions.filter(({ version }) => version !== "v1").map(({ version: groupVersion }) => {
    const [name = "", version] = groupVersion.split("/");
    const preferredVersion = { groupVersion, version };
    return { name, versions: [preferredVersion], preferredVersion };
  });
  const openApi = versions.map((
    { root },
  ) => [root.slice(1), { serverRelativeURL: `/openapi/v3${root}?hash=playground` }]);
  return new Map<string, JsonObject>([
    ["/version", { major: "1", minor: "36", gitVersion: "v1.36.3+archway-playground" }],
    ["/api", { kind: "APIVersions", versions: ["v1"] }],
    ["/apis", { kind: "APIGroupList", apiVersion: "v1", groups }],
    ...groups.map((group) => [`/apis/${group.name}`, { kind: "APIGroup", apiVersion: "v1", ...group }] as const),
    ["/openapi/v3", { paths: Object.fromEntries(openApi) }],
    ...versions.flatMap(({ version, kinds, root }) => [
      [root, { kind: "APIResourceList", groupVersion: version, resources: kinds.flatMap(renderKind) }] as const,
      [`/openapi/v3${root}`, renderOpenApi(root, kinds)] as const,
    ]),
  ]);
}

function renderKind({ plural, kind, namespaced, hasStatus }: ServedKind): readonly JsonObject[] {
  const common = { singularName: "", namespaced, verbs: VERBS };
  const main = { ...common, name: plural, singularName: kind.toLowerCase(), kind };
  const status = { ...common, name: `${plural}/status`, kind };
  return hasStatus ? [main, status] : [main];
}

/** It has no schemas: `kubectl` leaves validation to the server if PATCH takes `fieldValidation`. */
function renderOpenApi(root: string, kinds: readonly ServedKind[]): JsonObject {
  const paths = kinds.map(({ group, version, kind, namespaced, plural }) => {
    const patch = {
      "x-kubernetes-action": "patch",
      "x-kubernetes-group-version-kind": { group, version, kind },
      parameters: [{ name: "fieldValidation", in: "query", schema: { type: "string" } }],
      responses: { "200": { description: "OK" } },
    };
    return [`${root}${namespaced ? "/namespaces/{namespace}" : ""}/${plural}/{name}`, { patch }];
  });
  return { openapi: "3.0.0", info: { title: "Archway playground", version: "1" }, paths: Object.fromEntries(paths) };
}
