// GET that gives undefined for 404.
import type { ReadApi } from "./api.ts";
import { isNotFound } from "./errors.ts";
import type { KubeObject, ResourceTarget, ResourceType } from "./types.ts";

/** One object, or undefined where there is none. Throws what `get` throws otherwise. */
export async function readOptional(
  api: ReadApi,
  wanted: ResourceTarget & { readonly type: ResourceType; readonly signal: AbortSignal },
): Promise<KubeObject | undefined> {
  const { type, signal, ...target } = wanted;
  try {
    return await api.get(type, target, signal);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
