// A terminal that remembers what was said, and an API server in this process.
import type { Terminal } from "../../../lib/cli/output.ts";
import type { KubeApi } from "../../../lib/k8s/api.ts";
import { Resource } from "../../../lib/k8s/types.ts";
import { openTestApi, plainAccess } from "../../support/cluster_api.ts";
import { type ImageBed, openImageBed } from "../../support/image_bed.ts";
import { podBody, serveCluster } from "../../playground/make.ts";

export interface Said {
  out: string;
  err: string;
}

/** The registry has images for the architectures that their tags name: `web:amd64-arm64`. */
export function openTaggedImages(): ImageBed {
  const bed = openImageBed();
  bed.registry.platforms = (image) =>
    (image.split(":")[1] ?? "").split("-").map((architecture) => ({ os: "linux", architecture }));
  return bed;
}

export interface Ran extends Said {
  readonly code: number;
}

export function recordingTerminal(
  { color, columns }: { readonly color: boolean; readonly columns?: number | undefined } = { color: false },
): { terminal: Terminal; said: Said } {
  const said: Said = { out: "", err: "" };
  const terminal: Terminal = {
    out: (text) => void (said.out += text),
    err: (text) => void (said.err += text),
    color,
    columns,
  };
  return { terminal, said };
}

/** The lines that do not fit a terminal of 80 columns. */
export function tooLong(text: string): readonly string[] {
  return text.split("\n").filter((line) => line.length > 80);
}

export interface CommandBed extends AsyncDisposable {
  readonly api: KubeApi;
  readonly signal: AbortSignal;
  createPod(
    name: string,
    spec?: Readonly<Record<string, unknown>>,
    metadata?: Readonly<Record<string, unknown>>,
  ): Promise<void>;
}

export async function openCommandBed(): Promise<CommandBed> {
  const served = await serveCluster();
  const api = openTestApi(plainAccess(served.server.url));
  const { signal } = new AbortController();
  return {
    api,
    signal,
    createPod: async (name, spec = {}, metadata = {}) => {
      await api.create(Resource.pods, podBody(name, spec, metadata), { namespace: "default", signal });
    },
    [Symbol.asyncDispose]: async () => {
      await api[Symbol.asyncDispose]();
      await served[Symbol.asyncDispose]();
    },
  };
}
