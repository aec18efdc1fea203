// `archway serve --only=image-builds` in a process of its own, as its Deployment runs it.
import { stringify } from "yaml";
import { archwayProgram } from "../../support/archway_program.ts";
import { findFreePort } from "./ports.ts";
import { isOk, RunningProcess } from "./process.ts";

export interface BuildServiceOptions {
  readonly directory: string;
  readonly kubeconfig: string;
  readonly registry: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly identity: string;
  readonly args: readonly string[];
}

export async function startBuildService(options: BuildServiceOptions): Promise<RunningProcess> {
  const { directory, kubeconfig, registry, settings, identity, args } = options;
  const port = findFreePort();
  const config = `${directory}/image-builds-${identity}.yaml`;
  const imageBuilds = { builderImage: "builder.test/builder:v1", ...settings };
  await Deno.writeTextFile(config, stringify({ imageBuilds, fallbackLogLevel: "debug" }));
  const [command, ...leading] = archwayProgram("all");
  const archway = RunningProcess.start({
    name: `archway-${identity}`,
    command,
    args: [
      ...[...leading, "serve", "--only=image-builds"],
      `--config=${config}`,
      `--kubeconfig=${kubeconfig}`,
      "--namespace=archway-system",
      `--admin-listen=127.0.0.1:${port}`,
      `--insecure-registry=${registry}`,
      ...args,
    ],
    directory,
    env: { POD_NAME: identity },
  });
  try {
    await archway.waitReady(() => isOk(`http://127.0.0.1:${port}/readyz`), { deadlineMs: 60_000 });
    return archway;
  } catch (error) {
    await archway[Symbol.asyncDispose]();
    throw error;
  }
}
