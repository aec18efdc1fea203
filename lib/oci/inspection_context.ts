// What every request of one inspection has in common. Made once when the inspection begins.
import type { Credential } from "./credential.ts";
import type { Callers } from "./shared_call.ts";
import type { Caller } from "./inspector.ts";
import type { RequestLog } from "./request_log.ts";

/** Everything about one inspection that a request to a registry depends on. */
export interface InspectionContext {
  /** Tried in order where their scope matches; anonymous comes last by itself. */
  readonly credentials: readonly Credential[];
  /** The namespaces whose shares its requests count in, and how urgent they are. Others may join. */
  readonly callers: Callers<Caller>;
  readonly signal: AbortSignal;
  readonly log: RequestLog;
}
