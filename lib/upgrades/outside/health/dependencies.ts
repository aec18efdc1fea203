// External services that must answer before an upgrade begins: all are called at the same time, each three times at
// most.
import { type Clock, jitter, openDeadline } from "../../../clock.ts";
import type { OperatorConfig } from "../../decide/types/operator_config.ts";

export interface DependencyDeps {
  readonly clock: Clock;
  readonly userAgent: string;
}

const MAX_ATTEMPTS = 3;
const FIRST_PAUSE_MS = 1_000;

/** The services that do not answer: `https://a.example.com/ (it answers with status 503)`. */
export async function checkDependencies(
  deps: DependencyDeps,
  { urls, timeoutSeconds }: OperatorConfig["dependencies"],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const timeoutMs = timeoutSeconds * 1_000;
  return (await Promise.all(urls.map((url) => check(deps, { url, timeoutMs, signal })))).flat();
}

interface Check {
  readonly url: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** 5xx and no answer are tried again, 4xx is final, everything else is an answer. */
async function check(deps: DependencyDeps, { url, timeoutMs, signal }: Check): Promise<readonly string[]> {
  let why = "";
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    if (attempt > 0) await deps.clock.sleep(jitter(FIRST_PAUSE_MS * 2 ** (attempt - 1), 1, 1.5), signal);
    signal.throwIfAborted();
    const status = await ask(deps, { url, timeoutMs, signal });
    if (status !== undefined && status < 400) return [];
    why = status === undefined ? `it did not answer within ${timeoutMs / 1_000} s` : `it answers with status ${status}`;
    if (status !== undefined && status < 500) break;
  }
  return [`${shownUrl(url)} (${why})`];
}

async function ask(
  { clock, userAgent }: DependencyDeps,
  { url, timeoutMs, signal }: Check,
): Promise<number | undefined> {
  using deadline = openDeadline(timeoutMs, { signal, clock });
  try {
    // A redirect counts as an answer and is not followed: its target is not what was configured.
    const response = await fetch(url, {
      signal: deadline.signal,
      redirect: "manual",
      headers: { "user-agent": userAgent },
    });
    await response.body?.cancel();
    return response.status;
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

/** Without user, password and query, which may be secret. */
function shownUrl(text: string): string {
  const { origin, pathname } = new URL(text);
  return origin + pathname;
}
