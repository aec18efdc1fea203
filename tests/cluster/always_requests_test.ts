import assert from "node:assert/strict";
import { createPods, isScheduled, waitForPods } from "./support/pods.ts";
import { index, openWorkingBed } from "./support/walk_bed.ts";

const IMAGES = 5;

Deno.test("a pod of policy Always costs one request an image: a GET for the first pod, a HEAD for the next", async () => {
  await using bed = await openWorkingBed();
  const { controlPlane, proxy } = bed;
  const images: string[] = [];
  for (let at = 0; at < IMAGES; at++) images.push(await bed.push(`demo/always-${at}`, index("amd64", "arm64")));
  const containers = images.map((image, at) => ({ name: `c${at}`, image, imagePullPolicy: "Always" }));
  const namespace = await controlPlane.createNamespace("always");
  const create = async (name: string, count: number): Promise<string> => {
    proxy.reset();
    await createPods(controlPlane, namespace, { pods: [{ name, images: [], spec: { containers } }] });
    await waitForPods(controlPlane, namespace, { count, until: isScheduled });
    const { manifestGet, manifestHead, blobGet } = proxy.counts();
    return `${manifestGet} GET, ${manifestHead} HEAD, ${blobGet} blobs`;
  };
  assert.equal(await create("first", 1), `${IMAGES} GET, 0 HEAD, 0 blobs`);
  assert.equal(await create("next", 2), `0 GET, ${IMAGES} HEAD, 0 blobs`);
});
