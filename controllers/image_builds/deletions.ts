// Images that a registry keeps although they were to be deleted: reported once, because their deletion is not requested again.
import type { DeletionResult } from "../../lib/building/delete_image.ts";
import type { EventRecorder } from "../../lib/k8s/event_recorder.ts";
import { apiVersionOf, Resource } from "../../lib/k8s/types.ts";

const KEPT: Readonly<Partial<Record<DeletionResult["kind"], string>>> = {
  denied: "the push secret may not delete there",
  unsupported: "the registry deletes nothing",
  unknown: "the registry did not answer as it should",
};

/** Collects what became of deletions, and reports those that were none. */
export class Deletions {
  readonly #kept: string[] = [];

  /** Notes one. */
  note(reference: string, result: DeletionResult): void {
    const why = KEPT[result.kind];
    if (why !== undefined) this.#kept.push(`${reference} (${why})`);
  }

  /** One event on the MachineOSConfig, if anything was kept. */
  report(events: EventRecorder, { name, uid }: { readonly name: string; readonly uid?: string | undefined }): void {
    if (this.#kept.length === 0) return;
    const { kind } = Resource.machineOsConfigs;
    const object = { apiVersion: apiVersionOf(Resource.machineOsConfigs), kind, name };
    const message = `Images stay in the registry: ${this.#kept.join(", ")}. Delete them there.`;
    events.record({
      object: uid === undefined ? object : { ...object, uid },
      type: "Warning",
      reason: "ImageNotDeleted",
      message,
    });
  }
}
