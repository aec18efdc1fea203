import assert from "node:assert/strict";
import { FILE_SETTINGS, FileSchema, readConfigFiles } from "../../../lib/config/file.ts";
import { ImageBuildsSchema } from "../../../lib/config/image_builds.ts";
import { parseConfig } from "../../../lib/config/parse.ts";
import { parsePlacementSettings } from "../../../lib/placement/decide/config/settings.ts";

const PATH = "archway.yaml";

function problemsOf(text: string): readonly string[] {
  return readConfigFiles([{ path: PATH, text }]).problems;
}

Deno.test("readConfigFiles() gives the defaults without a file, and for an empty one", () => {
  const defaults = readConfigFiles([]);
  assert.deepEqual(defaults.values, {
    variantLabels: [],
    runtimeClasses: [],
    imageVolumes: "auto",
    webhookService: "archway-webhook",
    webhookPath: "secret",
    taintsFailOpenAfter: 300_000,
    archTaint: "archaware",
    kueue: false,
    imageBuilds: ImageBuildsSchema.parse({}),
    cacheEntries: 10_000,
    workers: 64,
    fallbackLogLevel: "info",
  });
  assert.deepEqual(readConfigFiles([{ path: PATH, text: "# nothing yet\n" }]), defaults);
});

Deno.test("readConfigFiles() reads every setting as the documentation shows it", () => {
  assert.deepEqual(FILE_SETTINGS.map(({ key }) => key).sort(), Object.keys(FileSchema.shape).sort());
  const text = FILE_SETTINGS.map(({ key, example }) => `${key}: ${example}\n`).join("");
  assert.deepEqual(readConfigFiles([{ path: PATH, text }]), {
    problems: [],
    values: {
      variantLabels: ["arm/v7=example.com/arm-variant=v7"],
      runtimeClasses: ["kata=skip", "wasm=amd64+arm64"],
      imageVolumes: "require",
      webhookPath: "plain",
      dockerConfig: "/etc/archway/config.json",
      registriesConf: "/etc/archway/registries.conf",
      certsDir: "/etc/archway/certs.d",
      tolerateArchTaints: ["gke", "example.com/cpu=arch"],
      taintsFailOpenAfter: 600_000,
      registriesConfDir: "/etc/containers/registries.conf.d",
      archTaint: "supported-arch=arch:NoSchedule",
      kueue: true,
      imageBuilds: ImageBuildsSchema.parse({ builderImage: "registry.example.com/builder:v1", maxParallel: 2 }),
      webhookService: "front",
      webhookClientCa: "/etc/archway/client-ca.pem",
      hostsDir: "/etc/containerd/certs.d",
      rancherRegistries: "/etc/rancher/k3s/registries.yaml",
      policy: "/etc/archway/policy.json",
      credentialProviderConfig: "/etc/archway/credential-providers.yaml",
      credentialProviderBinDir: "/opt/credential-providers",
      cacheEntries: 50_000,
      workers: 8,
      fallbackLogLevel: "debug",
    },
  });
  const args = ["serve", "--arch-taints=tolerate", `--config=${PATH}`];
  const parsed = parseConfig(args, { env: {}, readFile: () => text });
  const placement = parsed.kind === "run" ? parsePlacementSettings(parsed.config) : assert.fail(JSON.stringify(parsed));
  assert.deepEqual(placement.kind === "unparsable" ? placement.problems : [], []);
});

Deno.test("readConfigFiles() names every unknown key and every value that does not fit, together", () => {
  const wrong = "imageVolume: require\ncacheEntries: many\nvariantLabels: v7\nregistry: a\nworkers: 0\n";
  assert.deepEqual(problemsOf(wrong), [
    'Cannot use "variantLabels" of --config "archway.yaml": it is not a list of texts.',
    'Cannot use "cacheEntries" of --config "archway.yaml": it is not a whole number.',
    'Cannot use "workers" of --config "archway.yaml": it is not above zero.',
    'Cannot use "imageVolume" of --config "archway.yaml": there is no such setting.',
    'Cannot use "registry" of --config "archway.yaml": there is no such setting.',
  ]);
  assert.equal(problemsOf("- a list\n").length, 1);
  assert.match(problemsOf("a: [\n").join(), /^Cannot read --config "archway\.yaml": /);
});

Deno.test("readConfigFiles() puts files together, and refuses a setting that two of them have", () => {
  const [a, b] = [{ path: "a.yaml", text: "workers: 3\n" }, { path: "b.yaml", text: "imageVolumes: require\n" }];
  const both = readConfigFiles([a, b, { path: "c.yaml", text: "" }]);
  assert.deepEqual([both.values.workers, both.values.imageVolumes, both.problems], [3, "require", []]);
  assert.deepEqual(readConfigFiles([a, b, { path: "c.yaml", text: "workers: none\ncacheEntries: 0\n" }]).problems, [
    'Cannot use "workers" of --config "c.yaml": "a.yaml" has it as well.',
    'Cannot use "cacheEntries" of --config "c.yaml": it is not above zero.',
  ]);
});

Deno.test("parseConfig() says of a setting that was given as a flag where it belongs", () => {
  const parsed = parseConfig(["serve", "--workers=3", "--hosts-dir=/d"], { env: {}, readFile: () => "" });
  assert.deepEqual(parsed.kind === "usage" && parsed.problems, [
    'Cannot use "--workers" with serve: workers is a setting of the file that --config names.',
    'Cannot use "--hosts-dir" with serve: hostsDir is a setting of the file that --config names.',
  ]);
});

Deno.test("parseConfig() reports problems of the file together with those of flags, and a file that is not there", () => {
  const parse = (args: readonly string[], text: string | undefined) =>
    parseConfig(args, {
      env: {},
      readFile: (path) => {
        if (path === PATH && text !== undefined) return text;
        throw new Error("No such file");
      },
    });
  const both = parse(["serve", `--config=${PATH}`, "--max-gate-age=soon"], "nonsense: 1\n");
  assert.equal(both.kind === "usage" ? both.problems.length : 0, 2, JSON.stringify(both));
  const missing = parse(["serve", `--config=${PATH}`], undefined);
  assert.deepEqual(missing.kind === "usage" && missing.problems, [
    'Cannot read --config "archway.yaml": No such file.',
  ]);
  const good = parse(["serve", `--config=${PATH}`], "imageVolumes: require\n");
  assert.equal(good.kind === "run" && good.config.imageVolumes, "require");
});

Deno.test("readConfigFiles() reads the settings of image builds, and names each that does not fit", () => {
  const text =
    "imageBuilds: { jobDeadline: 1h30m, builderCommand: [/build, --all], alwaysIndex: true, retainImages: 0 }\n";
  assert.deepEqual(readConfigFiles([{ path: PATH, text }]).values.imageBuilds, {
    ...ImageBuildsSchema.parse({}),
    jobDeadline: 5_400_000,
    builderCommand: ["/build", "--all"],
    alwaysIndex: true,
    retainImages: 0,
  });
  assert.deepEqual(problemsOf("imageBuilds: { jobDeadline: soon, retainImages: -1, parallel: 2 }\n"), [
    'Cannot use "imageBuilds.jobDeadline" of --config "archway.yaml": it is not a duration like 30s, 5m or 1h30m.',
    'Cannot use "imageBuilds.retainImages" of --config "archway.yaml": it is below zero.',
    'Cannot use "parallel" of --config "archway.yaml": there is no such setting.',
  ]);
});
