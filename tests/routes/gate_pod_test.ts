import assert from "node:assert/strict";
import fc from "fast-check";
import jsonPatch from "fast-json-patch";
import { Hono } from "hono";
import { SCHEDULING_GATE } from "../../lib/names.ts";
import { makeSettings } from "../support/placement_settings.ts";
import type { MismatchChecks } from "../../lib/placement/cluster/mismatch_checks.ts";
import { gatePod, type GatePodDeps, MAX_CONTAINERS } from "../../routes/gate_pod.ts";
import { MAX_STRUCTURE } from "../../lib/json.ts";
import { listAtPath } from "../../playground/json_path.ts";
import { MAX_BODY_BYTES } from "../../routes/review_body.ts";
import { renderWebhookConfiguration } from "../../lib/operator/cluster/webhook_configuration.ts";
import { makeGateDeps } from "./gate_deps.ts";
import { makeOperandConfig, SERVICE_SETTINGS } from "../lib/operator/decide/make.ts";
import { ARCH, at, platformsFact, requiredOf, term } from "../lib/placement/decide/make.ts";

const openApp = (changes: Partial<GatePodDeps> = {}) => {
  const outcomes: { readonly outcome: string; readonly dryRun: boolean }[] = [];
  const prefetched: string[] = [];
  const app = new Hono();
  app.post(
    "/gate",
    gatePod(makeGateDeps({
      prefetch: (pod) => void prefetched.push(pod.namespace),
      observe: (outcome, { dryRun }) => void outcomes.push({ outcome, dryRun }),
      ...changes,
    })),
  );
  return { app, outcomes, prefetched };
};

const POD = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { generateName: "web-" },
  spec: { containers: [{ name: "web", image: "example.com/web:v1" }] },
};

const PODS = { group: "", version: "v1", resource: "pods" };

function reviewOf(object: unknown, changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    ...{ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" },
    request: { uid: "u-1", operation: "CREATE", resource: PODS, namespace: "team", object, ...changes },
  };
}

async function post(app: Hono, body: BodyInit): Promise<{ status: number; json: Record<string, unknown> }> {
  const headers = { "content-type": "application/json" };
  const response = await app.request("/gate", { method: "POST", body, headers });
  return { status: response.status, json: await response.json() };
}

interface Allowed {
  readonly uid: string;
  readonly allowed: boolean;
  readonly patchType?: string;
  readonly patch?: string;
}

async function admit(app: Hono, review: unknown): Promise<Allowed> {
  const { status, json } = await post(app, JSON.stringify(review));
  assert.equal(status, 200);
  return json.response as Allowed;
}

function patched(object: unknown, { patch }: Allowed): typeof POD & { spec: { schedulingGates?: { name: string }[] } } {
  const operations = patch === undefined ? [] : JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(patch)));
  return jsonPatch.applyPatch(structuredClone(object), operations).newDocument as ReturnType<typeof patched>;
}

const AMD64 = { os: "linux", architecture: "amd64" };
const ARM64 = { os: "linux", architecture: "arm64" };
const ON_ARM64 = platformsFact("example.com/web:v1", [ARM64]);

Deno.test("DV-25 gatePod() answers with the same uid, allowed, and a JSON Patch only when something changes", async () => {
  const { app } = openApp();
  const gated = await admit(app, reviewOf(POD));
  assert.deepEqual([gated.uid, gated.allowed, gated.patchType], ["u-1", true, "JSONPatch"]);
  assert.deepEqual(patched(POD, gated).spec.schedulingGates, [{ name: SCHEDULING_GATE }]);
  const foreign = await admit(app, reviewOf(POD, { resource: { group: "apps", resource: "deployments" } }));
  assert.deepEqual(foreign, { uid: "u-1", allowed: true });
});

Deno.test("WH-01 gatePod() admits a pod with a nodeName without gate", async () => {
  const { app, outcomes } = openApp();
  const pod = { ...POD, spec: { ...POD.spec, nodeName: "n1" } };
  assert.equal(patched(pod, await admit(app, reviewOf(pod))).spec.schedulingGates, undefined);
  assert.deepEqual(outcomes, [{ outcome: "ignored", dryRun: false }]);
});

Deno.test("DV-09 gatePod() lets an undecodable object pass without patch", async () => {
  const { app } = openApp();
  for (const object of [null, "pod", 7, [], {}, { kind: "Secret" }, { spec: "x" }]) {
    assert.deepEqual(await admit(app, reviewOf(object)), { uid: "u-1", allowed: true });
  }
});

Deno.test("DV-12 gatePod() gates a dry run without side effects", async () => {
  const { app, outcomes, prefetched } = openApp();
  assert.equal(patched(POD, await admit(app, reviewOf(POD, { dryRun: true }))).spec.schedulingGates?.length, 1);
  assert.deepEqual(prefetched, []);
  assert.deepEqual(outcomes, [{ outcome: "gated", dryRun: true }]);
});

Deno.test("DV-13 gatePod() gates a pod that has only a generateName", async () => {
  const { app, prefetched } = openApp();
  assert.equal(patched(POD, await admit(app, reviewOf(POD))).spec.schedulingGates?.length, 1);
  assert.deepEqual(prefetched, ["team"]);
});

Deno.test("DV-16 gatePod() reports each request with its outcome", async () => {
  const { app, outcomes } = openApp();
  await admit(app, reviewOf(POD));
  await admit(app, reviewOf(POD, { namespace: "kube-system" }));
  await post(app, "{");
  assert.deepEqual(outcomes.map(({ outcome }) => outcome), ["gated", "ignored", "unreadable"]);
});

Deno.test("DV-26 gatePod() leaves updates and subresources alone", async () => {
  const { app } = openApp();
  assert.deepEqual(await admit(app, reviewOf(POD, { operation: "UPDATE" })), { uid: "u-1", allowed: true });
  assert.deepEqual(await admit(app, reviewOf(POD, { subResource: "binding" })), { uid: "u-1", allowed: true });
  const object = renderWebhookConfiguration(makeOperandConfig(), SERVICE_SETTINGS);
  const rules = listAtPath(object, "webhooks", 0, "rules");
  const asked = rules.map((rule) => [listAtPath(rule, "operations"), listAtPath(rule, "resources")].join(" "));
  assert.deepEqual(asked, ["CREATE pods"]);
  assert.equal(listAtPath(object, "webhooks", 1, "matchConditions").length, 1);
});

/** With the images that are looked at because they came late: `exchanged example.com/web:v2`. */
function openAppThatNotesLate(): Pick<ReturnType<typeof openApp>, "app"> & { readonly late: readonly string[] } {
  const late: string[] = [];
  const note: MismatchChecks["checkLateImages"] = (_pod, { came, containers }) =>
    void late.push([came, ...containers.map(({ image }) => image)].join(" "));
  const { app } = openApp({ mismatches: { checkPinned: () => {}, checkLateImages: note } });
  return { app, late };
}

Deno.test("Q-06 gatePod() has images looked at that an update exchanged, and changes nothing", async () => {
  const { app, late } = openAppThatNotesLate();
  const object = { ...POD, spec: { nodeName: "n1", containers: [{ name: "web", image: "example.com/web:v2" }] } };
  const update = { operation: "UPDATE", oldObject: POD };
  assert.deepEqual(await admit(app, reviewOf(object, update)), { uid: "u-1", allowed: true });
  assert.deepEqual(await admit(app, reviewOf(object, { ...update, dryRun: true })), { uid: "u-1", allowed: true });
  assert.deepEqual(late, ["exchanged example.com/web:v2"]);
});

Deno.test("gatePod() takes no image for new where the pod before an update cannot be read", async () => {
  const { app, late } = openAppThatNotesLate();
  const debug = { ephemeralContainers: [{ name: "debug", image: "example.com/debug:v1" }] };
  const object = {
    ...POD,
    spec: { nodeName: "n1", containers: [{ name: "web", image: "example.com/web:v2" }], ...debug },
  };
  await admit(app, reviewOf(object, { operation: "UPDATE", oldObject: { metadata: { name: "web" } } }));
  assert.deepEqual(late, ["exchanged"]);
});

Deno.test("Q-01 gatePod() has pins looked at of all pods but those of system namespaces and audited ones, and of no dry run", async () => {
  const seen: string[] = [];
  const mismatches: MismatchChecks = {
    checkLateImages: () => {},
    checkPinned: (pod) => void seen.push(`${pod.namespace}/${pod.name}`),
  };
  const { app } = openApp({ mismatches, settingsOf: (namespace) => makeSettings({ audit: namespace === "audited" }) });
  for (const [name, label] of Object.entries({ old: "beta.kubernetes.io/arch", pinned: ARCH })) {
    const pod = { ...POD, metadata: { name }, spec: { ...POD.spec, nodeSelector: { [label]: "arm64" } } };
    for (const namespace of ["team", "kube-system", "audited"]) await admit(app, reviewOf(pod, { namespace }));
    await admit(app, reviewOf(pod, { dryRun: true }));
  }
  assert.deepEqual(seen, ["team/old", "team/pinned"]);
});

Deno.test("Q-02 gatePod() narrows the template of a queued Job whose images are known, and reads them where they are not", async () => {
  const job = { apiVersion: "batch/v1", kind: "Job", metadata: { name: "j" }, spec: { template: { spec: POD.spec } } };
  const review = (namespace: string): unknown =>
    reviewOf(job, { resource: { group: "batch", version: "v1", resource: "jobs" }, namespace });
  const unknown = openApp();
  assert.deepEqual(await admit(unknown.app, review("team")), { uid: "u-1", allowed: true });
  assert.deepEqual(unknown.prefetched, ["team"]);
  const { app } = openApp({ recall: () => ({ images: [ON_ARM64], isAging: false }) });
  const after = patched(job, await admit(app, review("team")));
  assert.deepEqual(requiredOf(at(after, "spec", "template")), [term([ARCH, "arm64"])]);
  assert.equal((await admit(app, review("kube-system"))).patch, undefined);
});

Deno.test("gatePod() places a pod whose images are all known, and sets no gate", async () => {
  const { app, outcomes } = openApp({ recall: () => ({ images: [ON_ARM64], isAging: false }) });
  const pod = patched(POD, await admit(app, reviewOf(POD)));
  assert.equal(pod.spec.schedulingGates, undefined);
  assert.match(JSON.stringify(pod.spec), /"key":"kubernetes.io\/arch","operator":"In","values":\["arm64"\]/);
  assert.deepEqual(outcomes, [{ outcome: "placed", dryRun: false }]);
});

Deno.test("gatePod() holds what comes in the first moments until the process has read its configs and leader", async () => {
  const started = Promise.withResolvers<void>();
  let knows = false;
  const { app } = openApp({ startup: () => knows ? undefined : started.promise, mayGate: () => knows });
  const answer = admit(app, reviewOf(POD));
  knows = true;
  started.resolve();
  assert.deepEqual(patched(POD, await answer).spec.schedulingGates, [{ name: SCHEDULING_GATE }]);
});

Deno.test("gatePod() admits untouched when its own code fails", async () => {
  const { app } = openApp({ configsOf: () => assert.fail("broken") });
  assert.deepEqual(await admit(app, reviewOf(POD)), { uid: "u-1", allowed: true });
});

Deno.test("gatePod() refuses beyond its limit with 503, which lets the pod pass, and counts it", async () => {
  const { app, outcomes, prefetched } = openApp({ limit: { enter: () => undefined } });
  const { status, json } = await post(app, JSON.stringify(reviewOf(POD)));
  assert.deepEqual([status, json.response, prefetched], [503, undefined, []]);
  assert.deepEqual(outcomes, [{ outcome: "shed", dryRun: false }]);
});

Deno.test("invariant 4: gatePod() admits a pod as it is when a patch might make it too large to be stored", async () => {
  const { app, outcomes, prefetched } = openApp();
  const admitSized = (bytes: number): Promise<Allowed> =>
    admit(app, reviewOf({ ...POD, metadata: { ...POD.metadata, annotations: { note: "x".repeat(bytes) } } }));
  assert.equal((await admitSized(1_500_000)).patch, undefined);
  assert.notEqual((await admitSized(1_000_000)).patch, undefined);
  assert.deepEqual(outcomes.map(({ outcome }) => outcome), ["passed", "gated"]);
  assert.equal(prefetched.length, 1);
});

Deno.test("gatePod() counts the pods of audited namespaces apart from those that it leaves while gating has stopped", async () => {
  const audited = openApp({ settingsOf: () => makeSettings({ audit: true }) });
  assert.equal((await admit(audited.app, reviewOf(POD))).patch, undefined);
  const stopped = openApp({ mayGate: () => false });
  assert.equal(patched(POD, await admit(stopped.app, reviewOf(POD))).spec.schedulingGates, undefined);
  assert.deepEqual(audited.outcomes, [{ outcome: "audited", dryRun: false }]);
  assert.deepEqual(stopped.outcomes, [{ outcome: "passed", dryRun: false }]);
});

Deno.test("gatePod() gives its place back, whatever came of the request", async () => {
  let inside = 0;
  const enter = (): () => void => {
    inside++;
    return () => void inside--;
  };
  const { app } = openApp({ limit: { enter } });
  for (const body of [JSON.stringify(reviewOf(POD)), "{", ""]) await post(app, body);
  assert.equal(inside, 0);
});

Deno.test("gatePod() admits a pod with more members than it parses, with a warning", async () => {
  const { app, outcomes } = openApp();
  const request = `"request":{"uid":"u-9","object":{"x":[${"{},".repeat(MAX_STRUCTURE)}{}]}}`;
  const { status, json } = await post(app, `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1",${request}}`);
  assert.equal(status, 200);
  const { warnings, ...rest } = json.response as Allowed & { readonly warnings: readonly string[] };
  assert.deepEqual(rest, { uid: "u-9", allowed: true });
  assert.match(warnings.join(), /admitted this pod without looking at it: .* no scheduling gate/);
  assert.deepEqual(outcomes, [{ outcome: "dense", dryRun: false }]);
  assert.equal((await post(app, `{"object":[${"{},".repeat(MAX_STRUCTURE)}{}]}`)).status, 400);
});

Deno.test("gatePod() admits a pod with more containers than it looks at, with a warning", async () => {
  const spec = { containers: Array.from({ length: MAX_CONTAINERS + 1 }, () => ({ image: "a" })) };
  const job = { apiVersion: "batch/v1", kind: "Job", metadata: { name: "j" }, spec: { template: { spec } } };
  const ofJob = { resource: { group: "batch", version: "v1", resource: "jobs" } };
  for (const review of [reviewOf({ ...POD, spec }), reviewOf(job, ofJob)]) {
    const { app, outcomes } = openApp();
    const { patch, ...rest } = await admit(app, review);
    assert.equal(patch, undefined);
    const warned = /"warnings":\["Archway admitted this pod without looking at it: it has more than 5000/;
    assert.match(JSON.stringify(rest), warned);
    assert.deepEqual(outcomes, [{ outcome: "dense", dryRun: false }]);
  }
});

Deno.test("gatePod() gives a place to a body when it is complete, not while it arrives", async () => {
  let inside = 0;
  const enter = (): () => void => {
    inside++;
    return () => {};
  };
  const { app } = openApp({ limit: { enter } });
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const answered = app.request("/gate", { method: "POST", body: readable });
  await writer.write(new TextEncoder().encode('{"request":'));
  assert.equal(inside, 0);
  await writer.write(new TextEncoder().encode('{"uid":"u"}}'));
  await writer.close();
  assert.equal((await answered).status, 200);
  assert.equal(inside, 1);
});

Deno.test("gatePod() answers 400 where nobody can be answered, 413 where the body is too large", async () => {
  const { app } = openApp();
  for (const body of ["", "{", "null", "[]", '"x"', "{}", '{"request":{}}', '{"request":{"uid":7}}']) {
    assert.equal((await post(app, body)).status, 400, body);
  }
  assert.equal((await post(app, new Uint8Array(MAX_BODY_BYTES + 1).fill(32))).status, 413);
  const headers = { "content-length": String(MAX_BODY_BYTES + 1) };
  assert.equal((await app.request("/gate", { method: "POST", body: "{}", headers })).status, 413);
});

Deno.test("invariant 4: gatePod() never denies and never fails, whatever the object", async () => {
  const { app } = openApp();
  const anything = fc.anything({ withNullPrototype: false, maxDepth: 4 }).filter((value) =>
    JSON.stringify(value) !== undefined
  );
  const object = fc.oneof(anything, fc.record({ metadata: anything, spec: anything }, { requiredKeys: [] }));
  await fc.assert(
    fc.asyncProperty(object, async (value) => {
      const { status, json } = await post(app, JSON.stringify(reviewOf(value)));
      assert.equal(status, 200);
      assert.equal((json.response as Allowed).allowed, true);
    }),
    { numRuns: 300 },
  );
});

const TAINT_CASES = [
  ["unknown", undefined, "amd64,arm64,ppc64le,s390x", [{ possibleBundles: [] }]],
  ["known", { depth: "config" }, "arm64", []],
  ["known but for a config", { depth: "index" }, "amd64,arm64,ppc64le,s390x", [{ possibleBundles: ["one:v1"] }]],
] as const;

for (const [what, known, tolerates, asks] of TAINT_CASES) {
  Deno.test(`Q-09 gatePod() gives a pod of kube-system whose images are ${what} the tolerations {${tolerates}}, and asks ${asks.length} times`, async () => {
    const asked: unknown[] = [];
    const facts = [platformsFact("both:v1", [AMD64, ARM64]), platformsFact("one:v1", [ARM64], known)];
    const taints = [{ key: "supported-arch", effect: "NoSchedule" }] as const;
    const { app } = openApp({
      settingsOf: () => makeSettings({ toleratedTaints: taints, ownTaints: taints }),
      recall: () => known && { images: facts, isAging: false },
      prefetch: (_pod, uses, possibleBundles) =>
        void asked.push({ images: uses.map(({ image }) => image), possibleBundles }),
    });
    const images = facts.map(({ image }) => image);
    const pod = { ...POD, spec: { containers: images.map((image, at) => ({ name: `c${at}`, image })) } };
    const answer = await admit(app, reviewOf(pod, { namespace: "kube-system" }));
    const { spec } = patched(pod, answer) as unknown as { spec: { tolerations: { value: string }[] } };
    assert.equal(spec.tolerations.map(({ value }) => value).join(), tolerates);
    assert.deepEqual(asked, asks.map((ask) => ({ images, ...ask })));
  });
}
