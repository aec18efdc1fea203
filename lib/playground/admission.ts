// The admission chain of the playground: calls mutating and validating webhooks over TLS, as the real API server does.
import { type KubeObject, Resource } from "../k8s/types.ts";
import { errorText, type Logger } from "../log.ts";
import { type Admission, type AdmissionAttempt, parseKubeObject } from "./cluster.ts";
import { applyJsonPatch } from "./json_patch.ts";
import { isEqualJson, numberAt, objectAt, textAt, textsAt, valueAt, without } from "./json_value.ts";
import { StatusError } from "./status.ts";
import type { ObjectStore } from "./store.ts";
import { matchesWebhook, parseWebhooks, type Webhook, type WebhookAddress } from "./webhooks.ts";

/** What the chain needs. */
export interface AdmissionOptions {
  /** Failed calls are logged at debug level. */
  readonly log: Logger;
  /** The URL behind a `service` reference; without it, or when it answers undefined, the call fails. */
  readonly resolveService?: (service: Extract<WebhookAddress, { kind: "service" }>) => string | undefined;
}

/** An admission chain with connections to close. */
export interface WebhookAdmission extends Admission, Disposable {}

/** Opens the chain over the configurations that the store holds at the time of each write. */
export function openAdmission(store: ObjectStore, options: AdmissionOptions): WebhookAdmission {
  const clients = new Map<string, Deno.HttpClient>();
  const clientFor = (caBundle: string | undefined): Deno.HttpClient => {
    const known = clients.get(caBundle ?? "");
    if (known !== undefined) return known;
    const client = Deno.createHttpClient({ http2: false, ...(caBundle === undefined ? {} : { caCerts: [caBundle] }) });
    clients.set(caBundle ?? "", client);
    return client;
  };
  const ask: Ask = (webhook, attempt) =>
    callWebhook(webhook, attempt, { ...options, client: clientFor(webhook.caBundle) });
  return {
    mutate: (attempt) => mutate(store, attempt, ask),
    validate: (attempt) => validate(store, attempt, ask),
    [Symbol.dispose]: () => {
      for (const client of clients.values()) client.close();
      clients.clear();
    },
  };
}

/** Calls one webhook; returns the object after its patch. */
type Ask = (webhook: Webhook, attempt: AdmissionAttempt) => Promise<KubeObject | undefined>;

function selectWebhooks(
  store: ObjectStore,
  attempt: AdmissionAttempt,
  type: typeof Resource.mutatingWebhooks | typeof Resource.validatingWebhooks,
): readonly Webhook[] {
  if (attempt.kind.group === type.group) return [];
  const namespace = (attempt.object ?? attempt.oldObject)?.metadata.namespace;
  const namespaceLabels = namespace === undefined
    ? undefined
    : textsAt(store.get(Resource.namespaces, namespace), "metadata", "labels");
  return store.list(type).flatMap(parseWebhooks)
    .filter((webhook) => matchesWebhook(webhook, attempt, { namespaceLabels }));
}

/** In order; then `IfNeeded` webhooks once more when a later one changed the object after them. */
async function mutate(store: ObjectStore, attempt: AdmissionAttempt, ask: Ask): Promise<KubeObject | undefined> {
  const webhooks = selectWebhooks(store, attempt, Resource.mutatingWebhooks);
  const seen = new Map<Webhook, KubeObject | undefined>();
  let object = attempt.object;
  for (const webhook of webhooks) {
    object = await ask(webhook, { ...attempt, object });
    seen.set(webhook, object);
  }
  for (const webhook of webhooks) {
    if (webhook.reinvocationPolicy !== "IfNeeded" || isEqualJson(seen.get(webhook), object)) continue;
    object = await ask(webhook, { ...attempt, object });
  }
  return object;
}

async function validate(store: ObjectStore, attempt: AdmissionAttempt, ask: Ask): Promise<void> {
  const webhooks = selectWebhooks(store, attempt, Resource.validatingWebhooks);
  await Promise.all(webhooks.map((webhook) => ask(webhook, attempt)));
}

interface CallOptions extends AdmissionOptions {
  readonly client: Deno.HttpClient;
}

/** One call under its failure policy. A denial is never forgiven; a failed call is under `Ignore`. */
async function callWebhook(
  webhook: Webhook,
  attempt: AdmissionAttempt,
  options: CallOptions,
): Promise<KubeObject | undefined> {
  let response: unknown;
  try {
    response = await postReview(webhook, attempt, options);
  } catch (error) {
    options.log.debug("webhook call failed", { webhook: webhook.name, error: errorText(error) });
    if (webhook.failurePolicy === "Ignore") return attempt.object;
    const message = `Internal error occurred: failed calling webhook "${webhook.name}": ${errorText(error)}`;
    throw new StatusError(500, "InternalError", { message });
  }
  if (valueAt(response, "allowed") !== true) throw denial(webhook, response);
  const patch = textAt(response, "patch");
  if (patch === undefined || attempt.object === undefined) return attempt.object;
  const bytes = Uint8Array.from(atob(patch), (character) => character.charCodeAt(0));
  try {
    return parseKubeObject(applyJsonPatch(attempt.object, new TextDecoder().decode(bytes)));
  } catch (error) {
    const message = `Internal error occurred: cannot apply the patch of "${webhook.name}": ${errorText(error)}`;
    throw new StatusError(500, "InternalError", { message });
  }
}

function denial(webhook: Webhook, response: unknown): StatusError {
  const said = textAt(response, "status", "message") ?? textAt(response, "status", "reason") ?? "no reason given";
  return new StatusError(
    numberAt(response, "status", "code") ?? 403,
    textAt(response, "status", "reason") ?? "Forbidden",
    {
      message: `admission webhook "${webhook.name}" denied the request: ${said}`,
    },
  );
}

/** Posts the review and gives its `response`. Throws on anything but a well-formed answer to this very uid. */
async function postReview(webhook: Webhook, attempt: AdmissionAttempt, options: CallOptions): Promise<unknown> {
  const { address } = webhook;
  const url = address.kind === "url" ? address.url : options.resolveService?.(address);
  if (url === undefined) throw new Error("Cannot call the webhook: its Service has no address in the playground.");
  const uid = crypto.randomUUID();
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(new Error("context deadline exceeded")), webhook.timeoutMs);
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(renderReview(attempt, uid)),
      client: options.client,
      signal: timeout.signal,
    });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`the server answered ${answer.status}`);
    const review: unknown = JSON.parse(text);
    if (textAt(review, "response", "uid") !== uid) throw new Error("the answer has another uid");
    return objectAt(review, "response");
  } finally {
    clearTimeout(timer);
  }
}

function renderReview(attempt: AdmissionAttempt, uid: string): unknown {
  const { kind, object, oldObject, subresource, operation, dryRun } = attempt;
  const named = object ?? oldObject;
  const groupKind = { group: kind.group, version: kind.version, kind: kind.kind };
  const resource = { group: kind.group, version: kind.version, resource: kind.plural };
  return {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: {
      uid,
      kind: groupKind,
      resource,
      requestKind: groupKind,
      requestResource: resource,
      ...(subresource === undefined ? {} : { subResource: subresource }),
      name: named?.metadata.name ?? "",
      namespace: named?.metadata.namespace ?? "",
      operation,
      userInfo: { username: "playground", groups: ["system:authenticated"] },
      object: unnamed(object),
      oldObject: unnamed(oldObject),
      dryRun,
      options: null,
    },
  };
}

/** An object whose name is yet to be generated has none on the wire. */
function unnamed(object: KubeObject | undefined): unknown {
  if (object === undefined) return null;
  return object.metadata.name === "" ? { ...object, metadata: without({ ...object.metadata }, "name") } : object;
}
