// The defaults that the API server sets when objects are created and updated: those that matter to placement and to
// kubectl.
import { encodeBase64, isObject, type JsonObject } from "../lib/json.ts";
import { apiVersionOf, type KubeObject } from "../lib/k8s/types.ts";
import { cutReference } from "../lib/oci/reference.ts";
import { listAtPath, objectAtPath, textAtPath, textMapAtPath } from "./json_path.ts";
import type { ServedKind } from "./kinds.ts";

/** The object with its kind and its defaults. Defaulting twice changes nothing. */
export function withDefaults(kind: ServedKind, object: KubeObject): KubeObject {
  const typed = { ...object, apiVersion: apiVersionOf(kind), kind: kind.kind };
  if (kind.plural === "pods") return { ...typed, spec: withPodDefaults(objectAtPath(object, "spec")) };
  return kind.plural === "secrets" ? withSecretDefaults(typed) : typed;
}

/** Moves `stringData` into `data`, and sets a type if there is none. */
function withSecretDefaults({ stringData, ...secret }: KubeObject): KubeObject {
  const encoded = Object.entries(textMapAtPath(stringData)).map(([key, text]) => [
    key,
    encodeBase64(text),
  ]);
  return { type: "Opaque", ...secret, data: { ...objectAtPath(secret, "data"), ...Object.fromEntries(encoded) } };
}

function withPodDefaults(spec: JsonObject): JsonObject {
  const account = textAtPath(spec, "serviceAccountName") ?? textAtPath(spec, "serviceAccount") ?? "default";
  const initContainers = listAtPath(spec, "initContainers");
  return {
    restartPolicy: "Always",
    dnsPolicy: "ClusterFirst",
    schedulerName: "default-scheduler",
    terminationGracePeriodSeconds: 30,
    enableServiceLinks: true,
    securityContext: {},
    ...spec,
    serviceAccountName: account,
    serviceAccount: account,
    containers: listAtPath(spec, "containers").map(withContainerDefaults),
    ...initContainers.length === 0 ? {} : { initContainers: initContainers.map(withContainerDefaults) },
  };
}

function withContainerDefaults(container: unknown): unknown {
  if (!isObject(container)) return container;
  return {
    resources: {},
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    imagePullPolicy: defaultPullPolicy(textAtPath(container, "image") ?? ""),
    ...container,
  };
}

function defaultPullPolicy(image: string): string {
  const { tag = "latest", digest } = cutReference(image);
  return digest === undefined && tag === "latest" ? "Always" : "IfNotPresent";
}
