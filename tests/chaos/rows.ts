// The chaos table. Every row is a fault and the pods that meet it; engine.ts carries it out.
import type { Row } from "./engine.ts";
import * as api from "./api_faults.ts";
import * as kv from "./kv_faults.ts";
import * as registries from "./registry_faults.ts";
import * as replicas from "./replica_faults.ts";

/** How long both replicas are away (ms): a minute by default for people, shorter in tests with the same code. */
export interface TableOptions {
  readonly absenceMs: number;
}

const ARRIVING = { waiting: 0, arriving: 10 } as const;
/** A replica leaves a cache alone, and says so, after three calls in a row that failed. */
const LOOKED_UP = { ...ARRIVING, hasOwnImages: true, arriveWithinMs: 1_000, forMs: 2_000 } as const;
const WAITING = { waiting: 6, arriving: 4 } as const;

function registry(fault: string, begin: Row["begin"]): Row {
  return { area: "registry", fault, ...ARRIVING, forMs: 3_000, begin };
}

export function chaosTable({ absenceMs }: TableOptions): readonly Row[] {
  return [
    registry("500", registries.answer({ kind: "status", status: 500 })),
    registry("429, retry after 1 s", registries.answer({ kind: "status", status: 429, retryAfterSeconds: 1 })),
    registry("connection reset", registries.answer({ kind: "reset" })),
    registry("black hole", registries.answer({ kind: "blackHole" })),
    registry("slow loris", registries.answer({ kind: "slowBody", chunkBytes: 8, everyMs: 500 })),
    registry("certificate of a stranger", registries.presentStranger),
    registry("wrong digest in the header", registries.answer({ kind: "wrongDigest" })),
    registry("wrong digest of the content", registries.answer({ kind: "tamperBody" })),

    { area: "API server", fault: "killed and started again", ...WAITING, forMs: 3_000, begin: api.stopApiServer },
    {
      area: "API server",
      fault: "429 by priority and fairness",
      ...WAITING,
      arriving: 6,
      forMs: 4_000,
      begin: api.starveArchway,
    },
    ...api.CUT_PLACES.map((place): Row => ({
      area: "API server",
      fault: `watch cut ${place}`,
      ...ARRIVING,
      forMs: 1_500,
      begin: api.cut(place),
    })),
    ...(["status", "event"] as const).map((form): Row => ({
      area: "API server",
      fault: `stale resourceVersion, 410 as ${form}`,
      ...ARRIVING,
      forMs: 1_500,
      begin: api.expire(form),
    })),
    {
      area: "API server",
      fault: "webhook calls time out",
      ...WAITING,
      arriveWithinMs: 1_500,
      forMs: 7_500,
      begin: replicas.freezeBoth,
      mayMiss: "nobody answers the webhook",
    },
    { area: "etcd", fault: "killed and started again", ...WAITING, forMs: 1_000, begin: api.restartEtcd },

    { area: "KV", fault: "file locked", ...LOOKED_UP, begin: kv.lockFile },
    { area: "KV", fault: "file corrupt", ...LOOKED_UP, begin: kv.corruptFile },
    {
      area: "KV",
      fault: "disk full",
      ...LOOKED_UP,
      begin: kv.fillDisk,
      missing: ({ smallDisk }) => smallDisk === undefined ? "the right to mount a small disk" : undefined,
    },
    {
      area: "KV",
      fault: "remote gone",
      ...LOOKED_UP,
      begin: kv.killServer,
      missing: ({ kvServer }) => kvServer === undefined ? "denokv" : undefined,
    },

    ...[["ahead", 3_600_000] as const, ["back", -3_600_000] as const].map(([way, offsetMs]): Row => ({
      area: "clock",
      fault: `an hour ${way}, then right`,
      ...WAITING,
      forMs: 4_000,
      begin: replicas.jumpClocks(offsetMs),
    })),

    ...replicas.MOMENTS.map((moment): Row => ({
      area: "replicas",
      fault: `leader killed ${moment}`,
      ...ARRIVING,
      forMs: 1_500,
      begin: replicas.killLeader(moment),
      mayMiss: "calls under way die with the replica",
    })),
    {
      area: "replicas",
      fault: `both killed for ${absenceMs / 1_000} s`,
      waiting: 10,
      arriving: 0,
      forMs: absenceMs,
      absentMs: absenceMs,
      begin: replicas.killBoth,
    },
    {
      area: "replicas",
      fault: "leader at its memory limit",
      ...WAITING,
      arriving: 20,
      forMs: 5_000,
      begin: replicas.exhaustMemory,
      mayMiss: "calls under way die with the replica",
    },
  ];
}
