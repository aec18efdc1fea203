// Archway on the nodes by its Helm chart.
import assert from "node:assert/strict";
import { findHelm } from "../../manifests/support/helm.ts";
import { runCommand } from "../../support/commands.ts";
import { kubectl, NAMESPACE, rolledOut } from "./install.ts";
import type { OpenLab } from "./open_lab.ts";

const CHART = new URL("../../../manifests/helm/archway", import.meta.url).pathname;
const RELEASE = ["archway", "--namespace", NAMESPACE];

/** Installs it on the native nodes, in a namespace that is there, and waits for its rollout; `set` as for `--set`, each. */
export async function installChart(
  lab: OpenLab,
  { image, set }: { readonly image: string; readonly set: readonly string[] },
): Promise<void> {
  const file = `${lab.directory}/values.json`;
  await Deno.writeTextFile(file, JSON.stringify({ image, nodeSelector: { "kubernetes.io/arch": "amd64" } }));
  const values = ["--values", file, ...set.flatMap((value) => ["--set", value])];
  await helm(lab, ["install", ...RELEASE, CHART, ...values]);
  await rolledOut(lab);
}

/** Removes it as the chart's notes say, and what Helm leaves to people: definitions and the namespace. */
export async function uninstallChart(lab: OpenLab): Promise<void> {
  await kubectl(lab, "delete", "clusterpodplacementconfig", "cluster", "--timeout=90s");
  await helm(lab, ["uninstall", ...RELEASE, "--wait"]);
  const definitions = (await kubectl(lab, "get", "crds", "-o", "name")).split("\n");
  const own = definitions.filter((name) => name.includes("multiarch"));
  assert.equal(own.length, 3, own.join());
  await kubectl(lab, "delete", "namespace", NAMESPACE);
  await kubectl(lab, "delete", ...own);
}

async function helm(lab: OpenLab, args: readonly string[]): Promise<void> {
  const program = await findHelm();
  assert.ok(program !== undefined, "Helm is built by Go, which the nodes need as well");
  await runCommand(program, args, { env: { KUBECONFIG: lab.kubeconfigFile, HOME: lab.directory } });
}
