import assert from "node:assert/strict";
import { notesOf } from "../../manifests/release/artifacts.ts";
import { narrow } from "../../manifests/release/install_files.ts";

Deno.test("narrow() keeps Deployments on the architecture that the image has", () => {
  const on = (...values: readonly string[]): Parameters<typeof narrow>[0][number] => {
    const spec = { matchExpressions: [{ key: "kubernetes.io/arch", operator: "In", values }] };
    return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "a" }, spec };
  };
  assert.deepEqual(narrow([on("amd64", "arm64")], ["arm64"]), [on("arm64")]);
});

Deno.test("notesOf() takes the part of one version, and refuses one that has none", () => {
  const changelog = "# Changelog\n\n## 0.2.0\n\n### New\n\n- b\n\n## 0.1.0\n\na\n";
  assert.equal(notesOf(changelog, "0.2.0"), "### New\n\n- b");
  assert.throws(() => notesOf(changelog, "0.3.0"), /no "## 0\.3\.0"/);
});
