// The playground's admission chain: selects the stored webhooks for an attempt and calls them over TLS, like the real
// API server.
import { isDeepStrictEqual } from "node:util";
import { decodeBase64 } from "../lib/json.ts";
import { type KubeObject, Resource, type ResourceType } from "../lib/k8s/types.ts";
import { errorText, type Logger } from "../lib/log.ts";
import { type AdmissionAttempt, type AdmissionChain, requireKubeObject } from "./cluster.ts";
import { listAtPath, numberAtPath, objectAtPath, textAtPath, valueAtPath } from "./json_path.ts";
import { applyJsonPatch } from "./patches.ts";
import { StatusError } from "./status_error.ts";
import type { ObjectStore } from "./store.ts";
import * as z from "zod";
import {
  CLUSTER_SELECTOR_BOUNDS,
  type Labels,
  matchesSelector,
  parseSelector,
} from "../lib/vocabulary/label_selector.ts";

interface WebhookAdmission extends AdmissionChain, Disposable {}

/**
 * Opens the chain over the configurations that the store holds at the time of each write. Failed calls are logged
 * (debug).
 */
export function openAdmission(store: ObjectStore, { log }: { readonly log: Logger }): WebhookAdmission {
  const clients = new Map<string, Deno.HttpClient>();
  const clientFor = ({ clientConfig: { caBundle = "" } }: Webhook): Deno.HttpClient => {
    const caCerts = caBundle === "" ? {} : { caCerts: [atob(caBundle)] };
    const client = clients.get(caBundle) ?? Deno.createHttpClient({ http2: false, ...caCerts });
    clients.set(caBundle, client);
    return client;
  };
  const ask = (webhook: Webhook, attempt: AdmissionAttempt): Promise<KubeObject | undefined> =>
    callWebhook(webhook, attempt, { log, client: clientFor(webhook) });
  return {
    // In order. None is asked twice: here no two webhooks change one kind.
    mutate: async (attempt) => {
      const webhooks = selectWebhooks(store, attempt, Resource.mutatingWebhooks);
      let { object } = attempt;
      for (const webhook of webhooks) object = await ask(webhook, { ...attempt, object });
      return object;
    },
    validate: async (attempt) => {
      const webhooks = selectWebhooks(store, attempt, Resource.validatingWebhooks);
      await Promise.all(webhooks.map((webhook) => ask(webhook, attempt)));
    },
    [Symbol.dispose]: () => {
      for (const client of clients.values()) client.close();
      clients.clear();
    },
  };
}

function selectWebhooks(store: ObjectStore, attempt: AdmissionAttempt, type: ResourceType): readonly Webhook[] {
  if (attempt.kind.group === type.group) return [];
  const namespace = (attempt.object ?? attempt.oldObject)?.metadata.namespace;
  const labels = namespace === undefined ? undefined : store.get(Resource.namespaces, namespace)?.metadata.labels ?? {};
  return store.list(type).flatMap((one) => z.array(WEBHOOK).parse(listAtPath(one, "webhooks"))).filter((webhook) =>
    webhook.matchConditions.every(({ name }) => CONDITIONS[name]?.(attempt) ?? false) &&
    matchesWebhook(webhook, attempt, labels)
  );
}

/** The match conditions that are implemented here, by name: CEL is not. */
const CONDITIONS: Readonly<Record<string, (attempt: AdmissionAttempt) => boolean>> = {
  "image-came-to-a-node": ({ object, oldObject, subresource }) =>
    (textAtPath(oldObject, "spec", "nodeName") ?? "") !== "" &&
    (subresource === "ephemeralcontainers" || !isDeepStrictEqual(imagesOf(object), imagesOf(oldObject))),
};

function imagesOf(pod: KubeObject | undefined): readonly unknown[] {
  return ["containers", "initContainers"].map((list) =>
    listAtPath(pod, "spec", list).map((container) => textAtPath(container, "image"))
  );
}

/** One call under its failure policy. A denial always counts; a failed call does not count under `Ignore`. */
async function callWebhook(
  webhook: Webhook,
  attempt: AdmissionAttempt,
  { log, client }: { readonly log: Logger; readonly client: Deno.HttpClient },
): Promise<KubeObject | undefined> {
  let response: unknown;
  try {
    response = await postReview(webhook, attempt, client);
  } catch (error) {
    log.debug("webhook call failed", { webhook: webhook.name, error: errorText(error) });
    if (webhook.failurePolicy === "Ignore") return attempt.object;
    throw internalError(`failed calling webhook "${webhook.name}"`, error);
  }
  if (valueAtPath(response, "allowed") !== true) throw denial(webhook, response);
  const patch = textAtPath(response, "patch");
  if (patch === undefined || attempt.object === undefined) return attempt.object;
  try {
    const operations: unknown = JSON.parse(decodeBase64(patch));
    return requireKubeObject(applyJsonPatch(attempt.object, operations));
  } catch (error) {
    throw internalError(`cannot apply the patch of "${webhook.name}"`, error);
  }
}

function internalError(what: string, error: unknown): StatusError {
  return new StatusError(500, "InternalError", `Internal error occurred: ${what}: ${errorText(error)}`);
}

function denial({ name }: Webhook, response: unknown): StatusError {
  const status = objectAtPath(response, "status");
  const reason = textAtPath(status, "reason");
  const said = textAtPath(status, "message") ?? reason ?? "no reason given";
  const message = `admission webhook "${name}" denied the request: ${said}`;
  return new StatusError(numberAtPath(status, "code") ?? 403, reason ?? "Forbidden", message);
}

/** Posts the review and gives its `response`. Throws on anything but a well-formed answer to this very uid. */
async function postReview(
  { clientConfig: { url }, timeoutSeconds }: Webhook,
  attempt: AdmissionAttempt,
  client: Deno.HttpClient,
): Promise<unknown> {
  if (url === undefined) throw new Error("Cannot call the webhook: its Service has no address in the playground.");
  const uid = crypto.randomUUID();
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(new Error("context deadline exceeded")), 1_000 * timeoutSeconds);
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(renderReview(attempt, uid)),
      client,
      signal: timeout.signal,
    });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`the server answered ${answer.status}`);
    const review: unknown = JSON.parse(text);
    if (textAtPath(review, "response", "uid") !== uid) throw new Error("the answer has another uid");
    return objectAtPath(review, "response");
  } finally {
    clearTimeout(timer);
  }
}

function renderReview(attempt: AdmissionAttempt, uid: string): unknown {
  const { object, oldObject, subresource: subResource, operation, dryRun } = attempt;
  const { group, version, kind: kindName, plural } = attempt.kind;
  const { name = "", namespace = "" } = (object ?? oldObject)?.metadata ?? {};
  const kind = { group, version, kind: kindName };
  const resource = { group, version, resource: plural };
  const which = { kind, resource, requestKind: kind, requestResource: resource, subResource, name, namespace };
  const userInfo = { username: "playground", groups: ["system:authenticated"] };
  const objects = { object: unnamed(object), oldObject: unnamed(oldObject) };
  const request = { uid, ...which, operation, userInfo, ...objects, dryRun, options: null };
  return { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request };
}

/** An object whose name is yet to be generated has none on the wire. */
function unnamed(object: KubeObject | undefined): unknown {
  if (object === undefined) return null;
  const { name, ...metadata } = object.metadata;
  return name === "" ? { ...object, metadata } : object;
}

const TEXTS = z.array(z.string());

const WEBHOOK = z.object({
  name: z.string(),
  /** A Service has no address in the playground: a call of it fails. */
  clientConfig: z.object({ url: z.string().optional(), caBundle: z.string().optional() }),
  failurePolicy: z.enum(["Fail", "Ignore"]).default("Fail"),
  timeoutSeconds: z.number().default(10),
  matchConditions: z.array(z.object({ name: z.string() })).default([]),
  rules: z.array(z.object({ operations: TEXTS, apiGroups: TEXTS, apiVersions: TEXTS, resources: TEXTS })).default([]),
  namespaceSelector: z.unknown().optional(),
  objectSelector: z.unknown().optional(),
});

/**
 * A webhook of a configuration. `matchPolicy` is ignored; with `matchConditions` that are not implemented it is not
 * called.
 */
type Webhook = z.output<typeof WEBHOOK>;

/** Whether the webhook must be asked. `namespaceLabels` are those of the object's namespace, if it has one. */
function matchesWebhook(
  { rules, namespaceSelector, objectSelector }: Webhook,
  attempt: AdmissionAttempt,
  namespaceLabels: Labels | undefined,
): boolean {
  const { kind, subresource, operation, object, oldObject } = attempt;
  const resources = subresource === undefined
    ? ["*", "*/*", kind.plural]
    : ["*/*", `${kind.plural}/*`, `*/${subresource}`, `${kind.plural}/${subresource}`];
  const isRuled = rules.some((rule) =>
    hasAny(rule.operations, ["*", operation]) && hasAny(rule.apiGroups, ["*", kind.group]) &&
    hasAny(rule.apiVersions, ["*", kind.version]) && hasAny(rule.resources, resources)
  );
  const selects = (selector: unknown, labels: Labels | undefined): boolean =>
    matchesSelector(parseSelector(selector, CLUSTER_SELECTOR_BOUNDS), labels);
  return isRuled && (namespaceLabels === undefined || selects(namespaceSelector, namespaceLabels)) &&
    [object, oldObject].some((each) => each !== undefined && selects(objectSelector, each.metadata.labels));
}

function hasAny(named: readonly string[], wanted: readonly string[]): boolean {
  return wanted.some((each) => named.includes(each));
}
