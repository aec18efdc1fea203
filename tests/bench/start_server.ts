// Starts server.ts as a process of its own, with certificates made for it.
import { issueLoopbackCertificates } from "../../playground/listen.ts";
import { temporaryFolder } from "../support/temporary_folder.ts";
import { installedEnv } from "./as_installed.ts";
import { startScript } from "./child.ts";

export const WEBHOOK_PATH = "/add-pod-scheduling-gate";

export interface BenchServer extends AsyncDisposable {
  readonly port: number;
  readonly caPem: string;
  /** Resident memory now (bytes). Throws when the process is gone. */
  rss(): number;
}

export async function startServer(kind: "echo" | "gate", patch = ""): Promise<BenchServer> {
  await using undo = new AsyncDisposableStack();
  const { path: directory } = undo.use(await temporaryFolder());
  const { serving, authority } = await issueLoopbackCertificates(Date.now());
  const files = [`${directory}/tls.crt`, `${directory}/tls.key`] as const;
  await Deno.writeTextFile(files[0], serving.cert);
  await Deno.writeTextFile(files[1], serving.key);
  const child = undo.use(startScript("server.ts", [kind, ...files, patch], await installedEnv()));
  const port = Number(await child.readLine());
  const opened = undo.move();
  return {
    port,
    caPem: authority,
    rss: () => 1024 * Number(/VmRSS:\s+(\d+)/.exec(Deno.readTextFileSync(`/proc/${child.pid}/status`))?.[1]),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
