// The cluster's and the node's own credentials, in one order. They are tried after the pod's own.
import type { Clock } from "../../clock.ts";
import type { Logger } from "../../log.ts";
import type { Credential, Keyring } from "../credential.ts";
import { openConfigFile } from "./config_file.ts";
import { openHelperKeyring } from "./credential_helpers.ts";
import { KubeletPlugins } from "./kubelet_plugins.ts";
import type { ImageLimits } from "../limits/image_limits.ts";
import { matchCredentials } from "./match.ts";
import type { CommandRunner } from "./run_command.ts";

export interface KeyringOptions {
  readonly dockerConfig?: string | undefined;
  readonly credentialProviderConfig?: string | undefined;
  readonly credentialProviderBinDir?: string | undefined;
  readonly extra: () => readonly Credential[];
  readonly helpers?: () => readonly string[];
  readonly limits: Pick<ImageLimits, "programs">;
  readonly log: Logger;
  readonly clock: Clock;
  readonly run: CommandRunner;
}

/** Opens the keyring. What is not configured is not called. Lookups never reject: a source that fails is logged once. */
export function openKeyring(options: KeyringOptions): Keyring {
  const { dockerConfig, credentialProviderConfig, credentialProviderBinDir, helpers, log, clock } = options;
  const run = limitProcesses(options.run, options.limits);
  const sources: readonly Keyring[] = [
    { lookup: (endpoint) => Promise.resolve(matchCredentials(options.extra(), endpoint)) },
    ...dockerConfig === undefined ? [] : [openConfigFile({ path: dockerConfig, log, clock, run })],
    ...helpers === undefined ? [] : [openHelperKeyring("registries.conf", { names: helpers, log, clock, run })],
    ...credentialProviderConfig === undefined || credentialProviderBinDir === undefined ? [] : [
      new KubeletPlugins({ configPath: credentialProviderConfig, binDir: credentialProviderBinDir, log, clock, run }),
    ],
  ];
  return {
    lookup: async (endpoint, signal) =>
      (await Promise.all(sources.map((source) => source.lookup(endpoint, signal)))).flat(),
  };
}

function limitProcesses(run: CommandRunner, { programs }: Pick<ImageLimits, "programs">): CommandRunner {
  // An answer serves the next caller, so a program that waits is run even when all callers have gone.
  const { signal } = new AbortController();
  return async (command) => {
    using _ = await programs.acquire(command.callers, signal);
    return await run(command);
  };
}
