// Keys of what is built: equal keys mean the same image. Names of secrets, the tag and the order of files are not in
// them. The pool's UID is, so that clusters with the same repository neither reuse nor delete each other's images.
import type { MachineConfigPool } from "../../../vocabulary/machines.ts";
import type { KnownArchitecture } from "../../../arch.ts";
import type { MachineOSConfig } from "../parse/machine_os_config.ts";
import type { RenderedConfig } from "../parse/machine_config.ts";
import { canonicalKernel, resolveContainerfile, TEMPLATE_VERSION } from "./containerfile.ts";
import { createHash } from "node:crypto";
import { isObject } from "../../../json.ts";

type Rendered = Pick<
  RenderedConfig,
  "osImageURL" | "extensionsImage" | "kernelType" | "extensions" | "kernelArguments"
>;

interface BuildInputs extends Rendered {
  readonly v: 2;
  readonly pool: string;
  readonly template: number;
  readonly arch: KnownArchitecture;
  readonly containerfile: string | null;
}

export function buildInputs(
  arch: KnownArchitecture,
  { config, pool, rendered, template = TEMPLATE_VERSION }: {
    readonly config: Pick<MachineOSConfig, "containerFiles">;
    readonly pool: Pick<MachineConfigPool, "uid">;
    readonly rendered: RenderedConfig;
    readonly template?: number | undefined;
  },
): BuildInputs {
  const { osImageURL, extensionsImage, kernelType, extensions, kernelArguments } = rendered;
  return {
    v: 2,
    pool: pool.uid,
    template,
    arch,
    osImageURL,
    extensionsImage,
    kernelType: canonicalKernel(kernelType),
    extensions: [...new Set(extensions)].toSorted(),
    kernelArguments,
    containerfile: resolveContainerfile(config.containerFiles, arch) ?? null,
  };
}

export function buildKeyOf(inputs: BuildInputs): string {
  return sha256(canonical(inputs));
}

export function setKeyOf(
  set: {
    readonly pool: string;
    readonly rendered: string;
    readonly repository: string;
    readonly builds: Readonly<Record<string, string>>;
  },
): string {
  return sha256(canonical({ v: 1, ...set }));
}

export const SHORT_KEY_LENGTH = 32;

/** The key in names of one architecture's objects: it differs between MachineOSConfigs with equal inputs. */
export function nameKeyOf(config: string, buildKey: string): string {
  return sha256(`${config}/${buildKey}`).slice(0, SHORT_KEY_LENGTH);
}

/** JSON with sorted keys and without white space. Members that are undefined are left out. */
export function canonical(value: unknown): string {
  return JSON.stringify(sorted(value));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).toSorted(([left], [right]) => left < right ? -1 : 1);
  return Object.fromEntries(entries.map(([key, member]) => [key, sorted(member)]));
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
