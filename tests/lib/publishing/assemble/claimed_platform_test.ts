import assert from "node:assert/strict";
import { systemClock } from "../../../../lib/clock.ts";
import { assembleIndex } from "../../../../lib/publishing/assemble/assemble_index.ts";
import { REGISTRY_USER } from "../../../../playground/sample_cluster.ts";
import { openPushRegistry } from "../../builds/cluster/push_registry.ts";

const OCI = "application/vnd.oci.image";
const headers = { authorization: `Basic ${btoa(`${REGISTRY_USER.name}:${REGISTRY_USER.password}`)}` };

for (const [claimed, findings] of [["amd64", []], ["arm64", ["PlatformMismatch"]]] as const) {
  Deno.test(`assembleIndex() joins an image of amd64 that its index calls ${claimed} as amd64, with ${findings.length} findings`, async () => {
    await using bed = await openPushRegistry();
    const { registry, repositories } = bed;
    const form = "oci-manifest";
    const digest = await registry.push({ repository: "team/app", tag: "v1", architectures: ["amd64"], form });
    const manifests = `${registry.origin}/v2/team/app/manifests`;
    const mediaType = `${OCI}.manifest.v1+json`;
    const read = await fetch(`${manifests}/${digest}`, { headers: { ...headers, accept: mediaType } });
    const { byteLength: size } = await read.arrayBuffer();
    const entry = { mediaType, digest, size, platform: { os: "linux", architecture: claimed } };
    const type = `${OCI}.index.v1+json`;
    const body = JSON.stringify({ schemaVersion: 2, mediaType: type, manifests: [entry] });
    const pushed = await fetch(`${manifests}/claims`, {
      method: "PUT",
      headers: { ...headers, "content-type": type },
      body,
    });
    await pushed.body?.cancel();
    assert.equal(pushed.status, 201);
    const images = [`${registry.host}/team/app:claims`];
    const { signal } = new AbortController();
    const [result] = await assembleIndex(
      { to: [`${registry.host}/team/app:all`], images, mode: "plan", form: "index" },
      { repositories, clock: systemClock, signal, onProgress: () => {} },
    );
    assert.ok(result.kind === "planned", JSON.stringify(result));
    assert.deepEqual(
      result.images.map((one) => [one.platform.architecture, one.findings.map(({ kind }) => kind)]),
      [["amd64", findings]],
    );
  });
}
