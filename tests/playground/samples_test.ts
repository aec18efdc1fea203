import assert from "node:assert/strict";
import { renderJsonBody } from "../../lib/k8s/patch.ts";
import { Resource } from "../../lib/k8s/types.ts";
import { silentLogger } from "../../lib/log.ts";
import type { Inspection } from "../../lib/oci/types.ts";
import { admissionPatch } from "../../lib/placement/decide/patch/admission_patch.ts";
import { parseClusterConfig } from "../../lib/placement/decide/config/config.ts";
import { makeSettings, type PlacementConfigs } from "../../lib/placement/decide/config/types.ts";
import { admissionFacts } from "../lib/placement/decide/make.ts";
import { evidenceOf } from "../../lib/placement/decide/images.ts";
import { planInspection } from "../../lib/placement/decide/plan_inspection.ts";
import { decide } from "../../lib/placement/decide/decide.ts";
import { judgeAdmission } from "../../lib/placement/decide/gate.ts";
import { parsePod } from "../../lib/placement/decide/pod_view.ts";
import { releasePatch } from "../../lib/placement/decide/patch/release_patch.ts";
import type { PodView } from "../../lib/placement/decide/types.ts";
import { type Cluster, parseKubeObject } from "../../playground/cluster.ts";
import { createObject } from "../../playground/create_object.ts";
import { applyJsonPatch } from "../../playground/patches.ts";
import { isSettled, readOutcome } from "../../playground/outcomes.ts";
import { openKubelets } from "../../playground/kubelet.ts";
import { SAMPLE_NAMESPACE, sampleCluster, sampleNodes, samplePods } from "../../playground/samples.ts";
import { openScheduler } from "../../playground/scheduler.ts";
import { patchObject } from "../../playground/update_object.ts";
import { kindNamed } from "../../playground/kinds.ts";
import { addNodes, admitAll, makeCluster } from "./make.ts";

const HOST = "127.0.0.1:5000";
const SETTINGS = makeSettings();

function configs(): PlacementConfigs {
  const parsed = parseClusterConfig(sampleCluster().config);
  assert.equal(parsed.kind, "parsed");
  return { cluster: parsed.kind === "parsed" ? parsed.value : undefined, namespace: [] };
}

function viewOf(object: unknown): PodView {
  const view = parsePod(object, { namespace: SAMPLE_NAMESPACE });
  if (view === undefined) throw new Error("no pod");
  return view;
}

function inspect(image: string): Inspection {
  const found = sampleCluster().images.find(({ repository, tag }) => `${HOST}/${repository}:${tag}` === image);
  if (found === undefined) {
    return { kind: "failed", failure: { kind: "permanent", reason: "ManifestUnknown", message: "no such image" } };
  }
  const platforms = found.architectures.map((architecture) => ({ os: "linux", architecture }));
  const digest = `sha256:${"0".repeat(64)}`;
  return { kind: "platforms", digest, mediaType: "", platforms, depth: "config", findings: [] };
}

function makeSampleCluster(): Promise<Cluster> {
  return makeCluster({
    admission: {
      ...admitAll,
      mutate: (attempt) => {
        if (attempt.kind.kind !== "Pod" || attempt.operation !== "CREATE") return Promise.resolve(attempt.object);
        const pod = viewOf(attempt.object);
        const facts = admissionFacts(pod, { configs: configs(), settings: SETTINGS });
        const operations = admissionPatch(pod, judgeAdmission(facts));
        return Promise.resolve(parseKubeObject(applyJsonPatch(attempt.object, operations)));
      },
    },
  });
}

async function release(cluster: Cluster, name: string): Promise<void> {
  const pod = viewOf(cluster.store.get(Resource.pods, `${SAMPLE_NAMESPACE}/${name}`));
  const plan = planInspection(pod, configs(), SETTINGS);
  const images = plan.kind === "decided" ? [] : plan.images
    .map(({ image }) => ({ image, inspection: inspect(image) }));
  const evidence = evidenceOf({ pod, settings: SETTINGS, plan }, images);
  const rounds = { gateAgeMs: 2_000, failedAttempts: 1, permanentFailures: 1, jitter: 0 };
  const body = releasePatch(pod, decide({ pod, settings: SETTINGS, evidence, ...rounds }));
  const target = { namespace: SAMPLE_NAMESPACE, name };
  if (body.length > 0) {
    await patchObject(cluster, kindNamed("Pod"), { ...target, patchKind: "json", body: renderJsonBody(body) });
  }
}

Deno.test("every sample pod ends as its manifest says under Archway's decisions", async (t) => {
  const cluster = await makeSampleCluster();
  await createObject(cluster, kindNamed("Namespace"), { body: { metadata: { name: SAMPLE_NAMESPACE } } });
  addNodes(cluster, ...sampleNodes().map(parseKubeObject));
  using _scheduler = openScheduler(cluster, { log: silentLogger });
  using _kubelets = openKubelets(cluster, { pull: () => ({ kind: "unknown" }) });
  for (const body of samplePods(HOST)) {
    const created = await createObject(cluster, kindNamed("Pod"), { namespace: SAMPLE_NAMESPACE, body });
    const { name } = created.metadata;
    await t.step(name, async () => {
      await release(cluster, name);
      const pod = cluster.store.get(Resource.pods, `${SAMPLE_NAMESPACE}/${name}`);
      assert.ok(pod !== undefined && isSettled(pod), JSON.stringify(pod?.status));
      const outcome = readOutcome(pod, cluster.store.list(Resource.nodes));
      assert.ok(outcome.expected !== undefined && outcome.ok, JSON.stringify(outcome));
    });
  }
});
