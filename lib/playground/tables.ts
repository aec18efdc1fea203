// The Table form of objects that `kubectl get` prints: columns by kind, one row an object.
import type { KubeObject, ResourceType } from "../k8s/types.ts";
import { type JsonObject, listAt, numberAt, textAt, textsAt, valueAt } from "./json_value.ts";

/** A column: priority 0 shows always, 1 with `-o wide`. */
interface Column {
  readonly name: string;
  readonly type: "string" | "integer";
  readonly priority: 0 | 1;
  readonly cell: (object: KubeObject, nowMs: number) => string | number;
}

function column(name: string, cell: Column["cell"], rest: Partial<Pick<Column, "type" | "priority">> = {}): Column {
  return { name, cell, type: rest.type ?? "string", priority: rest.priority ?? 0 };
}

const NAME = column("Name", (object) => object.metadata.name);
const AGE = column("Age", (object, nowMs) => age(object.metadata.creationTimestamp, nowMs));
const WIDE = { priority: 1 } as const;

const POD: readonly Column[] = [
  NAME,
  column("Ready", (pod) => {
    const statuses = listAt(pod, "status", "containerStatuses");
    const ready = statuses.filter((status) => valueAt(status, "ready") === true).length;
    return `${ready}/${listAt(pod, "spec", "containers").length}`;
  }),
  column("Status", podStatus),
  column(
    "Restarts",
    (pod) =>
      listAt(pod, "status", "containerStatuses").reduce<number>(
        (sum, s) => sum + (numberAt(s, "restartCount") ?? 0),
        0,
      ),
    { type: "integer" },
  ),
  AGE,
  column("IP", (pod) => textAt(pod, "status", "podIP") ?? "<none>", WIDE),
  column("Node", (pod) => textAt(pod, "spec", "nodeName") ?? "<none>", WIDE),
  column("Nominated Node", () => "<none>", WIDE),
  column("Readiness Gates", () => "<none>", WIDE),
];

const NODE: readonly Column[] = [
  NAME,
  column("Status", () => "Ready"),
  column("Roles", (node) => {
    const role = "node-role.kubernetes.io/";
    const roles = Object.keys(textsAt(node, "metadata", "labels")).filter((key) => key.startsWith(role));
    return roles.length === 0 ? "<none>" : roles.map((key) => key.slice(role.length)).join(",");
  }),
  AGE,
  column("Version", (node) => textAt(node, "status", "nodeInfo", "kubeletVersion") ?? ""),
  column("Arch", (node) => textAt(node, "metadata", "labels", "kubernetes.io/arch") ?? "<none>"),
];

const EVENT: readonly Column[] = [
  column("Last Seen", (event, nowMs) => age(textAt(event, "lastTimestamp") ?? textAt(event, "eventTime"), nowMs)),
  column("Type", (event) => textAt(event, "type") ?? ""),
  column("Reason", (event) => textAt(event, "reason") ?? ""),
  column("Object", (event) => {
    const kind = (textAt(event, "involvedObject", "kind") ?? "").toLowerCase();
    return `${kind}/${textAt(event, "involvedObject", "name") ?? ""}`;
  }),
  column("Message", (event) => (textAt(event, "message") ?? "").trim()),
];

const NAMESPACE: readonly Column[] = [NAME, column("Status", (o) => textAt(o, "status", "phase") ?? "Active"), AGE];

const WORKLOAD: readonly Column[] = [
  NAME,
  column("Ready", (o) => `${numberAt(o, "status", "readyReplicas") ?? 0}/${numberAt(o, "spec", "replicas") ?? 1}`),
  AGE,
];

const LEASE: readonly Column[] = [NAME, column("Holder", (o) => textAt(o, "spec", "holderIdentity") ?? ""), AGE];

const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  pods: POD,
  nodes: NODE,
  events: EVENT,
  namespaces: NAMESPACE,
  deployments: WORKLOAD,
  statefulsets: WORKLOAD,
  leases: LEASE,
};

/** Whether the client's Accept header asks for Tables. */
export function wantsTable(accept: string | null): boolean {
  return accept?.includes("as=Table") ?? false;
}

/** A `meta.k8s.io/v1` Table of some objects, with the list's metadata. */
export function renderTable(
  type: ResourceType,
  objects: readonly KubeObject[],
  options: { readonly nowMs: number; readonly metadata: JsonObject },
): JsonObject {
  const columns = COLUMNS[type.plural] ?? [NAME, AGE];
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata: options.metadata,
    columnDefinitions: columns.map(({ name, type: cellType, priority }) => ({
      name,
      type: cellType,
      format: name === "Name" ? "name" : "",
      description: name,
      priority,
    })),
    rows: objects.map((object) => ({
      cells: columns.map((each) => each.cell(object, options.nowMs)),
      object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata },
    })),
  };
}

function podStatus(pod: KubeObject): string {
  if (pod.metadata.deletionTimestamp !== undefined) return "Terminating";
  const held = listAt(pod, "status", "conditions").some((condition) =>
    textAt(condition, "type") === "PodScheduled" && textAt(condition, "reason") === "SchedulingGated"
  );
  if (held) return "SchedulingGated";
  const waiting = listAt(pod, "status", "containerStatuses")
    .map((status) => textAt(status, "state", "waiting", "reason")).find((reason) => reason !== undefined);
  return waiting ?? textAt(pod, "status", "phase") ?? "Unknown";
}

/** `12s`, `3m5s`, `4h`, `2d`: the ages of `kubectl`. */
function age(since: string | undefined, nowMs: number): string {
  const startMs = since === undefined ? NaN : Date.parse(since);
  if (Number.isNaN(startMs)) return "<unknown>";
  const seconds = Math.max(0, Math.floor((nowMs - startMs) / 1_000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 600) return `${Math.floor(seconds / 60)}m${seconds % 60 === 0 ? "" : `${seconds % 60}s`}`;
  if (seconds < 3 * 3_600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 2 * 86_400 ? `${Math.floor(seconds / 3_600)}h` : `${Math.floor(seconds / 86_400)}d`;
}
