// Images of one architecture each in a registry for staging, published in another one, as image builds do it: on real
// registries, each with a login of its own in the one push secret.
import assert from "node:assert/strict";
import { openBuildRegistries } from "../../lib/builds/cluster/answer_questions.ts";
import { deleteImages } from "../../lib/builds/cluster/delete_images.ts";
import { publishImages } from "../../lib/builds/cluster/apply.ts";
import { ImageLabel } from "../../lib/builds/decide/names.ts";
import { systemClock as clock } from "../../lib/clock.ts";
import { silentLogger } from "../../lib/log.ts";
import { openRegistryAccess } from "../../lib/oci/registry_access.ts";
import { MemoryCluster } from "../support/memory_kube_api.ts";
import { startRegistry } from "./support/registry.ts";
import { askRegistry } from "./support/registry_platforms.ts";

const ARCHS = ["amd64", "arm64"] as const;
const { signal } = new AbortController();

Deno.test("images of a staging registry are published in another with tags of their own, and then go where they were", async () => {
  await using staging = await startRegistry({ auth: "htpasswd" });
  await using final = await startRegistry({ auth: "htpasswd", users: { pusher: "other-secret" } });
  const children = await Promise.all(ARCHS.map(async (arch) => {
    const labels = { [ImageLabel.buildKey]: `key of ${arch}` };
    const { digest } = await staging.push("stage/os", `worker-${arch}`, { single: { architecture: arch }, labels });
    const reference = `${staging.host}/stage/os@${digest}`;
    return { arch, digest, reference, buildKey: `key of ${arch}`, isUnlabelled: false, tag: `worker-${arch}` };
  }));
  const config = {
    registry: [staging.host, final.host],
    registryCa: [staging, final].map(({ caFile }) => caFile),
    insecureRegistry: [],
  };
  using access = openRegistryAccess({
    config,
    clock,
    log: silentLogger,
    userAgent: "archway/test",
    clusterCredentials: () => [],
  });
  const auths = Object.fromEntries([staging, final].map(({ host, users }) => {
    const [[user, password] = ["", ""]] = Object.entries(users);
    return [host, { auth: btoa(`${user}:${password}`) }];
  }));
  const push = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "push", namespace: "builds" },
    type: "kubernetes.io/dockerconfigjson",
    data: { ".dockerconfigjson": btoa(JSON.stringify({ auths })) },
  };
  const { push: repositories } = openBuildRegistries({ push, pull: undefined }, { access, clock, signal });
  const to = `${final.host}/org/os:worker-1`;
  const published = await publishImages({ to, mode: "index", children }, { repositories, clock, signal });
  assert.ok(published.kind === "published", JSON.stringify(published));
  const { tags } = JSON.parse((await askRegistry(final, "/v2/org/os/tags/list")).text);
  assert.deepEqual(tags.toSorted(), ["worker-1", "worker-amd64", "worker-arm64"]);
  const deletions = children.map(({ digest, arch }) => ({
    reference: `${staging.host}/stage/os:worker-${arch}`,
    digest,
  }));
  const results: string[] = [];
  const onResult = (_reference: string, { kind }: { readonly kind: string }): void => void results.push(kind);
  await deleteImages(deletions, { api: new MemoryCluster().api, repositories, signal, onResult });
  assert.deepEqual(results, ["deleted", "deleted"]);
  for (const { digest } of children) {
    assert.equal((await askRegistry(staging, `/v2/stage/os/manifests/${digest}`)).status, 404);
    const kept = await askRegistry(final, `/v2/org/os/manifests/${digest}`);
    assert.equal(kept.status, 200);
    for (const layer of JSON.parse(kept.text).layers) {
      assert.equal((await askRegistry(final, `/v2/org/os/blobs/${layer.digest}`)).status, 200);
    }
  }
});
