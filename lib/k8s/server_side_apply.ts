// Server-side apply that says what it did. Called by the operator controller for every object it owns.
import type { KubeApi } from "./api.ts";
import { isNotFound } from "./errors.ts";
import { apiVersionOf, type KubeObject, type ResourceTarget, type ResourceType } from "./types.ts";

/** What an apply came to. `object` is how the server has it now. */
export type ApplyOutcome =
  | { readonly kind: "created"; readonly object: KubeObject }
  | { readonly kind: "updated"; readonly object: KubeObject; readonly before: KubeObject }
  | { readonly kind: "unchanged"; readonly object: KubeObject };

/** An object to apply: apiVersion and kind may be left to the type. */
export type AppliedObject = Readonly<Record<string, unknown>> & {
  readonly metadata: { readonly name: string; readonly namespace?: string };
};

/**
 * Makes the fields of an object so, as field manager `archway`, taking over fields that others own. Fields that are not
 * named stay; those named in an earlier apply and not now are removed. Throws ApiError.
 */
export async function applyObject(
  api: KubeApi,
  object: AppliedObject,
  options: { readonly type: ResourceType; readonly signal: AbortSignal },
): Promise<ApplyOutcome> {
  const { type, signal } = options;
  const { name, namespace } = object.metadata;
  const target = namespace === undefined ? { name } : { name, namespace };
  const before = await readIfThere(api, { type, target, signal });
  const document = { apiVersion: apiVersionOf(type), kind: type.kind, ...object };
  const after = await api.patch(type, target, { body: { kind: "apply", document, force: true }, signal });
  if (before === undefined) return { kind: "created", object: after };
  // An apply that changes nothing keeps the resourceVersion, even where managedFields are concerned.
  const isSame = before.metadata.resourceVersion === after.metadata.resourceVersion;
  return isSame ? { kind: "unchanged", object: after } : { kind: "updated", object: after, before };
}

async function readIfThere(
  api: KubeApi,
  options: { readonly type: ResourceType; readonly target: ResourceTarget; readonly signal: AbortSignal },
): Promise<KubeObject | undefined> {
  try {
    return await api.get(options.type, options.target, options.signal);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
