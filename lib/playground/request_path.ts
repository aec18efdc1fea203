// The path of an API request taken apart: which kind, which object, which subresource.
import { findKind, type ServedKind } from "./kinds.ts";

/** An object or a collection of a served kind. */
export interface ResourcePath {
  /** Kind of the resource. */
  readonly kind: ServedKind;
  /** Undefined: cluster-scoped, or all namespaces. */
  readonly namespace: string | undefined;
  /** Undefined: the collection. */
  readonly name: string | undefined;
  /** `status`, `binding`…, whether served or not. */
  readonly subresource: string | undefined;
}

/** Parses `/api/v1/…` and `/apis/GROUP/VERSION/…`; undefined when no kind is served there. */
export function parseResourcePath(path: string): ResourcePath | undefined {
  const steps = path.split("/").filter((step) => step !== "").map(decode);
  const core = steps[0] === "api";
  if (!core && steps[0] !== "apis") return undefined;
  const [group = "", version = ""] = core ? ["", steps[1]] : [steps[1], steps[2]];
  const rest = steps.slice(core ? 2 : 3);
  const scoped = rest[0] === "namespaces" && rest.length >= 3 && rest[2] !== "status" && rest[2] !== "finalize";
  const [plural = "", name, subresource, ...more] = scoped ? rest.slice(2) : rest;
  const kind = findKind(group, version, plural);
  if (kind === undefined || more.length > 0 || (scoped && !kind.namespaced)) return undefined;
  if (!scoped && kind.namespaced && name !== undefined) return undefined;
  return { kind, namespace: scoped ? rest[1] : undefined, name, subresource };
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
