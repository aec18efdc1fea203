import assert from "node:assert/strict";
import { findBuilder } from "../../../../lib/builds/cluster/read_facts.ts";
import { Resource } from "../../../../lib/k8s/types.ts";
import { MemoryCluster } from "../../../support/memory_kube_api.ts";

const { signal } = new AbortController();
const NAMESPACE = "openshift-machine-config-operator";

const MAPS: readonly (readonly [what: string, data: Readonly<Record<string, string>> | undefined, image: string])[] = [
  ["there is no ConfigMap", undefined, ""],
  ["it is empty", {}, ""],
  ["it has no JSON", { "images.json": "{" }, ""],
  ["it has other images", { "images.json": `{"keepalivedImage":"registry.test/other"}` }, ""],
  [
    "it names one",
    { "images.json": `{"machineConfigOperator":"registry.test/mco@sha256:1"}` },
    "registry.test/mco@sha256:1",
  ],
];

for (const [what, data, image] of MAPS) {
  Deno.test(`findBuilder() is "${image}" where ${what}`, async () => {
    const cluster = new MemoryCluster();
    const metadata = { namespace: NAMESPACE, name: "machine-config-operator-images" };
    if (data !== undefined) cluster.put(Resource.configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata, data });
    assert.equal(await findBuilder(cluster.api, NAMESPACE, signal), image);
  });
}
