// The path of an API request taken apart: which kind, which object, which subresource.
import { SERVED_KINDS, type ServedKind } from "./kinds.ts";

export interface ResourcePath {
  readonly kind: ServedKind;
  /** Undefined: cluster-scoped, or all namespaces. */
  readonly namespace: string | undefined;
  /** Undefined: the collection. */
  readonly name: string | undefined;
  /** `status`, or `binding` of a pod. */
  readonly subresource: string | undefined;
}

/** Parses `/api/v1/…` and `/apis/GROUP/VERSION/…`; undefined when nothing is served there. */
export function parseResourcePath(path: string): ResourcePath | undefined {
  const [root, ...steps] = path.split("/").filter((step) => step !== "").map(decode);
  const [group, version, ...rest] = root === "api" ? ["", ...steps] : steps;
  if (root !== "api" && root !== "apis") return undefined;
  const scoped = rest[0] === "namespaces" && rest.length >= 3 && rest[2] !== "status" && rest[2] !== "finalize";
  const [plural, name, subresource, ...more] = scoped ? rest.slice(2) : rest;
  const kind = SERVED_KINDS.find((each) => each.group === group && each.version === version && each.plural === plural);
  if (kind === undefined || more.length > 0) return undefined;
  if (scoped ? !kind.namespaced : kind.namespaced && name !== undefined) return undefined;
  const subresources = [kind.hasStatus ? "status" : undefined, plural === "pods" ? "binding" : undefined, undefined];
  if (!subresources.includes(subresource)) return undefined;
  return { kind, namespace: scoped ? rest[1] : undefined, name, subresource };
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
