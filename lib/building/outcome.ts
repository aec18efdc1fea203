// The outcome of publishing, as decisions and as metrics name it. Pure.
import type { AssembleOutcome } from "../image_builds/effects.ts";
import type { PublicationResult } from "./publish_images.ts";

/** The answers of registries to a push of a tag that must not be moved. */
const IMMUTABLE = /immutab|already exists|cannot be (?:overwritten|moved|updated)|TAG_(?:INVALID|IMMUTABLE)/i;

/** As decisions name it. */
export function outcomeOf(result: PublicationResult): AssembleOutcome {
  switch (result.kind) {
    case "published": {
      const { reference, children, isNew: created } = result;
      return { kind: "published", reference, children, created };
    }
    case "missing":
      return { kind: "child absent", arch: result.arch, message: result.message };
    case "mismatch":
      return { kind: "child mismatch", arch: result.arch, message: result.message };
    case "failed":
      return ofFailure(result);
  }
}

function ofFailure(
  { lasts, reason, message, retryAfterMs }: Extract<PublicationResult, { kind: "failed" }>,
): AssembleOutcome {
  if (lasts === "transient") return { kind: "transient", message, retryAfterMs };
  if (IMMUTABLE.test(message)) return { kind: "tag immutable", message };
  if (reason === "Unauthorized" || reason === "PushDenied") return { kind: "denied", message };
  if (reason === "MediaTypeRefused") return { kind: "index refused", message };
  if (reason === "DigestMismatch") return { kind: "other digest", message };
  // Parts that are missing are found, and named, by the next attempt; anything else may be mended meanwhile.
  return { kind: "transient", message };
}

/** As metrics name it. */
export function resultOf(outcome: AssembleOutcome): "published" | "unchanged" | "retry" | "failed" {
  switch (outcome.kind) {
    case "published":
      return outcome.created ? "published" : "unchanged";
    case "transient":
    case "tag immutable":
    case "child absent":
      return "retry";
    case "denied":
    case "child mismatch":
    case "index refused":
    case "other digest":
      return "failed";
  }
}
