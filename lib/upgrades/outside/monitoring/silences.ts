// Silences of Alertmanager (API v2): those of the operator listed, created, ended. Which there must be is decided elsewhere.
import * as z from "zod";
import type { Clock } from "../../../clock.ts";
import type { JsonObject } from "../../../json.ts";
import type { Silence } from "../../decide/types/cluster.ts";
import type { SilenceSpec } from "../../decide/types/effects.ts";
import { SILENCE_AUTHOR } from "../../decide/windows.ts";
import { readJson } from "../http/read_json.ts";
import type { Upstream } from "../http/upstream.ts";
import { UpstreamError } from "../http/upstream_error.ts";

/** The silences. Each call rejects with UpstreamError when Alertmanager does not do it. */
export interface SilenceStore {
  /** Those of the operator, also those that have ended and are kept yet. */
  list(signal: AbortSignal): Promise<readonly Silence[]>;
  /** Creates one that starts now; its id. A request that was sent twice makes two: callers list before they create. */
  create(spec: SilenceSpec, signal: AbortSignal): Promise<string>;
  /** Ends one. One that is gone or over is ended. */
  end(id: string, signal: AbortSignal): Promise<void>;
}

const Listed = z.array(z.object({
  id: z.string(),
  createdBy: z.string(),
  comment: z.string(),
  endsAt: z.string(),
  status: z.object({ state: z.enum(["active", "pending", "expired"]) }),
}));
const Created = z.object({ silenceID: z.string().min(1) });
const SILENCE_ID = /^[0-9a-f-]{1,64}$/i;

export function openSilenceStore(
  { upstream, clock }: { readonly upstream: Upstream; readonly clock: Pick<Clock, "nowMs"> },
): SilenceStore {
  const list = async (signal: AbortSignal): Promise<readonly Silence[]> => {
    const answer = await upstream.send({ method: "GET", path: "/api/v2/silences" }, signal);
    return readJson(answer, Listed)
      .filter(({ createdBy }) => createdBy === SILENCE_AUTHOR)
      .map(({ id, createdBy, comment, endsAt, status: { state } }) => {
        return { id, createdBy, comment, state, endsAtMs: Date.parse(endsAt) };
      });
  };
  return {
    list,
    create: async (spec, signal) => {
      const body = renderSilence(spec, clock.nowMs());
      const answer = await upstream.send({ method: "POST", path: "/api/v2/silences", body }, signal);
      return readJson(answer, Created).silenceID;
    },
    end: async (id, signal) => {
      if (!SILENCE_ID.test(id)) return;
      try {
        await upstream.send({ method: "DELETE", path: `/api/v2/silence/${id}`, repeatable: true }, signal);
      } catch (error) {
        if (error instanceof UpstreamError && error.status === 404) return;
        // Alertmanager answers 500 for one that is over already.
        const isRefused = error instanceof UpstreamError && error.status >= 400;
        if (!isRefused || (await list(signal)).some((silence) => silence.id === id && silence.state !== "expired")) {
          throw error;
        }
      }
    },
  };
}

/** The body of the request. Times are UTC. */
function renderSilence({ comment, matchers, endsAtMs }: SilenceSpec, nowMs: number): JsonObject {
  return {
    matchers: matchers.map(({ name, pattern }) => ({ name, value: pattern, isRegex: true, isEqual: true })),
    startsAt: new Date(nowMs).toISOString(),
    endsAt: new Date(endsAtMs).toISOString(),
    createdBy: SILENCE_AUTHOR,
    comment,
  };
}
