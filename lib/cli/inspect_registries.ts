// `archway inspect --registries`: the state of the registries, as this command found it or as a running Archway reports it.
import { stringify } from "yaml";
import * as z from "zod";
import { renderDuration } from "../duration.ts";
import { errorText } from "../log.ts";
import type { HostState } from "../oci/limits/host_state.ts";
import type { FailureReason } from "../oci/types.ts";
import { renderTable } from "./output.ts";

const FAILURE_REASONS = [
  "Unreachable",
  "TlsFailed",
  "Timeout",
  "ServerError",
  "RateLimited",
] as const satisfies readonly FailureReason[];

const State = z.object({
  host: z.string(),
  circuit: z.enum(["closed", "open", "half-open"]),
  inFlight: z.number(),
  limit: z.number(),
  waiting: z.number(),
  remaining: z.number().exactOptional(),
  pausedForMs: z.number().exactOptional(),
  lastSuccessAtMs: z.number().exactOptional(),
  lastFailure: z.object({ reason: z.enum(FAILURE_REASONS), atMs: z.number() }).exactOptional(),
});

const TIMEOUT_MS = 10_000;

/** The states that a running Archway serves at its admin address. Throws one sentence when it cannot be read. */
export async function readHostStates(adminUrl: string, signal: AbortSignal): Promise<readonly HostState[]> {
  const url = new URL("registries", adminUrl.endsWith("/") ? adminUrl : `${adminUrl}/`);
  const shown = url.origin + url.pathname;
  try {
    const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]) });
    const text = await response.text();
    if (!response.ok) throw new Error(`it answered ${response.status}`);
    return z.array(State).parse(JSON.parse(text));
  } catch (error) {
    const reason = error instanceof z.ZodError || error instanceof SyntaxError
      ? "it is not an Archway of this version"
      : errorText(error).replaceAll(url.href, shown);
    throw new Error(`Cannot read the registries from "${shown}": ${reason}. Give the address of its --admin-listen.`);
  }
}

/** The states in the wanted form. Pure. */
export function renderHostStates(
  states: readonly HostState[],
  { output, nowMs }: { readonly output: "table" | "json" | "yaml"; readonly nowMs: number },
): string {
  if (output === "json") return `${JSON.stringify(states, null, 2)}\n`;
  if (output === "yaml") return stringify(states);
  if (states.length === 0) return "No registry was asked yet.\n";
  const ago = (atMs: number): string => `${renderDuration(Math.max(0, nowMs - atMs))} ago`;
  const header = [
    "REGISTRY",
    "CIRCUIT",
    "LAST ANSWER",
    "LAST FAILURE",
    "QUOTA LEFT",
    "PAUSED FOR",
    "REQUESTS",
    "WAITING",
  ];
  const rows = states.map(({ lastSuccessAtMs, lastFailure, remaining, pausedForMs, ...state }) => [
    state.host,
    state.circuit,
    lastSuccessAtMs === undefined ? "never" : ago(lastSuccessAtMs),
    lastFailure === undefined ? "none" : `${lastFailure.reason} ${ago(lastFailure.atMs)}`,
    remaining === undefined ? "unknown" : String(remaining),
    pausedForMs === undefined ? "-" : renderDuration(pausedForMs),
    `${state.inFlight} of ${state.limit}`,
    String(state.waiting),
  ]);
  return renderTable(header, rows);
}
