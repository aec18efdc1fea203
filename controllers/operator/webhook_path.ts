// By which paths the API server is to call the webhooks: the manifests' while there may be replicas that accept no others,
// then the secret ones.
import type { Rollout } from "../../lib/operand/rollout.ts";
import type { OperatorDeps } from "./deps.ts";
import type { Memory } from "./memory.ts";

/** A replica that terminates answers its open connections for so long (ms): its grace period, and a margin. */
export const TERMINATING_MS = 60_000;

/** The paths, and when to check again because they may change (ms). */
export interface WebhookPathChoice {
  readonly pathOf: (route: string) => string;
  readonly retryMs: number | undefined;
}

/** Chooses. A path that is in use stays secret: a roll-out of the same version must not open the others again. */
export function chooseWebhookPaths(
  { secretPaths, settings }: Pick<OperatorDeps, "secretPaths" | "settings">,
  { memory, rollout, nowMs }: { readonly memory: Memory; readonly rollout: Rollout; readonly nowMs: number },
): WebhookPathChoice {
  memory.uniformSinceMs = rollout.uniform ? memory.uniformSinceMs ?? nowMs : undefined;
  const plain: WebhookPathChoice = { pathOf: (route) => route, retryMs: undefined };
  if (secretPaths === undefined) return plain;
  const secret: WebhookPathChoice = {
    pathOf: (route) => secretPaths.pathOf(route) ?? route,
    retryMs: undefined,
  };
  if (secretPaths.isInUse()) return secret;
  if (memory.uniformSinceMs === undefined) return plain;
  // Without a Deployment this replica is all there is.
  const waitMs = settings.deploymentName === undefined ? 0 : memory.uniformSinceMs + TERMINATING_MS - nowMs;
  return waitMs <= 0 ? secret : { ...plain, retryMs: waitMs };
}
