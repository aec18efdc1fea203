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

type Rest = Omit<Row, "area" | "fault" | "begin">;

/** Makes rows of an area, each by its fault, what brings it about, and what differs from the rest of them. */
function rowsOf(area: Row["area"], rest: Rest): (fault: string, begin: Row["begin"], more?: Partial<Rest>) => Row {
  return (fault, begin, more) => ({ area, fault, ...rest, begin, ...more });
}

const ARRIVING = { waiting: 0, arriving: 10 } as const;
const WAITING = { waiting: 6, arriving: 4 } as const;
const DIES = { mayMiss: "calls under way die with the replica" };

const registry = rowsOf("registry", { ...ARRIVING, forMs: 3_000 });
const server = rowsOf("API server", { ...WAITING, forMs: 3_000 });
const watch = rowsOf("API server", { ...ARRIVING, forMs: 1_500 });
const etcd = rowsOf("etcd", { ...WAITING, forMs: 1_000 });
/** A replica leaves a cache alone, and says so, after three calls in a row that failed. */
const cache = rowsOf("KV", { ...ARRIVING, hasOwnImages: true, arriveWithinMs: 1_000, forMs: 2_000 });
const clock = rowsOf("clock", { ...WAITING, forMs: 4_000 });
const replica = rowsOf("replicas", { ...ARRIVING, forMs: 1_500 });

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

    server("killed and started again", api.stopApiServer),
    server("429 by priority and fairness", api.starveArchway, { arriving: 6, forMs: 4_000 }),
    ...api.CUT_PLACES.map((place) => watch(`watch cut ${place}`, api.cut(place))),
    ...(["status", "event"] as const).map((form) => watch(`stale resourceVersion, 410 as ${form}`, api.expire(form))),
    server("webhook calls time out", replicas.freezeBoth, {
      arriveWithinMs: 1_500,
      forMs: 7_500,
      mayMiss: "nobody answers the webhook",
    }),
    etcd("killed and started again", api.restartEtcd),

    cache("file locked", kv.lockFile),
    cache("file corrupt", kv.corruptFile),
    cache("disk full", kv.fillDisk, {
      missing: ({ smallDisk }) => smallDisk === undefined ? "the right to mount a small disk" : undefined,
    }),
    cache("remote gone", kv.killServer, {
      missing: ({ kvServer }) => kvServer === undefined ? "denokv" : undefined,
    }),

    clock("an hour ahead, then right", replicas.jumpClocks(3_600_000)),
    clock("an hour back, then right", replicas.jumpClocks(-3_600_000)),

    ...replicas.MOMENTS.map((moment) => replica(`leader killed ${moment}`, replicas.killLeader(moment), DIES)),
    replica(`both killed for ${absenceMs / 1_000} s`, replicas.killBoth, {
      waiting: 10,
      arriving: 0,
      forMs: absenceMs,
      absentMs: absenceMs,
    }),
    replica("leader at its memory limit", replicas.exhaustMemory, {
      ...WAITING,
      arriving: 20,
      forMs: 5_000,
      ...DIES,
    }),
  ];
}
