import assert from "node:assert/strict";
import { buildFailedImage, FAILED_TTL_MS, type FailedImage } from "../../../../lib/exec_format/decide/failed_image.ts";
import { openFailedImages } from "../../../../lib/exec_format/cluster/failed_images.ts";
import { Resource } from "../../../../lib/k8s/types.ts";
import { silentLogger } from "../../../../lib/log.ts";
import { openScene, whileRunning } from "../../../controllers/make.ts";
import { makeFailedImage } from "../decide/make.ts";

const DIGEST = `sha256:${"ab".repeat(32)}`;

Deno.test("openFailedImages() follows the records, and drops those that are deleted or have decayed", async () => {
  const { cluster, clock } = openScene();
  const put = (changes: Partial<FailedImage>): string => {
    const failed = makeFailedImage({ nodes: ["n1"], ...changes });
    const object = buildFailedImage(failed, "archway-system") ?? assert.fail("no object");
    cluster.put(Resource.enoexecEvents, object);
    return `archway-system/${object.metadata.name}`;
  };
  put({});
  const witness = put({ namespace: "witness", nodes: ["n2"] });
  const images = openFailedImages({ api: cluster.api, clock, log: silentLogger, namespace: "archway-system" });
  const of = (namespace: string): readonly string[] => images.architecturesOf({ digest: DIGEST, namespace });
  assert.deepEqual(of("shop"), []);
  await whileRunning({ clock }, images, async () => {
    assert.deepEqual(of("shop"), ["arm64"]);
    put({ architecture: "s390x" });
    await clock.advance(0);
    assert.deepEqual([of("shop"), of("other")], [["arm64", "s390x"], ["arm64"]]);
    cluster.drop(Resource.enoexecEvents, witness);
    await clock.advance(0);
    assert.deepEqual([of("shop"), of("other")], [["arm64", "s390x"], []]);
    clock.jumpWall(FAILED_TTL_MS);
    assert.deepEqual(of("shop"), []);
  });
});
