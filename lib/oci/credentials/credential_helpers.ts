// Programs named `docker-credential-NAME`: the host on stdin; JSON, or exit code 1 when there is no login.
import * as z from "zod";
import type { Clock } from "../../clock.ts";
import type { Logger } from "../../log.ts";
import { parseJson } from "../files/formats.ts";
import type { Credential, Keyring, KeyringEndpoint } from "../credential.ts";
import { ReportOnce } from "../files/followed_file.ts";
import type { CommandRunner } from "./run_command.ts";
import { DOCKER_HUB, hostKey } from "../host_names.ts";
import type { Callers } from "../callers.ts";
import { SharedCalls } from "../shared_calls.ts";

interface HelperDeps {
  readonly log: Logger;
  readonly clock: Clock;
  readonly run: CommandRunner;
}

const TIMEOUT_MS = 10_000;
/** How long an answer is kept (ms): a burst of images runs the helper once, and a rotation is noticed soon. */
const FRESH_MS = 60_000;

const Answer = z.object({ Username: z.string(), Secret: z.string() });

export class CredentialHelpers {
  readonly #source: string;
  readonly #run: CommandRunner;
  readonly #report: ReportOnce;
  readonly #answers: SharedCalls<Credential | undefined>;

  constructor(source: string, { log, clock, run }: HelperDeps) {
    this.#source = source;
    this.#run = run;
    this.#report = new ReportOnce(log);
    this.#answers = new SharedCalls({ clock, keepMs: () => FRESH_MS, outlivesCallers: true });
  }

  /** A helper's credential for a host (a `hostKey`). Rejects only when the signal aborts; a failure is logged once. */
  ask(
    { helper, host, callers }: { readonly helper: string } & Omit<KeyringEndpoint, "repository">,
    signal: AbortSignal,
  ): Promise<Credential | undefined> {
    return this.#answers.run(
      JSON.stringify([helper, host]),
      { callers, signal },
      (allCallers) => this.#askProgram({ helper, host, callers: allCallers }),
    );
  }

  clear(): void {
    this.#answers.clear();
  }

  async #askProgram(
    { helper, host, callers }: { readonly helper: string; readonly host: string; readonly callers: Callers },
  ): Promise<Credential | undefined> {
    const program = `docker-credential-${helper}`;
    const report = this.#report;
    const source = `${this.#source} helper ${helper}`;
    // Credential stores keep Docker Hub's login under this URL.
    const stdin = host === DOCKER_HUB ? "https://index.docker.io/v1/" : host;
    const outcome = await this.#run({ program, args: ["get"], env: {}, stdin, timeoutMs: TIMEOUT_MS, callers });
    if (outcome.kind === "failed") {
      report.warn(program, outcome.message);
      return undefined;
    }
    if (outcome.code !== 0) {
      if (!/not found/i.test(outcome.stdout)) report.warn(program, `ended with exit code ${outcome.code}`);
      return undefined;
    }
    const document = parseJson(outcome.stdout);
    const answer = Answer.safeParse(document.kind === "parsed" ? document.value : undefined);
    if (!answer.success) {
      report.warn(program, "gave no readable answer");
      return undefined;
    }
    report.clear(program);
    const { Username: username, Secret: secret } = answer.data;
    if (username === "<token>") return { scope: host, source, secret: { kind: "identity", token: secret } };
    return username === "" ? undefined : { scope: host, source, secret: { kind: "basic", username, password: secret } };
  }
}

/** A keyring of helpers for every host, such as those of registries.conf. They run in parallel; answers keep order. */
export function openHelperKeyring(
  source: string,
  { names, ...parts }: HelperDeps & { readonly names: () => readonly string[] },
): Keyring {
  const helpers = new CredentialHelpers(source, parts);
  return {
    credentialsFor: async ({ callers, ...endpoint }, signal) => {
      const host = hostKey(endpoint.host);
      const found = await Promise.all(names().map((helper) => helpers.ask({ helper, host, callers }, signal)));
      return found.filter((credential) => credential !== undefined);
    },
  };
}

/** A helper's name becomes part of a program's name: it must not hold a path. */
export function isHelperName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name);
}
