import assert from "node:assert/strict";
import { systemClock } from "../../lib/clock.ts";
import { silentLogger } from "../../lib/log.ts";
import { openAdmission } from "../../playground/admission.ts";
import { createObject } from "../../playground/create_object.ts";
import { type JsonObject, objectAtPath, valueAtPath } from "../../playground/json_path.ts";
import { issueLoopbackCertificates, listenTls } from "../../playground/listen.ts";
import { ObjectStore } from "../../playground/store.ts";
import { kindNamed } from "../../playground/kinds.ts";
import { makeCluster, podBody } from "./make.ts";

const POD = kindNamed("Pod");

const openHook = async (respond: (request: JsonObject) => JsonObject) => {
  const { authority, serving } = await issueLoopbackCertificates(systemClock.nowMs());
  const reviews: JsonObject[] = [];
  const listener = await listenTls(async (request) => {
    const review = objectAtPath(await request.json(), "request");
    reviews.push({ ...review, path: new URL(request.url).pathname });
    return Response.json({
      apiVersion: "admission.k8s.io/v1",
      kind: "AdmissionReview",
      response: { uid: review.uid, ...respond(review) },
    });
  }, { certificate: serving });
  const store = new ObjectStore();
  const admission = openAdmission(store, { log: silentLogger });
  return {
    cluster: await makeCluster({ store, admission }),
    listener,
    caBundle: btoa(authority),
    reviews,
    [Symbol.asyncDispose]: async () => {
      admission[Symbol.dispose]();
      await listener[Symbol.asyncDispose]();
    },
  };
};

type Hook = Awaited<ReturnType<typeof openHook>>;

const CREATED_PODS = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] };

async function register(hook: Hook, kind: string, ...more: readonly JsonObject[]): Promise<void> {
  const clientConfig = { url: `${hook.listener.origin}/hook`, caBundle: hook.caBundle };
  const webhooks = more.map((webhook) => ({ name: "a.example", rules: [CREATED_PODS], clientConfig, ...webhook }));
  await createObject(hook.cluster, kindNamed(kind), { body: { metadata: { name: kind.toLowerCase() }, webhooks } });
}

const createPod = (hook: Hook, rest: { readonly dryRun?: boolean; readonly metadata?: JsonObject } = {}) =>
  createObject(hook.cluster, POD, {
    namespace: "default",
    body: podBody("p", {}, rest.metadata ?? {}),
    dryRun: rest.dryRun ?? false,
  });

function patching(...operations: readonly JsonObject[]): JsonObject {
  return { allowed: true, patchType: "JSONPatch", patch: btoa(JSON.stringify(operations)) };
}

const ADD_LABEL = { op: "add", path: "/metadata/labels", value: { gated: "yes" } };

Deno.test("openAdmission() applies the webhook's JSON Patch to a new pod", async () => {
  await using hook = await openHook(() => patching(ADD_LABEL));
  await register(hook, "MutatingWebhookConfiguration", {});
  assert.equal((await createPod(hook)).metadata.labels?.gated, "yes");
  const [review] = hook.reviews;
  const { operation, namespace, dryRun, path } = review ?? {};
  assert.deepEqual([operation, namespace, dryRun, path], ["CREATE", "default", false, "/hook"]);
  assert.equal(valueAtPath(review, "object", "metadata", "uid"), undefined);
});

Deno.test("openAdmission() shows a pod to be named by generateName without a name, and passes dryRun on", async () => {
  await using hook = await openHook(() => ({ allowed: true }));
  await register(hook, "MutatingWebhookConfiguration", {});
  await createPod(hook, { dryRun: true, metadata: { name: "", generateName: "web-" } });
  const [review] = hook.reviews;
  assert.deepEqual([review?.name, review?.dryRun], ["", true]);
  assert.deepEqual(Object.keys(objectAtPath(review, "object", "metadata")).sort(), ["generateName", "namespace"]);
});

Deno.test("openAdmission() skips namespaces and objects outside of the selectors", async () => {
  await using hook = await openHook(() => ({ allowed: false }));
  const elsewhere = { matchLabels: { "kubernetes.io/metadata.name": "other" } };
  await register(hook, "MutatingWebhookConfiguration", { namespaceSelector: elsewhere });
  await register(hook, "ValidatingWebhookConfiguration", { objectSelector: { matchLabels: { watched: "yes" } } });
  await createPod(hook);
  assert.deepEqual(hook.reviews, []);
});

Deno.test("openAdmission() lets a pod pass a broken webhook under Ignore and refuses it under Fail", async () => {
  await using hook = await openHook(() => ({ allowed: true, uid: "another" }));
  await register(hook, "MutatingWebhookConfiguration", { failurePolicy: "Ignore" });
  assert.equal((await createPod(hook)).metadata.labels, undefined);
  await register(hook, "ValidatingWebhookConfiguration", { failurePolicy: "Fail" });
  await assert.rejects(
    createPod(hook, { metadata: { name: "q" } }),
    { name: "StatusError", status: 500, message: /another uid/ },
  );
});

Deno.test("openAdmission() refuses what a webhook denies, in the webhook's words", async () => {
  await using hook = await openHook(() => ({ allowed: false, status: { code: 422, message: "not like this" } }));
  await register(hook, "ValidatingWebhookConfiguration", {});
  const message = 'admission webhook "a.example" denied the request: not like this';
  await assert.rejects(createPod(hook), { name: "StatusError", status: 422, message });
});
