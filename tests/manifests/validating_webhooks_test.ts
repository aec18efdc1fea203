// Which writes the validating webhooks are asked about: with failurePolicy Fail, what is asked about fails while nothing serves.
import assert from "node:assert/strict";
import { parseManifest } from "../../manifests/generate/kustomize.ts";
import { listAtPath, textAtPath } from "../../playground/json_path.ts";

Deno.test("a PodPlacementConfig, whose deletion is always allowed, can be deleted while no replica serves", () => {
  const file = new URL("../../manifests/base/validating_webhooks.yaml", import.meta.url);
  const [configuration] = parseManifest(Deno.readTextFileSync(file));
  const asked = listAtPath(configuration, "webhooks").flatMap((webhook) =>
    listAtPath(webhook, "rules").map((rule) =>
      [...listAtPath(rule, "resources"), textAtPath(webhook, "failurePolicy"), ...listAtPath(rule, "operations")].join(
        " ",
      )
    )
  );
  assert.deepEqual(asked, [
    "clusterpodplacementconfigs Fail CREATE UPDATE DELETE",
    "podplacementconfigs Fail CREATE UPDATE",
  ]);
});
