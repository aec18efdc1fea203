// `archway serve --only=image-builds` in a process of its own, as its Deployment runs it.
import { stringify } from "yaml";
import { findFreePort } from "./ports.ts";
import { type RunningProcess, startArchway } from "./process.ts";

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
  const config = `${directory}/image-builds-${identity}.yaml`;
  const imageBuilds = { builderImage: "builder.test/builder:v1", ...settings };
  await Deno.writeTextFile(config, stringify({ imageBuilds, fallbackLogLevel: "debug" }));
  const own = [`--config=${config}`, `--kubeconfig=${kubeconfig}`, `--insecure-registry=${registry}`];
  return await startArchway(["serve", "--only=image-builds", "--namespace=archway-system", ...own, ...args], {
    ...{ name: `archway-${identity}`, directory, adminPort: findFreePort(), env: { POD_NAME: identity } },
  });
}
