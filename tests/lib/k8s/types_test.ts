import assert from "node:assert/strict";
import { isNotFound } from "../../../lib/k8s/errors.ts";
import { Resource, resourcePath } from "../../../lib/k8s/types.ts";

Deno.test("resourcePath() gives the path of an object and of a collection", () => {
  assert.equal(resourcePath(Resource.secrets, { namespace: "a", name: "b c" }), "/api/v1/namespaces/a/secrets/b%20c");
  assert.equal(resourcePath(Resource.leases), "/apis/coordination.k8s.io/v1/leases");
});

Deno.test("resourcePath() refuses names that lead to another object or collection", () => {
  for (const name of [".", "..", ""]) {
    assert.throws(() => resourcePath(Resource.secrets, { namespace: "a", name }), isNotFound);
    assert.throws(() => resourcePath(Resource.secrets, { namespace: name, name: "a" }), isNotFound);
  }
});
