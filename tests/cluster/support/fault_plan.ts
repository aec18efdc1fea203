// What a fault proxy does to which requests. Pure.

/** What a registry request is for. `other` is everything that pushes, and unknown paths. */
export const REQUEST_KINDS = ["ping", "manifestGet", "manifestHead", "blobGet", "token", "other"] as const;

export type RequestKind = (typeof REQUEST_KINDS)[number];

export type Fault =
  /** Answered by the proxy; the registry is not asked. */
  | { readonly kind: "status"; readonly status: number; readonly retryAfterSeconds?: number }
  | { readonly kind: "latency"; readonly ms: number }
  | { readonly kind: "reset" }
  | { readonly kind: "blackHole" }
  | { readonly kind: "slowBody"; readonly chunkBytes: number; readonly everyMs: number }
  /** Half of the announced body, then the connection is cut. */
  | { readonly kind: "truncateBody" }
  | { readonly kind: "tamperBody" }
  | { readonly kind: "wrongDigest" }
  /** A successful answer becomes a 307 to the storage host of the proxy, which serves the body. */
  | { readonly kind: "redirect" };

/** A fault and the requests it hits. The first rule that hits decides. */
export interface FaultRule {
  readonly fault: Fault;
  /** Default: every kind but pushes. */
  readonly on?: readonly RequestKind[];
  /** Share of the requests, drawn at random, the same in each run. Default 1. */
  readonly fraction?: number;
  /** Only repositories that begin so. */
  readonly repository?: string;
}

export interface FaultTarget {
  readonly kind: RequestKind;
  readonly repository: string | undefined;
}

/** Kind and repository of a request. Source: distribution API v2. */
export function classifyRequest(method: string, path: string): FaultTarget {
  const match = path.match(/^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/);
  const repository = match?.[1];
  if (path === "/token") return { kind: "token", repository };
  if (path === "/v2/" || path === "/v2") return { kind: "ping", repository };
  if (match?.[2] === "manifests" && method === "HEAD") return { kind: "manifestHead", repository };
  if (match?.[2] === "manifests" && method === "GET") return { kind: "manifestGet", repository };
  if (match?.[2] === "blobs" && method === "GET") return { kind: "blobGet", repository };
  return { kind: "other", repository };
}

/** The fault that hits the request, if one does. `random` gives numbers in [0, 1). */
export function chooseFault(rules: readonly FaultRule[], target: FaultTarget, random: () => number): Fault | undefined {
  return rules.find(({ on, fraction = 1, repository }) => {
    const hitsKind = on === undefined ? target.kind !== "other" : on.includes(target.kind);
    const hitsRepository = repository === undefined || (target.repository ?? "").startsWith(repository);
    return hitsKind && hitsRepository && (fraction >= 1 || random() < fraction);
  })?.fault;
}
