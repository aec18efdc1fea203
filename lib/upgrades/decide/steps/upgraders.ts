// The three ways to upgrade, as lists of steps.
import type { UpgradeType } from "../types/plan.ts";
import type { Step, Upgrader } from "../types/steps.ts";
import { CHECK_HEALTH_AFTER, POST_UPGRADE, SEND_COMPLETED } from "./after.ts";
import {
  CHECK_DELAY,
  CHECK_DEPENDENCIES,
  CHECK_HEALTH,
  CHECK_UPGRADEABLE,
  RESERVE_CAPACITY,
  SEND_STARTED,
} from "./before.ts";
import {
  AWAIT_CONTROL_PLANE,
  CLOSE_CONTROL_PLANE_WINDOW,
  COMMENCE,
  OPEN_CONTROL_PLANE_WINDOW,
} from "./control_plane.ts";
import {
  AWAIT_MIGRATED_CONTROL_PLANE,
  AWAIT_MIGRATED_NODES,
  PROVE_OTHER_ARCHITECTURE,
  SEND_MIGRATED,
  VERIFY_ARCHITECTURE,
} from "./migration_after.ts";
import { CHECK_PAYLOAD, CHECK_PRECONDITIONS, RECORD_BASELINE } from "./migration_before.ts";
import { AWAIT_WORKERS, CLOSE_WORKER_WINDOW, OPEN_WORKER_WINDOW, RELEASE_CAPACITY } from "./workers.ts";

const OSD: readonly Step[] = [
  SEND_STARTED,
  CHECK_DELAY,
  CHECK_UPGRADEABLE,
  CHECK_HEALTH,
  CHECK_DEPENDENCIES,
  RESERVE_CAPACITY,
  OPEN_CONTROL_PLANE_WINDOW,
  COMMENCE,
  AWAIT_CONTROL_PLANE,
  CLOSE_CONTROL_PLANE_WINDOW,
  OPEN_WORKER_WINDOW,
  AWAIT_WORKERS,
  RELEASE_CAPACITY,
  CLOSE_WORKER_WINDOW,
  CHECK_HEALTH_AFTER,
  POST_UPGRADE,
  SEND_COMPLETED,
];

const NOT_FOR_ARO: readonly Step[] = [CHECK_DELAY, CHECK_UPGRADEABLE, POST_UPGRADE];

const MIGRATION: readonly Step[] = [
  SEND_STARTED,
  CHECK_HEALTH,
  CHECK_PRECONDITIONS,
  CHECK_PAYLOAD,
  RECORD_BASELINE,
  RESERVE_CAPACITY,
  OPEN_CONTROL_PLANE_WINDOW,
  COMMENCE,
  AWAIT_MIGRATED_CONTROL_PLANE,
  CLOSE_CONTROL_PLANE_WINDOW,
  OPEN_WORKER_WINDOW,
  AWAIT_MIGRATED_NODES,
  RELEASE_CAPACITY,
  CLOSE_WORKER_WINDOW,
  VERIFY_ARCHITECTURE,
  PROVE_OTHER_ARCHITECTURE,
  CHECK_HEALTH_AFTER,
  SEND_MIGRATED,
];

export const UPGRADERS: Readonly<Record<Upgrader["name"], Upgrader>> = {
  OSD: { name: "OSD", steps: OSD, hasWindow: true },
  ARO: { name: "ARO", steps: OSD.filter((step) => !NOT_FOR_ARO.includes(step)), hasWindow: false },
  "multiarch-migration": { name: "multiarch-migration", steps: MIGRATION, hasWindow: true },
};

export function upgraderFor(profile: "type" | "multiarch-migration", type: UpgradeType): Upgrader {
  return UPGRADERS[profile === "type" ? type : profile];
}

const STEPS: ReadonlyMap<string, Step> = new Map([...OSD, ...MIGRATION].map((step) => [step.id, step]));

/** The step whose condition has this type; undefined if no step has. */
export function stepOf(id: string): Step | undefined {
  return STEPS.get(id);
}
