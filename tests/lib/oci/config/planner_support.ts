// A planner on a temporary directory, with a log that is kept.
import type { Clock } from "../../../../lib/clock.ts";
import { systemClock } from "../../../../lib/clock.ts";
import type { LogFields, Logger } from "../../../../lib/log.ts";
import { openPullPlanner, type PullPlannerHandle } from "../../../../lib/oci/config/planner.ts";

export interface TestFolder extends Disposable {
  readonly path: string;
  write(name: string, text: string): string;
}

export function makeFolder(files: Readonly<Record<string, string>> = {}): TestFolder {
  const path = Deno.makeTempDirSync();
  const write = (name: string, text: string): string => {
    const file = `${path}/${name}`;
    Deno.mkdirSync(file.replace(/\/[^/]*$/, ""), { recursive: true });
    Deno.writeTextFileSync(file, text);
    return file;
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  return { path, write, [Symbol.dispose]: () => Deno.removeSync(path, { recursive: true }) };
}

export function keepLog(): Logger & {
  readonly lines: readonly { readonly message: string; readonly fields: LogFields }[];
} {
  const lines: { message: string; fields: LogFields }[] = [];
  const keep = (message: string, fields: LogFields = {}): void => {
    lines.push({ message, fields });
  };
  const logger = { lines, debug: keep, info: keep, warn: keep, error: keep, with: () => logger };
  return logger;
}

export function openPlanner(
  given: Partial<Parameters<typeof openPullPlanner>[0]> & { readonly log?: Logger; readonly clock?: Clock },
): PullPlannerHandle {
  return openPullPlanner({
    registry: [],
    registryCa: [],
    insecureRegistry: [],
    system: {
      registriesConf: "/nonexistent/registries.conf",
      policy: "/nonexistent/policy.json",
      certsDirs: [],
      aliasCaches: [],
    },
    log: keepLog(),
    clock: systemClock,
    ...given,
  });
}

export function planned(planner: PullPlannerHandle, image: string): readonly string[] | string {
  const plan = planner.plan(image);
  return plan.kind === "refused"
    ? `${plan.failure.reason}: ${plan.failure.message}`
    : plan.endpoints.map(({ host, repository }) => `${host}/${repository}`);
}
