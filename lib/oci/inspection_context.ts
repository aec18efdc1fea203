// What every request of one inspection has in common. Made once when the inspection begins.
import type { Credential } from "./credential.ts";
import type { InspectionPriority } from "./inspector.ts";
import type { RequestLog } from "./request_log.ts";

/** Everything about one inspection that a request to a registry depends on. */
export interface InspectionContext {
  /** Tried in order where their scope matches; anonymous comes last by itself. */
  readonly credentials: readonly Credential[];
  /** Read when a place at the host becomes free: others may join the inspection and raise it. */
  readonly priority: () => InspectionPriority;
  /** The namespace that the work is done for. */
  readonly namespace: string | undefined;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Counts and traces what is sent. */
  readonly log: RequestLog;
}
