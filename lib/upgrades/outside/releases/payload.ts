// A release payload as its registry has it: through the lists, mirrors and credentials by which all images are read.
//
//   image ─▶ plan (mirrors, policy) ─▶ manifest: an index ─▶ child for the control plane ─▶ config: label with the version
//                                              └ one image ─────────────────────────────────┘
import { Repositories } from "../../../oci/repositories.ts";
import type { Clock } from "../../../clock.ts";
import type { RegistryAccess } from "../../../oci/registry_access.ts";
import { textAt } from "../../../json.ts";
import { type InspectionError, inspectionError } from "../../../oci/errors.ts";
import type { ManifestDocument } from "../../../oci/image/manifest.ts";
import { isPlatformEntry, platformsOf } from "../../../oci/image/platforms.ts";
import type { Session } from "../../../oci/session.ts";
import type { Payload } from "../../decide/types/cluster.ts";

const VERSION_LABEL = "io.openshift.release";

export interface PayloadOptions {
  readonly access: Pick<RegistryAccess, "planner" | "keyring" | "transport" | "limiter" | "tokens">;
  readonly clock: Clock;
  /** That of the control plane, in whose image the version is looked up; undefined: that of the first. */
  readonly architecture: string | undefined;
  readonly signal: AbortSignal;
}

/** Rejects with InspectionError, whose message is safe to show, or with the signal's reason. */
export async function readPayload(image: string, { architecture, ...options }: PayloadOptions): Promise<Payload> {
  requireDigest(image);
  return await new Repositories(options).read(
    { image, retries: "bounded" },
    (session, { reference }) => readFrom(session, { image, reference, architecture }),
  );
}

/** A tag may name another payload by the time the cluster pulls it. */
function requireDigest(image: string): void {
  if (/@sha256:[0-9a-f]{64}$/.test(image)) return;
  throw inspectionError("InvalidReference", `Cannot use the payload "${image}": it names no sha256 digest.`);
}

async function readFrom(
  session: Session,
  { image, reference, architecture }: Pick<PayloadOptions, "architecture"> & Record<"image" | "reference", string>,
): Promise<Payload> {
  const { manifest: top } = await session.manifest(reference);
  if (top.kind !== "index") {
    const { version, architecture: own } = await readConfig(session, { image, manifest: top });
    return { image, version, isIndex: false, architectures: [own] };
  }
  const entries = top.entries.filter(isPlatformEntry);
  const child = entries.find(({ platform }) => platform.architecture === architecture) ?? entries[0];
  if (child === undefined) throw unusable(image, "its index is empty");
  const { manifest } = await session.child(child.digest);
  const { version } = await readConfig(session, { image, manifest });
  const architectures = platformsOf(entries).filter(({ os }) => os === "linux" || os === "").map((one) =>
    one.architecture
  );
  return { image, version, isIndex: true, architectures: [...new Set(architectures)] };
}

async function readConfig(
  session: Session,
  { image, manifest }: { readonly image: string; readonly manifest: ManifestDocument },
): Promise<{ readonly version: string; readonly architecture: string }> {
  if (manifest.kind !== "manifest") throw unusable(image, "it is no image");
  const config = await session.config(manifest);
  if (config.kind === "unparsable") throw unusable(image, config.problem);
  const version = textAt(config.labels, VERSION_LABEL);
  if (version === "") throw unusable(image, `it has no label ${VERSION_LABEL}`);
  return { version, architecture: config.platform.architecture };
}

function unusable(image: string, state: string): InspectionError {
  return inspectionError("NotAnImage", `Cannot use the payload "${image}": ${state}.`);
}
