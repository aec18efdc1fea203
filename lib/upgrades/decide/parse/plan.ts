// Reads an UpgradeConfig. The schema of its CRD has checked it before; what is missing all the same gets the meaning of
// the original.
import { isObject, type JsonObject, listAt, memberOf, objectAt, textAt } from "../../../json.ts";
import type { KubeObject } from "../../../k8s/types.ts";
import {
  type CapacitySettings,
  DRAIN_MODES,
  parseDeliveries,
  parseStatus,
  type SmokeSettings,
  type UpgradeConfig,
  type UpgradeSpec,
} from "../types/plan.ts";

const SMOKE_MINUTES = 15;

export function parsePlan({ metadata, spec, status }: KubeObject): UpgradeConfig {
  return {
    namespace: metadata.namespace ?? "",
    name: metadata.name,
    uid: metadata.uid ?? "",
    resourceVersion: metadata.resourceVersion ?? "",
    generation: metadata.generation ?? 0,
    spec: parseSpec(spec),
    status: parseStatus(status),
    deliveries: parseDeliveries(status),
  };
}

export function parseSpec(spec: unknown): UpgradeSpec {
  const desired = objectAt(spec, "desired");
  return {
    desired: {
      version: textAt(desired, "version"),
      channel: textAt(desired, "channel"),
      image: textAt(desired, "image"),
      architecture: textAt(desired, "architecture") === "Multi" ? "Multi" : "",
    },
    upgradeAt: textAt(spec, "upgradeAt"),
    pdbForceDrainTimeoutMinutes: numberAt(spec, "PDBForceDrainTimeout") ?? 0,
    type: textAt(spec, "type") === "ARO" ? "ARO" : "OSD",
    capacity: parseCapacity(objectAt(spec, "capacity"), memberOf(spec, "capacityReservation") === true),
    suspend: memberOf(spec, "suspend") === true,
    drainMode: DRAIN_MODES.find((mode) => mode === textAt(objectAt(spec, "drain"), "mode")),
    smoke: parseSmoke(objectAt(spec, "smoke")),
  };
}

function parseCapacity(capacity: JsonObject | undefined, isReserved: boolean): CapacitySettings {
  const enabled = memberOf(capacity, "enabled");
  return {
    enabled: typeof enabled === "boolean" ? enabled : isReserved,
    pools: listAt(capacity, "pools")?.filter((pool) => typeof pool === "string"),
    timeoutMinutes: numberAt(capacity, "timeoutMinutes"),
    onTimeout: textAt(capacity, "onTimeout") === "Fail" ? "Fail" : "Continue",
  };
}

function parseSmoke(smoke: JsonObject | undefined): SmokeSettings | undefined {
  const machineSetTemplate = textAt(smoke, "machineSetTemplate");
  if (machineSetTemplate === "") return undefined;
  return { machineSetTemplate, timeoutMinutes: numberAt(smoke, "timeoutMinutes") ?? SMOKE_MINUTES };
}

function numberAt(object: unknown, name: string): number | undefined {
  const member = isObject(object) ? memberOf(object, name) : undefined;
  return typeof member === "number" ? member : undefined;
}
