// Archway's own pods on the nodes: which there are, who leads, and their processes.
import { kubectl, NAMESPACE } from "./install.ts";
import type { OpenLab } from "./open_lab.ts";
import { runCommand } from "../../support/commands.ts";

export interface Replica {
  readonly name: string;
  readonly node: string;
  readonly uid: string;
}

/** Those that run now and are to stay: the phase of a pod that is being deleted says Running until its node has said that it ended. */
export async function listReplicas(lab: OpenLab): Promise<readonly Replica[]> {
  const fields =
    '{range .items[*]}{.metadata.name} {.spec.nodeName} {.metadata.uid} {.metadata.deletionTimestamp}{"\\n"}{end}';
  const select = ["-l", "app.kubernetes.io/name=archway", "--field-selector=status.phase=Running"];
  const text = await kubectl(lab, "-n", NAMESPACE, "get", "pods", ...select, "-o", `jsonpath=${fields}`);
  return text.split("\n").flatMap((line) => {
    const [name = "", node = "", uid = "", deleted = ""] = line.split(" ");
    return name === "" || deleted !== "" ? [] : [{ name, node, uid }];
  });
}

/** Holder of the Lease; empty while no replica leads. */
export async function leaderOf(lab: OpenLab): Promise<string> {
  const text = await kubectl(lab, "-n", NAMESPACE, "get", "leases", "-o", "jsonpath={.items[*].spec.holderIdentity}");
  return text.trim();
}

export interface Confinement {
  readonly user: number;
  readonly capabilities: string;
  readonly isRootReadOnly: boolean;
}

/** How a process is confined, as the kernel says. */
export async function confinementOf(pid: number): Promise<Confinement> {
  const [status, mounts] = await Promise.all(
    ["status", "mountinfo"].map((file) => Deno.readTextFile(`/proc/${pid}/${file}`)),
  );
  const field = (name: string): string => new RegExp(`^${name}:\\s+(\\S+)`, "m").exec(status ?? "")?.[1] ?? "";
  return {
    user: Number(field("Uid")),
    capabilities: field("CapEff"),
    isRootReadOnly: /^\S+ \S+ \S+ \S+ \/ ro[, ]/m.test(mounts ?? ""),
  };
}

/** Process ids of a replica's own program, found by the pod's cgroup. On the emulated node it is the emulator's. */
export async function pidsOf({ uid }: Replica): Promise<readonly number[]> {
  const script = 'for p in $(find /sys/fs/cgroup/pids -path "*pod$1*" -name cgroup.procs -exec cat {} +); do ' +
    'case "$(cat /proc/$p/comm)" in deno|archway|.qemu) echo "$p";; esac; done';
  return (await runCommand("sh", ["-c", script, "sh", uid])).split("\n").filter((line) => line !== "").map(Number);
}
