import assert from "node:assert/strict";
import { isNotFound } from "../../../lib/k8s/api_error.ts";
import { Resource, resourcePath } from "../../../lib/k8s/types.ts";

Deno.test("resourcePath() refuses names that lead to another object or collection", () => {
  for (const name of [".", "..", ""]) {
    assert.throws(() => resourcePath(Resource.secrets, { namespace: "a", name }), isNotFound);
    assert.throws(() => resourcePath(Resource.secrets, { namespace: name, name: "a" }), isNotFound);
  }
});
