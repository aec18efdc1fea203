// What the user can do about an image that could not be inspected: one sentence per failure reason.
import { FAILURE_REASONS, type FailureReason } from "../../oci/errors.ts";
import type { ImageFailure } from "./decision_types.ts";
import { clip, failureText } from "./failures.ts";

interface AdviceSubject {
  /** `host[:port]`; undefined when no request was sent, or when it is no longer known. */
  readonly registry?: string | undefined;
  readonly pullSecrets: readonly string[];
}

/** The longest annotation of a failure (code points). */
const MAX_ANNOTATION_LENGTH = 256;

const TRACE = "`archway inspect IMAGE --trace` shows each request.";
const REACH =
  "Check that it runs. Archway asks from the network of its own pods, not of the nodes: check the DNS, network " +
  "policies and proxies there.";

const ADVICE: Readonly<Record<FailureReason, (subject: AdviceSubject) => string>> = {
  InvalidReference: () => "Correct the name of the image.",
  ManifestUnknown: () => "Correct the name or the tag of the image, or push it.",
  Unauthorized: unauthorizedAdvice,
  NotAnImage: () =>
    "Name an image that can run; if it is one, build it again with a platform (--platform linux/amd64,linux/arm64).",
  Blocked: () => "Use another registry, or change the registries.conf or policy.json that forbids this one.",
  Malformed: () => `Build and push the image again; ${TRACE}`,
  DigestMismatch: () => `A cache or proxy before the registry may have changed it; ${TRACE}`,
  TooLarge: () => `Use an image with a smaller index; ${TRACE}`,
  AddressDenied: () =>
    "At a loopback address Archway finds its own pod, not the node: name the registry by an address that pods can reach.",
  Misconfigured: () => "Correct the registry configuration that Archway reads; its log names the file.",
  Unreachable: () => `${REACH} ${TRACE}`,
  TlsFailed: () =>
    "Name its CA by --registry-ca; without TLS, or to trust any certificate, declare it by --insecure-registry.",
  Timeout: () => `${REACH} ${TRACE}`,
  ServerError: () => "Look into the log of the registry.",
  RateLimited: () => "Its limit is used up: give the pod a pull secret for it, or use a mirror.",
  CircuitOpen: () => `${REACH} ${TRACE}`,
  Busy: () => "Archway is reading other images; it is tried again.",
  TooManyImages: () => "Split the pod, or constrain it to an architecture yourself.",
};

export function adviceFor(reason: string, subject: AdviceSubject): string | undefined {
  const known = FAILURE_REASONS.find((one) => one === reason);
  return known === undefined ? undefined : ADVICE[known](subject);
}

/** The failure for the pod's annotation: its reason and a one-line message. */
export function annotationText(failed: ImageFailure): string {
  return clip(`${failed.failure.reason}: ${failureText(failed)}`, MAX_ANNOTATION_LENGTH);
}

export function reasonIn(annotation: string): FailureReason | undefined {
  return FAILURE_REASONS.find((reason) => annotation.startsWith(`${reason}: `));
}

function unauthorizedAdvice({ registry = "the registry", pullSecrets }: AdviceSubject): string {
  const secrets = pullSecrets.length === 0
    ? `Name a pull secret for ${registry} in imagePullSecrets of the pod or of its ServiceAccount, or for all pods by --global-pull-secret.`
    : `Check that the pull secrets of the pod (${
      pullSecrets.join(", ")
    }) are in its namespace and log in to ${registry}.`;
  return `${secrets} Many registries answer the same for an image that they do not have.`;
}
