// A release payload as its registry has it: through the lists, mirrors and credentials by which all images are read.
//
//   image ─▶ plan (mirrors, policy) ─▶ manifest: an index ─▶ child for the control plane ─▶ config: label with the version
//                                              └ one image ─────────────────────────────────┘
import { Repositories } from "../../assemble/repositories.ts";
import type { Clock } from "../../clock.ts";
import type { RegistryAccess } from "../../images/registry_access.ts";
import { textAt } from "../../json.ts";
import { InspectionError, inspectionError } from "../../oci/errors.ts";
import { type ManifestDocument, parseImageConfig, parseManifest } from "../../oci/image/manifest.ts";
import { isPlatformEntry, platformsOf } from "../../oci/image/platforms.ts";
import { withRetries } from "../../oci/push/retries.ts";
import { readDocument } from "../../oci/read_document.ts";
import { parseReference } from "../../oci/reference.ts";
import type { RepositoryClient } from "../../oci/repository_client.ts";
import type { Payload } from "../../upgrades/types/cluster.ts";

/** Reads payloads. Rejects with InspectionError, whose message is safe to show, or with the signal's reason. */
export interface PayloadReader {
  /** `architecture`: that of the control plane, in whose image the version is looked up; undefined: that of the first. */
  read(
    image: string,
    options: { readonly architecture: string | undefined; readonly signal: AbortSignal },
  ): Promise<Payload>;
}

/** What it is opened with. */
export interface PayloadReaderDeps {
  readonly access: Pick<RegistryAccess, "planner" | "keyring" | "transport" | "limiter" | "tokens">;
  readonly clock: Clock;
}

const VERSION_LABEL = "io.openshift.release";

/** Opens the reader; no request is sent yet. */
export function openPayloadReader({ access, clock }: PayloadReaderDeps): PayloadReader {
  return {
    read: async (image, { architecture, signal }) => {
      requireDigest(image);
      const repositories = new Repositories({ access, clock, signal });
      const plan = repositories.plan(image);
      if (plan.kind === "refused") throw inspectionError(plan.failure.reason, plan.failure.message);
      const failures: InspectionError[] = [];
      for (const endpoint of plan.endpoints) {
        try {
          const client = await repositories.reader(endpoint);
          return await readAt({ image, client, clock, signal, architecture, reference: endpoint.reference });
        } catch (error) {
          if (signal.aborted || !(error instanceof InspectionError)) throw error;
          failures.push(error);
        }
      }
      throw failures.find(({ failure }) => failure.kind === "transient") ?? failures.at(-1) ??
        inspectionError("Misconfigured", `Cannot read "${image}": no registry is configured.`);
    },
  };
}

/** A tag may name another payload by the time the cluster pulls it. */
function requireDigest(image: string): void {
  const parsed = parseReference(image);
  if (parsed.kind === "unparsable") throw inspectionError("InvalidReference", parsed.message);
  if (/@sha256:[0-9a-f]{64}$/.test(image)) return;
  throw inspectionError("InvalidReference", `Cannot use the payload "${image}": it names no sha256 digest.`);
}

interface Place {
  readonly image: string;
  readonly client: RepositoryClient;
  readonly reference: string;
  readonly architecture: string | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

async function readAt(place: Place): Promise<Payload> {
  const { image, reference, architecture } = place;
  const top = await readManifest(place, "manifest", reference);
  if (top.kind !== "index") {
    const { version, architecture: own } = await readConfig(place, top);
    return { image, version, isIndex: false, architectures: [own] };
  }
  const entries = top.entries.filter(isPlatformEntry);
  const child = entries.find(({ platform }) => platform.architecture === architecture) ?? entries[0];
  if (child === undefined) {
    throw inspectionError("NotAnImage", `Cannot use the payload "${image}": its index is empty.`);
  }
  const { version } = await readConfig(place, await readManifest(place, "child", child.digest));
  const architectures = platformsOf(entries).filter(({ os }) => os === "linux" || os === "").map((one) =>
    one.architecture
  );
  return { image, version, isIndex: true, architectures: [...new Set(architectures)] };
}

async function readManifest(place: Place, kind: "manifest" | "child", identifier: string): Promise<ManifestDocument> {
  const { text, contentType } = await read(place, kind, identifier);
  return parseManifest(text, contentType);
}

async function readConfig(
  place: Place,
  manifest: ManifestDocument,
): Promise<{ readonly version: string; readonly architecture: string }> {
  const unusable = (state: string): InspectionError =>
    inspectionError("NotAnImage", `Cannot use the payload "${place.image}": ${state}.`);
  if (manifest.kind !== "manifest" || !manifest.isImage) throw unusable("it is no image");
  const config = parseImageConfig((await read(place, "blob", manifest.config.digest)).text);
  if (config.kind === "unparsable") throw unusable(config.problem);
  const version = textAt(config.labels, VERSION_LABEL);
  if (version === "") throw unusable(`it has no label ${VERSION_LABEL}`);
  return { version, architecture: config.platform.architecture };
}

async function read(
  { client, clock, signal }: Place,
  kind: "manifest" | "child" | "blob",
  identifier: string,
): Promise<{ readonly text: string; readonly contentType: string }> {
  const { document } = await withRetries(() => readDocument(client, { name: { kind, identifier }, clock }), {
    clock,
    signal,
  });
  return document;
}
