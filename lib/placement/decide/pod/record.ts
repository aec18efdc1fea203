// The decision record: a compact annotation with the decision and its inputs. It shows which terms are Archway's.
import type { DecisionRecord, ImageOutcome, PlacementDecision } from "../decision_types.ts";
import { listAt, memberOf, numberAt, parseObject, utf8Length } from "../../../json.ts";
import { assertNever } from "../../../parsed.ts";

/** The largest record (bytes). */
export const MAX_RECORD_BYTES = 2048;

const DECISIONS = ["place", "user-constrained", "nowhere", "fallback", "release"] as const;
const SOURCES = ["registry", "bundle", "failed"] as const;

/** The record of a final decision; undefined for a retry, or for a pod left alone. */
export function decisionRecordOf(decision: PlacementDecision): DecisionRecord | undefined {
  switch (decision.kind) {
    case "ignore":
    case "retry":
      return undefined;
    case "place": {
      const { required, images } = decision;
      if (required.kind === "user-constrained") return makeRecord("user-constrained", { architectures: [], images });
      return makeRecord("place", { architectures: required.architectures, images });
    }
    case "nowhere":
    case "release":
      return makeRecord(decision.kind, { architectures: [], images: decision.images });
    case "fallback":
      return makeRecord("fallback", { architectures: [decision.architecture], images: decision.images });
    default:
      return assertNever(decision);
  }
}

/** Omits images that do not fit, and counts them. Then omits the architectures: only a hostile index has so many. */
export function renderRecord(record: DecisionRecord): string {
  let kept = record.images;
  let text = renderWith(record, kept);
  while (!fits(text) && kept.length > 0) {
    kept = kept.slice(0, Math.floor(kept.length * 0.8));
    text = renderWith(record, kept);
  }
  return fits(text) ? text : renderWith({ ...record, architectures: [] }, []);
}

/** Parses a record; undefined for anything else. Never throws. */
export function parseRecord(text: string | undefined): DecisionRecord | undefined {
  if (text === undefined || text === "" || text.length > 2 * MAX_RECORD_BYTES) return undefined;
  const raw = parseObject(text);
  const decision = DECISIONS.find((known) => known === memberOf(raw, "d"));
  const images = (listAt(raw, "i") ?? []).map(parseImage);
  if (memberOf(raw, "v") !== 1 || decision === undefined) return undefined;
  return {
    version: 1,
    decision,
    architectures: texts(memberOf(raw, "a")),
    images: images.filter((image) => image !== undefined),
    omitted: numberAt(raw, "o"),
  };
}

function makeRecord(
  decision: DecisionRecord["decision"],
  content: Pick<DecisionRecord, "architectures" | "images">,
): DecisionRecord {
  return { version: 1, decision, ...content, omitted: 0 };
}

function fits(text: string): boolean {
  return utf8Length(text) <= MAX_RECORD_BYTES;
}

function renderWith(record: DecisionRecord, kept: readonly ImageOutcome[]): string {
  const omitted = record.omitted + record.images.length - kept.length;
  return JSON.stringify({
    v: record.version,
    d: record.decision,
    a: record.architectures,
    i: kept.map(({ image, digest, architectures, source }) => [image, digest, architectures, source]),
    ...(omitted > 0 ? { o: omitted } : {}),
  });
}

function parseImage(raw: unknown): ImageOutcome | undefined {
  if (!Array.isArray(raw)) return undefined;
  const [image, digest, architectures, source] = raw;
  const known = SOURCES.find((one) => one === source);
  if (typeof image !== "string" || typeof digest !== "string" || known === undefined) return undefined;
  return { image, digest, architectures: texts(architectures), source: known };
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}
