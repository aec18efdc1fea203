// What the checks of single flags share: the configuration of `serve` from arguments, and settings, files and images by it.
import assert from "node:assert/strict";
import { type Clock, systemClock } from "../../../lib/clock.ts";
import { type Config, parseConfig } from "../../../lib/config/parse.ts";
import { type ImageService, openImageService } from "../../../lib/placement/images/image_service.ts";
import { type Logger, silentLogger } from "../../../lib/log.ts";
import type { InspectionReport } from "../../../lib/oci/inspection_request.ts";
import { callersOf } from "../../../lib/oci/callers.ts";
import { parsePlacementSettings, type PlacementSettings } from "../../../lib/placement/decide/config/settings.ts";
import { makeMultiArch } from "../../support/documents.ts";
import type { FakeRegistry } from "../../support/registry.ts";

export type Check = () => void | Promise<void>;

export type Checks = Readonly<Record<string, Check>>;

export function serveConfig(...flags: readonly string[]): Config {
  const parsed = parseConfig(["serve", ...flags], { env: {}, readFile: Deno.readTextFileSync });
  return parsed.kind === "run" ? parsed.config : assert.fail(JSON.stringify(parsed));
}

export function fileConfig(text: string): Config {
  const parsed = parseConfig(["serve", "--config=archway.yaml"], { env: {}, readFile: () => text });
  return parsed.kind === "run" ? parsed.config : assert.fail(JSON.stringify(parsed));
}

export function settingsOf(config: Config): PlacementSettings {
  const parsed = parsePlacementSettings(config);
  return parsed.kind === "parsed" ? parsed.value : assert.fail(parsed.problems.join(" "));
}

export function openImages(
  config: Config,
  { clock = systemClock, log = silentLogger }: { readonly clock?: Clock; readonly log?: Logger } = {},
): Promise<ImageService> {
  return openImageService({ config, clock, log, userAgent: "archway/test", clusterCredentials: () => [] });
}

export async function inspectBy(config: Config, image: string): Promise<InspectionReport> {
  await using service = await openImages(config);
  return await inspect(service, image);
}

export function inspect(service: ImageService, image: string): Promise<InspectionReport> {
  const callers = callersOf({ namespace: "team", priority: "gated" });
  const request = { image, depth: "index", credentials: [], freshness: "cached", callers } as const;
  return service.inspector.inspect(request, new AbortController().signal);
}

export function reasonOf({ inspection }: InspectionReport): string | undefined {
  return inspection.kind === "failed" ? inspection.failure.reason : undefined;
}

export function publish(registry: FakeRegistry, repository: string, ...architectures: readonly string[]): void {
  const { index, manifests, blobs } = makeMultiArch(architectures);
  registry.put(repository, index, "v1");
  for (const manifest of manifests) registry.put(repository, manifest);
  for (const blob of blobs) registry.putBlob(repository, blob);
}
