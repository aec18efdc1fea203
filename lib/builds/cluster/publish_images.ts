// Publishes the images of one build under its tag: one image as it is, several joined to an index. Nothing is published that
// is not whole, and of which every image is for the architecture and of the build that was requested.
import { type AssembleDeps, assembleIndex } from "../../images/assemble/assemble_index.ts";
import type { AssembleProblem } from "../../images/assemble/problem.ts";
import { CHILD_PROBLEMS } from "../../images/index/child.ts";
import type { Effect, Publication } from "../decide/effects.ts";
import type { Arch } from "../decide/observed.ts";
import { mismatchOf } from "../decide/reconcile/reuse.ts";
import type { FailureReason } from "../decide/types.ts";

/** Publishes them. Doing it again changes nothing. Rejects only with the signal's reason and for faults that are no registry's. */
export async function publishImages(
  { to, mode, children }: Pick<Extract<Effect, { kind: "assemble" }>, "to" | "mode" | "children">,
  deps: Omit<AssembleDeps, "onProgress">,
): Promise<Publication> {
  const childOf = (image: string | undefined) => children.find(({ reference }) => reference === image);
  const [result] = await assembleIndex({
    to: [to],
    images: children.map(({ reference }) => reference),
    mode: "publish",
    form: mode === "single" ? "image" : "index",
    judge: (child) => {
      const wanted = childOf(child.image);
      return wanted && mismatchOf(child, wanted, wanted);
    },
    tagOf: (image) => childOf(image)?.tag,
  }, { ...deps, onProgress: () => {} });
  if (result.kind === "failed") {
    const outcomes = result.problems.map((problem) => outcomeOf(problem, childOf(problem.image)?.arch));
    // A new attempt finds again what will not pass.
    return outcomes.find(({ kind }) => kind === "lost") ?? outcomes.find(({ kind }) => kind === "retry") ??
      outcomes[0] ?? { kind: "retry", message: "" };
  }
  return {
    kind: "published",
    reference: `${result.repository}@${result.index.digest}`,
    children: result.images.map(({ digest }) => digest),
    isNew: result.kind === "published",
  };
}

/** The answers of registries to a push of a tag that must not be moved. */
const IMMUTABLE = /immutab|already exists|cannot be (?:overwritten|moved|updated)|TAG_(?:INVALID|IMMUTABLE)/i;

/** Parts that are missing are found, and named, by the next attempt; anything else that is not here may be mended meanwhile. */
const REASONS: Readonly<Record<string, FailureReason>> = {
  Unauthorized: "PushDenied",
  PushDenied: "PushDenied",
  MediaTypeRefused: "IndexUnsupported",
  DigestMismatch: "DigestMismatch",
};

/** What a problem means. `arch`: it is about the image for this one. */
export function outcomeOf(
  { kind, reason, message, retryAfterMs }: AssembleProblem,
  arch: Arch | undefined,
): Publication {
  if (kind === "transient") return { kind: "retry", message, retryAfterMs };
  if (arch !== undefined && reason === "ManifestUnknown") return { kind: "lost", arch, message };
  if (arch !== undefined && CHILD_PROBLEMS.some((one) => one === reason)) {
    return { kind: "failed", reason: "ArchMismatch", message, arch };
  }
  if (IMMUTABLE.test(message)) return { kind: "tag immutable", message };
  const failure = REASONS[reason];
  return failure === undefined ? { kind: "retry", message } : { kind: "failed", reason: failure, message };
}
