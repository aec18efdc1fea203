// The nodes themselves: both architectures are Ready, run what was built for them, and refuse the rest as real hardware does.
import assert from "node:assert/strict";
import { lacks } from "../support/needs.ts";
import { openLab } from "./support/open_lab.ts";

Deno.test("node: pods run on the architecture they name, and an image for the other one fails there", {
  ignore: lacks("nodes"),
}, async () => {
  await using lab = await openLab();
  const namespace = await lab.createNamespace("lab");
  await lab.createPods(namespace, [
    { name: "on-amd", image: "multi", args: ["hello"], arch: "amd64" },
    { name: "on-arm", image: "multi", args: ["hello"], arch: "arm64" },
    { name: "wrong", image: "arm-single", args: ["hello"], arch: "amd64" },
  ]);
  const logs = {
    amd: await lab.logOfEnded(namespace, "on-amd"),
    arm: await lab.logOfEnded(namespace, "on-arm"),
    wrong: await lab.logOfEnded(namespace, "wrong"),
  };
  assert.deepEqual(logs, {
    amd: "hello from linux/amd64\n",
    arm: "hello from linux/arm64\n",
    wrong: "exec /app: exec format error\n",
  });
});
