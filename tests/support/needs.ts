// What some tests need beside Deno. Looked for when a test file is loaded, so nothing here is built, mounted or started;
// a test that lacks something is ignored under its usual name, and the runner names it.
import { existsSync } from "node:fs";
import { findFaketime } from "../cluster/support/shifted_clock.ts";
import { missingForNodes, unfitForNodes } from "../node/support/requirements.ts";
import { findBuiltDenokv } from "../cluster/support/denokv.ts";
import { hasHistory } from "./git.ts";

/** A program or a right. */
export type Need = keyof typeof NEEDS;

const NEEDS = {
  kubectl: () => isOnPath("kubectl"),
  skopeo: () => isOnPath("skopeo"),
  chromium: () => existsSync("/usr/bin/chromium"),
  faketime: () => findFaketime() !== undefined,
  denokv: () => findBuiltDenokv() !== undefined || isOnPath("cargo"),
  go: () => isOnPath("go"),
  /** Go builds it where it is not. */
  helm: () => isOnPath("helm") || isOnPath("go"),
  buildah: () => isOnPath("buildah"),
  registry: () => isOnPath("docker-registry") && isOnPath("htpasswd"),
  alertmanager: () => isOnPath("prometheus-alertmanager"),
  prometheus: () => isOnPath("prometheus"),
  /** Mounts, mount namespaces and chroot. */
  root: () => Deno.uid() === 0 && hasSystemAdministration(),
  /** Kubelets with containers: see tests/node. */
  nodes: () => missingForNodes() === undefined,
  /** What an eBPF trace of system calls needs: the kernel's types, tracefs, the program. */
  tracing: () => hasKernelTypes() && hasTracefs() && isOnPath("bpftrace"),
  /** What of it is in no package. */
  traceableKernel: () => hasKernelTypes() && hasTracefs(),
  /** What no package gives a machine that is to run them. */
  nodeHost: () => unfitForNodes() === undefined,
  /** An address of this machine that is neither loopback nor link-local. */
  address: () => hostAddress() !== undefined,
  /** The commits that the sources come from. */
  history: () => isOnPath("git") && hasHistory(),
} as const;

/** Bit of CAP_SYS_ADMIN in the capability sets of Linux. */
const CAP_SYS_ADMIN = 1n << 21n;

export function has(need: Need): boolean {
  return NEEDS[need]();
}

export function lacks(need: Need): boolean {
  return !has(need);
}

/** An address of this machine that an EndpointSlice may hold, which a loopback one is not. */
export function hostAddress(): string | undefined {
  return Deno.networkInterfaces().find(({ family, address }) =>
    family === "IPv4" && !address.startsWith("127.") && !address.startsWith("169.254.")
  )?.address;
}

function hasKernelTypes(): boolean {
  return existsSync("/sys/kernel/btf/vmlinux");
}

/** Mounted anywhere or not: whoever needs it mounts it where no one else sees it. */
function hasTracefs(): boolean {
  return /^nodev\s+tracefs$/m.test(Deno.readTextFileSync("/proc/filesystems"));
}

function isOnPath(program: string): boolean {
  return (Deno.env.get("PATH") ?? "").split(":").some((folder) => existsSync(`${folder}/${program}`));
}

function hasSystemAdministration(): boolean {
  const [, effective] = /^CapEff:\s*([0-9a-f]+)$/m.exec(Deno.readTextFileSync("/proc/self/status")) ?? [];
  return effective !== undefined && (BigInt(`0x${effective}`) & CAP_SYS_ADMIN) !== 0n;
}
