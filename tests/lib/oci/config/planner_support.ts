// A planner on a temporary directory.
import { systemClock } from "../../../../lib/clock.ts";
import type { LogFields } from "../../../../lib/log.ts";
import type { ConnectionSettings } from "../../../../lib/oci/endpoint.ts";
import { openPullPlanner, type PullPlanner } from "../../../../lib/oci/config/planner.ts";
import { keepLog } from "../../../support/logs.ts";

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

type Given = Parameters<typeof openPullPlanner>[0];

/** Nothing is where container tools keep it, but what is given. */
export function systemWith(more: Partial<Given["system"]> = {}): Given["system"] {
  return {
    registriesConf: "/none/registries.conf",
    policy: "/none/policy.json",
    certsDirs: [],
    aliasCaches: [],
    ...more,
  };
}

interface TestPlanner extends PullPlanner {
  /** What it has logged of files. */
  problems(): readonly LogFields[];
}

export function openPlanner(
  { log = keepLog(), ...given }: Omit<Partial<Given>, "log"> & { readonly log?: ReturnType<typeof keepLog> },
): TestPlanner {
  const nothing = { registry: [], registryCa: [], insecureRegistry: [], system: systemWith() };
  const planner = openPullPlanner({ ...nothing, log, clock: systemClock, ...given });
  const warnings = () => log.lines.filter(({ level }) => level === "warn");
  return { ...planner, problems: () => warnings().map(({ fields }) => fields) };
}

/** How the first endpoint of an image is reached. */
export function connectionOf(planner: PullPlanner, image: string): ConnectionSettings | undefined {
  const plan = planner.plan(image);
  return plan.kind === "endpoints" ? plan.endpoints[0]?.connection : undefined;
}

export function planned(planner: PullPlanner, image: string): readonly string[] | string {
  const plan = planner.plan(image);
  return plan.kind === "refused"
    ? `${plan.failure.reason}: ${plan.failure.message}`
    : plan.endpoints.map(({ host, repository }) => `${host}/${repository}`);
}
