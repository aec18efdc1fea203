// OpenShift's own registry: its tags are ImageStreamTags, served by an API server behind the aggregation layer of the real one.
// What goes is deleted there, with a right of the component, and no manifest is ever deleted through the registry.
import assert from "node:assert/strict";
import { BUILD_ACCOUNT, BuildBed, ignore } from "./support/build_bed.ts";
import { BUILD_NAMESPACE, content as contentOf, type WantedConfig } from "./support/build_objects.ts";
import { read } from "./support/cluster_access.ts";
import { SHAREABLE, startControlPlane } from "./support/control_plane.ts";
import { openFrontProxy } from "./support/front_proxy.ts";
import { type ImageApi, openImageApi } from "./support/image_api.ts";
import { archwayIndex } from "./support/indexing.ts";
import { writeLogins } from "./support/inspecting.ts";
import { readUses } from "./support/rights.ts";
import { waitUntil } from "./support/wait.ts";

const OWN = `${BUILD_NAMESPACE}/os`;
const ELSEWHERE = "elsewhere/os";
const EVENTS = "/api/v1/events?fieldSelector=reason%3DImageNotDeleted";

function content(text: string, repository = OWN): WantedConfig {
  return { ...contentOf(text), repository };
}

async function deleteConfig(bed: BuildBed): Promise<void> {
  await bed.deleteConfig();
  await waitUntil("its records to go", async () => {
    const maps = await bed.cluster.names(`/api/v1/namespaces/${BUILD_NAMESPACE}/configmaps`);
    return !maps.some((name) => name.startsWith("archs-"));
  }, { says: () => bed.log() });
}

/** What a build left in the registry: its tags, the index first, and its digests. */
interface Images {
  readonly tags: readonly string[];
  readonly digests: readonly string[];
}

async function imagesOf(bed: BuildBed, reference: string): Promise<Images> {
  const build = (await bed.builds()).find(({ digest }) => digest === reference);
  const children = await bed.platformsOf(reference) ?? {};
  const own = Object.values(children).map((digest) => bed.player.played.findLast((one) => one.digest === digest)?.tag);
  return {
    tags: [build?.name ?? "", ...own.map((tag = "") => tag.slice(tag.lastIndexOf(":") + 1))],
    digests: [reference.slice(reference.indexOf("@") + 1), ...Object.values(children)],
  };
}

/** Tags whose deletion reached the image API since, as `STREAM:TAG`. */
function deletedSince({ requests }: ImageApi, count: number, namespace = BUILD_NAMESPACE): readonly string[] {
  return requests.slice(count).map(({ method, user, tag }) => {
    assert.deepEqual([method, user, tag.startsWith(`${namespace}/`)], ["DELETE", BUILD_ACCOUNT, true]);
    return tag.slice(namespace.length + 1);
  });
}

/** Statuses of the account's requests for ImageStreamTags, as the API server logged them. */
async function tagUses(bed: BuildBed): Promise<readonly string[]> {
  const uses = readUses(await Deno.readTextFile(bed.cluster.auditLogFile ?? ""), BUILD_ACCOUNT);
  return uses.filter(({ resource }) => resource === "imagestreamtags.image.openshift.io").map((
    { verb, namespace, status },
  ) => `${verb} in ${namespace}: ${status}`);
}

async function inspect(bed: BuildBed, tag: string): Promise<number> {
  const [[username = "", password = ""] = []] = Object.entries(bed.registry.users);
  await using files = await writeLogins({ [bed.relay.host]: `${username}:${password}` });
  const flags = ["--insecure-registry", bed.relay.host, files.flag];
  return (await archwayIndex(["inspect", ...flags, `${bed.repositoryOf({ repository: OWN })}:${tag}`])).code;
}

Deno.test(
  "image builds: in OpenShift's own registry ImageStreamTags are deleted, and no manifest (O-103 P-169 P-170)",
  { ignore },
  async (t) => {
    await using proxy = await openFrontProxy();
    await using cluster = await startControlPlane({
      ...SHAREABLE,
      flags: { ...SHAREABLE.flags, "kube-apiserver": [...SHAREABLE.flags?.["kube-apiserver"] ?? [], ...proxy.flags] },
    });
    await using bed = await BuildBed.open({ settings: { retainImages: 1 }, cluster });
    await bed.publishRoute();
    await using api = await openImageApi(bed.cluster, { registry: bed.registry, clientCa: proxy.caPem });
    await bed.startArchway();
    await t.step(
      "a build beyond those that are kept: inspected, its tags deleted, no longer found (O-103)",
      async () => {
        const first = await bed.publish(content("first"));
        await bed.settled();
        const { tags, digests } = await imagesOf(bed, first);
        const [index = ""] = tags;
        assert.deepEqual([await inspect(bed, index), await bed.present(tags, OWN)], [0, tags]);
        await bed.publish(content("second"));
        await waitUntil("its tags to go", async () => (await bed.present(tags, OWN)).length === 0);
        await bed.settled();
        assert.deepEqual(deletedSince(api, 0), tags.map((tag) => `os:${tag}`));
        assert.equal(await inspect(bed, index), 1);
        assert.deepEqual(await bed.present(digests, OWN), digests, "manifests are the pruner's");
      },
    );
    await t.step("a tag that somebody moved stays, and those beside it go (P-169)", async () => {
      const { tags: [index = "", ...children] } = await imagesOf(bed, await bed.published());
      const [moved = "", other = ""] = children;
      await bed.registry.push(OWN, moved, { single: { architecture: "amd64" }, salt: "moved" });
      const count = api.requests.length;
      await deleteConfig(bed);
      assert.deepEqual(deletedSince(api, count), [`os:${index}`, `os:${other}`]);
      assert.deepEqual(await bed.present([index, ...children], OWN), [moved]);
    });
    assert.deepEqual([...new Set(await tagUses(bed))], [`delete in ${BUILD_NAMESPACE}: 200`]);
    await t.step("another namespace: the missing right is said once, and nothing is deleted", async () => {
      const { tags } = await imagesOf(bed, await bed.publish(content("fourth", ELSEWHERE)));
      await bed.settled();
      const count = api.requests.length;
      await deleteConfig(bed);
      assert.deepEqual([deletedSince(api, count), await bed.present(tags, ELSEWHERE)], [[], tags]);
      const [event, ...more] = await waitUntil("the event", async () => {
        const events = await bed.cluster.list(EVENTS);
        return events.length > 0 && events;
      });
      assert.deepEqual([read(event, "type"), read(event, "count"), more], ["Warning", 1, []]);
      assert.match(
        String(read(event, "message")),
        /lacks the right to delete imagestreamtags\.image\.openshift\.io in the namespace "elsewhere"/,
      );
    });
    await t.step("the right is granted there as the documentation says: its tags go", async () => {
      const name = "archway-image-builds-tags";
      const account = "--serviceaccount=archway-system:archway-image-builds";
      for (
        const args of [
          ["create", "namespace", "elsewhere"],
          ["-n", "elsewhere", "create", "role", name, "--verb=delete", "--resource=imagestreamtags.image.openshift.io"],
          ["-n", "elsewhere", "create", "rolebinding", name, `--role=${name}`, account],
        ]
      ) {
        await bed.cluster.run(args);
      }
      const { tags } = await imagesOf(bed, await bed.publish(content("fifth", ELSEWHERE)));
      await bed.settled();
      const count = api.requests.length;
      await deleteConfig(bed);
      assert.deepEqual(deletedSince(api, count, "elsewhere"), tags.map((tag) => `os:${tag}`));
      assert.deepEqual(await bed.present(tags, ELSEWHERE), []);
    });
    assert.deepEqual(bed.relay.writes().filter((write) => /^DELETE .*\/manifests\//.test(write)), []);
    const reads = readUses(await Deno.readTextFile(bed.cluster.auditLogFile ?? ""), BUILD_ACCOUNT)
      .filter(({ resource }) => resource === "images.config.openshift.io");
    assert.ok(reads.length > 0 && reads.length <= 8, `${reads.length} requests for the names of the registry`);
  },
);
