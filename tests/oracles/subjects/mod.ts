// All that is compared with an original.
import type { Subject } from "../subject.ts";
import { ARCHITECTURES } from "./architectures.ts";
import { BUILDER } from "./builder.ts";
import { BUILDS, DIGEST_MAPS } from "./builds.ts";
import { ACCEPTANCES, STATUSES, UPGRADEABLES } from "./cluster_versions.ts";
import { PLACEMENTS } from "./placements.ts";
import { POOLS } from "./pools.ts";
import { REQUESTS, SCHEDULES } from "./requests.ts";
import { SILENCES } from "./silences.ts";
import { VALIDATIONS } from "./validations.ts";

export const SUBJECTS: readonly Subject[] = [
  BUILDS,
  DIGEST_MAPS,
  POOLS,
  BUILDER,
  SILENCES,
  VALIDATIONS,
  REQUESTS,
  SCHEDULES,
  PLACEMENTS,
  ARCHITECTURES,
  ACCEPTANCES,
  UPGRADEABLES,
  STATUSES,
];
