// Archway's image inspection as its users have it: the whole service put together from flags.
import { systemClock } from "../../../lib/clock.ts";
import { parseConfig } from "../../../lib/config/parse.ts";
import { type ImageService, openImageService } from "../../../lib/placement/images/image_service.ts";
import { silentLogger } from "../../../lib/log.ts";
import type { HostState } from "../../../lib/oci/limits/host_state.ts";
import type { InspectionReport, InspectionRequest } from "../../../lib/oci/inspection_request.ts";
import type { Inspection } from "../../../lib/oci/inspection.ts";
import type { RegistryFailure } from "../../../lib/oci/errors.ts";
import { callersOf } from "../../../lib/oci/callers.ts";
import { LOOK_UP_AGAIN } from "../../support/inspectors.ts";
import { settingsFlag } from "../../support/settings_file.ts";

export interface TestImages extends AsyncDisposable {
  inspect(image: string, more?: Partial<InspectionRequest>): Promise<InspectionReport>;
  hostState(host: string): HostState | undefined;
}

export async function openImages(flags: readonly string[]): Promise<TestImages> {
  const parsed = parseConfig(["inspect", ...flags, "any"], { env: {}, readFile: Deno.readTextFileSync });
  if (parsed.kind !== "run") throw new Error(`Cannot open the images: ${JSON.stringify(parsed)}`);
  const service: ImageService = await openImageService({
    config: parsed.config,
    clock: systemClock,
    log: silentLogger,
    userAgent: "archway/test",
    clusterCredentials: () => [],
  });
  const { signal } = new AbortController();
  return {
    inspect: (image, more = {}) => {
      const callers = callersOf({ priority: "gated" });
      const usual = { credentials: [], freshness: LOOK_UP_AGAIN, depth: "index", callers } as const;
      return service.inspector.inspect({ image, ...usual, ...more }, signal);
    },
    hostState: (host) => service.publicHostStates().find((state) => state.host === host),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

export function flagsFor(registry: { readonly host: string; readonly caFile: string }): readonly string[] {
  return ["--registry", registry.host, "--registry-ca", registry.caFile];
}

/** `linux/amd64,linux/arm64/v8`; throws what went wrong when the inspection failed. */
export function platformsIn({ inspection }: InspectionReport): string {
  if (inspection.kind === "failed") throw new Error(inspection.failure.message);
  return inspection.platforms.map(({ os, architecture, variant }) =>
    [os, architecture, variant].filter((part) => part !== undefined).join("/")
  ).join(",");
}

export function failureIn({ inspection }: { readonly inspection: Inspection }): RegistryFailure {
  if (inspection.kind === "failed") return inspection.failure;
  throw new Error(`no failure, but ${inspection.digest}`);
}

/** A folder with files, by path within it. Dispose it to remove it. */
export interface TemporaryFiles extends AsyncDisposable {
  readonly path: string;
  /** Settings by which the files of SETTINGS are found, as far as they are there. */
  readonly flag: string;
}

const SETTINGS = {
  ...{ registriesConf: "registries.conf", dockerConfig: "config.json", rancherRegistries: "registries.yaml" },
  ...{ certsDir: "certs", hostsDir: "hosts" },
} as const;

/** Writes them; folders are made. Values that are no strings are written as JSON. */
export async function writeTemporaryFiles(files: Readonly<Record<string, unknown>>): Promise<TemporaryFiles> {
  const path = await Deno.makeTempDir({ prefix: "archway-files-" });
  for (const [name, content] of Object.entries(files)) {
    await Deno.mkdir(`${path}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(`${path}/${name}`, typeof content === "string" ? content : JSON.stringify(content));
  }
  const settings = Object.entries(SETTINGS).filter(([, file]) =>
    Object.keys(files).some((name) => name.split("/")[0] === file)
  ).map(([setting, file]) => [setting, `${path}/${file}`]);
  const flag = settingsFlag(path, Object.fromEntries(settings));
  return { path, flag, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

/** A docker config, by `user:password` of each registry. */
export function writeLogins(logins: Readonly<Record<string, string>>): Promise<TemporaryFiles> {
  const auths = Object.entries(logins).map(([host, login]) => [host, { auth: btoa(login) }]);
  return writeTemporaryFiles({ "config.json": { auths: Object.fromEntries(auths) } });
}
