// What the API server does to a Secret: `stringData` goes into `data`, and there is a type.
import type { KubeObject } from "../k8s/types.ts";
import { objectAt, textsAt } from "./json_value.ts";

/** The object with a Secret's defaults; any other kind is given back as it is. */
export function withSecretDefaults(object: KubeObject): KubeObject {
  if (object.kind !== "Secret" || object.apiVersion !== "v1") return object;
  const { stringData: _plain, ...secret } = object;
  const encoded = Object.entries(textsAt(object, "stringData")).map(([key, text]) => [
    key,
    new TextEncoder().encode(text).toBase64(),
  ]);
  return { type: "Opaque", ...secret, data: { ...objectAt(secret, "data"), ...Object.fromEntries(encoded) } };
}
