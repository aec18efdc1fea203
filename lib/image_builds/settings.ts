// What a user configures about image builds.
/** What a user configures. */
export interface BuildSettings {
  /** Where Jobs and what belongs to them are. */
  readonly namespace: string;
  /** Image and program of the build; empty command: the script of this project with `buildah`. */
  readonly builder: { readonly image: string; readonly command: readonly string[] };
  /** Image and program that hands the digest over. */
  readonly digestWriter: { readonly image: string; readonly command: readonly string[] };
  readonly serviceAccount: string;
  /** Resource requests of the building container, as `{cpu: "1"}`. */
  readonly requests: Readonly<Record<string, string>>;
  readonly jobDeadlineSeconds: number;
  readonly schedulingTimeoutMs: number;
  readonly retainMs: number;
  readonly retainImages: number;
  /** Architectures built at a time; 0: all. */
  readonly maxParallel: number;
  readonly alwaysIndex: boolean;
  readonly tolerateDedicated: boolean;
  readonly cancelSiblings: boolean;
  readonly autoResume: boolean;
}

/** The defaults of the settings. Image and namespace have none. */
export const DEFAULT_SETTINGS: Omit<BuildSettings, "builder" | "digestWriter"> = {
  namespace: "openshift-machine-config-operator",
  serviceAccount: "machine-os-builder",
  requests: {},
  jobDeadlineSeconds: 5_400,
  schedulingTimeoutMs: 15 * 60_000,
  retainMs: 60 * 60_000,
  retainImages: 2,
  maxParallel: 0,
  alwaysIndex: false,
  tolerateDedicated: true,
  cancelSiblings: false,
  autoResume: false,
};
