// A ServiceAccount as a pod has it: its files in their usual place, in a mount namespace of the process's own.
import { succeeds } from "../../support/commands.ts";
import { read } from "./cluster_access.ts";

export interface MountedAccount {
  readonly prefix: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
}

// The namespace hides /run, where the files belong; setpriv again, because a change of user namespace forgets it.
const ENTER = `set -e; mount -t tmpfs account /run; account=/run/secrets/kubernetes.io/serviceaccount
mkdir -p $account; cp "$1/token" "$1/ca.crt" $account; shift; exec setpriv --pdeathsig KILL -- "$@"`;

/** Whether this machine lets a process have a mount namespace of its own, with util-linux's unshare. */
export async function canMountAccount(): Promise<boolean> {
  const probe = "unshare -rm setpriv --pdeathsig KILL mount -t tmpfs probe /run && test $(readlink -f /var/run) = /run";
  return await succeeds("sh", ["-c", probe]);
}

/** Writes the account of a kubeconfig (as renderKubeconfig() makes them) to the folder and returns how to run with it. */
export async function mountAccount(kubeconfigFile: string, directory: string): Promise<MountedAccount> {
  const kubeconfig: unknown = JSON.parse(await Deno.readTextFile(kubeconfigFile));
  const cluster = read(kubeconfig, "clusters", 0, "cluster");
  const server = new URL(String(read(cluster, "server")));
  await Deno.mkdir(`${directory}/account`, { recursive: true });
  const ca = Uint8Array.fromBase64(String(read(cluster, "certificate-authority-data")));
  await Deno.writeFile(`${directory}/account/ca.crt`, ca);
  const token = String(read(kubeconfig, "users", 0, "user", "token"));
  await Deno.writeTextFile(`${directory}/account/token`, token, { mode: 0o600 });
  return {
    prefix: ["unshare", "-rm", "sh", "-c", ENTER, "sh", `${directory}/account`],
    env: { KUBERNETES_SERVICE_HOST: server.hostname, KUBERNETES_SERVICE_PORT: server.port },
  };
}
