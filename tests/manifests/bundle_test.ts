// The OLM bundle and its catalog: the same bytes each time, the rights of the base and no others, valid by OLM's own
// validators, and both images build.
import assert from "node:assert/strict";
import { parse, parseAllDocuments } from "yaml";
import { renderBundle, writeBundle } from "../../manifests/generate/bundle.ts";
import { type ManifestObject, renderFolder } from "../../manifests/generate/kustomize.ts";
import { parseConfig } from "../../lib/config/parse.ts";
import { ensureGoProgram, pinnedCacheDirectory } from "../support/go_build.ts";
import { runToEnd } from "../support/commands.ts";
import { lacks, type Need } from "../support/needs.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { listAtPath, objectAtPath, textAtPath, textMapAtPath, valueAtPath } from "../../playground/json_path.ts";

const INSTALL = ["spec", "install", "spec"];
const CSV = "bundle/manifests/clusterserviceversion-archway.v0.2.0.yaml";
const MODULE = new URL("validate_bundle/", import.meta.url);

/** ENoExecEvents are the service's own; there is no icon; the CA of the conversion is patched into a CRD. */
const EXPECTED_WARNINGS = [
  /Kind=ENoExecEvent: provided API should have an example annotation/,
  /csv\.Spec\.Icon not specified/,
  /CSV contains permissions to create CRD/,
];

async function readCsv(): Promise<unknown> {
  return parse((await renderBundle()).get(CSV) ?? "");
}

function sorted(rules: readonly unknown[]): readonly string[] {
  return rules.map((rule) => JSON.stringify(rule)).sort();
}

/** The rules of the roles of a kind that the base binds, but for those of a certificate that OLM makes. */
function boundRules(objects: readonly ManifestObject[], kind: string): readonly unknown[] {
  const bound = objects.filter((object) => object.kind === `${kind}Binding`).map(({ metadata }) => metadata.name);
  return objects
    .filter((object) => object.kind === kind && bound.includes(object.metadata.name))
    .filter(({ metadata }) => metadata.name !== "archway-self-tls")
    .flatMap((object) => listAtPath(object, "rules"));
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  await using folder = await temporaryFolder();
  await writeBundle(folder.path, await renderBundle());
  return await work(folder.path);
}

function test(name: string, fn: () => Promise<void>, ...needs: readonly Need[]): void {
  Deno.test({ name, ignore: lacks("kubectl") || needs.some(lacks), fn });
}

test("the bundle has the same bytes each time, and the images that were asked for", async () => {
  const [first, second] = [await renderBundle(), await renderBundle()];
  assert.deepEqual([...first], [...second]);
  const own = [...first.values()].filter((text) => text.includes("archway-system"));
  assert.ok(own.every((text) => text.includes("suggested-namespace")));
  const image = "registry.test:5000/team/archway@sha256:0";
  const named = await renderBundle({ image, bundleImage: "registry.test/b:1" });
  const { spec } = parse(named.get(CSV) ?? "");
  assert.deepEqual(spec.relatedImages, [{ name: "archway", image }]);
  assert.ok(JSON.stringify(spec.install.spec.deployments).includes(`"image":"${image}"`));
  assert.match(named.get("catalog/archway/catalog.yaml") ?? "", /^image: registry\.test\/b:1$/m);
});

test("the bundle grants the rules of the base and no others, in one install mode", async () => {
  const [csv, base] = [await readCsv(), await renderFolder("base")];
  for (const [member, kind] of [["clusterPermissions", "ClusterRole"], ["permissions", "Role"]] as const) {
    const entries = listAtPath(csv, ...INSTALL, member);
    assert.deepEqual([...new Set(entries.map((entry) => textAtPath(entry, "serviceAccountName")))], ["archway"]);
    assert.deepEqual(sorted(entries.flatMap((entry) => listAtPath(entry, "rules"))), sorted(boundRules(base, kind)));
  }
  const modes = listAtPath(csv, "spec", "installModes").filter((mode) => valueAtPath(mode, "supported") !== false);
  assert.deepEqual(modes, [{ type: "AllNamespaces", supported: true }]);
});

test("the CSV reports that it is for amd64 and arm64, and for no other architecture", async () => {
  const labels = textMapAtPath(await readCsv(), "metadata", "labels");
  assert.deepEqual(Object.entries(labels).filter(([name]) => name.startsWith("operatorframework.io/arch.")), [
    ["operatorframework.io/arch.amd64", "supported"],
    ["operatorframework.io/arch.arm64", "supported"],
  ]);
});

test("the bundle's webhooks are those of the base, served with the certificate and by the Service of OLM", async () => {
  const csv = await readCsv();
  assert.deepEqual(
    listAtPath(csv, "spec", "webhookdefinitions")
      .map((hook) => ["type", "webhookPath", "failurePolicy"].map((member) => textAtPath(hook, member))),
    [
      ["ValidatingAdmissionWebhook", "/validate-multiarch-openshift-io-v1beta1-clusterpodplacementconfig", "Fail"],
      ["ValidatingAdmissionWebhook", "/validate-multiarch-openshift-io-v1beta1-podplacementconfig", "Fail"],
      ["ConversionWebhook", "/convert", undefined],
    ],
  );
  const deployments = listAtPath(csv, ...INSTALL, "deployments");
  const pod = objectAtPath(deployments[0], "spec", "template", "spec");
  assert.deepEqual([deployments.length, listAtPath(pod, "containers").length], [1, 1]);
  assert.match(JSON.stringify(pod["volumes"]), /"secretName":"archway-service-cert"/);
  const settings = parse((await renderBundle()).get("bundle/manifests/configmap-archway-olm.yaml") ?? "");
  const readFile = (): string => settings.data["archway.yaml"];
  const args = listAtPath(pod, "containers", 0, "args").map(String);
  const parsed = parseConfig(args, { env: { NAMESPACE: "archway" }, readFile });
  assert.ok(parsed.kind === "run", JSON.stringify(parsed));
  const { webhookPath, webhookService, tlsCa, tlsCert } = parsed.config;
  assert.deepEqual([webhookPath, webhookService], ["plain", "archway-service"]);
  assert.deepEqual([tlsCert, tlsCa], ["/etc/archway/tls/tls.crt", "/etc/archway/tls/ca.crt"]);
});

test("the catalog names the package, its channel and the bundle with the kinds of the CRDs", async () => {
  const text = (await renderBundle()).get("catalog/archway/catalog.yaml") ?? "";
  const blobs = parseAllDocuments(text).map((document): unknown => document.toJS());
  assert.deepEqual(blobs.map((blob) => `${textAtPath(blob, "schema")} ${textAtPath(blob, "name")}`), [
    "olm.package archway",
    "olm.channel stable",
    "olm.bundle archway.v0.2.0",
  ]);
  const kinds = listAtPath(blobs[2], "properties").filter((property) => textAtPath(property, "type") === "olm.gvk")
    .map((property) => textAtPath(property, "value", "kind"));
  assert.deepEqual([...new Set(kinds)].sort(), ["ClusterPodPlacementConfig", "ENoExecEvent", "PodPlacementConfig"]);
});

test("OLM's own validators find nothing wrong with the bundle", async () => {
  const pins = ["go.mod", "go.sum", "main.go"].map((file) => new URL(file, MODULE));
  const directory = await pinnedCacheDirectory("validate-bundle", pins);
  const program = { name: "validate-bundle", module: MODULE, package: ".", linkerFlags: "-s -w" };
  const validate = await ensureGoProgram(program, directory);
  const { code, said } = await inFolder((folder) => runToEnd(validate, [`${folder}/bundle`]));
  assert.deepEqual([code, said.split("\n").filter((line) => line.startsWith("error"))], [0, []]);
  const warnings = said.split("\n").filter((line) => line !== "");
  assert.equal(warnings.length, EXPECTED_WARNINGS.length, said);
  for (const [at, expected] of EXPECTED_WARNINGS.entries()) assert.match(warnings[at] ?? "", expected);
}, "go");

test("the images of bundle and catalog build, and hold what OLM looks for", async () => {
  await inFolder(async (folder) => {
    for (const [part, label] of [["bundle", "package.v1"], ["catalog", "configs.v1"]] as const) {
      const name = `localhost/archway-test-${part}:v1`;
      const flags = [`--file=${folder}/${part}.Containerfile`, `--tag=${name}`];
      const built = await runToEnd("buildah", ["build", ...flags, folder]);
      assert.equal(built.code, 0, built.said);
      try {
        assert.ok((await runToEnd("buildah", ["inspect", name])).said.includes(label));
      } finally {
        await runToEnd("buildah", ["rmi", name]);
      }
    }
  });
}, "buildah");
