// `archway inspect`: which architectures images support, and how that was found out.
import { type ImageServiceConfig, openImageService } from "../placement/images/image_service.ts";
import type { Config } from "../config/parse.ts";
import { callersOf } from "../oci/callers.ts";
import { renderInspectedText, toInspected } from "./inspect_text.ts";
import { type CommandDeps, ExitCode, print, terminalLogger } from "./output.ts";

type InspectConfig = ImageServiceConfig & Pick<Config, "positionals" | "output" | "trace">;

/** Inspects the images, all at once, and prints them in the order given; 1 when one could not be inspected. */
export async function runInspect(config: InspectConfig, deps: CommandDeps): Promise<number> {
  const { terminal, signal } = deps;
  const log = terminalLogger(terminal);
  const options = { config, ...deps, log, clusterCredentials: () => [], audience: "caller" } as const;
  await using service = await openImageService(options);
  const freshness = { lookupSinceMs: deps.clock.monotonicMs() };
  const callers = callersOf({ priority: "gated" });
  const images = await Promise.all(config.positionals.map(async (image) => {
    const request = { image, credentials: [], freshness, depth: "index", callers } as const;
    return toInspected(image, await service.inspector.inspect(request, signal), { trace: config.trace });
  }));
  print(terminal, config.output, { document: images, text: (width) => renderInspectedText(images, width) });
  return images.every(({ error }) => error === undefined) ? ExitCode.done : ExitCode.no;
}
