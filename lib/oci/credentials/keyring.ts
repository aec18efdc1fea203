// The cluster's and the node's own credentials, in one order. They are tried after the pod's own.
import type { Clock } from "../../clock.ts";
import type { Logger } from "../../log.ts";
import type { Credential, Keyring } from "../credential.ts";
import { openConfigFile } from "./config_file.ts";
import { openHelperKeyring } from "./credential_helpers.ts";
import { KubeletPlugins } from "./kubelet_plugins.ts";
import type { WorkLimits } from "../limits/work_limits.ts";
import { matchCredentials } from "./match.ts";
import type { CommandRunner } from "./run_command.ts";

export interface KeyringOptions {
  readonly dockerConfig?: string | undefined;
  readonly credentialProviderConfig?: string | undefined;
  readonly credentialProviderBinDir?: string | undefined;
  readonly extra: () => readonly Credential[];
  readonly helpers?: () => readonly string[];
  readonly limits: Pick<WorkLimits, "programs">;
  readonly log: Logger;
  readonly clock: Clock;
  readonly run: CommandRunner;
}

/** Opens the configured sources. Lookups reject only when the signal aborts; a failing source is logged once. */
export function openKeyring(options: KeyringOptions): Keyring {
  const { dockerConfig, credentialProviderConfig, credentialProviderBinDir, helpers, log, clock } = options;
  const run = limitProcesses(options.run, options.limits);
  const sources: readonly Keyring[] = [
    { credentialsFor: (endpoint) => Promise.resolve(matchCredentials(options.extra(), endpoint)) },
    ...dockerConfig === undefined ? [] : [openConfigFile({ path: dockerConfig, log, clock, run })],
    ...helpers === undefined ? [] : [openHelperKeyring("registries.conf", { names: helpers, log, clock, run })],
    ...credentialProviderConfig === undefined || credentialProviderBinDir === undefined ? [] : [
      new KubeletPlugins({ configPath: credentialProviderConfig, binDir: credentialProviderBinDir, log, clock, run }),
    ],
  ];
  return {
    credentialsFor: async (endpoint, signal) =>
      (await Promise.all(sources.map((source) => source.credentialsFor(endpoint, signal)))).flat(),
  };
}

function limitProcesses(run: CommandRunner, { programs }: Pick<WorkLimits, "programs">): CommandRunner {
  // The answer serves the next caller, so a queued program runs even when all callers have left.
  const { signal } = new AbortController();
  return async (command) => {
    using _ = await programs.acquire(command.callers, signal);
    return await run(command);
  };
}
