// What can be chosen in the chart, and which part of manifests/ each choice stands for.

/** A choice: with these values the chart is that overlay, or the base with that component. */
export interface Feature {
  /** Expression over the values. */
  readonly condition: string;
  readonly values: Readonly<Record<string, unknown>>;
  /** Overlay instead of base. */
  readonly overlay?: string;
  readonly component?: string;
}

/** The namespace that the manifests are written for. */
export const NAMESPACE = "archway-system";

/** What the chart says where the Deployment has `extraArgs`. */
export const EXTRA_ARGUMENT = "--extra-args-of-the-chart";

/** A member of the Deployment that a user may set as a whole; unset it is as in manifests/. */
export interface Setting {
  readonly value: string;
  /** JSON pointer into the Deployment. */
  readonly path: string;
  /** Whether it is set in the Deployments of features, too: where pods may run is the same for all. */
  readonly isOfEvery: boolean;
}

const POD = "/spec/template/spec";

/** What every cluster has its own of. */
export const SETTINGS: readonly Setting[] = [
  { value: "imagePullSecrets", path: `${POD}/imagePullSecrets`, isOfEvery: true },
  { value: "nodeSelector", path: `${POD}/nodeSelector`, isOfEvery: true },
  { value: "resources", path: `${POD}/containers/0/resources`, isOfEvery: false },
  { value: "tolerations", path: `${POD}/tolerations`, isOfEvery: true },
];

/** What the chart says where the Deployment has the value. */
export function settingMark(value: string): string {
  return `--${value}-of-the-chart`;
}

/** In the order in which components are to be composed to give what the chart gives. */
export const FEATURES: readonly Feature[] = [
  ...["cert-manager", "gke"].map((variant) => ({
    condition: `eq .Values.variant "${variant}"`,
    values: { variant },
    overlay: `overlays/${variant}`,
  })),
  {
    condition: `eq .Values.variant "openshift"`,
    values: { variant: "openshift" },
    overlay: "overlays/openshift",
    // The chart does not own its namespace, so that only its user can lift what restricts it: nodeRegistryConfig.
    component: "components/no-node-registry-config",
  },
  { condition: ".Values.monitoring", values: { monitoring: true }, component: "monitoring" },
  {
    condition: `eq .Values.pullSecrets "own-namespace"`,
    values: { pullSecrets: "own-namespace" },
    component: "components/least-privilege",
  },
  {
    condition: `eq .Values.pullSecrets "none"`,
    values: { pullSecrets: "none" },
    component: "components/no-pull-secrets",
  },
  { condition: ".Values.prewarm", values: { prewarm: true }, component: "components/prewarm" },
  {
    condition: ".Values.liveArchitectures",
    values: { liveArchitectures: true },
    component: "components/live-architectures",
  },
  { condition: ".Values.archTaints", values: { archTaints: true }, component: "components/arch-taints" },
  { condition: ".Values.daemonsetsWarn", values: { daemonsetsWarn: true }, component: "components/daemonsets-warn" },
  { condition: ".Values.registryCa", values: { registryCa: true }, component: "components/registry-ca" },
  { condition: ".Values.registriesConf", values: { registriesConf: true }, component: "components/registries-conf" },
  {
    condition: ".Values.nodeRegistryConfig",
    values: { nodeRegistryConfig: true },
    component: "components/node-registry-config",
  },
  {
    condition: ".Values.execFormatErrors",
    values: { execFormatErrors: true },
    component: "components/exec-format-errors",
  },
  {
    condition: ".Values.execFormatRepair",
    values: { execFormatRepair: true },
    component: "components/exec-format-repair",
  },
  { condition: ".Values.imageBuilds", values: { imageBuilds: true }, component: "components/image-builds" },
  {
    condition: ".Values.imageBuildsAlerts",
    values: { imageBuildsAlerts: true },
    component: "components/image-builds-alerts",
  },
  { condition: ".Values.upgrades", values: { upgrades: true }, component: "components/upgrades" },
  { condition: ".Values.upgradesDrain", values: { upgradesDrain: true }, component: "components/upgrades-drain" },
  {
    condition: ".Values.upgradesMonitoring",
    values: { upgradesMonitoring: true },
    component: "components/upgrades-monitoring",
  },
  { condition: ".Values.migration", values: { migration: true }, component: "components/migration" },
];
