// What an attempt to publish means for the record: published, another attempt later, an architecture anew, or the end.
import type { KnownArchitecture } from "../../../arch.ts";
import { assertNever } from "../../../parsed.ts";
import type { PublishOutcome } from "../effects.ts";
import type { ArchitectureBuild, BuildRecord, IndexState } from "../types.ts";

export const MAX_ATTEMPTS = 20;
const FIRST_WAIT_MS = 2_000;
const MAX_WAIT_MS = 5 * 60_000;

export function withPublishOutcome(
  record: BuildRecord,
  outcome: PublishOutcome,
  { tag, nowMs, pushVersion }: { readonly tag: string; readonly nowMs: number; readonly pushVersion: string },
): BuildRecord {
  switch (outcome.kind) {
    case "published": {
      const { reference, children } = outcome;
      return { ...record, index: { kind: "published", reference, tag, children } };
    }
    case "retry":
    case "tag immutable":
      return { ...record, index: nextAttempt(record.index, outcome, { tag, nowMs }) };
    case "lost":
      return withArchitecture(record, outcome.arch, (one) => lost(one, outcome.message));
    case "failed": {
      const { arch, reason, message } = outcome;
      if (arch === undefined) {
        const denied = reason === "PushDenied" ? { deniedVersion: pushVersion } : {};
        return { ...record, index: { kind: "failed", reason, message, ...denied } };
      }
      return withArchitecture(record, arch, (one) => ({ ...one, state: "Failed", reason, message }));
    }
    default:
      return assertNever(outcome);
  }
}

/** A lost image is built once more. If it is lost again, the architecture has failed. */
function lost(one: ArchitectureBuild, message: string): ArchitectureBuild {
  if (one.wasLost === true) return { ...one, state: "Failed", reason: "ImageLost", message };
  const { arch, buildKey, attempts, job } = one;
  return { arch, buildKey, attempts, job, state: "Pending", wasLost: true };
}

function withArchitecture(
  record: BuildRecord,
  arch: KnownArchitecture,
  change: (one: ArchitectureBuild) => ArchitectureBuild,
): BuildRecord {
  return { archs: record.archs.map((one) => one.arch === arch ? change(one) : one), index: { kind: "absent" } };
}

/** When and under which tag to try again: later, or at once under the next tag where the tag is immutable. */
function nextAttempt(
  index: IndexState,
  outcome: Extract<PublishOutcome, { kind: "retry" | "tag immutable" }>,
  { tag, nowMs }: { readonly tag: string; readonly nowMs: number },
): IndexState {
  const { kind, message } = outcome;
  const known = index.kind === "retry" ? index : { attempts: 0, tag: undefined };
  const attempts = known.attempts + 1;
  const isTaken = kind === "tag immutable";
  if (attempts >= MAX_ATTEMPTS) {
    return { kind: "failed", reason: isTaken ? "PushDenied" : "RegistryUnavailable", message };
  }
  if (isTaken) return { kind: "retry", attempts, retryAtMs: nowMs, message, tag: nextTag(tag) };
  const waitMs = Math.min(FIRST_WAIT_MS * 2 ** (attempts - 1), MAX_WAIT_MS);
  const retryAtMs = nowMs + Math.max(waitMs, outcome.retryAfterMs ?? 0);
  return { kind: "retry", attempts, retryAtMs, message, tag: known.tag };
}

export function nextTag(tag: string): string {
  const [, base = tag, count = "0"] = /^(.*)-r(\d{1,4})$/.exec(tag) ?? [];
  return `${base}-r${Number(count) + 1}`;
}
