// What an attempt to publish means for the record: published, another attempt later, an architecture anew, or the end.
import type { Arch } from "../observed.ts";
import { unreachable } from "../../unreachable.ts";
import type { AssembleOutcome } from "../effects.ts";
import type { ArchBuild, BuildRecord, FailureReason, IndexState } from "../types.ts";

/** Attempts before a registry counts as unavailable. */
export const MAX_ATTEMPTS = 20;
const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 5 * 60_000;

/** The record after an attempt to publish under `tag`. */
export function noteAssembled(
  record: BuildRecord,
  outcome: AssembleOutcome,
  { tag, nowMs }: { readonly tag: string; readonly nowMs: number },
): BuildRecord {
  const failed = (reason: FailureReason): BuildRecord => ({
    ...record,
    index: { kind: "failed", reason, message: outcomeMessage(outcome) },
  });
  switch (outcome.kind) {
    case "published": {
      const { reference, children } = outcome;
      return { ...record, index: { kind: "published", reference, tag, children } };
    }
    case "transient":
      return { ...record, index: afterTransient(record.index, outcome, nowMs) };
    case "denied":
      return failed("PushDenied");
    case "child absent":
      return withArch(record, outcome.arch, (one) => lost(one, outcome.message));
    case "child mismatch":
      return withArch(record, outcome.arch, (one) => ({
        ...one,
        state: "Failed",
        reason: "ArchMismatch",
        message: outcome.message,
      }));
    case "index refused":
      return failed("IndexUnsupported");
    case "other digest":
      return failed("DigestMismatch");
    case "tag immutable":
      return { ...record, index: afterImmutable(record.index, { tag, message: outcome.message, nowMs }) };
    default:
      return unreachable(outcome);
  }
}

function outcomeMessage(outcome: AssembleOutcome): string {
  return outcome.kind === "published" ? "" : outcome.message;
}

/** An image that is gone is built once more; gone again, it fails. */
function lost(one: ArchBuild, message: string): ArchBuild {
  if (one.wasLost === true) return { ...one, state: "Failed", reason: "ImageLost", message };
  const { arch, buildKey, attempts, job } = one;
  return { arch, buildKey, attempts, job, state: "Pending", wasLost: true };
}

function withArch(record: BuildRecord, arch: Arch, change: (one: ArchBuild) => ArchBuild): BuildRecord {
  return { archs: record.archs.map((one) => one.arch === arch ? change(one) : one), index: { kind: "absent" } };
}

function afterTransient(
  index: IndexState,
  { message, retryAfterMs }: Extract<AssembleOutcome, { kind: "transient" }>,
  nowMs: number,
): IndexState {
  const attempts = (index.kind === "retry" ? index.attempts : 0) + 1;
  if (attempts >= MAX_ATTEMPTS) return { kind: "failed", reason: "RegistryUnavailable", message };
  const waitMs = Math.min(FIRST_WAIT_MS * 2 ** (attempts - 1), LONGEST_WAIT_MS);
  const tag = index.kind === "retry" ? index.tag : undefined;
  return { kind: "retry", attempts, retryAtMs: nowMs + Math.max(waitMs, retryAfterMs ?? 0), message, tag };
}

/** A tag that cannot be moved is left where it is: the next one has a number appended. */
function afterImmutable(
  index: IndexState,
  { tag, message, nowMs }: { readonly tag: string; readonly message: string; readonly nowMs: number },
): IndexState {
  const attempts = (index.kind === "retry" ? index.attempts : 0) + 1;
  if (attempts >= MAX_ATTEMPTS) return { kind: "failed", reason: "PushDenied", message };
  return { kind: "retry", attempts, retryAtMs: nowMs, message, tag: nextTag(tag) };
}

/** `x` → `x-r1` → `x-r2`. */
export function nextTag(tag: string): string {
  const [, base = tag, count = "0"] = /^(.*)-r(\d{1,4})$/.exec(tag) ?? [];
  return `${base}-r${Number(count) + 1}`;
}
