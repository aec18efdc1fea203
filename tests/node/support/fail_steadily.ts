// A program that fails starts of another one, each in a container of its own as the kernel sees it, at a steady pace:
// fail_steadily.ts POD PROGRAM COUNT EVERY_MS FILE. POD is the folder of a pod's cgroup; FILE gets the containers' IDs as JSON
// when all are done. A process of its own, so that it goes on through the steps of a test.
import { failStart, steadily } from "../../cluster/support/failing_starts.ts";
import { replaceFile } from "../../support/replace_file.ts";

if (import.meta.main) {
  const [pod = "", program = "", count = "", everyMs = "", file = ""] = Deno.args;
  const pace = { count: Number(count), everyMs: Number(everyMs) };
  const ids = await steadily(pace, () => failStart(pod, program));
  await replaceFile(file, JSON.stringify(ids));
}
