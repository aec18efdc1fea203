// `archway inspect`: which architectures images support, and how that was found out.
import { stringify } from "yaml";
import type { Clock } from "../clock.ts";
import { type ImageServiceConfig, openImageService } from "../images/image_service.ts";
import type { HostState } from "../oci/limits/host_state.ts";
import { readHostStates, renderHostStates } from "./inspect_registries.ts";
import { type ReadFailures, withFailures } from "./failed_images.ts";
import { type InspectedImage, toInspected } from "./inspected_image.ts";
import { renderInspectedText } from "./inspect_text.ts";
import { ExitCode, type Terminal, terminalLogger } from "./output.ts";

/** The flags of the command. */
export interface InspectConfig extends ImageServiceConfig {
  readonly words: readonly string[];
  readonly output: "table" | "json" | "yaml";
  readonly trace: boolean;
  readonly registries: boolean;
  readonly adminUrl?: string | undefined;
}

/** What the command runs with. */
export interface InspectDeps {
  /** The result goes to `out`, what is wrong with configuration files to `err`. */
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly userAgent: string;
  /** Ends the command. */
  readonly signal: AbortSignal;
  /** Images that a cluster has recorded as failing; absent where no cluster was read. */
  readonly failed?: ReadFailures | undefined;
}

/**
 * Inspects the images, all at once, and prints them in the order given; 1 when one could not be inspected, or the records of
 * failures may not be listed. With `registries` it prints how the registries did instead, or with `adminUrl` how they do for a running Archway.
 */
export async function runInspect(config: InspectConfig, parts: InspectDeps): Promise<number> {
  const { terminal, clock, signal } = parts;
  const { output, registries, adminUrl } = config;
  const printStates = (states: readonly HostState[]): void =>
    terminal.out(renderHostStates(states, { output, nowMs: clock.nowMs() }));
  if (registries && adminUrl !== undefined) {
    printStates(await readHostStates(adminUrl, signal));
    return ExitCode.done;
  }
  const log = terminalLogger(terminal);
  const options = { config, ...parts, log, clusterCredentials: () => [], audience: "caller" } as const;
  await using service = await openImageService(options);
  const images = await Promise.all(config.words.map(async (image) => {
    const request = { image, credentials: [], freshness: "revalidate", depth: "index", priority: "gated" } as const;
    const inspected = toInspected(image, await service.inspector.inspect(request, signal), { trace: config.trace });
    return withFailures(inspected, { failed: parts.failed?.images ?? [], nowMs: clock.nowMs() });
  }));
  if (registries) printStates(service.hostStates());
  else terminal.out(renderInspected(images, output));
  const isUnread = parts.failed?.isForbidden ?? false;
  if (isUnread) terminal.err("archway: Cannot list enoexecevents: it is not known which of the images have failed.\n");
  return !isUnread && images.every(({ error }) => error === undefined) ? ExitCode.done : ExitCode.no;
}

/** All images in the wanted form. Pure. */
export function renderInspected(images: readonly InspectedImage[], output: InspectConfig["output"]): string {
  if (output === "json") return `${JSON.stringify(images, null, 2)}\n`;
  if (output === "yaml") return stringify(images);
  return renderInspectedText(images);
}
