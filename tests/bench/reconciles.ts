// The audit log, cut into the reconciles of upgrades: what each asked of the API server, and how long it took. Pure.
import type { AuditedRequest } from "../cluster/support/audit_log.ts";

export interface Reconcile {
  readonly reads: number;
  readonly writes: number;
  readonly tookMs: number;
  /** `list nodes`, in order. */
  readonly words: readonly string[];
}

/** What the process does beside: the Lease, events, the webhook's configuration and certificate. */
const BESIDE = ["leases", "events", "validatingwebhookconfigurations"];
const CERTIFICATE = "archway-tls";
/** What it lists once in a migration, beside the reconciles, to name workloads; and pods of all nodes. */
const WORKLOADS = ["deployments", "statefulsets", "daemonsets", "cronjobs", "jobs"];
/** Each reconcile begins with these three objects, at the same time. */
const BASE: Readonly<Record<string, string>> = {
  upgradeconfigs: "managed-upgrade-config",
  configmaps: "managed-upgrade-operator-config",
  clusterversions: "version",
};
const BASE_SIZE = Object.keys(BASE).length;
const TOGETHER_MS = 1_000;

/** The requests that reconciles make: watches are held open by others, and go to the API server's cache. */
export function reconcileRequests(requests: readonly AuditedRequest[], user: string): readonly AuditedRequest[] {
  return requests.filter((request) => request.user === user && request.verb !== "watch")
    .filter(({ resource, name }) => !BESIDE.includes(resource) && name !== CERTIFICATE)
    .filter((request) => !isOfWorkloads(request))
    .toSorted((one, other) => one.receivedMs - other.receivedMs);
}

export function isOfWorkloads({ verb, resource, uri }: AuditedRequest): boolean {
  return verb === "list" && (WORKLOADS.includes(resource) || resource === "pods" && !uri.includes("spec.nodeName"));
}

export function cutReconciles(requests: readonly AuditedRequest[]): readonly Reconcile[] {
  const starts = requests.flatMap((_, at) => isStart(requests, at) ? [at] : []);
  return starts.map((start, index) => reconcileOf(requests.slice(start, starts[index + 1])));
}

function isStart(requests: readonly AuditedRequest[], at: number): boolean {
  const first = requests[at];
  if (first === undefined || !isBase(first)) return false;
  const together = requests.slice(at, at + BASE_SIZE);
  return new Set(together.filter(isBase).map(({ resource }) => resource)).size === BASE_SIZE &&
    together.every(({ receivedMs }) => receivedMs - first.receivedMs <= TOGETHER_MS);
}

function isBase({ verb, resource, name }: AuditedRequest): boolean {
  return verb === "get" && BASE[resource] === name;
}

/** In between, the webhook of plans reads the ClusterVersion, and what follows the policy source the plan and the settings. */
function withoutOthers(requests: readonly AuditedRequest[]): readonly AuditedRequest[] {
  const last = requests.findLastIndex((request) => !isBase(request));
  return requests.slice(0, Math.max(last + 1, BASE_SIZE));
}

function reconcileOf(all: readonly AuditedRequest[]): Reconcile {
  const requests = withoutOthers(all);
  const reads = requests.filter(({ verb }) => verb === "get" || verb === "list").length;
  const endMs = Math.max(...requests.map(({ answeredMs }) => answeredMs));
  return {
    reads,
    writes: requests.length - reads,
    tookMs: endMs - (requests[0]?.receivedMs ?? endMs),
    words: requests.map(({ verb, resource, subresource }) =>
      `${verb} ${resource}${subresource === "" ? "" : `/${subresource}`}`
    ),
  };
}
