import assert from "node:assert/strict";
import { ALL_NAMESPACES, type AuditDeps, openAudit } from "../../../controllers/audit/controller.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { type Logger, silentLogger } from "../../../lib/log.ts";
import { openPlacementMetrics } from "../../support/process_metrics.ts";
import { makeSettings } from "../../support/placement_settings.ts";
import { BUNDLED, NO_CONFIGS } from "../../lib/placement/decide/make.ts";
import { answering, furnish, makePod, openScene, runFor, type Scene, whileRunning, withMetadata } from "../make.ts";

/** Namespaces under audit, that a test adds to. */
const auditedOf = (...names: string[]) => {
  const listeners: ((namespace: string) => void)[] = [];
  return {
    names: () => names,
    onAdded: (listener: (namespace: string) => void) => void listeners.push(listener),
    add: (namespace: string) => {
      names.push(namespace);
      for (const listener of listeners) listener(namespace);
    },
  };
};

function depsOf(scene: Scene, audited: ReturnType<typeof auditedOf>): AuditDeps {
  const { cluster, clock, events, images } = scene;
  const isAudited = (namespace: string): boolean =>
    audited.names().some((one) => one === ALL_NAMESPACES || one === namespace);
  return {
    api: cluster.api,
    images,
    events,
    metrics: openPlacementMetrics(),
    clock,
    log: silentLogger,
    settingsOf: (namespace) => makeSettings({ audit: isAudited(namespace) }),
    configsOf: () => NO_CONFIGS,
    liveArchitectures: () => undefined,
    audited,
  };
}

function reportedPods({ recorded }: Scene): readonly string[] {
  return recorded.map(({ object }) => object.name);
}

Deno.test("openAudit() reports once for each pending pod what would be done, and reads nothing else", async () => {
  const scene = openScene(makePod("before", { image: "single-arm64" }));
  await whileRunning(scene, openAudit(depsOf(scene, auditedOf(ALL_NAMESPACES))), async () => {
    scene.cluster.put(Resource.pods, { ...makePod("during"), spec: BUNDLED });
    await scene.clock.advance(0);
    scene.cluster.put(Resource.pods, makePod("during", { labels: { changed: "yes" } }));
    scene.cluster.put(Resource.pods, makePod("during", { phase: "Running" }));
    await scene.clock.advance(5_000);
    assert.deepEqual(reportedPods(scene), ["before", "during"]);
    assert.match(scene.recorded[0]?.message ?? "", /nothing was changed: Archway would set .*\{arm64\}/);
    assert.match(scene.recorded[1]?.message ?? "", /\{amd64, arm64\}/);
    assert.ok(scene.recorded.every(({ slot }) => slot === 1));
    assert.ok(scene.requests.every(({ priority }) => priority === "admission"));
  });
});

Deno.test("openAudit() gives turns to a namespace while the registry of another is slow, of which it keeps a bound", async () => {
  const scene = openScene();
  // Less than a try may last.
  const slowMs = 9_000;
  const slow = answering(scene, async (request, signal) => {
    if (request.identity.namespace === "slow") await scene.clock.sleep(slowMs, signal);
    return await scene.images.inspect(request, signal);
  });
  // Some KB of memory each.
  const tolerations = Array.from({ length: 50 }, () => ({}));
  const put = (name: string): void => {
    const pod = withMetadata(makePod(name), { namespace: "slow" });
    scene.cluster.put(Resource.pods, { ...pod, spec: { ...Object(pod["spec"]), tolerations } });
  };
  for (let at = 0; at < 2_050; at++) put(`slow-${at}`);
  const countOf = (namespace: string): number =>
    scene.recorded.filter(({ object }) => object.namespace === namespace).length;
  const warned: unknown[] = [];
  const log: Logger = { ...silentLogger, with: () => log, warn: (_, fields) => warned.push(fields?.["namespace"]) };
  const deps = { ...depsOf(slow, auditedOf(ALL_NAMESPACES)), log };
  await whileRunning(scene, openAudit(deps), async () => {
    scene.cluster.put(Resource.pods, makePod("quick"));
    await scene.clock.advance(slowMs);
    assert.equal(countOf("shop"), 1);
    assert.deepEqual(warned, ["slow"]);
    // What was left out comes with a later list: none is reported twice.
    await scene.clock.advance(600 * slowMs);
    assert.equal(countOf("slow"), 2_050);
  });
});

Deno.test("openAudit() lets pods whose images take long go, and comes back to them, a few times", async () => {
  const names = ["slow-0", "slow-1", "slow-2", "slow-3"];
  const scene = openScene(...names.map((image) => makePod(image, { image })), makePod("late", { image: "multi2" }));
  const tries = new Map<string, number>();
  const slow = answering(scene, (request, signal) => {
    const [{ image = "" } = {}] = request.images;
    tries.set(image, (tries.get(image) ?? 0) + 1);
    const isDone = image === "multi" || image === "multi2" && tries.get(image) === 3;
    return isDone ? scene.images.inspect(request, signal) : new Promise(() => {});
  });
  await whileRunning(scene, openAudit(depsOf(slow, auditedOf("shop"))), async () => {
    scene.cluster.put(Resource.pods, makePod("quick", { image: "multi" }));
    await scene.clock.advance(10_000);
    assert.deepEqual(reportedPods(scene), ["quick"], "after ten seconds of those before it");
    await scene.clock.advance(180_000);
    assert.deepEqual(reportedPods(scene), ["quick", "late"]);
    await scene.clock.advance(3_600_000);
    assert.deepEqual(tries.get("slow-0"), 5);
    assert.deepEqual(reportedPods(scene).toSorted(), ["late", "quick", ...names]);
    assert.match(scene.recorded.at(-1)?.message ?? "", /not read in time/);
  });
});

Deno.test("openAudit() sends no request to the API server while nothing is audited", async () => {
  const scene = openScene(makePod("unwatched"));
  await runFor(scene, openAudit(depsOf(scene, auditedOf())), 60_000);
  assert.deepEqual(scene.cluster.lists, []);
});

Deno.test("openAudit() reports a pod that ran before the leader had read the first audited namespace", async () => {
  const scene = openScene();
  const audited = auditedOf();
  await whileRunning(scene, openAudit(depsOf(scene, audited)), async () => {
    const handled = makePod("handled", { phase: "Running", labels: GATED_BEFORE });
    furnish(scene.cluster, [makePod("quick", { phase: "Running" }), handled]);
    audited.add("shop");
    await scene.clock.advance(0);
    assert.deepEqual(reportedPods(scene), ["quick"]);
  });
});

Deno.test("openAudit() reports a pod whose namespace was labelled after the watch had passed it by", async () => {
  const scene = openScene();
  const audited = auditedOf("other");
  await whileRunning(scene, openAudit(depsOf(scene, audited)), async () => {
    scene.cluster.put(Resource.pods, makePod("early"));
    await scene.clock.advance(100);
    assert.deepEqual(reportedPods(scene), []);
    audited.add("shop");
    await scene.clock.advance(0);
    assert.deepEqual(reportedPods(scene), ["early"]);
  });
});

Deno.test("openAudit() leaves pods alone that ran long before it looked", async () => {
  const scene = openScene(makePod("old", { phase: "Running" }));
  await scene.clock.advance(10 * 60_000);
  await runFor(scene, openAudit(depsOf(scene, auditedOf(ALL_NAMESPACES))), 1_000);
  assert.deepEqual(reportedPods(scene), []);
});

/** Labels of a pod that the webhook gated before its namespace came under audit. */
const GATED_BEFORE = { "multiarch.openshift.io/scheduling-gate": "removed" };
