// A mounted docker `config.json`: its entries, and the helpers that it sends hosts to. Opened by keyring.ts.
import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { Clock } from "../../clock.ts";
import type { Logger } from "../../log.ts";
import { parseJson } from "../config/documents.ts";
import { LastGood, renderProblem } from "../config/last_good.ts";
import { ok, type Parsed, type Problem } from "../config/problem.ts";
import { haveChanged, openFileReader } from "../config/read_files.ts";
import type { Credential, Keyring } from "../types.ts";
import { parseDockerAuths } from "./docker_config.ts";
import { matchCredentials } from "./match.ts";
import { ReportOnce } from "./report_once.ts";
import type { CommandRunner } from "./run_command.ts";
import { canonicalHost, DOCKER_HUB } from "./scope.ts";
import { awaitShared } from "./shared_answer.ts";

interface DockerConfig {
  readonly credentials: readonly Credential[];
  /** Host → helper. */
  readonly helpers: ReadonlyMap<string, string>;
  /** Helper for every other host. */
  readonly store: string | undefined;
}

const EMPTY: DockerConfig = { credentials: [], helpers: new Map(), store: undefined };
const SOURCE = "config.json";
const HELPER_TIMEOUT_MS = 10_000;
/** A helper's answer is good for this long: a burst of images asks once, a rotation is seen soon. */
const HELPER_FRESH_MS = 60_000;

const Document = z.object({
  auths: z.unknown().optional(),
  credHelpers: z.record(z.string(), z.string()).catch({}).optional(),
  credsStore: z.string().optional().catch(undefined),
});
const HelperAnswer = z.object({ Username: z.string(), Secret: z.string() });

/** Opens the file. It is read again when it changes; a broken edit is logged once and the last good content stays. */
export function openConfigFile(options: {
  readonly path: string;
  readonly log: Logger;
  readonly clock: Clock;
  readonly run: CommandRunner;
}): Keyring {
  const { path, log, clock, run } = options;
  const content = new LastGood<DockerConfig>();
  const report = new ReportOnce(log);
  const answers = new LRUCache<string, { readonly untilMs: number; readonly answer: Promise<Credential | undefined> }>({
    max: 1_000,
  });
  let touched: ReadonlyMap<string, string> = new Map([[path, "never read"]]);
  let config = EMPTY;

  function refresh(): DockerConfig {
    if (!haveChanged(touched)) return config;
    const files = openFileReader();
    const problems: Problem[] = [];
    const found = content.read(path, {
      files,
      problems: { add: (problem) => problems.push(problem) },
      parse: parseConfigFile,
      place: "named",
    });
    if (found.kind === "missing") problems.push({ file: path, message: "is missing" });
    problems.forEach((problem) => report.tell("docker config", renderProblem(problem)));
    touched = files.touched;
    config = found.kind === "value" ? found.value : EMPTY;
    answers.clear();
    return config;
  }

  function ask(helper: string, host: string): Promise<Credential | undefined> {
    const key = `${helper} ${host}`;
    const known = answers.get(key);
    if (known !== undefined && clock.monotonicMs() < known.untilMs) return known.answer;
    const answer = askHelper({ helper, host, run, report });
    answers.set(key, { untilMs: clock.monotonicMs() + HELPER_FRESH_MS, answer });
    return answer;
  }

  return {
    lookup: async (endpoint, signal) => {
      const { credentials, helpers, store } = refresh();
      const host = canonicalHost(endpoint.host);
      const helper = helpers.get(host) ?? store;
      const fromHelper = helper === undefined ? undefined : await awaitShared(ask(helper, host), signal);
      return [...fromHelper === undefined ? [] : [fromHelper], ...matchCredentials(credentials, endpoint)];
    },
  };
}

/** Parses the file's content. Entries that cannot be read are warnings. */
export function parseConfigFile(text: string): Parsed<DockerConfig> {
  const document = parseJson(text);
  if (document.kind === "broken") return document;
  const parsed = Document.safeParse(document.value);
  if (!parsed.success) return { kind: "broken", fault: { message: "not an object" } };
  const { auths, credHelpers = {}, credsStore } = parsed.data;
  const entries = parseDockerAuths(auths ?? {}, SOURCE);
  if (entries.kind === "skipped") return { kind: "broken", fault: { message: "its auths are not an object" } };
  const named = Object.entries(credHelpers).filter(([, helper]) => isHelperName(helper));
  const warnings = entries.problems.map((message) => ({ message }));
  const helpers = new Map(named.map(([host, helper]) => [canonicalHost(bareHost(host)), helper]));
  const store = credsStore !== undefined && isHelperName(credsStore) ? credsStore : undefined;
  return ok({ credentials: entries.credentials, helpers, store }, warnings);
}

/** A helper's name becomes part of a program's name; it must not lead elsewhere. */
function isHelperName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name);
}

function bareHost(key: string): string {
  return key.replace(/^https?:\/\//, "").replace(/\/.*$/, "");
}

/** Asks `docker-credential-NAME get`. The protocol: the host on stdin; JSON, or exit code 1 when it has none. */
async function askHelper(options: {
  readonly helper: string;
  readonly host: string;
  readonly run: CommandRunner;
  readonly report: ReportOnce;
}): Promise<Credential | undefined> {
  const { helper, host, run, report } = options;
  const program = `docker-credential-${helper}`;
  // Docker Hub has its own name in credential stores.
  const stdin = host === DOCKER_HUB ? "https://index.docker.io/v1/" : host;
  const outcome = await run({ program, args: ["get"], env: {}, stdin, timeoutMs: HELPER_TIMEOUT_MS });
  if (outcome.kind === "failed") {
    report.tell(program, outcome.message);
    return undefined;
  }
  if (outcome.code !== 0) {
    if (!/not found/i.test(outcome.stdout)) report.tell(program, `ended with exit code ${outcome.code}`);
    return undefined;
  }
  const document = parseJson(outcome.stdout);
  const answer = HelperAnswer.safeParse(document.kind === "ok" ? document.value : undefined);
  if (!answer.success) {
    report.tell(program, "gave no readable answer");
    return undefined;
  }
  report.settle(program);
  const { Username: username, Secret: secret } = answer.data;
  const source = `${SOURCE} helper ${helper}`;
  if (username === "<token>") return { scope: host, source, secret: { kind: "identity", token: secret } };
  return username === "" ? undefined : { scope: host, source, secret: { kind: "basic", username, password: secret } };
}
