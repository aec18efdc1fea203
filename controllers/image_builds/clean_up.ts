// Cleans up after a MachineOSConfig that is gone.
import { openBuildRegistries } from "../../lib/building/build_registries.ts";
import { cleanUpConfig } from "../../lib/building/clean_up_config.ts";
import type { BuildWatches } from "../../lib/building/watches.ts";
import { eventObjectOf } from "../../lib/k8s/event_input.ts";
import type { EventRecorder } from "../../lib/k8s/event_recorder.ts";
import { Resource } from "../../lib/k8s/types.ts";
import type { ReconcileResult } from "../../lib/k8s/work_queue.ts";
import { DONE, requeueAfter } from "../controller.ts";
import { Deletions } from "./deletions.ts";
import type { ImageBuildsDeps } from "./deps.ts";

/** Until the next request to delete images goes to a registry that does not answer (ms). */
const ASK_AGAIN_MS = 5 * 60_000;

/** What cleaning up takes. */
export interface CleanUpDeps extends ImageBuildsDeps {
  readonly watches: BuildWatches;
  /** Whether this replica has shown it before. */
  readonly wasKnown: boolean;
  readonly signal: AbortSignal;
}

/** Deletes what it left. */
export async function cleanUp(name: string, deps: CleanUpDeps): Promise<ReconcileResult> {
  const { api, access, clock, events, log, watches, settings: { namespace }, signal } = deps;
  deps.metrics.removePool(name);
  if (deps.wasKnown) recordDeleted(events, name);
  const deletions = new Deletions();
  const outcome = await cleanUpConfig(name, {
    api,
    watches,
    namespace,
    openRegistries: (secrets) => openBuildRegistries(secrets, { access, clock, signal }),
    clock,
    signal,
    onImage: (reference, result) => {
      const fields = { config: name, reference, result: result.kind };
      if (result.kind === "unknown") {
        return log.warn("image builds: cannot delete an image, trying again", { ...fields, error: result.message });
      }
      log.info("image builds: deletion of an image", fields);
      deletions.note(reference, result);
    },
  });
  deletions.report(events, { name });
  return outcome === "done" ? DONE : requeueAfter(ASK_AGAIN_MS);
}

function recordDeleted(events: EventRecorder, name: string): void {
  const object = eventObjectOf(Resource.machineOsConfigs, { name });
  const message = "Its builds go, and their images once no node runs them.";
  events.record({ object, type: "Normal", reason: "ConfigDeleted", message });
}
