// A mounted docker `config.json`: its entries and its credential helpers.
import * as z from "zod";
import type { Clock } from "../../clock.ts";
import type { Logger } from "../../log.ts";
import { parseAs, parseJson } from "../files/formats.ts";
import { asParsed, type Parsed } from "../../parsed.ts";
import type { Credential, Keyring } from "../credential.ts";
import { parseDockerAuths } from "./docker_config.ts";
import { CredentialHelpers, isHelperName } from "./credential_helpers.ts";
import { matchCredentials } from "./match.ts";
import { followFile, ReportOnce } from "../files/followed_file.ts";
import type { CommandRunner } from "./run_command.ts";
import { hostKey } from "../host_names.ts";
import { bareHost } from "./scope.ts";

interface DockerConfig {
  readonly credentials: readonly Credential[];
  readonly helpers: ReadonlyMap<string, string>;
  readonly store: string | undefined;
}

const EMPTY: DockerConfig = { credentials: [], helpers: new Map(), store: undefined };
const SOURCE = "config.json";

const Document = z.object({
  auths: z.unknown().optional(),
  credHelpers: z.record(z.string(), z.string()).catch({}).optional(),
  credsStore: z.string().optional().catch(undefined),
});

/** Opens the file and rereads it when it changes. A broken edit is logged, and the last good content stays. */
export function openConfigFile(options: {
  readonly path: string;
  readonly log: Logger;
  readonly clock: Clock;
  readonly run: CommandRunner;
}): Keyring {
  const { path, log, clock, run } = options;
  const credentialHelpers = new CredentialHelpers(SOURCE, { log, clock, run });
  const refresh = followFile({
    path,
    parse: parseConfigFile,
    empty: EMPTY,
    name: "docker config",
    report: new ReportOnce(log),
    onChange: () => credentialHelpers.clear(),
  });
  return {
    credentialsFor: async (endpoint, signal) => {
      const { credentials, helpers, store } = refresh();
      const host = hostKey(endpoint.host);
      const helper = helpers.get(host) ?? store;
      const fromHelper = helper === undefined
        ? undefined
        : await credentialHelpers.ask({ helper, host, callers: endpoint.callers }, signal);
      return [...fromHelper === undefined ? [] : [fromHelper], ...matchCredentials(credentials, endpoint)];
    },
  };
}

export function parseConfigFile(text: string): Parsed<DockerConfig> {
  const parsed = parseAs(Document, parseJson(text), text, () => "not an object");
  if (parsed.kind === "unparsable") return parsed;
  const { auths, credHelpers = {}, credsStore } = parsed.value;
  const entries = parseDockerAuths(auths ?? {}, SOURCE);
  if (entries.kind === "unparsable") return entries;
  const named = Object.entries(credHelpers).filter(([, helper]) => isHelperName(helper));
  const helpers = new Map(named.map(([host, helper]) => [hostKey(bareHost(host)), helper]));
  const store = credsStore !== undefined && isHelperName(credsStore) ? credsStore : undefined;
  return asParsed({ credentials: entries.value, helpers, store }, entries.warnings);
}
