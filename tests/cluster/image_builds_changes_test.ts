import assert from "node:assert/strict";
import { lacks } from "../support/needs.ts";
import { BuildBed } from "./support/build_bed.ts";
import { BUILD_NAMESPACE } from "./support/build_objects.ts";
import type { SeenBuild } from "./support/seen_builds.ts";
import { read } from "./support/cluster_access.ts";
import { missingForOpenShift } from "./support/openshift_crds.ts";
import { waitUntil } from "./support/wait.ts";

const ignore = lacks("go") || await missingForOpenShift() !== undefined;
const TWO = [{ name: "amd64-1", arch: "amd64" }, { name: "arm64-1", arch: "arm64" }];
const POOL = "/apis/machineconfiguration.openshift.io/v1/machineconfigpools/worker";
const REBUILD = "machineconfiguration.openshift.io/rebuild";

function entry(content: string, containerfileArch = "NoArch"): { containerfileArch: string; content: string } {
  return { containerfileArch, content: `FROM configs AS final\nRUN echo ${content}\n` };
}

interface Expected {
  readonly built: readonly string[];
  /** `same`: nothing else is published. `new`: another digest. `moved`: the same digest elsewhere. */
  readonly published: "same" | "new" | "moved";
  readonly pushes?: boolean;
}

async function change(bed: BuildBed, make: () => Promise<unknown>, expected: Expected): Promise<string> {
  const before = await bed.published();
  const [played, jobs, pushes] = [bed.player.played.length, await bed.jobsCreated(), bed.pushes().length];
  await make();
  if (expected.published !== "same") await bed.waitForPublished({ other: before });
  if (expected.pushes === true) await waitUntil("a push", () => bed.pushes().length > pushes, { deadlineMs: 60_000 });
  await bed.settled();
  const after = await bed.published();
  const seen = {
    built: bed.player.built(played),
    jobs: await bed.jobsCreated() - jobs,
    published: after === before ? "same" : digestOf(after) === digestOf(before) ? "moved" : "new",
    ...(expected.pushes === undefined ? {} : { pushes: bed.pushes().length > pushes }),
  };
  const all = { jobs: expected.built.length, ...expected };
  if (JSON.stringify(Object.entries(seen).sort()) !== JSON.stringify(Object.entries(all).sort())) {
    assert.deepEqual(seen, all, `builds: ${JSON.stringify(await bed.builds())}; log: ${await bed.log()}`);
  }
  const builds = await bed.builds();
  assert.ok(builds.some(({ digest }) => digest === after), `no build has ${after}: ${JSON.stringify(builds)}`);
  return after;
}

async function check(bed: BuildBed, make: () => Promise<unknown>, expected: Expected): Promise<void> {
  await change(bed, make, expected);
}

function digestOf(reference: string): string {
  return reference.slice(reference.indexOf("@") + 1);
}

async function deleteFrom(bed: BuildBed, digest: string, repository = "team/os"): Promise<void> {
  await bed.registry.deleteManifest(repository, digest);
}

Deno.test({
  name: "image builds: every change of what an image is made of builds what it concerns and nothing else (P-080 P-084)",
  ignore,
  fn: async (t) => {
    await using bed = await BuildBed.open({ nodes: TWO });
    await bed.startArchway();
    const start = [entry("a"), entry("b", "ARM64")];
    let first = "";
    await t.step("created: both", async () => {
      first = await change(bed, () => bed.createConfig({ containerFile: start }), {
        built: ["amd64", "arm64"],
        published: "new",
      });
    });
    await t.step(
      "order of containerFile: nothing",
      () =>
        check(bed, () => bed.replaceConfig({ containerFile: start.toReversed() }), { built: [], published: "same" }),
    );
    await t.step("ARM64 entry edited: arm64, and the amd64 child stays", async () => {
      const before = await bed.platformsOf(await bed.published());
      const now = await change(bed, () => bed.replaceConfig({ containerFile: [entry("a"), entry("c", "ARM64")] }), {
        built: ["arm64"],
        published: "new",
      });
      const after = await bed.platformsOf(now);
      assert.equal(after?.["amd64"], before?.["amd64"]);
      assert.notEqual(after?.["arm64"], before?.["arm64"]);
    });
    await t.step("back to earlier content: reused, the same digest as before", async () => {
      const now = await change(bed, () => bed.replaceConfig({ containerFile: start }), { built: [], published: "new" });
      assert.equal(now, first);
    });
    await t.step(
      "ARM64 entry taken away where NoArch differs: arm64",
      () =>
        check(bed, () => bed.replaceConfig({ containerFile: [entry("a")] }), { built: ["arm64"], published: "new" }),
    );
    await t.step(
      "ARM64 entry added with the text of NoArch: nothing",
      () =>
        check(bed, () => bed.replaceConfig({ containerFile: [entry("a"), entry("a", "ARM64")] }), {
          built: [],
          published: "same",
        }),
    );
    await t.step(
      "an entry for an architecture that the pool has not: nothing",
      () =>
        check(bed, () => bed.replaceConfig({ containerFile: [entry("a"), entry("x", "S390X")] }), {
          built: [],
          published: "same",
        }),
    );
    await t.step("NoArch content: both", () =>
      check(bed, () => bed.replaceConfig({ containerFile: [entry("d")] }), {
        built: ["amd64", "arm64"],
        published: "new",
      }));
    await t.step(
      "a file of the MachineConfig: nothing is built, the same digest",
      () => check(bed, () => bed.render({ files: { "/etc/motd": "another" } }), { built: [], published: "same" }),
    );
    for (
      const [what, rendered] of [
        ["kernelArguments", { kernelArguments: ["quiet"] }],
        ["extensions", { kernelArguments: ["quiet"], extensions: ["usbguard"] }],
        ["kernelType", { kernelArguments: ["quiet"], extensions: ["usbguard"], kernelType: "realtime" }],
      ] as const
    ) {
      await t.step(
        `${what}: both`,
        () => check(bed, () => bed.render(rendered), { built: ["amd64", "arm64"], published: "new" }),
      );
    }
    await t.step("osImageURL: both, on that image; taken away again: reused, the same digest (O-140)", async () => {
      const before = await change(bed, () => bed.render({}), { built: ["amd64", "arm64"], published: "new" });
      const platforms = TWO.map(({ arch: architecture }) => ({ architecture }));
      const { digest } = await bed.registry.push("base/os", "v2", { platforms, salt: "another" });
      const osImageURL = `${bed.relay.host}/base/os@${digest}`;
      const played = bed.player.played.length;
      await change(bed, () => bed.render({ osImageURL }), { built: ["amd64", "arm64"], published: "new" });
      assert.deepEqual(bed.player.played.slice(played).map(({ base }) => base), [osImageURL, osImageURL]);
      const after = await change(bed, () => bed.render({}), { built: [], published: "new" });
      assert.equal(after, before);
    });
  },
});

Deno.test({
  name: "image builds: secrets, tags, repositories, lost images and rebuilds (P-080 P-085 P-087 P-089 P-162)",
  ignore,
  fn: async (t) => {
    await using bed = await BuildBed.open({ nodes: TWO });
    await bed.startArchway();
    const containerFile = [entry("a")];
    await change(bed, () => bed.createConfig({ containerFile }), { built: ["amd64", "arm64"], published: "new" });
    await t.step("push and pull secrets renamed: nothing", async () => {
      for (const name of ["push-2", "pull-2"]) await bed.createSecret(name);
      await change(bed, () => bed.replaceConfig({ containerFile, pushSecret: "push-2", pullSecret: "pull-2" }), {
        built: [],
        published: "same",
        pushes: false,
      });
    });
    await t.step(
      "push tag alone: nothing",
      () =>
        check(bed, () => bed.replaceConfig({ containerFile, tag: "other" }), {
          built: [],
          published: "same",
          pushes: false,
        }),
    );
    await t.step("the arm64 image deleted: arm64 is built", async () => {
      const lost = (await bed.platformsOf(await bed.published()))?.["arm64"] ?? "";
      await deleteFrom(bed, lost, "team/os");
      await change(bed, () => bed.annotate({ "example.com/look": "2" }), { built: ["arm64"], published: "new" });
    });
    await t.step("repository: copied, the same digest elsewhere", async () => {
      const now = await change(bed, () => bed.replaceConfig({ containerFile, repository: "team/moved" }), {
        built: [],
        published: "moved",
        pushes: true,
      });
      assert.ok(now.startsWith(`${bed.relay.host}/team/moved@`), now);
      assert.deepEqual(Object.keys(await bed.platformsOf(now) ?? {}), ["amd64", "arm64"]);
    });
    await t.step("index deleted, children there: pushed again, the same digest", async () => {
      const now = await bed.published();
      await deleteFrom(bed, digestOf(now), "team/moved");
      await change(bed, () => bed.annotate({ "example.com/look": "1" }), {
        built: [],
        published: "same",
        pushes: true,
      });
      await waitUntil("the index", async () => await bed.platformsOf(now) !== undefined);
    });
    await t.step("rebuild arm64: arm64, the same name and another uid", async () => {
      const before = await currentBuild(bed);
      await change(bed, () => bed.annotate({ [REBUILD]: "arm64" }), { built: ["arm64"], published: "new" });
      const after = await currentBuild(bed);
      assert.equal(after?.name, before?.name);
      assert.notEqual(after?.uid, before?.uid);
      assert.equal(read(await bed.config(), "metadata", "annotations", REBUILD), undefined);
    });
    await t.step("rebuild all, and with an empty value after success: both", async () => {
      const both = { built: ["amd64", "arm64"], published: "new" } as const;
      await change(bed, () => bed.annotate({ [REBUILD]: "all" }), both);
      await change(bed, () => bed.annotate({ [REBUILD]: "" }), both);
    });
    await t.step(
      "rebuild arm64,bogus: the part that is one",
      () => check(bed, () => bed.annotate({ [REBUILD]: "arm64,bogus" }), { built: ["arm64"], published: "new" }),
    );
  },
});

async function currentBuild(bed: BuildBed): Promise<SeenBuild | undefined> {
  const now = await bed.published();
  return (await bed.builds()).find(({ digest }) => digest === now);
}

Deno.test({
  name:
    "image builds: a node of a second architecture joins and leaves; pools that are paused or degraded (P-080 P-147)",
  ignore,
  fn: async (t) => {
    await using bed = await BuildBed.open({ nodes: [{ name: "amd64-1", arch: "amd64" }] });
    await bed.startArchway();
    const containerFile = [entry("a")];
    await t.step("one architecture: one Job, the image itself is published", async () => {
      const now = await change(bed, () => bed.createConfig({ containerFile }), { built: ["amd64"], published: "new" });
      const [played] = bed.player.played;
      assert.deepEqual(await bed.platformsOf(now), { amd64: played?.digest });
      assert.equal(digestOf(now), played?.digest);
    });
    await t.step("the first arm64 node: arm64 alone, in an index with the image that was there", async () => {
      const before = digestOf(await bed.published());
      const now = await change(bed, () => bed.addNode({ name: "arm64-1", arch: "arm64" }), {
        built: ["arm64"],
        published: "new",
      });
      assert.equal((await bed.platformsOf(now))?.["amd64"], before);
      const pool = await bed.cluster.get(POOL);
      assert.equal(read(pool, "metadata", "annotations", "archway.dev/architectures"), "amd64,arm64");
    });
    await t.step(
      "the last arm64 node leaves: nothing",
      () => check(bed, () => bed.removeNode("arm64-1"), { built: [], published: "same", pushes: false }),
    );
    await t.step("it comes back: nothing", () =>
      check(bed, () => bed.addNode({ name: "arm64-1", arch: "arm64" }), {
        built: [],
        published: "same",
        pushes: false,
      }));
    await t.step("a paused pool is built", async () => {
      await bed.cluster.patch(POOL, { spec: { paused: true } });
      await change(bed, () => bed.replaceConfig({ containerFile: [entry("b")] }), {
        built: ["amd64", "arm64"],
        published: "new",
      });
    });
    await t.step("a degraded pool is not built, until it is well", async () => {
      const degrade = async (status: string): Promise<void> => {
        const condition = {
          type: "NodeDegraded",
          status,
          reason: "Test",
          message: "",
          lastTransitionTime: "2026-01-01T00:00:00Z",
        };
        await bed.cluster.patch(`${POOL}/status`, { status: { conditions: [condition] } });
      };
      await degrade("True");
      await change(bed, () => bed.replaceConfig({ containerFile: [entry("c")] }), { built: [], published: "same" });
      await change(bed, () => degrade("False"), { built: ["amd64", "arm64"], published: "new" });
    });
    await t.step("the MachineOSConfig deleted: its builds, Jobs, ConfigMaps and Secrets go", async () => {
      const path = "/apis/machineconfiguration.openshift.io/v1/machineosconfigs/worker";
      await bed.cluster.delete(path);
      await waitUntil("no builds, Jobs, ConfigMaps nor Secrets", async () => {
        const selector = "labelSelector=machineconfiguration.openshift.io%2Fmachine-os-config%3Dworker";
        const jobs = await bed.cluster.request("GET", `/apis/batch/v1/namespaces/${BUILD_NAMESPACE}/jobs`);
        const maps = await bed.cluster.request("GET", `/api/v1/namespaces/${BUILD_NAMESPACE}/configmaps?${selector}`);
        const secrets = await bed.cluster.request("GET", `/api/v1/namespaces/${BUILD_NAMESPACE}/secrets?${selector}`);
        return (await bed.builds()).length === 0 && [jobs, maps, secrets].every(({ body }) => {
          const items = read(body, "items");
          return Array.isArray(items) && items.length === 0;
        });
      }, { deadlineMs: 60_000 });
    });
  },
});
