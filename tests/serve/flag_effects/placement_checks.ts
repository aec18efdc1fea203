// Flags of placement, shown by the pure decisions that take the settings.
import assert from "node:assert/strict";
import { decide } from "../../../lib/placement/decide/decide.ts";
import { judgeAdmission } from "../../../lib/placement/decide/admission.ts";
import { imagesToInspect } from "../../../lib/placement/decide/images_to_inspect.ts";
import { decisionPatch } from "../../../lib/placement/decide/patch/decision_patch.ts";
import type { PlacementSettings } from "../../../lib/placement/decide/config/settings.ts";
import { followsNodes, liveArchitecturesOf } from "../../../serve/placement_components.ts";
import {
  admissionFacts,
  fact,
  factsOf,
  failedFact,
  gatedPod,
  platformsFact,
  podOf,
  rawPod,
} from "../../lib/placement/decide/make.ts";
import { type Checks, fileConfig, serveConfig, settingsOf } from "./support.ts";

const DEFAULTS = settingsOf(serveConfig());

function decided(settings: PlacementSettings, metadata: Record<string, unknown> = {}, spec = {}): string {
  const decision = decide(factsOf(gatedPod(spec, metadata), { settings }));
  return decision.kind === "ignore" ? decision.reason : decision.kind;
}

function verdictOf(settings: PlacementSettings): string {
  return judgeAdmission(admissionFacts(podOf(rawPod()), { settings, known: [fact("multi")] })).kind;
}

/** The decision about a pod whose registry has failed for two minutes. */
function afterTwoMinutes(settings: PlacementSettings): string {
  const failed = failedFact("multi", { kind: "transient", reason: "ServerError" });
  return decide(factsOf(gatedPod(), { settings, images: [failed], gateAgeMs: 120_000, failedAttempts: 9 })).kind;
}

const DAEMON = {
  ownerReferences: [{ apiVersion: "apps/v1", kind: "DaemonSet", name: "agent", uid: "d", controller: true }],
};

export const PLACEMENT_FLAGS: Checks = {
  "namespace": () => {
    const pod = { namespace: "archway-elsewhere" };
    assert.equal(decided(DEFAULTS, pod), "place");
    assert.equal(decided(settingsOf(serveConfig("--namespace=archway-elsewhere")), pod), "OperatorNamespace");
  },
  "system-namespaces": () => {
    const settings = settingsOf(serveConfig("--system-namespaces=infra-*"));
    assert.equal(decided(settings, { namespace: "infra-dns" }), "KubeNamespace");
    const system = [DEFAULTS, settings].map((each) => decided(each, { namespace: "kube-system" }));
    assert.deepEqual(system, ["KubeNamespace", "place"]);
  },
  "max-gate-age": () => {
    assert.equal(afterTwoMinutes(DEFAULTS), "release");
    assert.equal(afterTwoMinutes(settingsOf(serveConfig("--max-gate-age=10m"))), "retry");
  },
  "warm-admission": () => {
    assert.equal(verdictOf(DEFAULTS), "place");
    assert.equal(verdictOf(settingsOf(serveConfig("--warm-admission=false"))), "gate");
  },
  "audit": () => {
    const settings = settingsOf(serveConfig("--audit"));
    assert.deepEqual([verdictOf(settings), decided(settings)], ["pass", "AuditMode"]);
  },
  "daemonsets": () => {
    assert.equal(decided(DEFAULTS, DAEMON), "DaemonSet");
    assert.equal(decided(settingsOf(serveConfig("--daemonsets=constrain")), DAEMON), "place");
  },
  "live-architectures": () => {
    // The image is for both, and no node has the second.
    const image = platformsFact("multi", ["amd64", "arm64"].map((architecture) => ({ os: "linux", architecture })));
    const placed = (config: ReturnType<typeof serveConfig>): string => {
      const liveArchitectures = liveArchitecturesOf({ config }, { current: () => ["amd64"] });
      const facts = factsOf(gatedPod(), { settings: settingsOf(config), images: [image], liveArchitectures });
      const decision = decide(facts);
      return decision.kind === "place" ? JSON.stringify(decision.required) : assert.fail(decision.kind);
    };
    assert.match(placed(serveConfig()), /amd64.*arm64/);
    assert.match(placed(serveConfig("--live-architectures")), /amd64(?!.*arm64)/);
    const follows = (...flags: readonly string[]): boolean => followsNodes({ config: serveConfig(...flags) });
    assert.equal(follows(), false);
    assert.equal(follows("--live-architectures"), true, "else no node is read");
    assert.equal(follows("--daemonsets=warn"), true, "an event names their architectures");
    assert.equal(follows("--daemonsets=constrain"), false, "it comes without that right");
  },
};

export const PLACEMENT_SETTINGS: Checks = {
  runtimeClasses: () => {
    const settings = settingsOf(fileConfig("runtimeClasses: [kata=skip]"));
    const ofClass = [DEFAULTS, settings].map((each) => decided(each, {}, { runtimeClassName: "kata" }));
    assert.deepEqual(ofClass, ["place", "RuntimeClassSkipped"]);
  },
  variantLabels: () => {
    const image = platformsFact("multi", [{ os: "linux", architecture: "arm", variant: "v7" }]);
    const requirement = (settings: PlacementSettings): string => {
      const facts = factsOf(gatedPod(), { settings, images: [image] });
      return JSON.stringify(decisionPatch(facts.pod, decide(facts)));
    };
    assert.doesNotMatch(requirement(DEFAULTS), /example\.com\/arm-variant/);
    const settings = settingsOf(fileConfig("variantLabels: [arm/v7=example.com/arm-variant=v7]"));
    assert.match(requirement(settings), /example\.com\/arm-variant/);
  },
  imageVolumes: () => {
    const pod = podOf(rawPod({ volumes: [{ name: "model", image: { reference: "models/large:v1" } }] }));
    const images = (settings: PlacementSettings): number => imagesToInspect(pod, settings).length;
    assert.deepEqual([images(DEFAULTS), images(settingsOf(fileConfig("imageVolumes: ignore")))], [2, 1]);
  },
};
