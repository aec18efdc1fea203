// The words of image inspection, shared by lib/oci (which makes them) and lib/placement (which judges them).

/** One platform of an image, as its index or its config names it. Names are GOOS / GOARCH. */
export interface Platform {
  /** GOOS name; empty when the image does not say. */
  readonly os: string;
  /** GOARCH name; whatever the image says. */
  readonly architecture: string;
  /** `v7`, `v8`, … */
  readonly variant?: string;
  /** Windows build, `10.0.20348.1`. */
  readonly osVersion?: string;
}

/** Why an image could not be inspected. The closed set is also a metric label. */
export type FailureReason =
  | "InvalidReference"
  | "ManifestUnknown"
  | "Unauthorized"
  | "NotAnImage"
  | "Blocked"
  | "Malformed"
  | "DigestMismatch"
  | "TooLarge"
  | "AddressDenied"
  | "Misconfigured"
  | "Unreachable"
  | "TlsFailed"
  | "Timeout"
  | "ServerError"
  | "RateLimited"
  | "CircuitOpen";

/**
 * A failed inspection as data. `permanent`: asking again will not help soon; `transient`: it may.
 * `message` is safe to show to anyone: no credential, no URL query.
 */
export interface InspectionFailure {
  /** Whether asking again later may help. */
  readonly kind: "permanent" | "transient";
  /** The class, also for metrics. */
  readonly reason: FailureReason;
  /** For people. */
  readonly message: string;
  /** `host[:port]` of the registry that failed, where one was asked. */
  readonly registry?: string;
  /** How long the registry asked to be left alone. */
  readonly retryAfterMs?: number;
}

/** Something worth telling beside the platforms. */
export interface Finding {
  /** What was found. */
  readonly kind: "ChildDigestPin" | "ArchitectureMismatch" | "TruncatedIndex" | "Schema1";
  /** For people. */
  readonly message: string;
}

/** What an image said of itself when asked. */
export type Inspection =
  | {
    readonly kind: "platforms";
    readonly digest: string;
    readonly mediaType: string;
    /** At least one; attestations and `unknown` are already gone. */
    readonly platforms: readonly Platform[];
    /** Whether a config blob was read (bundle labels are known) or the index alone. */
    readonly depth: InspectionDepth;
    readonly findings: readonly Finding[];
  }
  | {
    /** An operator bundle: data that runs anywhere; it narrows nothing. */
    readonly kind: "anywhere";
    readonly digest: string;
    readonly mediaType: string;
    readonly platforms: readonly Platform[];
    readonly findings: readonly Finding[];
  }
  | { readonly kind: "failed"; readonly failure: InspectionFailure };

/** `index`: the top document suffices. `config`: the first platform's config is read too, to see bundle labels. */
export type InspectionDepth = "index" | "config";

/** Whose turn it is when a registry's budget is short: first gated pods, then admission prefetch, then prewarm. */
export type InspectionPriority = "gated" | "admission" | "prewarm";

/** One way to authenticate to a registry. Holds secrets: never log, never store. */
export interface Credential {
  /** The key it stands under in a docker config: host, `host/path` or a glob. */
  readonly scope: string;
  /** Where it comes from, for people: `secret team-a/pull`, `global pull secret`, `config.json`, `plugin ecr`. */
  readonly source: string;
  /** `basic`: user and password; `identity`: a refresh token; `registry`: a bearer token as it is. */
  readonly secret:
    | { readonly kind: "basic"; readonly username: string; readonly password: string }
    | { readonly kind: "identity"; readonly token: string }
    | { readonly kind: "registry"; readonly token: string };
}

/** What to inspect and with what. The inspector knows nothing of pods. */
export interface InspectionRequest {
  /** The reference as a person wrote it: `nginx`, `quay.io/a/b:v1@sha256:…`. */
  readonly image: string;
  /** Credentials of the asking pod, tried in order where their scope matches; before the inspector's own ones. */
  readonly credentials: readonly Credential[];
  /** `cached`: a fresh enough tag is believed. `revalidate` (imagePullPolicy Always): the tag is looked up again. */
  readonly freshness: "cached" | "revalidate";
  /** How much must be known. */
  readonly depth: InspectionDepth;
  /** May rise while the inspection waits. */
  readonly priority: InspectionPriority;
}

/** HTTP requests that an inspection caused. */
export interface RequestCounts {
  /** GET of manifests and indexes. */
  readonly manifestGet: number;
  /** HEAD of manifests. */
  readonly manifestHead: number;
  /** GET of config blobs. */
  readonly blobGet: number;
  /** Logins at token servers. */
  readonly token: number;
  /** Anything else. */
  readonly other: number;
}

/** One HTTP exchange for `--trace`: secrets masked, no query. */
export interface TraceEntry {
  /** HTTP method. */
  readonly method: string;
  /** Without query and user. */
  readonly url: string;
  /** HTTP status, or that no whole answer came. */
  readonly status: number | "failed";
  /** How long it took. */
  readonly ms: number;
  /** Status text or failure reason. */
  readonly note?: string;
  /** How it was logged in, never with what; absent: as a stranger. */
  readonly authorization?: "Basic" | "Bearer" | "form" | "other";
}

/** An inspection with its provenance. */
export interface InspectionReport {
  /** What the image said. */
  readonly inspection: Inspection;
  /** Fully qualified reference that answered (or was asked last): `registry-1.docker.io/library/nginx:latest`. */
  readonly resolved: string;
  /** `cache`: no manifest was read for it, at most a HEAD was sent. */
  readonly source: "registry" | "cache";
  /** Whether the knowledge may be shared: `public` was read anonymously; `private` needed a credential. */
  readonly access: "public" | "private";
  /** `Credential.source` that worked; absent when anonymous. */
  readonly credentialSource?: string;
  /** `host[:port]` of the mirror that answered instead of the registry itself. */
  readonly mirror?: string;
  /** What it cost. */
  readonly requests: RequestCounts;
  /** Every exchange, oldest first; empty when nothing was asked. */
  readonly trace: readonly TraceEntry[];
}

/** Anything that can inspect images. Client, cache, single-flight and limiter are each a value of it. */
export interface Inspector {
  /** Never rejects except when the signal aborts: a failure is an {@link Inspection}. */
  inspect(request: InspectionRequest, signal: AbortSignal): Promise<InspectionReport>;
}

/** What a HEAD of a reference told, and what it cost. `unknown`: the registry answers without a digest. */
export type HeadAnswer =
  & { readonly requests: RequestCounts; readonly trace: readonly TraceEntry[] }
  & (
    | {
      readonly kind: "digest";
      readonly digest: string;
      readonly access: InspectionReport["access"];
      readonly credentialSource?: string;
    }
    | { readonly kind: "unknown" }
    | { readonly kind: "failed"; readonly failure: InspectionFailure }
  );

/** An inspector that can also tell the digest behind a reference without reading it. */
export interface RegistryLookups extends Inspector {
  /** Never rejects except when the signal aborts. */
  head(request: InspectionRequest, signal: AbortSignal): Promise<HeadAnswer>;
}

/** One place to pull a reference from: the registry itself or a mirror of it. */
export interface Endpoint {
  /** `host[:port]` to contact. */
  readonly host: string;
  /** Repository path there, without host. */
  readonly repository: string;
  /** Tag or digest to ask for. */
  readonly reference: string;
  /** True for a mirror, false for the registry itself. */
  readonly mirror: boolean;
  /** Path prefix before `/v2` that a configured mirror URL may carry; empty otherwise. */
  readonly pathPrefix: string;
  /** The registry that a mirror is asked to speak for, sent as `?ns=`; absent: not sent. */
  readonly namespace?: string;
  /** Headers that the configuration wants sent there. They may be secret: never log, never store. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How to reach it. */
  readonly transport: EndpointTransport;
}

/** A client certificate with its key, both PEM. The key is secret: never log, never store. */
export interface ClientCertificate {
  /** The certificate, its chain behind it. */
  readonly certificate: string;
  /** The private key. */
  readonly key: string;
}

/** How to reach an endpoint's host. */
export interface EndpointTransport {
  /** `https`; `http`; or `https-then-http` for a registry declared insecure. */
  readonly scheme: "https" | "http" | "https-then-http";
  /** False only for a registry declared insecure. */
  readonly verifyTls: boolean;
  /** PEM certificates added to the public roots. */
  readonly caCertificates: readonly string[];
  /** Client certificates for mTLS, in the order to try; absent: none. */
  readonly clientCertificates?: readonly ClientCertificate[];
  /** True when the operator declared this host: loopback, private and link-local addresses are then allowed. */
  readonly declared: boolean;
}

/** Where a reference may be pulled from, in order; or why it must not be. */
export type PullPlan =
  | { readonly kind: "endpoints"; readonly endpoints: readonly Endpoint[] }
  | { readonly kind: "refused"; readonly failure: InspectionFailure };

/** Turns references into pull plans from registries.conf, hosts.toml, policy.json, flags… Reads files, keeps the last good. */
export interface PullPlanner {
  /** Where to pull from, in order. Synchronous: called for every inspection. */
  plan(image: string): PullPlan;
}

/** Finds the cluster- and node-level credentials for an endpoint, best first, without the anonymous one. */
export interface Keyring {
  /** Rejects only when the signal aborts. */
  lookup(endpoint: { readonly host: string; readonly repository: string }, signal: AbortSignal): Promise<
    readonly Credential[]
  >;
}
