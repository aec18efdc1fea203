// Reads release payloads with the cluster's pull secret. The secret is read again before each payload, since payloads
// are rarely read.
//
//   image ─▶ plan (mirrors, policy) ─▶ manifest: an index ─▶ child for the control plane ─▶ config: label with the version
//                                              └ one image ─────────────────────────────────┘
import type { Clock } from "../../../clock.ts";
import { openRegistryAccess, type RegistryConfig } from "../../../oci/registry_access.ts";
import type { ReadApi } from "../../../k8s/api.ts";
import { errorText, type Logger } from "../../../log.ts";
import type { Payload } from "../../decide/types/cluster.ts";
import { type OpenImage, Repositories, type RepositoriesDeps } from "../../../oci/repositories.ts";
import { textAt } from "../../../json.ts";
import {
  type GlobalCredentials,
  NO_CREDENTIALS,
  readGlobalPullSecret,
} from "../../../placement/images/global_pull_secret.ts";
import { type RegistryError, registryError } from "../../../oci/errors.ts";
import type { ManifestDocument } from "../../../oci/image/manifest.ts";
import { isPlatformEntry, linuxArchitectures, platformsOf } from "../../../oci/image/platforms.ts";
import { digestOf, SHA256_DIGEST } from "../../../oci/reference.ts";

export interface ClusterPayloadsOptions {
  readonly api: ReadApi;
  readonly registries: RegistryConfig;
  /** The pull secret for all pods; undefined: payloads are read without. */
  readonly pullSecret: { readonly namespace: string; readonly name: string } | undefined;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly log: Logger;
}

export class ClusterPayloads implements Disposable {
  readonly #options: ClusterPayloadsOptions;
  readonly #access: ReturnType<typeof openRegistryAccess>;
  #pulled: GlobalCredentials = NO_CREDENTIALS;

  constructor(options: ClusterPayloadsOptions) {
    const { registries: config } = options;
    this.#options = options;
    this.#access = openRegistryAccess({ ...options, config, clusterCredentials: () => this.#pulled.credentials });
  }

  async read(
    image: string,
    { architecture, signal }: Pick<PayloadOptions, "architecture" | "signal">,
  ): Promise<Payload> {
    this.#pulled = await readGlobalPullSecret(this.#options, signal);
    try {
      return await readPayload(image, { access: this.#access, clock: this.#options.clock, architecture, signal });
    } catch (cause) {
      signal.throwIfAborted();
      if (this.#pulled.problem === undefined) throw cause;
      throw new Error(`${errorText(cause)} ${this.#pulled.problem}`, { cause });
    }
  }

  [Symbol.dispose](): void {
    this.#access[Symbol.dispose]();
  }
}

const VERSION_LABEL = "io.openshift.release";

interface PayloadOptions extends RepositoriesDeps {
  /** The architecture in whose image the version is read: the control plane's; undefined: that of the first entry. */
  readonly architecture: string | undefined;
}

/** Rejects with RegistryError, whose message is safe to show, or with the signal's reason. */
export async function readPayload(image: string, { architecture, ...options }: PayloadOptions): Promise<Payload> {
  // A tag may name another payload by the time the cluster pulls it.
  if (!SHA256_DIGEST.test(digestOf(image))) {
    throw registryError("InvalidReference", `Cannot use the payload "${image}": it names no sha256 digest.`);
  }
  const request = { image, retries: "bounded" } as const;
  return await new Repositories(options).read(request, (opened) => readFrom(opened, { image, architecture }));
}

async function readFrom(
  { top: { manifest: top }, documents }: OpenImage,
  { image, architecture }: Pick<PayloadOptions, "architecture"> & { readonly image: string },
): Promise<Payload> {
  if (top.kind !== "index") {
    const { version, architecture: own } = await readRelease(documents, { image, manifest: top });
    return { image, version, isIndex: false, architectures: [own] };
  }
  const entries = top.entries.filter(isPlatformEntry);
  const child = entries.find(({ platform }) => platform.architecture === architecture) ?? entries[0];
  if (child === undefined) throw unusable(image, "its index is empty");
  const { manifest } = await documents.child(child.digest);
  const { version } = await readRelease(documents, { image, manifest });
  return { image, version, isIndex: true, architectures: [...new Set(linuxArchitectures(platformsOf(entries)))] };
}

async function readRelease(
  documents: OpenImage["documents"],
  { image, manifest }: { readonly image: string; readonly manifest: ManifestDocument },
): Promise<{ readonly version: string; readonly architecture: string }> {
  if (manifest.kind !== "manifest") throw unusable(image, "it is no image");
  const config = await documents.config(manifest);
  if (config.kind === "unparsable") throw unusable(image, config.fault.message);
  const version = textAt(config.labels, VERSION_LABEL);
  if (version === "") throw unusable(image, `it has no label ${VERSION_LABEL}`);
  return { version, architecture: config.platform.architecture };
}

function unusable(image: string, state: string): RegistryError {
  return registryError("NotAnImage", `Cannot use the payload "${image}": ${state}.`);
}
