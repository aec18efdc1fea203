// Archway's own pods on the nodes: which there are, who leads, and their processes.
import { kubectl, NAMESPACE } from "./install.ts";
import type { OpenLab } from "./open_lab.ts";
import { runCommand } from "./commands.ts";

/** One running pod of Archway. */
export interface Replica {
  readonly name: string;
  readonly node: string;
  readonly uid: string;
}

/** Those that run now. */
export async function listReplicas(lab: OpenLab): Promise<readonly Replica[]> {
  const fields = '{range .items[*]}{.metadata.name} {.spec.nodeName} {.metadata.uid}{"\\n"}{end}';
  const select = ["-l", "app.kubernetes.io/name=archway", "--field-selector=status.phase=Running"];
  const text = await kubectl(lab, "-n", NAMESPACE, "get", "pods", ...select, "-o", `jsonpath=${fields}`);
  return text.trim().split("\n").filter((line) => line !== "").map((line) => {
    const [name = "", node = "", uid = ""] = line.split(" ");
    return { name, node, uid };
  });
}

/** Holder of the Lease; empty while nobody leads. */
export async function leaderOf(lab: OpenLab): Promise<string> {
  const text = await kubectl(lab, "-n", NAMESPACE, "get", "leases", "-o", "jsonpath={.items[*].spec.holderIdentity}");
  return text.trim();
}

/** Process ids of a replica's own program, found by the pod's cgroup. */
export async function pidsOf({ uid }: Replica): Promise<readonly number[]> {
  const script = 'for p in $(find /sys/fs/cgroup/pids -path "*pod$1*" -name cgroup.procs -exec cat {} +); do ' +
    'case "$(cat /proc/$p/comm)" in deno|archway) echo "$p";; esac; done';
  return (await runCommand("sh", ["-c", script, "sh", uid])).split("\n").filter((line) => line !== "").map(Number);
}
