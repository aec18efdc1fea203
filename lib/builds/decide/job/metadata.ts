// Labels and annotations of what belongs to a build.
import type { ObjectMeta, OwnerReference } from "../../../k8s/types.ts";
import type { MachineOSBuild } from "../observed.ts";
import { SHORT_KEY } from "../plan/build_keys.ts";
import type { ArchPlan, BuildPlan } from "../types.ts";
import { ArchwayAnnotation, BuildLabel, MCO_API_VERSION, MCO_GROUP, McoAnnotation } from "../names.ts";
import type { BuildFacts } from "../facts.ts";

export function buildLabels({ pool, rendered, config }: BuildPlan): Readonly<Record<string, string>> {
  return { [BuildLabel.pool]: pool, [BuildLabel.rendered]: rendered, [BuildLabel.config]: config };
}

/** Labels of everything that belongs to a build; with an architecture also those of what belongs to it alone. */
export function childLabels(plan: BuildPlan, arch?: ArchPlan): Readonly<Record<string, string>> {
  return {
    [BuildLabel.layering]: "",
    [BuildLabel.ephemeral]: "",
    ...buildLabels(plan),
    [BuildLabel.build]: plan.name,
    ...(arch === undefined || plan.mode === "single" ? {} : {
      [BuildLabel.arch]: arch.arch,
      [BuildLabel.buildKey]: arch.buildKey.slice(0, SHORT_KEY),
    }),
  };
}

export function childMeta(
  name: string,
  plan: BuildPlan,
  { optional, settings: { namespace } }: Pick<BuildFacts, "optional" | "settings">,
  arch?: ArchPlan,
): ObjectMeta {
  return {
    name,
    namespace,
    labels: childLabels(plan, arch),
    annotations: {
      [McoAnnotation.build]: plan.name,
      [McoAnnotation.config]: plan.config,
      ...Object.fromEntries(optional.map(({ volume }) => [`${MCO_GROUP}/has-${volume}`, ""])),
      ...(arch === undefined || plan.mode === "single"
        ? {}
        : { [ArchwayAnnotation.build]: plan.name, [ArchwayAnnotation.buildKey]: arch.buildKey }),
    },
  };
}

export function ownedBy({ meta: { name, uid } }: Pick<MachineOSBuild, "meta">): OwnerReference {
  return { apiVersion: MCO_API_VERSION, kind: "MachineOSBuild", name, uid, controller: true, blockOwnerDeletion: true };
}
