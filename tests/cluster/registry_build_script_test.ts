// The script of the builder's container as it is, with Debian's buildah: what a cluster mounts beside the Containerfile is there
// for the steps of the build, and the image goes to a registry that is trusted by the CA of the pod's account.
import assert from "node:assert/strict";
import { OPTIONAL_INPUTS } from "../../lib/builds/decide/optional_inputs.ts";
import BUILD_SCRIPT from "../../lib/builds/decide/job/build.sh" with { type: "text" };
import { lacks } from "../support/needs.ts";
import { type RealRegistry, startRegistry } from "./support/registry.ts";
import { at, skopeo } from "./support/skopeo.ts";
import { runCommand } from "../support/commands.ts";

const KEY = "a".repeat(64);
const TARGET = { TARGETARCH: "amd64", TARGETOS: "linux", TARGETPLATFORM: "linux/amd64" };

/** Where a pod has them; here they lie in a folder of the test. */
const PLACES = ["/tmp/", "/etc/pki/ca-trust/", "/var/run/secrets/"] as const;

/** Programs of the builder's image that this machine need not have: trust is not renewed, and there is no other user. */
const STANDS = { "p11-kit": "exit 0", "su": "exec bash -s" } as const;

async function write(path: string, text: string, mode = 0o644): Promise<void> {
  await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  await Deno.writeTextFile(path, text, { mode });
}

async function buildBase(folder: string, env: Readonly<Record<string, string>>): Promise<void> {
  const root = `${folder}/base`;
  const libraries = [...(await runCommand("ldd", ["/bin/sh"])).matchAll(/(?:^|\s)(\/\S+)/g)].map(([, path = ""]) =>
    path
  );
  for (const path of ["/bin/sh", ...libraries]) {
    await Deno.mkdir(root + path.slice(0, path.lastIndexOf("/")), { recursive: true });
    await Deno.copyFile(path, root + path);
  }
  await write(`${folder}/Basefile`, "FROM scratch\nCOPY . /\n");
  const args = ["bud", "--isolation", "chroot", "--format", "oci", "--platform", TARGET.TARGETPLATFORM];
  await runCommand("buildah", [...args, "--tag", "localhost/base", "--file", `${folder}/Basefile`, root], { env });
}

async function writeMounts(folder: string, { host, caPem, users }: RealRegistry): Promise<void> {
  const [[user, password] = ["", ""]] = Object.entries(users);
  const login = JSON.stringify({ auths: { [host]: { auth: btoa(`${user}:${password}`) } } });
  const reads = OPTIONAL_INPUTS.map(({ path }) => `read line < ${folder}${path}/file && echo "has $line"`);
  await write(`${folder}/tmp/containerfile/Containerfile`, `FROM localhost/base\nRUN ${reads.join(" && ")}\n`);
  await write(`${folder}/tmp/machineconfig/machineconfig.json.gz`, "");
  await write(`${folder}/tmp/base-image-pull-creds/config.json`, `{"auths":{}}`);
  await write(`${folder}/tmp/final-image-push-creds/config.json`, login);
  await write(`${folder}/etc/pki/ca-trust/source/anchors/openshift-config-user-ca-bundle.crt`, "");
  await write(`${folder}/var/run/secrets/kubernetes.io/serviceaccount/ca.crt`, caPem);
  await Deno.mkdir(`${folder}/tmp/done`);
  for (const { volume, path } of OPTIONAL_INPUTS) await write(`${folder}${path}/file`, `${volume}\n`);
  for (const [name, text] of Object.entries(STANDS)) {
    await write(`${folder}/bin/${name}`, `#!/bin/sh\n${text}\n`, 0o755);
  }
}

Deno.test({
  name:
    "O-123 image builds: the build script gives subscription, package repositories and keys to buildah, and its steps read them",
  ignore: lacks("buildah") || lacks("root") || lacks("skopeo"),
  fn: async () => {
    await using registry = await startRegistry({ auth: "htpasswd" });
    const folder = await Deno.makeTempDir({ prefix: "archway-build-script-" });
    try {
      const storage = `[storage]\ndriver = "vfs"\ngraphroot = "${folder}/storage"\nrunroot = "${folder}/run"\n`;
      await write(`${folder}/storage.conf`, storage);
      const own = { CONTAINERS_STORAGE_CONF: `${folder}/storage.conf` };
      await writeMounts(folder, registry);
      await buildBase(folder, own);
      const script = PLACES.reduce((text, place) => text.replaceAll(place, folder + place), BUILD_SCRIPT);
      const mountpoints = OPTIONAL_INPUTS.map(({ volume, path }) =>
        [`${volume.replaceAll("-", "_").toUpperCase()}_MOUNTPOINT`, folder + path] as const
      );
      const env = {
        ...own,
        ...TARGET,
        ...Object.fromEntries(mountpoints),
        ...{ PATH: `${folder}/bin:${Deno.env.get("PATH") ?? ""}`, HOME: `${folder}/home`, BUILDAH_ISOLATION: "chroot" },
        ...{ TAG: `${registry.host}/team/os:v1`, ARCH: "amd64", BUILD_KEY: KEY },
        BASE_IMAGE_PULL_CREDS: `${folder}/tmp/base-image-pull-creds/config.json`,
        FINAL_IMAGE_PUSH_CREDS: `${folder}/tmp/final-image-push-creds/config.json`,
      };
      const printed = await runCommand("bash", ["-c", script], { env });
      for (const { volume } of OPTIONAL_INPUTS) assert.match(printed, new RegExp(`^has ${volume}$`, "m"));
      const [[user, password] = ["", ""]] = Object.entries(registry.users);
      const login = ["--creds", `${user}:${password}`, "--tls-verify=false"];
      const { Digest, Labels } = JSON.parse(await skopeo(["inspect", ...login, at(registry, "team/os:v1")]));
      assert.equal(Digest, (await Deno.readTextFile(`${folder}/tmp/done/digestfile`)).trim());
      assert.deepEqual([Labels["archway.dev.build-key"], Labels["archway.dev.arch"]], [KEY, "amd64"]);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
