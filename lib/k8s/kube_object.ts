// Parses what all kinds of API server answers share: an object, a list, a Status.
import { isObject, listAt, memberOf, objectAt, textAt } from "../json.ts";
import type { KubeList, KubeObject } from "./types.ts";

function isKubeObject(value: unknown): value is KubeObject {
  return isObject(value) && isObject(value["metadata"]) && typeof value["metadata"]["name"] === "string";
}

export function parseKubeObject(value: unknown): KubeObject {
  if (isKubeObject(value)) return value;
  throw new Error(`Cannot read the API server's answer "${kindOf(value)}": it is not an object with a name.`);
}

/** A page of a list, without unnamed items; throws when it is not a list. */
export function parseKubeList(value: unknown): KubeList {
  if (!isObject(value) || !isObject(value["metadata"])) {
    throw new Error(`Cannot read the API server's answer "${kindOf(value)}": it is not a list.`);
  }
  const { metadata } = value;
  const next = textAt(metadata, "continue");
  return {
    items: (listAt(value, "items") ?? []).filter(isKubeObject),
    resourceVersion: textAt(metadata, "resourceVersion"),
    ...(next === "" ? {} : { continue: next }),
  };
}

interface StatusView {
  readonly code: number | undefined;
  readonly reason: string;
  readonly message: string;
  readonly hasCauses: boolean;
}

export function parseStatus(value: unknown): StatusView {
  const code = memberOf(value, "code");
  return {
    code: typeof code === "number" ? code : undefined,
    reason: textAt(value, "reason"),
    message: textAt(value, "message"),
    hasCauses: (listAt(objectAt(value, "details"), "causes") ?? []).length > 0,
  };
}

function kindOf(value: unknown): string {
  return textAt(value, "kind") || typeof value;
}
