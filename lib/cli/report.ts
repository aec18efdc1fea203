// `archway report`: which architectures the workloads of a cluster support, and what keeps them from one.
import { KNOWN_ARCHITECTURES } from "../arch.ts";
import { type ImageServiceConfig, openImageService, openPodImages } from "../placement/images/image_service.ts";
import type { PodImageInspector } from "../placement/images/pod_image_inspector.ts";
import { ignoring, type KubeApi, type ReadApi, readOptional } from "../k8s/api.ts";
import { Resource } from "../k8s/types.ts";
import { silentLogger } from "../log.ts";
import type { PlacementSettings } from "../placement/decide/config/settings.ts";
import { reportOf } from "../report/decide/cluster_report.ts";
import { ProgressLine } from "./progress_line.ts";
import { readFailedImages } from "../report/cluster/read_failed_images.ts";
import { type CommandDeps, ExitCode, type OutputFormat, print, terminalLogger } from "./output.ts";
import { readUnlabelledNodes } from "../placement/cluster/architectures.ts";
import { renderBlocked, renderReport, renderUnlabelledNodes, undeclaredRegistries } from "./report_text.ts";
import { readSupport } from "../report/cluster/report_read.ts";
import { isForbidden } from "../k8s/api_error.ts";
import { readGlobalPullSecret } from "../placement/images/global_pull_secret.ts";

export interface ReportOptions {
  /** The only namespace that is read; all when absent. */
  readonly podNamespace?: string | undefined;
  /** The architecture that is asked about; all candidates when absent. */
  readonly arch?: string | undefined;
  readonly output: OutputFormat;
  readonly settings: PlacementSettings;
}

interface ReportConfig extends ImageServiceConfig, ReportOptions {
  readonly globalPullSecret: { readonly namespace: string; readonly name: string };
}

export interface ReportDeps extends CommandDeps {
  readonly api: KubeApi;
}

interface ProgressDeps {
  /** Whether `err` goes to a terminal, where progress can be seen. */
  readonly showsProgress: boolean;
}

/**
 * Prints a cluster's report. Returns 1 if the namespace is missing, or not all workloads are known to run on `arch`.
 */
export async function runReport(config: ReportConfig, deps: ReportDeps & ProgressDeps): Promise<number> {
  await using images = await openCallerImages(config, deps);
  return await printReport(config, { ...deps, images });
}

export interface CallerImages extends PodImageInspector, AsyncDisposable {}

/** Inspects images with the pull secrets that the caller may read. Dispose it to close what it opened. */
export async function openCallerImages(
  config: Omit<ReportConfig, "output" | "settings">,
  deps: ReportDeps,
): Promise<CallerImages> {
  const { api, clock, signal, terminal } = deps;
  const pullSecret = config.globalPullSecret;
  const { credentials } = await readGlobalPullSecret({ api, pullSecret, log: silentLogger }, signal);
  const options = { config, ...deps, log: terminalLogger(terminal), audience: "caller" } as const;
  const service = await openImageService({ ...options, clusterCredentials: () => credentials });
  // Secrets that cannot be read are named in the failures of the images that need them.
  const images = openPodImages(service, { api, mode: "pod", ownNamespace: "", clock, log: silentLogger, signal });
  return { ...images, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() };
}

export async function printReport(
  { arch, podNamespace, output, settings }: ReportOptions,
  { api, terminal, clock, signal, images, showsProgress }: Omit<ReportDeps, "userAgent"> & ProgressDeps & {
    readonly images: PodImageInspector;
  },
): Promise<number> {
  const candidates = [...new Set([...KNOWN_ARCHITECTURES, ...arch === undefined ? [] : [arch]])];
  const asked = {
    namespace: podNamespace,
    candidates,
    settings,
    readFailedImages: (signal: AbortSignal) => readFailedImages(api, signal),
  };
  const line = new ProgressLine({ write: showsProgress ? terminal.err : () => {}, clock });
  const onProgress = (text: string): void => line.show(text);
  const { workloads, unread, isComplete } = await readSupport({ api, images, clock, signal, onProgress, ...asked })
    .finally(() => line.clear());
  const report = reportOf(workloads, { candidates, architecture: arch });
  const unlabelledNodes = podNamespace === undefined ? await readUnlabelledNodes(api, signal) : [];
  print(terminal, output, {
    document: { architecture: arch, complete: isComplete, unread, unlabelledNodes, ...report },
    text: (width) =>
      [
        arch === undefined ? renderReport(report, width) : renderBlocked(report, arch, width),
        ...unlabelledNodes.length === 0 ? [] : [renderUnlabelledNodes(unlabelledNodes, width)],
      ].join("\n"),
  });
  const isMissing = workloads.length === 0 && await isNamespaceMissing(api, podNamespace, signal);
  if (isMissing) terminal.err(`archway: There is no namespace "${podNamespace}".\n`);
  for (const sentence of undeclaredRegistries(report.images)) terminal.err(`archway: ${sentence}\n`);
  if (unread.length > 0) terminal.err(`archway: Cannot list ${unread.join(", ")}: the report leaves them out.\n`);
  if (!isComplete) terminal.err("archway: The cluster has more than a report holds. Name a namespace by -n.\n");
  const isWhole = unread.length === 0 && isComplete;
  if (isMissing) return ExitCode.no;
  return arch === undefined || isWhole && report.blocked?.length === 0 ? ExitCode.done : ExitCode.no;
}

/** Whether the only namespace that was read does not exist; false where it may not be read. */
async function isNamespaceMissing(api: ReadApi, name: string | undefined, signal: AbortSignal): Promise<boolean> {
  if (name === undefined) return false;
  const missing = readOptional(api, { type: Resource.namespaces, name, signal }).then((found) => found === undefined);
  return await ignoring(isForbidden, missing) ?? false;
}
