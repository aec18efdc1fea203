// What can be chosen in the chart, and which part of manifests/ each choice stands for.

/** A choice: with these values the chart is that overlay, or the base with that component. */
export interface Feature {
  readonly condition: string;
  readonly values: Readonly<Record<string, unknown>>;
  readonly overlay?: string;
  readonly component?: string;
}

export const NAMESPACE = "archway-system";

/** Stands for `extraArgs` in a rendered Deployment until the chart is written. */
export const EXTRA_ARGUMENT = "--extra-args-of-the-chart";

/** A member of the Deployment that a user may set as a whole; unset it is as in manifests/. */
interface Setting {
  readonly value: string;
  readonly path: string;
  /** Whether it is set in the Deployments of features, too: where pods may run is the same for all. */
  readonly isOfEvery: boolean;
}

const POD = "/spec/template/spec";

/** What differs from cluster to cluster. */
export const SETTINGS: readonly Setting[] = [
  { value: "imagePullSecrets", path: `${POD}/imagePullSecrets`, isOfEvery: true },
  { value: "nodeSelector", path: `${POD}/nodeSelector`, isOfEvery: true },
  { value: "resources", path: `${POD}/containers/0/resources`, isOfEvery: false },
  { value: "tolerations", path: `${POD}/tolerations`, isOfEvery: true },
];

/** Stands for a value in a rendered Deployment until the chart is written. */
export function placeholderOf(value: string): string {
  return `--${value}-of-the-chart`;
}

function enables(value: string, component: string): Feature {
  return { condition: `.Values.${value}`, values: { [value]: true }, component };
}

function chooses(value: string, choice: string, part: Pick<Feature, "overlay" | "component">): Feature {
  return { condition: `eq .Values.${value} "${choice}"`, values: { [value]: choice }, ...part };
}

/** In the order in which components are to be composed to give what the chart gives. */
export const FEATURES: readonly Feature[] = [
  chooses("variant", "cert-manager", { overlay: "overlays/cert-manager" }),
  chooses("variant", "gke", { overlay: "overlays/gke" }),
  // The chart does not own its namespace, so that only its user can lift what restricts it: nodeRegistryConfig.
  chooses("variant", "openshift", {
    overlay: "overlays/openshift",
    component: "components/no-node-registry-config",
  }),
  enables("monitoring", "monitoring"),
  chooses("pullSecrets", "own-namespace", { component: "components/least-privilege" }),
  chooses("pullSecrets", "none", { component: "components/no-pull-secrets" }),
  enables("prewarm", "components/prewarm"),
  enables("liveArchitectures", "components/live-architectures"),
  enables("archTaints", "components/arch-taints"),
  enables("daemonsetsWarn", "components/daemonsets-warn"),
  enables("registryCa", "components/registry-ca"),
  enables("registriesConf", "components/registries-conf"),
  enables("kueue", "components/kueue"),
  enables("nodeRegistryConfig", "components/node-registry-config"),
  enables("execFormatErrors", "components/exec-format-errors"),
  enables("execFormatRepair", "components/exec-format-repair"),
  enables("imageBuilds", "components/image-builds"),
  enables("imageBuildsAlerts", "components/image-builds-alerts"),
  enables("imageBuildsHold", "components/image-builds-hold"),
  enables("imageBuildsHoldWebhook", "components/image-builds-hold-webhook"),
  enables("upgrades", "components/upgrades"),
  enables("upgradesDrain", "components/upgrades-drain"),
  enables("upgradesMonitoring", "components/upgrades-monitoring"),
  enables("upgradesOriginalMetrics", "components/upgrades-original-metrics"),
  enables("migration", "components/migration"),
];
