// Answers of the API server, parsed as far as every kind shares: an object, a list, a Status.
import { isObject } from "../json.ts";
import type { KubeList, KubeObject } from "./types.ts";

function isKubeObject(value: unknown): value is KubeObject {
  return isObject(value) && isObject(value["metadata"]) && typeof value["metadata"]["name"] === "string";
}

export function parseKubeObject(value: unknown): KubeObject {
  if (isKubeObject(value)) return value;
  throw new Error(`Cannot read the API server's answer "${kindOf(value)}": it is not an object with a name.`);
}

/** A page of a list, without items that have no name; throws when the server sent something else. */
export function parseKubeList(value: unknown): KubeList {
  if (!isObject(value) || !isObject(value["metadata"])) {
    throw new Error(`Cannot read the API server's answer "${kindOf(value)}": it is not a list.`);
  }
  const items = Array.isArray(value["items"]) ? value["items"] : [];
  const { resourceVersion, continue: next } = value["metadata"];
  return {
    items: items.filter(isKubeObject),
    resourceVersion: typeof resourceVersion === "string" ? resourceVersion : "",
    ...(typeof next === "string" && next !== "" ? { continue: next } : {}),
  };
}

interface StatusView {
  readonly code: number | undefined;
  readonly reason: string;
  readonly message: string;
  readonly hasCauses: boolean;
}

export function parseStatus(value: unknown): StatusView {
  const status = isObject(value) ? value : {};
  const details = isObject(status["details"]) ? status["details"] : {};
  const number = (candidate: unknown): number | undefined => (typeof candidate === "number" ? candidate : undefined);
  const text = (candidate: unknown): string => (typeof candidate === "string" ? candidate : "");
  return {
    code: number(status["code"]),
    reason: text(status["reason"]),
    message: text(status["message"]),
    hasCauses: Array.isArray(details["causes"]) && details["causes"].length > 0,
  };
}

function kindOf(value: unknown): string {
  return isObject(value) && typeof value["kind"] === "string" ? value["kind"] : typeof value;
}
