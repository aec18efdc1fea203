// What an etcd holds, remembered and put back, so that a control plane that is used again begins as it was. Its servers see the
// changes by their watches, as they see those of an API server. Source: etcd's JSON gateway, https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/
import { isDeepStrictEqual } from "node:util";
import { listAt, read } from "./cluster_access.ts";
import { waitUntil } from "./wait.ts";

/** A value (Base64) and the revision of its last change. */
interface EtcdEntry {
  readonly value: string;
  readonly revision: string;
}

/** The entries by their key (Base64). */
export type EtcdState = Readonly<Record<string, EtcdEntry>>;

/** What servers renew all the time: put back it would look as if they had died. */
const RENEWED = ["/registry/leases/kube-", "/registry/masterleases/"];
const EVENTS = "/registry/events/";
/** Of one transaction; etcd takes 128. */
const MOST_OPERATIONS = 100;

async function call(etcdUrl: string, method: "range" | "txn", body: unknown): Promise<unknown> {
  const response = await fetch(`${etcdUrl}/v3/kv/${method}`, {
    method: "POST",
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`Cannot ask etcd for ${method}: ${response.status} ${text.slice(0, 200)}`);
  return JSON.parse(text);
}

async function readEntries(etcdUrl: string, { keysOnly }: { readonly keysOnly: boolean }): Promise<EtcdState> {
  const range = { key: btoa("/registry/"), range_end: btoa("/registry0"), keys_only: keysOnly };
  return Object.fromEntries(
    listAt(await call(etcdUrl, "range", range), "kvs").map((entry) =>
      [
        String(read(entry, "key")),
        { value: String(read(entry, "value") ?? ""), revision: String(read(entry, "mod_revision")) },
      ] as const
    ).filter(([key]) => !RENEWED.some((beginning) => atob(key).startsWith(beginning))),
  );
}

/**
 * Everything that the API server keeps there, but events and what its servers renew, once nothing has changed for a second: what
 * a new control plane makes would come again whenever it was taken away.
 */
export async function readState(etcdUrl: string): Promise<EtcdState> {
  let last: EtcdState = {};
  await waitUntil("the control plane to rest", async () => {
    const entries = Object.entries(await readEntries(etcdUrl, { keysOnly: false }));
    const state = Object.fromEntries(entries.filter(([key]) => !atob(key).startsWith(EVENTS)));
    const isSame = isDeepStrictEqual(state, last);
    last = state;
    return isSame;
  }, { deadlineMs: 60_000, intervalMs: 1_000 });
  return last;
}

/**
 * Puts the state back: removes what has come, writes what was changed or removed, until controllers add nothing more of what
 * they had begun. Gives the state with the revisions that it has now.
 */
export async function putBack(etcdUrl: string, state: EtcdState): Promise<EtcdState> {
  let wanted = state;
  await waitUntil("the control plane to be as it was", async () => {
    const { next, changes } = await putBackOnce(etcdUrl, wanted);
    wanted = next;
    if (changes.length > 0) throw new Error(`these had changed: ${changes.slice(0, 5).map(atob).join(", ")}`);
    return true;
  }, { intervalMs: 200 });
  return wanted;
}

function isPod(key: string): boolean {
  return atob(key).startsWith("/registry/pods/");
}

async function putBackOnce(
  etcdUrl: string,
  wanted: EtcdState,
): Promise<{ readonly next: EtcdState; readonly changes: readonly string[] }> {
  const present = await readEntries(etcdUrl, { keysOnly: true });
  // Pods last: while their owners are there controllers make new ones.
  const extra = Object.keys(present).filter((key) => wanted[key] === undefined)
    .toSorted((one, other) => Number(isPod(one)) - Number(isPod(other)));
  const changed = Object.entries(wanted).filter(([key, { revision }]) => present[key]?.revision !== revision);
  const operations = [
    ...extra.map((key) => ({ request_delete_range: { key } })),
    ...changed.map(([key, { value }]) => ({ request_put: { key, value } })),
  ];
  const next: Record<string, EtcdEntry> = { ...wanted };
  for (let from = 0; from < operations.length; from += MOST_OPERATIONS) {
    const success = operations.slice(from, from + MOST_OPERATIONS);
    const revision = String(read(await call(etcdUrl, "txn", { success }), "header", "revision"));
    for (const operation of success) {
      if (!("request_put" in operation)) continue;
      const { key, value } = operation.request_put;
      next[key] = { value, revision };
    }
  }
  return { next, changes: [...extra, ...changed.map(([key]) => key)] };
}
