import assert from "node:assert/strict";
import type { PodImageInspector } from "../../../../lib/placement/images/pod_image_inspector.ts";
import { podImagesWithoutFailed } from "../../../../lib/placement/images/pod_images_without_failed.ts";
import type { InspectedImage } from "../../../../lib/oci/inspection.ts";
import { openScene } from "../../../controllers/make.ts";
import { platformsFact } from "../decide/make.ts";

const SCOPE = { namespace: "shop", serviceAccount: "", pullSecrets: [] };
const never = new AbortController().signal;

function inspected(...architectures: readonly string[]): InspectedImage {
  return platformsFact("app", architectures.map((architecture) => ({ os: "linux", architecture })));
}

function architecturesOf(one: InspectedImage | undefined): readonly string[] {
  return one?.inspection.kind === "platforms" ? one.inspection.platforms.map(({ architecture }) => architecture) : [];
}

async function inspect(image: InspectedImage, failed: readonly string[]): Promise<InspectedImage | undefined> {
  const inner = { ...openScene().images, inspect: () => Promise.resolve([image]) };
  const images = podImagesWithoutFailed(
    inner,
    ({ digest, namespace }) => digest === `sha256:${"0".repeat(64)}` && namespace === "shop" ? failed : [],
  );
  return (await images.inspect({ identity: SCOPE, images: [], priority: "gated" }, never))[0];
}

Deno.test("podImagesWithoutFailed() leaves out what has failed, and reports it", async () => {
  const one = await inspect(inspected("amd64", "arm64"), ["amd64", "s390x"]);
  assert.deepEqual(architecturesOf(one), ["arm64"]);
  assert.match(JSON.stringify(one), /"FailedArchitecture".*has failed on amd64, s390x, which it claims/);
});

Deno.test("podImagesWithoutFailed() never leaves an image without any architecture", async () => {
  const image = inspected("amd64", "arm64");
  assert.equal(await inspect(image, ["amd64", "arm64"]), image);
});

Deno.test("podImagesWithoutFailed() leaves images that have not failed, and failed inspections, as they are", async () => {
  const image = inspected("amd64");
  assert.equal(await inspect(image, ["s390x"]), image);
  const failure = { kind: "permanent", reason: "ManifestUnknown", message: "" } as const;
  const failed = { image: "app", inspection: { kind: "failed", failure } } as const;
  assert.equal(await inspect(failed, ["amd64"]), failed);
});

Deno.test("podImagesWithoutFailed() recalls the same for warm admission", () => {
  const known = { images: [inspected("amd64", "arm64")], isAging: true };
  const recall = (found: typeof known | undefined): ReturnType<PodImageInspector["recall"]> => {
    const inner = { ...openScene().images, recall: () => found };
    return podImagesWithoutFailed(inner, () => ["arm64"]).recall({ identity: SCOPE, images: [] });
  };
  const recalled = recall(known);
  assert.deepEqual([recalled?.images.map(architecturesOf), recalled?.isAging], [[["amd64"]], true]);
  assert.equal(recall(undefined), undefined);
});
