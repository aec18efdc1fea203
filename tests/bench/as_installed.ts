// A replica as the manifests run it: the scripts of the image, its account, and the limits of its heap.
import { join } from "node:path";
import { parse } from "yaml";
import { bundle } from "../../manifests/image/compile.ts";
import type { ArchwayOptions } from "../cluster/support/archway.ts";
import { listAt, read } from "../cluster/support/cluster_access.ts";
import { canMountAccount } from "../cluster/support/mounted_account.ts";
import { BUNDLE_VARIABLE, runArchway } from "../support/archway_program.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";

const DEPLOYMENT = new URL("../../manifests/base/deployment.yaml", import.meta.url);

/** Makes the scripts of the image, which startArchway() runs until this is disposed. */
export async function bundleAsInstalled(): Promise<AsyncDisposable> {
  await using undo = new AsyncDisposableStack();
  const folder = undo.use(await temporaryFolder());
  await bundle(folder.path);
  Deno.env.set(BUNDLE_VARIABLE, join(folder.path, "main.js"));
  undo.defer(() => Deno.env.delete(BUNDLE_VARIABLE));
  // The runtime keeps 40 MB of parsing what it has not seen before. The image holds what comes of it.
  const { code, stderr } = await runArchway(["--version"]);
  if (code !== 0) throw new Error(`Cannot run the bundle: ${stderr}`);
  return undo.move();
}

export async function asInstalled(): Promise<Pick<ArchwayOptions, "account" | "env">> {
  return { account: await canMountAccount() ? "mounted" : "kubeconfig", env: await installedEnv() };
}

export async function installedEnv(): Promise<Readonly<Record<string, string>>> {
  const deployment: unknown = parse(await Deno.readTextFile(DEPLOYMENT));
  const variables = listAt(deployment, "spec", "template", "spec", "containers", 0, "env");
  return Object.fromEntries(variables.flatMap((each) => {
    const value = read(each, "value");
    return typeof value === "string" ? [[String(read(each, "name")), value]] : [];
  }));
}
