// A replica as the manifests run it: its account, and the limits of its heap. Used where memory and start are measured.
import { parse } from "yaml";
import type { ArchwayOptions } from "../cluster/support/archway.ts";
import { listAt, read } from "../cluster/support/cluster_access.ts";
import { canMountAccount } from "../cluster/support/mounted_account.ts";

const DEPLOYMENT = new URL("../../manifests/base/deployment.yaml", import.meta.url);

export async function asInstalled(): Promise<Pick<ArchwayOptions, "account" | "env">> {
  return { account: await canMountAccount() ? "mounted" : "kubeconfig", env: await installedEnv() };
}

export async function installedEnv(): Promise<Readonly<Record<string, string>>> {
  const deployment: unknown = parse(await Deno.readTextFile(DEPLOYMENT));
  const variables = listAt(deployment, "spec", "template", "spec", "containers", 0, "env");
  const flags = variables.find((each) => read(each, "name") === "DENO_V8_FLAGS");
  return flags === undefined ? {} : { DENO_V8_FLAGS: String(read(flags, "value")) };
}
