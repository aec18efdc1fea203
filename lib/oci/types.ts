// What was found of an image, or why nothing could be.

/** One platform of an image, as its index or its config names it. Names are GOOS / GOARCH. */
export interface Platform {
  readonly os: string;
  readonly architecture: string;
  readonly variant?: string;
  readonly osVersion?: string;
}

/** Why an image could not be inspected. The closed set is also a metric label. */
export const FAILURE_REASONS = [
  "InvalidReference",
  "ManifestUnknown",
  "Unauthorized",
  "NotAnImage",
  "Blocked",
  "Malformed",
  "DigestMismatch",
  "TooLarge",
  "AddressDenied",
  "Misconfigured",
  "Unreachable",
  "TlsFailed",
  "Timeout",
  "ServerError",
  "RateLimited",
  "CircuitOpen",
  "Busy",
  "TooManyImages",
] as const;

export type FailureReason = typeof FAILURE_REASONS[number];

/** `permanent`: asking again will not help soon. `message` is safe to show: no credential, no URL query. */
export interface InspectionFailure {
  readonly kind: "permanent" | "transient";
  readonly reason: FailureReason;
  readonly message: string;
  /** `host[:port]` of the registry that failed, where a request was sent. */
  readonly registry?: string | undefined;
  readonly retryAfterMs?: number | undefined;
}

export interface Finding {
  readonly kind: "ChildDigestPin" | "TruncatedIndex" | "Schema1" | "FailedArchitecture";
  readonly message: string;
}

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

export interface ImageUse {
  readonly image: string;
  /** The pull policy is `Always`: the tag is looked up again for every pod. */
  readonly always: boolean;
}

export interface InspectedImage {
  readonly image: string;
  readonly inspection: Inspection;
}
