// Ends and starts machines of the lab. Each call returns when it is done.
import type { OpenLab } from "./open_lab.ts";

/** Takes a node's power away. n1 keeps its network, which carries the API server. */
export async function killNode(lab: OpenLab, name: string): Promise<void> {
  await ask(lab, `nodes/${name}/kill`);
}

export async function startNode(lab: OpenLab, name: string): Promise<void> {
  await ask(lab, `nodes/${name}/start`);
}

export async function stopControlPlane(lab: OpenLab): Promise<void> {
  await ask(lab, "control-plane/stop");
}

export async function startControlPlane(lab: OpenLab): Promise<void> {
  await ask(lab, "control-plane/start");
}

async function ask({ lab }: OpenLab, what: string): Promise<void> {
  const response = await fetch(`${lab.controlUrl}/${what}`, { method: "POST", signal: AbortSignal.timeout(180_000) });
  const said = await response.text();
  if (!response.ok) throw new Error(`Cannot do "${what}" in the lab: ${said}`);
}
