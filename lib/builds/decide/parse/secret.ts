// Registry secrets: whether one can be used, and the one form that build programs read.
import { encodeBase64, entryOf, memberOf, objectAt, parseObject, textAt, textMapAt } from "../../../json.ts";
import type { KubeObject } from "../../../k8s/types.ts";
import { asParsed, type Parsed, unparsable } from "../../../parsed.ts";
import type { SecretState } from "../observed.ts";

export const DOCKER_CONFIG_JSON = "kubernetes.io/dockerconfigjson";
const DATA_KEYS: Readonly<Record<string, string>> = {
  [DOCKER_CONFIG_JSON]: ".dockerconfigjson",
  "kubernetes.io/dockercfg": ".dockercfg",
};

export function stateOfSecret(secret: KubeObject | undefined): SecretState {
  if (secret === undefined) return "absent";
  const key = entryOf(DATA_KEYS, textAt(secret, "type"));
  const data = objectAt(secret, "data");
  return key !== undefined && typeof memberOf(data, key) === "string" ? "usable" : "not for a registry";
}

/** The credentials of a registry secret of either type as `.dockerconfigjson`, in base64. No message quotes them. */
export function canonicaliseSecret(secret: KubeObject): Parsed<string> {
  const key = entryOf(DATA_KEYS, textAt(secret, "type"));
  const encoded = key === undefined ? undefined : entryOf(textMapAt(secret, "data"), key);
  const { name } = secret.metadata;
  if (key === undefined || encoded === undefined) {
    return unparsable(`Cannot use secret "${name}": it is no registry secret with its credentials.`);
  }
  const content = decode(encoded);
  const outer = content === undefined ? undefined : parseObject(content);
  if (outer === undefined) return unparsable(`Cannot use secret "${name}": ${key} is no JSON object.`);
  if (key === ".dockerconfigjson") return asParsed(encoded);
  // Some secrets of the older type hold the newer form, with `auths`.
  const wrapped = objectAt(outer, "auths") === undefined ? { auths: outer } : outer;
  return asParsed(encodeBase64(JSON.stringify(wrapped)));
}

function decode(text: string): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.fromBase64(text));
  } catch {
    return undefined;
  }
}
