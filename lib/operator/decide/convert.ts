// ClusterPodPlacementConfig between v1alpha1 and v1beta1, losing nothing.
// | v1beta1                             | v1alpha1                                                        |
// |-------------------------------------|-----------------------------------------------------------------|
// | spec.logVerbosity, namespaceSelector | the same                                                        |
// | spec.fallbackArchitecture           | annotation multiarch.openshift.io/fallback-architecture         |
// | every other member of spec          | annotation archway.dev/v1beta1-spec, so that a write through v1alpha1 keeps it |
import { isKnownArchitecture } from "../../arch.ts";
import { API_GROUP, FALLBACK_ANNOTATION, STASH_ANNOTATION } from "../../names.ts";
import { isObject, type JsonObject, memberOf, objectAt, parseObject, textAt } from "../../json.ts";

export type Conversion =
  | { readonly kind: "ok"; readonly object: JsonObject }
  | { readonly kind: "failed"; readonly message: string };

const SHARED = ["logVerbosity", "namespaceSelector"];

interface Stash {
  readonly spec: JsonObject;
  /** The fallback annotation that the v1beta1 object itself had, which v1alpha1 uses for another purpose. */
  readonly annotation?: string;
}

/** Converts one object to `group/version`. Unknown members are kept. */
export function convertObject(object: unknown, desired: string): Conversion {
  const [from, kind] = [textAt(object, "apiVersion"), textAt(object, "kind")];
  const [alpha, beta] = [`${API_GROUP}/v1alpha1`, `${API_GROUP}/v1beta1`];
  if (!isObject(object) || kind !== "ClusterPodPlacementConfig") {
    return failed(`Cannot convert "${kind || "object"}": only ClusterPodPlacementConfig is converted.`);
  }
  if (from === alpha && desired === beta) return { kind: "ok", object: { ...toBeta(object), apiVersion: desired } };
  if (from === beta && desired === alpha) return { kind: "ok", object: { ...toAlpha(object), apiVersion: desired } };
  return failed(`Cannot convert "${from}" to "${desired}": the versions are ${alpha} and ${beta}, one of each.`);
}

function toAlpha(object: JsonObject): JsonObject {
  const spec = objectAt(object, "spec");
  const { fallbackArchitecture, ...members } = spec ?? {};
  const { [FALLBACK_ANNOTATION]: annotation, [STASH_ANNOTATION]: _stale, ...others } = annotationsOf(object);
  const fallback = knownArchitecture(fallbackArchitecture);
  // An empty fallback need not be kept, since it is the default of v1beta1.
  const hasOddFallback = fallback === undefined && fallbackArchitecture !== undefined && fallbackArchitecture !== "";
  const pick = (wanted: (name: string) => boolean): JsonObject =>
    Object.fromEntries(Object.entries(members).filter(([name]) => wanted(name)));
  const stash: Stash = {
    spec: { ...pick((name) => !SHARED.includes(name)), ...(hasOddFallback ? { fallbackArchitecture } : {}) },
    ...(typeof annotation === "string" ? { annotation } : {}),
  };
  return withAnnotations(
    spec === undefined ? object : { ...object, spec: pick((name) => SHARED.includes(name)) },
    {
      ...others,
      ...(fallback === undefined ? {} : { [FALLBACK_ANNOTATION]: fallback }),
      ...(isEmpty(stash) ? {} : { [STASH_ANNOTATION]: JSON.stringify(stash) }),
    },
  );
}

function toBeta(object: JsonObject): JsonObject {
  const { [FALLBACK_ANNOTATION]: annotation, [STASH_ANNOTATION]: stashText, ...others } = annotationsOf(object);
  const stash = parseStash(stashText);
  const fallback = knownArchitecture(annotation);
  const spec = objectAt(object, "spec");
  const hasSpec = spec !== undefined || fallback !== undefined || Object.keys(stash.spec).length > 0;
  // An annotation that names no architecture stays where it is: the validating webhook refuses it by name.
  const kept = stash.annotation ?? (fallback === undefined ? annotation : undefined);
  return withAnnotations(
    hasSpec ? { ...object, spec: { fallbackArchitecture: fallback ?? "", ...stash.spec, ...spec } } : object,
    { ...others, ...(kept === undefined ? {} : { [FALLBACK_ANNOTATION]: kept }) },
  );
}

function annotationsOf(object: JsonObject): JsonObject {
  return objectAt(objectAt(object, "metadata"), "annotations") ?? {};
}

function withAnnotations(object: JsonObject, annotations: JsonObject): JsonObject {
  const { annotations: _before, ...metadata } = objectAt(object, "metadata") ?? {};
  return {
    ...object,
    metadata: Object.keys(annotations).length === 0 ? metadata : { ...metadata, annotations },
  };
}

/** A stash that was edited and cannot be parsed counts as empty. */
function parseStash(text: unknown): Stash {
  const stash = typeof text === "string" ? parseObject(text) : undefined;
  const annotation = memberOf(stash, "annotation");
  return { spec: objectAt(stash, "spec") ?? {}, ...(typeof annotation === "string" ? { annotation } : {}) };
}

function isEmpty(stash: Stash): boolean {
  return Object.keys(stash.spec).length === 0 && stash.annotation === undefined;
}

function knownArchitecture(value: unknown): string | undefined {
  return typeof value === "string" && isKnownArchitecture(value) ? value : undefined;
}

function failed(message: string): Conversion {
  return { kind: "failed", message };
}
