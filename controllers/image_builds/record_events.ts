// The events of a decision, on the objects that they are about.
import type { BuildEvent } from "../../lib/image_builds/effects.ts";
import type { BuildFacts } from "../../lib/image_builds/facts.ts";
import { eventObjectOf } from "../../lib/k8s/event_input.ts";
import type { EventRecorder } from "../../lib/k8s/event_recorder.ts";
import { Resource, type ResourceType } from "../../lib/k8s/types.ts";

const KINDS: Readonly<Record<BuildEvent["on"], ResourceType>> = {
  config: Resource.machineOsConfigs,
  build: Resource.machineOsBuilds,
  pool: Resource.machineConfigPools,
};

/** Records them; an object that is gone has none. */
export function recordEvents(recorder: EventRecorder, facts: BuildFacts, events: readonly BuildEvent[]): void {
  for (const { on, name, type, reason, message } of events) {
    const uid = uidOf(facts, { on, name });
    const object = eventObjectOf(KINDS[on], { name, ...uid === undefined ? {} : { uid } });
    recorder.record({ object, type, reason, message });
  }
}

function uidOf(
  { config, pool, builds }: BuildFacts,
  { on, name }: Pick<BuildEvent, "on" | "name">,
): string | undefined {
  if (on === "config") return config.meta.uid;
  if (on === "pool") return pool?.meta.uid;
  return builds.find(({ meta }) => meta.name === name)?.meta.uid;
}
