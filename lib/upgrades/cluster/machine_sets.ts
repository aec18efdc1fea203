// Clones of MachineSets, made and taken away. Each write names what it is about by name and uid, so that it has the same effect
// however often it is made, and whatever replica made it before.
import type { KubeApi } from "../../k8s/api.ts";
import { isConflict, isNotFound } from "../../k8s/errors.ts";
import { type KubeObject, Resource } from "../../k8s/types.ts";
import { MachineName } from "../names.ts";
import { cloneForSmoke } from "../decide/capacity/clone.ts";

const { namespace } = MachineName;

export async function createMachineSets(
  api: KubeApi,
  objects: readonly KubeObject[],
  signal: AbortSignal,
): Promise<void> {
  for (const object of objects) {
    try {
      await api.create(Resource.machineSets, object, { namespace, signal });
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }
}

/** Deletes them; one that is gone, or was made anew since it was read, is left out. */
export async function deleteMachineSets(
  api: KubeApi,
  sets: readonly { readonly name: string; readonly uid: string }[],
  signal: AbortSignal,
): Promise<void> {
  for (const { name, uid } of sets) {
    try {
      await api.delete(Resource.machineSets, { namespace, name }, { uid, signal });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }
}

export async function createSmokeMachineSet(api: KubeApi, template: string, signal: AbortSignal): Promise<void> {
  const source = await api.get(Resource.machineSets, { namespace, name: template }, signal);
  await createMachineSets(api, [cloneForSmoke(source)], signal);
}

/** Deletes the clone that proves a migration: every MachineSet that carries its label. */
export async function deleteSmokeMachineSets(api: KubeApi, signal: AbortSignal): Promise<void> {
  const labelSelector = `${MachineName.smokeLabel}=true`;
  const { items } = await api.list(Resource.machineSets, { namespace, labelSelector }, signal);
  await deleteMachineSets(api, items.map(({ metadata: { name, uid = "" } }) => ({ name, uid })), signal);
}
