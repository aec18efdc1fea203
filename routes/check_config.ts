// The validating webhooks of both config kinds. failurePolicy is Fail, so every fault is answered with its message.
import type { SiblingConfigs } from "../lib/operator/cluster/sibling_configs.ts";
import { type ReadApi, readOptional } from "../lib/k8s/api.ts";
import { ApiError } from "../lib/k8s/api_error.ts";
import { listAll } from "../lib/k8s/lists.ts";
import { Resource } from "../lib/k8s/types.ts";
import { errorText } from "../lib/log.ts";
import { CLUSTER_CONFIG_NAME } from "../lib/names.ts";
import {
  type ConfigName,
  type NamespaceConfigFacts,
  setsPriority,
  validateClusterConfig,
  validateNamespaceConfig,
} from "../lib/operator/decide/validate.ts";
import type { AdmissionWrite, Validation } from "../lib/vocabulary/admission.ts";
import { parseWrite, validationReview } from "./admission.ts";

export interface CheckDeps {
  /** The API server: reads are live. */
  readonly api: ReadApi;
  readonly siblings: SiblingConfigs;
  readonly signal: AbortSignal;
}

/** The JSON of an answer; undefined when the body is no AdmissionReview: the caller answers 400. */
type ReviewAnswer = Promise<Readonly<Record<string, unknown>> | undefined>;

export function reviewClusterConfig(body: unknown, deps: CheckDeps): ReviewAnswer {
  return review(
    body,
    async (write) => validateClusterConfig(write, write.operation === "DELETE" ? await listNamespaceConfigs(deps) : []),
  );
}

export function reviewNamespaceConfig(body: unknown, deps: CheckDeps): ReviewAnswer {
  return review(body, async (write) => validateNamespaceConfig(write, await readFacts(write, deps)));
}

async function review(body: unknown, judge: (write: AdmissionWrite) => Promise<Validation>): ReviewAnswer {
  const read = parseWrite(body);
  if (read === undefined) return undefined;
  const { uid, write } = read;
  try {
    return validationReview(uid, await judge(write));
  } catch (error) {
    // A list or read has failed. Answers with its status, like the MTO, or with 500 if it has none.
    const code = error instanceof ApiError && error.status >= 400 ? error.status : 500;
    const message = `Cannot check ${write.name || "the object"}: ${errorText(error)}. Try again.`;
    return validationReview(uid, { kind: "deny", code, reason: "InternalError", message });
  }
}

async function readFacts(write: AdmissionWrite, deps: CheckDeps): Promise<NamespaceConfigFacts> {
  if (write.operation !== "CREATE" && write.operation !== "UPDATE") return { clusterConfig: "absent", siblings: [] };
  const [clusterConfig, siblings] = await Promise.all([
    readClusterConfigState(deps),
    setsPriority(write) ? deps.siblings.read(write.namespace) : [],
  ]);
  return { clusterConfig, siblings };
}

async function readClusterConfigState({ api, signal }: CheckDeps): Promise<NamespaceConfigFacts["clusterConfig"]> {
  const config = await readOptional(api, { type: Resource.clusterConfigs, name: CLUSTER_CONFIG_NAME, signal });
  if (config === undefined) return "absent";
  return config.metadata.deletionTimestamp === undefined ? "present" : "deleting";
}

async function listNamespaceConfigs({ api, signal }: CheckDeps): Promise<readonly ConfigName[]> {
  const found: ConfigName[] = [];
  for await (const { metadata } of listAll(api, Resource.namespaceConfigs, { signal })) {
    // A config that is being deleted does not count: the finalizer of another client could keep it forever.
    if (metadata.deletionTimestamp === undefined) {
      found.push({ namespace: metadata.namespace ?? "", name: metadata.name });
    }
    // Six are enough to say that more than five are left.
    if (found.length === 6) break;
  }
  return found;
}
