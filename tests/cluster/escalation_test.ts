import assert from "node:assert/strict";
import { type ClusterAccess } from "./support/cluster_access.ts";
import { denyPods } from "./support/objects.ts";
import { createAuthority } from "./support/pki.ts";
import { isReleased, listPodEvents, type PodOutcome, type PodSpec, renderPod, waitForPods } from "./support/pods.ts";
import { waitUntil } from "./support/wait.ts";
import { index, openWorkingBed } from "./support/walk_bed.ts";

const MAX_ANNOTATIONS_BYTES = 256 * 1024;
const FALLBACK = [["amd64"]];

/** Pods with the label `policy=<reason>` may have no affinity, says a ValidatingAdmissionPolicy with that reason. */
async function denyAffinityByPolicy(cluster: ClusterAccess, reason: "Forbidden" | "Invalid"): Promise<void> {
  const labelled = `object.metadata.?labels['policy'].orValue('') == '${reason}'`;
  await denyPods(cluster, {
    ...{ name: `deny-${reason.toLowerCase()}`, operations: ["UPDATE"], reason, message: "no affinity here" },
    expression: `!(${labelled}) || !has(object.spec.affinity)`,
  });
}

/** A webhook that denies every update of pods with the label `webhook=<code>` that leaves them an affinity, by that code. */
async function denyAffinityByWebhook(cluster: ClusterAccess, codes: readonly number[]): Promise<AsyncDisposable> {
  const authority = await createAuthority("deny");
  const { certificatePem: cert, keyPem: key } = await authority.issue({ commonName: "deny", usage: "server" });
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, cert, key, onListen: () => {} }, async (request) => {
    const { request: { uid, object } } = await request.json();
    const code = Number(new URL(request.url).pathname.slice(1));
    const isDenied = object.spec.affinity !== undefined;
    const status = { code, message: "no affinity, says the webhook" };
    const response = isDenied ? { uid, allowed: false, status } : { uid, allowed: true };
    return Response.json({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response });
  });
  const webhooks = codes.map((code) => ({
    name: `deny-${code}.example.com`,
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    failurePolicy: "Fail",
    objectSelector: { matchLabels: { webhook: String(code) } },
    rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["UPDATE"], resources: ["pods"] }],
    clientConfig: { url: `https://127.0.0.1:${server.addr.port}/${code}`, caBundle: btoa(authority.certificatePem) },
  }));
  const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
  await cluster.create(path, { metadata: { name: "deny" }, webhooks });
  return server;
}

function preferring(value: string): Readonly<Record<string, unknown>> {
  const preference = { matchExpressions: [{ key: "note", operator: "In", values: [value] }] };
  const terms = [{ weight: 1, preference }];
  return { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: terms } } };
}

interface Row extends PodSpec {
  readonly ends: readonly (readonly string[])[];
  /** What the Warning about the release says; undefined: there is none. */
  readonly warns?: RegExp;
}

const UNKNOWN = ["registry.invalid/app:v1"];

function rowsFor(image: string): readonly Row[] {
  const full = (freeBytes: number): Readonly<Record<string, string>> => ({
    x: "y".repeat(MAX_ANNOTATIONS_BYTES - 1 - freeBytes),
  });
  return [
    { name: "control", images: UNKNOWN, ends: FALLBACK },
    { name: "placeholder", images: ["<registry>/app:v1"], ends: FALLBACK },
    { name: "ampersand", images: ["foo&bar:v1"], ends: FALLBACK },
    { name: "separators", images: ["foo\u2028bar\u2029:v1"], ends: FALLBACK },
    { name: "good-and-placeholder", images: [image, "<sidecar>"], ends: FALLBACK },
    { name: "preference", images: [image], spec: preferring("a&b"), ends: [["amd64", "arm64"]] },
    { name: "policy-forbidden", images: UNKNOWN, labels: { policy: "Forbidden" }, ends: [], warns: /no affinity here/ },
    { name: "policy-invalid", images: UNKNOWN, labels: { policy: "Invalid" }, ends: [], warns: /no affinity here/ },
    { name: "webhook-403", images: UNKNOWN, labels: { webhook: "403" }, ends: [], warns: /says the webhook/ },
    { name: "webhook-409", images: UNKNOWN, labels: { webhook: "409" }, ends: [], warns: /says the webhook/ },
    { name: "webhook-422", images: UNKNOWN, labels: { webhook: "422" }, ends: [], warns: /says the webhook/ },
    { name: "webhook-500", images: UNKNOWN, labels: { webhook: "500" }, ends: [], warns: /says the webhook/ },
    { name: "full-10", images: UNKNOWN, annotations: full(10), ends: FALLBACK },
    { name: "full-150", images: UNKNOWN, annotations: full(150), ends: FALLBACK },
  ];
}

Deno.test("pods whose release is compared byte for byte, or refused, lose their gate within the longest gate age", async (t) => {
  await using bed = await openWorkingBed({
    spec: { fallbackArchitecture: "amd64" },
    replica: { args: ["--max-gate-age=8s", "--warm-admission=false"] },
  });
  const { controlPlane } = bed;
  const namespace = await controlPlane.createNamespace("refusing");
  for (const reason of ["Forbidden", "Invalid"] as const) await denyAffinityByPolicy(controlPlane, reason);
  await using _webhook = await denyAffinityByWebhook(controlPlane, [403, 409, 422, 500]);
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const denied = { name: "probe", images: UNKNOWN, spec: preferring("x") };
  for (const labels of [{ policy: "Forbidden" }, { policy: "Invalid" }, { webhook: "422" }]) {
    await controlPlane.create(pods, renderPod({ ...denied, labels }));
    await waitUntil("the denial to be in force", async () => {
      const patch = { metadata: { labels: { touched: "yes" } } };
      const { status } = await controlPlane.request("PATCH", `${pods}/probe?dryRun=All`, patch);
      return status >= 400;
    });
    await controlPlane.request("DELETE", `${pods}/probe?gracePeriodSeconds=0`);
  }
  const rows = rowsFor(await bed.push("demo/app", index("amd64", "arm64")));
  for (const row of rows) await controlPlane.create(pods, renderPod(row));
  const quota = { metadata: { name: "none" }, spec: { hard: { pods: "0" } } };
  await controlPlane.create(`/api/v1/namespaces/${namespace}/resourcequotas`, quota);
  const ended = await waitForPods(controlPlane, namespace, {
    count: rows.length,
    until: isReleased,
    deadlineMs: 15_000,
  });
  const byName = new Map<string, PodOutcome>(ended.map((pod) => [pod.name, pod]));
  for (const { name, ends, warns } of rows) {
    await t.step(name, async () => {
      assert.deepEqual(byName.get(name)?.requiredArchitectures, ends);
      const find = async (): Promise<string | undefined> =>
        (await listPodEvents(controlPlane, { namespace, name }))
          .find(({ reason }) => reason === "ArchAwareSchedGateRemovalFailed")?.message;
      if (warns === undefined) assert.equal(await find(), undefined);
      else assert.match(await waitUntil("the Warning", find), warns);
    });
  }
});
