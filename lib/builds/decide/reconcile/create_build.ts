// The MachineOSBuild of a plan.
import { isTrue } from "../../../cluster/condition.ts";
import type { BuildEvent, Effect } from "../effects.ts";
import { setOf } from "../detect/detect.ts";
import type { OwnerReference } from "../../../k8s/types.ts";
import { buildLabels } from "../job/metadata.ts";
import type { MachineOSBuild } from "../observed.ts";
import type { ArchSet, BuildPlan } from "../types.ts";
import {
  ArchwayAnnotation,
  BLOCKING_POOL_CONDITIONS,
  FOREGROUND_DELETION,
  MCO_API_VERSION,
  McoAnnotation,
} from "../names.ts";
import type { BuildFacts } from "../facts.ts";
import { normal, type Part, part, type Scope } from "./part.ts";

export function blockingCondition({ pool }: Pick<BuildFacts, "pool">): string | undefined {
  return BLOCKING_POOL_CONDITIONS.find((type) => isTrue(pool?.conditions ?? [], type));
}

/** Creates it. `forced`: architectures that are built anew; `labels`: besides those of every build. */
export function createBuild(
  { facts, plan }: Pick<Scope, "facts" | "plan">,
  forced: ArchSet,
  labels: Readonly<Record<string, string>> = {},
): Part {
  const { config } = facts;
  const effect: Effect = {
    kind: "create build",
    build: {
      apiVersion: MCO_API_VERSION,
      kind: "MachineOSBuild",
      metadata: {
        name: plan.name,
        labels: { ...buildLabels(plan), ...labels },
        finalizers: [FOREGROUND_DELETION],
        annotations: {
          [McoAnnotation.pushSecret]: config.pushSecret,
          ...(plan.mode === "index" ? { [ArchwayAnnotation.indexOf]: plan.set.join(",") } : {}),
          ...(forced.length === 0 ? {} : { [ArchwayAnnotation.forced]: forced.join(",") }),
        },
        ownerReferences: [ownedByConfig(config)],
      },
      spec: {
        machineConfig: { name: plan.rendered },
        machineOSConfig: { name: plan.config },
        renderedImagePushSpec: `${plan.repository}:${plan.name}`,
      },
    },
  };
  const message = `Build "${plan.name}" for ${plan.set.join(", ")} of pool "${plan.pool}".`;
  const event = normal(["config", plan.config], "BuildStarted", message);
  return part({ effects: [effect], events: [...poolChange(facts, plan), event] });
}

export function forcedOf({ meta }: MachineOSBuild): ArchSet {
  return setOf((meta.annotations[ArchwayAnnotation.forced] ?? "").split(","));
}

/** The pool is to run another configuration than the build in use is of. */
function poolChange({ config, builds }: BuildFacts, { pool, rendered }: BuildPlan): readonly BuildEvent[] {
  const current = builds.find(({ meta }) => meta.name === config.status.build);
  if (current === undefined || current.rendered === rendered) return [];
  const message = `Pool "${pool}" is to run "${rendered}", before "${current.rendered}".`;
  return [normal(["pool", pool], "PoolConfigChanged", message)];
}

function ownedByConfig({ meta: { name, uid } }: BuildFacts["config"]): OwnerReference {
  const owner = { apiVersion: MCO_API_VERSION, kind: "MachineOSConfig", name, uid };
  return { ...owner, controller: true, blockOwnerDeletion: true };
}
