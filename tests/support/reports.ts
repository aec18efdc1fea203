// What inspections find and report, of images that tests name as they like.
import type { InspectionReport } from "../../lib/oci/inspection_request.ts";
import type { Credential } from "../../lib/oci/credential.ts";
import type { Inspection } from "../../lib/oci/inspection.ts";
import type { RegistryRead } from "../../lib/oci/registry_reader.ts";
import { NO_REQUESTS } from "../../lib/oci/request_log.ts";

type Platforms = Extract<Inspection, { readonly kind: "platforms" }>;

/** An index for arm64 alone, where a test does not say more. */
export function makePlatforms(more: Partial<Platforms> = {}): Platforms {
  return {
    kind: "platforms",
    digest: `sha256:${"ab".repeat(32)}`,
    mediaType: "application/vnd.oci.image.index.v1+json",
    platforms: [{ os: "linux", architecture: "arm64" }],
    depth: "index",
    findings: [],
    ...more,
  };
}

/** A public image of which the registry itself has answered, at no cost. */
export function makeReport(inspection: Inspection, more: Partial<InspectionReport> = {}): InspectionReport {
  return {
    inspection,
    resolved: "registry.example/team/app:v1",
    source: "registry",
    requests: NO_REQUESTS,
    trace: [],
    ...more,
  };
}

/** What a registry gave without a login, from no endpoint in particular. */
export function makeRead(inspection: Inspection, credential?: Credential): RegistryRead {
  return { inspection, lacksManifest: false, credential, endpoint: undefined };
}

/** Whether a credential was needed, so that not everybody may know of it. */
export function isPrivate({ readershipId }: InspectionReport): boolean {
  return readershipId !== undefined;
}
