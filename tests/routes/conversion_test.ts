import assert from "node:assert/strict";
import { memberOf, objectAt } from "../../lib/json.ts";
import { convertReview } from "../../routes/conversion.ts";

const BETA = "multiarch.openshift.io/v1beta1";

function makeReview(objects: readonly unknown[], desiredAPIVersion = BETA): unknown {
  const request = { uid: "r-1", desiredAPIVersion, objects };
  return { apiVersion: "apiextensions.k8s.io/v1", kind: "ConversionReview", request };
}

function makeConfig(name: string, version = "v1alpha1"): unknown {
  const apiVersion = `multiarch.openshift.io/${version}`;
  return { apiVersion, kind: "ClusterPodPlacementConfig", metadata: { name }, spec: {} };
}

Deno.test("222 convertReview() converts many objects and keeps their order", () => {
  const review = convertReview(makeReview(["a", "b", "c"].map((name) => makeConfig(name))));
  const response = objectAt(review, "response");
  assert.equal(response?.uid, "r-1");
  assert.deepEqual(response?.result, { status: "Success" });
  const converted = response?.convertedObjects;
  assert.ok(Array.isArray(converted));
  assert.deepEqual(converted.map((object) => memberOf(objectAt(object, "metadata"), "name")), ["a", "b", "c"]);
  assert.ok(converted.every((object) => memberOf(object, "apiVersion") === BETA));
});

Deno.test("222 convertReview() answers nothing when the body is no review", () => {
  for (const body of [undefined, null, "x", [], {}, { request: {} }, { request: { uid: "u" } }]) {
    assert.equal(convertReview(body), undefined);
  }
});

Deno.test("222 convertReview() fails as a whole when one object cannot be converted", () => {
  const response = objectAt(convertReview(makeReview([makeConfig("a"), makeConfig("b", "v1beta1")])), "response");
  assert.deepEqual(response?.convertedObjects, []);
  assert.equal(memberOf(response?.result, "status"), "Failure");
  assert.match(String(memberOf(response?.result, "message")), /^Cannot convert /);
});
