// Which writes the validating webhooks are asked about: with failurePolicy Fail, what is asked about fails while nothing serves.
import assert from "node:assert/strict";
import * as z from "zod";
import { parseManifest } from "../../manifests/generate/kustomize.ts";

const WEBHOOKS = z.object({
  webhooks: z.array(z.looseObject({
    failurePolicy: z.string(),
    rules: z.array(z.looseObject({ operations: z.array(z.string()), resources: z.array(z.string()) })),
  })),
});

Deno.test("a PodPlacementConfig, whose deletion is always allowed, can be deleted while no replica serves", () => {
  const file = new URL("../../manifests/base/validating_webhooks.yaml", import.meta.url);
  const { webhooks } = WEBHOOKS.parse(parseManifest(Deno.readTextFileSync(file))[0]);
  const asked = webhooks.flatMap(({ failurePolicy, rules }) =>
    rules.map(({ resources, operations }) => [...resources, failurePolicy, ...operations].join(" "))
  );
  assert.deepEqual(asked, [
    "clusterpodplacementconfigs Fail CREATE UPDATE DELETE",
    "podplacementconfigs Fail CREATE UPDATE",
  ]);
});
