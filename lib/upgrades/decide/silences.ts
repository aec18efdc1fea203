// Silences of alerts during an upgrade, with the MUO's comments and matchers, since other programs match them.
import type { Effect, SilenceMatcher } from "./types/effects.ts";
import type { Silence } from "./types/cluster.ts";

export const SILENCE_AUTHOR = "managed-upgrade-operator";

const PLATFORM: readonly SilenceMatcher[] = [
  { name: "severity", pattern: "(warning|info)" },
  { name: "namespace", pattern: "(^openshift.*|^kube.*|^redhat.*|^default$)" },
];
const CONTROL_PLANE = "OSD control plane";
const WORKERS = "OSD worker node";

interface WorkerWindow {
  readonly version: string;
  readonly remaining: number;
  readonly endsAtMs: number;
  readonly workerStartMs: number | undefined;
}

/** Creates the silences of the control plane that do not exist yet. Expired ones count as absent. */
export function controlPlaneSilenceEffects(
  window: { readonly version: string; readonly criticals: readonly string[]; readonly endsAtMs: number },
  silences: readonly Silence[],
): readonly Effect[] {
  const { version, criticals, endsAtMs } = window;
  const all = [{
    comment: `Silence for OSD control plane upgrade to version ${version}`,
    matchers: PLATFORM,
    endsAtMs,
  }];
  if (criticals.length > 0) {
    all.push({
      comment: `Silence for critical alerts during OSD control plane upgrade to version ${version}`,
      matchers: [{ name: "alertname", pattern: `(${criticals.join("|")})` }],
      endsAtMs,
    });
  }
  return all.filter(({ comment }) => !silences.some((silence) => isOpen(silence) && silence.comment === comment))
    .map((silence) => ({ kind: "createSilence", silence }));
}

/** Replaces the workers' silence when fewer nodes remain. An expired one is not renewed: alerts are due. */
export function workerSilenceEffects(window: WorkerWindow, silences: readonly Silence[]): readonly Effect[] {
  const { version, remaining, endsAtMs, workerStartMs } = window;
  const beginning = `Silence for OSD worker node upgrade to version ${version} with remaining `;
  const comment = `${beginning}${remaining} nodes`;
  const isOfThisUpgrade = (silence: Silence): boolean =>
    isOpen(silence) ||
    (silence.createdBy === SILENCE_AUTHOR && workerStartMs !== undefined && silence.endsAtMs > workerStartMs);
  if (silences.some((silence) => silence.comment === comment && isOfThisUpgrade(silence))) return [];
  const earlier = silences.filter((silence) => isOpen(silence) && silence.comment.startsWith(beginning));
  return [
    ...earlier.map(({ id }): Effect => ({ kind: "endSilence", id })),
    { kind: "createSilence", silence: { comment, matchers: PLATFORM, endsAtMs } },
  ];
}

export function endSilenceEffects(
  part: "controlPlane" | "workers" | "all",
  silences: readonly Silence[],
): readonly Effect[] {
  const words = { controlPlane: [CONTROL_PLANE], workers: [WORKERS], all: [CONTROL_PLANE, WORKERS] }[part];
  return silences.filter((silence) => isOpen(silence) && words.some((word) => silence.comment.includes(word)))
    .map(({ id }) => ({ kind: "endSilence", id }));
}

export function isAnySilenceActive(silences: readonly Silence[]): boolean {
  return silences.some((silence) => silence.createdBy === SILENCE_AUTHOR && silence.state === "active");
}

function isOpen({ createdBy, state }: Silence): boolean {
  return createdBy === SILENCE_AUTHOR && state !== "expired";
}
