import assert from "node:assert/strict";
import { type DeleteBy, deleteBy, namesRegistryService } from "../../../../../lib/builds/decide/publish/delete_by.ts";

const SERVICE = "image-registry.openshift-image-registry.svc";
const ROUTE = "default-route-openshift-image-registry.apps.example.com";
const MANIFEST: DeleteBy = { kind: "manifest" };
const NOTHING: DeleteBy = { kind: "nothing" };

function tag(namespace: string, name: string): DeleteBy {
  return { kind: "image stream tag", namespace, name };
}

const ROWS: readonly (readonly [reference: string, hosts: readonly string[], by: DeleteBy])[] = [
  [`${SERVICE}:5000/builds/os:worker-1`, [], tag("builds", "os:worker-1")],
  [`${SERVICE}/builds/os:worker-1`, [], tag("builds", "os:worker-1")],
  [`${SERVICE}.cluster.local:5000/builds/os:worker-1`, [], tag("builds", "os:worker-1")],
  [`${SERVICE.toUpperCase()}:5000/builds/os:worker-1`, [], tag("builds", "os:worker-1")],
  [`${ROUTE}/builds/os:worker-1`, [ROUTE], tag("builds", "os:worker-1")],
  [`${ROUTE}:443/builds/os:worker-1`, [ROUTE], tag("builds", "os:worker-1")],
  [`${ROUTE}/builds/os:worker-1`, [`${ROUTE}:443`, "other.example.com"], tag("builds", "os:worker-1")],
  ["127.0.0.1:5000/builds/os:v1", ["127.0.0.1:5000"], tag("builds", "os:v1")],
  // Another registry, or another port of the same host.
  [`${ROUTE}/builds/os:worker-1`, [], MANIFEST],
  [`${ROUTE}:8443/builds/os:worker-1`, [ROUTE], MANIFEST],
  ["quay.io/builds/os:worker-1", [ROUTE], MANIFEST],
  ["registry.test:5000/os:worker-1", [], MANIFEST],
  [`${SERVICE}.example.com/builds/os:worker-1`, [], MANIFEST],
  [`quay.io/${SERVICE}/os:worker-1`, [ROUTE], MANIFEST],
  ["os:worker-1", [ROUTE, ""], MANIFEST],
  // No tag of a stream: never through the registry.
  [`${SERVICE}:5000/builds/deep/os:worker-1`, [], NOTHING],
  [`${SERVICE}:5000/os:worker-1`, [], NOTHING],
  [`${SERVICE}:5000/builds/os`, [], NOTHING],
  [`${SERVICE}:5000/builds/os@sha256:${"a".repeat(64)}`, [], NOTHING],
  [`${ROUTE}/builds/os:v1@sha256:${"a".repeat(64)}`, [ROUTE], NOTHING],
];

for (const [reference, hosts, by] of ROWS) {
  Deno.test(`O-103 deleteBy() says "${by.kind}" for ${reference} where the cluster names [${hosts.join(", ")}]`, () => {
    assert.deepEqual(deleteBy(reference, hosts), by);
  });
}

Deno.test("O-103 namesRegistryService() needs no other name of the registry for the Service alone", () => {
  assert.equal(namesRegistryService(`${SERVICE}:5000/builds/os:v1`), true);
  assert.equal(namesRegistryService(`${ROUTE}/builds/os:v1`), false);
  assert.equal(namesRegistryService(`${SERVICE}:5001/builds/os:v1`), false);
});
