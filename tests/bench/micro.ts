// Micro benches of the pure work on the hot paths: µs an operation, median of rounds.
import { SCHEDULING_GATE } from "../../lib/names.ts";
import { parseManifest } from "../../lib/oci/image/manifest.ts";
import { platformsOf } from "../../lib/oci/image/platforms.ts";
import { parseReference } from "../../lib/oci/reference.ts";
import { admissionPatch } from "../../lib/placement/decide/patch/admission_patch.ts";
import { decide } from "../../lib/placement/decide/decide.ts";
import { judgeAdmission, planAdmission } from "../../lib/placement/decide/gate.ts";
import { parsePod } from "../../lib/placement/decide/pod/pod_view.ts";
import { releasePatch } from "../../lib/placement/decide/patch/release_patch.ts";
import { makeSettings } from "../support/placement_settings.ts";
import { evidenceOf } from "../../lib/placement/decide/images.ts";
import { planInspection } from "../../lib/placement/decide/plan_inspection.ts";
import type { AdmissionVerdict } from "../../lib/placement/decide/decision_types.ts";
import type { PlacementFacts } from "../../lib/placement/decide/types.ts";
import { sampleFact, samplePod } from "./sample.ts";

export interface MicroResult {
  readonly name: string;
  readonly microseconds: number;
}

const ROUNDS = 15;
const ROUND_MS = 40;

function measure(name: string, operation: () => unknown): MicroResult {
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS + 3; round++) {
    const startedMs = performance.now();
    let count = 0;
    for (; performance.now() - startedMs < ROUND_MS; count += 10) for (let index = 0; index < 10; index++) operation();
    if (round >= 3) rounds.push((performance.now() - startedMs) * 1_000 / count);
  }
  rounds.sort((left, right) => left - right);
  return { name, microseconds: rounds[Math.floor(ROUNDS / 2)] ?? NaN };
}

export function runMicro(): readonly MicroResult[] {
  const settings = makeSettings({ operatorNamespace: "archway-system" });
  const configs = { cluster: undefined, namespace: [] };
  const raw = samplePod();
  const pod = parsePod(raw);
  const metadata = { ...raw.metadata as object, name: "web-1", uid: "u-1", labels: { [SCHEDULING_GATE]: "gated" } };
  const spec = { ...raw.spec as object, schedulingGates: [{ name: SCHEDULING_GATE }] };
  const gated = parsePod({ ...raw, metadata, spec });
  if (pod === undefined || gated === undefined) throw new Error("the sample is no pod");
  const images = [sampleFact(pod.containers[0]?.image ?? "")];
  const gather = (): PlacementFacts => {
    const plan = planInspection(gated, configs, settings);
    const evidence = evidenceOf({ pod: gated, settings, plan }, images);
    const counts = { gateAgeMs: 100, failedAttempts: 0, permanentFailures: 0, jitter: 0.5 };
    return { pod: gated, settings, evidence, ...counts };
  };
  const decision = decide(gather());
  const admit = (): AdmissionVerdict => {
    const plan = planAdmission(pod, configs, settings);
    return judgeAdmission({ pod, settings, plan, known: undefined, mayGate: true });
  };
  const verdict = admit();
  const index = JSON.stringify({
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.index.v1+json",
    manifests: ["amd64", "arm64", "ppc64le", "s390x", "riscv64", "unknown"].map((architecture, at) => ({
      mediaType: "application/vnd.oci.image.manifest.v1+json",
      digest: `sha256:${String(at).repeat(64)}`,
      size: 1_000,
      platform: { os: architecture === "unknown" ? "unknown" : "linux", architecture },
    })),
  });
  return [
    measure("parse a pod", () => parsePod(raw)),
    measure("judge an admission", admit),
    measure("admission patch", () => admissionPatch(pod, verdict)),
    measure("decide about a gated pod", () => decide(gather())),
    measure("release patch", () => releasePatch(gated, decision)),
    measure("parse a reference", () => parseReference("registry.example.com:5000/shop/web:v1.2.3")),
    measure("parse an index of 6", () => {
      const document = parseManifest(index, "");
      return document.kind === "index" ? platformsOf(document.entries) : [];
    }),
  ];
}
