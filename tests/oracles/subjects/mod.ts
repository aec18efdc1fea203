// All that is compared with an original.
import type { Subject } from "../subject.ts";
import { BUILDS, DIGEST_MAPS } from "./builds.ts";

export const SUBJECTS: readonly Subject[] = [BUILDS, DIGEST_MAPS];
