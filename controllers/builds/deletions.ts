// Images that a registry keeps although they were to be deleted: reported once, because their deletion is not requested again.
import type { DeletionResult } from "../../lib/builds/cluster/delete_images.ts";
import { eventObjectOf } from "../../lib/k8s/event_input.ts";
import type { EventRecorder } from "../../lib/k8s/event_recorder.ts";
import { Resource } from "../../lib/k8s/types.ts";

const KEPT: Readonly<Partial<Record<DeletionResult["kind"], string>>> = {
  denied: "the push secret may not delete there",
  unsupported: "the registry deletes nothing",
  unknown: "the registry did not answer as it should",
};

export class Deletions {
  /** References by the reason for which they stay. */
  readonly #kept = new Map<string, string[]>();

  note(reference: string, result: DeletionResult): void {
    const why = whyKept(result);
    if (why !== undefined) this.#kept.set(why, [...this.#kept.get(why) ?? [], reference]);
  }

  report(events: EventRecorder, { name, uid }: { readonly name: string; readonly uid?: string | undefined }): void {
    if (this.#kept.size === 0) return;
    const kept = [...this.#kept].map(([why, references]) => `${references.join(", ")} (${why})`);
    const message = `Images stay in the registry: ${kept.join(", ")}. Delete them there.`;
    const object = eventObjectOf(Resource.machineOsConfigs, { name, ...uid === undefined ? {} : { uid } });
    events.record({ object, type: "Warning", reason: "ImageNotDeleted", message });
  }
}

/** Undefined where it does not stay, or is another one's. */
function whyKept(result: DeletionResult): string | undefined {
  if (result.kind !== "forbidden") return KEPT[result.kind];
  const right = "delete imagestreamtags.image.openshift.io";
  return `the account of image builds lacks the right to ${right} in the namespace "${result.namespace}"`;
}
