import assert from "node:assert/strict";
import { adviceFor, annotationText, reasonIn } from "../../../../lib/placement/decide/failure_advice.ts";
import { FAILURE_REASONS } from "../../../../lib/oci/errors.ts";

const FAILURE = { kind: "permanent", reason: "ManifestUnknown", message: "gone" } as const;

Deno.test("adviceFor() has a sentence for every reason, and none for others", () => {
  for (const reason of FAILURE_REASONS) {
    assert.match(adviceFor(reason, { pullSecrets: [] }) ?? "", /^[A-Z].*\.$/, reason);
  }
  assert.equal(adviceFor("Whatever", { pullSecrets: [] }), undefined);
});

Deno.test("adviceFor() names the pull secrets of the pod, or asks for one, and the registry where it is known", () => {
  const advice = (pullSecrets: readonly string[], registry?: string): string =>
    adviceFor("Unauthorized", { pullSecrets, registry }) ?? "";
  assert.match(advice(["a", "b"], "quay.io"), /the pull secrets of the pod \(a, b\) .* log in to quay\.io\./);
  assert.match(advice([], "quay.io"), /^Name a pull secret for quay\.io in imagePullSecrets/);
  assert.match(advice([]), /^Name a pull secret for the registry/);
});

Deno.test("annotationText() begins with the reason that reasonIn() finds again", () => {
  const text = annotationText({ image: "a/b:1", failure: FAILURE });
  assert.equal(text, 'ManifestUnknown: Cannot inspect image "a/b:1": gone');
  assert.equal(reasonIn(text), "ManifestUnknown");
  assert.equal(reasonIn('Cannot inspect image "a/b:1": gone'), undefined);
});
