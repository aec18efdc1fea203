// `deno task test:e2e` against Archway on the nodes, with the rights that CONTRIBUTING.md lists and no others.
import assert from "node:assert/strict";
import { dirname } from "node:path";
import { waitUntil } from "../cluster/support/wait.ts";
import { lacks } from "../support/needs.ts";
import { configure, ensureImage, install, kubectl, ON_NATIVE_NODES, uninstall } from "./support/install.ts";
import { type OpenLab, openLab } from "./support/open_lab.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run({ kubectlFile }: OpenLab, args: readonly string[]): Promise<Ran> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", `${ROOT}tests/e2e/run.ts`, ...args],
    // kubectl, for the metrics.
    env: { NO_COLOR: "1", PATH: `${dirname(kubectlFile)}:${Deno.env.get("PATH") ?? ""}` },
    stdin: "null",
  }).output();
  const text = new TextDecoder();
  return { code, out: text.decode(stdout), err: text.decode(stderr) };
}

async function openUser(lab: OpenLab): Promise<string> {
  const page = await Deno.readTextFile(`${ROOT}CONTRIBUTING.md`);
  const [, role = ""] = /```yaml\n(apiVersion: rbac[^`]*name: archway-e2e [^`]*)```/.exec(page) ?? [];
  await lab.run(["apply", "-f", "-"], { stdin: role });
  const namespace = await lab.createNamespace("user");
  await kubectl(lab, "-n", namespace, "create", "serviceaccount", "user");
  const subject = `--serviceaccount=${namespace}:user`;
  await kubectl(lab, "create", "clusterrolebinding", "archway-e2e", "--clusterrole=archway-e2e", subject);
  return await lab.serviceAccountKubeconfig({ namespace, name: "user" });
}

async function hasLeft(lab: OpenLab): Promise<boolean> {
  const names = await kubectl(lab, "get", "namespaces", "-o", "name");
  return names.split("\n").some((name) => name.includes("archway-e2e-"));
}

Deno.test("node: test:e2e checks an installation with a user's rights, and cleans up", {
  ignore: lacks("nodes"),
}, async (t) => {
  await using lab = await openLab();
  const image = await ensureImage(lab);
  const kubeconfig = await openUser(lab);
  const common = ["--kubeconfig", kubeconfig, "--run", "--timeout", "90"];

  await t.step("reports that there is no kubeconfig, and no Archway", async () => {
    const nowhere = await run(lab, ["--kubeconfig", "/nonexistent"]);
    assert.deepEqual([nowhere.code, nowhere.out], [3, ""]);
    assert.match(nowhere.err, /Cannot read kubeconfig "\/nonexistent"/);
    const bare = await run(lab, common);
    assert.deepEqual([bare.code, bare.out], [3, ""]);
    assert.match(bare.err, /the API group multiarch\.openshift\.io is unknown here\. Install it first/);
  });

  await install(lab, { image, args: [`--insecure-registry=${lab.lab.registry}`], patch: ON_NATIVE_NODES });
  await t.step("reports that there is no config", async () => {
    const { code, err } = await run(lab, common);
    assert.equal(code, 3);
    assert.match(err, /Create a ClusterPodPlacementConfig named cluster/);
  });

  await configure(lab);
  await t.step("finds all well, with containers that run on both architectures", async () => {
    const images = ["multi", "arm-index", "amd-single"].flatMap((name) => ["--image", lab.image(name)]);
    const { code, out, err } = await run(lab, [...common, ...images, "-o", "json"]);
    assert.deepEqual([code, err], [0, ""], out);
    const outcomes: readonly { readonly check: string; readonly result: string; readonly detail: string }[] = JSON
      .parse(out);
    assert.deepEqual(outcomes.filter(({ result }) => result === "failed"), []);
    const leftOut = outcomes.filter(({ result }) => result === "skipped").map(({ detail }) => detail).join("\n");
    const reasons = [
      /^No node has a taint/,
      /^Name an image whose program/m,
      /^This is no OpenShift/m,
      /--build-config/,
    ];
    assert.equal(leftOut.split("\n").length, reasons.length, leftOut);
    for (const reason of reasons) assert.match(leftOut, reason);
    const details = outcomes.map(({ detail }) => detail).join("\n");
    assert.match(details, /placed on \{arm64\}, bound to n2 \(arm64\), runs/);
    assert.match(details, /ArchAwareInspectionError Cannot inspect image ".*archway-e2e\/no-such-image:v1"/);
  });

  await t.step("finds what fails, and leaves nothing behind", async () => {
    const { code, out } = await run(lab, [...common, "--image", lab.image("none")]);
    assert.equal(code, 1, out);
    assert.match(out, /^CHECK +RESULT +WHAT WAS SEEN\n/);
    assert.match(out, /t\/none:v1 is placed +failed +ArchAwareInspectionError Cannot inspect image ".*t\/none:v1"/);
    await waitUntil("its namespaces to go", async () => !await hasLeft(lab), { deadlineMs: 60_000 });
  });

  await uninstall(lab);
  await kubectl(lab, "delete", "clusterrolebinding,clusterrole", "archway-e2e");
});
