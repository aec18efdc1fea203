import assert from "node:assert/strict";
import fc from "fast-check";
import { renderJsonBody } from "../../../lib/k8s/patch.ts";

Deno.test("renderJsonBody() leaves no character as itself that Go escapes, and changes no text", () => {
  const text = fc.string({
    unit: fc.oneof(fc.constantFrom("<", ">", "&", "\u2028", "\u2029", "\\", '"'), fc.string()),
  });
  fc.assert(fc.property(text, text, (image, value) => {
    const document = { image, terms: [{ values: [value] }] };
    const rendered = renderJsonBody(document);
    assert.doesNotMatch(rendered, /[<>&\u2028\u2029]/);
    assert.deepEqual(JSON.parse(rendered), document);
  }));
  assert.equal(renderJsonBody("<a&b>"), String.raw`"\u003ca\u0026b\u003e"`);
});
