// Images that a real builder makes: Debian's buildah on this machine, without a container engine's daemon, with the options of the
// build script. What it pushes is what image builds take, and what they publish is read by skopeo.
import assert from "node:assert/strict";
import { Repositories } from "../../lib/oci/repositories.ts";
import { publishImages } from "../../lib/builds/cluster/carry_out.ts";
import { systemClock } from "../../lib/clock.ts";
import { openRegistryAccess } from "../../lib/oci/registry_access.ts";
import { silentLogger } from "../../lib/log.ts";
import { lacks } from "../support/needs.ts";
import { startRegistry } from "./support/registry.ts";
import { at, skopeo } from "./support/skopeo.ts";
import { runCommand } from "../support/commands.ts";

const ARCHITECTURES = ["amd64", "arm64"] as const;
const KEYS = { amd64: "a".repeat(64), arm64: "b".repeat(64) };

Deno.test({
  name:
    "image builds: what buildah builds (chroot, vfs) and pushes is verified, joined and read by skopeo for each platform",
  ignore: lacks("buildah") || lacks("root") || lacks("skopeo"),
  fn: async () => {
    await using registry = await startRegistry({ tls: false });
    const folder = await Deno.makeTempDir({ prefix: "archway-buildah-" });
    try {
      await Deno.writeTextFile(`${folder}/Containerfile`, "FROM scratch\nARG TARGETARCH\nCOPY motd /etc/motd\n");
      await Deno.writeTextFile(`${folder}/motd`, "built\n");
      const children = [];
      for (const arch of ARCHITECTURES) {
        const tag = `${registry.host}/team/os:worker-${arch}`;
        await buildah(folder, [
          ...["bud", "--isolation", "chroot", "--format", "oci", "--platform", `linux/${arch}`, "--tag", tag],
          ...["--build-arg", `TARGETARCH=${arch}`, "--label", `archway.dev.build-key=${KEYS[arch]}`],
          ...["--label", `archway.dev.arch=${arch}`, "--file", `${folder}/Containerfile`, folder],
        ]);
        const digestFile = `${folder}/digest-${arch}`;
        await buildah(folder, ["push", "--tls-verify=false", `--digestfile=${digestFile}`, tag]);
        const digest = (await Deno.readTextFile(digestFile)).trim();
        const reference = `${registry.host}/team/os@${digest}`;
        children.push({ arch, reference, digest, buildKey: KEYS[arch], isUnlabelled: false });
      }
      const to = `${registry.host}/team/os:worker-1`;
      const result = await publish(registry.host, { to, mode: "index", children });
      assert.equal(result.kind, "published", JSON.stringify(result));
      for (const arch of ARCHITECTURES) {
        const args = [`--override-arch=${arch}`, "inspect", "--tls-verify=false", at(registry, "team/os:worker-1")];
        const { Architecture, Labels } = JSON.parse(await skopeo(args));
        assert.deepEqual([Architecture, Labels["archway.dev.build-key"]], [arch, KEYS[arch]]);
      }
      const swapped = children.map((child) => ({ ...child, buildKey: KEYS.amd64 }));
      const refused = await publish(registry.host, { to: `${to}-x`, mode: "index", children: swapped });
      assert.equal(
        refused.kind === "failed" && refused.reason,
        "ArchMismatch",
        "an image of another build is not taken",
      );
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

async function publish(
  host: string,
  request: Parameters<typeof publishImages>[0],
): ReturnType<typeof publishImages> {
  const clock = systemClock;
  using access = openRegistryAccess({
    config: { registry: [], registryCa: [], insecureRegistry: [host] },
    ...{ clock, log: silentLogger, userAgent: "archway/test", clusterCredentials: () => [] },
  });
  const { signal } = new AbortController();
  return await publishImages(request, { repositories: new Repositories({ access, clock, signal }), clock, signal });
}

/** Storage of its own, so that nothing is left on the machine. */
async function buildah(folder: string, args: readonly string[]): Promise<void> {
  const storage = ["--root", `${folder}/storage`, "--runroot", `${folder}/run`, "--storage-driver", "vfs"];
  await runCommand("buildah", [...storage, ...args]);
}
