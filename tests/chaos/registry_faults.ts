// What is done to the registry. Rows of the chaos table.
import type { Fault } from "../cluster/support/fault_plan.ts";
import type { ChaosBed } from "./bed.ts";
import type { Heal } from "./engine.ts";

export function answer(fault: Fault): (bed: ChaosBed) => Promise<Heal> {
  return ({ proxy }) => {
    proxy.reset();
    proxy.setFaults([{ fault }]);
    return Promise.resolve(() => {
      const met = Object.values(proxy.counts()).reduce((sum, count) => sum + count, 0);
      proxy.setFaults([]);
      return felt(met, "request");
    });
  };
}

export async function presentStranger({ proxy, replicas }: ChaosBed): Promise<Heal> {
  const failures = async (): Promise<number> => {
    const counts = replicas.map((replica) =>
      replica.metric("archway_inspection_failures_total", { reason: "TlsFailed" })
    );
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  };
  const before = await failures();
  await proxy.presentCertificate("untrusted");
  return async () => {
    await proxy.presentCertificate("trusted");
    return await felt(await failures() - before, "failed handshake");
  };
}

/** Words for a count; rejects when it is none: then the row has proved nothing. */
export function felt(count: number, what: string): Promise<string> {
  return count > 0
    ? Promise.resolve(`${count} × ${what}`)
    : Promise.reject(new Error(`The fault was not felt: 0 ${what}`));
}
