// The bed of the chaos table: two replicas that reach the API server through a proxy, keep their caches where faults can
// reach them, read the time of a clock that can jump, and leak memory on request.
import type { Archway } from "../cluster/support/archway.ts";
import { ApiProxy } from "../cluster/support/api_proxy.ts";
import { KvServer } from "../cluster/support/denokv.ts";
import { untilAllGate } from "../cluster/support/lease.ts";
import { archwayProgram } from "../support/archway_program.ts";
import { succeeds } from "../support/commands.ts";
import { lacks } from "../support/needs.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { waitUntil } from "../cluster/support/wait.ts";
import type { WalkBed } from "../cluster/support/walk_bed.ts";
import { openPair, type Pair, type Prepare } from "./pair.ts";

export interface ChaosBed extends Pair {
  readonly apiProxy: ApiProxy;
  readonly cacheFile: string;
  /** Folder of the cache when it is a small disk of its own; undefined where we may not mount one. */
  readonly smallDisk: string | undefined;
  /** The cache of the second replica; undefined where there is no `denokv`: then it has memory only. */
  readonly kvServer: KvServer | undefined;
  /** Sets the wall clocks of both replicas so far ahead (ms), negative is back; resolves when both read so. */
  jumpClocks(offsetMs: number): Promise<void>;
}

const ROOT = new URL("../../", import.meta.url).pathname;
const TOKEN = "a-token-of-the-chaos-table";
/** Space for the cache and for the journal that SQLite lets grow beside it. */
const DISK_SIZE = "16m";

/** Modules that inject faults on request, and a limited heap. */
const WITH_FAULTS: readonly string[] = [
  ...["jumping_clock", "memory_leak"].map((name) => `--preload=${ROOT}tests/chaos/${name}.ts`),
  "--v8-flags=--max-old-space-size=200",
];
/** Between a replica's reading of its clock and ours of what it read. */
const CLOCK_SLACK_MS = 60_000;

type Extras = Pick<ChaosBed, "apiProxy" | "cacheFile" | "smallDisk" | "kvServer"> & { readonly clockFile: string };

/** Opens it; resolves when both replicas gate. */
export async function openChaosBed(): Promise<ChaosBed> {
  let extras: Extras | undefined;
  const prepare: Prepare = async (bed, stack) => {
    const opened = extras = await openExtras(bed, stack);
    const kubeconfigFile = await kubeconfigThrough(opened.apiProxy, bed);
    return (name) => ({
      kubeconfigFile,
      command: archwayProgram("all", WITH_FAULTS),
      env: { ARCHWAY_TEST_CLOCK: opened.clockFile, DENO_KV_ACCESS_TOKEN: TOKEN },
      args: cacheArgs(name, opened),
    });
  };
  const pair = await openPair(prepare);
  if (extras === undefined) throw new Error("Cannot open the chaos bed: nothing was prepared");
  const { clockFile, ...rest } = extras;
  return {
    ...pair,
    ...rest,
    jumpClocks: async (offsetMs) => {
      await Deno.writeTextFile(clockFile, String(offsetMs));
      for (const replica of pair.replicas) {
        replica.kill("SIGUSR2");
        const readsSo = async (): Promise<boolean> => {
          const readMs = Number(await Deno.readTextFile(`${clockFile}.${replica.pid()}`));
          return Math.abs(readMs - offsetMs - Date.now()) < CLOCK_SLACK_MS;
        };
        await waitUntil(`the clock of ${replica.name} to jump`, readsSo);
      }
    },
  };
}

async function openExtras(bed: WalkBed, stack: AsyncDisposableStack): Promise<Extras> {
  const { path: folder } = stack.use(await temporaryFolder());
  const { controlPlane } = bed;
  const apiProxy = stack.use(
    new ApiProxy({
      upstream: { url: controlPlane.url, caPem: controlPlane.caPem },
      certificate: {
        certificatePem: await Deno.readTextFile(`${controlPlane.directory}/serving.crt`),
        keyPem: await Deno.readTextFile(`${controlPlane.directory}/serving.key`),
      },
    }),
  );
  const disk = `${folder}/disk`;
  await Deno.mkdir(disk);
  const isMounted = await succeeds("mount", ["-t", "tmpfs", "-o", `size=${DISK_SIZE}`, "tmpfs", disk]);
  if (isMounted) stack.defer(async () => void await succeeds("umount", ["-l", disk]));
  const kvServer = lacks("denokv") ? undefined : stack.use(await KvServer.start({ token: TOKEN }));
  return {
    apiProxy,
    cacheFile: `${disk}/images.kv`,
    smallDisk: isMounted ? disk : undefined,
    kvServer,
    clockFile: `${folder}/clock`,
  };
}

function cacheArgs(name: string, { cacheFile, kvServer }: Extras): readonly string[] {
  if (name === "first") return [`--cache-path=${cacheFile}`];
  return kvServer === undefined ? [] : [`--kv-url=${kvServer.url}`];
}

async function kubeconfigThrough(proxy: ApiProxy, { kubeconfigFile, controlPlane }: WalkBed): Promise<string> {
  const file = `${kubeconfigFile}.proxied`;
  const text = (await Deno.readTextFile(kubeconfigFile)).replaceAll(controlPlane.url, proxy.url);
  await Deno.writeTextFile(file, text, { mode: 0o600 });
  return file;
}

export async function leaderOf({ replicas }: Pair, deadlineMs = 60_000): Promise<Archway> {
  return await waitUntil("a leader", async () => {
    for (const replica of replicas) {
      if (replica.isAlive() && await replica.metric("archway_leader").catch(() => 0) === 1) return replica;
    }
    return undefined;
  }, { deadlineMs });
}

export async function makeLeader(bed: Pair, replica: Archway): Promise<void> {
  const leader = await leaderOf(bed);
  if (leader === replica) return;
  await leader.stop();
  await leaderOf(bed);
  await reviveReplicas(bed);
}

export async function reviveReplicas({ replicas }: Pair): Promise<void> {
  await Promise.all(replicas.filter((replica) => !replica.isAlive()).map((replica) => replica.restart()));
  await untilAllGate(replicas);
}
