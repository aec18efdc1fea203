import assert from "node:assert/strict";
import type { OperatorDeps } from "../../../controllers/operator/deps.ts";
import { type Clock, systemClock } from "../../../lib/clock.ts";
import { listAt, objectAt } from "../../../lib/json.ts";
import { type KubeApi, readOptional } from "../../../lib/k8s/api.ts";
import { ApiError } from "../../../lib/k8s/api_error.ts";
import { type KubeObject, Resource, type ResourceTarget, type ResourceType } from "../../../lib/k8s/types.ts";
import { Installation, UNINSTALL_FINALIZER } from "../../../lib/names.ts";
import { exchanging } from "../../support/cluster_api.ts";
import { CONFIG, deleteConfig, NAMESPACE, openBench } from "./make.ts";

const RBAC = "rbac.authorization.k8s.io/v1";
const ACCOUNT = { namespace: NAMESPACE, name: Installation.serviceAccount };
const ROLE = { name: Installation.uninstallRole };
const HELD: readonly (readonly [ResourceType, ResourceTarget & { readonly name: string }, apiVersion: string])[] = [
  [Resource.serviceAccounts, ACCOUNT, "v1"],
  [Resource.clusterRoles, ROLE, RBAC],
  [Resource.clusterRoleBindings, ROLE, RBAC],
];
/** Backoffs and limits pass so many times as fast: the shortest limit is half a second, enough on a machine with other work. */
const SPEED = 4;
const FAST: Clock = {
  nowMs: () => systemClock.nowMs(),
  monotonicMs: () => systemClock.monotonicMs() * SPEED,
  sleep: (ms, signal) => systemClock.sleep(ms / SPEED, signal),
};

interface Failures {
  /** Reads of the account, and writes of all that is held, that fail from now on. */
  reads: number;
  writes: number;
  /** Called when the body of a write has come, which is cut where the signal has aborted after that. */
  onBody: () => Promise<void> | void;
}

/**
 * An API server that can fail with what is held. As a real one does, it takes away what an apply leaves out, and judges by
 * the head of a request, which needs all that is held.
 */
function failing(api: KubeApi, failures: Failures): KubeApi {
  const fails = (what: "reads" | "writes"): boolean => failures[what] > 0 && failures[what]-- > 0;
  const authorize = async (): Promise<void> => {
    const { signal } = new AbortController();
    const found = await Promise.all(HELD.map(([type, target]) => readOptional(api, { type, ...target, signal })));
    if (found.includes(undefined)) throw new ApiError("No right.", { status: found[0] === undefined ? 401 : 403 });
  };
  return exchanging(api, {
    get: async (type, target, signal) => {
      if (type !== Resource.serviceAccounts) return await api.get(type, target, signal);
      await authorize();
      const account = await api.get(type, target, signal);
      if (fails("reads")) throw unwell();
      return account;
    },
    patch: async (type, target, options) => {
      const { body, holdBack, signal } = options;
      if (body.kind !== "apply" || !HELD.some(([held]) => held === type)) return await api.patch(type, target, options);
      await authorize();
      await holdBack;
      if (fails("writes")) throw unwell();
      await failures.onBody();
      signal.throwIfAborted();
      const finalizers = listAt(objectAt(body.document, "metadata"), "finalizers") ?? null;
      return await api.patch(type, target, { body: { kind: "merge", document: { metadata: { finalizers } } }, signal });
    },
  });
}

function unwell(): ApiError {
  return new ApiError("Cannot answer now.", { status: 500 });
}

const openHeld = async (overrides: Partial<OperatorDeps> = {}) => {
  const failures: Failures = { reads: 0, writes: 0, onBody: () => {} };
  const bench = await openBench((plain) => {
    const api = failing(plain, failures);
    return { api, unfencedApi: api, clock: FAST, ...overrides };
  });
  for (const [type, { namespace, name }, apiVersion] of HELD) {
    const object = { apiVersion, kind: type.kind, metadata: { name } };
    const where = namespace === undefined ? {} : { namespace };
    await bench.api.create(type, object, { ...where, signal: bench.signal });
  }
  await bench.createConfig();
  return { ...bench, failures };
};
type HeldBench = Awaited<ReturnType<typeof openHeld>>;

async function findHeld({ find }: HeldBench): Promise<readonly (KubeObject | undefined)[]> {
  return await Promise.all(HELD.map(([type, target]) => find(type, target)));
}

async function isHeld(held: HeldBench): Promise<boolean> {
  return (await findHeld(held)).every((object) => object?.metadata.finalizers?.includes(UNINSTALL_FINALIZER));
}

/** As `kubectl delete -k` does with the config still there. */
async function deleteInstallation({ api, signal }: HeldBench): Promise<void> {
  for (const [type, target] of HELD) await api.delete(type, target, { signal });
}

async function isAllGone(held: HeldBench): Promise<boolean> {
  const config = await held.find(Resource.clusterConfigs, CONFIG);
  const webhooks = await held.api.list(Resource.mutatingWebhooks, {}, held.signal);
  return (await findHeld(held)).every((object) => object === undefined) && webhooks.items.length === 0 &&
    (config?.metadata.finalizers ?? []).length === 0;
}

for (const [reads = 0, writes = 0] of [[2, 0], [0, 1], [2, 4]]) {
  Deno.test(`operator leaves in the end when ${reads} reads and ${writes} writes of the finalizers fail`, async () => {
    await using held = await openHeld();
    held.start();
    await held.until("the finalizers", () => isHeld(held));
    Object.assign(held.failures, { reads, writes });
    await deleteInstallation(held);
    await held.until("all gone", () => isAllGone(held));
    assert.deepEqual([held.failures.reads, held.failures.writes], [0, 0]);
  });
}

/** Runs the operator until everything is held, and `before` is over; gives the end of the run after `between`. */
async function endRun(held: HeldBench, between: () => Promise<void> | void, before = async () => {}): Promise<void> {
  const stop = new AbortController();
  const running = held.operator.run(stop.signal);
  try {
    await held.until("the finalizers", () => isHeld(held));
    await before();
  } finally {
    stop.abort();
  }
  await between();
  await running;
}

Deno.test("operator that is stopped leaves all the same, also when a read and a write of the finalizers fail", async () => {
  await using held = await openHeld();
  held.operator.requestReconcile();
  await endRun(held, async () => {
    Object.assign(held.failures, { reads: 2, writes: 1 });
    await deleteInstallation(held);
  });
  assert.ok(await isAllGone(held));
});

for (const outcome of ["lifted", "refused"] as const) {
  Deno.test(`operator that is uninstalled takes the taints off once, and leaves when that is ${outcome}`, async () => {
    let lifts = 0;
    let wasHeld = false;
    const taints = {
      carried: () => 3,
      lift: async () => {
        lifts++;
        wasHeld = await isHeld(held);
        if (outcome === "refused") throw new ApiError("No right to list nodes.", { status: 403 });
        return 0;
      },
    };
    await using held = await openHeld({ taints: () => taints });
    held.operator.requestReconcile();
    await endRun(held, async () => {
      assert.equal(held.operator.isUninstalling(), false);
      // It looks again until the deletion has begun.
      held.failures.reads = 2;
      await deleteInstallation(held);
    });
    assert.equal(held.operator.isUninstalling(), true);
    assert.deepEqual([lifts, wasHeld], [1, true]);
    assert.ok(await isAllGone(held));
  });
}

Deno.test("operator that is stopped when the config is gone releases an account that is still to be deleted", async () => {
  await using held = await openHeld();
  const { failures } = held;
  await endRun(held, async () => {
    assert.equal(await held.find(Resource.clusterConfigs, CONFIG), undefined);
    assert.ok(await isHeld(held));
    failures.writes = 0;
  }, async () => {
    failures.writes = 1_000;
    await deleteConfig(held);
    held.operator.requestReconcile();
    await held.until("a write of the finalizers to fail", () => Promise.resolve(failures.writes < 1_000));
  });
  assert.deepEqual((await findHeld(held)).map((object) => object?.metadata.finalizers ?? []), [[], [], []]);
});

Deno.test("operator that is stopped while it lets its account and role go lets all of them go", async () => {
  await using held = await openHeld();
  const stop = new AbortController();
  const running = held.operator.run(stop.signal);
  await held.until("the finalizers", () => isHeld(held));
  const countHeld = async () => (await findHeld(held)).filter((object) => object?.metadata.finalizers?.length).length;
  let bodies = 0;
  held.failures.onBody = async () => {
    if (++bodies !== HELD.length) return;
    await held.until("the other two to be let go", async () => await countHeld() === 1);
    await deleteInstallation(held);
    stop.abort();
  };
  await deleteConfig(held);
  held.operator.requestReconcile();
  await running;
  assert.ok(await isAllGone(held));
});

Deno.test("operator that is stopped gives up when it cannot read whether it is being deleted", async () => {
  await using held = await openHeld();
  await endRun(held, () => void (held.failures.reads = 1_000));
  const tries = 1_000 - held.failures.reads;
  // One more where a reconcile was under way.
  assert.ok(tries >= 4 && tries <= 5, `${tries} tries`);
  assert.ok(await isHeld(held));
});
