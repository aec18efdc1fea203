// A program that fails starts of another one, each in a container of its own as the kernel sees it, at a steady pace:
// fail_steadily.ts POD PROGRAM COUNT EVERY_MS FILE. POD is the folder of a pod's cgroup; FILE gets the containers' IDs as JSON
// when all are done. A process of its own, so that it goes on through the steps of a test.
import { pause } from "../../cluster/support/wait.ts";
import { replaceFile } from "../../support/replace_file.ts";

/** bash sees that the file is no text, and does not run it itself. */
const START = 'echo $$ > "$1/cgroup.procs" && exec "$2"';

/** Fails one start of a program in a new container below a folder of cgroups; gives the container's ID. */
async function failStart(pod: string, program: string): Promise<string> {
  const id = `${crypto.randomUUID()}${crypto.randomUUID()}`.replaceAll("-", "");
  const folder = `${pod}/${id}`;
  await Deno.mkdir(folder, { recursive: true });
  const args = ["-c", START, "bash", folder, program];
  await new Deno.Command("bash", { args, stdout: "null", stderr: "null" }).output();
  await Deno.remove(folder);
  return id;
}

if (import.meta.main) {
  const [pod = "", program = "", count = "", everyMs = "", file = ""] = Deno.args;
  const ids: string[] = [];
  const startedMs = performance.now();
  while (ids.length < Number(count)) {
    ids.push(await failStart(pod, program));
    await pause(Math.max(0, startedMs + ids.length * Number(everyMs) - performance.now()));
  }
  await replaceFile(file, JSON.stringify(ids));
}
