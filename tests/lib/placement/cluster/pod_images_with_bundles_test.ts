import assert from "node:assert/strict";
import type { FailureReason } from "../../../../lib/oci/errors.ts";
import { podImagesWithBundles } from "../../../../lib/placement/cluster/pod_images_with_bundles.ts";
import { judgeImages } from "../../../../lib/placement/decide/judge_images.ts";
import { imagesToInspect } from "../../../../lib/placement/decide/images_to_inspect.ts";
import { AMD64, ARM64, fact, failedFact, make } from "../decide/make.ts";

const signal = new AbortController().signal;

/** Of two images the judgement, when reading the config of the narrower one fails so; `none`: when nobody reads it. */
async function judgedWithout(reason: FailureReason | "none"): Promise<readonly string[] | FailureReason> {
  const images = [fact("multi"), fact("multi2")];
  const pod = make.view(make.pod({ containers: images.map(({ image }) => make.container(image)) }));
  const [settings, uses] = [make.settings(), imagesToInspect(pod, make.settings())];
  const answers = [
    images,
    reason === "none"
      ? []
      : images.map((one) => one.image === "multi" ? failedFact("multi", { kind: "permanent", reason }) : one),
  ];
  const inner = { inspect: () => Promise.resolve(answers.shift() ?? assert.fail("a third look")) };
  const request = {
    images: uses,
    identity: { namespace: "n", serviceAccount: "s", pullSecrets: [] },
    priority: "gated",
  } as const;
  const inspected = await podImagesWithBundles(inner, pod, settings).inspect(request, signal);
  const judged = judgeImages(pod, settings, uses, inspected);
  return judged.kind === "shared" ? judged.architectures : judged.kind === "failed" ? judged.failed.failure.reason : [];
}

Deno.test("podImagesWithBundles() goes by the index where no registry has a config, or nobody reads it", async () => {
  assert.deepEqual(await judgedWithout("ManifestUnknown"), [AMD64, ARM64]);
  assert.deepEqual(await judgedWithout("none"), [AMD64, ARM64]);
  assert.equal(await judgedWithout("Unauthorized"), "Unauthorized");
});
