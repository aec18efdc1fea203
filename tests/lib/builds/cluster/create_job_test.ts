import assert from "node:assert/strict";
import { createJob, refreshCopy } from "../../../../lib/builds/cluster/create_job.ts";
import { type KubeObject, Resource } from "../../../../lib/k8s/types.ts";
import { MemoryCluster } from "../../../support/memory_kube_api.ts";

const namespace = "builds";
const { signal } = new AbortController();

function secretOf(content: string): KubeObject {
  const data = { ".dockerconfigjson": btoa(content) };
  const metadata = { name: "push", namespace };
  return { apiVersion: "v1", kind: "Secret", type: "kubernetes.io/dockerconfigjson", metadata, data };
}

Deno.test("refreshCopy() gives the copy of a Job what its secret has now, against the version that was seen", async () => {
  const cluster = new MemoryCluster();
  const patches: unknown[] = [];
  const api = cluster.client(({ verb, body }) => void (verb === "patch" && patches.push(body)));
  const deps = { api, namespace, signal };
  cluster.put(Resource.secrets, secretOf('{"auths":{"a.test":{"auth":"b25l"}}}'));
  const labels = { "archway.dev/secret-version": "2" };
  const object = { apiVersion: "v1", kind: "Secret", metadata: { name: "final-1", namespace, labels } };
  const job = { apiVersion: "batch/v1", kind: "Job", metadata: { name: "job", namespace } };
  await createJob({ job, configMaps: [], secrets: [{ object, from: "push" }] }, deps);
  patches.length = 0;
  const data = (): unknown => cluster.find("secrets", `${namespace}/final-1`)?.["data"];
  for (const [content, expected] of [['{"auths":{}}', '{"auths":{}}'], ["broken", '{"auths":{}}']] as const) {
    cluster.put(Resource.secrets, secretOf(content));
    const target = { resource: "secrets", name: "final-1", uid: "u", resourceVersion: "7" } as const;
    await refreshCopy({ target, copy: { object, from: "push" } }, deps);
    assert.deepEqual(data(), { ".dockerconfigjson": btoa(expected) });
  }
  const written = { metadata: { uid: "u", resourceVersion: "7", labels }, data: data() };
  assert.deepEqual(patches, [{ kind: "merge", document: written }]);
});
