// A release into a folder and a registry of this machine, and what can be done with that folder alone.
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { parse } from "yaml";
import { parseManifest } from "../../manifests/generate/kustomize.ts";
import { ROOT } from "../../manifests/tool.ts";
import { type RealRegistry, startRegistry } from "../cluster/support/registry.ts";
import { type Ended, runToEnd as run } from "../support/commands.ts";
import { lacks } from "../support/needs.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { writeSettings } from "../manifests/support/built_images.ts";
import { findHelm } from "../manifests/support/helm.ts";

const VERSION = String(JSON.parse(Deno.readTextFileSync(join(ROOT, "deno.json"))).version);
/** All that a release may find here: no apt-get, so that the image of the daemon is left out. */
const TOOLS = [
  ...["sh", "cp", "tar", "gzip", "readlink", "dirname", "sha256sum", "git"],
  ...["buildah", "skopeo", "kubectl"],
];
const CANNOT_RELEASE = lacks("buildah") || lacks("registry") || lacks("kubectl") || lacks("skopeo") || lacks("go");

async function linkTools(folder: string): Promise<string> {
  await Deno.mkdir(folder);
  for (const tool of TOOLS) {
    const { said } = await run("sh", ["-c", 'command -v "$1"', "sh", tool]);
    await Deno.symlink(said.trim(), join(folder, tool));
  }
  return folder;
}

function pinnedIn(text: string, { host }: RealRegistry): readonly string[] {
  return [...text.matchAll(new RegExp(`${host}/([\\w/-]+@sha256:[0-9a-f]{64})`, "g"))].map(([, name = ""]) => name);
}

async function isThere(name: string, registry: RealRegistry): Promise<boolean> {
  const accept = ["oci.image.index.v1", "docker.distribution.manifest.list.v2", "oci.image.manifest.v1"]
    .map((type) => `application/vnd.${type}+json`).join();
  const response = await fetch(`${registry.url}/v2/${name.replace("@", "/manifests/")}`, { headers: { accept } });
  await response.body?.cancel();
  return response.ok;
}

Deno.test("deno task release refuses tests of rows that are not as they were recorded", {
  ignore: lacks("history"),
}, async () => {
  await using folder = await temporaryFolder();
  const copy = join(folder.path, "copy");
  assert.equal((await run("git", ["clone", "--quiet", ROOT, copy])).code, 0);
  const changed = "tests/lib/upgrades/decide/steps/steps_test.ts";
  await Deno.writeTextFile(join(copy, changed), "// Changed.\n", { append: true });
  const args = ["run", "-A", "--no-check", join(copy, "manifests", "release", "release.ts"), VERSION, "--registry=any"];
  const { code, said } = await run(Deno.execPath(), args, { cwd: copy });
  assert.equal(code, 1);
  assert.match(said, new RegExp(`^${changed}\n[^]*\nCannot release: these tests are not recorded`, "m"));
});

Deno.test("deno task release: what it wrote installs, explains and adds up without a checkout", {
  ignore: CANNOT_RELEASE,
}, async (t) => {
  await using folder = await temporaryFolder();
  await using registry = await startRegistry({ tls: false });
  const helm = await findHelm();
  assert.ok(helm !== undefined);
  const path = `${await linkTools(join(folder.path, "tools"))}:${dirname(helm)}`;
  const env = { ...await writeSettings(folder.path, registry), PATH: path };
  const out = join(folder.path, "out");
  const release = (flags: readonly string[]): Promise<Ended> => {
    const script = ["run", "-A", "--no-check", join(ROOT, "manifests", "release", "release.ts")];
    const common = [VERSION, `--registry=${registry.host}/team`, "--plain-http", "--base=scratch", "--unrecorded"];
    return run(Deno.execPath(), [...script, ...common, ...flags], { env });
  };
  const { code, said } = await release([`--out=${out}`]);
  assert.equal(code, 0, said);

  await t.step(
    "what cannot be made here is left out by name; a folder that holds something stays as it is",
    async () => {
      assert.match(said, /Left out the image of the daemon: .*\nLeft out the SBOM: syft not found\.\n/);
      assert.match((await release([`--out=${out}`])).said, /holds ".*"\. Name a new folder/);
    },
  );
  await t.step("the manifests and the chart name images by digests that the registry has", async () => {
    for (const overlay of ["", "-openshift", "-cert-manager", "-gke", "-monitoring"]) {
      const text = await Deno.readTextFile(join(out, `install${overlay}.yaml`));
      const [image = "", ...others] = pinnedIn(text, registry);
      assert.deepEqual(others, []);
      assert.ok(await isThere(image, registry), image);
      assert.ok(!text.includes("registry.example.com") && parseManifest(text).length > 30);
    }
    for (const reference of pinnedIn(await Deno.readTextFile(join(out, "NOTES.md")), registry)) {
      assert.ok(await isThere(reference, registry), reference);
    }
    const chart = `oci://${registry.host}/team/charts/archway`;
    const pulled = ["--version", VERSION, "--plain-http", "--kube-version=1.30.0"];
    for (const args of [[join(out, `archway-${VERSION}.tgz`), "--kube-version=1.30.0"], [chart, ...pulled]]) {
      const rendered = await run(helm, ["template", "archway", ...args], { env });
      assert.equal(rendered.code, 0, rendered.said);
      assert.match(rendered.said, new RegExp(`image: ${registry.host}/team/archway@sha256:`));
    }
  });
  await t.step("a kustomization in a checkout takes the image from the folder", async () => {
    const own = {
      resources: [join(ROOT, "manifests/base")],
      components: [out, join(ROOT, "manifests/components/upgrades")],
    };
    await Deno.mkdir(join(folder.path, "own"));
    const above = `${"../".repeat(9)}${ROOT.slice(1)}`;
    const relative = JSON.stringify(own).replaceAll(out, "../out").replaceAll(ROOT, above);
    await Deno.writeTextFile(join(folder.path, "own", "kustomization.yaml"), relative);
    const { code, said } = await run("kubectl", ["kustomize", join(folder.path, "own")], { env });
    assert.equal(code, 0, said);
    const deployments = parseManifest(said).filter(({ kind }) => kind === "Deployment");
    assert.equal(deployments.length, 2);
    for (const deployment of deployments) {
      const pinned = pinnedIn(JSON.stringify(deployment), registry);
      assert.deepEqual(pinned.map((name) => name.split("@")[0]), ["team/archway"]);
    }
  });
  await t.step("the checksums match, and so does that of the plugin in krew's manifest", async () => {
    const { code, said } = await run("sha256sum", ["--check", "--quiet", "SHA256SUMS"], { cwd: out });
    assert.deepEqual({ code, said }, { code: 0, said: "" });
    const sums = await Deno.readTextFile(join(out, "SHA256SUMS"));
    const { spec } = parse(await Deno.readTextFile(join(out, "archway.yaml")));
    assert.equal(spec.platforms.length, 4);
    for (const { uri, sha256 } of spec.platforms) {
      assert.ok(sums.includes(`${sha256}  ${String(uri).split("/").at(-1)}`));
    }
    assert.match(sums, / {2}images\/index\.json\n/);
  });
  await t.step("kubectl finds the plugin by a link to the unpacked archive, as krew makes it", async () => {
    const [plugin, bin] = [join(folder.path, "plugin"), join(folder.path, "bin")];
    for (const each of [plugin, bin]) await Deno.mkdir(each);
    const arch = Deno.build.arch === "aarch64" ? "arm64" : "amd64";
    await run("tar", ["-C", plugin, "-xzf", join(out, `kubectl-archway-linux-${arch}.tar.gz`)]);
    await Deno.symlink("../plugin/kubectl-archway", join(bin, "kubectl-archway"));
    const own = { PATH: `${bin}:${env.PATH}`, HOME: folder.path, TMPDIR: folder.path };
    const explained = await run("kubectl", ["archway", "explain", "--help"], { cwd: "/", env: own, clearEnv: true });
    assert.equal(explained.code, 0, explained.said);
    assert.match(explained.said, /^Usage: archway explain /m);
  });
});
